// Poppy version 2 (crate and wheel of CIRCL's hashlookup): a Bloom filter in buckets of 4 KiB, so
// that a query reads one page, and in two of its modes a first array of one bit per key.

#include <fmt/format.h>

#include <array>
#include <bit>
#include <bloomset/defaults.hpp>
#include <bloomset/plan/limits.hpp>
#include <bloomset/plan/numeric.hpp>
#include <cmath>
#include <limits>
#include <numbers>

#include "hashes.hpp"
#include "model.hpp"
#include "options.hpp"
#include "rows.hpp"

namespace bloomset::dialects {
namespace {
namespace poppy_format {

constexpr std::size_t header_bytes = 48;  // up to the first array
constexpr std::size_t bucket_bytes = 4096;
constexpr std::uint64_t bucket_bits = bucket_bytes * 8;
constexpr std::uint64_t max_hashes = 255;
constexpr std::uint64_t min_cache_bits = 8;
constexpr std::uint64_t seed = 0x706f707079533d42;

constexpr std::array<std::string_view, 4> modes = {"none", "space", "speed", "best"};
constexpr std::array options = {kind_option{
    "optimise", "none (default), space, speed or best",
    "for building: speed and best add an array, queried first, of at least one bit per key"}};

struct header {
  std::uint8_t mode = 0;
  std::uint64_t capacity = 0;
  double fpr = 0;
  std::uint64_t hashes = 0;
  std::uint64_t count = 0;
  std::uint64_t cache_bits = 0;
  std::uint64_t buckets = 0;

  std::size_t cache_bytes() const noexcept {
    return static_cast<std::size_t>(cache_bits / 8 + (cache_bits % 8 != 0));
  }
  /// Of the first array, the number of buckets, and the buckets.
  std::size_t buckets_at() const noexcept { return cache_bytes() + sizeof buckets; }
  std::size_t body_bytes() const noexcept { return buckets_at() + buckets * bucket_bytes; }
  std::uint64_t bits() const noexcept { return cache_bits + buckets * bucket_bits; }
};

failure missing(std::string_view what, std::uint64_t size, std::uint64_t rest) {
  return fail(errc::corrupt,
              fmt::format("its header says {} {}, but {} bytes follow; get the whole file", size,
                          what, rest));
}

/// The header's values, if the file can have them.
result<header> read_header(std::span<const std::byte> file) {
  if (file.size() < header_bytes + sizeof(std::uint64_t)) {
    return fail(errc::corrupt, "it ends within its header of 56 bytes; get the whole file");
  }
  const std::byte* const at = file.data();
  if (at[0] != std::byte{2}) {
    return fail(
        errc::unsupported,
        fmt::format("its version is {}; version 2 is known, and version 1 is of format dcso",
                    std::to_integer<unsigned>(at[0])));
  }
  header made{.mode = std::to_integer<std::uint8_t>(at[1]),
              .capacity = little_endian<std::uint64_t>(at + 8),
              .fpr = little_endian<double>(at + 16),
              .hashes = little_endian<std::uint64_t>(at + 24),
              .count = little_endian<std::uint64_t>(at + 32),
              .cache_bits = little_endian<std::uint64_t>(at + 40)};
  const auto zero = file.subspan(2, 6);
  if (made.mode >= modes.size() ||
      std::ranges::any_of(zero, [](std::byte b) { return b != std::byte{0}; })) {
    return fail(errc::unsupported, "its first eight bytes say another mode than version 2 has");
  }
  if (made.capacity == 0 || !(made.fpr > 0 && made.fpr < 1)) {
    return fail(errc::corrupt,
                fmt::format("its header says a capacity of {} and a rate of {:g}; the capacity is "
                            "at least 1, and the rate between 0 and 1",
                            made.capacity, made.fpr));
  }
  if (made.hashes == 0 || made.hashes > max_hashes) {
    return fail(errc::corrupt,
                fmt::format("its header says {} hash functions; a filter has 1 to {}", made.hashes,
                            max_hashes));
  }
  std::size_t rest = file.size() - header_bytes - sizeof made.buckets;
  if (made.cache_bits / 8 > rest || made.cache_bytes() > rest) {
    return missing("bits in the first array", made.cache_bits, rest);
  }
  rest -= made.cache_bytes();
  made.buckets = little_endian<std::uint64_t>(at + header_bytes + made.cache_bytes());
  if (made.buckets == 0 || made.buckets > rest / bucket_bytes) {
    return missing("buckets of 4 KiB", made.buckets, rest);
  }
  return made;
}

std::vector<std::byte> write_header(const header& of) {
  std::vector<std::byte> bytes;
  put_little(bytes, static_cast<std::uint64_t>(2U | unsigned{of.mode} << 8));
  put_little(bytes, of.capacity);
  put_little(bytes, of.fpr);
  put_little(bytes, of.hashes);
  put_little(bytes, of.count);
  put_little(bytes, of.cache_bits);
  return bytes;
}

/// A key of at most eight bytes is its own hash, with zeros after it.
std::uint64_t hash_of(std::string_view key) noexcept {
  if (key.size() > sizeof(std::uint64_t)) return wyhash_1(std::as_bytes(std::span(key)), seed);
  std::uint64_t h = 0;
  std::memcpy(&h, key.data(), key.size());
  return h;
}

/// The number that chooses the bucket and the bit of the first array: xorshift64*, except for the
/// direction of its last shift.
std::uint64_t scattered(std::uint64_t x) noexcept {
  x ^= x << 12;
  x ^= x >> 25;
  x ^= x << 27;
  return x * 2685821657736338717U;
}

/// The bits of a hash in its bucket, one after the other.
class bits_of_hash {
 public:
  explicit bits_of_hash(std::uint64_t h) noexcept : h_(h) {}

  std::uint64_t next() noexcept {
    if (i_ == 1) {
      std::array<std::byte, sizeof h_> bytes{};
      for (std::size_t b = 0; b < bytes.size(); ++b) {
        bytes[b] = static_cast<std::byte>(h_ >> (56 - 8 * b) & 0xff);
      }
      step_ = wyhash_1(bytes, seed);
    }
    if (i_ != 0) {
      h_ += step_;
      step_ += i_;
    }
    ++i_;
    return h_ % bucket_bits;
  }

 private:
  std::uint64_t h_;
  std::uint64_t step_ = 0;
  std::uint64_t i_ = 0;
};

bool has(std::span<const std::byte> bits, std::uint64_t place) noexcept {
  return (std::to_integer<unsigned>(bits[place / 8]) >> (place % 8) & 1U) != 0;
}
void set(std::span<std::byte> bits, std::uint64_t place) noexcept {
  bits[place / 8] |= static_cast<std::byte>(1U << (place % 8));
}

std::uint64_t ones_in(std::span<const std::byte> bytes) noexcept {
  std::uint64_t ones = 0;
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
    ones += static_cast<unsigned>(std::popcount(little_endian<std::uint64_t>(bytes.data())));
  }
  for (const std::byte each : bytes) {
    ones += static_cast<unsigned>(std::popcount(std::to_integer<unsigned>(each)));
  }
  return ones;
}

/// The keys of a bucket with that many ones.
double keys_of(std::uint64_t ones, std::uint64_t hashes) noexcept {
  const double fill = static_cast<double>(ones) / static_cast<double>(bucket_bits);
  return -static_cast<double>(bucket_bits) * numeric::log1p(-fill) / static_cast<double>(hashes);
}

class poppy_model final : public foreign_filter::model {
 public:
  poppy_model(const header& head, mapped_storage body, std::vector<std::byte> data)
      : head_(head), mapped_(std::move(body)), data_(std::move(data)) {}
  poppy_model(const header& head, owned_storage body, std::vector<std::byte> data)
      : head_(head), owned_(std::move(body)), is_writable_(true), data_(std::move(data)) {}

  const dialect& format() const noexcept override { return row_of(row::poppy); }

  foreign_info info() const override {
    foreign_info info;
    info.format = format().name;
    info.variant = fmt::format("version 2, mode {}", modes[head_.mode]);
    if (head_.mode == 0) info.variant = "version 2";
    info.kind = "blocked_bloom";
    info.bits = head_.bits();
    info.hashes = static_cast<unsigned>(head_.hashes);
    info.capacity = head_.capacity;
    info.planned_fpr = head_.fpr;
    info.count = head_.count;
    double keys = 0;
    double passing = 0;
    std::uint64_t ones = 0;
    for (std::uint64_t b = 0; b < head_.buckets; ++b) {
      const std::uint64_t in_bucket = ones_in(bucket(b));
      ones += in_bucket;
      keys += keys_of(in_bucket, head_.hashes);
      passing += numeric::power(static_cast<double>(in_bucket) / static_cast<double>(bucket_bits),
                                static_cast<unsigned>(head_.hashes));
    }
    info.estimated_size = keys;
    info.current_fpr = passing / static_cast<double>(head_.buckets);
    if (head_.cache_bits != 0) {
      const std::uint64_t in_cache = ones_in(cache());
      ones += in_cache;
      *info.current_fpr *=
          std::min(1.0, static_cast<double>(in_cache) / static_cast<double>(head_.cache_bits));
    }
    info.fill = std::min(1.0, static_cast<double>(ones) / static_cast<double>(head_.bits()));
    info.can_merge = true;
    info.extras = {{"buckets", head_.buckets},
                   {"cache_bits", head_.cache_bits},
                   {"data_bytes", std::uint64_t{data_.size()}}};
    return info;
  }

  result<void> askable() const override { return {}; }
  bool takes_any_key() const noexcept override { return true; }
  result<void> accepts(std::string_view) const override { return {}; }
  std::string_view key_form_name() const noexcept override { return {}; }
  bool fits(std::string_view) const override { return true; }

  void may_contain(std::span<const std::string_view> keys,
                   std::span<bool> answers) const noexcept override {
    for (std::size_t i = 0; i < keys.size(); ++i) answers[i] = contains(hash_of(keys[i]));
  }

  result<insert_summary> insert(std::span<const std::string_view> keys) override {
    if (!is_writable_) return read_only();
    insert_summary summary;
    for (const std::string_view key : keys) {
      if (!summary.add(insert_hash(hash_of(key)))) break;
    }
    return summary;
  }

  result<void> merge(const model& other) override {
    if (!is_writable_) return read_only();
    const auto& theirs = dynamic_cast<const poppy_model&>(other);
    const header& a = head_;
    const header& b = theirs.head_;
    if (a.mode != b.mode || a.capacity != b.capacity || a.fpr != b.fpr || a.hashes != b.hashes ||
        a.cache_bits != b.cache_bits || a.buckets != b.buckets) {
      return fail(errc::incompatible,
                  "they were planned for different capacities, rates or modes; give filters that "
                  "were created alike");
    }
    const auto to = owned_.writable_bytes();
    const auto from = theirs.body();
    for (std::size_t i = 0; i < to.size(); ++i) to[i] |= from[i];
    head_.count = 0;
    for (std::uint64_t number = 0; number < head_.buckets; ++number) {
      const double keys = std::floor(keys_of(ones_in(bucket(number)), head_.hashes));
      // A full bucket may have any number of keys.
      head_.count += std::isfinite(keys) ? static_cast<std::uint64_t>(keys) : head_.capacity;
    }
    return {};
  }

  result<foreign_filter> convert(const dialect& to, const option_list&) const override {
    if (&to != &format()) return other_format(format(), to);
    return fail(errc::unsupported,
                "format poppy has one container only; there is nothing to convert a filter to");
  }

  result<foreign_image> image() const override {
    return foreign_image{write_header(head_), body(), data_};
  }

 private:
  std::span<const std::byte> body() const noexcept {
    return is_writable_ ? owned_.bytes() : mapped_.bytes();
  }
  std::span<const std::byte> cache() const noexcept { return body().first(head_.cache_bytes()); }
  std::span<const std::byte> bucket(std::uint64_t number) const noexcept {
    return body().subspan(head_.buckets_at() + number * bucket_bytes, bucket_bytes);
  }

  bool contains(std::uint64_t h) const noexcept {
    const std::uint64_t x = scattered(h);
    if (head_.cache_bits != 0 && !poppy_format::has(cache(), x % head_.cache_bits)) return false;
    return has_bits(bucket(x % head_.buckets), h);
  }
  bool has_bits(std::span<const std::byte> in, std::uint64_t h) const noexcept {
    bits_of_hash bits(h);
    for (std::uint64_t i = 0; i < head_.hashes; ++i) {
      if (!poppy_format::has(in, bits.next())) return false;
    }
    return true;
  }

  insert_outcome insert_hash(std::uint64_t h) noexcept {
    const std::uint64_t x = scattered(h);
    const std::uint64_t number = x % head_.buckets;
    const bool is_new = !has_bits(bucket(number), h);
    if (is_new && head_.count >= head_.capacity) return insert_outcome::full;
    const auto all = owned_.writable_bytes();
    if (head_.cache_bits != 0) set(all.first(head_.cache_bytes()), x % head_.cache_bits);
    if (!is_new) return insert_outcome::maybe_present;
    const auto own = all.subspan(head_.buckets_at() + number * bucket_bytes, bucket_bytes);
    bits_of_hash bits(h);
    for (std::uint64_t i = 0; i < head_.hashes; ++i) set(own, bits.next());
    ++head_.count;
    return insert_outcome::inserted;
  }

  header head_;
  mapped_storage mapped_;
  owned_storage owned_;
  bool is_writable_ = false;
  std::vector<std::byte> data_;
};

recognition looks_like(std::span<const std::byte> bytes) noexcept {
  return read_header(bytes) ? recognition::certain : recognition::no;
}

result<foreign_filter> open_filter(const mapped_storage& file, const open_request& request) {
  if (!request.options.empty()) {
    return fail(errc::invalid_argument, "the mode is stored in the filter; leave it out");
  }
  const auto head = read_header(file.bytes());
  if (!head) return fail(head.error());
  auto body = file.slice(header_bytes, head->body_bytes());
  if (head->cache_bits % 8 != 0 &&
      std::to_integer<unsigned>(body.bytes()[head->cache_bytes() - 1]) >> (head->cache_bits % 8) !=
          0) {
    return fail(errc::corrupt, "bits are set beyond the last place; get the filter anew");
  }
  const auto tail = file.bytes().subspan(header_bytes + head->body_bytes());
  std::vector<std::byte> data(tail.begin(), tail.end());
  if (request.how == access::read_only) {
    return foreign_filter(std::make_unique<poppy_model>(*head, std::move(body), std::move(data)));
  }
  auto copy = owned_storage::copy_of(body.bytes());
  if (!copy) return fail(std::move(copy.error()));
  return foreign_filter(std::make_unique<poppy_model>(*head, std::move(*copy), std::move(data)));
}

/// The original's size for a capacity and a rate.
result<header> size_for(std::uint64_t capacity, double p, std::uint8_t mode) {
  const double ln2 = std::numbers::ln2;
  const auto bits = static_cast<double>(bucket_bits);
  const auto n = static_cast<double>(capacity);
  // Keys per bucket.
  const double per_bucket = std::floor(bits * ln2 * ln2 / -numeric::log(p));
  double hashes = std::ceil(bits * ln2 / per_bucket);
  header made{.mode = mode, .capacity = capacity, .fpr = p};
  const double buckets = std::ceil(n / per_bucket);
  if (!(per_bucket >= 1 && buckets * bits < static_cast<double>(max_bits))) {
    return too_large("poppy", fmt::format("2^{} bits", std::bit_width(max_bits) - 1));
  }
  made.buckets = static_cast<std::uint64_t>(buckets);
  if (modes[mode] == "speed") made.buckets = std::bit_ceil(made.buckets);
  if (modes[mode] == "speed" || modes[mode] == "best") {
    const std::uint64_t power = std::bit_ceil(capacity);
    made.cache_bits = std::max(min_cache_bits, power);
    // A first array of so many bits, with the best number j of functions, would let this share
    // pass.
    const auto cache = static_cast<double>(power);
    const double j = std::ceil(cache / n * ln2);
    const double passing = numeric::pow(1 - numeric::exp(-j * n / cache), j);
    hashes = std::ceil(ln2 * passing * std::round(bits / per_bucket));
  }
  if (hashes > static_cast<double>(max_hashes)) {
    return fail(errc::invalid_argument,
                fmt::format("a rate of {:g} needs {} hash functions, and a filter has at most {}; "
                            "give a greater rate",
                            p, hashes, max_hashes));
  }
  made.hashes = static_cast<std::uint64_t>(hashes);
  return made;
}

result<foreign_filter> create_filter(const plan_request& request) {
  const auto ok = check_request(request, "poppy", {.fpr = true}, "give a capacity and a rate");
  if (!ok) return fail(ok.error());
  const auto name = find_option(request.options, "optimise").value_or(modes[0]);
  const auto* const found = std::ranges::find(modes, name);
  if (found == modes.end()) {
    return fail(errc::invalid_argument,
                fmt::format("--with optimise={}: give none, space, speed or best", name));
  }
  const auto head = size_for(request.capacity, request.fpr == 0 ? default_fpr : request.fpr,
                             static_cast<std::uint8_t>(found - modes.begin()));
  if (!head) return fail(head.error());
  auto body = owned_storage::make(head->body_bytes());
  if (!body) return fail(std::move(body.error()));
  std::memcpy(body->writable_bytes().data() + head->cache_bytes(), &head->buckets,
              sizeof head->buckets);
  return foreign_filter(
      std::make_unique<poppy_model>(*head, std::move(*body), std::vector<std::byte>()));
}

}  // namespace poppy_format
}  // namespace

dialect poppy_dialect() noexcept {
  return {"poppy",
          "Poppy version 2, of CIRCL hashlookup's crate poppy-filters and wheel poppy-py",
          "the capacity, the rate and the mode are stored; keys are strings of bytes",
          poppy_format::options,
          poppy_format::looks_like,
          poppy_format::open_filter,
          poppy_format::create_filter};
}

}  // namespace bloomset::dialects
