#include "passwdqc/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bloomset/plan/numeric.hpp>
#include <cmath>

#include "options.hpp"

namespace bloomset::dialects::passwdqc {
namespace {

constexpr std::string_view magic = "PWQ0";
constexpr std::uint64_t byte_order = 0x0807060504030201;

/// A number below n from 32 random bits.
std::uint64_t scale(std::uint32_t bits, std::uint64_t n) noexcept {
  return (bits * n) >> 32;
}

}  // namespace

bool begins_as_filter(std::span<const std::byte> first) noexcept {
  return first.size() >= magic.size() &&
         std::ranges::equal(first.first(magic.size()), std::as_bytes(std::span(magic)));
}

result<header> read_header(std::span<const std::byte> first, std::uint64_t size) {
  if (first.size() < header_bytes) {
    return fail(errc::corrupt, "it ends within its header of 64 bytes; get the whole file");
  }
  if (!begins_as_filter(first)) {
    return fail(errc::corrupt, "it does not begin with PWQ0, as a filter of passwdqc does");
  }
  const std::byte* const at = first.data();
  const auto order = little_endian<std::uint64_t>(at + 8);
  if (order != byte_order) {
    if (big_endian<std::uint64_t>(at + 8) == byte_order) {
      return fail(errc::unsupported,
                  "it was made on a big-endian machine; make it anew on a little-endian one");
    }
    return fail(errc::corrupt,
                "the field that shows the order of its bytes is not 01 to 08; get the file anew");
  }
  header made{.threshold = std::to_integer<std::uint8_t>(at[4]),
              .bucket_size = std::to_integer<std::uint8_t>(at[5]),
              .hash = static_cast<hash_type>(at[6]),
              .capacity = little_endian<std::uint64_t>(at + 24),
              .deletes = little_endian<std::uint64_t>(at + 32),
              .inserts = little_endian<std::uint64_t>(at + 40),
              .duplicates = little_endian<std::uint64_t>(at + 48),
              .kicks = little_endian<std::uint64_t>(at + 56)};
  if (made.hash > hash_type::ntlm_cp1252) {
    return fail(
        errc::unsupported,
        fmt::format("its type of hash is {}, and 0 (opaque), 1 (MD4) and 2 (NTLM) are known",
                    std::to_integer<unsigned>(at[6])));
  }
  if (at[7] != std::byte{0} || little_endian<std::uint64_t>(at + 16) != 0) {
    return fail(errc::unsupported, "its header has fields that are 0 in the known version");
  }
  if (made.bucket_size < 2 || made.bucket_size > max_entries || made.threshold > made.bucket_size) {
    return fail(errc::corrupt,
                fmt::format("its header says buckets of {} entries and a threshold of {}; a bucket "
                            "has 2 to 4, and the threshold is at most as many",
                            made.bucket_size, made.threshold));
  }
  if (made.capacity == 0 || made.capacity % max_entries != 0 || made.buckets() > max_buckets) {
    return fail(errc::corrupt, fmt::format("its header says a capacity of {}, which is not a "
                                           "multiple of 4 from 4 to 17,179,869,180",
                                           made.capacity));
  }
  if (size - header_bytes != made.buckets() * bucket_bytes) {
    return fail(errc::corrupt,
                fmt::format("its header says a capacity of {}, which takes {} bytes, but {} bytes "
                            "follow; get the whole file",
                            made.capacity, made.buckets() * bucket_bytes, size - header_bytes));
  }
  if (made.deletes > made.inserts || made.count() > made.capacity) {
    return fail(errc::corrupt,
                fmt::format("its header says {} inserts and {} deletes in {} places; get the file "
                            "anew",
                            made.inserts, made.deletes, made.capacity));
  }
  return made;
}

std::vector<std::byte> write_header(const header& of) {
  std::vector<std::byte> bytes;
  for (const char c : magic) bytes.push_back(static_cast<std::byte>(c));
  put_little(bytes, of.threshold);
  put_little(bytes, of.bucket_size);
  put_little(bytes, static_cast<std::uint8_t>(of.hash));
  put_little(bytes, std::uint8_t{0});
  put_little(bytes, byte_order);
  put_little(bytes, std::uint64_t{0});
  for (const std::uint64_t field : {of.capacity, of.deletes, of.inserts, of.duplicates, of.kicks}) {
    put_little(bytes, field);
  }
  return bytes;
}

// Questions ------------------------------------------------------------------------------------

place table_view::place_of(std::string_view hash) const noexcept {
  const auto* const bytes = reinterpret_cast<const std::byte*>(hash.data());
  const auto first = big_endian<std::uint32_t>(bytes);
  // The digits of each byte change places.
  const std::uint32_t swapped = (first & 0x0f0f0f0fU) << 4 | (first >> 4 & 0x0f0f0f0fU);
  return {scale(swapped, head_.buckets()), little_endian<std::uint64_t>(bytes + 8)};
}

std::uint64_t table_view::other_bucket(std::uint64_t bucket,
                                       std::uint64_t fingerprint) const noexcept {
  const std::uint64_t n = head_.buckets();
  const std::uint64_t from_end = n - 1 - bucket;
  const std::uint64_t offset = scale(static_cast<std::uint32_t>(fingerprint), n);
  return from_end >= offset ? from_end - offset : from_end + n - offset;
}

std::optional<bucket> table_view::read(std::uint64_t number) const noexcept {
  return bucket::read(buckets_.data() + number * bucket_bytes);
}

unsigned table_view::width_of(std::uint64_t stored) const noexcept {
  // A fingerprint that was cut in a full bucket may be in another one now. It has no more bits than
  // these.
  if (stored >> 61 != 0) return 64;
  if (stored >> 41 != 0 || head_.bucket_size == 2) return 61;
  if (stored >> 33 != 0 || head_.bucket_size == 3) return 41;
  return 33;
}

bool table_view::has(const bucket& entries, std::uint64_t fingerprint) const noexcept {
  for (const std::uint64_t stored : entries.all()) {
    if (static_cast<std::uint32_t>(stored) != static_cast<std::uint32_t>(fingerprint)) continue;
    if (low_bits(stored ^ fingerprint, width_of(stored)) == 0) return true;
  }
  return false;
}

bool table_view::may_contain(const place& of) const noexcept {
  const auto first = read(of.bucket);
  if (!first || has(*first, of.fingerprint)) return true;
  if (first->size() < head_.threshold) return false;
  const auto second = read(other_bucket(of.bucket, of.fingerprint));
  return !second || has(*second, of.fingerprint);
}

std::optional<std::uint64_t> table_view::find_malformed() const noexcept {
  for (std::uint64_t number = 0; number < head_.buckets(); ++number) {
    const auto entries = read(number);
    if (!entries || entries->size() > head_.bucket_size) return number;
  }
  return std::nullopt;
}

std::uint64_t table_view::count_entries() const noexcept {
  std::uint64_t sum = 0;
  for (std::uint64_t number = 0; number < head_.buckets(); ++number) {
    const auto entries = read(number);
    if (entries) sum += entries->size();
  }
  return sum;
}

double table_view::current_fpr() const noexcept {
  // Entries by the bits that a hash must agree in, and buckets that send to the second one.
  std::array<std::uint64_t, max_entries> entries_of{};
  std::uint64_t passing = 0;
  for (std::uint64_t number = 0; number < head_.buckets(); ++number) {
    const auto entries = read(number);
    if (!entries) continue;
    passing += entries->size() >= head_.threshold ? 1 : 0;
    for (const std::uint64_t stored : entries->all()) {
      const auto* const width = std::ranges::find(widths, width_of(stored));
      ++entries_of[static_cast<std::size_t>(width - widths.begin())];
    }
  }
  double chance = 0;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    chance += std::ldexp(static_cast<double>(entries_of[i]), -static_cast<int>(widths[i]));
  }
  const auto n = static_cast<double>(head_.buckets());
  return chance / n * (1 + static_cast<double>(passing) / n);
}

// Inserts --------------------------------------------------------------------------------------

// A key may be in its second bucket only if the first has as many entries as the threshold. No
// bucket ever loses one: an entry that moves away makes room for another.

insert_answer inserter::insert(const place& of) {
  bucket first = *view_.read(of.bucket);
  bool here = true;
  std::uint64_t other = of.bucket;
  bucket second;
  const auto is_known = [&](const bucket& entries) { return view_.has(entries, of.fingerprint); };
  bool known = is_known(first);
  if (!known && first.size() >= head_.threshold) {
    other = view_.other_bucket(of.bucket, of.fingerprint);
    second = *view_.read(other);
    known = is_known(second);
    here = first.size() <= second.size();
  }
  if (known) {
    ++head_.duplicates;
    return insert_answer::maybe_present;
  }
  if (head_.count() == head_.capacity) return insert_answer::full;
  bucket& target = here ? first : second;
  if (target.size() < head_.bucket_size) {
    target.add(of.fingerprint);
    put(here ? of.bucket : other, target);
  } else if (may_grow()) {
    // Longer fingerprints are kept as long as moves find room for them.
    ++head_.bucket_size;
    target.add(of.fingerprint);
    put(here ? of.bucket : other, target);
  } else if (!put_with_moves(of)) {
    if (head_.bucket_size == max_entries) return insert_answer::full;
    ++head_.bucket_size;
    target.add(of.fingerprint);
    put(here ? of.bucket : other, target);
  }
  ++head_.inserts;
  return insert_answer::inserted;
}

/// Whether moves would hardly find room at the present size of buckets. With two choices, buckets
/// of 2 and 3 entries can be filled to 0.897 and 0.959 (Dietzfelbinger and Weidling, 2007).
bool inserter::may_grow() const noexcept {
  if (head_.bucket_size == max_entries) return false;
  const double fill = head_.bucket_size == 2 ? 0.44 : 0.71;
  return static_cast<double>(head_.count()) >= fill * static_cast<double>(head_.capacity);
}

bool inserter::is_on_way(std::uint32_t last, std::uint64_t number) const noexcept {
  for (;;) {
    if (steps_[last].bucket == number) return true;
    if (is_first(last)) return false;
    last = steps_[last].before;
  }
}

/// Finds the shortest way of moves to a bucket with room, and moves. Nothing changes if there is
/// none.
bool inserter::put_with_moves(const place& of) {
  constexpr std::size_t max_steps = 20'000;
  const std::uint64_t other = view_.other_bucket(of.bucket, of.fingerprint);
  steps_.clear();
  steps_.push_back({of.bucket, 0, 0});
  if (other != of.bucket) steps_.push_back({other, 1, 0});
  for (std::uint32_t at = 0; at < steps_.size() && steps_.size() < max_steps; ++at) {
    const bucket entries = *view_.read(steps_[at].bucket);
    const std::size_t first = steps_.size();
    for (unsigned i = 0; i < entries.size(); ++i) {
      const std::uint64_t next = view_.other_bucket(steps_[at].bucket, entries[i]);
      if (is_on_way(at, next)) continue;
      view_.prefetch({next, 0});
      steps_.push_back({next, at, static_cast<std::uint8_t>(i)});
    }
    for (std::size_t last = first; last < steps_.size(); ++last) {
      if (view_.read(steps_[last].bucket)->size() == head_.bucket_size) continue;
      move_along(static_cast<std::uint32_t>(last), of.fingerprint);
      return true;
    }
  }
  return false;
}

/// Moves the entries of a way, from its end with room up to its first bucket, where the fingerprint
/// takes the place that becomes free.
void inserter::move_along(std::uint32_t last, std::uint64_t fingerprint) noexcept {
  const auto moving = [&](const step& to) {
    return (*view_.read(steps_[to.before].bucket))[to.entry];
  };
  bucket end = *view_.read(steps_[last].bucket);
  end.add(moving(steps_[last]));
  put(steps_[last].bucket, end);
  for (std::uint32_t at = last; !is_first(at); at = steps_[at].before) {
    const std::uint32_t from = steps_[at].before;
    bucket entries = *view_.read(steps_[from].bucket);
    entries.replace(steps_[at].entry, is_first(from) ? fingerprint : moving(steps_[from]));
    put(steps_[from].bucket, entries);
    ++head_.kicks;
  }
}

std::uint64_t capacity_for(std::uint64_t keys) noexcept {
  // Few buckets are filled unevenly.
  const double many = std::ceil(static_cast<double>(keys) / 0.95);
  const double few =
      static_cast<double>(keys) + std::ceil(3 * std::sqrt(static_cast<double>(keys)));
  const auto places = static_cast<std::uint64_t>(std::max(many, few)) + 8;
  return (places + max_entries - 1) / max_entries * max_entries;
}

}  // namespace bloomset::dialects::passwdqc
