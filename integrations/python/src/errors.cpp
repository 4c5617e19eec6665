#include "errors.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <string_view>

namespace py = pybind11;

namespace bloomset::python {
namespace {

// Lives as long as the interpreter: the module holds it, and modules of this sort are not unloaded.
PyObject* full_error = nullptr;

constexpr const char* full_doc =
    "There is no room for a key, or a strict filter is overfilled; the filter takes no more "
    "keys.\n\n"
    "``contained`` of the keys that were given to the call are in the filter, the first ones.\n"
    "``reason`` is 'full', 'too_many_copies' (of one key) or 'overfilled'. Only the first may be "
    "mended by a greater capacity.";

PyObject* type_of(errc code, PyObject* unsupported) noexcept {
  switch (code) {
    case errc::not_found:
    case errc::exists:
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

int number_of(const failure& why) noexcept {
  if (why.system_error != 0) return why.system_error;
  if (why.code == errc::exists) return EEXIST;
  return why.code == errc::not_found ? ENOENT : EIO;
}

/// A sentence as Python's text. Bytes of a file's name that are no UTF-8 are shown as Python does.
py::object text_of(std::string_view sentence) {
  auto text = py::reinterpret_steal<py::object>(PyUnicode_DecodeUTF8(
      sentence.data(), static_cast<Py_ssize_t>(sentence.size()), "surrogateescape"));
  if (!text) throw py::error_already_set();
  return text;
}

[[noreturn]] void raise_full_error(std::string_view reason, std::string_view sentence,
                                   std::uint64_t contained) {
  const py::object error = py::reinterpret_borrow<py::object>(full_error)(
      fmt::format("{} ({} of the keys that were given are contained)", sentence, contained));
  error.attr("contained") = contained;
  error.attr("reason") = reason;
  PyErr_SetObject(full_error, error.ptr());
  throw py::error_already_set();
}

}  // namespace

void add_full_error(py::module_& module) {
  py::dict attributes;
  attributes["contained"] = 0;  // of a union, which is made as a whole or not at all
  attributes["reason"] = "full";
  full_error =
      PyErr_NewExceptionWithDoc("bloomset.FullError", full_doc, PyExc_ValueError, attributes.ptr());
  if (full_error == nullptr) throw py::error_already_set();
  module.attr("FullError") = py::handle(full_error);
}

void raise(PyObject* type, const std::string& sentence) {
  PyErr_SetObject(type, text_of(sentence).ptr());
  throw py::error_already_set();
}

void raise(const failure& why, PyObject* unsupported) {
  raise(type_of(why.code, unsupported), why.message);
}

void raise_for_file(const failure& why, const std::string& path, py::handle name,
                    PyObject* unsupported) {
  if (type_of(why.code, unsupported) != PyExc_OSError) raise(why, unsupported);
  // Python adds the name to the sentence itself.
  std::string_view sentence = why.message;
  if (sentence.starts_with(path + ": ")) sentence.remove_prefix(path.size() + 2);
  std::string said(sentence);
  if (why.code == errc::exists) said += "; give replace=True to replace it";
  const py::object error = py::handle(PyExc_OSError)(number_of(why), text_of(said),
                                                     py::reinterpret_borrow<py::object>(name));
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  throw py::error_already_set();
}

void raise_full(insert_outcome why, std::uint64_t contained) {
  if (why == insert_outcome::too_many_copies) {
    raise_full_error("too_many_copies", "the filter holds as many copies of a key as it can",
                     contained);
  }
  raise_full_error("full", "the filter has no room for a key; make it with a greater capacity",
                   contained);
}

void raise_overfilled(std::string_view sentence, std::uint64_t contained) {
  raise_full_error("overfilled", sentence, contained);
}

}  // namespace bloomset::python
