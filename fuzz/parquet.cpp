// Any bytes as a Parquet file whose column is read and gets filters: refused with a sentence, or a
// file whose column has filters, and the same file again when they are replaced.

#include <bloomset/dialects/dialect.hpp>
#include <bloomset/dialects/parquet.hpp>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

namespace d = bloomset::dialects;

void require(bool holds, const char* what, const std::string& why = {}) {
  if (holds) return;
  std::fprintf(stderr, "parquet: %s%s\n", what, why.c_str());
  std::abort();
}

/// A codec that packs nothing, so that the fuzzer sees pages.
bloomset::result<void> copy_page(std::int64_t, std::span<const std::byte> packed, std::size_t size,
                                 std::vector<std::byte>& into) {
  if (packed.size() != size) {
    return bloomset::failure{bloomset::errc::corrupt, "a page of another size than it states"};
  }
  into.assign(packed.begin(), packed.end());
  return {};
}

void require_sentence(const bloomset::failure& why) {
  require(why.message.size() > 20, "no sentence: ", why.message);
  require(why.message.find('\n') == std::string::npos, "not one line: ", why.message);
  require(why.code != bloomset::errc::out_of_memory, "asked for absurd memory: ", why.message);
}

void read_values(std::span<const std::byte> file, const std::string& column) {
  const auto read = d::read_parquet_column(
      file, column, copy_page,
      [](std::span<const std::string_view>) { return bloomset::result<void>(); });
  if (!read) require_sentence(read.error());
}

/// The new file. Empty if the old one is refused.
std::vector<std::byte> attached(std::span<const std::byte> file, const std::string& column,
                                bool replace) {
  const auto made = d::attach_parquet_filters(
      file, {.columns = {column}, .fpr = 0.01, .replace = replace, .unpack = copy_page});
  if (!made) {
    require_sentence(made.error());
    return {};
  }
  std::vector<std::byte> whole(file.begin(),
                               file.begin() + static_cast<std::ptrdiff_t>(made->kept));
  whole.insert(whole.end(), made->appended.begin(), made->appended.end());
  return whole;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* const first = reinterpret_cast<const std::byte*>(data);
  const std::vector<std::byte> file(first, first + size);
  for (const char* const column : {"c", "c.list.element"}) {
    read_values(file, column);
    const auto once = attached(file, column, true);
    if (once.empty()) continue;
    const auto again = attached(once, column, true);
    require(!again.empty(), "what was written is refused");
    require(attached(again, column, true) == again, "replaced filters make the file grow");
    const auto filter =
        d::open(*d::find("parquet").value(), bloomset::mapped_storage(nullptr, again),
                {.name = "fuzz.parquet", .options = {{"column", column}}});
    require(filter.has_value(), "filters are not found: ", filter ? "" : filter.error().message);
  }
  return 0;
}
