#pragma once

/// Filters as files, byte strings and streams. docs/format.md is the normative layout: a fixed
/// 64-byte header, the kind's parameters, and the payload at a multiple of 64 bytes, so that a file
/// can be mapped and used in place; checksums over all of it.

#include <bloomery/concepts.hpp>
#include <bloomery/image.hpp>
#include <bloomery/result.hpp>
#include <bloomery/storage.hpp>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace bloomery {

/// How much of a file is checked before it is used. The header and the lengths always are.
enum class verification : std::uint8_t {
  automatic,  ///< the payload's checksum too, up to automatic_verification_limit
  always,     ///< the payload's checksum too, which reads the whole file
  header,     ///< only the header: nothing else is read
};

/// Payloads up to this size are checked whenever they are opened: it costs some milliseconds.
/// Larger ones are mapped without being read; verify them with verification::always.
inline constexpr std::uint64_t automatic_verification_limit = std::uint64_t{64} << 20;

/// A stored filter whose header is sound and whose lengths fit its bytes. Shares the mapping.
struct stored_filter {
  filter_header header;
  std::vector<std::byte> parameters;
  mapped_storage payload;
};

/// Maps a file, whatever is in it. A regular file is mapped, anything else (a pipe) is read into
/// memory. Fails with not_found or io. O(1) for a mapped file.
///
/// A mapped file must not be changed in place by other programs while it is in use: a shortened
/// one ends the process with SIGBUS. save() never does that; it replaces.
result<mapped_storage> map_bytes(const std::filesystem::path& path);

/// Whether the bytes begin with the signature of this format. O(1).
bool has_signature(std::span<const std::byte> bytes) noexcept;

/// Maps a filter file, as map_bytes does. Fails with not_found, io, corrupt (naming the damage) or
/// unsupported. O(1) beyond what is verified.
result<stored_filter> map_file(const std::filesystem::path& path,
                               verification how = verification::automatic);

/// The same for bytes in memory, which are referred to, not copied. `name` is what messages call
/// them.
result<stored_filter> read_stored(mapped_storage bytes, verification how, const std::string& name);

/// The header of a filter whose payload is still to come, and how long that is.
struct announced_filter {
  filter_header header;
  std::uint64_t payload_bytes;
};

/// Reads header and parameters by themselves, as serialize_header() gives them. Fails with corrupt
/// or unsupported. How much is promised there is not yet tied to any bytes: do not allocate it.
result<announced_filter> read_header(std::span<const std::byte> bytes, const std::string& name);

/// What to do where a file of that name is already.
enum class if_exists : std::uint8_t { replace, refuse };

/// Writes a filter so that at every moment, also after a power cut, the path holds the old file or
/// the new one, whole: a nameless temporary file, fsync, rename, fsync of the folder. Follows
/// symbolic links. A replaced file's owner, group and mode are kept as far as the process may set
/// them: only root can give a file to another user, so that else the file becomes the caller's, and
/// the group is kept if the caller is in it. What is not a regular file (a pipe) is written to.
/// Waits for no other process. Fails with exists or io; then nothing has changed.
result<void> write_file(const filter_image& image, const std::filesystem::path& path,
                        if_exists policy = if_exists::replace);

/// Writes a filter to an open file descriptor.
result<void> write_stream(const filter_image& image, int file, const std::string& name);

/// Bytes that are written one after the other.
using byte_pieces = std::span<const std::span<const std::byte>>;

/// The same two for bytes of any format, with the same promises.
result<void> write_file(byte_pieces pieces, const std::filesystem::path& path,
                        if_exists policy = if_exists::replace);
result<void> write_stream(byte_pieces pieces, int file, const std::string& name);

/// A filter as a byte string, the same bytes as in a file.
std::vector<std::byte> serialize(const filter_image& image);

/// The size of that, and the same into memory of the caller's. Precondition: into.size() is it.
std::size_t serialized_size(const filter_image& image) noexcept;
void serialize_to(const filter_image& image, std::span<std::byte> into);

/// What stands before the payload there: header and parameters. Reads the payload, for its
/// checksum.
std::vector<std::byte> serialize_header(const filter_image& image);

/// The right to replace a file, among all processes that ask for it: hold it from before the file
/// is read until after its replacement is written, and no other writer's keys are lost. Waits.
/// Any process that may read the file can hold its lock, and so keep writers waiting.
class file_lock {
 public:
  /// Locks an existing file. Fails with not_found or io.
  static result<file_lock> acquire(const std::filesystem::path& path);

  file_lock(file_lock&& other) noexcept;
  file_lock& operator=(file_lock&& other) noexcept;
  file_lock(const file_lock&) = delete;
  file_lock& operator=(const file_lock&) = delete;
  ~file_lock();

 private:
  explicit file_lock(int descriptor) noexcept : descriptor_(descriptor) {}

  int descriptor_;
};

/// Saves any filter; atomic, see write_file.
template <membership_filter F>
result<void> save(const F& filter, const std::filesystem::path& path,
                  if_exists policy = if_exists::replace) {
  return write_file(filter.image(), path, policy);
}

/// A filter whose storage can keep the bytes of a file: borrowed bytes would have no owner.
template <class F>
concept openable = membership_filter<F> && (std::same_as<typename F::storage_type, owned_storage> ||
                                            std::same_as<typename F::storage_type, mapped_storage>);

/// The filter of a known type in stored bytes: shared when its storage is mapped_storage, copied
/// into memory of its own when that is owned_storage. Another kind is incompatible.
template <openable F>
result<F> open_stored(const stored_filter& stored) {
  if (stored.header.kind != F::kind || stored.header.hash != F::hasher_type::id) {
    return fail(errc::incompatible, "the file holds another kind of filter than was asked for");
  }
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

/// Opens a file as a filter of a known type: `open<bloom_view>(path)` maps it read-only,
/// `open<bloom>(path)` copies it into memory, to be changed.
template <openable F>
result<F> open(const std::filesystem::path& path, verification how = verification::automatic) {
  const auto stored = map_file(path, how);
  if (!stored) return fail(stored.error());
  return open_stored<F>(*stored);
}

}  // namespace bloomery
