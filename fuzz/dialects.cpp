// Any bytes as a file of another program: refused with a sentence, or a filter that can be used and
// that is written as it was read. The first byte chooses the dialect and its options.

#include <array>
#include <bloomset/dialects/dialect.hpp>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace d = bloomset::dialects;

void require(bool holds, const char* what, const std::string& why = {}) {
  if (holds) return;
  std::fprintf(stderr, "dialects: %s%s\n", what, why.c_str());
  std::abort();
}

struct reading {
  std::string_view format;
  d::option_list options;
};

const std::vector<reading>& readings() {
  static const std::vector<reading> all = {
      {"squid", {}},
      {"parquet", {{"type", "bytes"}}},
      {"parquet", {{"type", "double"}}},
      {"parquet", {{"column", "c"}}},
      {"leveldb", {}},
      {"dcso", {}},
      {"guava", {{"funnel", "utf16le"}}},
      {"guava", {{"funnel", "int32"}}},
      {"guava", {}},
      {"cassandra", {{"version", "la"}, {"type", "bytes"}}},
      {"cassandra", {{"version", "mc"}, {"type", "int"}}},
      {"cassandra", {{"version", "nb"}}},
      {"bip37", {}},
      {"spark", {{"type", "string"}}},
      {"spark", {{"type", "long"}}},
      {"cascade", {}},
      {"clubcard", {}},
      {"passwdqc", {}},
      {"poppy", {}},
  };
  return all;
}

/// Opens the bytes in that way.
bloomset::result<d::foreign_filter> open(const reading& as, const std::vector<std::byte>& bytes,
                                         bloomset::access how) {
  return d::open(*d::find(as.format).value(), bloomset::mapped_storage(nullptr, bytes),
                 {.name = "fuzz.bytes", .how = how, .options = as.options});
}

void use(const reading& as, d::foreign_filter& filter, bloomset::access how) {
  const std::string id(64, 'a');
  const std::string certificate = id + ":008101:" + id + "@1500";
  const std::array<std::string_view, 6> keys = {"1",         "-22.5",           "", "\xe2\x82\xac",
                                                certificate, "16 bytes of hash"};
  std::array<bool, 6> answers{};
  std::array<bool, 6> covered{};
  filter.may_contain(keys, answers);
  filter.covers(keys, covered);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    require(answers.at(i) == filter.may_contain(keys.at(i)), "a batch answers otherwise");
    if (answers.at(i)) require(filter.accepts(keys.at(i)).has_value(), "a member not accepted");
    require(covered.at(i) || !answers.at(i), "an answer for a key that is not covered");
    require(covered.at(i) || !filter.covers_all_keys(), "not all keys are covered");
  }
  const auto info = filter.info();
  const double rate = info.current_fpr.value_or(0);
  require(rate >= 0 && rate <= 1, "a rate outside of 0 to 1");
  for (const std::size_t i : {0U, 5U}) {
    const auto inserted = filter.insert(std::span(keys).subspan(i, 1));
    require(!inserted || how == bloomset::access::writable, "a read-only filter was changed");
    if (inserted && inserted->done == 1 && filter.askable()) {
      require(filter.may_contain(keys.at(i)), "a false negative");
    }
  }
  const auto image = filter.image();
  if (!image) return;
  const auto bytes = image->bytes();
  const auto again = open(as, bytes, bloomset::access::read_only);
  require(again.has_value(), "what was written is refused: ", again ? "" : again.error().message);
  filter.may_contain(keys, answers);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    require(answers.at(i) == again->may_contain(keys.at(i)), "what was written answers otherwise");
  }
  require(again->image()->bytes() == bytes, "what was read is written otherwise");
  if (filter.merge(*again)) require(filter.image().has_value(), "a merge that cannot be written");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const reading& as = readings().at(*data % readings().size());
  const auto* const first = reinterpret_cast<const std::byte*>(data);
  const std::vector<std::byte> file(first + 1, first + size);
  (void)d::recognise(file);
  for (const auto how : {bloomset::access::read_only, bloomset::access::writable}) {
    auto filter = open(as, file, how);
    if (filter) {
      use(as, *filter, how);
      continue;
    }
    const auto& why = filter.error();
    require(why.message.starts_with("fuzz.bytes: ") && why.message.size() > 30,
            "no sentence that names the file: ", why.message);
    require(why.message.find('\n') == std::string::npos, "not one line: ", why.message);
    require(why.code != bloomset::errc::out_of_memory, "asked for absurd memory: ", why.message);
  }
  return 0;
}
