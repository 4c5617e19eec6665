// SCANDUMP and LOADCHUNK: a filter's dump in chunks. Iterator 0 asks for the header, and iterator i
// for the payload from byte i - 1 on. SCANDUMP returns each chunk with the iterator for LOADCHUNK:
// 1 for the header, else the offset of the chunk's end, plus 1.

#include <algorithm>

#include "commands/creation.hpp"
#include "commands/handlers.hpp"
#include "commands/reply.hpp"
#include "redisbloom/redisbloom_shape.hpp"
#include "server/settings.hpp"
#include "values/dump_pieces.hpp"
#include "values/engines.hpp"

namespace bloomset::server {
namespace {

// Copying a native chunk takes less than a millisecond. RedisBloom's chunks have up to 16 MiB.
constexpr std::size_t native_chunk_bytes = std::size_t{1} << 20;
constexpr std::size_t compatible_chunk_bytes = std::size_t{16} << 20;

constexpr wire_error bad_offset = "ERR invalid offset - no link found";

/// The error for bytes that are no header. RedisBloom has a separate one for CF.* headers that have
/// the right size but describe no filter.
wire_error header_error(const command_call& call, std::string_view header) noexcept {
  if (call.is_bloom()) return bad_data;
  const bool is_described = header.size() == cuckoo_header_bytes &&
                            current_settings().engine == filter_engine::compatible;
  return is_described ? "Couldn't create filter!" : "Invalid header";
}

/// RedisBloom's error for a chunk of a filter that is complete. RedisBloom accepts a chunk that
/// fits and writes its bytes again; here it is an error, too.
wire_error complete_filter_error(const filter_value& filter, std::uint64_t offset,
                                 std::size_t size) {
  for (const auto link : filter.dump_payload()) {
    if (offset < link.size()) {
      return size > link.size() - offset ? "ERR invalid chunk - Too big for current filter"
                                         : bad_data;
    }
    offset -= link.size();
  }
  return bad_offset;
}

/// The object for a header, which replaces a dump of `freed` bytes. Throws refusal.
std::unique_ptr<filter_object> begin_dump(const command_call& call, std::string_view header,
                                          std::uint64_t freed = 0) {
  received_dump dump;
  const wire_error error = dump.begin(header);
  if (error != nullptr && std::string_view(error) != bad_data) throw refusal(error);
  if (error != nullptr || dump.prefix().spec.family != call.family) {
    throw refusal(header_error(call, header));
  }
  require_room(call, dump.prefix().spec.engine, dump.expected_bytes(), freed);
  if (dump.prefix().spec.window != 0 && call.is_limited()) {
    // Generations are made as items arrive.
    const auto planned = planned_bytes(dump.prefix().spec);
    if (!planned) throw refusal(header_error(call, header));
    require_room(call, filter_engine::native, *planned, freed);
  }
  auto object = std::make_unique<filter_object>(std::move(dump));
  if (!object->open_if_complete()) throw refusal(call.is_bloom() ? bad_data : "Invalid header");
  return object;
}

/// Appends a chunk to the dump of a key. Throws without a change.
wire_error append_chunk(const command_call& call, filter_key& key, long long iterator,
                        std::string_view bytes) {
  filter_object& object = *key.object();
  if (iterator < 1 || bytes.size() > static_cast<std::uint64_t>(iterator)) return bad_data;
  const auto end = static_cast<std::uint64_t>(iterator) - 1;
  if (object.filter && object.spec().engine != filter_engine::compatible) return bad_data;
  if (bytes.size() > end) return bad_offset;
  const std::uint64_t offset = end - bytes.size();
  if (object.filter) return complete_filter_error(*object.filter, offset, bytes.size());
  if (bytes.empty()) return bad_offset;
  // Other filters may have taken memory since the header arrived. The dump has some ahead.
  const std::uint64_t needed =
      bytes.size() - std::min<std::uint64_t>(bytes.size(), object.arriving->spare_bytes());
  if (call.is_limited() && !filters_have_room(needed)) throw refusal(total_too_large);
  // A complete compatible filter has another type than its dump, so it needs another object, which
  // is allocated before anything changes.
  std::unique_ptr<filter_object> complete;
  if (object.spec().engine == filter_engine::compatible) {
    complete = std::make_unique<filter_object>(std::unique_ptr<filter_value>());
  }
  const wire_error error = object.append(offset, bytes);
  if (error == nullptr && object.filter && complete) {
    complete->filter = std::move(object.filter);
    key.set(std::move(complete));
  }
  return error;
}

/// Loads the chunk of a call. Throws refusal.
void load(const command_call& call, filter_key& key, long long iterator, std::string_view bytes) {
  if (key.is_empty()) {
    if (iterator != 1) throw refusal(not_found);
    return key.set(begin_dump(call, bytes));
  }
  filter_object* const object = key.object();
  if (object == nullptr) throw refusal(wrong_type);
  if (iterator == 1 && object->filter == nullptr) {  // the header again restarts the load
    const auto restarted = begin_dump(call, bytes, object->arriving->bytes());
    object->arriving = std::move(restarted->arriving);
    object->filter = std::move(restarted->filter);
    return;
  }
  if (iterator == 1 && !call.is_bloom()) throw refusal("ERR item exists");
  if (const auto error = append_chunk(call, key, iterator, bytes)) {
    // CF.* has one error for all chunks.
    throw refusal(call.is_bloom() || std::string_view(error) == no_memory ? error
                                                                          : "Couldn't load chunk!");
  }
}

int reply_end(const command_call& call) noexcept {
  if (call.is_bloom()) return reply_chunk(call.ctx, 0, "");
  api.reply_array(call.ctx, 2);
  reply_number(call.ctx, 0);
  return api.reply_null(call.ctx);
}

}  // namespace

int scandump(const command_call& call) {
  long long iterator = 0;
  if (api.string_to_integer(call.argv[2], &iterator) != ok || (!call.is_bloom() && iterator < 0)) {
    throw refusal(call.is_bloom() ? "Second argument must be numeric" : "Invalid position");
  }
  const filter_key key(call, open_read);
  const filter_value& filter = key.filter();
  const filter_facts facts = filter.facts();
  if (facts.spec.engine == filter_engine::valkey) {
    throw refusal("ERR filters of engine valkey have no SCANDUMP; copy them with DUMP");
  }
  if (!call.is_bloom() && facts.items == 0) return reply_end(call);
  if (iterator == 0) return reply_chunk(call.ctx, 1, as_chars(filter.dump_header()));
  const byte_pieces payload = filter.dump_payload();
  const std::uint64_t offset = static_cast<std::uint64_t>(iterator) - 1;
  if (iterator < 1 || offset >= size_of(payload)) return reply_end(call);
  const filter_engine engine = facts.spec.engine;
  const std::size_t max_bytes =
      engine == filter_engine::compatible ? compatible_chunk_bytes : native_chunk_bytes;
  std::vector<std::byte> scratch;
  const std::string_view chunk =
      bytes_at(payload, offset, max_bytes, scratch, chunks_cross_pieces(engine));
  return reply_chunk(call.ctx, offset + chunk.size() + 1, chunk);
}

int loadchunk(const command_call& call) {
  long long iterator = 0;
  if (api.string_to_integer(call.argv[2], &iterator) != ok || (!call.is_bloom() && iterator == 0)) {
    throw refusal(call.is_bloom() ? "ERR Second argument must be numeric" : "Invalid position");
  }
  filter_key key(call, open_read | open_write);
  load(call, key, iterator, call.word(3));
  api.replicate_verbatim(call.ctx);
  key.announce(call.is_bloom() ? "bf.loadchunk" : "cf.loadchunk");
  return api.reply_simple(call.ctx, "OK");
}

}  // namespace bloomset::server
