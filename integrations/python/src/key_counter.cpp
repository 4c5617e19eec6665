#include "key_counter.hpp"

#include <algorithm>
#include <bloomset/any_filter.hpp>
#include <bloomset/detail/core/cardinality.hpp>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "batches.hpp"
#include "errors.hpp"
#include "for_batches.hpp"
#include "requests.hpp"
#include "without_gil.hpp"

namespace py = pybind11;

namespace bloomset::python {
namespace {

/// Nobody waits for the counter while holding the GIL.
class key_counter {
 public:
  explicit key_counter(const plan_request& request) : hasher_(request.seed.half(0)) {}

  void update(const py::tuple& batches, const py::object& offsets) {
    for_all_batches(batches, offsets, [this](key_batch& batch) {
      for (batch_turns turns(batch); turns.next();) {
        const without_gil released;
        const std::lock_guard lock(mutex_);
        count_distinct(counter_, hasher_, turns);
      }
    });
  }

  std::vector<std::byte> state() const {
    const without_gil released;
    const std::lock_guard lock(mutex_);
    return counter_.state();
  }

  bool merge(std::span<const std::byte> state) {
    const without_gil released;
    const std::lock_guard lock(mutex_);
    return counter_.merge(state);
  }

  std::uint64_t capacity(const kind_info& kind) const {
    const without_gil released;
    const std::lock_guard lock(mutex_);
    // Kinds that store every copy of a key need room for the copies.
    return kind.can.erase || kind.can.count ? std::max<std::uint64_t>(1, counter_.added())
                                            : counter_.distinct();
  }

 private:
  filter_hasher hasher_;
  detail::distinct_counter counter_;
  mutable std::mutex mutex_;
};

void merge_state(key_counter& counter, const py::bytes& state) {
  const auto bytes = static_cast<std::string_view>(state);
  if (!counter.merge(std::as_bytes(std::span(bytes)))) {
    raise(PyExc_ValueError, "the bytes are not the state of a counter of keys");
  }
}

}  // namespace

void add_key_counter(py::module_& module) {
  py::class_<key_counter>(module, "KeyCounter")
      .def(py::init<const plan_request&>())
      .def("_update", &key_counter::update)
      .def("_merge", &merge_state)
      .def("_state",
           [](const key_counter& counter) {
             const std::vector<std::byte> state = counter.state();
             return py::bytes(reinterpret_cast<const char*>(state.data()), state.size());
           })
      .def("_capacity", [](const key_counter& counter, const std::string& kind) {
        return counter.capacity(kind_of(kind));
      });
}

}  // namespace bloomset::python
