#include "reply.hpp"

namespace bloomery::server {
namespace {

int reply_value(context* ctx, const field& one) noexcept {
  return one.number ? reply_number(ctx, *one.number) : api.reply_null(ctx);
}

}  // namespace

int reply_ok(context* ctx) noexcept {
  return api.reply_simple(ctx, "OK");
}

int reply_error(context* ctx, wire_error why) noexcept {
  return api.reply_error(ctx, why);
}

int reply_number(context* ctx, std::uint64_t n) noexcept {
  return api.reply_integer(ctx, static_cast<long long>(n));
}

int reply_bool(context* ctx, bool answer) noexcept {
  return api.reply_bool(ctx, answer ? 1 : 0);
}

int reply_bools(context* ctx, std::span<const bool> answers, wire_error last) noexcept {
  api.reply_array(ctx, static_cast<long>(answers.size() + (last != nullptr ? 1 : 0)));
  for (const bool answer : answers) reply_bool(ctx, answer);
  if (last != nullptr) reply_error(ctx, last);
  return ok;
}

int reply_fields(context* ctx, std::span<const field> fields) noexcept {
  api.reply_map(ctx, static_cast<long>(fields.size()));
  for (const field& each : fields) {
    api.reply_simple(ctx, each.label);
    reply_value(ctx, each);
  }
  return ok;
}

int reply_field(context* ctx, const field& one) noexcept {
  if ((api.context_flags(ctx) & is_resp3) != 0) return reply_fields(ctx, {&one, 1});
  api.reply_array(ctx, 1);
  return reply_value(ctx, one);
}

int reply_chunk(context* ctx, std::uint64_t iterator, std::string_view bytes) noexcept {
  api.reply_array(ctx, 2);
  reply_number(ctx, iterator);
  return api.reply_bytes(ctx, bytes.data(), bytes.size());
}

}  // namespace bloomery::server
