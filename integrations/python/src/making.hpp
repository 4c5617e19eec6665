#pragma once

// How filters come to be, and where they are kept: planned, built, opened, loaded, copied, saved.

#include <pybind11/pybind11.h>

#include <bloomset/any_filter.hpp>
#include <optional>

#include "shared_filter.hpp"

namespace bloomset::python {

/// A filter that no object has yet. Python makes an object of the class of its kind and gives it
/// this.
struct made_filter {
  any_filter filter;
  std::optional<stored_filter> file = std::nullopt;  ///< over which it is mapped, if it is
  bool is_strict = false;                            ///< see overfill_watch
};

/// Adds what makes filters, and the class of what they make, to the module.
void add_making(pybind11::module_& module);

/// A copy in memory of its own, which can be changed.
made_filter copy_of(const shared_filter& filter);
/// The fold by that factor. If it is 0, the smallest at the rate, or for None at the planned rate.
made_filter fold_of(const shared_filter& filter, std::uint64_t factor, const pybind11::object& fpr);

/// The bytes that a file would have.
pybind11::bytes bytes_of_filter(const shared_filter& filter);

/// Writes a file, atomically.
void save_to(const shared_filter& filter, const pybind11::object& path, bool replace);

}  // namespace bloomset::python
