#pragma once

// Failures of the library as Python's exceptions, with the library's sentence.

#include <pybind11/pybind11.h>

#include <bloomset/concepts.hpp>
#include <bloomset/result.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace bloomset::python {

/// Makes bloomset.FullError; to be called once, before anything is raised.
void add_full_error(pybind11::module_& module);

/// ValueError for what was given, MemoryError, and `unsupported` for what cannot be done: a
/// TypeError where a filter lacks the ability, a ValueError where a file is of a version that is
/// not known.
[[noreturn]] void raise(const failure& why, PyObject* unsupported = PyExc_TypeError);

/// The same for what was done with a file: an OSError with its number and `name`, which is the name
/// as it was given, so that it is of the class for that number (FileNotFoundError,
/// PermissionError). `path` is the name in the library's sentence.
[[noreturn]] void raise_for_file(const failure& why, const std::string& path, pybind11::handle name,
                                 PyObject* unsupported);

/// FullError: `contained` of the keys that were given are in the filter, and then there was no
/// room.
[[noreturn]] void raise_full(insert_outcome why, std::uint64_t contained);
/// FullError of a strict filter, with the sentence that says how far it is overfilled.
[[noreturn]] void raise_overfilled(std::string_view sentence, std::uint64_t contained);

[[noreturn]] void raise(PyObject* type, const std::string& sentence);

/// The value, or the exception.
template <class T>
T or_raise(result<T> made, PyObject* unsupported = PyExc_TypeError) {
  if (!made) raise(made.error(), unsupported);
  if constexpr (!std::is_void_v<T>) return std::move(*made);
}

}  // namespace bloomset::python
