// BF.SCANDUMP, BF.LOADCHUNK: a filter through a client, in pieces. Piece 0 is its header; then
// iterator i stands for the payload from byte i - 1 on. BF.LOADCHUNK takes each piece with the
// iterator that came with it, which is that of the piece's end.

#include <limits>

#include "bf_commands.hpp"
#include "bf_type.hpp"
#include "reply.hpp"
#include "settings.hpp"

namespace bloomery::server {
namespace {

// A piece takes less than a millisecond to copy.
constexpr std::size_t piece_bytes = std::size_t{1} << 20;

std::string_view as_chars(std::span<const std::byte> bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

wire_error begin_dump(const request& in, std::string_view header, received_dump& dump) {
  if (const auto why = dump.begin(header)) return why;
  const auto most = static_cast<std::uint64_t>(current_settings().max_filter_size);
  if (dump.expected_bytes() > most && in.is_limited()) {
    return "ERR Insufficient memory to create filter";
  }
  return nullptr;
}

wire_error load_chunk(const request& in, long long iterator, std::string_view bytes) {
  bf_key key(in, open_read | open_write);
  if (key.is_empty()) {
    if (iterator != 1) return not_found;
    received_dump dump;
    if (const auto why = begin_dump(in, bytes, dump)) return why;
    key.set(std::make_unique<bf_object>(std::move(dump)));
    return nullptr;
  }
  bf_object* const object = key.object();
  if (object == nullptr) return wrong_type;
  if (object->filter != nullptr) return bad_data;
  if (iterator == 1) {  // once more from the beginning
    received_dump dump;
    if (const auto why = begin_dump(in, bytes, dump)) return why;
    object->arriving = std::move(dump);
    return nullptr;
  }
  const auto end = static_cast<std::uint64_t>(iterator) - 1;
  if (iterator < 1 || bytes.empty() || bytes.size() > end) {
    return "ERR invalid offset - no link found";
  }
  return object->take(end - bytes.size(), bytes);
}

}  // namespace

int bf_scandump(const request& in) {
  long long iterator = 0;
  if (api.string_to_integer(in.argv[2], &iterator) != ok) {
    return reply_error(in.ctx, "Second argument must be numeric");
  }
  const bf_key key(in, open_read);
  wire_error why = nullptr;
  const bf_object* const object = key.object();
  if (object == nullptr || key.filter(why) == nullptr) {
    (void)key.filter(why);
    return reply_error(in.ctx, why);
  }
  if (iterator == 0) return reply_chunk(in.ctx, 1, as_chars(object->dump_header()));
  const auto payload = object->dump_payload();
  const std::uint64_t size = size_of(payload);
  const std::uint64_t offset = static_cast<std::uint64_t>(iterator) - 1;
  if (iterator < 1 || offset >= size) return reply_chunk(in.ctx, 0, "");
  std::vector<std::byte> scratch;
  const std::string_view piece = bytes_at(payload, offset, piece_bytes, scratch);
  return reply_chunk(in.ctx, offset + piece.size() + 1, piece);
}

int bf_loadchunk(const request& in) {
  long long iterator = 0;
  if (api.string_to_integer(in.argv[2], &iterator) != ok) {
    return reply_error(in.ctx, "ERR Second argument must be numeric");
  }
  if (const auto why = load_chunk(in, iterator, in.word(3))) return reply_error(in.ctx, why);
  api.replicate_verbatim(in.ctx);
  api.signal_modified(in.ctx, in.key());
  api.notify(in.ctx, event_of_module, "bf.loadchunk", in.key());
  return reply_ok(in.ctx);
}

}  // namespace bloomery::server
