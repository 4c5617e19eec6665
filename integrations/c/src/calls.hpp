#pragma once

// The arguments and results of every call: structures of any version, pointers, errors, keys.

#include <bloomset.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bloomset/result.hpp>
#include <cstddef>
#include <cstring>
#include <exception>
#include <initializer_list>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <utility>

namespace bloomset::c {

// The number of keys of a batch that become views at once.
inline constexpr std::size_t piece = 1024;

// Sizes of the structures in the first version. Later versions are larger.
inline constexpr std::size_t first_error =
    offsetof(bloomset_error, message) + sizeof(bloomset_error::message);
inline constexpr std::size_t first_request =
    offsetof(bloomset_request, hash) + sizeof(bloomset_request::hash);
// A larger struct_size was never set: no structure will be as large.
inline constexpr std::size_t max_struct = 4096;

inline bloomset_status status_of(errc code) noexcept {
  switch (code) {
    case errc::invalid_argument:
      return BLOOMSET_INVALID_ARGUMENT;
    case errc::not_found:
      return BLOOMSET_NOT_FOUND;
    case errc::exists:
      return BLOOMSET_EXISTS;
    case errc::corrupt:
      return BLOOMSET_CORRUPT;
    case errc::unsupported:
      return BLOOMSET_UNSUPPORTED;
    case errc::incompatible:
      return BLOOMSET_INCOMPATIBLE;
    case errc::full:
      return BLOOMSET_FULL;
    case errc::io:
      return BLOOMSET_IO;
    case errc::out_of_memory:
      break;
  }
  return BLOOMSET_OUT_OF_MEMORY;
}

inline bool has_possible_size(std::size_t size, std::size_t min) noexcept {
  return size >= min && size <= max_struct;
}

/// Checks the size of a structure, which is its first member, and returns it. Members that only the
/// caller knows must be 0.
template <class Structure>
result<std::size_t> size_of(const Structure* structure, std::size_t min, std::string_view name) {
  const std::size_t size = structure->struct_size;
  if (!has_possible_size(size, min)) {
    return fail(errc::invalid_argument,
                fmt::format("struct_size is {} in a {}, which no version has; set it to sizeof({})",
                            size, name, name));
  }
  if (size <= sizeof(Structure)) return size;
  const std::span<const std::byte> all(reinterpret_cast<const std::byte*>(structure), size);
  const auto unknown = all.subspan(sizeof(Structure));
  if (std::all_of(unknown.begin(), unknown.end(), [](std::byte b) { return b == std::byte{}; })) {
    return size;
  }
  return fail(errc::unsupported,
              fmt::format("a {} of {} bytes sets members beyond the {} bytes that this library "
                          "knows; set them to 0, or link a newer library",
                          name, size, sizeof(Structure)));
}

inline bloomset_status tell(bloomset_error* error, bloomset_status status,
                            std::string_view message) noexcept {
  if (error != nullptr) {
    error->status = status;
    const std::size_t size = std::min(message.size(), sizeof error->message - 1);
    std::copy_n(message.data(), size, error->message);
    error->message[size] = '\0';
  }
  return status;
}

/// A pointer that a call needs, and the name of its parameter.
struct needed {
  const void* pointer;
  const char* name;
};
using needed_pointers = std::initializer_list<needed>;

inline result<void> check(const bloomset_error* error, needed_pointers pointers) {
  if (error != nullptr) {
    if (const auto ok = size_of(error, first_error, "bloomset_error"); !ok) return fail(ok.error());
  }
  for (const needed& each : pointers) {
    if (each.pointer == nullptr) {
      return fail(
          errc::invalid_argument,
          fmt::format(
              "{} is NULL, but this call needs it; check the outcome of the call that made it",
              each.name));
    }
  }
  return {};
}

/// Runs the work of a call, which returns a result<void>, unless a pointer that it needs is NULL.
/// The work throws only if memory is missing.
template <class Work>
bloomset_status run(bloomset_error* error, needed_pointers pointers, Work&& work) noexcept {
  if (error != nullptr && !has_possible_size(error->struct_size, first_error)) {
    return BLOOMSET_INVALID_ARGUMENT;  // the place of its message is unknown
  }
  try {
    const result<void> ready = check(error, pointers);
    const result<void> done = ready ? std::forward<Work>(work)() : ready;
    if (done) return tell(error, BLOOMSET_OK, "");
    return tell(error, status_of(done.error().code), done.error().message);
  } catch (const std::bad_alloc&) {
    return tell(error, BLOOMSET_OUT_OF_MEMORY, "there is not enough memory");
  } catch (const std::exception& other) {
    return tell(error, BLOOMSET_INVALID_ARGUMENT, other.what());
  }
}

inline std::string_view view_of(const void* data, std::size_t size) noexcept {
  return size == 0 ? std::string_view() : std::string_view(static_cast<const char*>(data), size);
}

/// Calls `use(views, first)` for each piece of `count` keys until it returns false. `key(i)` is the
/// view of key i.
template <class Key, class Use>
void in_pieces(std::size_t count, Key&& key, Use&& use) noexcept(noexcept(use({}, 0))) {
  // An array of views would be filled with empty ones first, which is 16 KiB for a single key.
  alignas(std::string_view) std::array<std::byte, piece * sizeof(std::string_view)> memory;
  auto* const views = reinterpret_cast<std::string_view*>(memory.data());
  for (std::size_t first = 0; first < count; first += piece) {
    const std::size_t n = std::min(piece, count - first);
    for (std::size_t i = 0; i < n; ++i) std::construct_at(views + i, key(first + i));
    if (!use(std::span<const std::string_view>(views, n), first)) return;
  }
}

/// The view of key i: of an array of pointers and lengths, or of keys of equal length in a row.
inline auto keys_of(const bloomset_key* keys) noexcept {
  return [keys](std::size_t i) noexcept { return view_of(keys[i].data, keys[i].size); };
}
inline auto keys_of(const void* keys, std::size_t size) noexcept {
  return [at = static_cast<const char*>(keys), size](std::size_t i) noexcept {
    return view_of(at + i * size, size);
  };
}

/// Fails if a key is NULL but has a size.
inline result<void> check_keys(const bloomset_key* keys, std::size_t count,
                               std::string_view name = "keys") {
  if (count == 0) return {};
  if (keys == nullptr) {
    return fail(errc::invalid_argument,
                fmt::format("{} is NULL, but {} were announced", name, count));
  }
  const auto* const wrong = std::find_if(
      keys, keys + count, [](const bloomset_key& k) { return k.data == nullptr && k.size != 0; });
  if (wrong == keys + count) return {};
  return fail(errc::invalid_argument,
              fmt::format("{}[{}] is NULL and has a size of {}; only the key without bytes may be",
                          name, wrong - keys, wrong->size));
}
inline result<void> check_keys(const void* keys, std::size_t size, std::size_t count) {
  if (keys != nullptr || size == 0 || count == 0) return {};
  return fail(
      errc::invalid_argument,
      fmt::format(
          "the keys are NULL, but {} of {} bytes were announced; only keys without bytes may be",
          count, size));
}

/// The place for `count` answers. It may be NULL if there are none.
inline needed place_for(const void* answers, std::size_t count, const char* name) noexcept {
  static constexpr char no_place_needed = 0;
  return {count == 0 ? &no_place_needed : answers, name};
}

/// Copies the members that the caller knows from a filled structure.
template <class Report>
result<void> give(const Report& filled, Report* to, std::string_view name) {
  const auto size = size_of(to, sizeof(std::size_t), name);
  if (!size) return fail(size.error());
  std::memcpy(to, &filled, std::min(*size, sizeof filled));
  to->struct_size = *size;
  return {};
}

}  // namespace bloomset::c
