#include "values/window_value.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "values/item_batches.hpp"
#include "values/native_value.hpp"

namespace bloomset::server {
namespace {

struct generation {
  std::uint64_t slice;
  std::unique_ptr<filter_value> filter;
};

class window_value final : public filter_value {
 public:
  explicit window_value(filter_spec spec) noexcept : spec_(std::move(spec)) {}

  std::uint64_t newest_slice = 0;
  std::vector<generation> generations;  ///< by slice; only slices with items

  // Uses this server's clock, as the expiry of keys does: a replica forgets even if its primary
  // receives no writes.
  void contains(item_span items, std::span<bool> answers) const noexcept override {
    contains_since(oldest_slice(current_slice()), items, answers);
  }

  bool advance(std::uint64_t milliseconds) override {
    insert_slice_ = slice_at(milliseconds);
    if (insert_slice_ <= newest_slice) return false;
    newest_slice = insert_slice_;
    const auto live =
        std::ranges::lower_bound(generations, oldest_slice(newest_slice), {}, &generation::slice);
    for (auto old = generations.begin(); old != live; ++old) free_later(std::move(old->filter));
    generations.erase(generations.begin(), live);
    return true;
  }

  std::uint64_t latest_time() const noexcept override {
    return newest_slice * slice_milliseconds(spec_);
  }

  // Items that older generations hold are inserted too, so that they are known for a window from
  // now.
  insert_result insert(item_span items, std::span<bool> newly_inserted, insert_mode mode,
                       const growth_limit& limit) noexcept override try {
    const bool_list list(items.size());
    const std::span<bool> known = list.span();
    contains_since(oldest_slice(newest_slice), items, known);
    if (insert_slice_ < oldest_slice(newest_slice)) {  // the items are already forgotten
      std::ranges::fill(newly_inserted, false);
      return {items.size(), stop_reason::none, false};
    }
    if (items.empty()) return {};
    stop_reason reason = stop_reason::none;
    filter_value* const target = find_or_make(insert_slice_, limit, reason);
    if (target == nullptr) return {0, reason};
    growth_limit target_limit = limit;
    target_limit.max_bytes -= std::min(target_limit.max_bytes, bytes() - target->bytes());
    insert_result result = target->insert(items, newly_inserted, mode, target_limit);
    result.changed = mode == insert_mode::counted ||
                     std::ranges::count(newly_inserted.first(result.done), true) != 0;
    // Replicas do not hear of refused items, so they have no empty generation either.
    std::erase_if(generations, [](const generation& g) { return g.filter->facts().items == 0; });
    for (std::size_t i = 0; i < result.done; ++i) {
      newly_inserted[i] = newly_inserted[i] && !known[i];
    }
    return result;
  } catch (const std::exception&) {  // nothing has changed yet
    return {0, stop_reason::out_of_memory};
  }

  filter_facts facts() const noexcept override {
    filter_facts sum{.spec = spec_, .capacity = spec_.capacity, .bytes = bytes()};
    for (const generation& live : live_generations()) {
      const filter_facts facts = live.filter->facts();
      sum.filters += facts.filters;
      sum.items += facts.items;
    }
    return sum;
  }
  filter_state state() const override {
    double rejected = 1;  // share of non-members that no generation matches
    double items = 0;
    for (const generation& live : live_generations()) {
      const filter_state state = live.filter->state();
      rejected *= 1 - state.error_rate;
      items += state.items;
    }
    return {1 - rejected, items};
  }
  std::uint64_t bytes() const noexcept override {
    std::uint64_t sum = generations.capacity() * sizeof(generation);
    for (const generation& held : generations) sum += held.filter->bytes();
    return sum;
  }

  std::vector<std::byte> dump_header() const override {
    std::vector<dump_section> sections;
    sections.reserve(generations.size());
    for (const generation& held : generations) {
      sections.push_back({held.filter->dump_header(), held.slice});
    }
    return make_dump_header({.spec = spec_, .newest_slice = newest_slice}, sections);
  }
  byte_pieces dump_payload() const override {
    byte_pieces pieces;
    for (const generation& held : generations) {
      const byte_pieces payload = held.filter->dump_payload();
      pieces.insert(pieces.end(), payload.begin(), payload.end());
    }
    return pieces;
  }

  std::unique_ptr<filter_value> copy() const override {
    auto copied = std::make_unique<window_value>(spec_);
    copied->newest_slice = newest_slice;
    for (const generation& held : generations) {
      auto filter = held.filter->copy();
      if (filter == nullptr) return nullptr;
      copied->generations.push_back({held.slice, std::move(filter)});
    }
    return copied;
  }

  void relocate(const memory_mover& mover) noexcept override {
    for (generation& held : generations) held.filter->relocate(mover);
  }

 private:
  std::uint64_t slice_at(std::uint64_t milliseconds) const noexcept {
    return milliseconds / slice_milliseconds(spec_);
  }
  std::uint64_t current_slice() const noexcept {
    return slice_at(static_cast<std::uint64_t>(api.milliseconds()));
  }
  /// The oldest slice whose items are known during a slice.
  std::uint64_t oldest_slice(std::uint64_t slice) const noexcept {
    return slice > spec_.generations ? slice - spec_.generations : 0;
  }
  std::span<const generation> live_generations() const noexcept {
    const std::uint64_t oldest = oldest_slice(current_slice());
    return {std::ranges::lower_bound(generations, oldest, {}, &generation::slice),
            generations.end()};
  }

  /// Asks the newest generation first: most queries are for recent items.
  void contains_since(std::uint64_t oldest, item_span items,
                      std::span<bool> answers) const noexcept {
    std::ranges::fill(answers.first(items.size()), false);
    for (auto held = generations.rbegin(); held != generations.rend() && held->slice >= oldest;
         ++held) {
      find_missing(items, answers, [&](item_span missing, std::span<bool> found) {
        held->filter->contains(missing, found);
      });
    }
  }

  /// The filter of a slice. Null, with the reason, if there is none and the limit forbids to make
  /// it.
  filter_value* find_or_make(std::uint64_t slice, const growth_limit& limit, stop_reason& reason) {
    const auto place = std::ranges::lower_bound(generations, slice, {}, &generation::slice);
    if (place != generations.end() && place->slice == slice) return place->filter.get();
    const filter_spec spec = generation_spec(spec_);
    const auto planned = planned_native_bytes(spec);
    reason = planned ? limit.check(bytes(), *planned) : stop_reason::out_of_memory;
    if (reason != stop_reason::none) return nullptr;
    auto filter = make_native(spec);
    if (!filter) {
      reason = stop_reason::out_of_memory;
      return nullptr;
    }
    return generations.insert(place, generation{slice, std::move(*filter)})->filter.get();
  }

  filter_spec spec_;
  std::uint64_t insert_slice_ = 0;
};

}  // namespace

result<std::uint64_t> planned_window_bytes(const filter_spec& spec) {
  const auto planned = planned_native_bytes(generation_spec(spec));
  if (!planned) return fail(planned.error());
  const std::uint64_t count = std::uint64_t{spec.generations} + 1;
  if (*planned > std::numeric_limits<std::uint64_t>::max() / count) {
    return fail(errc::out_of_memory, "its generations need more memory than a machine has");
  }
  return *planned * count;
}

std::unique_ptr<filter_value> make_window(const filter_spec& spec) {
  return std::make_unique<window_value>(spec);
}

std::unique_ptr<filter_value> open_window(const received_dump& dump) {
  auto window = std::make_unique<window_value>(dump.prefix().spec);
  window->newest_slice = dump.prefix().newest_slice;
  for (const auto& generation : dump.generations()) {
    auto filter = open_native(generation.dump);
    if (filter == nullptr) return nullptr;
    window->generations.push_back({generation.slice, std::move(filter)});
  }
  return window;
}

}  // namespace bloomset::server
