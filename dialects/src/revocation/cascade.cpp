#include "cascade.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <bloomset/plan/numeric.hpp>
#include <numbers>
#include <numeric>
#include <optional>

#include "hashes.hpp"
#include "options.hpp"

namespace bloomset::dialects {
namespace {

constexpr std::size_t layer_header_bytes = 10;
constexpr std::size_t max_layers = 255;
constexpr std::uint32_t max_hashes = 255;
constexpr std::uint32_t min_bits = 256;

/// The positions of a key in the layers of a cascade, one after the other. Layers are counted from
/// 0 here, and from 1 in the hash functions.
class positions {
 public:
  positions(const cascade& of, std::span<const std::byte> key, sha256& hasher) noexcept
      : of_(of), key_(key), hasher_(hasher) {}

  /// Begins the next layer. Two of the hash functions count anew in each.
  void next_layer() noexcept {
    ++layer_;
    if (of_.hash != cascade_hash::sha256ctr) counter_ = 0;
  }

  /// Skips the positions of the layers before that one.
  void go_to(std::size_t layer) noexcept {
    while (layer_ < layer) {
      if (of_.hash == cascade_hash::sha256ctr) {
        const cascade_layer& skipped = of_.layers[layer_];
        for (std::uint32_t i = 0; i < skipped.hashes; ++i) (void)next(skipped.bits);
      }
      next_layer();
    }
  }

  std::uint32_t next(std::uint32_t bits) noexcept {
    switch (of_.hash) {
      case cascade_hash::murmur3: {
        const std::uint32_t seed = (counter_++ << 16) + static_cast<std::uint32_t>(layer_ + 1);
        return murmur3_32(key_, seed) % bits;
      }
      case cascade_hash::sha256: {
        const std::uint32_t counter = counter_++;
        const auto layer = static_cast<std::uint8_t>(layer_ + 1);
        const auto digest = hasher_({of_.salt, std::as_bytes(std::span(&counter, 1)),
                                     std::as_bytes(std::span(&layer, 1)), key_});
        return little_endian<std::uint32_t>(digest.data()) % bits;
      }
      case cascade_hash::sha256ctr:
        break;
    }
    // As many bytes of the stream as numbers below `bits` need.
    const auto bytes = static_cast<int>(std::bit_width(bits - 1) + 7) / 8;
    std::uint32_t value = 0;
    for (int i = 0; i < bytes; ++i) {
      value |= std::to_integer<std::uint32_t>(next_byte()) << (8 * i);
    }
    return value % bits;
  }

 private:
  std::byte next_byte() noexcept {
    if (used_ == stream_.size()) {
      const std::uint32_t counter = counter_++;
      stream_ = hasher_({std::as_bytes(std::span(&counter, 1)), of_.salt, key_});
      used_ = 0;
    }
    return stream_[used_++];
  }

  const cascade& of_;
  std::span<const std::byte> key_;
  sha256& hasher_;
  std::size_t layer_ = 0;
  std::uint32_t counter_ = 0;
  sha256::digest stream_{};
  std::size_t used_ = stream_.size();
};

bool has_all(const cascade_layer& layer, positions& of_key) noexcept {
  for (std::uint32_t i = 0; i < layer.hashes; ++i) {
    const std::uint32_t p = of_key.next(layer.bits);
    if ((std::to_integer<unsigned>(layer.data[p / 8]) >> (p % 8) & 1U) == 0) return false;
  }
  return true;
}

/// rust_cascade's size of a layer with that binary logarithm of 1/p. Empty if it does not fit.
std::optional<cascade_layer> size_of_layer(std::size_t keys, double log2_of_odds) {
  const double bits =
      std::floor(static_cast<double>(keys) * log2_of_odds / std::numbers::ln2 + 0.5);
  if (!(bits <= std::numeric_limits<std::uint32_t>::max() - 7.0)) return std::nullopt;
  return cascade_layer{std::max(static_cast<std::uint32_t>(std::max(bits, 0.0)), min_bits),
                       static_cast<std::uint32_t>(std::max(1.0, std::floor(log2_of_odds + 0.5))),
                       {}};
}

}  // namespace

bool cascade::contains(std::span<const std::byte> key, sha256& hasher) const noexcept {
  positions of_key(*this, key, hasher);
  bool answer = inverted;
  for (const cascade_layer& layer : layers) {
    if (!has_all(layer, of_key)) break;
    answer = !answer;
    of_key.next_layer();
  }
  return answer;
}

result<cascade> read_cascade(std::span<const std::byte> bytes) {
  const auto cut = [](std::string_view what) {
    return fail(errc::corrupt, fmt::format("it ends within its {}; get the file anew", what));
  };
  cascade made;
  if (bytes.size() < 2) return cut("version");
  made.version = little_endian<std::uint16_t>(bytes.data());
  if (made.version != 1 && made.version != 2) {
    return fail(
        errc::unsupported,
        fmt::format("its version is {}, and cascades of version 1 and 2 are known", made.version));
  }
  std::size_t at = 2;
  if (made.version == 2) {
    if (bytes.size() < 4) return cut("salt");
    const auto inverted = std::to_integer<unsigned>(bytes[2]);
    if (inverted > 1) {
      return fail(errc::corrupt,
                  fmt::format("the field that says whether it is inverted is {}, neither 0 nor 1",
                              inverted));
    }
    made.inverted = inverted == 1;
    const auto salt = std::to_integer<std::size_t>(bytes[3]);
    at = 4;
    if (bytes.size() - at < salt) return cut("salt");
    made.salt = bytes.subspan(at, salt);
    at += salt;
  }
  while (at != bytes.size()) {
    const std::size_t number = made.layers.size() + 1;
    if (bytes.size() - at < layer_header_bytes) return cut(fmt::format("layer {}", number));
    const std::byte* const head = bytes.data() + at;
    const auto hash = std::to_integer<unsigned>(head[0]);
    const auto bits = little_endian<std::uint32_t>(head + 1);
    const auto hashes = little_endian<std::uint32_t>(head + 5);
    const auto says = std::to_integer<std::size_t>(head[9]);
    at += layer_header_bytes;
    if (hash < 1 || hash > 3) {
      return fail(errc::corrupt,
                  fmt::format("layer {} has hash function {}, and 1 to 3 are known", number, hash));
    }
    if (number != 1 && made.hash != static_cast<cascade_hash>(hash)) {
      return fail(
          errc::corrupt,
          fmt::format("layer {} has another hash function than the layers before it", number));
    }
    made.hash = static_cast<cascade_hash>(hash);
    if (says != number) {
      return fail(errc::corrupt, fmt::format("layer {} says that it is layer {}", number, says));
    }
    if (bits == 0 || hashes == 0 || hashes > max_hashes) {
      return fail(errc::corrupt, fmt::format("layer {} says {} bits and {} hash functions; it has "
                                             "at least 1 bit and 1 to 255 functions",
                                             number, bits, hashes));
    }
    const std::size_t size = bits / 8 + (bits % 8 != 0 ? 1 : 0);
    if (bytes.size() - at < size) {
      return fail(errc::corrupt,
                  fmt::format("layer {} says {} bits, which are {} bytes, but {} bytes follow",
                              number, bits, size, bytes.size() - at));
    }
    made.layers.push_back({bits, hashes, bytes.subspan(at, size)});
    at += size;
  }
  if (made.layers.empty()) {
    return fail(errc::corrupt, "it has no layer; a cascade has at least one");
  }
  return made;
}

result<std::vector<std::byte>> build_cascade(const cascade_plan& plan,
                                             std::span<const std::string_view> members,
                                             std::span<const std::string_view> others) {
  cascade made{.version = plan.version,
               .inverted = members.size() > others.size(),
               .hash = plan.hash,
               .salt = plan.salt,
               .layers = {}};
  if (made.version == 1 && (made.inverted || !plan.salt.empty())) {
    return fail(errc::invalid_argument,
                "version 1 stores no salt, and no more members than other keys; leave version out");
  }
  std::vector<std::byte> bytes;
  put_little(bytes, made.version);
  if (made.version == 2) {
    put_little(bytes, static_cast<std::uint8_t>(made.inverted));
    put_little(bytes, static_cast<std::uint8_t>(plan.salt.size()));
    bytes.insert(bytes.end(), plan.salt.begin(), plan.salt.end());
  }
  // Keys of the layer, and keys of the other set that pass it. Both shrink from layer to layer.
  std::vector<std::string_view> held(members.begin(), members.end());
  std::vector<std::string_view> passing(others.begin(), others.end());
  if (made.inverted) std::swap(held, passing);
  // The first layer lets so many keys pass that sqrt(2) times fewer are in the second.
  double log2_of_odds =
      held.empty()
          ? 1.0
          : numeric::log2(static_cast<double>(passing.size()) / static_cast<double>(held.size())) +
                0.5;
  sha256 hasher;
  const auto bytes_of = [](std::string_view key) { return std::as_bytes(std::span(key)); };
  for (;;) {
    const std::size_t depth = made.layers.size();
    if (depth == max_layers) {
      return fail(errc::full,
                  "255 layers do not separate the keys, so some of both sets have the same hashes; "
                  "give another salt or hash");
    }
    const auto sized = size_of_layer(held.size(), log2_of_odds);
    if (!sized) return too_large("cascade", "2^32 bits in a layer");
    std::vector<std::byte> data(sized->bits / 8 + (sized->bits % 8 != 0 ? 1 : 0));
    made.layers.push_back({sized->bits, sized->hashes, data});
    const cascade_layer& layer = made.layers.back();
    for (const std::string_view key : held) {
      positions of_key(made, bytes_of(key), hasher);
      of_key.go_to(depth);
      for (std::uint32_t i = 0; i < layer.hashes; ++i) {
        const std::uint32_t p = of_key.next(layer.bits);
        data[p / 8] |= static_cast<std::byte>(1U << (p % 8));
      }
    }
    std::erase_if(passing, [&](std::string_view key) {
      positions of_key(made, bytes_of(key), hasher);
      of_key.go_to(depth);
      return !has_all(layer, of_key);
    });
    put_little(bytes, static_cast<std::uint8_t>(made.hash));
    put_little(bytes, layer.bits);
    put_little(bytes, layer.hashes);
    put_little(bytes, static_cast<std::uint8_t>(depth + 1));
    bytes.insert(bytes.end(), data.begin(), data.end());
    made.layers.back().data = {};
    if (passing.empty()) return bytes;
    std::swap(held, passing);
    log2_of_odds = 1;
  }
}

}  // namespace bloomset::dialects
