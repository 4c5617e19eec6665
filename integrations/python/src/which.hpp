#pragma once

#include <pybind11/pybind11.h>

namespace bloomset::python {

/// Adds the class FileIndex, which bloomset.Which stands on.
void add_which(pybind11::module_& module);

}  // namespace bloomset::python
