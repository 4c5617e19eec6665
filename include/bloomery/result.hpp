#pragma once

/// The return type of calls that can fail for reasons outside the program: files, parameters,
/// requests.

#include <cstdint>
#include <string>
#include <tl/expected.hpp>
#include <type_traits>
#include <utility>

namespace bloomery {

/// The class of a failure, for programs. The sentence beside it is for people.
enum class errc : std::uint8_t {
  invalid_argument,  ///< a parameter is out of its range, or parameters contradict each other
  not_found,         ///< the file does not exist
  exists,            ///< the file exists and the caller asked not to replace it
  corrupt,           ///< the bytes do not match their checksum or their own lengths
  unsupported,       ///< a newer version, an unknown kind, or an ability that this kind lacks
  incompatible,      ///< two filters that cannot be combined
  full,              ///< no room for the key; nothing has changed
  io,                ///< the operating system refused a read or a write
  out_of_memory,     ///< there was no memory for the filter
};

/// A failure: its class, and one sentence that says what was wrong, where, and what to do.
struct failure {
  errc code;
  std::string message;
  int system_error = 0;  ///< errno if the operating system refused, else 0
};

/// A value or a failure. It is a tl::expected that the compiler warns about if the caller drops it.
///
///     if (auto f = bloomery::open("seen.bloom")) use(*f); else report(f.error());
template <class T>
class [[nodiscard]] result : public tl::expected<T, failure> {
  using base = tl::expected<T, failure>;

 public:
  using base::base;
  /// The result of tl::expected's own operations (map, and_then).
  result(base from) : base(std::move(from)) {}  // NOLINT(google-explicit-constructor)

  result() = default;
  /// Without this, copying a non-const result<bool> would convert it to bool first.
  result(result&) = default;
  result(const result&) = default;
  result(result&&) = default;
  result& operator=(const result&) = default;
  result& operator=(result&&) = default;
  ~result() = default;
};

}  // namespace bloomery

/// Lets and_then() take functions that return a result.
template <class T>
struct tl::detail::is_expected_impl<bloomery::result<T>> : std::true_type {};

namespace bloomery {

/// Makes a failed result of any type: `return fail(errc::io, "...")`.
[[nodiscard]] inline tl::unexpected<failure> fail(errc code, std::string message) {
  return tl::unexpected<failure>(failure{code, std::move(message)});
}

/// Passes a failure on as a failed result of another type.
[[nodiscard]] inline tl::unexpected<failure> fail(failure why) {
  return tl::unexpected<failure>(std::move(why));
}

}  // namespace bloomery
