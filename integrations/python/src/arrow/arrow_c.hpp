#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <utility>

// Arrow's C data and stream interfaces (https://arrow.apache.org/docs/format/CDataInterface.html).
// The layouts of these structures are fixed.
extern "C" {
struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  std::int64_t length;
  std::int64_t null_count;
  std::int64_t offset;
  std::int64_t n_buffers;
  std::int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};

struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema*);
  int (*get_next)(ArrowArrayStream*, ArrowArray*);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};
}

namespace bloomset::python::arrow {

/// One of the structures, released at the end.
template <class T>
struct held {
  T value{};

  held() = default;
  held(const held&) = delete;
  held& operator=(const held&) = delete;
  ~held() {
    if (value.release != nullptr) value.release(&value);
  }

  /// Takes it out of a capsule, which then has none.
  void take_from(pybind11::handle capsule, const char* name) {
    void* const given = PyCapsule_GetPointer(capsule.ptr(), name);
    if (given == nullptr) throw pybind11::error_already_set();
    value = std::exchange(*static_cast<T*>(given), T{});
  }
};

using held_array = std::shared_ptr<held<ArrowArray>>;

}  // namespace bloomset::python::arrow
