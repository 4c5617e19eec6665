#pragma once

// A filter that Python's threads share. The interpreter's lock (GIL) is given back while there is
// work to do, so the filter has a lock of its own: any number of readers, or one writer.
//
// Nobody waits for a filter while holding the GIL, and nobody waits for the GIL while holding a
// filter; so no two threads can wait for each other
// (docs/maintain/decisions/edges/python-locks.md).

#include <pybind11/pybind11.h>

#include <bloomset/any_filter.hpp>
#include <cstddef>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <utility>

#include "fair_mutex.hpp"
#include "overfill.hpp"
#include "without_gil.hpp"

namespace bloomset::python {

class shared_filter {
 public:
  /// `file` is what the filter is mapped over, if it is.
  shared_filter(any_filter filter, std::optional<stored_filter> file)
      : filter_(std::move(filter)),
        file_(std::move(file)),
        can_(filter_.can()),
        image_header_(filter_.image().header),
        watch_(filter_) {
    by_hash_ = filter_hasher::is_one(image_header_.hash) &&
               filter_.may_contain(std::span<const hash64>(), std::span<bool>());
  }

  // What never changes takes no lock.
  const abilities& can() const noexcept { return can_; }
  const std::optional<stored_filter>& file() const noexcept { return file_; }
  filter_kind kind() const noexcept { return image_header_.kind; }
  filter_hasher hasher() const noexcept { return filter_hasher(image_header_.seed); }
  /// Whether it takes hashes that `hasher` gave, rather than keys.
  bool by_hash() const noexcept { return by_hash_; }

  /// Guarded by the GIL.
  overfill_watch& watch() noexcept { return watch_; }
  const overfill_watch& watch() const noexcept { return watch_; }

  /// Runs `work(filter)` beside other readers, without the GIL.
  template <class Work>
  auto read(Work&& work) const {
    const busy_mark busy(*this);
    const without_gil released;
    const std::shared_lock lock(mutex_);
    return std::forward<Work>(work)(filter_);
  }

  /// Runs `work(filter)` alone, without the GIL.
  template <class Work>
  auto write(Work&& work) {
    const busy_mark busy(*this);
    const without_gil released;
    const std::unique_lock lock(mutex_);
    return std::forward<Work>(work)(filter_);
  }

  /// The same two for work on one key, which takes less time than to give the GIL back: it is kept
  /// where the filter is free. While no thread works on the filter without the GIL, the GIL is lock
  /// enough.
  template <class Work>
  auto read_one(const Work& work) const {
    if (is_idle()) [[likely]]
      return work(filter_);
    if (const std::shared_lock lock(mutex_, std::try_to_lock); lock) return work(filter_);
    return read(work);
  }
  template <class Work>
  auto write_one(const Work& work) {
    if (is_idle()) [[likely]]
      return work(filter_);
    if (const std::unique_lock lock(mutex_, std::try_to_lock); lock) return work(filter_);
    return write(work);
  }

  /// Runs `work(filter, other's filter)` alone with this filter and beside readers of the other.
  /// Precondition: `other` is another one.
  template <class Work>
  auto write_with(const shared_filter& other, Work&& work) {
    const busy_mark busy(*this);
    const busy_mark other_busy(other);
    const without_gil released;
    std::unique_lock ours(mutex_, std::defer_lock);
    std::shared_lock theirs(other.mutex_, std::defer_lock);
    std::lock(ours, theirs);
    return std::forward<Work>(work)(filter_, other.filter_);
  }
  template <class Work>
  auto read_with(const shared_filter& other, Work&& work) const {
    const busy_mark busy(*this);
    const busy_mark other_busy(other);
    const without_gil released;
    std::shared_lock ours(mutex_, std::defer_lock);
    std::shared_lock theirs(other.mutex_, std::defer_lock);
    std::lock(ours, theirs);
    return std::forward<Work>(work)(filter_, other.filter_);
  }

 private:
  /// Counts a call that gives the GIL back, from before it does until it has the GIL again.
  class busy_mark {
   public:
    explicit busy_mark(const shared_filter& filter) noexcept : count_(filter.busy_) { ++count_; }
    busy_mark(const busy_mark&) = delete;
    busy_mark& operator=(const busy_mark&) = delete;
    ~busy_mark() { --count_; }

   private:
    std::size_t& count_;
  };

  bool is_idle() const noexcept {
#if defined(Py_GIL_DISABLED)
    return false;
#else
    return busy_ == 0;
#endif
  }

  any_filter filter_;
  std::optional<stored_filter> file_;
  abilities can_;
  filter_header image_header_;
  bool by_hash_ = false;
  overfill_watch watch_;
  mutable fair_mutex mutex_;
  mutable std::size_t busy_ = 0;  // guarded by the GIL
};

}  // namespace bloomset::python

/// An object whose class was not called (Filter.__new__) has no filter: it is refused as an
/// argument, where pybind11 would lend memory that nothing was made in.
template <>
struct pybind11::detail::type_caster<bloomset::python::shared_filter>
    : type_caster_base<bloomset::python::shared_filter> {
  bool load(handle object, bool convert) {
    if (!type_caster_base::load(object, convert)) return false;
    auto* const made = reinterpret_cast<instance*>(object.ptr());
    return made->get_value_and_holder().holder_constructed();
  }
};
