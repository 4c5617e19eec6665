#include "values/filter_object.hpp"

#include <atomic>
#include <new>
#include <utility>

#include "values/engines.hpp"

namespace bloomset::server {
namespace {

// Threads of the server free objects, too.
std::atomic<std::uint64_t> object_count = 0;

}  // namespace

void* filter_object::operator new(std::size_t size) {
  void* const memory = api.try_alloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void filter_object::operator delete(void* memory) noexcept {
  api.free(memory);
}

filter_object::filter_object(std::unique_ptr<filter_value> value) noexcept
    : filter(std::move(value)) {
  object_count.fetch_add(1, std::memory_order_relaxed);
}
filter_object::filter_object(received_dump dump)
    : arriving(std::make_unique<received_dump>(std::move(dump))) {
  object_count.fetch_add(1, std::memory_order_relaxed);
}
filter_object::~filter_object() {
  object_count.fetch_sub(1, std::memory_order_relaxed);
}

filter_spec filter_object::spec() const noexcept {
  return filter ? filter->facts().spec : arriving->prefix().spec;
}
std::uint64_t filter_object::bytes() const noexcept {
  // Both are null after the filter has moved to another object.
  if (filter) return sizeof *this + filter->bytes();
  return sizeof *this + (arriving ? sizeof *arriving + arriving->bytes() : 0);
}
std::vector<std::byte> filter_object::dump_header() const {
  return filter ? filter->dump_header() : arriving->header();
}
byte_pieces filter_object::dump_payload() const {
  return filter ? filter->dump_payload() : arriving->payload();
}

wire_error filter_object::append(std::uint64_t offset, std::string_view bytes) {
  if (filter) return bad_data;
  if (const auto error = arriving->append(offset, bytes)) return error;
  wire_error error = bad_data;
  try {
    if (open_if_complete()) return nullptr;
  } catch (const std::exception&) {
    error = no_memory;
  }
  arriving->remove_last(bytes.size());
  return error;
}

bool filter_object::open_if_complete() {
  if (filter || !arriving->is_complete()) return true;
  filter = open_filter(*arriving);
  if (!filter) return false;
  arriving.reset();
  return true;
}

std::uint64_t number_of_filters() noexcept {
  return object_count.load(std::memory_order_relaxed);
}

}  // namespace bloomset::server
