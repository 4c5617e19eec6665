#pragma once

// Parts of every dialect whose filter is an array of m bits with k probes: basic_bloom with a
// foreign probe rule, and a container around it.

#include <fmt/format.h>

#include <algorithm>
#include <bloomset/bloom.hpp>
#include <concepts>
#include <memory>
#include <utility>

#include "key_form.hpp"
#include "model.hpp"
#include "options.hpp"
#include "rows.hpp"
#include "rules.hpp"

namespace bloomset::dialects {

/// The keys that the original software counts.
enum class counting : std::uint8_t { nothing, inserts, changes };

/// A dialect's container: the values around the bits, and their meaning. It has
///
///     using rule;                 // a probe scheme
///     static constexpr row id;    // in the registry
///     static constexpr counting counts;
///     bloom_params shape() const; // m, k and the hash function's seed
///     rule probe() const;
///     key_form form() const;      // how a key becomes bytes
///     void describe(foreign_info&) const;              // values beside m and k
///     result<void> check_merge(const container&) const;// other than m, k and seed
///     result<foreign_image> image(bits, count) const;
///     result<container> convert(const option_list&) const;  // the same bits, in other bytes
///     bit_order order() const;
template <class C>
class bloom_face : public foreign_filter::model {
 public:
  virtual const C& container() const noexcept = 0;
  virtual std::span<const std::byte> bits() const noexcept = 0;
  virtual std::uint64_t count() const noexcept = 0;
};

template <class C, storage Storage>
class bloom_model final : public bloom_face<C> {
  using filter_type = basic_bloom<typename C::rule, Storage>;
  static constexpr bool writable = writable_storage<Storage>;

 public:
  static result<foreign_filter> make(C container, Storage bits, std::uint64_t count) {
    bloom_params shape = container.shape();
    shape.probe = probe_id::caller;
    auto filter = filter_type::open(shape, std::move(bits), 0, container.probe());
    if (!filter)
      return fail(errc::corrupt, "bits are set beyond the last place; get the filter anew");
    return foreign_filter(std::unique_ptr<foreign_filter::model>(
        new bloom_model(std::move(container), std::move(*filter), count)));
  }

  const dialect& format() const noexcept override { return row_of(C::id); }
  const C& container() const noexcept override { return container_; }
  std::span<const std::byte> bits() const noexcept override { return filter_.bits(); }
  std::uint64_t count() const noexcept override { return count_; }

  foreign_info info() const override {
    foreign_info info;
    info.format = format().name;
    info.kind = "bloom";
    info.bits = filter_.params().bits;
    info.hashes = filter_.params().hashes;
    if (C::counts != counting::nothing) info.count = count_;
    info.estimated_size = filter_.estimate_size();
    info.current_fpr = filter_.current_fpr();
    info.fill = filter_.fill();
    info.can_merge = true;
    container_.describe(info);
    return info;
  }

  result<void> askable() const override { return container_.form().known(); }
  bool takes_any_key() const noexcept override { return container_.form().takes_any(); }
  result<void> accepts(std::string_view key) const override {
    std::vector<std::byte> scratch;
    if (container_.form().bytes_of(key, scratch)) return {};
    return container_.form().refusal(key);
  }
  std::string_view key_form_name() const noexcept override { return container_.form().noun(); }
  bool fits(std::string_view key) const override { return container_.form().fits(key); }

  void may_contain(std::span<const std::string_view> keys,
                   std::span<bool> answers) const noexcept override {
    const key_form form = container_.form();
    std::vector<std::byte> scratch;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const auto bytes = form.bytes_of(keys[i], scratch);
      answers[i] = bytes && filter_.may_contain(*bytes);
    }
  }

  result<insert_summary> insert(std::span<const std::string_view> keys) override {
    if constexpr (writable) {
      const key_form form = container_.form();
      std::vector<std::byte> scratch;
      insert_summary summary;
      for (const std::string_view key : keys) {
        const auto bytes = form.bytes_of(key, scratch);
        if (!bytes) break;
        const bool is_new = filter_.insert(*bytes) == insert_outcome::inserted;
        summary.inserted += is_new;
        summary.maybe_present += !is_new;
        ++summary.done;
        count_ += C::counts == counting::inserts || is_new;
      }
      return summary;
    } else {
      return read_only();
    }
  }

  result<void> merge(const foreign_filter::model& other) override {
    if constexpr (writable) {
      const auto* const theirs = dynamic_cast<const bloom_face<C>*>(&other);
      if (theirs == nullptr) {
        return fail(errc::incompatible, "their variants of the format differ");
      }
      if (auto ok = container_.check_merge(theirs->container()); !ok) return ok;
      bloom_params shape = theirs->container().shape();
      shape.probe = probe_id::caller;
      const auto view = basic_bloom<typename C::rule, borrowed_storage>::open(
          shape, borrowed_storage(theirs->bits()), 0, theirs->container().probe());
      if (!view) return fail(view.error());
      if (count_ + theirs->count() < count_) {
        return fail(errc::incompatible, "the sum of their counts is more than 64 bits hold");
      }
      if (auto ok = filter_.merge(*view); !ok) return ok;
      count_ += theirs->count();
      return {};
    } else {
      return read_only();
    }
  }

  result<foreign_filter> convert(const dialect& to, const option_list& options) const override {
    if (&to != &format()) return other_format(format(), to);
    auto changed = container_.convert(options);
    if (!changed) return fail(std::move(changed.error()));
    auto copy = owned_storage::copy_of(bits());
    if (!copy) return fail(std::move(copy.error()));
    if (changed->order() != container_.order()) {
      const auto bytes = copy->writable_bytes();
      for (std::size_t at = 0; at + 8 <= bytes.size(); at += 8) {
        std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                     bytes.begin() + static_cast<std::ptrdiff_t>(at + 8));
      }
    }
    return bloom_model<C, owned_storage>::make(std::move(*changed), std::move(*copy), count_);
  }

  result<foreign_image> image() const override { return container_.image(bits(), count_); }

 private:
  bloom_model(C container, filter_type filter, std::uint64_t count)
      : container_(std::move(container)), filter_(std::move(filter)), count_(count) {}

  C container_;
  filter_type filter_;
  std::uint64_t count_;
};

/// The filter over existing bits, or over a copy of them.
template <class C>
result<foreign_filter> over_bytes(C container, const mapped_storage& bits, access how,
                                  std::uint64_t count = 0) {
  if (how == access::read_only) {
    return bloom_model<C, mapped_storage>::make(std::move(container), bits, count);
  }
  auto copy = owned_storage::copy_of(bits.bytes());
  if (!copy) return fail(std::move(copy.error()));
  return bloom_model<C, owned_storage>::make(std::move(container), std::move(*copy), count);
}

/// An empty filter.
template <class C>
result<foreign_filter> empty_filter(C container) {
  const std::uint64_t m = container.shape().bits;
  auto bits = owned_storage::make(m / 8 + (m % 8 != 0));
  if (!bits) return fail(std::move(bits.error()));
  return bloom_model<C, owned_storage>::make(std::move(container), std::move(*bits), 0);
}

/// The failure to convert between containers, in a format that has only one.
inline failure only_container(row id) {
  return fail(errc::unsupported, fmt::format("format {} has one container only; there is nothing "
                                             "to convert a filter to",
                                             row_of(id).name));
}

}  // namespace bloomset::dialects
