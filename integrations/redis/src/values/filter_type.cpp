#include "values/filter_type.hpp"

#include <algorithm>
#include <array>
#include <bloomset/hash.hpp>
#include <memory>

#include "redisbloom/redisbloom_rdb.hpp"
#include "server/settings.hpp"
#include "valkeybloom/valkey_rdb.hpp"
#include "values/dump_pieces.hpp"
#include "values/filter_object.hpp"
#include "values/loaded_bytes.hpp"

namespace bloomset::server {
namespace {

constexpr int stored_version = 1;
// Size of the payload's pieces in RDB and append-only files.
constexpr std::size_t piece_bytes = std::size_t{16} << 20;

const filter_object& object_of(const void* value) noexcept {
  return *static_cast<const filter_object*>(value);
}

/// Reads a dump whose payload has `size` bytes; `next(offset)` returns its next piece. Null if the
/// dump is damaged. `header_error` is that of the header.
template <class Next>
std::unique_ptr<filter_object> rebuild(filter_family family, std::string_view header,
                                       std::uint64_t size, wire_error& header_error, Next&& next) {
  received_dump dump;
  header_error = dump.begin(header);
  if (header_error != nullptr || dump.prefix().spec.family != family) return nullptr;
  auto object = std::make_unique<filter_object>(std::move(dump));
  if (!object->open_if_complete()) return nullptr;
  for (std::uint64_t offset = 0; offset < size;) {
    const std::string_view piece = next(offset);
    if (piece.empty() || piece.size() > size - offset || object->append(offset, piece) != nullptr) {
      return nullptr;
    }
    offset += piece.size();
  }
  return object;
}

/// Layout in an RDB file: the header of the dump, the size of the payload, and the payload in
/// pieces.
template <filter_family Family>
std::unique_ptr<filter_object> load_native(io* input, int) {
  const loaded_bytes header(input);
  const std::uint64_t size = api.load_unsigned(input);
  if (header.view().empty() || api.has_io_error(input) != 0) return nullptr;
  std::unique_ptr<loaded_bytes> piece;
  wire_error header_error = nullptr;
  auto object = rebuild(Family, header.view(), size, header_error, [&](std::uint64_t) {
    piece = std::make_unique<loaded_bytes>(input);
    return api.has_io_error(input) != 0 ? std::string_view() : piece->view();
  });
  if (object == nullptr) {
    const bool is_newer = header_error != nullptr && std::string_view(header_error) == newer_data;
    api.log_io_error(input, "warning", "bloomset: a stored filter %s",
                     is_newer ? "has a newer version than this module reads; load the file with "
                                "a newer module"
                              : "is damaged");
  }
  return object;
}

template <filter_family Family>
std::unique_ptr<filter_object> load_compatible(io* input, int version) {
  auto filter =
      Family == filter_family::bloom ? load_chain(input, version) : load_cuckoo(input, version);
  if (filter != nullptr) return std::make_unique<filter_object>(std::move(filter));
  api.log_io_error(input, "warning", "bloomset: a filter stored as by RedisBloom is damaged");
  return nullptr;
}

std::unique_ptr<filter_object> load_valkey(io* input, int) {
  auto filter = load_valkey_chain(input);
  if (filter != nullptr) return std::make_unique<filter_object>(std::move(filter));
  const bool has_numbers_first =
      current_settings().bloom_rdb_order == valkey_rdb_order::numbers_first;
  api.log_io_error(input, "warning",
                   "bloomset: a filter stored as by valkey-bloom is damaged, or has its fields in "
                   "another order; if it is sound, set bf.bloom-rdb-order to %s and load it again",
                   has_numbers_first ? "bits-first" : "numbers-first");
  return nullptr;
}

template <std::unique_ptr<filter_object> (*Load)(io*, int), int MinVersion, int MaxVersion>
void* rdb_load(io* input, int version) noexcept try {
  if (version >= MinVersion && version <= MaxVersion) return Load(input, version).release();
  api.log_io_error(input, "warning",
                   "bloomset: a stored filter has version %d of its type, and this module reads "
                   "versions up to %d; load the file with a newer module",
                   version, MaxVersion);
  return nullptr;
} catch (const std::exception&) {
  api.log_io_error(input, "warning", "bloomset: no memory for a stored filter");
  return nullptr;
}

/// Passes a payload to `sink` piece by piece, with the offset of each piece's end.
template <class Sink>
void for_each_piece(const byte_pieces& payload, bool crosses_pieces, Sink&& sink) {
  std::vector<std::byte> scratch;
  const std::uint64_t size = size_of(payload);
  for (std::uint64_t offset = 0; offset < size;) {
    const auto piece = bytes_at(payload, offset, piece_bytes, scratch, crosses_pieces);
    offset += piece.size();
    sink(piece, offset);
  }
}

// The casts are safe: these types hold only filters of their engine.
void rdb_save_chain(io* output, void* value) noexcept {
  save(output, static_cast<const bloom_chain&>(*object_of(value).filter));
}
void rdb_save_cuckoo(io* output, void* value) noexcept {
  save(output, static_cast<const cuckoo_chain&>(*object_of(value).filter));
}

void rdb_save_valkey(io* output, void* value) noexcept {
  save(output, static_cast<const valkey_chain&>(*object_of(value).filter));
}

// Saving cannot report a failure. Without memory an exception ends the process here, as the server
// does itself.
void rdb_save(io* output, void* value) noexcept {
  const filter_object& object = object_of(value);
  const auto header = object.dump_header();
  const auto payload = object.dump_payload();
  api.save_bytes(output, as_chars(header).data(), header.size());
  api.save_unsigned(output, size_of(payload));
  for_each_piece(payload, true, [&](std::string_view piece, std::uint64_t) {
    api.save_bytes(output, piece.data(), piece.size());
  });
}

void aof_rewrite(io* output, string* key, void* value) noexcept {
  const filter_object& object = object_of(value);
  const filter_spec spec = object.spec();
  const char* const load = spec.family == filter_family::bloom ? "BF.LOADCHUNK" : "CF.LOADCHUNK";
  const auto emit = [&](std::string_view piece, std::uint64_t end) {
    api.emit_aof(output, load, "slb", key, static_cast<long long>(end) + 1, piece.data(),
                 piece.size());
  };
  emit(as_chars(object.dump_header()), 0);
  for_each_piece(object.dump_payload(), chunks_cross_pieces(spec.engine), emit);
}

void aof_rewrite_valkey(io* output, string* key, void* value) noexcept {
  const auto data = load_data_of(static_cast<const valkey_chain&>(*object_of(value).filter));
  api.emit_aof(output, "BF.LOAD", "sb", key, as_chars(data).data(), data.size());
}

std::size_t mem_usage(const void* value) noexcept {
  return object_of(value).bytes();
}

// A native header contains the payload's checksum. Other filters have none, so it is computed.
void add_digest(server::digest* digest, void* value) noexcept {
  const filter_object& object = object_of(value);
  if (object.spec().engine != filter_engine::native) {
    for (const auto piece : object.dump_payload()) {
      const std::uint64_t checksum = xxh3_hasher(0)(piece).value;
      api.digest_bytes(digest, reinterpret_cast<const char*>(&checksum), sizeof checksum);
    }
  }
  const auto header = object.dump_header();
  api.digest_bytes(digest, as_chars(header).data(), header.size());
  api.digest_end(digest);
}

void free_value(void* value) noexcept {
  const std::unique_ptr<filter_object> object(static_cast<filter_object*>(value));
}

// In pages. For an effort above 64 the server may free the value in another thread.
std::size_t free_effort(string*, const void* value) noexcept {
  constexpr std::size_t page = 4096;
  return 1 + object_of(value).bytes() / page;
}

void* copy(string*, string*, const void* value) noexcept {
  try {
    const filter_object& source = object_of(value);
    // A copy that a primary or an append-only file repeats was accepted before.
    const bool is_limited = (api.context_flags(nullptr) & (is_replica | is_loading)) == 0;
    if (is_limited && !filters_have_room(source.bytes())) return nullptr;
    if (auto copied = source.filter ? source.filter->copy() : nullptr) {
      return std::make_unique<filter_object>(std::move(copied)).release();
    }
    const auto header = source.dump_header();
    const auto payload = source.dump_payload();
    std::vector<std::byte> scratch;
    wire_error header_error = nullptr;
    const auto next = [&](std::uint64_t offset) {
      return bytes_at(payload, offset, piece_bytes, scratch);
    };
    return rebuild(source.spec().family, as_chars(header), size_of(payload), header_error, next)
        .release();
  } catch (const std::exception&) {
    return nullptr;
  }
}

// The main thread defragments and answers INFO.
defrag_counts valkey_moves;

/// The memory's new place, or null if it stays. Counts the moves of valkey-bloom's filters.
template <filter_engine Engine>
void* move_memory(void* memory, void* defrag_ctx) noexcept {
  void* const moved = api.defrag_alloc(static_cast<defrag_context*>(defrag_ctx), memory);
  if (Engine == filter_engine::valkey) {
    ++(moved != nullptr ? valkey_moves.hits : valkey_moves.misses);
  }
  return moved;
}

// One call moves everything: the allocator moves only pieces of up to some kilobytes, and a filter
// of a gigabyte has some hundred larger ones, which are quickly refused.
template <filter_engine Engine>
int defrag(defrag_context* ctx, string*, void** value) noexcept {
  if (Engine == filter_engine::valkey && !current_settings().bloom_defrag_enabled) return 0;
  if (void* const moved = move_memory<Engine>(*value, ctx)) *value = moved;
  filter_object& object = *static_cast<filter_object*>(*value);
  if (object.filter) object.filter->relocate({.move = move_memory<Engine>, .context = ctx});
  return 0;
}

struct type_row {
  filter_family family;
  filter_engine engine;
  const char* name;  ///< nine characters
  int version;
  void* (*load)(io*, int version);
  void (*save)(io*, void* value);
  void (*rewrite)(io*, string* key, void* value) = aof_rewrite;
  int (*defragment)(defrag_context*, string* key, void** value) = defrag<filter_engine::native>;
  type* registered = nullptr;
};

std::array types = {
    type_row{filter_family::bloom, filter_engine::native, "bloomsetB", stored_version,
             rdb_load<load_native<filter_family::bloom>, stored_version, stored_version>, rdb_save},
    type_row{filter_family::cuckoo, filter_engine::native, "bloomsetC", stored_version,
             rdb_load<load_native<filter_family::cuckoo>, stored_version, stored_version>,
             rdb_save},
    type_row{filter_family::bloom, filter_engine::compatible, "MBbloom--", redisbloom_version,
             rdb_load<load_compatible<filter_family::bloom>, 0, redisbloom_version>,
             rdb_save_chain},
    type_row{filter_family::cuckoo, filter_engine::compatible, "MBbloomCF", redisbloom_version,
             rdb_load<load_compatible<filter_family::cuckoo>, 0, redisbloom_version>,
             rdb_save_cuckoo},
    type_row{filter_family::bloom, filter_engine::valkey, "bloomfltr", valkey_bloom_version,
             rdb_load<load_valkey, valkey_bloom_version, valkey_bloom_version>, rdb_save_valkey,
             aof_rewrite_valkey, defrag<filter_engine::valkey>},
};

}  // namespace

defrag_counts defrag_counts_of_valkey_filters() noexcept {
  return valkey_moves;
}

bool create_filter_types(context* ctx) noexcept {
  type_methods methods = {};
  methods.version = type_methods_version;
  methods.mem_usage = mem_usage;
  methods.digest = add_digest;
  methods.free = free_value;
  methods.free_effort = free_effort;
  methods.copy = copy;
  for (type_row& row : types) {
    methods.rdb_load = row.load;
    methods.rdb_save = row.save;
    methods.aof_rewrite = row.rewrite;
    methods.defrag = row.defragment;
    row.registered = api.create_type(ctx, row.name, row.version, &methods);
    if (row.registered == nullptr) return false;
  }
  return true;
}

type* filter_type(filter_family family, filter_engine engine) noexcept {
  const auto is_row = [&](const type_row& row) {
    return row.family == family && row.engine == engine;
  };
  return std::ranges::find_if(types, is_row)->registered;
}

}  // namespace bloomset::server
