// SCANDUMP and LOADCHUNK of BF.* and CF.*: a filter through a client, in pieces. Piece 0 is its
// header; then iterator i stands for the payload from byte i - 1 on. LOADCHUNK takes each piece
// with the iterator that came with it, which is that of the piece's end.

#include <limits>

#include "bf_commands.hpp"
#include "cf_commands.hpp"
#include "creation.hpp"
#include "memory.hpp"
#include "reply.hpp"
#include "settings.hpp"

namespace bloomery::server {
namespace {

// A piece takes less than a millisecond to copy; those of compatible filters are RedisBloom's.
constexpr std::size_t piece_bytes = std::size_t{1} << 20;
constexpr std::size_t compatible_piece_bytes = std::size_t{16} << 20;

// What the two families say differently.
struct words {
  filter_family family;
  const char* event;
  wire_error no_number_to_scan;
  wire_error no_number_to_load;
  wire_error bad_header;
  wire_error bad_chunk;  ///< null: each error by its own name
};

constexpr words of_bloom = {.family = filter_family::bloom,
                            .event = "bf.loadchunk",
                            .no_number_to_scan = "Second argument must be numeric",
                            .no_number_to_load = "ERR Second argument must be numeric",
                            .bad_header = bad_data,
                            .bad_chunk = nullptr};
constexpr words of_cuckoo = {.family = filter_family::cuckoo,
                             .event = "cf.loadchunk",
                             .no_number_to_scan = "Invalid position",
                             .no_number_to_load = "Invalid position",
                             .bad_header = "Invalid header",
                             .bad_chunk = "Couldn't load chunk!"};

constexpr wire_error bad_offset = "ERR invalid offset - no link found";

// By their letters: a literal has no one address.
bool is_same(wire_error a, wire_error b) noexcept {
  return std::string_view(a) == b;
}

/// What is said of bytes that are no header. Where filters are RedisBloom's, clients of CF.* know
/// one of the right size that makes no filter from others.
wire_error refused_header(const words& say, std::string_view header) noexcept {
  const bool is_cuckoo =
      say.family == filter_family::cuckoo && header.size() == cuckoo_header_bytes;
  return is_cuckoo && current_settings().engine == filter_engine::compatible
             ? "Couldn't create filter!"
             : say.bad_header;
}

/// Why the bytes that end before `end` do not fit a chain, in RedisBloom's words. Those that do are
/// there already, which it would write again.
wire_error refused_by_chain(const filter_value& chain, std::uint64_t end, std::size_t size) {
  std::uint64_t offset = end - size;
  for (const auto link : chain.dump_payload()) {
    if (offset < link.size()) {
      return size > link.size() - offset ? "ERR invalid chunk - Too big for current filter"
                                         : bad_data;
    }
    offset -= link.size();
  }
  return bad_offset;
}

wire_error begin_dump(const request& in, const words& say, std::string_view header,
                      received_dump& dump) {
  if (const auto why = dump.begin(header)) {
    return is_same(why, bad_data) ? refused_header(say, header) : why;
  }
  if (dump.prefix().spec.family != say.family) return refused_header(say, header);
  return refusal(in, dump.prefix().spec.engine, dump.expected_bytes());
}

wire_error load_chunk(const request& in, const words& say, filter_key& key, long long iterator,
                      std::string_view bytes) {
  if (key.is_empty()) {
    if (iterator != 1) return not_found;
    received_dump dump;
    if (const auto why = begin_dump(in, say, bytes, dump)) return why;
    auto object = std::make_unique<filter_object>(std::move(dump));
    if (!object->open_if_complete()) return say.bad_header;
    key.set(std::move(object));
    return nullptr;
  }
  filter_object* const object = key.object();
  if (object == nullptr) return wrong_type;
  const bool is_of_chain = say.bad_chunk == nullptr;
  // An iterator stands for the offset behind its piece, and 1.
  const bool has_offset = iterator >= 1 && bytes.size() <= static_cast<std::uint64_t>(iterator);
  const auto end = static_cast<std::uint64_t>(iterator) - 1;
  if (object->filter != nullptr) {
    if (!is_of_chain) return iterator == 1 ? "ERR item exists" : say.bad_chunk;
    if (!has_offset || object->engine() == filter_engine::native) return bad_data;
    return bytes.size() <= end ? refused_by_chain(*object->filter, end, bytes.size()) : bad_offset;
  }
  if (iterator == 1) {  // once more from the beginning
    received_dump dump;
    if (const auto why = begin_dump(in, say, bytes, dump)) return why;
    filter_object next(std::move(dump));
    if (!next.open_if_complete()) return say.bad_header;
    object->arriving = std::move(next.arriving);
    object->filter = std::move(next.filter);
    return nullptr;
  }
  wire_error why = has_offset ? bad_offset : bad_data;
  if (has_offset && !bytes.empty() && bytes.size() <= end) {
    // Others have taken memory since the header came.
    if (in.is_limited() && !filters_have_room(bytes.size())) return too_much_for_all;
    // What is stored in another form from now on is another value, made before anything changes.
    std::unique_ptr<filter_object> other;
    if (object->engine() == filter_engine::compatible) {
      other = std::make_unique<filter_object>(std::unique_ptr<filter_value>());
    }
    why = object->take(end - bytes.size(), bytes);
    if (why == nullptr && object->filter && other) {
      other->filter = std::move(object->filter);
      key.set(std::move(other));
    }
  }
  if (why == nullptr || is_of_chain || is_same(why, no_memory)) return why;
  return say.bad_chunk;
}

int reply_end(const request& in, const words& say) noexcept {
  if (say.family == filter_family::bloom) return reply_chunk(in.ctx, 0, "");
  api.reply_array(in.ctx, 2);
  reply_number(in.ctx, 0);
  return api.reply_null(in.ctx);
}

int scan(const request& in, const words& say) {
  long long iterator = 0;
  if (api.string_to_integer(in.argv[2], &iterator) != ok ||
      (say.family == filter_family::cuckoo && iterator < 0)) {
    return reply_error(in.ctx, say.no_number_to_scan);
  }
  const filter_key key(in, say.family, open_read);
  wire_error why = nullptr;
  const filter_value* const filter = key.filter(why);
  if (filter == nullptr) return reply_error(in.ctx, why);
  if (say.family == filter_family::cuckoo && filter->facts().items == 0) return reply_end(in, say);
  if (iterator == 0) return reply_chunk(in.ctx, 1, as_chars(filter->dump_header()));
  const auto payload = filter->dump_payload();
  const std::uint64_t offset = static_cast<std::uint64_t>(iterator) - 1;
  if (iterator < 1 || offset >= size_of(payload)) return reply_end(in, say);
  std::vector<std::byte> scratch;
  const filter_engine engine = filter->facts().spec.engine;
  const std::size_t most =
      engine == filter_engine::compatible ? compatible_piece_bytes : piece_bytes;
  const std::string_view piece = dump_bytes_at(engine, payload, offset, most, scratch);
  return reply_chunk(in.ctx, offset + piece.size() + 1, piece);
}

int load(const request& in, const words& say) {
  long long iterator = 0;
  if (api.string_to_integer(in.argv[2], &iterator) != ok ||
      (say.family == filter_family::cuckoo && iterator == 0)) {
    return reply_error(in.ctx, say.no_number_to_load);
  }
  filter_key key(in, say.family, open_read | open_write);
  if (const auto why = load_chunk(in, say, key, iterator, in.word(3))) {
    return reply_error(in.ctx, why);
  }
  api.replicate_verbatim(in.ctx);
  announce(in, key, say.event);
  return reply_ok(in.ctx);
}

}  // namespace

int bf_scandump(const request& in) {
  return scan(in, of_bloom);
}
int bf_loadchunk(const request& in) {
  return load(in, of_bloom);
}
int cf_scandump(const request& in) {
  return scan(in, of_cuckoo);
}
int cf_loadchunk(const request& in) {
  return load(in, of_cuckoo);
}

}  // namespace bloomery::server
