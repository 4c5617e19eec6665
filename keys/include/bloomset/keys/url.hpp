#pragma once

/// URLs in two forms. The normal form keeps distinct pages distinct. The canonical form of Safe
/// Browsing merges more, and has the expressions by which lists of bad pages name them. Pure
/// functions from text to text.
///
///     auto page = bloomset::keys::normalise_url("HTTP://a.B.com:80/1/../%7ex?q=%2b#top");
///                                                     // http://a.b.com/~x?q=%2B
///     auto url = bloomset::keys::canonicalise("http://a.B.com:80/1/../2.html?x=1#top");
///     url->text();                                    // http://a.b.com/2.html?x=1
///     // a.b.com/2.html?x=1, a.b.com/2.html, a.b.com/, b.com/2.html?x=1, and so on to b.com/
///     for (auto e : bloomset::keys::url_expressions(*url)) ask(e);
///
/// Sources: the URL Standard (url.spec.whatwg.org) and RFC 3986 for the normal form. Google, "URLs
/// and Hashing" (Safe Browsing v4, developers.google.com/safe-browsing/v4/urls-hashing), with the
/// IPv6 rules of v5, for the canonical one. Concurrent calls are safe.

#include <array>
#include <bloomset/result.hpp>
#include <cstddef>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)  // a shared build shows it

namespace bloomset::keys {

/// The normal form of a URL. Two spellings have one form if the URL Standard or the syntax-based
/// rules of RFC 3986 (section 6.2.2) say that they are the same URL, or if they differ only in the
/// fragment or the dot at the host's end. Steps:
/// - Removed: bytes up to 0x20 at both ends, TAB, CR and LF anywhere, and the fragment, because it
///   names a part of the page and is not sent.
/// - Without `scheme:` the text begins with the host, and the scheme is http. `www.a.com:80/x` is a
///   host too. `localhost:80` is refused, since it looks like `tel:80`.
/// - Scheme and host become lower case. A domain beyond ASCII becomes Punycode (UTS #46,
///   non-transitional, by libidn2); a label that cannot be converted becomes %XX. The dot of the
///   root at its end is removed.
/// - IPv4 addresses become four decimal numbers, IPv6 addresses the text of RFC 5952.
/// - The port is removed if it is the scheme's: http 80, https 443, ftp 21, ws 80, wss 443. Others
///   become decimal numbers without leading zeros.
/// - An empty path becomes `/`. The segments `.` and `..` are resolved. In the schemes above a
///   backslash is a slash.
/// - Escapes of letters, digits and `-._~` become these bytes. Other escapes stay, with digits in
///   upper case. Bytes that the URL Standard escapes in their part become %XX.
///
/// User names, passwords, ports, empty segments (`//`), an empty query (`?`), and `+`, `%20` and
/// `%2B` stay as they are, because servers may answer differently. The form is a fixed point.
///
/// Failure     invalid_argument, with a sentence: a text of spaces; no host; a scheme without `//`,
///             as in `mailto:x`; a host with a byte that no host has; a host that ends in a number
///             and is not an IPv4 address; a port above 65535; a host longer than any.
/// Cost        O(url.size()), without recursion. The length is not limited.
result<std::string> normalise_url(std::string_view url);

/// A URL in canonical form: `scheme://host/path` or `scheme://host/path?query`, of bytes 0x21 to
/// 0x7e. It has no userinfo, port or fragment.
class canonical_url {
 public:
  std::string_view text() const noexcept { return text_; }
  std::string_view scheme() const noexcept { return part(0, host_ - 3); }
  std::string_view host() const noexcept { return part(host_, path_); }
  /// The path, from its first slash up to the query.
  std::string_view path() const noexcept { return part(path_, query_); }
  /// The query with its question mark; empty if there is none.
  std::string_view query() const noexcept { return part(query_, text_.size()); }
  /// Host, path and query: the expression that names only this URL.
  std::string_view expression() const noexcept { return part(host_, text_.size()); }
  /// Whether the host is an IPv4 address, or an IPv6 address in brackets, instead of a name.
  bool has_address() const noexcept { return has_address_; }

 private:
  friend result<canonical_url> canonicalise(std::string_view url);

  canonical_url() = default;
  std::string_view part(std::size_t from, std::size_t to) const noexcept {
    return std::string_view(text_).substr(from, to - from);
  }

  std::string text_;
  std::size_t host_ = 0;  // where each begins in text_
  std::size_t path_ = 0;
  std::size_t query_ = 0;
  bool has_address_ = false;
};

/// The canonical form of a URL. Steps, in this order:
/// - Removed: bytes up to 0x20 at both ends, TAB, CR and LF anywhere, and everything from the first
///   `#`. Userinfo is removed before and after the next step.
/// - %XX becomes its byte, until none is left. The byte can be a delimiter: `%2f` ends a host.
/// - Without `scheme://` the text begins with the host (`www.a.com`, `a.com:80/x`), and the scheme
///   is http. A host without a dot needs a scheme if it has a port. `localhost:80` is refused,
///   since it looks like `tel:80`.
/// - Host name: dots at both ends are removed, and several dots in a row become one. Letters become
///   lower case. A label with UTF-8 beyond ASCII becomes Punycode (UTS #46, non-transitional, by
///   libidn2); a label that cannot be converted stays unchanged.
/// - IPv4 address: one to four parts, each decimal, octal (0) or hexadecimal (0x), become four
///   decimal ones, as inet_aton() reads them. As in Google's client, a part with too many bytes is
///   cut to its lowest bytes, and any text may follow four decimal parts and a space, up to 15
///   bytes in all.
/// - IPv6 address in brackets: becomes the text of RFC 5952. An address that holds an IPv4 address
///   (::ffff:0:0/96, 64:ff9b::/96) becomes that IPv4 address.
/// - Port: removed.
/// - Path: an empty path becomes `/`. `/./` and `/../` are resolved. Then several slashes in a row
///   become one. The query is not changed by this step.
/// - Bytes up to 0x20, bytes from 0x7f, `#` and `%` become %XX in upper-case digits.
///
/// The form is a fixed point: canonicalise(canonicalise(x)) is canonicalise(x). A backslash is an
/// ordinary byte, although browsers read it as a slash.
///
/// Failure     invalid_argument, with a sentence, in these cases only: a text of spaces; no host,
///             as in `http://`, `/path`, `mailto:x`; a host of more than 255 bytes before escaping;
///             a port that is not a number up to 65535; brackets without an IPv6 address.
/// Cost        O(url.size()) for any bytes, without recursion: nested escapes (%25252541) cost no
///             more than others. The length is not limited.
result<canonical_url> canonicalise(std::string_view url);

/// Up to 30 expressions, in an array of fixed size. Views into the canonical URL's text.
class expression_list {
 public:
  static constexpr std::size_t max_hosts = 5;
  static constexpr std::size_t max_paths = 6;

  const std::string_view* begin() const noexcept { return items_.data(); }
  const std::string_view* end() const noexcept { return items_.data() + size_; }
  std::size_t size() const noexcept { return size_; }
  std::string_view operator[](std::size_t i) const noexcept { return items_[i]; }

 private:
  friend expression_list url_expressions(const canonical_url& url) noexcept;

  std::array<std::string_view, max_hosts * max_paths> items_;
  std::size_t size_ = 0;
};

/// The expressions under which a list may hold this URL, in the published order, each once. They
/// are every host of the first group below with every path of the second.
/// - Hosts: the exact host. For a name, also its last five, four, three and two components.
/// - Paths: the path with the query, the path without it, `/`, and the next three directories on
///   the path, each with its final slash.
///
/// Unlike v5, the list of public suffixes is not used. `co.uk` is thus queried too, but no list has
/// such an expression.
///
/// Refers to `url`, which must outlive the result. Allocates nothing: an expression is a substring
/// of the canonical text, since its host is a suffix of the URL's host and its path a prefix of the
/// URL's path.
expression_list url_expressions(const canonical_url& url) noexcept;
expression_list url_expressions(canonical_url&&) = delete;

}  // namespace bloomset::keys

#pragma GCC visibility pop
