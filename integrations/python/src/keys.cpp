#include "keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "errors.hpp"
#include "without_gil.hpp"

namespace py = pybind11;

namespace bloomset::python {
namespace {

// Enough for the filter's work to outweigh the giving back of the GIL.
constexpr std::size_t keys_at_once = 4096;

[[noreturn]] void raise_no_key(py::handle object) {
  raise(PyExc_TypeError,
        fmt::format("a key is str, bytes, int or UUID, not {}; for many keys at once there "
                    "are contains() and update()",
                    Py_TYPE(object.ptr())->tp_name));
}

std::string_view key_of_int(PyObject* number, key_word& word) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(number, &overflow);
  auto bits = static_cast<unsigned long long>(value);
  if (overflow > 0) bits = PyLong_AsUnsignedLongLong(number);
  if (overflow < 0 || (bits + 1 == 0 && PyErr_Occurred() != nullptr)) {
    PyErr_Clear();
    raise(PyExc_ValueError,
          "an int key is at least -2**63 and below 2**64; give a larger number as str or bytes");
  }
  word = std::bit_cast<key_word>(bits);
  return {word.data(), word.size()};
}

/// Of a uuid.UUID its 16 bytes in the order of RFC 9562; null for any other object.
py::object bytes_of_uuid(py::handle object) {
  PyObject* const loaded = PyDict_GetItemString(PyImport_GetModuleDict(), "uuid");
  if (loaded == nullptr) return {};
  const py::object type = py::getattr(loaded, "UUID", py::none());
  if (type.is_none() || !py::isinstance(object, type)) return {};
  auto bytes = py::reinterpret_steal<py::object>(
      while_python_runs([object] { return PyObject_GetAttrString(object.ptr(), "bytes"); }));
  if (!bytes) throw py::error_already_set();
  return bytes;
}

std::string_view bytes_in(py::handle bytes) {
  return {PyBytes_AS_STRING(bytes.ptr()), static_cast<std::size_t>(PyBytes_GET_SIZE(bytes.ptr()))};
}

}  // namespace

std::string_view key_of(py::handle object, key_word& word, py::object& kept) {
  PyObject* const o = object.ptr();
  if (PyUnicode_Check(o)) {
    if (PyUnicode_IS_COMPACT_ASCII(o)) {  // its UTF-8 bytes are there
      return {static_cast<const char*>(PyUnicode_DATA(o)),
              static_cast<std::size_t>(PyUnicode_GET_LENGTH(o))};
    }
    Py_ssize_t size = 0;
    const char* const data = PyUnicode_AsUTF8AndSize(o, &size);
    if (data == nullptr) throw py::error_already_set();
    return {data, static_cast<std::size_t>(size)};
  }
  if (PyBytes_Check(o)) return bytes_in(object);
  if (PyBool_Check(o)) raise_no_key(object);
  if (PyLong_Check(o)) return key_of_int(o, word);
  if (PyByteArray_Check(o) || PyMemoryView_Check(o)) {
    // Their bytes can change or go while another thread has the interpreter.
    kept = py::reinterpret_steal<py::object>(PyBytes_FromObject(o));
    if (!kept) throw py::error_already_set();
    return bytes_in(kept);
  }
  // NumPy's integers, and in older versions its bool. An array that may be masked is none.
  const std::string_view type = Py_TYPE(o)->tp_name;
  if (PyIndex_Check(o) && !type.starts_with("numpy.bool") && type != "MaskedArray") {
    const auto number =
        py::reinterpret_steal<py::object>(while_python_runs([o] { return PyNumber_Index(o); }));
    if (number) return key_of_int(number.ptr(), word);
    PyErr_Clear();
  }
  if (py::object bytes = bytes_of_uuid(object); bytes && PyBytes_Check(bytes.ptr())) {
    kept = std::move(bytes);
    return bytes_in(kept);
  }
  raise_no_key(object);
}

void key_batch::hashes(const filter_hasher& hash, std::size_t first, std::span<hash64> into) {
  std::array<std::string_view, 128> some;
  std::array<std::span<const std::byte>, some.size()> keys;
  for (std::size_t at = 0; at < into.size(); at += some.size()) {
    const std::size_t n = std::min(some.size(), into.size() - at);
    views(first + at, std::span(some).first(n));
    for (std::size_t i = 0; i < n; ++i) keys[i] = std::as_bytes(std::span(some[i]));
    hash(std::span(keys).first(n), into.data() + at);
  }
}

iterated_keys::iterated_keys(py::handle iterable) {
  PyObject* const o = iterable.ptr();
  if (PyUnicode_Check(o) || PyBytes_Check(o) || PyByteArray_Check(o)) {
    raise(PyExc_TypeError,
          fmt::format("{} is one key, where many are expected; give a list of keys, or use add() "
                      "and `in`",
                      Py_TYPE(o)->tp_name));
  }
  iterator_ =
      py::reinterpret_steal<py::object>(while_python_runs([o] { return PyObject_GetIter(o); }));
  if (!iterator_) throw py::error_already_set();
  words_.resize(keys_at_once);
}

bool iterated_keys::next() {
  objects_.clear();
  keys_.clear();
  while (keys_.size() < keys_at_once) {
    auto object = py::reinterpret_steal<py::object>(
        while_python_runs([this] { return PyIter_Next(iterator_.ptr()); }));
    if (!object) {
      if (PyErr_Occurred() != nullptr) throw py::error_already_set();
      break;
    }
    py::object kept = object;
    keys_.push_back(key_of(object, words_[keys_.size()], kept));
    objects_.push_back(std::move(kept));
  }
  return !keys_.empty();
}

void iterated_keys::views(std::size_t first, std::span<std::string_view> into) {
  std::copy_n(keys_.begin() + static_cast<std::ptrdiff_t>(first), into.size(), into.begin());
}

}  // namespace bloomset::python
