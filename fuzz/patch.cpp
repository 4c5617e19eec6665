// A byte for the way, then either any bytes as a patch of a filter file, or changes of its payload.
// A patch is refused with a sentence, or makes a filter file. Changes come back byte for byte.

#include <array>
#include <bloomset/bloomset.hpp>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/stored_bytes.hpp"

namespace {

using namespace bloomset;

void require(bool holds, const char* what, const std::string& why = {}) {
  if (holds) return;
  std::fprintf(stderr, "patch: %s%s\n", what, why.c_str());
  std::abort();
}

std::vector<std::byte> small_filter(std::string_view kind) {
  plan_request request;
  request.capacity = 300;
  request.fpr = 0.01;
  auto filter = (*find_kind(kind))->create(request);
  require(filter.has_value(), "no filter");
  std::vector<std::string> keys;
  for (int i = 0; i < 200; ++i) keys.push_back(std::to_string(i));
  require(filter->insert(std::vector<std::string_view>(keys.begin(), keys.end())).has_value(),
          "no insert");
  return serialize(filter->image());
}

const std::array<std::vector<std::byte>, 4>& files() {
  static const std::array made = {small_filter("bloom"), small_filter("counting_bloom"),
                                  small_filter("cuckoo"), small_filter("scalable_bloom")};
  return made;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const unsigned way = *data;
  const std::span<const std::byte> rest = {reinterpret_cast<const std::byte*>(data + 1), size - 1};
  const std::vector<std::byte>& before = files().at(way & 3);
  const mapped_storage old(nullptr, before);
  if ((way & 4) == 0) {
    // The signature and the old file's checksum are right, so that the fuzzer gets past them.
    std::vector<std::byte> patch = {std::byte{0x89}};
    for (const char c : {'B', 'P', 'A', 'T', 'C', 'H', '\n'}) patch.push_back(std::byte(c));
    const auto seal = std::span(before).subspan(test::at::header_checksum, 8);
    patch.insert(patch.end(), seal.begin(), seal.end());
    patch.insert(patch.end(), rest.begin(), rest.end());
    const auto made = apply_patch(old, "old", patch, "p");
    if (made) {
      require(read_stored({nullptr, made->bytes()}, verification::always, "new").has_value(),
              "no filter");
    } else {
      require(made.error().message.size() > 20, "no sentence: ", made.error().message);
      require(made.error().code != errc::out_of_memory, "asked for absurd memory");
    }
    return 0;
  }
  // Changes of the payload, and of its length.
  std::vector<std::byte> after = before;
  if ((way & 8) != 0) after.resize(after.size() + 64 * (way >> 4));
  for (std::size_t i = 0; i + 2 < rest.size(); i += 3) {
    const std::size_t payload =
        test::at::parameters +
        detail::load<std::uint32_t>(after.data() + test::at::parameter_bytes);
    const std::size_t at =
        std::to_integer<std::size_t>(rest[i]) << 8 | std::to_integer<std::size_t>(rest[i + 1]);
    std::byte& changed = after[payload + at % (after.size() - payload)];
    changed = (way & 16) != 0 ? changed | rest[i + 2] : changed ^ rest[i + 2];
  }
  detail::store(after.data() + test::at::payload_bytes,
                after.size() - test::at::parameters -
                    detail::load<std::uint32_t>(after.data() + test::at::parameter_bytes));
  test::reseal(after);
  const auto patch = make_patch(old, "old", {nullptr, after}, "new");
  require(patch.has_value(), "no patch: ", patch ? "" : patch.error().message);
  const auto made = apply_patch(old, "old", patch->bytes, "p");
  require(made.has_value(), "not applied: ", made ? "" : made.error().message);
  require(std::ranges::equal(made->bytes(), after), "another file");
  return 0;
}
