#include "filter_value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <new>
#include <thread>
#include <utility>

#include "engines.hpp"
#include "memory.hpp"

namespace bloomery::server {
namespace {

// Values are freed by threads of the server, too.
std::atomic<std::uint64_t> count = 0;

}  // namespace

stop growth_limit::refusal(std::uint64_t held, std::uint64_t more) const noexcept {
  if (held > max_bytes || more > max_bytes - held) return stop::limit;
  return asked == nullptr || server_has_room(asked, more) ? stop::none : stop::maxmemory;
}

std::string reserved_otherwise(std::string_view what, std::string_view its,
                               std::string_view wanted) {
  return fmt::format("its {} is {}, not {}; reserve filters to merge alike", what, its, wanted);
}

std::optional<std::string> filter_value::merge(const filter_value&) {
  return "their engine has no merge";
}

void* filter_value::operator new(std::size_t size) {
  return take_filter_memory(size);
}
void filter_value::operator delete(void* at, std::size_t size) noexcept {
  give_back_filter_memory(at, size);
}

void* filter_object::operator new(std::size_t size) {
  void* const at = api.try_alloc(size);
  if (at == nullptr) throw std::bad_alloc();
  return at;
}
void filter_object::operator delete(void* at) noexcept {
  api.free(at);
}

filter_object::filter_object(std::unique_ptr<filter_value> made) noexcept
    : filter(std::move(made)) {
  count.fetch_add(1, std::memory_order_relaxed);
}
filter_object::filter_object(received_dump dump)
    : arriving(std::make_unique<received_dump>(std::move(dump))) {
  count.fetch_add(1, std::memory_order_relaxed);
}
filter_object::~filter_object() {
  count.fetch_sub(1, std::memory_order_relaxed);
}

void free_later(std::unique_ptr<filter_value> filter) noexcept {
  constexpr std::uint64_t large = std::uint64_t{1} << 20;
  if (!filter || filter->bytes() < large) return;
  try {
    leaving_bytes leaving(filter->bytes());
    std::thread([freed = std::move(filter), leaving = std::move(leaving)]() mutable {
      freed.reset();
    }).detach();
  } catch (const std::exception&) {
    return;  // no thread could be had; whoever holds it now frees it here
  }
}

std::uint64_t number_of_filters() noexcept {
  return count.load(std::memory_order_relaxed);
}

filter_family filter_object::family() const noexcept {
  return (filter ? filter->facts().spec : arriving->prefix().spec).family;
}
filter_engine filter_object::engine() const noexcept {
  return (filter ? filter->facts().spec : arriving->prefix().spec).engine;
}
std::uint64_t filter_object::bytes() const noexcept {
  // Neither is there where the filter was given to another key's value.
  const std::uint64_t behind = filter     ? filter->bytes()
                               : arriving ? sizeof *arriving + arriving->bytes()
                                          : 0;
  return sizeof *this + behind;
}
std::vector<std::byte> filter_object::dump_header() const {
  return filter ? filter->dump_header() : arriving->header();
}
std::vector<std::span<const std::byte>> filter_object::dump_payload() const {
  return filter ? filter->dump_payload() : arriving->payload();
}

wire_error filter_object::take(std::uint64_t offset, std::string_view bytes) {
  if (filter) return bad_data;
  if (const auto why = arriving->take(offset, bytes)) return why;
  wire_error why = bad_data;
  try {
    if (open_if_complete()) return nullptr;
  } catch (const std::exception&) {
    why = no_memory;
  }
  arriving->give_back(bytes.size());
  return why;
}

bool filter_object::open_if_complete() {
  if (filter || !arriving->is_complete()) return true;
  filter = open_filter(*arriving);
  if (!filter) return false;
  arriving.reset();
  return true;
}

std::string_view bytes_at(std::span<const std::span<const std::byte>> pieces, std::uint64_t offset,
                          std::size_t most, std::vector<std::byte>& scratch) {
  scratch.clear();
  for (const auto piece : pieces) {
    if (offset >= piece.size()) {
      offset -= piece.size();
      continue;
    }
    const auto here =
        piece.subspan(offset, std::min<std::size_t>(piece.size() - offset, most - scratch.size()));
    if (scratch.empty() && here.size() == most) {
      return {reinterpret_cast<const char*>(here.data()), here.size()};
    }
    scratch.insert(scratch.end(), here.begin(), here.end());
    offset = 0;
    if (scratch.size() == most) break;
  }
  return {reinterpret_cast<const char*>(scratch.data()), scratch.size()};
}

std::string_view dump_bytes_at(filter_engine engine,
                               std::span<const std::span<const std::byte>> pieces,
                               std::uint64_t offset, std::size_t most,
                               std::vector<std::byte>& scratch) {
  if (engine == filter_engine::native) return bytes_at(pieces, offset, most, scratch);
  for (const auto piece : pieces) {
    if (offset < piece.size()) {
      return as_chars(piece.subspan(offset, std::min<std::size_t>(most, piece.size() - offset)));
    }
    offset -= piece.size();
  }
  return {};
}

std::uint64_t size_of(std::span<const std::span<const std::byte>> pieces) noexcept {
  std::uint64_t size = 0;
  for (const auto piece : pieces) size += piece.size();
  return size;
}

}  // namespace bloomery::server
