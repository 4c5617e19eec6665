#include "values/native_value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bloomset/file.hpp>
#include <bloomset/plan/numeric.hpp>
#include <cmath>
#include <limits>
#include <utility>

#include "server/memory.hpp"
#include "values/item_batches.hpp"
#include "values/native_plan.hpp"

namespace bloomset::server {
namespace {

// Items between two checks of the filter's size.
constexpr std::size_t max_batch = 4096;
// The server is asked before a table of copies of more bytes than this doubles.
constexpr std::uint64_t large_table = std::uint64_t{1} << 20;

// With a back, an item is in the front exactly if the front matches it. An item is therefore always
// deleted from the part that has it: once there is a back, the front gets only further copies of
// items that it matches (docs/maintain/decisions/edges/server-deletes.md). The back is removed with
// its last item.
class native_value final : public filter_value {
 public:
  native_value(const filter_spec& spec, any_filter front, std::optional<any_filter> back,
               std::uint64_t deleted, const memory_meter& meter) noexcept
      : spec_(spec), front_(std::move(front)), back_(std::move(back)), deleted_(deleted) {
    update_bytes(meter);
  }

  void contains(item_span items, std::span<bool> answers) const noexcept override {
    if (items.size() == 1) {
      answers[0] = matches(items[0]);
      return;
    }
    front_.may_contain(items, answers);
    if (!back_) return;
    find_missing(items, answers, [&](item_span missing, std::span<bool> found) {
      back_->may_contain(missing, found);
    });
  }

  insert_result insert(item_span items, std::span<bool> newly_inserted, insert_mode mode,
                       const growth_limit& limit) noexcept override {
    const memory_meter meter;
    insert_result total;
    while (total.done < items.size() && total.stopped_by == stop_reason::none) {
      try {
        // Near a limit items are inserted one by one, each after a check of its copies.
        const bool is_near = is_near_copy_limit(limit);
        const stop_reason reason =
            is_near ? check_copy(items[total.done], limit, meter) : stop_reason::none;
        if (reason == stop_reason::none) {
          const std::size_t n = is_near ? 1 : std::min(max_batch, items.size() - total.done);
          const insert_result part =
              insert_some(items.subspan(total.done, n), newly_inserted.subspan(total.done, n), mode,
                          limit, meter);
          total = {total.done + part.done, part.stopped_by};
        } else if (mode == insert_mode::if_absent && matches(items[total.done])) {
          newly_inserted[total.done++] = false;
        } else {
          total.stopped_by = reason;
        }
      } catch (const std::exception&) {  // from insert_some, which has changed nothing
        total.stopped_by = stop_reason::out_of_memory;
      }
    }
    // The back is empty if memory ran out for its first item. Replicas have none then.
    remove_empty_back();
    update_bytes(meter);
    return total;
  }

  bool erase(std::string_view item) override {
    const memory_meter meter;
    const bool in_front = front_.may_contain(item);
    if (!in_front && !back_) return false;
    bool erased = false;
    if (!(in_front ? front_ : *back_).erase({&item, 1}, {&erased, 1})) return false;
    deleted_ += erased;
    remove_empty_back();
    update_bytes(meter);
    return erased;
  }

  std::uint64_t count(std::string_view item) const override {
    std::uint64_t copies = 0;
    if (!front_.count({&item, 1}, {&copies, 1})) return 0;
    if (copies == 0 && back_ && !back_->count({&item, 1}, {&copies, 1})) return 0;
    return copies;
  }

  filter_facts facts() const noexcept override {
    return {.spec = spec_,
            .capacity = front_capacity() + (back_ ? back_->capacity() : 0),
            .bytes = bytes_,
            .filters = back_ ? 2U : 1U,
            .items = size(),
            .deleted = deleted_};
  }
  filter_state state() const override {
    const filter_info front = front_.info();
    if (!back_) return {front.current_fpr, front.estimated_size};
    const filter_info back = back_->info();
    // The back has only items that the front did not match.
    return {1 - (1 - front.current_fpr) * (1 - back.current_fpr),
            front.estimated_size + back.estimated_size / (1 - front.current_fpr)};
  }
  std::uint64_t bytes() const noexcept override { return bytes_; }

  std::unique_ptr<filter_value> copy() const override {
    const memory_meter meter;
    auto front = front_.copy();
    if (!front) return nullptr;
    std::optional<any_filter> back;
    if (back_) {
      auto copied = back_->copy();
      if (!copied) return nullptr;
      back.emplace(std::move(*copied));
    }
    return std::make_unique<native_value>(spec_, std::move(*front), std::move(back), deleted_,
                                          meter);
  }

  void relocate(const memory_mover& mover) noexcept override {
    front_.relocate(mover);
    if (back_) back_->relocate(mover);
  }

  bool grows_in_steps() const noexcept override { return !back_ && front_.can().grow; }
  std::optional<std::string> merge(const filter_value& other) override {
    const auto* const source = dynamic_cast<const native_value*>(&other);
    if (source == nullptr) return "its engine differs";
    const filter_spec& source_spec = source->spec_;
    const bool are_alike =
        spec_.error_rate == source_spec.error_rate && spec_.capacity == source_spec.capacity;
    if (!are_alike && !(grows_in_steps() && source->grows_in_steps())) {
      const auto differ = [](std::string_view property, auto source_value, auto value) {
        return reserved_differently(property, fmt::format("{}", source_value),
                                    fmt::format("{}", value));
      };
      return spec_.error_rate != source_spec.error_rate
                 ? differ("error rate", source_spec.error_rate, spec_.error_rate)
                 : differ("capacity", source_spec.capacity, spec_.capacity);
    }
    const memory_meter meter;
    auto error = size() == 0 && are_alike ? assign(*source) : unite(*source);
    update_bytes(meter);
    if (!error) deleted_ += source->deleted_;
    return error;
  }

  std::vector<std::byte> dump_header() const override {
    std::vector<dump_section> sections{{serialize_header(front_.image())}};
    if (back_) sections.push_back({serialize_header(back_->image())});
    return make_dump_header({spec_, deleted_}, sections);
  }
  byte_pieces dump_payload() const override {
    auto payload = front_.image().payload;
    if (back_) {
      const auto appended = back_->image().payload;
      payload.insert(payload.end(), appended.begin(), appended.end());
    }
    return payload;
  }

 private:
  std::uint64_t present_bytes(const memory_meter& meter) const noexcept {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(bytes_) + meter.allocated());
  }
  void update_bytes(const memory_meter& meter) noexcept { bytes_ = present_bytes(meter); }

  bool may_grow() const noexcept { return spec_.expansion != 0; }
  std::uint64_t size() const noexcept { return front_.size() + (back_ ? back_->size() : 0); }
  bool matches(std::string_view item) const noexcept {
    return front_.may_contain(item) || (back_ && back_->may_contain(item));
  }
  void remove_empty_back() noexcept {
    if (back_ && back_->size() == 0) back_.reset();
  }

  std::optional<std::string> assign(const native_value& source) {
    auto front = source.front_.copy();
    auto back = source.back_ ? std::optional(source.back_->copy()) : std::nullopt;
    if (!front || (back && !*back)) return "there is not enough memory for it";
    front_ = std::move(*front);
    back_.reset();
    if (back) back_.emplace(std::move(**back));
    return std::nullopt;
  }

  std::optional<std::string> unite(const native_value& source) {
    if (source.size() == 0) return std::nullopt;
    if (back_ || source.back_) {
      return "filters that have grown beyond the capacity that they were reserved with cannot be "
             "merged; reserve filters to merge with the capacity of their union";
    }
    const bool keeps_copies = spec_.family == filter_family::cuckoo || spec_.deletable;
    const auto merged =
        keeps_copies ? front_.merge(source.front_) : front_.merge_absent(source.front_);
    if (!merged && merged.error().code != errc::full) return merged.error().message;
    // The size of a merged Bloom filter is an estimate whose standard deviation is about
    // sqrt(capacity) / 4.
    const auto capacity = static_cast<double>(front_.capacity());
    const double tolerance = front_.can().count ? 0 : 2 * std::sqrt(capacity);
    if (merged && static_cast<double>(front_.size()) <= capacity + tolerance) return std::nullopt;
    return "their union has more items than the capacity that each was reserved with; reserve "
           "filters to merge with the capacity of their union";
  }

  /// Items that the front has room for; no limit if it grows or reports itself that it is full.
  std::uint64_t front_room() const noexcept {
    if (front_.can().grow || (spec_.family == filter_family::cuckoo && !may_grow())) {
      return std::numeric_limits<std::uint64_t>::max();
    }
    const std::uint64_t size = front_.size();
    return front_capacity() > size ? front_capacity() - size : 0;
  }

  /// A Bloom filter is planned for more items than it counts (see native_plan.cpp), so its capacity
  /// is the reserved one.
  std::uint64_t front_capacity() const noexcept {
    const bool counts_all = front_.can().grow || front_.can().count;
    return counts_all ? front_.capacity() : std::min(front_.capacity(), spec_.capacity);
  }

  /// Whether the table of copies may reach a limit when it doubles.
  bool is_near_copy_limit(const growth_limit& limit) {
    if (!front_.can().count || front_.can().grow) return false;
    if (limit.max_bytes != std::numeric_limits<std::uint64_t>::max()) return true;
    return limit.ctx != nullptr && front_.size_in_bytes() > large_table &&
           front_.size_in_bytes() - large_table > reserved_bytes();
  }

  /// Planned bytes of the front.
  std::uint64_t reserved_bytes() {
    if (reserved_ == 0) reserved_ = planned_native_bytes(spec_).value_or(0);
    return reserved_;
  }

  /// Why an item may not be inserted if it is counted as a copy, or moves one into the table. The
  /// table may take an eighth of the reserved bytes, and a page, in any case, since items that
  /// match others count as copies too. The check comes before the item, so that replicas hold the
  /// same items.
  stop_reason check_copy(std::string_view item, const growth_limit& limit,
                         const memory_meter& meter) {
    constexpr std::uint64_t page = 4096;
    const std::uint64_t present = present_bytes(meter);
    const std::uint64_t growth = front_.next_growth();
    const stop_reason reason = growth != 0 ? limit.check(present, growth) : stop_reason::none;
    if (reason == stop_reason::none) return reason;
    if (reason == stop_reason::limit &&
        present + growth <= reserved_bytes() + reserved_bytes() / 8 + page) {
      return stop_reason::none;
    }
    // Other items go to the back, which counts no copies.
    return !back_ || front_.may_contain(item) ? reason : stop_reason::none;
  }

  /// Inserts at least one item, or returns the reason. Throws std::bad_alloc without a change.
  insert_result insert_some(item_span items, std::span<bool> newly_inserted, insert_mode mode,
                            const growth_limit& limit, const memory_meter& meter) {
    if (mode == insert_mode::counted) {
      return insert_counted(items[0], newly_inserted[0], limit, meter);
    }
    const bool at_limit = may_grow() && present_bytes(meter) >= limit.max_bytes;
    if (at_limit && mode == insert_mode::if_absent && matches(items[0])) {
      newly_inserted[0] = false;
      return {1, stop_reason::none};
    }
    if (!back_) {
      if (at_limit && front_.can().grow) return {0, stop_reason::limit};
      if (const std::uint64_t room = front_room(); room != 0) {
        const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(items.size(), room));
        const auto summary = mode == insert_mode::if_absent
                                 ? front_.insert_absent(items.first(n), newly_inserted.first(n))
                                 : front_.insert(items.first(n));
        if (!summary) return {0, stop_reason::out_of_memory};
        if (mode == insert_mode::copies) {
          std::ranges::fill(newly_inserted.first(summary->done), true);
        }
        if (summary->done != 0) return {summary->done, stop_reason::none};
        if (front_.can().grow) return {0, stop_reason::out_of_memory};
      }
      // An item that a full front matches is no reason to grow. A fixed CF.* filter has just
      // refused to insert a copy.
      if ((may_grow() || mode == insert_mode::if_absent) && front_.may_contain(items[0])) {
        newly_inserted[0] = mode == insert_mode::copies;
        if (mode == insert_mode::copies) return insert_one(front_, items[0]);
        return {1, stop_reason::none};
      }
      if (!may_grow()) return {0, stop_reason::full};
      if (at_limit) return {0, stop_reason::limit};
      const stop_reason reason = make_back(limit, meter);
      if (reason != stop_reason::none) return {0, reason};
    }
    if (at_limit) return {0, stop_reason::limit};
    return insert_with_back(items, newly_inserted, mode);
  }

  static insert_result insert_one(any_filter& part, std::string_view item) {
    const auto summary = part.insert({&item, 1});
    if (summary && summary->done == 1) return {1, stop_reason::none};
    return {0, stop_reason::out_of_memory};
  }

  /// Inserts one item, so that its copies in the same batch are not new.
  insert_result insert_counted(std::string_view item, bool& newly_inserted,
                               const growth_limit& limit, const memory_meter& meter) {
    any_filter* target = &front_;
    if (!front_.may_contain(item)) {
      if (!back_ && front_room() == 0) {
        if (!may_grow()) return {0, stop_reason::full};
        const stop_reason reason = make_back(limit, meter);
        if (reason != stop_reason::none) return {0, reason};
      }
      if (back_) target = &*back_;
    }
    if (target->can().grow && present_bytes(meter) >= limit.max_bytes) {
      return {0, stop_reason::limit};
    }
    const auto summary = target->insert({&item, 1});
    if (summary && summary->done == 1) {
      newly_inserted = summary->inserted == 1;
      return {1, stop_reason::none};
    }
    if (target->can().grow || !may_grow() || back_) return {0, stop_reason::out_of_memory};
    // The front found no room although it has not reached its capacity.
    const stop_reason reason = make_back(limit, meter);
    if (reason != stop_reason::none) return {0, reason};
    newly_inserted = true;
    return insert_one(*back_, item);
  }

  stop_reason make_back(const growth_limit& limit, const memory_meter& meter) {
    const native_plan plan = plan_native(spec_);
    const auto planned = plan.back->kind->plan(plan.back->request);
    if (!planned) return stop_reason::out_of_memory;
    const stop_reason reason = limit.check(present_bytes(meter), planned->bytes);
    if (reason != stop_reason::none) return reason;
    auto back = plan.back->kind->create(plan.back->request);
    if (!back) return stop_reason::out_of_memory;
    back_.emplace(std::move(*back));
    // Planned bytes leave out the filter's object and the allocator's overhead.
    if (present_bytes(meter) < limit.max_bytes) return stop_reason::none;
    back_.reset();
    return stop_reason::limit;
  }

  /// Items that the front matches go there as copies, all others to the back.
  insert_result insert_with_back(item_span items, std::span<bool> newly_inserted,
                                 insert_mode mode) {
    const std::span<bool> in_front = newly_inserted;  // until the back has its items
    front_.may_contain(items, in_front);
    std::vector<std::string_view> back_items;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (in_front[i]) continue;
      back_items.push_back(items[i]);
      places.push_back(i);
    }
    const bool_list list(back_items.size());
    const std::span<bool> answers = list.span();
    const auto summary = mode == insert_mode::if_absent ? back_->insert_absent(back_items, answers)
                                                        : back_->insert(back_items);
    if (!summary) return {0, stop_reason::out_of_memory};
    std::size_t done = summary->done == back_items.size() ? items.size() : places[summary->done];
    for (std::size_t i = 0; i < done; ++i) {
      if (!in_front[i]) continue;
      newly_inserted[i] = mode == insert_mode::copies;
      if (mode == insert_mode::copies && insert_one(front_, items[i]).done == 0) done = i;
    }
    for (std::size_t k = 0; k < summary->done && places[k] < done; ++k) {
      newly_inserted[places[k]] = mode == insert_mode::copies || answers[k];
    }
    return {done, done == items.size() ? stop_reason::none : stop_reason::out_of_memory};
  }

  filter_spec spec_;
  any_filter front_;
  std::optional<any_filter> back_;
  std::uint64_t deleted_;
  std::uint64_t bytes_ = 0;
  std::uint64_t reserved_ = 0;  // 0: not computed yet
};

/// Whether a filter is large enough for a reservation: n items at the rate eps take n log2(1/eps)
/// bits in any layout. Later parts are planned from the reservation, so a small dump that promised
/// more than it holds would make them large.
bool may_hold(const any_filter& front, const filter_spec& spec) noexcept {
  const double bits = 8 * static_cast<double>(front.size_in_bytes());
  return bits >= static_cast<double>(spec.capacity) * -numeric::log2(spec.error_rate);
}

}  // namespace

std::string low_rate_obstacle(const filter_spec& spec) {
  filter_spec fixed = spec;
  fixed.family = filter_family::bloom;
  fixed.expansion = fixed.generations = 0;
  fixed.window = 0;
  fixed.deletable = false;
  const bool is_cuckoo = spec.family == filter_family::cuckoo;
  std::string_view filter = "a fixed filter";
  std::string_view advice;
  if (is_cuckoo) {
    filter = "a CF filter";
    advice = ", or reserve by BF.RESERVE with NONSCALING, which cannot delete";
  } else if (spec.window != 0) {
    filter = "a filter with a WINDOW";
    advice = ", or reserve with NONSCALING and without WINDOW";
  } else if (spec.deletable) {
    filter = "a DELETABLE filter";
    advice = ", or reserve with NONSCALING and without DELETABLE";
  } else if (spec.expansion != 0) {
    filter = "a filter that grows";
    advice = ", or reserve with NONSCALING";
  }
  if (!planned_native_bytes(fixed)) advice = "";
  return fmt::format("the error rate {:g} is too low for {} items in {}; give a higher rate{}",
                     spec.error_rate, spec.capacity, filter, advice);
}

result<std::uint64_t> planned_native_bytes(const filter_spec& spec) {
  const native_plan plan = plan_native(spec);
  const auto front = plan.front.kind->plan(plan.front.request);
  if (!front) return fail(front.error());
  if (plan.back) {  // made later, but it must be possible
    const auto back = plan.back->kind->plan(plan.back->request);
    if (!back) return fail(back.error());
  }
  return front->bytes;
}

result<std::unique_ptr<filter_value>> make_native(const filter_spec& spec) {
  const native_plan plan = plan_native(spec);
  const memory_meter meter;
  auto front = plan.front.kind->create(plan.front.request);
  if (!front) return fail(std::move(front.error()));
  return std::make_unique<native_value>(spec, std::move(*front), std::nullopt, 0, meter);
}

std::unique_ptr<filter_value> open_native(const received_dump& dump) {
  const filter_spec& spec = dump.prefix().spec;
  const native_plan plan = plan_native(spec);
  if (dump.parts() > 1 && !plan.back) return nullptr;
  const memory_meter meter;
  const auto open_part = [&](std::size_t i, const planned_part& part) -> std::optional<any_filter> {
    const std::string name = "dump";
    auto stored = read_stored(mapped_storage(nullptr, dump.file(i)), verification::always, name);
    if (!stored || stored->header.kind != part.kind->kind) return std::nullopt;
    if (!stored->header.layers.empty()) return std::nullopt;  // it would accept no key
    if (spec.seed.is_keyed() && !unlock(*stored, spec.seed.key(), name)) return std::nullopt;
    auto filter = open_any(*stored, access::writable, name);
    return filter ? std::optional(std::move(*filter)) : std::nullopt;
  };
  auto front = open_part(0, plan.front);
  if (!front || !may_hold(*front, spec)) return nullptr;
  std::optional<any_filter> back;
  if (dump.parts() > 1) {
    back = open_part(1, *plan.back);
    if (!back) return nullptr;
  }
  return std::make_unique<native_value>(spec, std::move(*front), std::move(back),
                                        dump.prefix().deleted, meter);
}

}  // namespace bloomset::server
