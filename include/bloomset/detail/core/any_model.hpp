#pragma once

// The interface behind any_filter.

#include <bloomset/concepts.hpp>
#include <bloomset/detail/core/byte_interval.hpp>
#include <bloomset/detail/core/source_memory.hpp>
#include <bloomset/hash.hpp>
#include <bloomset/image.hpp>
#include <bloomset/result.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

namespace bloomset {

class any_filter;
struct abilities;
struct filter_info;
struct memory_mover;

namespace detail {

/// Whether these bytes of a payload are in memory.
using has_interval = std::function<bool(byte_interval)>;

/// A filter of any kind (src/registry/typed_model.hpp implements it).
class any_model {
 public:
  static void* operator new(std::size_t size) { return take_memory(size); }
  static void operator delete(void* at, std::size_t size) noexcept { give_back_memory(at, size); }

  any_model() = default;
  any_model(const any_model&) = delete;
  any_model& operator=(const any_model&) = delete;
  virtual ~any_model() = default;

  virtual filter_info info() const = 0;
  virtual abilities can() const noexcept = 0;
  virtual std::string_view kind_name() const noexcept = 0;
  virtual std::uint64_t capacity() const noexcept = 0;
  virtual std::uint64_t size() const noexcept = 0;
  virtual std::uint64_t size_in_bytes() const noexcept = 0;
  virtual std::uint64_t next_growth() const noexcept = 0;
  virtual double current_fpr() const noexcept = 0;
  /// The hash by which the filter knows a key. Fails with unsupported if that is not one hash64.
  virtual result<hash64> hash_of(std::string_view key) const = 0;
  virtual bool may_contain(std::string_view key) const noexcept = 0;
  virtual void may_contain(std::span<const std::string_view> keys,
                           std::span<bool> answers) const noexcept = 0;
  virtual result<void> may_contain(std::span<const hash64> hashes,
                                   std::span<bool> answers) const = 0;
  virtual bool covers_all_keys() const noexcept { return true; }
  virtual void covers(std::span<const std::string_view> keys,
                      std::span<bool> covered) const noexcept;
  /// Whether the bytes are in memory that decide the answer for this key, if only some bytes of the
  /// payload are (partial.hpp). Calls `has` for the bytes that the query reads, besides those of
  /// trace_open(). Where they decide which others are read and are not there, the others are told
  /// by a later call. Kinds without kind_info::trace_open return true.
  virtual bool trace(std::string_view key, const has_interval& has) const = 0;
  virtual result<insert_summary> insert(std::span<const std::string_view> keys) = 0;
  virtual result<insert_summary> insert(std::span<const hash64> hashes, unsigned threads) = 0;
  virtual result<void> insert_part(std::span<const hash64> hashes, unsigned part,
                                   unsigned parts) = 0;
  virtual result<insert_summary> insert_absent(std::span<const std::string_view> keys,
                                               std::span<bool> added) = 0;
  virtual result<insert_summary> insert_absent(std::span<const hash64> hashes,
                                               std::span<bool> added) = 0;
  virtual result<void> erase(std::span<const std::string_view> keys, std::span<bool> erased) = 0;
  virtual result<void> count(std::span<const std::string_view> keys,
                             std::span<std::uint64_t> counts) const = 0;
  virtual result<void> merge(const any_model& other) = 0;
  virtual result<void> merge_absent(const any_model& other) = 0;
  virtual result<void> intersect(const any_model& other) = 0;
  virtual result<void> clear() = 0;
  virtual void settle_count() noexcept = 0;
  virtual std::span<any_filter> halves() noexcept { return {}; }
  virtual filter_image image() const = 0;
  virtual result<any_filter> copy() const = 0;
  virtual void relocate(const memory_mover& mover) noexcept = 0;
  virtual result<any_filter> fold(std::uint64_t factor) const = 0;
  virtual result<any_filter> fold_to(double fpr) const = 0;
};

/// Ends the program: a filter that was moved from is used.
[[noreturn]] void stop_at_moved_from() noexcept;

}  // namespace detail
}  // namespace bloomset
