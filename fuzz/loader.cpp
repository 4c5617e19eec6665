// Any bytes as a filter file: refused with a sentence, or a filter that can be used. If the program
// is named fuzz_sealed_loader, both checksums are made right first, so that the fuzzer gets past
// them to the parameters and payloads behind.

#include <algorithm>
#include <array>
#include <bloomset/bloomset.hpp>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/stored_bytes.hpp"

namespace {

void require(bool holds, const char* what, const std::string& why = {}) {
  if (holds) return;
  std::fprintf(stderr, "loader: %s%s\n", what, why.c_str());
  std::abort();
}

void require_sentence(const bloomset::failure& why) {
  require(why.message.starts_with("fuzz.bloom: ") && why.message.size() > 30,
          "no sentence that names the file: ", why.message);
  require(why.code != bloomset::errc::out_of_memory, "asked for absurd memory: ", why.message);
}

void use(bloomset::any_filter& filter) {
  const std::array<std::string_view, 3> keys = {"alice", "bob", ""};
  std::array<bool, 3> answers{};
  std::array<std::uint64_t, 3> counts{};
  filter.may_contain(keys, answers);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    require(answers.at(i) == filter.may_contain(keys.at(i)), "a batch answers otherwise");
  }
  const auto info = filter.info();
  require(info.current_fpr >= 0 && info.current_fpr <= 1, "a rate outside of 0 to 1");
  require(filter.count(keys, counts).has_value() == filter.can().count, "count against ability");
  for (std::uint64_t factor = 1; filter.can().fold && factor <= 8; ++factor) {
    const auto folded = filter.fold(factor);
    if (!folded) continue;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      require(!answers.at(i) || folded->may_contain(keys.at(i)), "a fold lost a key");
    }
  }
  if (filter.can().insert) {
    const auto summary = filter.insert(keys);
    require(summary.has_value(), "an insert failed");
    for (std::size_t i = 0; i < summary->done; ++i) {
      require(filter.may_contain(keys.at(i)), "a false negative");
    }
    if (filter.can().erase) (void)filter.erase(keys, answers);
  }
}

void use(const bloomset::file_index& index) {
  std::vector<bloomset::hash64> hashes;
  for (std::uint64_t i = 0; i < 100; ++i) hashes.push_back({bloomset::detail::remix64(i)});
  bloomset::file_lists lists;
  index.files_of(hashes, lists);
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    const auto files = index.files_of(hashes[i]);
    require(std::ranges::equal(files, lists.of(i)), "a batch answers otherwise");
    for (const std::uint32_t file : files) {
      require(file < index.files() && index.name(file).data() != nullptr, "no such file");
    }
  }
  require(!index.figures().empty(), "no figures");
}

/// The same file, of which only the bytes are read that opening and querying need: no byte outside
/// of it, and the answers of the whole file.
void use_in_part(const std::vector<std::byte>& file) {
  auto part = bloomset::partial_file::make(file.size());
  require(part.has_value(), "no memory for a part");
  const auto fetch = [&](const std::vector<bloomset::byte_interval>& missing) {
    for (const auto [begin, end] : missing) {
      require(begin < end && end <= file.size(), "a range outside of the file");
      part->put(begin, std::span(file).subspan(begin, end - begin));
    }
    return !missing.empty();
  };
  for (int steps = 0;; ++steps) {
    require(steps < 8, "opening takes too many steps");
    const auto missing = bloomset::missing_to_open(*part, "fuzz.bloom");
    if (!missing) return require_sentence(missing.error());
    if (!fetch(*missing)) break;
  }
  const auto open = [](const bloomset::mapped_storage& bytes) {
    const auto stored = bloomset::read_stored(bytes, bloomset::verification::header, "fuzz.bloom");
    require(stored.has_value(), "a header that was read is refused");
    return bloomset::open_any(*stored, bloomset::access::read_only, "fuzz.bloom");
  };
  const auto filter = open(part->storage());
  const auto whole = open(bloomset::mapped_storage(nullptr, file));
  if (!filter) {
    require(!whole, "a part is refused, and the whole file is not");
    return require_sentence(filter.error());
  }
  const std::array<std::string_view, 3> keys = {"alice", "bob", ""};
  for (int steps = 0; fetch(bloomset::missing_to_query(*part, *filter, keys)); ++steps) {
    require(steps < 300, "a query takes too many steps");
  }
  for (const std::string_view key : keys) {
    require(!whole || filter->may_contain(key) == whole->may_contain(key),
            "a part answers otherwise than the whole file");
  }
}

bool is_sealed = false;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** argv) {
  is_sealed = std::string_view(**argv).ends_with("fuzz_sealed_loader");
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* first = reinterpret_cast<const std::byte*>(data);
  std::vector<std::byte> file(first, first + size);
  if (is_sealed && file.size() >= bloomset::test::at::parameters) {
    // The lengths are made to fit as well: what is behind them is the aim here.
    bloomset::detail::store(file.data(), std::uint64_t{0x0a0d4d4f4f4c4289});
    bloomset::detail::store(file.data() + bloomset::test::at::format_version, std::uint16_t{1});
    const auto parameters =
        bloomset::detail::load<std::uint32_t>(file.data() + bloomset::test::at::parameter_bytes);
    if (parameters <= file.size() - 64) {
      bloomset::detail::store(file.data() + bloomset::test::at::payload_bytes,
                              std::uint64_t{file.size() - 64 - parameters});
    }
    bloomset::test::reseal(file);
  }
  use_in_part(file);
  using bloomset::verification;
  for (const auto how : {verification::always, verification::header}) {
    const auto stored =
        bloomset::read_stored(bloomset::mapped_storage(nullptr, file), how, "fuzz.bloom");
    if (!stored) {
      require_sentence(stored.error());
      continue;
    }
    if (auto index = bloomset::file_index::open(*stored)) {
      require(bloomset::serialize(index->image()).size() == file.size(),
              "what was read is written at another size");
      if (how == verification::always) {
        require(bloomset::serialize(index->image()) == file, "what was read is written otherwise");
      }
      use(*index);
    } else {
      require(index.error().code != bloomset::errc::out_of_memory,
              "asked for absurd memory: ", index.error().message);
    }
    for (const auto mode : {bloomset::access::read_only, bloomset::access::writable}) {
      auto filter = bloomset::open_any(*stored, mode, "fuzz.bloom");
      if (!filter) {
        require_sentence(filter.error());
        continue;
      }
      require(bloomset::serialize(filter->image()).size() == file.size(),
              "what was read is written at another size");
      if (how == verification::always) {
        require(bloomset::serialize(filter->image()) == file, "what was read is written otherwise");
      }
      use(*filter);
    }
  }
  return 0;
}
