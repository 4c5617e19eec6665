#include "remote/http.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bloomset/plan/units.hpp>

#include "remote/byteranges.hpp"

#if defined(BLOOMSET_CURL)
#include <curl/curl.h>
#include <dlfcn.h>

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <utility>
#endif

namespace bloomset::cli {

bool is_url(std::string_view name) noexcept {
  return name.starts_with("https://") || name.starts_with("http://");
}

std::string shown_url(std::string_view url) {
  const std::size_t host = url.find("://");
  if (host == std::string_view::npos) return std::string(url);
  const std::size_t begin = host + 3;
  const std::size_t end = std::min(url.find_first_of("/?#", begin), url.size());
  const std::size_t at = url.substr(0, end).rfind('@');
  if (at == std::string_view::npos || at < begin) return std::string(url);
  return std::string(url.substr(0, begin)).append(url.substr(at + 1));
}

bool file_version::agrees_with(const file_version& other) const noexcept {
  if (size != other.size) return false;
  if (!etag.empty() && !other.etag.empty()) return etag == other.etag;
  return modified.empty() || other.modified.empty() || modified == other.modified;
}

namespace {

// Between two ranges, so many bytes cost less than the headers of a part of an answer.
constexpr std::uint64_t near_bytes = 128;
constexpr std::uint64_t answer_bytes = 256;  // of a part's headers, generously

}  // namespace

std::uint64_t http_file::cost_of(std::span<const byte_interval> ranges) noexcept {
  std::uint64_t cost = 0;
  for (const byte_interval& each : ranges) cost += each.size() + answer_bytes;
  return cost;
}

#if defined(BLOOMSET_CURL)

namespace {

constexpr std::size_t max_parts = 64;
constexpr std::uint64_t max_parted_bytes = std::uint64_t{1} << 20;  // in memory at once
constexpr int max_tries = 4;

/// The functions of libcurl, which is loaded when a URL is read: it and its thirty libraries would
/// double the time that every start of the program takes.
struct curl_library {
  decltype(&::curl_global_init) global_init = nullptr;
  decltype(&::curl_easy_init) easy_init = nullptr;
  decltype(&::curl_easy_cleanup) easy_cleanup = nullptr;
  decltype(&::curl_easy_setopt) easy_setopt = nullptr;
  decltype(&::curl_easy_perform) easy_perform = nullptr;
  decltype(&::curl_easy_getinfo) easy_getinfo = nullptr;
  decltype(&::curl_easy_strerror) easy_strerror = nullptr;
  decltype(&::curl_slist_append) slist_append = nullptr;
  decltype(&::curl_slist_free_all) slist_free_all = nullptr;
  bool ready = false;

  static const curl_library& loaded() {
    static const curl_library library;
    return library;
  }

 private:
  curl_library() noexcept {
    void* from = ::dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    if (from == nullptr) from = ::dlopen("libcurl.4.dylib", RTLD_NOW | RTLD_LOCAL);
    ready = from != nullptr && find(from, "curl_global_init", global_init) &&
            find(from, "curl_easy_init", easy_init) &&
            find(from, "curl_easy_cleanup", easy_cleanup) &&
            find(from, "curl_easy_setopt", easy_setopt) &&
            find(from, "curl_easy_perform", easy_perform) &&
            find(from, "curl_easy_getinfo", easy_getinfo) &&
            find(from, "curl_easy_strerror", easy_strerror) &&
            find(from, "curl_slist_append", slist_append) &&
            find(from, "curl_slist_free_all", slist_free_all) &&
            global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
  }

  template <class Function>
  static bool find(void* from, const char* name, Function& function) noexcept {
    function = reinterpret_cast<Function>(::dlsym(from, name));
    return function != nullptr;
  }
};

/// The headers of an answer.
struct answer {
  long status = 0;
  std::optional<std::uint64_t> length;
  std::string type;
  std::string range;
  std::string etag;
  std::string modified;
  std::string encoding;

  /// Reads a header line. A status line begins a new answer: redirects have answers, too.
  void take(std::string_view line);
};

std::string_view trimmed(std::string_view text) noexcept {
  const std::size_t begin = std::min(text.find_first_not_of(" \t\r\n"), text.size());
  text.remove_prefix(begin);
  return text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
}

void answer::take(std::string_view line) {
  if (line.starts_with("HTTP/")) {
    *this = {};
    return;
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return;
  std::string name(line.substr(0, colon));
  std::ranges::transform(name, name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  const std::string value(trimmed(line.substr(colon + 1)));
  if (name == "content-length") {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error == std::errc() && end == value.data() + value.size()) length = number;
  } else if (name == "content-type") {
    type = value;
  } else if (name == "content-range") {
    range = value;
  } else if (name == "etag") {
    etag = value;
  } else if (name == "last-modified") {
    modified = value;
  } else if (name == "content-encoding") {
    encoding = value;
  }
}

/// Whether the same request may succeed in a moment.
bool passes_by(CURLcode code) noexcept {
  constexpr std::array transient = {
      CURLE_COULDNT_CONNECT, CURLE_OPERATION_TIMEDOUT, CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE,
      CURLE_RECV_ERROR,      CURLE_SEND_ERROR,         CURLE_HTTP2,       CURLE_HTTP2_STREAM};
  return std::ranges::find(transient, code) != transient.end();
}
bool passes_by(long status) noexcept {
  constexpr std::array<long, 6> transient = {408, 429, 500, 502, 503, 504};
  return std::ranges::find(transient, status) != transient.end();
}

failure failure_of_status(long status) {
  if (status == 404 || status == 410) {
    return fail(errc::not_found, fmt::format("the server has no such file (status {}); check the "
                                             "address",
                                             status));
  }
  if (status == 401 || status == 403) {
    return fail(errc::io, fmt::format("the server refuses access (status {}); check the address, "
                                      "and whether it needs a password",
                                      status));
  }
  if (status == 416) {
    return fail(errc::corrupt,
                "the server has no bytes of the file to send (status 416); it may be empty");
  }
  return fail(errc::io, fmt::format("the server answers with status {}; check the address, or try "
                                    "again later",
                                    status));
}

/// The libcurl handle of a file's requests.
class connection {
 public:
  /// Receives the next bytes of a body whose answer has this status. A failure is final.
  using body_sink = std::function<result<void>(const answer&, std::span<const std::byte>)>;

  static result<connection> make(const std::string& url, const transfer_limits& limits) {
    const curl_library& curl = curl_library::loaded();
    CURL* const handle = curl.ready ? curl.easy_init() : nullptr;
    if (handle == nullptr) {
      return fail(errc::unsupported, shown_url(url) +
                                         ": reading from a URL needs libcurl.so.4, "
                                         "which could not be loaded; install libcurl, "
                                         "or download the file");
    }
    connection made(handle, url, limits);
    if (!made.is_restricted_) {
      return made.named_failure(
          fail(errc::unsupported,
               "the installed libcurl is older than 7.85; install a newer one, "
               "or download the file"));
    }
    return made;
  }

  const std::string& name() const noexcept { return name_; }
  std::uint64_t received() const noexcept { return received_; }

  /// Sends requests until one succeeds or fails for good. `range` is called before each and returns
  /// the value of the Range header. The answer has a status that `accepts` returns true for; `use`
  /// receives its body.
  result<answer> get(const std::function<std::string()>& range, bool (*accepts)(long status),
                     const body_sink& use) {
    for (int tries = 1;; ++tries) {
      attempt made{{}, &use, accepts, std::nullopt, this};
      const CURLcode code = send(range(), made);
      if (made.failed) return named_failure(std::move(*made.failed));
      if (code == CURLE_OK && accepts(made.head.status)) return std::move(made.head);
      // The address that a redirect led to may hold only for a while.
      if (code == CURLE_OK && made.head.status >= 401 && made.head.status <= 410 &&
          std::exchange(address_, url_) != url_) {
        continue;
      }
      const bool transient = code == CURLE_OK ? passes_by(made.head.status) : passes_by(code);
      if (!transient || tries == max_tries) {
        auto why = code == CURLE_OK ? failure_of_status(made.head.status) : failure_of(code);
        if (transient) why.message += fmt::format(" (tried {} times)", max_tries);
        return named_failure(std::move(why));
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(125 << tries));
    }
  }

  failure named_failure(failure why) const {
    why.message.insert(0, name_ + ": ");
    return why;
  }

 private:
  struct closer {
    void operator()(CURL* handle) const noexcept { curl_library::loaded().easy_cleanup(handle); }
  };

  struct attempt {
    answer head;
    const body_sink* use;
    bool (*accepts)(long status);
    std::optional<failure> failed;
    connection* self;
  };

  connection(CURL* handle, std::string url, const transfer_limits& limits)
      : handle_(handle),
        url_(std::move(url)),
        address_(url_),
        name_(shown_url(url_)),
        max_bytes_(limits.max_bytes),
        timeout_(limits.timeout) {
    is_restricted_ =
        set(CURLOPT_PROTOCOLS_STR, "http,https") &&
        set(CURLOPT_REDIR_PROTOCOLS_STR, url_.starts_with("https:") ? "https" : "http,https");
    set(CURLOPT_FOLLOWLOCATION, 1L);
    set(CURLOPT_MAXREDIRS, 5L);
    set(CURLOPT_CONNECTTIMEOUT, static_cast<long>(limits.timeout));
    set(CURLOPT_LOW_SPEED_LIMIT, 256L);
    set(CURLOPT_LOW_SPEED_TIME, static_cast<long>(limits.timeout));
    set(CURLOPT_USERAGENT, "bloomset");
    // The files of curl's own command line. libcurl alone does not read them.
    for (const char* const variable : {"CURL_CA_BUNDLE", "SSL_CERT_FILE"}) {
      const char* const file = std::getenv(variable);
      if (file == nullptr || *file == '\0') continue;
      set(CURLOPT_CAINFO, file);
      break;
    }
    set(CURLOPT_HEADERFUNCTION, &take_header);
    set(CURLOPT_WRITEFUNCTION, &take_body);
    set(CURLOPT_ERRORBUFFER, error_->data());
  }

  template <class Value>
  bool set(CURLoption option, Value value) noexcept {
    return curl_library::loaded().easy_setopt(handle_.get(), option, value) == CURLE_OK;
  }

  CURLcode send(const std::string& range, attempt& made) {
    const curl_library& curl = curl_library::loaded();
    curl_slist* headers = curl.slist_append(nullptr, "Accept-Encoding: identity");
    if (!range.empty()) headers = curl.slist_append(headers, ("Range: " + range).c_str());
    set(CURLOPT_HTTPHEADER, headers);
    set(CURLOPT_URL, address_.c_str());
    set(CURLOPT_HEADERDATA, &made);
    set(CURLOPT_WRITEDATA, &made);
    error_->fill('\0');
    const CURLcode code = curl.easy_perform(handle_.get());
    curl.slist_free_all(headers);
    curl.easy_getinfo(handle_.get(), CURLINFO_RESPONSE_CODE, &made.head.status);
    const char* address = nullptr;
    curl.easy_getinfo(handle_.get(), CURLINFO_EFFECTIVE_URL, &address);
    if (code == CURLE_OK && made.head.status < 300 && address != nullptr) address_ = address;
    return code;
  }

  failure failure_of(CURLcode code) const {
    if (code == CURLE_OPERATION_TIMEDOUT) {
      return fail(errc::io, fmt::format("the server does not answer within {} s, or too slowly; "
                                        "try again later, or give a longer --timeout",
                                        timeout_));
    }
    const std::string_view detail = (*error_)[0] != '\0'
                                        ? std::string_view(error_->data())
                                        : curl_library::loaded().easy_strerror(code);
    return fail(errc::io, fmt::format("the transfer failed: {}; check the address, or try again "
                                      "later",
                                      trimmed(detail)));
  }

  static failure too_many_bytes(std::uint64_t max_bytes) {
    return fail(errc::unsupported,
                fmt::format("the answers have more than the {} of --max-bytes; raise it, or "
                            "download the file and use it from there",
                            format_bytes(max_bytes)));
  }

  static std::size_t take_header(char* at, std::size_t one, std::size_t size, void* user) {
    static_cast<attempt*>(user)->head.take({at, one * size});
    return one * size;
  }

  static std::size_t take_body(char* at, std::size_t one, std::size_t size, void* user) {
    attempt& made = *static_cast<attempt*>(user);
    connection& self = *made.self;
    curl_library::loaded().easy_getinfo(self.handle_.get(), CURLINFO_RESPONSE_CODE,
                                        &made.head.status);
    const std::span<const char> bytes(at, one * size);
    if (!made.accepts(made.head.status)) return bytes.size();  // the text of an error
    self.received_ += bytes.size();
    if (!made.head.encoding.empty() && made.head.encoding != "identity") {
      made.failed = fail(errc::unsupported,
                         fmt::format("the server sends the file packed as {}, so that ranges are "
                                     "not those of the filter; download it",
                                     made.head.encoding));
    } else if (auto ok = (*made.use)(made.head, std::as_bytes(bytes)); !ok) {
      made.failed = std::move(ok.error());
    } else if (self.received_ > self.max_bytes_) {
      made.failed = too_many_bytes(self.max_bytes_);
    } else {
      return bytes.size();
    }
    return 0;  // ends the transfer
  }

  std::unique_ptr<CURL, closer> handle_;
  std::string url_;
  std::string address_;  // after redirects
  std::string name_;
  std::uint64_t max_bytes_;
  unsigned timeout_;
  std::uint64_t received_ = 0;
  bool is_restricted_ = false;  // to http and https
  std::unique_ptr<std::array<char, CURL_ERROR_SIZE>> error_ =
      std::make_unique<std::array<char, CURL_ERROR_SIZE>>();
};

bool is_part_or_whole(long status) noexcept {
  return status == 206 || status == 200;
}
bool is_any_answer(long status) noexcept {
  return status == 206 || status == 200 || status == 400 || status == 416;
}

file_version version_of(const answer& head, std::uint64_t size) {
  return {size, head.etag, head.modified};
}

failure changed() {
  return fail(errc::incompatible,
              "the file on the server has changed meanwhile; run the command again");
}

failure wrong_range(const answer& head, std::string_view wanted) {
  return fail(
      errc::corrupt,
      fmt::format("the server sent '{}' where {} were requested; the server or a proxy does "
                  "not know ranges, so download the file",
                  head.range.empty() ? "no Content-Range" : head.range, wanted));
}

/// Checks that an answer is a part of the same file that begins where it was requested to and ends
/// there at the latest.
result<content_range> part_of(const answer& head, byte_interval wanted, const file_version* known) {
  const auto range = parse_content_range(head.range);
  const auto text = range_header(std::span(&wanted, 1));
  if (!range || range->bytes.begin != wanted.begin || range->bytes.end > wanted.end) {
    return wrong_range(head, text);
  }
  if (known != nullptr && !known->agrees_with(version_of(head, range->size))) return changed();
  if (range->bytes.end != std::min(wanted.end, range->size)) return wrong_range(head, text);
  return *range;
}

failure more_than_told() {
  return fail(errc::corrupt,
              "the server sent more bytes than it had announced; download the file another way");
}

failure less_than_told() {
  return fail(errc::corrupt,
              "the server sent fewer bytes than it had announced; download the file another way");
}

}  // namespace

class http_file::state {
 public:
  state(connection made, const transfer_limits& limits)
      : connection_(std::move(made)), limits_(limits) {}

  result<void> begin(std::uint64_t first) {
    const byte_interval wanted{0, first};
    bool whole = false;
    const auto range = [&] {
      beginning_.clear();
      return range_header(std::span(&wanted, 1));
    };
    const auto head = connection_.get(
        range, is_part_or_whole,
        [&](const answer& answered, std::span<const std::byte> bytes) -> result<void> {
          whole = answered.status == 200;
          if (whole && answered.length.value_or(0) > limits_.max_bytes) return too_large();
          if (!whole && bytes.size() > first - beginning_.size()) return more_than_told();
          beginning_.insert(beginning_.end(), bytes.begin(), bytes.end());
          return {};
        });
    if (!head) return fail(head.error());
    if (head->status == 200) {
      version_ = version_of(*head, beginning_.size());
      ranges_ = false;
      return {};
    }
    const auto part = part_of(*head, wanted, nullptr);
    if (!part) return connection_.named_failure(part.error());
    if (beginning_.size() != part->bytes.size()) {
      return connection_.named_failure(less_than_told());
    }
    version_ = version_of(*head, part->size);
    return {};
  }

  result<void> read(std::span<const byte_interval> ranges, const part_sink& use) {
    const auto joined = join_near(ranges, near_bytes);
    for (std::size_t at = 0; at < joined.size();) {
      std::size_t end = at;
      std::uint64_t bytes = 0;
      while (end < joined.size() && end - at < max_parts &&
             (end == at || bytes + joined[end].size() <= max_parted_bytes)) {
        bytes += joined[end++].size();
      }
      const auto now = std::span(joined).subspan(at, end - at);
      // The headers of parts count, too, so that the limit is not exceeded by a whole answer.
      const std::uint64_t cost = now.size() > 1 && parts_ ? cost_of(now) : bytes;
      if (connection_.received() + cost > limits_.max_bytes) {
        return connection_.named_failure(
            fail(errc::unsupported,
                 fmt::format("the answers need more than the {} of --max-bytes; raise it, or "
                             "download the file and use it from there",
                             format_bytes(limits_.max_bytes))));
      }
      if (now.size() > 1 && parts_) {
        const auto done = read_parts(now, use);
        if (!done) return fail(done.error());
        parts_ = *done;
        if (!parts_) continue;
      } else {
        for (const byte_interval& each : now) {
          if (auto ok = read_one(each, use); !ok) return ok;
        }
      }
      at = end;
    }
    return {};
  }

  std::uint64_t bytes_left() const noexcept {
    return limits_.max_bytes - std::min(limits_.max_bytes, connection_.received());
  }

  connection connection_;
  transfer_limits limits_;
  file_version version_;
  bool ranges_ = true;
  std::vector<std::byte> beginning_;

 private:
  failure too_large() const {
    return fail(errc::unsupported,
                fmt::format("the server sends only the whole file, which has more than the {} of "
                            "--max-bytes; raise it, or download the file",
                            format_bytes(limits_.max_bytes)));
  }

  /// One range, in pieces. After a transient failure the rest is requested.
  result<void> read_one(byte_interval wanted, const part_sink& use) {
    byte_interval requested;
    const auto head = connection_.get(
        [&] {
          requested = wanted;
          return range_header(std::span(&requested, 1));
        },
        is_part_or_whole,
        [&](const answer& answered, std::span<const std::byte> bytes) -> result<void> {
          if (answered.status != 206) return whole_or_changed(answered);
          if (auto ok = part_of(answered, requested, &version_); !ok) {
            return fail(std::move(ok.error()));
          }
          if (bytes.size() > wanted.size()) return more_than_told();
          use(wanted.begin, bytes);
          wanted.begin += bytes.size();
          return {};
        });
    if (!head) return fail(head.error());
    if (wanted.size() == 0) return {};
    return connection_.named_failure(less_than_told());
  }

  failure whole_or_changed(const answer& answered) const {
    const file_version now = version_of(answered, answered.length.value_or(version_.size));
    if (!version_.agrees_with(now)) return changed();
    return fail(errc::unsupported,
                "the server sent a part of the file first and the whole file later; download it");
  }

  /// Several ranges by one request. False if the server does not send them.
  result<bool> read_parts(std::span<const byte_interval> wanted, const part_sink& use) {
    std::uint64_t most = 1024;
    for (const byte_interval& each : wanted) most += each.size() + 1024;
    std::vector<std::byte> body;
    bool refused = false;
    const auto head = connection_.get(
        [&] {
          body.clear();
          return range_header(wanted);
        },
        is_any_answer,
        [&](const answer& answered, std::span<const std::byte> bytes) -> result<void> {
          refused = answered.status != 206;
          if (refused) return fail(errc::unsupported, "");  // ends the transfer of the whole file
          if (body.size() + bytes.size() > most) return more_than_told();
          body.insert(body.end(), bytes.begin(), bytes.end());
          return {};
        });
    if (refused) return false;
    if (!head) return fail(head.error());
    if (head->status != 206) return false;
    const std::string boundary = multipart_boundary(head->type);
    // A server may send one range of several, or one that has them all.
    if (boundary.empty()) return false;
    std::vector<bool> found(wanted.size());
    const auto take = [&](const content_range& part,
                          std::span<const std::byte> bytes) -> result<void> {
      if (!version_.agrees_with(version_of(*head, part.size))) return changed();
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        if (wanted[i].begin < part.bytes.begin || wanted[i].end > part.bytes.end) continue;
        found[i] = true;
        const auto offset = static_cast<std::size_t>(wanted[i].begin - part.bytes.begin);
        use(wanted[i].begin, bytes.subspan(offset, static_cast<std::size_t>(wanted[i].size())));
      }
      return {};
    };
    if (auto ok = read_multipart(body, boundary, take); !ok) {
      ok.error().message += ok.error().code == errc::corrupt ? "; download the file" : "";
      return connection_.named_failure(std::move(ok.error()));
    }
    const auto lacking = std::ranges::find(found, false);
    if (lacking == found.end()) return true;
    const byte_interval first = wanted[static_cast<std::size_t>(lacking - found.begin())];
    return connection_.named_failure(
        fail(errc::corrupt, fmt::format("an answer lacks the bytes {} to {} that were requested; "
                                        "download the file",
                                        first.begin, first.end - 1)));
  }

  bool parts_ = true;  // whether the server sends several ranges at once
};

http_file::http_file(std::unique_ptr<state> made) noexcept : state_(std::move(made)) {}
http_file::http_file(http_file&&) noexcept = default;
http_file& http_file::operator=(http_file&&) noexcept = default;
http_file::~http_file() = default;

const std::string& http_file::name() const noexcept {
  return state_->connection_.name();
}
const file_version& http_file::version() const noexcept {
  return state_->version_;
}
bool http_file::has_ranges() const noexcept {
  return state_->ranges_;
}
std::span<const std::byte> http_file::beginning() const noexcept {
  return state_->beginning_;
}
std::uint64_t http_file::bytes_left() const noexcept {
  return state_->bytes_left();
}

result<http_file> http_file::open(const std::string& url, const transfer_limits& limits,
                                  std::uint64_t first) {
  auto made = connection::make(url, limits);
  if (!made) return fail(std::move(made.error()));
  auto file = std::make_unique<state>(std::move(*made), limits);
  if (auto ok = file->begin(first); !ok) return fail(std::move(ok.error()));
  return http_file(std::move(file));
}

result<void> http_file::read(std::span<const byte_interval> ranges, const part_sink& use) {
  return state_->read(ranges, use);
}

result<file_version> download(const std::string& url, std::uint64_t have,
                              const std::optional<file_version>& expected,
                              const transfer_limits& limits, const http_file::stream_sink& use) {
  auto made = connection::make(url, limits);
  if (!made) return fail(std::move(made.error()));
  std::uint64_t at = have;  // the next byte for `use`
  std::optional<file_version> version = expected;
  std::uint64_t arriving = 0;  // the offset of the next byte of this answer
  bool begun = false;          // whether a byte of this answer has arrived
  const auto range = [&] {
    begun = false;
    return at == 0 ? std::string() : fmt::format("bytes={}-", at);
  };
  const auto take = [&](const answer& head, std::span<const std::byte> bytes) -> result<void> {
    if (head.status == 416) return {};
    if (!begun) {
      const auto part = parse_content_range(head.range);
      if (head.status == 206 && (!part || part->bytes.begin != at)) {
        return wrong_range(head, fmt::format("bytes from {} on", at));
      }
      arriving = part ? part->bytes.begin : 0;
      // Without a length the size is known at the end alone.
      const std::uint64_t size = part ? part->size : head.length.value_or(0);
      if (size > limits.max_bytes) {
        return fail(errc::unsupported,
                    fmt::format("the file has {}, more than the allowed {}", format_bytes(size),
                                format_bytes(limits.max_bytes)));
      }
      const file_version now = version_of(head, size);
      if (version && size != 0 && !version->agrees_with(now)) return changed();
      if (!version || version->size == 0) version = now;
      begun = true;
    }
    // A server without ranges sends the first bytes again.
    const std::uint64_t skipped =
        at > arriving ? std::min<std::uint64_t>(at - arriving, bytes.size()) : 0;
    arriving += bytes.size();
    if (version->size != 0 && arriving > version->size) return more_than_told();
    const auto fresh = bytes.subspan(static_cast<std::size_t>(skipped));
    at += fresh.size();
    return fresh.empty() ? result<void>() : use(fresh);
  };
  const auto head = made->get(
      range, [](long status) { return status == 206 || status == 200 || status == 416; }, take);
  if (!head) return fail(head.error());
  if (head->status == 416) {
    // All bytes are there already, or the file is shorter than what is there.
    const auto size = parse_unsatisfied_range(head->range);
    const file_version now = version_of(*head, size.value_or(0));
    if (size != at || (version && !version->agrees_with(now))) {
      return made->named_failure(changed());
    }
    return now;
  }
  if (!version) version = version_of(*head, at);
  if (version->size == 0) version->size = at;
  if (at != version->size) return made->named_failure(changed());
  return *version;
}

#else

class http_file::state {
 public:
  std::string name;
  file_version version;
};

namespace {

failure without_curl(const std::string& url) {
  return fail(errc::unsupported,
              shown_url(url) +
                  ": this bloomset was built without libcurl, so it reads no URLs; download the "
                  "file first");
}

}  // namespace

http_file::http_file(std::unique_ptr<state> made) noexcept : state_(std::move(made)) {}
http_file::http_file(http_file&&) noexcept = default;
http_file& http_file::operator=(http_file&&) noexcept = default;
http_file::~http_file() = default;

const std::string& http_file::name() const noexcept {
  return state_->name;
}
const file_version& http_file::version() const noexcept {
  return state_->version;
}
bool http_file::has_ranges() const noexcept {
  return false;
}
std::span<const std::byte> http_file::beginning() const noexcept {
  return {};
}
std::uint64_t http_file::bytes_left() const noexcept {
  return 0;
}
result<http_file> http_file::open(const std::string& url, const transfer_limits&, std::uint64_t) {
  return without_curl(url);
}
result<void> http_file::read(std::span<const byte_interval>, const part_sink&) {
  return without_curl(state_->name);
}
result<file_version> download(const std::string& url, std::uint64_t,
                              const std::optional<file_version>&, const transfer_limits&,
                              const http_file::stream_sink&) {
  return without_curl(url);
}

#endif

}  // namespace bloomset::cli
