#include "signing/minisign.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "input/input.hpp"

namespace bloomset::cli {
namespace {

using octets = std::vector<unsigned char>;

constexpr std::size_t key_text = 56;
constexpr std::size_t max_text = std::size_t{64} << 10;  // of a key or signature, with its comments
constexpr std::size_t max_message = std::size_t{1} << 30;
constexpr std::string_view untrusted = "untrusted comment: ";
constexpr std::string_view trusted = "trusted comment: ";

/// The bytes of padded base64 (RFC 4648), or nothing if there is any other character.
std::optional<octets> from_base64(std::string_view text) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  if (text.empty() || text.size() % 4 != 0) return std::nullopt;
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  octets bytes;
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t digit = i < text.size() - padding ? digits.find(text[i]) : 0;
    if (digit == std::string_view::npos) return std::nullopt;
    word = word << 6 | static_cast<std::uint32_t>(digit);
    if (i % 4 != 3) continue;
    for (const unsigned shift : {16U, 8U, 0U}) {
      bytes.push_back(static_cast<unsigned char>(word >> shift));
    }
    word = 0;
  }
  bytes.resize(bytes.size() - padding);
  return bytes;
}

/// Calls `use` for the bytes of a file, in pieces.
result<void> read_file(const std::string& name,
                       const std::function<result<void>(std::span<const char>)>& use) {
  auto source = open_file(name);
  if (!source) return fail(std::move(source.error()));
  std::vector<char> piece(std::size_t{1} << 20);
  for (;;) {
    const auto got = (*source)->read(piece);
    if (!got) return fail(failure{got.error().code, name + ": " + got.error().message});
    if (*got == 0) return {};
    if (auto ok = use(std::span(piece).first(*got)); !ok) return ok;
  }
}

/// The lines of a small file, without their ends.
result<std::vector<std::string>> read_lines(const std::string& name, std::string_view what) {
  std::string text;
  auto done = read_file(name, [&](std::span<const char> piece) -> result<void> {
    if (text.size() + piece.size() > max_text) {
      return fail(errc::corrupt, fmt::format("{}: this is not {}: it is too long", name, what));
    }
    text.append(piece.data(), piece.size());
    return {};
  });
  if (!done) return fail(std::move(done.error()));
  std::vector<std::string> lines;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.emplace_back(line);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return lines;
}

std::optional<minisign_key> key_of(std::string_view base64) {
  const auto bytes = from_base64(base64);
  minisign_key key;
  if (!bytes || bytes->size() != 2 + key.id.size() + key.key.size() || (*bytes)[0] != 'E' ||
      (*bytes)[1] != 'd') {
    return std::nullopt;
  }
  std::memcpy(key.id.data(), bytes->data() + 2, key.id.size());
  std::memcpy(key.key.data(), bytes->data() + 2 + key.id.size(), key.key.size());
  return key;
}

/// A key's identifier as minisign prints it.
std::string shown(std::span<const unsigned char> id) {
  std::string text;
  for (std::size_t i = id.size(); i-- > 0;) text += fmt::format("{:02X}", id[i]);
  return text;
}

struct signature {
  bool hashed = false;
  octets id;
  octets of_file;
  std::string comment;
  octets of_comment;
};

result<signature> read_signature(const std::string& name) {
  const auto lines = read_lines(name, "a signature of minisign");
  if (!lines) return fail(lines.error());
  const auto malformed = [&](std::string_view what) {
    return fail(errc::corrupt,
                fmt::format("{}: this is not a signature of minisign: {}; take the file again from "
                            "where it was published",
                            name, what));
  };
  if (lines->size() != 4) return malformed("it has not four lines");
  if (!(*lines)[0].starts_with(untrusted)) return malformed("line 1 is not a comment");
  const auto first = from_base64((*lines)[1]);
  if (!first || first->size() != 74) return malformed("line 2 is not 74 bytes in base64");
  if (!(*lines)[2].starts_with(trusted)) return malformed("line 3 is not a trusted comment");
  const auto second = from_base64((*lines)[3]);
  if (!second || second->size() != 64) return malformed("line 4 is not 64 bytes in base64");
  signature made;
  made.hashed = (*first)[1] == 'D';
  if ((*first)[0] != 'E' || ((*first)[1] != 'D' && (*first)[1] != 'd')) {
    return malformed("its algorithm is neither Ed nor ED");
  }
  made.id.assign(first->begin() + 2, first->begin() + 10);
  made.of_file.assign(first->begin() + 10, first->end());
  made.comment = (*lines)[2].substr(trusted.size());
  made.of_comment = *second;
  return made;
}

struct closer {
  void operator()(EVP_MD_CTX* context) const noexcept { ::EVP_MD_CTX_free(context); }
  void operator()(EVP_PKEY* key) const noexcept { ::EVP_PKEY_free(key); }
};
using digest_context = std::unique_ptr<EVP_MD_CTX, closer>;

bool is_signed(const minisign_key& key, const octets& of, const octets& message) {
  const std::unique_ptr<EVP_PKEY, closer> verifier(
      ::EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, key.key.data(), key.key.size()));
  const digest_context context(::EVP_MD_CTX_new());
  return verifier != nullptr && context != nullptr &&
         ::EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, verifier.get()) == 1 &&
         ::EVP_DigestVerify(context.get(), of.data(), of.size(), message.data(), message.size()) ==
             1;
}

/// The bytes that are signed: the file's BLAKE2b-512, or the file.
result<octets> message_of(const std::string& file, bool hashed) {
  octets message;
  if (!hashed) {
    auto done = read_file(file, [&](std::span<const char> piece) -> result<void> {
      if (message.size() + piece.size() > max_message) {
        return fail(errc::unsupported, file +
                                           ": the signature is of minisign's old form, which "
                                           "needs the file in memory, and the file has more than "
                                           "1 GiB; sign it without -l");
      }
      message.insert(message.end(), piece.begin(), piece.end());
      return {};
    });
    if (!done) return fail(std::move(done.error()));
    return message;
  }
  const digest_context context(::EVP_MD_CTX_new());
  const auto unavailable = [] {
    return fail(errc::unsupported, "this build of OpenSSL has no BLAKE2b; use another one");
  };
  if (context == nullptr || ::EVP_DigestInit_ex(context.get(), ::EVP_blake2b512(), nullptr) != 1) {
    return unavailable();
  }
  auto done = read_file(file, [&](std::span<const char> piece) -> result<void> {
    if (::EVP_DigestUpdate(context.get(), piece.data(), piece.size()) != 1) return unavailable();
    return {};
  });
  if (!done) return fail(std::move(done.error()));
  message.resize(64);
  unsigned size = 0;
  if (::EVP_DigestFinal_ex(context.get(), message.data(), &size) != 1 || size != message.size()) {
    return unavailable();
  }
  return message;
}

}  // namespace

result<minisign_key> read_minisign_key(const std::string& text) {
  if (text.size() == key_text) {
    if (const auto key = key_of(text)) return *key;
  }
  const auto lines = read_lines(text, "a public key of minisign");
  if (!lines) return fail(lines.error());
  const auto key = lines->size() == 2 && (*lines)[0].starts_with(untrusted)
                       ? key_of((*lines)[1])
                       : std::optional<minisign_key>();
  if (key) return *key;
  return fail(errc::corrupt, text +
                                 ": this is not a public key of minisign; give its .pub file, or "
                                 "the 56 characters in it");
}

result<std::string> verify_minisign(const minisign_key& key, const std::string& file) {
  const auto found = read_signature(file + ".minisig");
  if (!found) return fail(found.error());
  if (!std::ranges::equal(found->id, key.id)) {
    return fail(errc::corrupt,
                fmt::format("{}: it is signed with the key {}, and the given key is {}", file,
                            shown(found->id), shown(key.id)));
  }
  const auto message = message_of(file, found->hashed);
  if (!message) return fail(message.error());
  if (!is_signed(key, found->of_file, *message)) {
    return fail(errc::corrupt,
                file +
                    ": the signature is not of this file; do not use the file, and get it and its "
                    "signature again from the publisher");
  }
  octets rest = found->of_file;
  rest.insert(rest.end(), found->comment.begin(), found->comment.end());
  if (!is_signed(key, found->of_comment, rest)) {
    return fail(errc::corrupt, file +
                                   ".minisig: the trusted comment is not the signed one; do not "
                                   "trust it, and take the signature again");
  }
  return found->comment;
}

}  // namespace bloomset::cli
