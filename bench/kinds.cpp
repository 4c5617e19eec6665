// The library's own kinds: each has a line in our_filters(), by which its single queries are
// inlined as a user's are. A kind of the registry without one is measured through any_filter.

#include <fmt/format.h>

#include <algorithm>
#include <bloomery/bloomery.hpp>
#if __has_include(<bloomery/fuse.hpp>)
#include <bloomery/fuse.hpp>
#endif
#if __has_include(<bloomery/ribbon.hpp>)
#include <bloomery/ribbon.hpp>
#endif
#include <array>
#include <optional>
#include <stdexcept>

#include "typed.hpp"

namespace bench {
namespace {

/// A filter of any kind with its default options, asked by keys of eight bytes.
class any_kind final : public subject {
 public:
  any_kind(const bloomery::kind_info& kind, const setting& s)
      : kind_(kind), request_{.fpr = s.fpr} {
    if (kind.build == nullptr) request_.capacity = s.n;
  }

  void build(keys members, unsigned threads) override {
    filter_.reset();
    std::vector<bloomery::hash64> hashes;
    hashes.reserve(members.size());
    const bloomery::xxh3_hasher hash(request_.seed);
    for (const bloomery::hash64& h : members) {
      hashes.push_back(hash(std::as_bytes(std::span(&h.value, 1))));
    }
    auto made = kind_.build != nullptr ? kind_.build(request_, bloomery::hash_source::of(hashes))
                                       : kind_.create(request_);
    if (!made) throw std::runtime_error(made.error().message);
    filter_.emplace(std::move(*made));
    if (kind_.build != nullptr) return;
    const auto inserted = filter_->insert(hashes, threads);
    if (!inserted) throw std::runtime_error(inserted.error().message);
    if (inserted->done != hashes.size()) throw std::runtime_error("not all keys found room");
  }
  std::uint64_t bytes() const override { return filter_->info().plan.bytes; }

  std::uint64_t ask_each(keys asked) const override {
    std::uint64_t found = 0;
    for (const bloomery::hash64& h : asked) found += filter_->may_contain(text_of(h));
    return found;
  }
  void ask_batch(keys asked, bool* answers, unsigned) const override {
    std::array<std::string_view, 256> views;
    for (std::size_t at = 0; at < asked.size(); at += views.size()) {
      const std::size_t size = std::min(views.size(), asked.size() - at);
      for (std::size_t i = 0; i < size; ++i) views[i] = text_of(asked[at + i]);
      filter_->may_contain(std::span(views).first(size), {answers + at, size});
    }
  }
  std::string remark() const override { return "through any_filter, hashes included"; }

 private:
  static std::string_view text_of(const bloomery::hash64& h) noexcept {
    return {reinterpret_cast<const char*>(&h.value), sizeof h.value};
  }

  const bloomery::kind_info& kind_;
  bloomery::plan_request request_;
  std::optional<bloomery::any_filter> filter_;
};

entry any_row(const bloomery::kind_info& kind) {
  return {.name = std::string(kind.name),
          .of = group::ours,
          .takes_keys = true,
          .batch = true,
          .parallel_build = true,
          .make = [&kind](const setting& s) -> std::unique_ptr<subject> {
            return std::make_unique<any_kind>(kind, s);
          }};
}

}  // namespace

entries our_filters() {
  using namespace bloomery;
  entries all = {
      kind<blocked_bloom>("blocked_bloom", blocked_bloom_spec{}),
      kind<bloom>("bloom", bloom_spec{}),
      kind<counting_bloom>("counting_bloom", counting_bloom_spec{}),
      kind<scalable_bloom>("scalable_bloom, begun at n/16", scalable_bloom_spec{}, 16),
      kind<cuckoo>("cuckoo", cuckoo_spec{}),
      kind<vector_quotient>("vector_quotient", vector_quotient_spec{}),
      kind<expandable>("expandable", expandable_spec{}),
      kind<expandable>("expandable, begun at n/1024", expandable_spec{}, 1024),
      kind<expandable>("expandable, begun at n/1024, growth known", expandable_spec{.growth = 1024},
                       1024),
#if __has_include(<bloomery/fuse.hpp>)
      kind<fuse>("fuse, 3-wise", fuse_spec{.arity = 3}),
      kind<fuse>("fuse, 4-wise", fuse_spec{.arity = 4}),
#endif
#if __has_include(<bloomery/ribbon.hpp>)
      kind<ribbon>("ribbon", ribbon_spec{}),
#endif
  };
#ifdef BLOOMERY_BENCH_OURS_NATIVE
  for (entry& row : our_native_filters()) all.push_back(std::move(row));
#endif
  for (const kind_info& one : kinds()) {
    const bool known = std::any_of(all.begin(), all.end(), [&](const entry& row) {
      return row.name.substr(0, row.name.find(',')) == one.name;
    });
    if (!known) all.push_back(any_row(one));
  }
  return all;
}

entries our_filters_of_keys() {
  using namespace bloomery;
  return {
      kind<blocked_bloom, blocked_bloom_spec, true>("blocked_bloom, of keys", {}),
      kind<bloom, bloom_spec, true>("bloom, of keys", {}),
  };
}

}  // namespace bench
