#pragma once

// Replies, and the one place that knows that RESP3 has booleans and maps where RESP2 has integers
// and flat arrays.

#include <optional>
#include <span>
#include <string_view>

#include "api.hpp"
#include "arguments.hpp"

namespace bloomery::server {

inline constexpr wire_error wrong_type =
    "WRONGTYPE Operation against a key holding the wrong kind of value";
inline constexpr wire_error not_found = "ERR not found";
inline constexpr wire_error not_deletable =
    "ERR the filter was reserved without DELETABLE, and neither deletes nor counts";

int reply_ok(context* ctx) noexcept;
int reply_error(context* ctx, wire_error why) noexcept;
int reply_number(context* ctx, std::uint64_t n) noexcept;
int reply_bool(context* ctx, bool answer) noexcept;
/// An array of booleans; with an error its last element is that error.
int reply_bools(context* ctx, std::span<const bool> answers, wire_error last = nullptr) noexcept;

/// A named figure; without a number it is nil.
struct field {
  std::string_view word;  ///< that asks for it alone
  const char* label;
  std::optional<std::uint64_t> number;
};
/// All of them with their labels: a map, in RESP2 an array.
int reply_fields(context* ctx, std::span<const field> fields) noexcept;
/// One: a map of one, in RESP2 an array of its number alone.
int reply_field(context* ctx, const field& one) noexcept;

/// An iterator and a piece of a dump.
int reply_chunk(context* ctx, std::uint64_t iterator, std::string_view bytes) noexcept;

}  // namespace bloomery::server
