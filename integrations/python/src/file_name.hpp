#pragma once

#include <pybind11/pybind11.h>

#include <bloomset/result.hpp>
#include <filesystem>
#include <string>
#include <type_traits>
#include <utility>

#include "errors.hpp"

namespace bloomset::python {

/// A file's name: as Python has it, str or bytes, and as the operating system has it. Raises
/// TypeError for what is no path.
struct file_name {
  explicit file_name(const pybind11::object& path)
      : given(pybind11::reinterpret_steal<pybind11::object>(PyOS_FSPath(path.ptr()))) {
    PyObject* encoded = nullptr;
    if (!given || PyUnicode_FSConverter(given.ptr(), static_cast<void*>(&encoded)) == 0) {
      throw pybind11::error_already_set();
    }
    encoded_path = std::string(pybind11::reinterpret_steal<pybind11::bytes>(encoded));
  }

  /// The value, or the exception, which names the file.
  template <class T>
  T or_raise(result<T> made, PyObject* unsupported) const {
    if (!made) raise_for_file(made.error(), encoded_path.string(), given, unsupported);
    if constexpr (!std::is_void_v<T>) return std::move(*made);
  }

  pybind11::object given;
  std::filesystem::path encoded_path;
};

}  // namespace bloomset::python
