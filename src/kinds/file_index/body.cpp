#include "kinds/file_index/body.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <bloomset/detail/core/record.hpp>
#include <cmath>

#include "kinds/file_index/class_code.hpp"
#include "kinds/file_index/list_code.hpp"
#include "plan/checks.hpp"

namespace bloomset::detail {
namespace {

constexpr unsigned max_class_bits = 26;
constexpr std::size_t group_keys = 512;
constexpr std::string_view structure = "file index";

failure wrong_sections() {
  return fail(errc::corrupt,
              "the file index's sections do not fit its parameters; the file is damaged");
}

}  // namespace

unsigned file_index_params::file_bits() const noexcept {
  return files <= 1 ? 0 : static_cast<unsigned>(std::bit_width(files - 1));
}

std::vector<section_size> file_index_params::sections() const {
  std::vector<section_size> sizes;
  const auto add = [&](std::uint64_t used, std::uint64_t zeros = 0) {
    sizes.push_back({used, round_up(used + zeros, 8)});
  };
  add(first.payload_bytes());
  for (const second_params& one : seconds) add(one.values.payload_bytes());
  add(links.payload_bytes());
  add(classes);
  add((std::uint64_t{answers} + group - 1) / group * 8);
  add(bytes_for_bits(std::uint64_t{answers - lists} * file_bits()));
  add((std::uint64_t{lists} + list_group - 1) / list_group * 8);
  add(bytes_for_bits(list_bits), bit_padding);
  add(std::uint64_t{files} * 4);
  add(name_bytes);
  return sizes;
}

bool file_index_params::possible() const noexcept {
  constexpr std::uint64_t max_bits = std::uint64_t{1} << 48;
  if (files == 0 || files > file_index::max_files || answers > max_answers || lists > answers ||
      classes > std::min(answers, max_classes) || (classes == 0) != (answers == 0) ||
      list_bits > max_bits || name_bytes > 0xffffffff || !in_range(fpr, 1e-8, 0.5) ||
      !first.possible() || !links.possible()) {
    return false;
  }
  if (chain != no_answer && (chain >= answers || links.columns != file_bits() + 1)) return false;
  if (classes > (std::uint64_t{1} << first.columns)) return false;
  std::uint32_t before = 0;
  for (const second_params& one : seconds) {
    if (one.bits <= before || one.bits > max_class_bits || !one.values.possible() ||
        one.values.columns != one.bits) {
      return false;
    }
    before = one.bits;
  }
  return true;
}

std::vector<std::byte> file_index_params::encode() const {
  record_writer writer;
  writer.u32(files, answers, classes, lists, chain, seconds.size());
  writer.values(fpr, list_bits, name_bytes, chain_seed);
  first.write(writer);
  links.write(writer);
  for (const second_params& one : seconds) one.values.write(writer);
  return writer.finish();
}

result<file_index_params> file_index_params::decode(const filter_header& header,
                                                    std::span<const std::byte> block) {
  if (auto ok = check_version(header, structure, file_index::kind_version); !ok) {
    return fail(std::move(ok.error()));
  }
  record_reader reader(block);
  file_index_params params;
  std::uint32_t second_count = 0;
  reader.u32(params.files, params.answers, params.classes, params.lists, params.chain,
             second_count);
  reader.values(params.fpr, params.list_bits, params.name_bytes, params.chain_seed);
  params.first = retrieval_params::read(reader);
  params.links = retrieval_params::read(reader);
  if (second_count > max_class_bits) return out_of_range(structure);
  for (std::uint32_t i = 0; i < second_count; ++i) {
    second_params& one = params.seconds.emplace_back();
    one.values = retrieval_params::read(reader);
    one.bits = one.values.columns;
  }
  if (!reader.complete() || !params.possible()) return out_of_range(structure);
  return params;
}

result<file_index_body> file_index_body::open(const filter_header& header, file_index_params params,
                                              mapped_storage payload) {
  file_index_body body;
  const auto sizes = params.sections();
  std::span<const std::byte> left = payload.bytes();
  std::uint64_t total = 0;
  for (const section_size& size : sizes) {
    if (size.all > left.size() - total) return wrong_sections();
    total += size.all;
  }
  if (total != left.size()) return wrong_sections();
  std::size_t section = 0;
  bool zeros = true;
  const auto next = [&] {
    const section_size& size = sizes[section++];
    const auto used = left.first(size.used);
    zeros &= is_zero(left.first(size.all).subspan(size.used));
    left = left.subspan(size.all);
    return used;
  };
  const auto next_bits = [&](std::uint64_t bits) {
    const auto bytes = next();
    zeros &= bits == 0 || padding_is_zero(bytes, bits);
    return bytes.data();
  };
  const auto next_values = [&](const retrieval_params& of, retrieval_view& view) -> result<void> {
    auto opened = retrieval_view::open(of, next());
    if (!opened) return fail(std::move(opened.error()));
    view = std::move(*opened);
    return {};
  };
  if (auto ok = next_values(params.first, body.first_); !ok) return fail(std::move(ok.error()));
  body.seconds_.resize(max_class_bits + 1);
  for (const second_params& one : params.seconds) {
    if (auto ok = next_values(one.values, body.seconds_[one.bits]); !ok) {
      return fail(std::move(ok.error()));
    }
  }
  if (auto ok = next_values(params.links, body.links_); !ok) return fail(std::move(ok.error()));
  const auto classes = next();
  std::uint64_t begin = 0;
  for (const std::byte one : classes) {
    const auto bits = std::to_integer<std::uint32_t>(one);
    const bool has_second =
        bits == 0 ||
        std::ranges::find(params.seconds, bits, &second_params::bits) != params.seconds.end();
    if (bits > max_class_bits || !has_second || begin >= params.answers) return wrong_sections();
    body.classes_.push_back({static_cast<std::uint32_t>(begin), bits});
    begin += std::uint64_t{1} << bits;
  }
  if (begin < params.answers) return wrong_sections();
  body.flags_ = next().data();
  body.singles_ = next_bits(std::uint64_t{params.answers - params.lists} * params.file_bits());
  body.list_offsets_ = next().data();
  body.lists_ = next_bits(params.list_bits);
  body.name_ends_ = next().data();
  body.names_ = next().data();
  std::uint32_t end = 0;
  for (std::uint32_t file = 0; file < params.files; ++file) {
    const auto after = load<std::uint32_t>(body.name_ends_ + 4 * std::size_t{file});
    if (after < end) return wrong_sections();
    end = after;
  }
  if (end != params.name_bytes || !zeros) return wrong_sections();
  body.fingerprints_ =
      params.classes == 0 ? 0 : (std::uint64_t{1} << params.first.columns) / params.classes;
  body.seed_ = header.seed;
  body.count_ = header.count;
  body.params_ = std::move(params);
  body.payload_ = std::move(payload);
  return body;
}

std::string_view file_index_body::name(std::size_t file) const noexcept {
  const std::uint32_t begin = file == 0 ? 0 : load<std::uint32_t>(name_ends_ + 4 * (file - 1));
  const auto end = load<std::uint32_t>(name_ends_ + 4 * file);
  return {reinterpret_cast<const char*>(names_) + begin, end - begin};
}

void file_index_body::append_chain(hash64 h, std::vector<std::uint32_t>& files) const {
  const std::size_t before = files.size();
  for (std::uint32_t i = 0; i < params_.files; ++i) {
    const std::uint32_t value = links_.get(link_hash(h, params_.chain_seed, i));
    const std::uint32_t file = value >> 1;
    // A member's files ascend, so others end here early.
    const bool ascends = files.size() == before || file > files.back();
    if (file >= params_.files || !ascends) break;
    files.push_back(file);
    if ((value & 1) != 0) return;
  }
  files.resize(before);
}

void file_index_body::append_files(hash64 h, std::uint32_t answer,
                                   std::vector<std::uint32_t>& files) const {
  if (answer >= params_.answers) return;
  if (answer == params_.chain) {
    append_chain(h, files);
    return;
  }
  // A word has 32 flags, and above them the number of lists before.
  const auto word =
      load<std::uint64_t>(flags_ + std::size_t{8} * (answer / file_index_params::group));
  const std::uint32_t bit = answer % file_index_params::group;
  const auto flags = static_cast<std::uint32_t>(word);
  const auto list =
      static_cast<std::uint32_t>(word >> 32) + count_ones(flags & ((std::uint32_t{1} << bit) - 1));
  if ((flags >> bit & 1) == 0) {
    const std::uint64_t single = std::uint64_t{answer} - list;
    if (list > answer || single >= params_.answers - params_.lists) return;
    const unsigned bits = params_.file_bits();
    const std::uint64_t at = single * bits;
    const auto file =
        static_cast<std::uint32_t>(load<std::uint64_t>(singles_ + at / 8) >> (at % 8)) &
        ((std::uint32_t{1} << bits) - 1);
    if (file < params_.files) files.push_back(file);
    return;
  }
  if (list >= params_.lists) return;
  const std::uint32_t skipped = list % file_index_params::list_group;
  const auto offset =
      load<std::uint64_t>(list_offsets_ + std::size_t{8} * (list / file_index_params::list_group));
  bit_reader reader(lists_, offset, params_.list_bits);
  for (std::uint32_t i = 0; i < skipped; ++i) {
    if (!read_list(reader, params_.files, nullptr)) return;
  }
  const std::size_t before = files.size();
  if (!read_list(reader, params_.files, &files)) files.resize(before);
}

void file_index_body::find(hash64 h, std::vector<std::uint32_t>& files) const {
  const std::uint32_t number = class_of(h, first_.get(h));
  if (number >= params_.classes) return;
  const class_place& place = classes_[number];
  const std::uint32_t offset = place.bits == 0 ? 0 : seconds_[place.bits].get(h);
  append_files(h, place.begin + offset, files);
}

void file_index_body::find_group(std::span<const hash64> hashes, file_lists& lists) const {
  std::array<std::uint32_t, group_keys> values;
  std::array<std::uint32_t, group_keys> answers;
  first_.get(hashes, values);
  // Keys that pass, in the order of the bits of their classes, which have a structure each.
  std::array<std::uint32_t, max_class_bits + 2> ends{};
  std::size_t passed = 0;
  std::array<std::uint16_t, group_keys> keys;
  std::array<std::uint16_t, group_keys> sorted;
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    const std::uint32_t number = class_of(hashes[i], values[i]);
    answers[i] = number;
    keys[passed] = static_cast<std::uint16_t>(i);
    passed += number < params_.classes ? 1 : 0;
  }
  for (std::size_t k = 0; k < passed; ++k) ++ends[classes_[answers[keys[k]]].bits + 1];
  for (std::size_t bits = 1; bits < ends.size(); ++bits) ends[bits] += ends[bits - 1];
  auto next = ends;
  std::array<hash64, group_keys> passing;
  for (std::size_t k = 0; k < passed; ++k) {
    const std::uint16_t i = keys[k];
    const std::uint32_t at = next[classes_[answers[i]].bits]++;
    sorted[at] = i;
    passing[at] = hashes[i];
  }
  for (std::size_t bits = 1; bits <= max_class_bits; ++bits) {
    const std::size_t begin = ends[bits];
    const std::size_t n = ends[bits + 1] - begin;
    if (n == 0) continue;
    seconds_[bits].get(std::span(passing).subspan(begin, n), std::span(values).first(n));
    for (std::size_t k = 0; k < n; ++k) {
      std::uint32_t& answer = answers[sorted[begin + k]];
      answer = classes_[answer].begin + values[k];
    }
  }
  for (std::size_t k = 0; k < ends[1]; ++k) {
    std::uint32_t& answer = answers[sorted[k]];
    answer = classes_[answer].begin;
  }
  std::size_t k = 0;
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    if (k < passed && keys[k] == i) {
      append_files(hashes[i], answers[i], lists.files);
      ++k;
    }
    lists.ends.push_back(lists.files.size());
  }
}

void file_index_body::find(std::span<const hash64> hashes, file_lists& lists) const {
  lists.files.clear();
  lists.ends.clear();
  lists.ends.reserve(hashes.size());
  for (std::size_t at = 0; at < hashes.size(); at += group_keys) {
    find_group(hashes.subspan(at, std::min(group_keys, hashes.size() - at)), lists);
  }
}

double file_index_body::current_fpr() const noexcept {
  // A place in a class that no answer has is no answer.
  double classes = 0;
  for (const class_place& one : classes_) {
    const double places = std::ldexp(1.0, static_cast<int>(one.bits));
    classes += std::min(places, static_cast<double>(params_.answers - one.begin)) / places;
  }
  return std::ldexp(classes, -static_cast<int>(params_.first.columns));
}

}  // namespace bloomset::detail
