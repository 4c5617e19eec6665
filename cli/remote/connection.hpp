#pragma once

// Requests over HTTP. connection.cpp needs libcurl; without it no connection is made.

#include <bloomset/result.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "remote/answers.hpp"
#include "remote/transfer.hpp"

namespace bloomset::cli {

/// The requests for one URL. Redirects are followed, from https only to https. Not for several
/// threads at once.
class connection {
 public:
  /// Receives the next bytes of a body whose answer has this status. A failure is final.
  using body_sink = std::function<result<void>(const answer&, std::span<const std::byte>)>;

  /// Fails with unsupported if libcurl is missing or too old. Nothing is sent yet.
  static result<connection> make(const std::string& url, const transfer_limits& limits);
  connection(connection&&) noexcept;
  connection& operator=(connection&&) noexcept;
  ~connection();

  /// The URL for messages.
  const std::string& name() const noexcept;
  /// The bytes of all bodies so far.
  std::uint64_t received() const noexcept;

  /// Sends requests until one succeeds or fails for good: a failure that may pass is tried four
  /// times in two seconds. `range` is called before each and returns the value of the Range header.
  /// The answer has a status that `accepts` returns true for; `use` receives its body.
  result<answer> get(const std::function<std::string()>& range, bool (*accepts)(long status),
                     const body_sink& use);

  /// The failure with the name before it.
  failure named_failure(failure why) const;

 private:
  class state;
  explicit connection(std::unique_ptr<state> made) noexcept;

  std::unique_ptr<state> state_;
};

}  // namespace bloomset::cli
