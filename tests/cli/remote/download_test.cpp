// Downloads that resume, from a server that sends what the test tells it to.

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "remote/download.hpp"

namespace bloomset::cli {
namespace {

/// A server that gives one answer to each connection, and then closes it.
class scripted_server {
 public:
  explicit scripted_server(std::vector<std::string> answers)
      : answers_(std::move(answers)), socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(socket_, any, size), 0);
    EXPECT_EQ(::listen(socket_, 8), 0);
    EXPECT_EQ(::getsockname(socket_, any, &size), 0);
    url_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "/file";
    thread_ = std::thread([this] { serve(); });
  }
  scripted_server(const scripted_server&) = delete;
  scripted_server& operator=(const scripted_server&) = delete;
  ~scripted_server() {
    ::shutdown(socket_, SHUT_RDWR);
    thread_.join();
    ::close(socket_);
  }

  const std::string& url() const noexcept { return url_; }
  /// The Range headers of the requests so far.
  const std::vector<std::string>& ranges() const noexcept { return ranges_; }

 private:
  void serve() {
    for (const std::string& answer : answers_) {
      const int connection = ::accept(socket_, nullptr, nullptr);
      if (connection < 0) return;
      std::string request;
      std::array<char, 4096> some;
      while (request.find("\r\n\r\n") == std::string::npos) {
        const ssize_t got = ::read(connection, some.data(), some.size());
        if (got <= 0) break;
        request.append(some.data(), static_cast<std::size_t>(got));
      }
      const std::size_t at = request.find("Range: ");
      ranges_.push_back(at == std::string::npos
                            ? std::string()
                            : request.substr(at + 7, request.find("\r\n", at) - at - 7));
      EXPECT_EQ(::send(connection, answer.data(), answer.size(), MSG_NOSIGNAL),
                static_cast<ssize_t>(answer.size()));
      ::close(connection);
    }
  }

  std::vector<std::string> answers_;
  std::vector<std::string> ranges_;
  int socket_;
  std::string url_;
  std::thread thread_;
};

/// An answer with a Content-Length of `length` and a body that may be shorter.
std::string answer(const std::string& status, const std::string& headers, std::size_t length,
                   const std::string& body) {
  return "HTTP/1.1 " + status +
         "\r\nConnection: close\r\nContent-Length: " + std::to_string(length) + "\r\n" + headers +
         "\r\n" + body;
}
std::string part(std::size_t begin, std::size_t size, const std::string& etag) {
  return "Content-Range: bytes " + std::to_string(begin) + "-" + std::to_string(size - 1) + "/" +
         std::to_string(size) + "\r\nETag: " + etag + "\r\n";
}

result<file_version> fetch(const scripted_server& server, std::string& into,
                           const std::optional<file_version>& expected = {}) {
  return download(server.url(), into.size(), expected, {.max_bytes = 1000, .timeout = 10},
                  [&](std::span<const std::byte> bytes) {
                    into.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
                    return result<void>();
                  });
}

TEST(downloads, a_broken_transfer_goes_on_where_it_ended) {
  const scripted_server server({answer("200 OK", "ETag: \"a\"\r\n", 10, "01234"),
                                answer("206 Part", part(5, 10, "\"a\""), 5, "567"),
                                answer("206 Part", part(8, 10, "\"a\""), 2, "89")});
  std::string file;
  const auto done = fetch(server, file);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(file, "0123456789");
  EXPECT_EQ(done->size, 10U);
  EXPECT_EQ(done->etag, "\"a\"");
  EXPECT_EQ(server.ranges(), (std::vector<std::string>{"", "bytes=5-", "bytes=8-"}));
}

TEST(downloads, a_file_that_changes_meanwhile_is_refused) {
  const scripted_server server({answer("200 OK", "ETag: \"a\"\r\n", 10, "01234"),
                                answer("206 Part", part(5, 10, "\"b\""), 5, "56789")});
  std::string file;
  const auto done = fetch(server, file);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, errc::incompatible);
  EXPECT_EQ(file, "01234");
}

TEST(downloads, bytes_of_an_earlier_download_are_kept) {
  const file_version version{10, "\"a\"", ""};
  for (const char* etag : {"\"a\"", "\"b\""}) {
    const scripted_server server({answer("206 Part", part(5, 10, etag), 5, "56789")});
    std::string file = "01234";
    const auto done = fetch(server, file, version);
    EXPECT_EQ(done.has_value(), etag == version.etag);
    EXPECT_EQ(file, done ? "0123456789" : "01234");
  }
}

TEST(downloads, a_server_without_ranges_sends_all_again) {
  const scripted_server server(
      {answer("200 OK", "", 10, "0123456"), answer("200 OK", "", 10, "0123456789")});
  std::string file = "01";
  const auto done = fetch(server, file);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(file, "0123456789");
}

TEST(downloads, a_whole_file_needs_no_further_byte) {
  const scripted_server whole({answer("416 No", "Content-Range: bytes */10\r\n", 0, "")});
  std::string file = "0123456789";
  EXPECT_TRUE(fetch(whole, file));
  const scripted_server shorter({answer("416 No", "Content-Range: bytes */5\r\n", 0, "")});
  EXPECT_FALSE(fetch(shorter, file));
  EXPECT_EQ(file, "0123456789");
}

TEST(downloads, a_file_beyond_the_limit_is_refused_at_once) {
  const scripted_server server({answer("200 OK", "", 1001, std::string(1001, 'x'))});
  std::string file;
  EXPECT_FALSE(fetch(server, file));
  EXPECT_EQ(file, "");
}

TEST(downloads, a_wrong_range_is_refused) {
  const scripted_server server({answer("206 Part", part(4, 10, "\"a\""), 6, "456789")});
  std::string file = "01234";
  EXPECT_FALSE(fetch(server, file));
  EXPECT_EQ(file, "01234");
}

}  // namespace
}  // namespace bloomset::cli
