#include "remote/connection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bloomset/plan/units.hpp>
#include <optional>
#include <utility>

#if defined(BLOOMSET_CURL)
#include <curl/curl.h>
#include <dlfcn.h>

#include <chrono>
#include <cstdlib>
#include <thread>
#endif

namespace bloomset::cli {

#if defined(BLOOMSET_CURL)

namespace {

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

}  // namespace

/// The libcurl handle of a URL's requests.
class connection::state {
 public:
  state(CURL* handle, std::string url, const transfer_limits& limits)
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

  bool is_restricted() const noexcept { return is_restricted_; }
  const std::string& name() const noexcept { return name_; }
  std::uint64_t received() const noexcept { return received_; }

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
      if (!transient || tries >= max_tries) {
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
    state* self;
  };

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
    state& self = *made.self;
    // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): there is a handle, so it is loaded.
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

result<connection> connection::make(const std::string& url, const transfer_limits& limits) {
  const curl_library& curl = curl_library::loaded();
  CURL* const handle = curl.ready ? curl.easy_init() : nullptr;
  if (handle == nullptr) {
    return fail(errc::unsupported, shown_url(url) +
                                       ": reading from a URL needs libcurl.so.4, which could not "
                                       "be loaded; install libcurl, or download the file");
  }
  connection made(std::make_unique<state>(handle, url, limits));
  if (!made.state_->is_restricted()) {
    return made.named_failure(
        fail(errc::unsupported,
             "the installed libcurl is older than 7.85; install a newer one, or download the "
             "file"));
  }
  return made;
}

#else

class connection::state {
 public:
  const std::string& name() const noexcept { return name_; }
  static std::uint64_t received() noexcept { return 0; }
  result<answer> get(const std::function<std::string()>& /*range*/, bool (* /*accepts*/)(long),
                     const body_sink& /*use*/) const {
    return without_curl(name_);
  }
  failure named_failure(failure why) const { return why; }
  static failure without_curl(const std::string& url) {
    return fail(errc::unsupported,
                shown_url(url) +
                    ": this bloomset was built without libcurl, so it reads no URLs; download the "
                    "file first");
  }

 private:
  std::string name_;
};

result<connection> connection::make(const std::string& url, const transfer_limits& /*limits*/) {
  return state::without_curl(url);
}

#endif

connection::connection(std::unique_ptr<state> made) noexcept : state_(std::move(made)) {}
connection::connection(connection&&) noexcept = default;
connection& connection::operator=(connection&&) noexcept = default;
connection::~connection() = default;

const std::string& connection::name() const noexcept {
  return state_->name();
}
std::uint64_t connection::received() const noexcept {
  return state_->received();
}
result<answer> connection::get(const std::function<std::string()>& range,
                               bool (*accepts)(long status), const body_sink& use) {
  return state_->get(range, accepts, use);
}
failure connection::named_failure(failure why) const {
  return state_->named_failure(std::move(why));
}

}  // namespace bloomset::cli
