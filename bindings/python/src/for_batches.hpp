#pragma once

#include <pybind11/pybind11.h>

#include "keys.hpp"

namespace bloomery::python {

/// Calls `work(batch)` for the batch that an array is, or for each that an iterable gives.
template <class Work>
void for_batches(const pybind11::object& keys, const pybind11::object& offsets, Work&& work) {
  if (!offsets.is_none()) {
    work(*batch_of_offsets(keys, offsets));
  } else if (const auto batch = batch_of_array(keys)) {
    work(*batch);
  } else {
    iterated_keys some(keys);
    while (some.next()) work(some);
  }
}

}  // namespace bloomery::python
