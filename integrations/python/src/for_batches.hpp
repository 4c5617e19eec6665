#pragma once

#include <fmt/format.h>
#include <pybind11/pybind11.h>

#include "arrow/arrow.hpp"
#include "errors.hpp"
#include "keys.hpp"

namespace bloomset::python {

/// Calls `work(batch)` for the batch that an array is, or for each that Arrow data or an iterable
/// give.
template <class Work>
void for_batches(const pybind11::object& keys, const pybind11::object& offsets, Work&& work) {
  if (!offsets.is_none()) {
    work(*batch_of_offsets(keys, offsets));
  } else if (const auto batch = batch_of_array(keys)) {
    work(*batch);
  } else if (const auto column = arrow_column::of(keys)) {
    while (const auto some = column->next()) work(*some);
  } else {
    iterated_keys some(keys);
    while (some.next()) work(some);
  }
}

/// The same for the keys of several, one after the other; offsets belong to one.
template <class Work>
void for_all_batches(const pybind11::tuple& batches, const pybind11::object& offsets, Work&& work) {
  if (!offsets.is_none() && batches.size() != 1) {
    raise(PyExc_TypeError,
          fmt::format("offsets belong to one batch, and there are {}; call once for each",
                      batches.size()));
  }
  for (const pybind11::handle& keys : batches) {
    for_batches(pybind11::reinterpret_borrow<pybind11::object>(keys), offsets, work);
  }
}

}  // namespace bloomset::python
