#include <bloomset/detail/exact/partitions.hpp>

#include <algorithm>

#include <bloomset/detail/core/record.hpp>
#include <bloomset/detail/retrieval/retrieval.hpp>
#include <bloomset/partitioned_exact.hpp>

namespace bloomset::detail {
namespace {

// Keys that go through all sections together.
constexpr std::size_t partitioned_chunk = 1024;

/// Held keys of a batch that have passed all sections so far, grouped by a number below 32.
struct asked_keys {
  std::array<hash64, partitioned_chunk> hashes;
  std::array<partition_class, partitioned_chunk> classes;
  std::array<std::uint16_t, partitioned_chunk> indices;  // in the batch
  std::size_t size = 0;

  void add(hash64 h, partition_class of, std::uint16_t index) noexcept {
    hashes[size] = h;
    classes[size] = of;
    indices[size++] = index;
  }
};

/// The keys of `from` by ascending columns. Returns where those of each number of columns begin.
template <class ColumnsOf>
std::array<std::size_t, 33> group(const asked_keys& from, asked_keys& to, ColumnsOf columns_of) {
  std::array<std::size_t, 33> begins{};
  for (std::size_t i = 0; i < from.size; ++i) ++begins[columns_of(from.classes[i]) + 1];
  for (std::size_t i = 1; i < begins.size(); ++i) begins[i] += begins[i - 1];
  auto next = begins;
  for (std::size_t i = 0; i < from.size; ++i) {
    const std::size_t at = next[columns_of(from.classes[i])]++;
    to.hashes[at] = from.hashes[i];
    to.classes[at] = from.classes[i];
    to.indices[at] = from.indices[i];
  }
  to.size = from.size;
  return begins;
}

bool has_columns(const std::vector<exact_section>& sections, std::uint32_t columns) noexcept {
  return columns == 0 || std::ranges::any_of(sections, [columns](const exact_section& section) {
           return section.columns == columns;
         });
}

}  // namespace

result<unknown_rates> check_partitioned_payload(const partitioned_exact_params& params,
                                                std::span<const std::byte> payload,
                                                std::uint64_t count) {
  const auto damaged = [] {
    return fail(errc::corrupt,
                "the exact filter's directory or slots do not fit its parameters; the file is "
                "damaged");
  };
  if (!params.possible(count) || payload.size() != params.payload_bytes()) return damaged();
  if (params.partitions == 0) return unknown_rates{};
  const std::uint64_t n = params.partitions;
  if (!is_zero(payload.last(retrieval_padding)) ||
      !is_zero(payload.subspan(9 * n, params.directory_bytes() - 9 * n))) {
    return damaged();
  }
  std::array<std::uint64_t, 256> classes{};
  std::uint64_t before = 0;
  bool ascends = true;
  for (std::uint64_t i = 0; i < n; ++i) {
    const auto hash = load<std::uint64_t>(payload.data() + 8 * i);
    ascends = ascends && (i == 0 || before < hash);
    before = hash;
    ++classes[std::to_integer<std::size_t>(payload[8 * n + i])];
  }
  if (!ascends) return damaged();
  unknown_rates rates{.lowest = 1};
  for (std::size_t byte = 0; byte < classes.size(); ++byte) {
    if (classes[byte] == 0) continue;
    const auto of = partition_class::of_byte(static_cast<std::byte>(byte));
    const bool exists = of.is_constant() ? of.guided() == 0
                                         : has_columns(params.first, of.first()) &&
                                               has_columns(params.guided, of.guided()) &&
                                               !params.last.levels.empty();
    if (!exists) return damaged();
    const double rate = of.unknown_rate();
    rates.mean += rate * static_cast<double>(classes[byte]);
    rates.lowest = std::min(rates.lowest, rate);
    rates.highest = std::max(rates.highest, rate);
  }
  rates.mean /= static_cast<double>(n);
  return rates;
}

exact_partitions::exact_partitions(const partitioned_exact_params& params)
    : partitions_(params.partitions) {
  if (params.last.levels.empty()) return;
  const std::uint64_t zeros = params.payload_bytes() - retrieval_padding;
  std::uint64_t at = params.directory_bytes();
  const auto views_of = [&](const exact_section& section) {
    auto all = retrieval_views(section.levels, at, zeros);
    at += retrieval_bytes(section.levels);
    return all;
  };
  for (const exact_section& section : params.first) first_[section.columns] = views_of(section);
  for (const exact_section& section : params.guided) guided_[section.columns] = views_of(section);
  last_ = views_of(params.last);
}

void exact_partitions::contains(const std::byte* payload, std::span<const partitioned_hash> hashes,
                                bool* answers) const noexcept {
  const retrieval_kernels& kernels = retrieval_ops();
  asked_keys asked;
  asked_keys grouped;
  std::array<std::uint32_t, partitioned_chunk> values;
  // Keeps the keys of `grouped` whose values match, in `asked`.
  const auto keep_matching = [&](std::uint32_t shift, auto columns_of) {
    asked.size = 0;
    for (std::size_t i = 0; i < grouped.size; ++i) {
      const std::uint32_t wanted = (fingerprint_of(grouped.hashes[i].value) >> shift) &
                                   column_mask(columns_of(grouped.classes[i]));
      if (values[i] != wanted) continue;
      asked.add(grouped.hashes[i], grouped.classes[i], grouped.indices[i]);
    }
  };
  const auto query = [&](auto retrieve, const auto& sections, std::uint32_t shift,
                         auto columns_of) {
    const auto begins = group(asked, grouped, columns_of);
    for (std::size_t columns = 0; columns < sections.size(); ++columns) {
      const std::size_t from = begins[columns];
      const std::size_t size = begins[columns + 1] - from;
      if (size == 0) continue;
      if (sections[columns].empty()) {
        std::fill_n(values.begin() + static_cast<std::ptrdiff_t>(from), size, 0);
      } else {
        retrieve({payload, sections[columns]}, {grouped.hashes.data() + from, size},
                 values.data() + from);
      }
    }
    keep_matching(shift, columns_of);
  };
  for (std::size_t from = 0; from < hashes.size(); from += partitioned_chunk) {
    const auto some = hashes.subspan(from, std::min(partitioned_chunk, hashes.size() - from));
    asked.size = 0;
    for (std::size_t i = 0; i < some.size(); ++i) {
      const auto found = find(payload, some[i].partition);
      answers[from + i] = found && found->negated();
      if (found && !found->is_constant()) {
        asked.add(some[i].joined(), *found, static_cast<std::uint16_t>(i));
      }
    }
    if (last_.empty() || asked.size == 0) continue;
    query(kernels.retrieve_128, first_, 0, [](partition_class of) { return of.first(); });
    query(kernels.retrieve_64, guided_, partitioned_guided_shift,
          [](partition_class of) { return of.guided(); });
    for (std::size_t i = 0; i < asked.size; ++i) {
      asked.hashes[i] = last_section_hash(asked.hashes[i]);
    }
    kernels.retrieve_128({payload, last_}, {asked.hashes.data(), asked.size}, values.data());
    for (std::size_t i = 0; i < asked.size; ++i) {
      answers[from + asked.indices[i]] = (values[i] != 0) != asked.classes[i].negated();
    }
  }
}

}  // namespace bloomset::detail
