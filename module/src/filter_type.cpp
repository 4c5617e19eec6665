#include "filter_type.hpp"

#include <array>
#include <memory>
#include <new>
#include <utility>

#include "reply.hpp"

namespace bloomery::server {
namespace {

constexpr int stored_version = 1;
// Pieces of a payload in an RDB and in an append-only file.
constexpr std::size_t piece_bytes = std::size_t{16} << 20;

struct family_row {
  filter_family family;
  const char* type_name;  ///< of nine characters, as the server wants
  const char* load_command;
  type* registered = nullptr;
};

std::array families = {
    family_row{filter_family::bloom, "bloomryBF", "BF.LOADCHUNK"},
    family_row{filter_family::cuckoo, "bloomryCF", "CF.LOADCHUNK"},
};

family_row& row_of(filter_family family) noexcept {
  return family == filter_family::bloom ? families.front() : families.back();
}

const filter_object& object_of(const void* value) noexcept {
  return *static_cast<const filter_object*>(value);
}

/// The same value from its dump, read piece by piece. `next` gives the next piece of the payload.
template <class Next>
std::unique_ptr<filter_object> rebuild(filter_family family, std::string_view header,
                                       std::uint64_t size, Next&& next) {
  received_dump dump;
  if (dump.begin(header) != nullptr || dump.prefix().spec.family != family) return nullptr;
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

/// Bytes that the server allocated in reading them.
class loaded_bytes {
 public:
  explicit loaded_bytes(io* from) noexcept : bytes_(api.load_bytes(from, &size_)) {}
  loaded_bytes(const loaded_bytes&) = delete;
  loaded_bytes& operator=(const loaded_bytes&) = delete;
  ~loaded_bytes() {
    if (bytes_ != nullptr) api.free(bytes_);
  }
  /// Empty if they could not be read.
  std::string_view view() const noexcept {
    return bytes_ != nullptr ? std::string_view(bytes_, size_) : std::string_view();
  }

 private:
  std::size_t size_ = 0;
  char* bytes_;
};

// A value in an RDB: header of its dump, size of the payload that follows, pieces of it.
template <filter_family Family>
void* rdb_load(io* from, int version) noexcept {
  if (version != stored_version) return nullptr;
  try {
    const loaded_bytes header(from);
    const std::uint64_t size = api.load_unsigned(from);
    if (header.view().empty() || api.has_io_error(from) != 0) return nullptr;
    std::unique_ptr<loaded_bytes> piece;
    auto object = rebuild(Family, header.view(), size, [&](std::uint64_t) {
      piece = std::make_unique<loaded_bytes>(from);
      return api.has_io_error(from) != 0 ? std::string_view() : piece->view();
    });
    if (object == nullptr) {
      api.log_io_error(from, "warning", "bloomery: a stored filter is damaged");
    }
    return object.release();
  } catch (const std::exception&) {
    return nullptr;
  }
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
  const char* const load = row_of(object.family()).load_command;
  api.emit_aof(to, load, "slb", key, 1LL, header.data(), header.size());
  std::vector<std::byte> scratch;
  for (std::uint64_t at = 0; at < size;) {
    const std::string_view piece = bytes_at(payload, at, piece_bytes, scratch);
    at += piece.size();
    const long long iterator = static_cast<long long>(at) + 1;
    api.emit_aof(to, load, "slb", key, iterator, piece.data(), piece.size());
  }
}

std::size_t mem_usage(const void* value) noexcept {
  return object_of(value).bytes();
}

// The header has the payload's checksum.
void add_digest(server::digest* into, void* value) noexcept {
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
    if (auto copied = from.filter ? from.filter->copy() : nullptr) {
      return std::make_unique<filter_object>(std::move(copied)).release();
    }
    const auto header = from.dump_header();
    const auto payload = from.dump_payload();
    std::vector<std::byte> scratch;
    return rebuild(from.family(), as_chars(header), size_of(payload),
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
  methods.rdb_save = rdb_save;
  methods.aof_rewrite = aof_rewrite;
  methods.mem_usage = mem_usage;
  methods.digest = add_digest;
  methods.free = free_value;
  methods.free_effort = free_effort;
  methods.copy = copy;
  methods.defrag = defrag;
  for (family_row& row : families) {
    methods.rdb_load = row.family == filter_family::bloom ? rdb_load<filter_family::bloom>
                                                          : rdb_load<filter_family::cuckoo>;
    row.registered = api.create_type(ctx, row.type_name, stored_version, &methods);
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
  api.close_key(key_);
}

bool filter_key::is_empty() const noexcept {
  return key_ == nullptr || api.key_type(key_) == key_empty;
}

filter_object* filter_key::object() const noexcept {
  if (is_empty() || api.key_type(key_) != key_module ||
      api.value_type(key_) != row_of(family_).registered) {
    return nullptr;
  }
  return static_cast<filter_object*>(api.value(key_));
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
  api.set_value(key_, row_of(family_).registered, object.release());
}

}  // namespace bloomery::server
