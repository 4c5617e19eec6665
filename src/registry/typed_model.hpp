#pragma once

// The step from a typed filter to any_filter: the one template that implements the interface for
// every kind by testing which operations the type has.

#include <bloomset/any_filter.hpp>
#include <bloomset/detail/core/key_overloads.hpp>
#include <memory>
#include <utility>

#include "core/format.hpp"

namespace bloomset::detail {

/// The abilities of a filter type.
template <membership_filter F>
constexpr abilities abilities_of() noexcept {
  constexpr bool grows = requires(const F& f) { f.grows(); };
  constexpr bool folds = requires(const F& f) { f.fold_to(0.01); };
  return {.insert = insertable<F>,
          .erase = erasable<F>,
          .count = countable<F>,
          .merge = mergeable<F>,
          .intersect = intersectable<F>,
          .grow = grows,
          .fold = folds};
}

/// `Kind` is the kind's own part of its row (kind_row.hpp): Kind::name, and Kind::describe(filter,
/// info), which adds the values that are not common to every kind (extras, m where it has one).
template <membership_filter F, class Kind>
class typed_model final : public any_model {
 public:
  explicit typed_model(F filter) : filter_(std::move(filter)) {}

  filter_info info() const override {
    filter_info info;
    info.plan.bits = 8 * filter_.size_in_bytes();
    Kind::describe(filter_, info);
    info.kind = F::kind;
    info.kind_name = Kind::name;
    info.hash = filter_.hash_function().id();
    info.seed = filter_.hash_function().seed();
    info.plan.capacity = filter_.capacity();
    info.plan.planned_fpr = filter_.planned_fpr();
    info.plan.bytes = filter_.size_in_bytes();
    info.count = filter_.size();
    if constexpr (requires { filter_.figures(); }) {
      const auto figures = filter_.figures();
      info.fill = figures.fill;
      info.estimated_size = figures.estimated_size;
      info.current_fpr = figures.current_fpr;
    } else {
      if constexpr (requires { filter_.fill(); }) info.fill = filter_.fill();
      info.estimated_size = filter_.estimate_size();
      info.current_fpr = filter_.current_fpr();
    }
    return info;
  }
  abilities can() const noexcept override { return abilities_of<F>(); }
  std::string_view kind_name() const noexcept override { return Kind::name; }
  std::uint64_t capacity() const noexcept override { return filter_.capacity(); }
  std::uint64_t size() const noexcept override { return filter_.size(); }
  std::uint64_t size_in_bytes() const noexcept override { return filter_.size_in_bytes(); }
  std::uint64_t next_growth() const noexcept override {
    if constexpr (requires { filter_.next_growth(); }) return filter_.next_growth();
    return 0;
  }
  double current_fpr() const noexcept override { return filter_.current_fpr(); }

  result<hash64> hash_of(std::string_view key) const override {
    if constexpr (std::same_as<typename F::hash_type, hash64>) {
      return filter_.hash_function()(std::as_bytes(std::span(key)));
    } else if constexpr (std::same_as<typename F::hash_type, partitioned_hash>) {
      return filter_.hash_function()(std::as_bytes(std::span(key))).joined();
    }
    return cannot("have exceptions");
  }
  bool may_contain(std::string_view key) const noexcept override {
    return filter_.may_contain(key);
  }
  void may_contain(std::span<const std::string_view> keys,
                   std::span<bool> answers) const noexcept override {
    filter_.may_contain(keys, answers);
  }
  result<void> may_contain(std::span<const hash64> hashes, std::span<bool> answers) const override {
    if constexpr (std::same_as<typename F::hash_type, hash64>) {
      filter_.may_contain(hashes, answers);
      return {};
    }
    return cannot("be queried by hashes");
  }

  bool covers_all_keys() const noexcept override { return !has_partitions; }
  void covers([[maybe_unused]] std::span<const std::string_view> keys,
              std::span<bool> covered) const noexcept override {
    if constexpr (has_partitions) {
      for (std::size_t i = 0; i < keys.size(); ++i) covered[i] = filter_.covers(keys[i]);
    } else {
      any_model::covers(keys, covered);
    }
  }

  bool trace([[maybe_unused]] std::string_view key,
             [[maybe_unused]] const has_interval& has) const override {
    if constexpr (requires(const typename F::hash_type& h) { filter_.trace(h, has); }) {
      return filter_.trace(filter_.hash_function()(std::as_bytes(std::span(key))), has);
    }
    return true;
  }

  result<insert_summary> insert(std::span<const std::string_view> keys) override {
    if constexpr (insertable<F>) return filter_.insert(keys);
    return cannot("insert", insertable<owned>);
  }
  result<insert_summary> insert(std::span<const hash64> hashes,
                                [[maybe_unused]] unsigned threads) override {
    if constexpr (requires { filter_.insert_parallel(hashes, threads); }) {
      return filter_.insert_parallel(hashes, threads);
    } else if constexpr (insertable<F> && std::same_as<typename F::hash_type, hash64>) {
      return filter_.insert(hashes);
    }
    return cannot("insert hashes", insertable<owned>);
  }
  result<void> insert_part([[maybe_unused]] std::span<const hash64> hashes,
                           [[maybe_unused]] unsigned part,
                           [[maybe_unused]] unsigned parts) override {
    if constexpr (requires { filter_.insert_part(hashes, part, parts); }) {
      filter_.insert_part(hashes, part, parts);
      return {};
    }
    return cannot("insert part by part", requires(owned f) { f.insert_part(hashes, part, parts); });
  }
  result<insert_summary> insert_absent(std::span<const std::string_view> keys,
                                       std::span<bool> added) override {
    if constexpr (insertable<F>) {
      insert_summary all;
      for_hashes(filter_.hash_function(), keys, [&](auto hashes, std::size_t at) noexcept {
        const insert_summary part = absent_of(hashes, added.subspan(at, hashes.size()));
        all += part;
        return part.done == hashes.size();
      });
      std::ranges::fill(added.first(keys.size()).subspan(all.done), false);
      return all;
    }
    return cannot("insert", insertable<owned>);
  }
  result<insert_summary> insert_absent(std::span<const hash64> hashes,
                                       std::span<bool> added) override {
    if constexpr (insertable<F> && std::same_as<typename F::hash_type, hash64>) {
      const insert_summary all = absent_of(hashes, added);
      std::ranges::fill(added.first(hashes.size()).subspan(all.done), false);
      return all;
    }
    return cannot("insert hashes", insertable<owned>);
  }
  result<void> erase(std::span<const std::string_view> keys, std::span<bool> erased) override {
    if constexpr (erasable<F>) {
      filter_.erase(keys, erased);
      return {};
    }
    return cannot("erase", erasable<owned>);
  }
  result<void> count(std::span<const std::string_view> keys,
                     std::span<std::uint64_t> counts) const override {
    if constexpr (countable<F>) {
      filter_.count(keys, counts);
      return {};
    }
    return cannot("count");
  }
  result<void> merge(const any_model& other) override {
    if constexpr (mergeable<F>) {
      return combine(other, [this](const auto& theirs) { return filter_.merge(theirs); });
    }
    return cannot("be merged", mergeable<owned>);
  }
  result<void> merge_absent(const any_model& other) override {
    if constexpr (requires { filter_.merge_absent(filter_); }) {
      return combine(other, [this](const auto& theirs) { return filter_.merge_absent(theirs); });
    }
    return merge(other);
  }
  result<void> intersect(const any_model& other) override {
    if constexpr (intersectable<F>) {
      return combine(other, [this](const auto& theirs) { return filter_.intersect(theirs); });
    }
    return cannot("be intersected", intersectable<owned>);
  }
  result<void> clear() override {
    if constexpr (insertable<F>) {
      filter_.clear();
      return {};
    }
    return cannot("be cleared", insertable<owned>);
  }
  void settle_count() noexcept override {
    if constexpr (requires { filter_.settle_count(); }) filter_.settle_count();
  }
  filter_image image() const override { return filter_.image(); }
  void relocate([[maybe_unused]] const memory_mover& mover) noexcept override {
    if constexpr (requires { filter_.relocate(mover); }) filter_.relocate(mover);
  }
  result<any_filter> fold([[maybe_unused]] std::uint64_t factor) const override {
    if constexpr (abilities_of<F>().fold) return model_of(filter_.fold(factor));
    return not_folded();
  }
  result<any_filter> fold_to([[maybe_unused]] double fpr) const override {
    if constexpr (abilities_of<F>().fold) return model_of(filter_.fold_to(fpr));
    return not_folded();
  }
  result<any_filter> copy() const override {
    try {
      return any_filter(std::make_unique<typed_model>(filter_));
    } catch (const std::bad_alloc&) {
      return detail::format_failure(errc::out_of_memory,
                                    "memory for a copy of the filter, {} bytes, could not be "
                                    "allocated; release other memory first",
                                    filter_.size_in_bytes());
    }
  }

 private:
  template <membership_filter, class>
  friend class typed_model;

  static constexpr bool has_partitions = std::same_as<typename F::hash_type, partitioned_hash>;

  // The same filter in memory of its own, which can do all that its kind can.
  using owned = typename F::template rebind_storage<owned_storage>;

  /// `is_possible`: whether the kind can, so that only the storage is in the way.
  failure cannot(std::string_view what, bool is_possible = false) const {
    return detail::format_failure(errc::unsupported, "a filter of kind {}{} cannot {}", Kind::name,
                                  is_possible ? ", opened read-only," : "", what);
  }

  static failure not_folded() {
    return detail::format_failure(errc::unsupported,
                                  "a filter of kind {} cannot be folded; the kinds that can: {}",
                                  Kind::name, kinds_that(&abilities::fold));
  }
  template <class Folded>
  static result<any_filter> model_of(result<Folded> folded) {
    if (!folded) return fail(std::move(folded.error()));
    return any_filter(std::make_unique<typed_model<Folded, Kind>>(std::move(*folded)));
  }

  template <class Hash>
  insert_summary absent_of(std::span<const Hash> hashes, std::span<bool> answers) noexcept {
    if constexpr (requires { filter_.insert_absent(hashes, answers); }) {
      return filter_.insert_absent(hashes, answers);
    } else {
      insert_summary all;
      filter_.may_contain(hashes, answers);  // also loads their memory into the caches
      for (std::size_t i = 0; i < hashes.size(); ++i) {
        bool found = answers[i];  // NOLINT(misc-const-correctness): if keys are not counted
        // A key of this batch may have made it a member in the meantime.
        if constexpr (countable<F>) found = found || filter_.may_contain(hashes[i]);
        const insert_outcome outcome =
            found ? insert_outcome::maybe_present : filter_.insert(hashes[i]);
        if (!all.add(outcome)) break;
        answers[i] = outcome == insert_outcome::inserted;
      }
      return all;
    }
  }

  template <class Combine>
  result<void> combine(const any_model& other, Combine&& with) const {
    // The other filter is of the same type, or of the same kind over a mapped file.
    using mapped = typename F::template rebind_storage<mapped_storage>;
    if (const auto* same = dynamic_cast<const typed_model*>(&other)) return with(same->filter_);
    if (const auto* view = dynamic_cast<const typed_model<mapped, Kind>*>(&other)) {
      return with(view->filter_);
    }
    return detail::format_failure(errc::incompatible,
                                  "the filters are of different kinds ({} and {}); "
                                  "only filters built alike can be combined",
                                  Kind::name, other.kind_name());
  }

  F filter_;
};

}  // namespace bloomset::detail
