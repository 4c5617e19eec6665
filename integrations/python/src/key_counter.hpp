#pragma once

#include <pybind11/pybind11.h>

namespace bloomset::python {

/// Adds the class KeyCounter to the module.
void add_key_counter(pybind11::module_& module);

}  // namespace bloomset::python
