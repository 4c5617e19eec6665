#include "window_value.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "bool_list.hpp"
#include "native_plan.hpp"
#include "native_value.hpp"

namespace bloomery::server {
namespace {

using item_span = std::span<const std::string_view>;

struct generation {
  std::uint64_t slice;
  std::unique_ptr<filter_value> filter;
};

class window_value final : public filter_value {
 public:
  explicit window_value(const filter_spec& spec) noexcept : spec_(spec) {}

  std::uint64_t newest = 0;             ///< slice that anything has come in
  std::vector<generation> generations;  ///< by slice; a slice without items has none

  // By this server's clock, as keys expire: a replica that hears of no writes forgets in time, too.
  void contains(item_span items, std::span<bool> answers) const noexcept override {
    contained_since(oldest_at(slice_of(now())), items, answers);
  }

  bool advance(std::uint64_t milliseconds) override {
    adding_ = slice_of(milliseconds);
    if (adding_ <= newest) return false;
    newest = adding_;
    const auto live = std::ranges::find_if(
        generations, [&](const generation& each) { return each.slice >= oldest_at(newest); });
    for (auto each = generations.begin(); each != live; ++each) free_later(std::move(each->filter));
    generations.erase(generations.begin(), live);
    return true;
  }

  std::uint64_t latest() const noexcept override { return newest * slice_length(); }

  // Into the generation of the time that advance() was told, whatever older ones hold: an item that
  // comes again is known for a window from then on.
  added_items add(item_span items, std::span<bool> fresh, adding how,
                  const growth_limit& limit) noexcept override try {
    const bool_list list(items.size());
    const std::span<bool> known = list.all();
    contained_since(oldest_at(newest), items, known);
    if (adding_ < oldest_at(newest)) {  // forgotten already
      std::ranges::fill(fresh, false);
      return {items.size(), stop::none};
    }
    if (items.empty()) return {};
    stop why = stop::none;
    filter_value* const into = generation_of(adding_, limit, why);
    if (into == nullptr) return {0, why};
    const std::uint64_t others = bytes() - into->bytes();
    growth_limit its = limit;
    its.max_bytes -= std::min(its.max_bytes, others);
    const added_items added = into->add(items, fresh, how, its);
    // Replicas, which are not told of what is refused, have no empty generation either.
    std::erase_if(generations,
                  [](const generation& each) { return each.filter->facts().items == 0; });
    for (std::size_t i = 0; i < added.done; ++i) fresh[i] = fresh[i] && !known[i];
    return added;
  } catch (const std::exception&) {  // before anything has changed
    return {0, stop::memory};
  }

  bool erase(std::string_view) override { return false; }
  std::uint64_t count(std::string_view) const override { return 0; }

  filter_facts facts() const noexcept override {
    filter_facts all{.spec = spec_,
                     .capacity = spec_.capacity,
                     .bytes = bytes(),
                     .filters = 0,
                     .items = 0,
                     .deleted = 0};
    for (const generation& each : live()) {
      const filter_facts its = each.filter->facts();
      all.filters += its.filters;
      all.items += its.items;
    }
    return all;
  }
  filter_state state() const override {
    filter_state all = {};
    double passes_none = 1;
    for (const generation& each : live()) {
      const filter_state its = each.filter->state();
      passes_none *= 1 - its.error_rate;
      all.items += its.items;
    }
    all.error_rate = 1 - passes_none;
    return all;
  }
  std::uint64_t bytes() const noexcept override {
    std::uint64_t sum = generations.capacity() * sizeof(generation);
    for (const generation& each : generations) sum += each.filter->bytes();
    return sum;
  }

  std::vector<std::byte> dump_header() const override {
    std::vector<generation_header> headers;
    headers.reserve(generations.size());
    for (const generation& each : generations) {
      headers.push_back({each.slice, each.filter->dump_header()});
    }
    return window_header_of({.spec = spec_, .deleted = 0, .newest = newest}, headers);
  }
  std::vector<std::span<const std::byte>> dump_payload() const override {
    std::vector<std::span<const std::byte>> payload;
    for (const generation& each : generations) {
      const auto its = each.filter->dump_payload();
      payload.insert(payload.end(), its.begin(), its.end());
    }
    return payload;
  }

  std::unique_ptr<filter_value> copy() const override {
    auto made = std::make_unique<window_value>(spec_);
    made->newest = newest;
    for (const generation& each : generations) {
      auto its = each.filter->copy();
      if (its == nullptr) return nullptr;
      made->generations.push_back({each.slice, std::move(its)});
    }
    return made;
  }

  void relocate(const memory_mover& mover) noexcept override {
    for (generation& each : generations) each.filter->relocate(mover);
  }

 private:
  static std::uint64_t now() noexcept { return static_cast<std::uint64_t>(api.milliseconds()); }

  std::uint64_t slice_of(std::uint64_t milliseconds) const noexcept {
    return milliseconds / slice_length();
  }
  std::uint64_t slice_length() const noexcept { return slice_milliseconds(spec_); }
  /// The oldest slice that is known in another.
  std::uint64_t oldest_at(std::uint64_t slice) const noexcept {
    return slice > spec_.generations ? slice - spec_.generations : 0;
  }
  std::span<const generation> live() const noexcept {
    const std::uint64_t oldest = oldest_at(slice_of(now()));
    const auto first = std::ranges::find_if(
        generations, [&](const generation& each) { return each.slice >= oldest; });
    return {first, generations.end()};
  }

  // The newest first, which hold what is asked for most; each is asked for what those before lack.
  void contained_since(std::uint64_t oldest, item_span items,
                       std::span<bool> answers) const noexcept {
    constexpr std::size_t most = 128;
    std::array<std::string_view, most> missing;
    std::array<std::size_t, most> places;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    std::array<bool, most> found;          // NOLINT(cppcoreguidelines-pro-type-member-init)
    for (std::size_t at = 0; at < items.size(); at += most) {
      std::size_t n = std::min(most, items.size() - at);
      for (std::size_t i = 0; i < n; ++i) {
        answers[at + i] = false;
        missing.at(i) = items[at + i];
        places.at(i) = at + i;
      }
      for (auto each = generations.rbegin();
           n != 0 && each != generations.rend() && each->slice >= oldest; ++each) {
        each->filter->contains(std::span(missing).first(n), found);
        std::size_t left = 0;
        for (std::size_t i = 0; i < n; ++i) {
          answers[places.at(i)] = found.at(i);
          if (found.at(i)) continue;
          missing.at(left) = missing.at(i);
          places.at(left++) = places.at(i);
        }
        n = left;
      }
    }
  }

  /// Made if there is none yet and it may be; else null.
  filter_value* generation_of(std::uint64_t slice, const growth_limit& limit, stop& why) {
    const auto at = std::ranges::lower_bound(generations, slice, {}, &generation::slice);
    if (at != generations.end() && at->slice == slice) return at->filter.get();
    const filter_spec spec = generation_spec(spec_);
    const auto planned = planned_native_bytes(spec);
    why = planned ? limit.refusal(bytes(), *planned) : stop::memory;
    if (why != stop::none) return nullptr;
    auto made = make_native(spec);
    if (!made) {
      why = stop::memory;
      return nullptr;
    }
    return generations.insert(at, generation{slice, std::move(*made)})->filter.get();
  }

  filter_spec spec_;
  std::uint64_t adding_ = 0;
};

}  // namespace

result<std::uint64_t> planned_window_bytes(const filter_spec& spec) {
  const auto one = planned_native_bytes(generation_spec(spec));
  if (!one) return fail(one.error());
  const std::uint64_t held = std::uint64_t{spec.generations} + 1;
  if (*one > std::numeric_limits<std::uint64_t>::max() / held) {
    return fail(errc::out_of_memory, "its generations take more memory than machines have");
  }
  return *one * held;
}

std::unique_ptr<filter_value> make_window(const filter_spec& spec) {
  return std::make_unique<window_value>(spec);
}

std::unique_ptr<filter_value> open_window(const received_dump& dump) {
  auto made = std::make_unique<window_value>(dump.prefix().spec);
  made->newest = dump.prefix().newest;
  for (const auto& each : dump.generations()) {
    auto its = open_native(each.dump);
    if (its == nullptr) return nullptr;
    made->generations.push_back({each.slice, std::move(its)});
  }
  return made;
}

}  // namespace bloomery::server
