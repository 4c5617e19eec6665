// Mozilla's filter cascades (MLBF, CRLite before 2025): a version, a salt, and layers of Bloom
// filters.

#include <array>
#include <bit>
#include <bloomset/plan/numeric.hpp>
#include <ranges>

#include "cascade.hpp"
#include "hex.hpp"
#include "options.hpp"
#include "rows.hpp"
#include "static_model.hpp"

namespace bloomset::dialects {
namespace {
namespace cascade_format {

constexpr std::array options = {
    kind_option{"hash", "sha256 (default), murmur3 or sha256ctr",
                "for building: the hash function; Firefox reads sha256"},
    kind_option{"salt", "up to 255 bytes in hexadecimal (default none)",
                "for building: bytes that are hashed before each key"},
    kind_option{"version", "1 or 2 (default 2)",
                "for building: version 1 has no salt, and at most as many members as other keys"}};

constexpr std::array<std::string_view, 3> hash_names = {"murmur3", "sha256", "sha256ctr"};

std::string_view name_of(cascade_hash hash) {
  return hash_names.at(static_cast<std::size_t>(hash) - 1);
}

std::uint64_t ones_in(std::span<const std::byte> bytes) noexcept {
  std::uint64_t ones = 0;
  for (const std::byte each : bytes) {
    ones += static_cast<std::uint64_t>(std::popcount(std::to_integer<unsigned>(each)));
  }
  return ones;
}

class cascade_model final : public static_model {
 public:
  cascade_model(cascade filter, mapped_storage bytes)
      : filter_(std::move(filter)), bytes_(std::move(bytes)) {}

  const dialect& format() const noexcept override { return row_of(row::cascade); }

  foreign_info info() const override {
    foreign_info info;
    info.format = format().name;
    info.variant = fmt::format("version {}", filter_.version);
    info.kind = "cascade";
    info.hashes = filter_.layers.front().hashes;
    std::uint64_t ones = 0;
    // The chance that a key outside the universe gets the answer yes, from the last layer up: it
    // passes a layer, and does not get the answer of the layers below.
    double yes = 0;
    double fill = 0;
    for (const auto& layer : std::views::reverse(filter_.layers)) {
      const std::uint64_t set = ones_in(layer.data);
      fill = std::min(1.0, static_cast<double>(set) / static_cast<double>(layer.bits));
      yes = numeric::power(fill, layer.hashes) * (1 - yes);
      info.bits += layer.bits;
      ones += set;
    }
    info.current_fpr = filter_.inverted ? 1 - yes : yes;
    info.fill = std::min(1.0, static_cast<double>(ones) / static_cast<double>(info.bits));
    if (!filter_.inverted) {
      const cascade_layer& first = filter_.layers.front();
      info.estimated_size = -static_cast<double>(first.bits) / first.hashes * numeric::log1p(-fill);
    }
    info.extras = {{"layers", std::uint64_t{filter_.layers.size()}},
                   {"hash", std::string(name_of(filter_.hash))},
                   {"salt_bytes", std::uint64_t{filter_.salt.size()}},
                   {"inverted", filter_.inverted}};
    return info;
  }

  result<void> askable() const override { return {}; }
  bool takes_any_key() const noexcept override { return true; }
  result<void> accepts(std::string_view) const override { return {}; }
  std::string_view key_form_name() const noexcept override { return {}; }
  bool fits(std::string_view) const override { return true; }

  void may_contain(std::span<const std::string_view> keys,
                   std::span<bool> answers) const noexcept override {
    sha256 hasher;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      answers[i] = filter_.contains(std::as_bytes(std::span(keys[i])), hasher);
    }
  }

  result<foreign_filter> convert(const dialect& to, const option_list&) const override {
    if (&to != &format()) return other_format(format(), to);
    return fail(errc::unsupported,
                "format cascade has one container only; there is nothing to convert a filter to");
  }

  result<foreign_image> image() const override { return foreign_image{{}, bytes_.bytes(), {}}; }

 private:
  cascade filter_;
  mapped_storage bytes_;
};

result<foreign_filter> over(mapped_storage bytes) {
  auto filter = read_cascade(bytes.bytes());
  if (!filter) return fail(std::move(filter.error()));
  return foreign_filter(std::make_unique<cascade_model>(std::move(*filter), std::move(bytes)));
}

recognition looks_like(std::span<const std::byte> bytes) noexcept {
  return read_cascade(bytes) ? recognition::certain : recognition::no;
}

result<foreign_filter> open_filter(const mapped_storage& bytes, const open_request& request) {
  if (!request.options.empty()) {
    return fail(errc::invalid_argument, fmt::format("the {} is stored in the filter; leave it out",
                                                    request.options.front().first));
  }
  return over(bytes_for(bytes, request.how));
}

result<foreign_filter> build_filter(const plan_request& request, const static_keys& keys) {
  if (const auto ok = check_static(request, "cascade"); !ok) return fail(ok.error());
  cascade_plan plan;
  if (const auto name = find_option(request.options, "hash")) {
    const auto* const at = std::find(hash_names.begin(), hash_names.end(), *name);
    if (at == hash_names.end()) {
      return fail(errc::invalid_argument,
                  fmt::format("--with hash={}: give sha256, murmur3 or sha256ctr", *name));
    }
    plan.hash = static_cast<cascade_hash>(at - hash_names.begin() + 1);
  }
  if (const auto salt = find_option(request.options, "salt")) {
    auto bytes = from_hex(*salt);
    if (!bytes || bytes->size() > 255) {
      return fail(errc::invalid_argument,
                  "--with salt: give up to 255 bytes, each as two hexadecimal digits");
    }
    plan.salt = std::move(*bytes);
  }
  if (plan.hash == cascade_hash::murmur3 && !plan.salt.empty()) {
    return fail(errc::invalid_argument, "--with salt: the hash murmur3 has no salt; leave it out");
  }
  const auto version = number_option(request.options, "version", 1, 2, 2);
  if (!version) return fail(version.error());
  plan.version = static_cast<std::uint16_t>(*version);
  kept_keys members;
  kept_keys universe;
  if (auto ok = members.read(keys.members); !ok) return fail(std::move(ok.error()));
  if (auto ok = universe.read(keys.universe); !ok) return fail(std::move(ok.error()));
  const auto sets = split(members.views(), universe.views());
  auto bytes = build_cascade(plan, sets.members, sets.others);
  if (!bytes) return fail(std::move(bytes.error()));
  return over(keep(std::move(*bytes)));
}

}  // namespace cascade_format
}  // namespace

dialect cascade_dialect() noexcept {
  return {"cascade",
          "Mozilla's cascade of Bloom filters (MLBF), as Firefox's list of blocked add-ons",
          "built once, from members and the universe; exact for keys of the universe only",
          cascade_format::options,
          cascade_format::looks_like,
          cascade_format::open_filter,
          nullptr,
          nullptr,
          cascade_format::build_filter};
}

}  // namespace bloomset::dialects
