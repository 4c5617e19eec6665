#pragma once

/// Filters as files, byte strings and streams. docs/reference/format.md is the normative layout: a
/// fixed header of 64 bytes, the kind's parameters, and the payload at a multiple of 64 bytes. A
/// file can be mapped and used in place. Checksums cover all of it.

#include <bloomset/concepts.hpp>
#include <bloomset/image.hpp>
#include <bloomset/result.hpp>
#include <bloomset/storage.hpp>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace bloomset {

/// How much of a file is checked before it is used. The header and the lengths are always checked.
enum class verification : std::uint8_t {
  automatic,  ///< also the payload's checksum, up to automatic_verification_limit
  always,     ///< also the payload's checksum, which reads the whole file
  header,     ///< only the header; nothing else is read
};

/// Payloads up to this size are checked on every open, which takes some milliseconds. Larger ones
/// are mapped without being read; verification::always checks them.
inline constexpr std::uint64_t automatic_verification_limit = std::uint64_t{64} << 20;

/// A stored filter whose header is sound and whose lengths fit its bytes. It shares the mapping.
/// If header.parts tells that the filter lacks keys, it is not opened, unless the caller clears
/// header.parts and keeps them in mind. The same holds for header.exceptions and header.layers in
/// open_stored().
struct stored_filter {
  filter_header header;
  std::vector<std::byte> parameters;
  mapped_storage payload;
};

/// Maps a file, whatever it contains. A regular file is mapped; anything else, such as a pipe, is
/// read into memory, and may have no end. So it is read only as far as its header announces.
/// Without the signature, only the first 64 KiB of a text or a device are read, and a longer stream
/// than 1 GiB is refused. Fails with not_found, io or unsupported. O(1) for a mapped file.
///
/// No program may change a mapped file in place while it is in use: a process that reads a file
/// that was shortened ends with SIGBUS. save() never changes a file in place; it replaces it.
result<mapped_storage> map_bytes(const std::filesystem::path& path);

/// Whether the bytes begin with the signature of this format. O(1).
bool has_signature(std::span<const std::byte> bytes) noexcept;

/// The number by which layers (layers.hpp) name the file that they belong to: the checksum of its
/// header and parameters, as they would be without exceptions and layers. So the layers of a file
/// stay its own when it gets exceptions. Precondition: read_stored() accepts the bytes. O(size of
/// the header and parameters).
std::uint64_t layer_base_of(std::span<const std::byte> file);

/// Maps a filter file, as map_bytes does. A folder that `bloomset publish` wrote is its base with
/// its layers. Each of its files has checksums of its own; the SHA-256 of the manifest, by which
/// `bloomset fetch` checks files from elsewhere, are not computed again.
///
/// Fails with not_found, io, corrupt (naming the damage), unsupported, or incompatible for a
/// manifest whose time of validity is over. O(1) beyond the bytes that are verified and the layers.
result<stored_filter> map_file(const std::filesystem::path& path,
                               verification how = verification::automatic);

/// Reads a stored filter from bytes in memory, which it refers to and does not copy. Error messages
/// call the bytes `name`.
result<stored_filter> read_stored(const mapped_storage& bytes, verification how,
                                  const std::string& name);

/// Gives a stored filter the secret key that its keys are hashed with. Does nothing if the filter
/// needs none. Fails with invalid_argument if it needs one and `key` is empty or another key. Error
/// messages call the filter `name`.
result<void> unlock(stored_filter& stored, const std::optional<hash_key>& key,
                    const std::string& name);

namespace detail {
/// The failure to open a filter without its secret key.
failure needs_key(const std::string& name);
/// The failure to open a filter with exceptions as a type that would ignore them.
failure has_exceptions();
/// The failure to open a filter with layers as a type that would ignore them.
failure has_layers();
/// The failure to open a filter that lacks parts of the keys.
failure lacks_parts(const key_parts& parts);

/// True if a filter with this hasher can be in a file with that hash.
template <hasher H>
constexpr bool can_give(hash_id id) noexcept {
  if constexpr (takes_keys<H>) {
    return H::is_one(id);
  } else {
    return id == H().id();
  }
}
}  // namespace detail

/// The header of a filter whose payload has not arrived yet, and the length of that payload.
struct announced_filter {
  filter_header header;
  std::uint64_t payload_bytes;
};

/// Reads header and parameters alone, as serialize_header() gives them. Fails with corrupt or
/// unsupported. The announced length may be wrong, so do not allocate memory for it before the
/// bytes arrive.
result<announced_filter> read_header(std::span<const std::byte> bytes, const std::string& name);

/// The action of write_file if the file exists.
enum class if_exists : std::uint8_t { replace, refuse };

/// Writes a filter to a file in one step. At every moment, also after a power failure, the path
/// holds the whole old file or the whole new one.
///
/// Method      Writes a nameless temporary file, then fsync, rename, and fsync of the folder.
/// Links       Follows symbolic links.
/// Attributes  Keeps owner, group and mode of a replaced file as far as the process may set them.
///             Only root can give a file to another user. Otherwise the caller becomes the owner,
///             and the file keeps its group if the caller is in it.
/// Pipes       Writes directly to anything that is not a regular file.
/// Waiting     Does not wait for other processes; see file_lock.
/// Failure     Fails with exists, not_found or io; then nothing has changed. Only if the sync of
///             the folder fails is the new file there already.
result<void> write_file(const filter_image& image, const std::filesystem::path& path,
                        if_exists policy = if_exists::replace);

/// Writes a filter to an open file descriptor.
result<void> write_stream(const filter_image& image, int file, const std::string& name);

/// Pieces of bytes that are written one after the other.
using byte_pieces = std::span<const std::span<const std::byte>>;

/// write_file for bytes of any format, with the same promises.
result<void> write_file(byte_pieces pieces, const std::filesystem::path& path,
                        if_exists policy = if_exists::replace);
/// Writes bytes of any format to an open file descriptor.
result<void> write_stream(byte_pieces pieces, int file, const std::string& name);

/// A filter as a byte string: the same bytes as in a file.
std::vector<std::byte> serialize(const filter_image& image);

/// The size of the byte string of serialize().
std::size_t serialized_size(const filter_image& image) noexcept;
/// Writes the byte string of serialize() into memory of the caller. Precondition: into.size() ==
/// serialized_size(image).
void serialize_to(const filter_image& image, std::span<std::byte> into);

/// The bytes of serialize() before the payload: header and parameters. Reads the payload, for its
/// checksum.
std::vector<std::byte> serialize_header(const filter_image& image);

/// The exclusive right to replace a file, among all processes that use this lock. Lock before the
/// file is read, and unlock after its replacement is written. Then no keys of another writer are
/// lost.
///
/// Waits until the lock is free. Any process that may read the file can hold its lock, and writers
/// then wait.
class file_lock {
 public:
  /// Locks an existing file. Fails with not_found or io.
  static result<file_lock> acquire(const std::filesystem::path& path);

  file_lock(file_lock&&) noexcept = default;
  file_lock& operator=(file_lock&&) noexcept = default;

 private:
  explicit file_lock(std::shared_ptr<const void> file) noexcept : file_(std::move(file)) {}

  std::shared_ptr<const void> file_;  // is open while it is locked
};

/// Saves any filter in one step; see write_file.
template <membership_filter F>
result<void> save(const F& filter, const std::filesystem::path& path,
                  if_exists policy = if_exists::replace) {
  return write_file(filter.image(), path, policy);
}

/// A filter whose storage can keep the bytes of a file. Borrowed bytes would have no owner.
template <class F>
concept openable = membership_filter<F> && (std::same_as<typename F::storage_type, owned_storage> ||
                                            std::same_as<typename F::storage_type, mapped_storage>);

/// The filter of a known type in stored bytes. mapped_storage shares the bytes; owned_storage
/// copies them. Fails with incompatible if the bytes are of another kind, and with unsupported if
/// they have exceptions or layers, which only any_filter applies.
template <openable F>
result<F> open_stored(const stored_filter& stored) {
  if (stored.header.kind != F::kind ||
      !detail::can_give<typename F::hasher_type>(stored.header.hash)) {
    return fail(errc::incompatible, "the file holds another kind of filter than was requested");
  }
  if (stored.header.seed.is_locked()) return detail::needs_key("the filter");
  if (stored.header.parts.of != 0) return detail::lacks_parts(stored.header.parts);
  if (!stored.header.exceptions.empty()) return detail::has_exceptions();
  if (!stored.header.layers.empty()) return detail::has_layers();
  auto params = F::params_type::decode(stored.header, stored.parameters);
  if (!params) return fail(std::move(params.error()));
  if constexpr (std::same_as<typename F::storage_type, owned_storage>) {
    auto memory = owned_storage::copy_of(stored.payload.bytes());
    if (!memory) return fail(std::move(memory.error()));
    return F::open(std::move(*params), std::move(*memory), stored.header.count);
  } else {
    return F::open(std::move(*params), stored.payload, stored.header.count);
  }
}

/// Opens a file as a filter of a known type. `open<bloom_view>(path)` maps it read-only;
/// `open<bloom>(path)` copies it into memory, where it can be changed. `key` is for filters that
/// were made with a secret key; see unlock().
template <openable F>
result<F> open(const std::filesystem::path& path, verification how = verification::automatic,
               const std::optional<hash_key>& key = {}) {
  auto stored = map_file(path, how);
  if (!stored) return fail(stored.error());
  if (auto ok = unlock(*stored, key, path.string()); !ok) return fail(std::move(ok.error()));
  return open_stored<F>(*stored);
}

}  // namespace bloomset
