#include "native_value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bloomery/file.hpp>
#include <cmath>
#include <limits>
#include <utility>

#include "bool_list.hpp"
#include "memory.hpp"
#include "native_plan.hpp"

namespace bloomery::server {
namespace {

// Items that are added between two looks at the filter's size.
constexpr std::size_t batch = 4096;
// A table of copies that is larger doubles by as much as the server is asked for.
constexpr std::uint64_t large_table = std::uint64_t{1} << 20;

using item_span = std::span<const std::string_view>;

// Where items can be deleted each must be found in the part that holds it, or another's would be
// taken. So once there is a back, the front takes no items but further copies of what it says it
// holds: an item is in front exactly if the front says yes. With its last item the back goes.
class native_value final : public filter_value {
 public:
  native_value(const filter_spec& spec, any_filter front, std::optional<any_filter> back,
               std::uint64_t deleted, const memory_meter& meter) noexcept
      : spec_(spec), front_(std::move(front)), back_(std::move(back)), deleted_(deleted) {
    count_bytes(meter);
  }

  void contains(item_span items, std::span<bool> answers) const noexcept override {
    if (items.size() == 1) {
      answers[0] = front_.may_contain(items[0]) || (back_ && back_->may_contain(items[0]));
      return;
    }
    front_.may_contain(items, answers);
    if (!back_) return;
    std::array<std::string_view, 128> missing;
    std::array<std::size_t, 128> places;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    std::array<bool, 128> found;          // NOLINT(cppcoreguidelines-pro-type-member-init)
    for (std::size_t at = 0; at < items.size();) {
      std::size_t n = 0;
      for (; at < items.size() && n < missing.size(); ++at) {
        if (answers[at]) continue;
        missing.at(n) = items[at];
        places.at(n++) = at;
      }
      back_->may_contain(std::span(missing).first(n), found);
      for (std::size_t i = 0; i < n; ++i) answers[places.at(i)] = found.at(i);
    }
  }

  added_items add(item_span items, std::span<bool> fresh, adding how,
                  const growth_limit& limit) noexcept override {
    const memory_meter meter;
    added_items all;
    while (all.done < items.size() && all.stopped_by == stop::none) {
      try {
        // Near a limit one by one: each is looked at before it may take memory.
        const bool looks_at_each = is_near_limit_of_copies(limit);
        const stop why =
            looks_at_each ? refusal_of_copies(items[all.done], limit, meter) : stop::none;
        if (why != stop::none && how == adding::absent && holds(items[all.done])) {
          fresh[all.done++] = false;
          continue;
        }
        const std::size_t n = looks_at_each ? 1 : std::min(batch, items.size() - all.done);
        const added_items part = why != stop::none
                                     ? added_items{0, why}
                                     : add_some(items.subspan(all.done, n),
                                                fresh.subspan(all.done, n), how, limit, meter);
        all.done += part.done;
        all.stopped_by = part.stopped_by;
      } catch (const std::exception&) {  // add_some has thrown before it changed anything
        all.stopped_by = stop::memory;
      }
    }
    // One that was made for an item which then found no memory: replicas have none.
    if (back_ && back_->size() == 0) back_.reset();
    count_bytes(meter);
    return all;
  }

  bool erase(std::string_view item) override {
    const memory_meter meter;
    const bool in_front = front_.may_contain(item);
    if (!in_front && !back_) return false;
    bool erased = false;
    if (!(in_front ? front_ : *back_).erase({&item, 1}, {&erased, 1})) return false;
    deleted_ += erased;
    if (back_ && back_->size() == 0) back_.reset();
    count_bytes(meter);
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
    // An item that the front seemed to hold never came to the back.
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
      auto behind = back_->copy();
      if (!behind) return nullptr;
      back.emplace(std::move(*behind));
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
    const auto* const from = dynamic_cast<const native_value*>(&other);
    if (from == nullptr) return "its engine is another";
    const bool are_alike =
        spec_.error_rate == from->spec_.error_rate && spec_.capacity == from->spec_.capacity;
    if (!are_alike && !(grows_in_steps() && from->grows_in_steps())) {
      const auto differ = [](std::string_view what, auto its, auto wanted) {
        return reserved_otherwise(what, fmt::format("{}", its), fmt::format("{}", wanted));
      };
      return spec_.error_rate != from->spec_.error_rate
                 ? differ("error rate", from->spec_.error_rate, spec_.error_rate)
                 : differ("capacity", from->spec_.capacity, spec_.capacity);
    }
    const memory_meter meter;
    auto why = size() == 0 && are_alike ? become(*from) : unite(*from);
    count_bytes(meter);
    if (!why) deleted_ += from->deleted_;
    return why;
  }

  std::vector<std::byte> dump_header() const override {
    std::vector<std::vector<std::byte>> headers{serialize_header(front_.image())};
    if (back_) headers.push_back(serialize_header(back_->image()));
    return dump_header_of({spec_, deleted_}, headers);
  }
  std::vector<std::span<const std::byte>> dump_payload() const override {
    auto payload = front_.image().payload;
    if (back_) {
      const auto behind = back_->image().payload;
      payload.insert(payload.end(), behind.begin(), behind.end());
    }
    return payload;
  }

 private:
  std::uint64_t bytes_with(const memory_meter& meter) const noexcept {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(bytes_) + meter.taken());
  }
  void count_bytes(const memory_meter& meter) noexcept { bytes_ = bytes_with(meter); }

  bool may_grow() const noexcept { return spec_.expansion != 0; }
  std::uint64_t size() const noexcept { return front_.size() + (back_ ? back_->size() : 0); }
  bool holds(std::string_view item) const noexcept {
    return front_.may_contain(item) || (back_ && back_->may_contain(item));
  }

  std::optional<std::string> become(const native_value& from) {
    auto front = from.front_.copy();
    auto back = from.back_ ? std::optional(from.back_->copy()) : std::nullopt;
    if (!front || (back && !*back)) return "there is no memory for it";
    front_ = std::move(*front);
    back_.reset();
    if (back) back_.emplace(std::move(**back));
    return std::nullopt;
  }

  std::optional<std::string> unite(const native_value& from) {
    if (from.size() == 0) return std::nullopt;
    if (back_ || from.back_) {
      return "filters that have grown beyond the capacity that they were reserved with cannot be "
             "merged; reserve filters to merge with the capacity of their union";
    }
    const bool is_of_copies = spec_.family == filter_family::cuckoo || spec_.deletable;
    const auto merged = is_of_copies ? front_.merge(from.front_) : front_.merge_absent(from.front_);
    if (!merged && merged.error().code != errc::full) return merged.error().message;
    // A Bloom filter's count is an estimate now, whose deviation is about a fourth of this root.
    const auto most = static_cast<double>(front_.capacity());
    const double tolerated = front_.can().count ? 0 : 2 * std::sqrt(most);
    if (merged && static_cast<double>(front_.size()) <= most + tolerated) return std::nullopt;
    return "their union has more items than the capacity that each was reserved with; reserve "
           "filters to merge with the capacity of their union";
  }

  /// Items that the front still takes.
  std::uint64_t room_in_front() const noexcept {
    const bool until_it_is_full =
        front_.can().grow || (spec_.family == filter_family::cuckoo && !may_grow());
    if (until_it_is_full) return std::numeric_limits<std::uint64_t>::max();
    const std::uint64_t size = front_.size();
    return front_capacity() > size ? front_capacity() - size : 0;
  }

  /// Of a Bloom filter those that were reserved: it is made for what it will overlook, too.
  std::uint64_t front_capacity() const noexcept {
    const bool counts_all = front_.can().grow || front_.can().count;
    return counts_all ? front_.capacity() : std::min(front_.capacity(), spec_.capacity);
  }

  /// Whether each item has to be looked at, since a table of copies may grow too large.
  bool is_near_limit_of_copies(const growth_limit& limit) {
    if (!front_.can().count || front_.can().grow) return false;
    if (limit.max_bytes != std::numeric_limits<std::uint64_t>::max()) return true;
    return limit.asked != nullptr && front_.size_in_bytes() > large_table &&
           front_.size_in_bytes() - large_table > reserved_bytes();
  }

  /// What the front was planned with.
  std::uint64_t reserved_bytes() {
    if (reserved_ == 0) reserved_ = planned_native_bytes(spec_).value_or(0);
    return reserved_;
  }

  /// Why the item, or a copy that gives it a slot, may not be counted, if that may take more memory
  /// than the limit leaves. Copies may take an eighth of what was reserved, and a page, in any
  /// case: items that look alike are copies, too. Asked before each item, and nothing is refused by
  /// halves: what is taken here replicas take alike.
  stop refusal_of_copies(std::string_view item, const growth_limit& limit,
                         const memory_meter& meter) {
    constexpr std::uint64_t page = 4096;
    const std::uint64_t held = bytes_with(meter);
    const std::uint64_t growth = front_.next_growth();
    const stop why = growth != 0 ? limit.refusal(held, growth) : stop::none;
    if (why == stop::none) return why;
    if (why == stop::limit && held + growth <= reserved_bytes() + reserved_bytes() / 8 + page) {
      return stop::none;
    }
    // Else it goes behind, where no copies are counted.
    return !back_ || front_.may_contain(item) ? why : stop::none;
  }

  /// At least one item, or why not. Throws std::bad_alloc, and no item has been added then.
  added_items add_some(item_span items, std::span<bool> fresh, adding how,
                       const growth_limit& limit, const memory_meter& meter) {
    const bool at_limit = may_grow() && bytes_with(meter) >= limit.max_bytes;
    if (how == adding::counted) return add_counted(items[0], fresh[0], limit, meter);
    if (at_limit && how == adding::absent && holds(items[0])) {
      fresh[0] = false;
      return {1, stop::none};
    }
    if (!back_) {
      if (at_limit && front_.can().grow) return {0, stop::limit};
      const auto room = room_in_front();
      if (room != 0) {
        const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(items.size(), room));
        const auto summary = how == adding::absent
                                 ? front_.insert_absent(items.first(n), fresh.first(n))
                                 : front_.insert(items.first(n));
        if (!summary) return {0, stop::memory};
        if (how == adding::copies) std::ranges::fill(fresh.first(summary->done), true);
        if (summary->done != 0) return {summary->done, stop::none};
        if (front_.can().grow) return {0, stop::memory};
      }
      if (is_in_full(items[0], how)) return add_to_full(items[0], fresh[0], how);
      if (!may_grow()) return {0, stop::full};
      if (at_limit) return {0, stop::limit};
      if (const stop why = make_back(limit, meter); why != stop::none) return {0, why};
    }
    return at_limit ? added_items{0, stop::limit} : add_behind(items, fresh, how);
  }

  /// One by one, so that each item is told from its copies in the same batch.
  added_items add_counted(std::string_view item, bool& fresh, const growth_limit& limit,
                          const memory_meter& meter) {
    any_filter* into = &front_;
    if (!front_.may_contain(item)) {
      if (!back_ && room_in_front() == 0) {
        if (!may_grow()) return {0, stop::full};
        if (const stop why = make_back(limit, meter); why != stop::none) return {0, why};
      }
      if (back_) into = &*back_;
    }
    if (into != &front_ && bytes_with(meter) >= limit.max_bytes) return {0, stop::limit};
    const auto put = into->insert({&item, 1});
    if (put && put->done == 1) {
      fresh = put->inserted == 1;
      return {1, stop::none};
    }
    // A front that finds no room before its capacity is there: what comes behind takes it.
    if (into != &front_ || !may_grow() || back_) return {0, stop::memory};
    if (const stop why = make_back(limit, meter); why != stop::none) return {0, why};
    const auto behind = back_->insert({&item, 1});
    fresh = true;
    return behind && behind->done == 1 ? added_items{1, stop::none} : added_items{0, stop::memory};
  }

  /// Whether a front without room has the item, which then is no reason to grow. A fixed filter of
  /// CF.* was asked before.
  bool is_in_full(std::string_view item, adding how) const noexcept {
    return (may_grow() || how == adding::absent) && front_.may_contain(item);
  }
  added_items add_to_full(std::string_view item, bool& fresh, adding how) {
    fresh = how == adding::copies;
    if (!fresh) return {1, stop::none};
    const auto copied = front_.insert({&item, 1});
    return copied && copied->done == 1 ? added_items{1, stop::none} : added_items{0, stop::memory};
  }

  stop make_back(const growth_limit& limit, const memory_meter& meter) {
    const native_plan plan = plan_native(spec_);
    const auto planned = plan.back->kind->plan(plan.back->request);
    if (!planned) return stop::memory;
    const stop why = limit.refusal(bytes_with(meter), planned->bytes);
    if (why != stop::none) return why;
    auto made = plan.back->kind->create(plan.back->request);
    if (!made) return stop::memory;
    back_.emplace(std::move(*made));
    // What was planned leaves out what the server's allocator and the filter itself take.
    if (bytes_with(meter) < limit.max_bytes) return stop::none;
    back_.reset();
    return stop::limit;
  }

  added_items add_behind(item_span items, std::span<bool> fresh, adding how) {
    front_.may_contain(items, fresh);  // for now: whether it is in front
    std::vector<std::string_view> behind;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (fresh[i]) continue;
      behind.push_back(items[i]);
      places.push_back(i);
    }
    const bool_list list(behind.size());
    const std::span<bool> answers = list.all();
    const auto summary =
        how == adding::absent ? back_->insert_absent(behind, answers) : back_->insert(behind);
    if (!summary) return {0, stop::memory};
    std::size_t done = summary->done == behind.size() ? items.size() : places[summary->done];
    for (std::size_t i = 0; i < done; ++i) {
      if (!fresh[i]) continue;
      fresh[i] = how == adding::copies;
      if (!fresh[i]) continue;
      const auto copied = front_.insert(items.subspan(i, 1));
      if (!copied || copied->done == 0) done = i;
    }
    for (std::size_t k = 0; k < summary->done && places[k] < done; ++k) {
      fresh[places[k]] = how == adding::copies || answers[k];
    }
    return {done, done == items.size() ? stop::none : stop::memory};
  }

  filter_spec spec_;
  any_filter front_;
  std::optional<any_filter> back_;
  std::uint64_t deleted_;
  std::uint64_t bytes_ = 0;
  std::uint64_t reserved_ = 0;  // 0: not looked up yet
};

}  // namespace

result<std::uint64_t> planned_native_bytes(const filter_spec& spec) {
  const native_plan plan = plan_native(spec);
  const auto front = plan.front.kind->plan(plan.front.request);
  if (!front) return fail(front.error());
  if (plan.back) {  // which is to come, and must be one that there can be
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
  const auto open_part = [&](std::size_t i, auto&& is_kind) -> std::optional<any_filter> {
    const std::string name = "dump";
    const auto stored =
        read_stored(mapped_storage(nullptr, dump.file(i)), verification::always, name);
    if (!stored || !is_kind(stored->header.kind)) return std::nullopt;
    auto filter = open_any(*stored, access::writable, name);
    return filter ? std::optional(std::move(*filter)) : std::nullopt;
  };
  auto front = open_part(0, [&](filter_kind kind) { return may_be_front(kind, plan); });
  if (!front) return nullptr;
  std::optional<any_filter> back;
  if (dump.parts() > 1) {
    back = open_part(1, [&](filter_kind kind) { return kind == plan.back->kind->kind; });
    if (!back) return nullptr;
  }
  return std::make_unique<native_value>(spec, std::move(*front), std::move(back),
                                        dump.prefix().deleted, meter);
}

}  // namespace bloomery::server
