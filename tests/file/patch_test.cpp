// Patches: the new file from the old one, for every kind; their size; and damaged ones.

#include <bloomset/patch.hpp>

#include <gtest/gtest.h>

#include <bloomset/bloomset.hpp>
#include <fstream>
#include <iterator>
#include <random>

#include "tests/support/golden_patches.hpp"
#include "tests/support/stored_bytes.hpp"

namespace bloomset::test {
namespace {

using byte_vector = std::vector<std::byte>;

mapped_storage borrowed(const byte_vector& bytes) {
  return {nullptr, bytes};
}

patch_build difference(const byte_vector& before, const byte_vector& after) {
  return value_of(make_patch(borrowed(before), "old", borrowed(after), "new"));
}

/// The new file, or the sentence of the failure.
struct applied {
  byte_vector bytes;
  std::string sentence;
};

applied patched(const byte_vector& before, const byte_vector& patch) {
  const auto made = apply_patch(borrowed(before), "old", patch, "p");
  if (!made) return {{}, made.error().message};
  return {{made->bytes().begin(), made->bytes().end()}, {}};
}

TEST(patch, makes_the_new_file_byte_for_byte_between_files_of_all_kinds) {
  std::vector<byte_vector> files;
  for (const recipe& how : recipes()) files.push_back(serialize(cook(how).image()));
  for (std::size_t i = 0; i < files.size(); ++i) {
    for (const std::size_t j : {i, (i + 1) % files.size(), (i + 7) % files.size()}) {
      const auto made = patched(files[i], difference(files[i], files[j]).bytes);
      ASSERT_EQ(made.bytes, files[j])
          << recipes()[i].name << ", " << recipes()[j].name << made.sentence;
    }
  }
}

TEST(patch, equal_files_differ_by_a_header) {
  const auto file = serialize(cook(recipe_of("bloom-double")).image());
  EXPECT_LE(difference(file, file).bytes.size(), 40U);
}

TEST(patch, follows_inserts_and_erases_of_every_kind) {
  for (const kind_info& kind : kinds()) {
    if (!kind.can.insert) continue;
    auto filter =
        filter_of(kind, {.capacity = 20'000, .fpr = 0.01, .hash_bits = 64}, words("a", 15'000));
    byte_vector before = serialize(filter.image());
    for (const std::string_view step : {"b", "c", "erase"}) {
      const auto keys = words(step == "erase" ? "b" : step, 500);
      const std::vector<std::string_view> views(keys.begin(), keys.end());
      if (step == "erase") {
        if (!kind.can.erase) continue;
        const auto erased = std::make_unique<bool[]>(views.size());
        value_of(filter.erase(views, {erased.get(), views.size()}));
      } else {
        value_of(filter.insert(views));
      }
      const byte_vector after = serialize(filter.image());
      const patch_build made = difference(before, after);
      EXPECT_EQ(patched(before, made.bytes).bytes, after) << kind.name;
      EXPECT_LT(made.bytes.size(), after.size() + 26) << kind.name;
      before = after;
    }
  }
}

// The entropy is that of changes at random places; the sizes below are the same on every machine.
TEST(patch, is_as_long_as_the_entropy_of_its_changes) {
  struct row {
    std::string_view kind;
    std::size_t keys;
    double most;  // times the entropy
  };
  constexpr std::size_t members = 500'000;
  for (const std::string_view kind : {"bloom", "blocked_bloom"}) {
    auto filter = filter_of(*value_of(find_kind(kind)), {.capacity = members, .fpr = 0.01},
                            words("member", members));
    for (const row& now :
         {row{"bloom", 50, 1.2}, row{"bloom", 500, 1.03}, row{"bloom", 50'000, 1.02},
          row{"blocked_bloom", 500, 0.8}, row{"blocked_bloom", 50'000, 1.02}}) {
      if (now.kind != kind) continue;
      const byte_vector before = serialize(filter.image());
      const auto keys = words("new" + std::to_string(now.keys), now.keys);
      value_of(filter.insert(std::vector<std::string_view>(keys.begin(), keys.end())));
      const byte_vector after = serialize(filter.image());
      const patch_build made = difference(before, after);
      const double entropy = made.changes.entropy() / 8;
      EXPECT_EQ(made.changes.cleared, 0U);
      EXPECT_LT(static_cast<double>(made.bytes.size()), now.most * entropy)
          << now.kind << " and " << now.keys << " keys: " << made.bytes.size() << " bytes of "
          << entropy;
      EXPECT_EQ(patched(before, made.bytes).bytes, after);
    }
  }
}

class damaged_patch : public ::testing::TestWithParam<golden_patch> {};

/// A patch that is damaged makes the new file, if the damage changes nothing, or none.
TEST_P(damaged_patch, is_refused_or_makes_the_new_file) {
  const auto [before, after] = files_of(GetParam());
  const byte_vector good = cook(GetParam());
  ASSERT_EQ(patched(before, good).bytes, after);
  ASSERT_EQ(std::to_integer<std::size_t>(good[24]),
            static_cast<std::size_t>(
                std::ranges::find(golden_patches, GetParam().name, &golden_patch::name) -
                golden_patches.begin()));
  std::size_t refused = 0;
  const auto expect_refused = [&](const byte_vector& bad) {
    const auto made = patched(before, bad);
    refused += made.sentence.empty() ? 0U : 1U;
    if (made.sentence.empty()) {
      EXPECT_EQ(made.bytes, after);
    } else {
      EXPECT_TRUE(made.sentence.starts_with("p: ") || made.sentence.starts_with("old: "))
          << made.sentence;
    }
  };
  for (std::size_t i = 0; i < good.size(); ++i) {
    byte_vector bad = good;
    for (const unsigned bit : {0U, 3U, 7U}) {
      bad[i] = good[i] ^ std::byte{static_cast<unsigned char>(1U << bit)};
      expect_refused(bad);
    }
    expect_refused(byte_vector(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(i)));
  }
  EXPECT_GT(refused, 4 * good.size() - 12);
  byte_vector longer = good;
  longer.insert(longer.end(), 20, std::byte{1});
  EXPECT_NE(patched(before, longer).sentence, "");
}

TEST_P(damaged_patch, is_the_golden_one) {
  std::ifstream file(golden_folder() / (std::string(GetParam().name) + ".patch"), std::ios::binary);
  const std::string was{std::istreambuf_iterator<char>(file), {}};
  const byte_vector now = cook(GetParam());
  EXPECT_EQ(was, std::string(reinterpret_cast<const char*>(now.data()), now.size()));
}

INSTANTIATE_TEST_SUITE_P(methods, damaged_patch, ::testing::ValuesIn(golden_patches),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(patch, says_what_it_was_made_for) {
  const auto bytes_of_recipe = [](std::string_view name) {
    return serialize(cook(recipe_of(name)).image());
  };
  const byte_vector before = bytes_of_recipe("bloom-double");
  const byte_vector after = bytes_of_recipe("bloom-seeded");
  const byte_vector patch = difference(before, after).bytes;
  const byte_vector other = bytes_of_recipe("fuse-3");
  EXPECT_TRUE(
      patched(other, patch)
          .sentence.starts_with("old: p was made for another file, with the header checksum "));
  EXPECT_EQ(patched(after, patch).sentence,
            "old: the file is the result of p already; there is nothing to do");
  EXPECT_TRUE(patched(before, before).sentence.starts_with("p: this is not a patch"));
  EXPECT_TRUE(patched(patch, patch).sentence.starts_with("old: this is not a Bloomset filter"));
  byte_vector damaged = before;
  damaged.back() ^= std::byte{1};
  EXPECT_TRUE(patched(damaged, patch).sentence.starts_with("old: the payload's checksum"));
}

// Lengths from outside are no sizes of memory.
TEST(patch, announces_no_more_than_four_times_the_old_file) {
  const byte_vector before = serialize(cook(recipe_of("bloom-double")).image());
  byte_vector patch = difference(before, before).bytes;
  for (const std::uint64_t head : {0U, 2U, 1U << 20, ~0U}) {
    for (unsigned digits = 1; digits <= 9; ++digits) {
      byte_vector bad(patch.begin(), patch.begin() + 25);
      for (std::uint64_t left = head;; left >>= 7) {
        bad.push_back(static_cast<std::byte>((left & 127) | (left >= 128 ? 128 : 0)));
        if (left < 128) break;
      }
      for (unsigned i = 1; i < digits; ++i) bad.push_back(std::byte{0xff});
      bad.push_back(std::byte{0x7f});
      bad.push_back(std::byte{40});
      const auto made = patched(before, bad);
      EXPECT_TRUE(made.sentence.starts_with("p: ")) << made.sentence;
    }
  }
}

}  // namespace
}  // namespace bloomset::test
