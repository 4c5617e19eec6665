#include "remote/remote_filter.hpp"

#include <fmt/format.h>

#include <bloomset/file.hpp>
#include <bloomset/plan/units.hpp>
#include <utility>

namespace bloomset::cli {
namespace {

// Headers of most filters, and all of a small one.
constexpr std::uint64_t first_bytes = 4096;

}  // namespace

result<remote_filter> remote_filter::open(const std::string& url, const transfer_limits& limits,
                                          bool verify) {
  auto file = http_file::open(url, limits, first_bytes);
  if (!file) return fail(std::move(file.error()));
  remote_filter made(std::move(*file));
  const auto beginning = made.file_.beginning();
  if (!made.file_.has_ranges()) {
    auto all = std::make_shared<std::vector<std::byte>>(beginning.begin(), beginning.end());
    const std::span<const std::byte> bytes = *all;
    made.bytes_ = mapped_storage(std::move(all), bytes);
    return made;
  }
  auto parts = partial_file::make(made.file_.size());
  if (!parts) {
    return fail(failure{parts.error().code, made.name() + ": " + parts.error().message});
  }
  made.parts_ = std::make_unique<partial_file>(std::move(*parts));
  made.bytes_ = made.parts_->storage();
  made.parts_->put(0, beginning);
  if (verify || !has_signature(beginning)) {
    if (auto ok = made.become_whole(); !ok) return fail(std::move(ok.error()));
    return made;
  }
  for (;;) {
    const auto missing = missing_to_open(*made.parts_, made.name());
    if (!missing && missing.error().code == errc::unsupported &&
        made.parts_->size() <= made.file_.bytes_left()) {  // a kind that is not read in part
      if (auto ok = made.become_whole(); !ok) return fail(std::move(ok.error()));
      return made;
    }
    if (!missing) return fail(missing.error());
    if (missing->empty()) return made;
    if (auto ok = made.fetch(*missing); !ok) return fail(std::move(ok.error()));
  }
}

result<void> remote_filter::fetch_for(const any_filter& filter,
                                      std::span<const std::string_view> keys) {
  if (is_whole()) return {};
  for (;;) {
    const auto missing = missing_to_query(*parts_, filter, keys);
    if (missing.empty()) return {};
    cost_ += http_file::cost_of(missing);
    const bool whole = cost_ >= parts_->size() && parts_->size() <= file_.bytes_left();
    if (auto ok = whole ? fetch_all() : fetch(missing); !ok) return ok;
  }
}

result<void> remote_filter::fetch(std::span<const byte_interval> ranges) {
  return file_.read(ranges, [this](std::uint64_t at, std::span<const std::byte> bytes) {
    parts_->put(at, bytes);
  });
}

result<void> remote_filter::fetch_all() {
  const std::uint64_t size = parts_->size();
  const byte_interval rest{std::min<std::uint64_t>(first_bytes, size), size};
  if (rest.size() == 0) return {};
  return fetch(std::span(&rest, 1));
}

result<void> remote_filter::become_whole() {
  if (auto ok = fetch_all(); !ok) return ok;
  parts_.reset();
  return {};
}

}  // namespace bloomset::cli
