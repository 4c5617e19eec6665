#include "commands/reply.hpp"

namespace bloomset::server {
namespace {

int reply_value(context* ctx, const info_field& field) noexcept {
  return field.number ? reply_number(ctx, *field.number) : api.reply_null(ctx);
}

}  // namespace

int reply_number(context* ctx, std::uint64_t n) noexcept {
  return api.reply_integer(ctx, static_cast<long long>(n));
}

int reply_bools(context* ctx, std::span<const bool> values, wire_error error) noexcept {
  api.reply_array(ctx, static_cast<long>(values.size() + (error != nullptr ? 1 : 0)));
  for (const bool value : values) api.reply_bool(ctx, value ? 1 : 0);
  if (error != nullptr) api.reply_error(ctx, error);
  return ok;
}

int reply_fields(context* ctx, std::span<const info_field> fields) noexcept {
  api.reply_map(ctx, static_cast<long>(fields.size()));
  for (const info_field& field : fields) {
    api.reply_simple(ctx, field.label);
    reply_value(ctx, field);
  }
  return ok;
}

int reply_field(context* ctx, const info_field& field) noexcept {
  if ((api.context_flags(ctx) & is_resp3) != 0) return reply_fields(ctx, {&field, 1});
  api.reply_array(ctx, 1);
  return reply_value(ctx, field);
}

int reply_chunk(context* ctx, std::uint64_t iterator, std::string_view bytes) noexcept {
  api.reply_array(ctx, 2);
  reply_number(ctx, iterator);
  return api.reply_bytes(ctx, bytes.data(), bytes.size());
}

}  // namespace bloomset::server
