#include "filter_type.hpp"

#include <algorithm>
#include <array>
#include <bloomery/hash.hpp>
#include <memory>
#include <new>
#include <utility>

#include "loaded_bytes.hpp"
#include "memory.hpp"
#include "redisbloom_rdb.hpp"
#include "reply.hpp"

namespace bloomery::server {
namespace {

constexpr int stored_version = 1;
// Pieces of a payload in an RDB and in an append-only file.
constexpr std::size_t piece_bytes = std::size_t{16} << 20;

// Types of native filters and of all dumps that are arriving, and of compatible filters.
struct type_row {
  filter_family family;
  filter_engine engine;
  const char* name;  ///< of nine characters, as the server wants
  int version;
  type* registered = nullptr;
};

std::array types = {
    type_row{filter_family::bloom, filter_engine::native, "bloomryBF", stored_version},
    type_row{filter_family::cuckoo, filter_engine::native, "bloomryCF", stored_version},
    type_row{filter_family::bloom, filter_engine::compatible, "MBbloom--", redisbloom_version},
    type_row{filter_family::cuckoo, filter_engine::compatible, "MBbloomCF", redisbloom_version},
};

const char* load_command_of(filter_family family) noexcept {
  return family == filter_family::bloom ? "BF.LOADCHUNK" : "CF.LOADCHUNK";
}

const filter_object& object_of(const void* value) noexcept {
  return *static_cast<const filter_object*>(value);
}

/// The same value from its dump, read piece by piece, or null. `next` gives the next piece of the
/// payload. `refused` is what is wrong with the header.
template <class Next>
std::unique_ptr<filter_object> rebuild(filter_family family, std::string_view header,
                                       std::uint64_t size, wire_error& refused, Next&& next) {
  received_dump dump;
  refused = dump.begin(header);
  if (refused != nullptr || dump.prefix().spec.family != family) return nullptr;
  auto object = std::make_unique<filter_object>(std::move(dump));
  if (!object->open_if_complete()) return nullptr;
  for (std::uint64_t at = 0; at < size;) {
    const std::string_view piece = next(at);
    if (piece.empty() || piece.size() > size - at || object->take(at, piece) != nullptr)
      return nullptr;
    at += piece.size();
  }
  return object;
}

void log_version(io* from, int version, int newest) noexcept {
  api.log_io_error(from, "warning",
                   "bloomery: a stored filter has version %d of its type, and this module reads "
                   "versions up to %d; load the file with a newer module",
                   version, newest);
}

// A value in an RDB: header of its dump, size of the payload that follows, pieces of it.
template <filter_family Family>
void* rdb_load(io* from, int version) noexcept {
  if (version != stored_version) {
    log_version(from, version, stored_version);
    return nullptr;
  }
  try {
    const loaded_bytes header(from);
    const std::uint64_t size = api.load_unsigned(from);
    if (header.view().empty() || api.has_io_error(from) != 0) return nullptr;
    std::unique_ptr<loaded_bytes> piece;
    wire_error refused = nullptr;
    auto object = rebuild(Family, header.view(), size, refused, [&](std::uint64_t) {
      piece = std::make_unique<loaded_bytes>(from);
      return api.has_io_error(from) != 0 ? std::string_view() : piece->view();
    });
    if (object == nullptr) {
      const bool is_newer = refused != nullptr && std::string_view(refused) == newer_data;
      api.log_io_error(from, "warning", "bloomery: a stored filter %s",
                       is_newer ? "has a newer version than this module reads; load the file with "
                                  "a newer module"
                                : "is damaged");
    }
    return object.release();
  } catch (const std::exception&) {
    api.log_io_error(from, "warning", "bloomery: no memory for a stored filter");
    return nullptr;
  }
}

/// A value of RedisBloom's types.
template <filter_family Family>
void* rdb_load_compatible(io* from, int version) noexcept {
  if (version > redisbloom_version) {
    log_version(from, version, redisbloom_version);
    return nullptr;
  }
  try {
    auto filter =
        Family == filter_family::bloom ? load_chain(from, version) : load_cuckoo(from, version);
    if (filter != nullptr) return std::make_unique<filter_object>(std::move(filter)).release();
    api.log_io_error(from, "warning", "bloomery: a filter stored as by RedisBloom is damaged");
  } catch (const std::exception&) {
    api.log_io_error(from, "warning", "bloomery: no memory for a stored filter");
  }
  return nullptr;
}

// Only filters of the engine are values of these types.
void rdb_save_chain(io* to, void* value) noexcept {
  save(to, static_cast<const bloom_chain&>(*object_of(value).filter));
}
void rdb_save_cuckoo(io* to, void* value) noexcept {
  save(to, static_cast<const cuckoo_chain&>(*object_of(value).filter));
}

// What saves has no way to tell of a failure, and the server ends when it has no memory; so does
// this, at once, rather than let an exception into the server.
void rdb_save(io* to, void* value) noexcept {
  const filter_object& object = object_of(value);
  const auto bytes = object.dump_header();
  const std::string_view header = as_chars(bytes);
  const auto payload = object.dump_payload();
  const std::uint64_t size = size_of(payload);
  api.save_bytes(to, header.data(), header.size());
  api.save_unsigned(to, size);
  std::vector<std::byte> scratch;
  for (std::uint64_t at = 0; at < size;) {
    const std::string_view piece = bytes_at(payload, at, piece_bytes, scratch);
    api.save_bytes(to, piece.data(), piece.size());
    at += piece.size();
  }
}

void aof_rewrite(io* to, string* key, void* value) noexcept {
  const filter_object& object = object_of(value);
  const auto bytes = object.dump_header();
  const std::string_view header = as_chars(bytes);
  const auto payload = object.dump_payload();
  const std::uint64_t size = size_of(payload);
  const char* const load = load_command_of(object.family());
  api.emit_aof(to, load, "slb", key, 1LL, header.data(), header.size());
  std::vector<std::byte> scratch;
  for (std::uint64_t at = 0; at < size;) {
    const std::string_view piece =
        dump_bytes_at(object.engine(), payload, at, piece_bytes, scratch);
    at += piece.size();
    const long long iterator = static_cast<long long>(at) + 1;
    api.emit_aof(to, load, "slb", key, iterator, piece.data(), piece.size());
  }
}

std::size_t mem_usage(const void* value) noexcept {
  return object_of(value).bytes();
}

// A native header has the payload's checksum; others get one here.
void add_digest(server::digest* into, void* value) noexcept {
  if (object_of(value).engine() == filter_engine::compatible) {
    for (const auto piece : object_of(value).dump_payload()) {
      const std::uint64_t checksum = xxh3_hasher()(piece).value;
      const std::string_view digits = as_chars(std::as_bytes(std::span(&checksum, 1)));
      api.digest_bytes(into, digits.data(), digits.size());
    }
  }
  const auto bytes = object_of(value).dump_header();
  const std::string_view header = as_chars(bytes);
  api.digest_bytes(into, header.data(), header.size());
  api.digest_end(into);
}

void free_value(void* value) noexcept {
  const std::unique_ptr<filter_object> object(static_cast<filter_object*>(value));
}

// In pages: the server frees values of more than 64 in another thread, when it may.
std::size_t free_effort(string*, const void* value) noexcept {
  constexpr std::size_t page = 4096;
  return 1 + object_of(value).bytes() / page;
}

void* copy(string*, string*, const void* value) noexcept {
  try {
    const filter_object& from = object_of(value);
    // Replicas, and who reads an append-only file, take what was taken elsewhere.
    const bool is_limited = (api.context_flags(nullptr) & (is_replica | is_loading)) == 0;
    if (is_limited && !filters_have_room(from.bytes())) return nullptr;
    if (auto copied = from.filter ? from.filter->copy() : nullptr) {
      return std::make_unique<filter_object>(std::move(copied)).release();
    }
    const auto header = from.dump_header();
    const auto payload = from.dump_payload();
    std::vector<std::byte> scratch;
    wire_error refused = nullptr;
    return rebuild(from.family(), as_chars(header), size_of(payload), refused,
                   [&](std::uint64_t at) { return bytes_at(payload, at, piece_bytes, scratch); })
        .release();
  } catch (const std::exception&) {
    return nullptr;
  }
}

// All at once. The server's allocator moves only what shares pages with others, of some kilobytes
// at most; it is asked in vain of larger pieces, of which a filter of a gigabyte has some hundred.
int defrag(defrag_context* ctx, string*, void** value) noexcept {
  const auto move = [](void* at, void* to_ask) noexcept {
    return api.defrag_alloc(static_cast<defrag_context*>(to_ask), at);
  };
  if (void* const moved = api.defrag_alloc(ctx, *value)) *value = moved;
  filter_object& object = *static_cast<filter_object*>(*value);
  if (object.filter) object.filter->relocate({.move = move, .context = ctx});
  return 0;
}

}  // namespace

bool create_filter_types(context* ctx) noexcept {
  type_methods methods = {};
  methods.version = type_methods_version;
  methods.aof_rewrite = aof_rewrite;
  methods.mem_usage = mem_usage;
  methods.digest = add_digest;
  methods.free = free_value;
  methods.free_effort = free_effort;
  methods.copy = copy;
  methods.defrag = defrag;
  for (type_row& row : types) {
    const bool is_bloom = row.family == filter_family::bloom;
    if (row.engine == filter_engine::native) {
      methods.rdb_load =
          is_bloom ? rdb_load<filter_family::bloom> : rdb_load<filter_family::cuckoo>;
      methods.rdb_save = rdb_save;
    } else {
      methods.rdb_load = is_bloom ? rdb_load_compatible<filter_family::bloom>
                                  : rdb_load_compatible<filter_family::cuckoo>;
      methods.rdb_save = is_bloom ? rdb_save_chain : rdb_save_cuckoo;
    }
    row.registered = api.create_type(ctx, row.name, row.version, &methods);
    if (row.registered == nullptr) return false;
  }
  return true;
}

filter_key::filter_key(const request& in, filter_family family, int mode) noexcept
    : filter_key(in, 1, family, mode) {}
filter_key::filter_key(const request& in, std::size_t argument, filter_family family,
                       int mode) noexcept
    : key_(api.open_key(in.ctx, in.argv[argument], mode)), family_(family) {}

filter_key::~filter_key() {
  close();
}

void filter_key::close() noexcept {
  if (key_ != nullptr) api.close_key(key_);
  key_ = nullptr;
}

bool filter_key::is_empty() const noexcept {
  return key_ == nullptr || api.key_type(key_) == key_empty;
}

filter_object* filter_key::object() const noexcept {
  if (is_empty() || api.key_type(key_) != key_module) return nullptr;
  const type* const found = api.value_type(key_);
  const bool is_ours = std::ranges::any_of(
      types, [&](const type_row& row) { return row.family == family_ && row.registered == found; });
  return is_ours ? static_cast<filter_object*>(api.value(key_)) : nullptr;
}

filter_value* filter_key::filter(wire_error& why) const noexcept {
  filter_object* const found = object();
  if (found == nullptr) {
    why = is_empty() ? not_found : wrong_type;
    return nullptr;
  }
  if (!found->filter) why = "ERR the filter is being loaded; send its remaining chunks";
  return found->filter.get();
}

void filter_key::set(std::unique_ptr<filter_object> object) noexcept {
  const filter_engine engine = object->filter ? object->engine() : filter_engine::native;
  const auto row = std::ranges::find_if(
      types, [&](const type_row& each) { return each.family == family_ && each.engine == engine; });
  // The server takes a new value for a new key.
  const long long expire = is_empty() ? -1 : api.get_expire(key_);
  api.set_value(key_, row->registered, object.release());
  if (expire >= 0) api.set_expire(key_, expire);
}

}  // namespace bloomery::server
