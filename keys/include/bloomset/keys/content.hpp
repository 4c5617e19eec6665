#pragma once

/// Digests of contents that are too long for one record, such as files.
///
///     auto digest = bloomset::keys::content_digest::make("sha1:upper");
///     std::string piece = "the first bytes of a file, ";
///     (*digest)->add(piece);
///     (*digest)->add(piece = "and the next");
///     bloomset::keys::key_list keys;
///     if (auto ok = (*digest)->finish(keys); !ok) report(ok.error());
///
/// The key is the one that the reader of the same name makes of a record with the same bytes.

#include <bloomset/keys/reader.hpp>
#include <bloomset/result.hpp>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)  // a shared build shows it

namespace bloomset::keys {

/// The digest of one content after the other. For one thread.
class content_digest {
 public:
  /// `text` names a reader of digests: md5, sha1 or sha256, alone or with `:upper` or `:lower`.
  /// Fails with invalid_argument for other texts, and with unsupported if this machine's libcrypto
  /// does not offer the digest.
  static result<std::unique_ptr<content_digest>> make(std::string_view text);

  content_digest() = default;
  content_digest(const content_digest&) = delete;
  content_digest& operator=(const content_digest&) = delete;
  virtual ~content_digest() = default;

  /// The next bytes of the content. O(bytes.size()). A failure is returned by finish().
  virtual void add(std::span<const char> bytes) noexcept = 0;
  /// Appends the key of the content, and begins the next one. Appends nothing if it fails.
  virtual result<void> finish(key_list& keys) = 0;

  /// A key as hexadecimal digits.
  virtual std::string shown(std::string_view key) const = 0;
};

}  // namespace bloomset::keys

#pragma GCC visibility pop
