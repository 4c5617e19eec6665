#include "request.hpp"

#include <bloomset/defaults.hpp>
#include <bloomset/plan/limits.hpp>
#include <bloomset/plan/units.hpp>
#include <charconv>

#include "core/format.hpp"

namespace bloomset::wasm {
namespace {

failure refuse_value(std::string_view name, const failure& why) {
  return detail::format_failure(errc::invalid_argument, "{}: {}", name, why.message);
}

template <class T>
result<void> read(std::string_view name, std::string_view text,
                  result<T> (*parse)(std::string_view), T& value) {
  const auto parsed = parse(text);
  if (!parsed) return refuse_value(name, parsed.error());
  value = *parsed;
  return {};
}

result<void> read_whole(std::string_view name, std::string_view text, std::uint64_t max,
                        std::uint64_t& value) {
  const auto done = std::from_chars(text.data(), text.data() + text.size(), value);
  if (done.ec == std::errc{} && done.ptr == text.data() + text.size() && value <= max) return {};
  return detail::format_failure(errc::invalid_argument,
                                "{}: '{}' is not a whole number from 0 to {}", name, text, max);
}

result<void> read_flag(std::string_view name, std::string_view text, bool& value) {
  value = text == "true";
  if (value || text == "false") return {};
  return detail::format_failure(errc::invalid_argument, "{}: '{}' is not true or false", name,
                                text);
}

result<void> read_field(request& to, std::string_view name, std::string_view text) {
  if (name == "kind") return read(name, text, find_kind, to.kind);
  if (name == "capacity") return read(name, text, parse_count, to.plan.capacity);
  if (name == "fpr") return read(name, text, parse_rate, to.plan.fpr);
  if (name == "bits") return read(name, text, parse_count, to.plan.bits);
  if (name == "memory") {
    std::uint64_t bytes = 0;
    if (auto ok = read(name, text, parse_bytes, bytes); !ok) return ok;
    if (bytes > max_bits / 8) {
      return detail::format_failure(errc::invalid_argument, "{}: {} is more than any filter has",
                                    name, text);
    }
    to.plan.bits = 8 * bytes;
    return {};
  }
  if (name == "hashes") {
    std::uint64_t hashes = 0;
    auto ok = read_whole(name, text, 64, hashes);
    to.plan.hashes = static_cast<unsigned>(hashes);
    return ok;
  }
  if (name == "seed") {
    if (to.plan.seed.is_keyed()) {
      return fail(errc::invalid_argument, "a filter has a seed or a key; give one of them");
    }
    std::uint64_t value = 0;
    auto ok = read_whole(name, text, ~std::uint64_t{0}, value);
    to.plan.seed = value;
    return ok;
  }
  if (name == "deletable") return read_flag(name, text, to.wanted.deletable);
  if (name == "counting") return read_flag(name, text, to.wanted.counting);
  if (name == "growing") return read_flag(name, text, to.wanted.growing);
  if (name == "static") return read_flag(name, text, to.wanted.unchanging);
  to.plan.options.emplace_back(name, text);
  return {};
}

}  // namespace

result<request> read_request(const texts& fields, const std::byte* key) {
  request made;
  if (const auto secret = key_at(key)) made.plan.seed = *secret;
  std::string_view hash;
  for (std::uint32_t i = 0; i + 1 < fields.count; i += 2) {
    if (fields[i] == "hash") {
      hash = fields[i + 1];
    } else if (auto ok = read_field(made, fields[i], fields[i + 1]); !ok) {
      return fail(ok.error());
    }
  }
  if (!hash.empty()) {
    if (auto ok = choose_hash(made.plan, hash); !ok) return fail(ok.error());
  }
  return made;
}

result<request> read_filter_request(const texts& fields, const std::byte* key) {
  auto made = read_request(fields, key);
  if (!made) return made;
  const needs& wanted = made->wanted;
  if (wanted.deletable || wanted.counting || wanted.growing || wanted.unchanging) {
    return fail(errc::invalid_argument,
                "deletable, counting, growing and static are for plans; give the kind that a plan "
                "recommends");
  }
  if (made->kind == nullptr) made->kind = *find_kind(default_kind);
  apply_default_fpr(*made->kind, made->plan);
  return made;
}

}  // namespace bloomset::wasm
