#pragma once

// Replies. RESP3 has booleans and maps where RESP2 has integers and flat arrays.

#include <optional>
#include <span>
#include <string_view>

#include "commands/refusal.hpp"
#include "server/api.hpp"

namespace bloomset::server {

int reply_number(context* ctx, std::uint64_t n) noexcept;
/// An array of booleans, and of an error after them unless it is null.
int reply_bools(context* ctx, std::span<const bool> values, wire_error error = nullptr) noexcept;

struct info_field {
  std::string_view word;  ///< option of BF.INFO
  const char* label;
  std::optional<std::uint64_t> number;  ///< nil without a value
};
/// A map of labels and numbers; in RESP2 an array.
int reply_fields(context* ctx, std::span<const info_field> fields) noexcept;
/// One field: a map; in RESP2 an array of the number without its label.
int reply_field(context* ctx, const info_field& field) noexcept;

/// An iterator and a chunk of a dump.
int reply_chunk(context* ctx, std::uint64_t iterator, std::string_view bytes) noexcept;

}  // namespace bloomset::server
