// The exceptions of any_filter: false positives that it answers "no" to.

#include <bloomset/any_filter.hpp>
#include <vector>

#include "core/format.hpp"

namespace bloomset {
namespace {

failure too_many() {
  return detail::format_failure(
      errc::full, "the filter would have more than {} exceptions; build a new one at a lower rate",
      exception_list::max_size);
}

/// Adds a hash that is not in the list yet.
result<void> add_to(exception_list& list, hash64 h) {
  if (list.contains(h)) return {};
  if (list.size() == exception_list::max_size) return too_many();
  list.add(h);
  return {};
}

}  // namespace

// A filter with exceptions has a hash for every key (add_exceptions, open_any).
bool any_filter::excepts(std::string_view key) const noexcept {
  const auto h = model().hash_of(key);
  return h && exceptions_.contains(*h);
}

bool any_filter::readmit_one(std::string_view key) noexcept {
  const auto h = model().hash_of(key);
  return h && exceptions_.remove(*h);
}

result<insert_summary> any_filter::add_exceptions(std::span<const std::string_view> keys) {
  if (layers_ != nullptr) return stays();
  exception_list list = exceptions_;
  insert_summary summary;
  for (const std::string_view key : keys) {
    const auto h = model().hash_of(key);
    if (!h) return fail(h.error());
    const bool passes = model().may_contain(key) && !list.contains(*h);
    if (passes) {
      if (auto ok = add_to(list, *h); !ok) return fail(std::move(ok.error()));
    }
    summary.add(passes ? insert_outcome::inserted : insert_outcome::maybe_present);
  }
  exceptions_ = std::move(list);
  return summary;
}

result<std::uint64_t> any_filter::remove_exceptions(std::span<const std::string_view> keys) {
  if (layers_ != nullptr) return stays();
  std::uint64_t removed = 0;
  if (exceptions_.empty()) return removed;
  for (const std::string_view key : keys) removed += readmit_one(key) ? 1 : 0;
  return removed;
}

result<void> any_filter::count(std::span<const std::string_view> keys,
                               std::span<std::uint64_t> counts) const {
  if (layers_ != nullptr) return stays();
  auto done = model().count(keys, counts);
  if (exceptions_.empty() || !done) return done;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (excepts(keys[i])) counts[i] = 0;
  }
  return done;
}

result<void> any_filter::clear() {
  if (layers_ != nullptr) return stays();
  auto done = model().clear();
  if (done) exceptions_ = {};
  return done;
}

/// insert_absent(): the filter itself would take an exception for a member.
template <class Key>
result<insert_summary> any_filter::insert_exceptions(std::span<const Key> keys,
                                                     std::span<bool> added) {
  insert_summary all;
  for (std::size_t at = 0; at < keys.size();) {
    std::size_t end = at;
    while (end < keys.size() && !excepts(keys[end])) ++end;
    auto part = model().insert_absent(keys.subspan(at, end - at), added.subspan(at));
    if (!part) return part;
    all += *part;
    if (part->done < end - at) break;
    if (end == keys.size()) break;
    const auto one = insert(keys.subspan(end, 1));
    if (!one) return one;
    if (one->done == 0) {
      all.stopped_by = one->stopped_by;
      break;
    }
    all.add(insert_outcome::inserted);
    added[end] = true;
    at = end + 1;
  }
  std::ranges::fill(added.first(keys.size()).subspan(all.done), false);
  return all;
}
template result<insert_summary> any_filter::insert_exceptions(std::span<const std::string_view>,
                                                              std::span<bool>);
template result<insert_summary> any_filter::insert_exceptions(std::span<const hash64>,
                                                              std::span<bool>);

/// erase(): the filter itself would erase the member that an exception matches.
result<void> any_filter::erase_others(std::span<const std::string_view> keys,
                                      std::span<bool> erased) {
  std::vector<std::string_view> others;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    erased[i] = false;
    if (excepts(keys[i])) continue;
    others.push_back(keys[i]);
    places.push_back(i);
  }
  // NOLINTNEXTLINE(modernize-avoid-c-arrays): std::vector<bool> has no span
  const auto answers = std::make_unique<bool[]>(others.size());
  if (auto ok = model().erase(others, {answers.get(), others.size()}); !ok) return ok;
  for (std::size_t i = 0; i < places.size(); ++i) erased[places[i]] = answers[i];
  return {};
}

/// An exception of one filter stays if the other one answers "no" to it, too.
result<exception_list> any_filter::exceptions_of_union(const any_filter& other) const {
  exception_list both;
  const auto add = [&both](const any_filter& from, const any_filter& to) -> result<void> {
    for (const hash64 h : from.exceptions_.hashes()) {
      bool passes = false;
      // Filters that cannot be queried by these hashes cannot be united either.
      if (to.may_contain({&h, 1}, {&passes, 1}) && passes) continue;
      if (auto ok = add_to(both, h); !ok) return ok;
    }
    return {};
  };
  if (auto ok = add(*this, other); !ok) return fail(std::move(ok.error()));
  if (auto ok = add(other, *this); !ok) return fail(std::move(ok.error()));
  return both;
}

/// A non-member of one filter is not in the intersection.
result<exception_list> any_filter::exceptions_of_either(const any_filter& other) const {
  exception_list both = exceptions_;
  for (const hash64 h : other.exceptions_.hashes()) {
    if (auto ok = add_to(both, h); !ok) return fail(std::move(ok.error()));
  }
  return both;
}

}  // namespace bloomset
