#include "native_value.hpp"

#include <algorithm>
#include <bloomery/file.hpp>
#include <limits>
#include <utility>

#include "memory.hpp"

namespace bloomery::server {
namespace {

// Items that are added between two looks at the filter's size.
constexpr std::size_t batch = 4096;
// Below, a blocked filter's plan does not go; the classic one does.
constexpr double least_blocked_rate = 1e-9;

const kind_info* kind_for(const bf_spec& spec) noexcept {
  if (spec.expansion != 0) return find_kind(filter_kind::expandable);
  return find_kind(spec.error_rate < least_blocked_rate ? filter_kind::bloom
                                                        : filter_kind::blocked_bloom);
}

plan_request request_for(const bf_spec& spec) {
  return {.capacity = spec.capacity, .fpr = spec.error_rate};
}

class native_value final : public bf_value {
 public:
  native_value(any_filter filter, std::uint32_t expansion, const memory_meter& meter) noexcept
      : filter_(std::move(filter)), expansion_(expansion) {
    count(meter);
  }

  void contains(std::span<const std::string_view> items,
                std::span<bool> answers) const noexcept override {
    if (items.size() == 1) {
      answers[0] = filter_.may_contain(items[0]);
    } else {
      filter_.may_contain(items, answers);
    }
  }

  bf_added add(std::span<const std::string_view> items, std::span<bool> fresh,
               std::uint64_t most_bytes) override {
    const memory_meter meter;
    const bf_added added = add_all(items, fresh, most_bytes, meter);
    count(meter);
    return added;
  }

  bf_facts facts() const noexcept override {
    return {.capacity = filter_.capacity(),
            .bytes = bytes_,
            .filters = 1,
            .items = filter_.size(),
            .expansion = expansion_};
  }
  std::uint64_t bytes() const noexcept override { return bytes_; }

  std::vector<std::byte> dump_header() const override {
    const filter_image image = filter_.image();
    return dump_header_of(expansion_, serialize_header(image));
  }
  std::vector<std::span<const std::byte>> dump_payload() const override {
    return filter_.image().payload;
  }

 private:
  bool grows() const noexcept { return expansion_ != 0; }

  void count(const memory_meter& meter) noexcept {
    bytes_ = static_cast<std::uint64_t>(static_cast<std::int64_t>(bytes_) + meter.taken());
  }

  std::uint64_t bytes_with(const memory_meter& meter) const noexcept {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(bytes_) + meter.taken());
  }

  bf_added add_all(std::span<const std::string_view> items, std::span<bool> fresh,
                   std::uint64_t most_bytes, const memory_meter& meter) {
    std::size_t done = 0;
    while (done < items.size()) {
      std::size_t next = std::min(batch, items.size() - done);
      if (!grows()) {
        // Its rate holds up to its capacity, so that it takes no more. What is there already is no
        // item more.
        const std::uint64_t size = filter_.size();
        const std::uint64_t room = filter_.capacity() > size ? filter_.capacity() - size : 0;
        if (room == 0) {
          if (!filter_.may_contain(items[done])) return {done, "ERR non scaling filter is full"};
          fresh[done++] = false;
          continue;
        }
        next = static_cast<std::size_t>(std::min<std::uint64_t>(next, room));
      } else if (bytes_with(meter) >= most_bytes) {
        return {done, "ERR problem inserting into filter: it has reached bf.max-filter-size"};
      }
      const auto added =
          filter_.insert_absent(items.subspan(done, next), fresh.subspan(done, next));
      if (!added) return {done, "ERR problem inserting into filter"};
      done += added->done;
      if (added->done != next) return {done, "ERR problem inserting into filter"};
    }
    return {done, nullptr};
  }

  any_filter filter_;
  std::uint32_t expansion_;
  std::uint64_t bytes_ = 0;
};

}  // namespace

result<std::uint64_t> planned_native_bytes(const bf_spec& spec) {
  const auto plan = kind_for(spec)->plan(request_for(spec));
  if (!plan) return fail(plan.error());
  return plan->bytes;
}

result<std::unique_ptr<bf_value>> make_native(const bf_spec& spec) {
  const memory_meter meter;
  auto filter = kind_for(spec)->create(request_for(spec));
  if (!filter) return fail(std::move(filter.error()));
  return std::make_unique<native_value>(std::move(*filter), spec.expansion, meter);
}

std::unique_ptr<bf_value> open_native(const received_dump& dump) {
  const std::string name = "dump";
  const auto stored = read_stored(mapped_storage(nullptr, dump.file()), verification::always, name);
  if (!stored) return nullptr;
  const filter_kind kind = stored->header.kind;
  const bool fits = dump.expansion() != 0
                        ? kind == filter_kind::expandable
                        : kind == filter_kind::blocked_bloom || kind == filter_kind::bloom;
  if (!fits) return nullptr;
  const memory_meter meter;
  auto filter = open_any(*stored, access::writable, name);
  if (!filter) return nullptr;
  return std::make_unique<native_value>(std::move(*filter), dump.expansion(), meter);
}

}  // namespace bloomery::server
