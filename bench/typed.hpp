#pragma once

// Filters of ours by their own type, so that single queries are inlined as a user's are.

#include <fmt/format.h>

#include <bloomset/concepts.hpp>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "subject.hpp"

namespace bench {

/// Compiled for this CPU, in a library of their own (native.cpp).
entries our_native_filters();

inline std::span<const std::uint64_t> as_keys(keys hashes) noexcept {
  return {reinterpret_cast<const std::uint64_t*>(hashes.data()), hashes.size()};
}

/// Which calls a row uses: for hashes; for integers as keys, which the filter hashes; for hashes
/// that are known to differ, which blocked_bloom inserts without counting the new ones; or for
/// hashes that are inserted one by one.
enum class calls : std::uint8_t { of_hashes, of_keys, of_distinct_hashes, of_single_hashes };

template <class F, calls Calls>
class typed final : public subject {
 public:
  using spec_type = typename F::spec_type;

  explicit typed(const spec_type& spec) : spec_(spec) {}

  void build(keys members, unsigned threads) override {
    filter_.reset();
    if constexpr (bloomset::buildable<F>) {
      spec_type spec = spec_;
      if constexpr (requires { spec.threads; }) spec.threads = threads;
      take(F::build(spec, members));
    } else {
      take(F::make(spec_));
      const std::size_t done = insert(members, threads);
      if (done != members.size()) {
        throw std::runtime_error(
            fmt::format("only {} of {} keys found room", done, members.size()));
      }
    }
  }

  std::uint64_t bytes() const override { return filter_->size_in_bytes(); }

  std::uint64_t ask_each(keys asked) const override {
    const F& filter = *filter_;
    std::uint64_t found = 0;
    if constexpr (hashes_keys) {
      for (const std::uint64_t key : as_keys(asked)) found += filter.may_contain(key);
    } else {
      for (const bloomset::hash64 h : asked) found += filter.may_contain(h);
    }
    return found;
  }

  void ask_batch(keys asked, bool* answers, unsigned threads) const override {
    const std::span into(answers, asked.size());
    if constexpr (hashes_keys) {
      filter_->may_contain(as_keys(asked), into);
    } else if constexpr (requires { filter_->may_contain_parallel(asked, into, threads); }) {
      if (threads == 1) {
        filter_->may_contain(asked, into);
      } else {
        filter_->may_contain_parallel(asked, into, threads);
      }
    } else {
      filter_->may_contain(asked, into);
    }
  }

 private:
  static constexpr bool hashes_keys = Calls == calls::of_keys;

  void take(bloomset::result<F> made) {
    if (!made) throw std::runtime_error(made.error().message);
    filter_.emplace(std::move(*made));
  }

  std::size_t insert(keys members, unsigned threads) {
    if constexpr (hashes_keys) {
      return filter_->insert(as_keys(members)).done;
    } else if constexpr (Calls == calls::of_distinct_hashes) {
      filter_->insert_distinct(members);
      return members.size();
    } else if constexpr (Calls == calls::of_single_hashes) {
      std::size_t done = 0;
      for (const bloomset::hash64 h : members) done += is_contained(filter_->insert(h));
      return done;
    } else if constexpr (requires { filter_->insert_parallel(members, threads); }) {
      if (threads != 1) return filter_->insert_parallel(members, threads).done;
    }
    return filter_->insert(members).done;
  }

  spec_type spec_;
  std::optional<F> filter_;
};

/// The row of a kind; `begun` is the share of the keys that it is planned for.
template <class F, calls Calls = calls::of_hashes>
entry kind(std::string name, const typename F::spec_type& spec = {}, std::uint64_t begun = 1) {
  constexpr bool inserts = requires(F& f, keys k) { f.insert_parallel(k, 2U); } ||
                           requires(typename F::spec_type& with) { with.threads; };
  constexpr bool asks =
      requires(const F& f, keys k, std::span<bool> a) { f.may_contain_parallel(k, a, 2U); };
  return {.name = std::move(name),
          .of = group::ours,
          .takes_keys = Calls == calls::of_keys,
          .batch = true,
          .parallel_build = inserts && Calls == calls::of_hashes,
          .parallel_ask = asks && Calls == calls::of_hashes,
          .make = [spec, begun](const setting& s) -> std::unique_ptr<subject> {
            auto full = spec;
            if constexpr (!bloomset::buildable<F>) full.capacity = (s.n + begun - 1) / begun;
            full.fpr = s.fpr;
            return std::make_unique<typed<F, Calls>>(full);
          }};
}

}  // namespace bench
