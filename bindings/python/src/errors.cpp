#include "errors.hpp"

#include <fmt/format.h>

#include <string_view>

namespace py = pybind11;

namespace bloomery::python {
namespace {

// Lives as long as the interpreter: the module holds it, and modules of this sort are not unloaded.
PyObject* full_error = nullptr;

constexpr const char* full_doc =
    "There is no room for a key; the filter is as it was before that key.\n\n"
    "``contained`` of the keys that were given to the call are in the filter.";

PyObject* type_of(errc code, PyObject* unsupported) noexcept {
  switch (code) {
    case errc::not_found:
      return PyExc_FileNotFoundError;
    case errc::exists:
      return PyExc_FileExistsError;
    case errc::io:
      return PyExc_OSError;
    case errc::unsupported:
      return unsupported;
    case errc::full:
      return full_error;
    case errc::out_of_memory:
      return PyExc_MemoryError;
    case errc::invalid_argument:
    case errc::corrupt:
    case errc::incompatible:
      break;
  }
  return PyExc_ValueError;
}

}  // namespace

void add_full_error(py::module_& module) {
  py::dict attributes;
  attributes["contained"] = 0;  // of a union, which is made as a whole or not at all
  full_error =
      PyErr_NewExceptionWithDoc("bloomery.FullError", full_doc, PyExc_ValueError, attributes.ptr());
  if (full_error == nullptr) throw py::error_already_set();
  module.attr("FullError") = py::handle(full_error);
}

void raise(PyObject* type, const std::string& sentence) {
  PyErr_SetString(type, sentence.c_str());
  throw py::error_already_set();
}

void raise(const failure& why, PyObject* unsupported) {
  raise(type_of(why.code, unsupported), why.message);
}

void raise_full(insert_outcome why, std::uint64_t contained) {
  const std::string_view reason =
      why == insert_outcome::too_many_copies
          ? "the filter holds as many copies of a key as it can"
          : "the filter has no room for a key; make it with a greater capacity";
  const py::object error = py::reinterpret_borrow<py::object>(full_error)(
      fmt::format("{} ({} of the keys that were given are contained)", reason, contained));
  error.attr("contained") = contained;
  PyErr_SetObject(full_error, error.ptr());
  throw py::error_already_set();
}

}  // namespace bloomery::python
