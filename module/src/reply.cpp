#include "reply.hpp"

namespace bloomery::server {
namespace {

void reply_value(context* ctx, const field& one) noexcept {
  if (one.number) {
    reply_number(ctx, *one.number);
  } else {
    api.reply_null(ctx);
  }
}

}  // namespace

void reply_ok(context* ctx) noexcept {
  api.reply_simple(ctx, "OK");
}

void reply_error(context* ctx, wire_error why) noexcept {
  api.reply_error(ctx, why);
}

void reply_number(context* ctx, std::uint64_t n) noexcept {
  api.reply_integer(ctx, static_cast<long long>(n));
}

void reply_bool(context* ctx, bool answer) noexcept {
  api.reply_bool(ctx, answer ? 1 : 0);
}

void reply_bools(context* ctx, std::span<const bool> answers, wire_error last) noexcept {
  api.reply_array(ctx, static_cast<long>(answers.size() + (last != nullptr ? 1 : 0)));
  for (const bool answer : answers) reply_bool(ctx, answer);
  if (last != nullptr) reply_error(ctx, last);
}

void reply_fields(context* ctx, std::span<const field> fields) noexcept {
  api.reply_map(ctx, static_cast<long>(fields.size()));
  for (const field& each : fields) {
    api.reply_simple(ctx, each.label);
    reply_value(ctx, each);
  }
}

void reply_field(context* ctx, const field& one) noexcept {
  if ((api.context_flags(ctx) & is_resp3) != 0) {
    reply_fields(ctx, {&one, 1});
  } else {
    api.reply_array(ctx, 1);
    reply_value(ctx, one);
  }
}

void reply_chunk(context* ctx, std::uint64_t iterator, std::string_view bytes) noexcept {
  api.reply_array(ctx, 2);
  reply_number(ctx, iterator);
  api.reply_bytes(ctx, bytes.data(), bytes.size());
}

}  // namespace bloomery::server
