#pragma once

/// The return type of calls that can fail for reasons outside the program: files, parameters,
/// requests.

#include <bloomset/detail/core/language.hpp>

#include <cassert>
#include <concepts>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace bloomset {

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
  errc code{};
  std::string message;
  int system_error = 0;  ///< errno if the operating system refused, else 0
};

/// Makes a failure: `return fail(errc::io, "...")`. A failure converts to a result of any type.
[[nodiscard]] inline failure fail(errc code, std::string message) {
  return {code, std::move(message)};
}
/// Passes a failure on: `return fail(other.error())`.
[[nodiscard]] inline failure fail(failure why) {
  return why;
}

/// Thrown by result::value() if there is no value.
class bad_result_access : public std::exception {
 public:
  explicit bad_result_access(failure why) noexcept : why_(std::move(why)) {}
  const char* what() const noexcept override { return why_.message.c_str(); }
  const failure& error() const noexcept { return why_; }

 private:
  failure why_;
};

namespace detail {

/// Throws bad_result_access. It is compiled in the library, because a program may be compiled with
/// -fno-exceptions.
[[noreturn]] void throw_bad_access(const failure& why);

}  // namespace detail

/// A value or a failure, with the interface of C++23's std::expected. The compiler warns about a
/// result that the caller drops.
///
///     if (auto f = bloomset::open("seen.bloom")) use(*f); else report(f.error());
template <class T>
class [[nodiscard]] result {
 public:
  using value_type = T;
  using error_type = failure;

  result()
    requires std::default_initializable<T>
      : value_(std::in_place) {}
  // NOLINTBEGIN(google-explicit-constructor): `return value;` and `return fail(...);`
  template <class U = T>
    requires std::convertible_to<U, T> && (!std::same_as<std::remove_cvref_t<U>, result>)
  result(U&& value) : value_(std::in_place, std::forward<U>(value)) {}
  result(failure why) : failure_(std::move(why)) {}
  // NOLINTEND(google-explicit-constructor)

  bool has_value() const noexcept { return value_.has_value(); }
  explicit operator bool() const noexcept { return has_value(); }

  /// The value. Precondition: there is one.
  T& operator*() & noexcept { return *value_; }
  const T& operator*() const& noexcept { return *value_; }
  T&& operator*() && noexcept { return *std::move(value_); }
  T* operator->() noexcept { return &*value_; }
  const T* operator->() const noexcept { return &*value_; }

  /// The value. Throws bad_result_access if there is none.
  T& value() & {
    expect_value();
    return *value_;
  }
  const T& value() const& {
    expect_value();
    return *value_;
  }
  T&& value() && {
    expect_value();
    return *std::move(value_);
  }

  /// The value, or another if there is none.
  template <class U>
  T value_or(U&& other) const& {
    return value_.value_or(std::forward<U>(other));
  }
  /// The value, moved out, or another if there is none.
  template <class U>
  T value_or(U&& other) && {
    return std::move(value_).value_or(std::forward<U>(other));
  }

  /// The failure. Precondition: there is no value.
  failure& error() noexcept {
    assert(!has_value());
    return failure_;
  }
  const failure& error() const noexcept {
    assert(!has_value());
    return failure_;
  }

 private:
  void expect_value() const {
    if (!has_value()) detail::throw_bad_access(failure_);
  }

  std::optional<T> value_;
  failure failure_;
};

/// Success or a failure.
template <>
class [[nodiscard]] result<void> {
 public:
  using value_type = void;
  using error_type = failure;

  result() noexcept = default;
  /// A result without success.
  // NOLINTNEXTLINE(google-explicit-constructor): `return fail(...);`
  result(failure why) noexcept : failure_(std::move(why)) {}

  bool has_value() const noexcept { return !failure_; }
  explicit operator bool() const noexcept { return has_value(); }

  /// Throws bad_result_access if there is a failure.
  void value() const {
    if (failure_) detail::throw_bad_access(*failure_);
  }

  /// The failure. Precondition: there is one.
  failure& error() noexcept { return *failure_; }
  const failure& error() const noexcept { return *failure_; }

 private:
  std::optional<failure> failure_;
};

}  // namespace bloomset
