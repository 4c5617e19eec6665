#include "requests.hpp"

#include <fmt/format.h>

#include <bloomset/defaults.hpp>
#include <bloomset/figures.hpp>
#include <bloomset/plan/units.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "errors.hpp"

namespace py = pybind11;

namespace bloomset::python {
namespace {

constexpr unsigned max_hash_functions = 64;
constexpr std::uint64_t max_bytes = std::uint64_t{1} << 59;

[[noreturn]] void refuse(PyObject* type, std::string_view name, const std::string& why) {
  raise(type, fmt::format("{}: {}", name, why));
}

std::string shown(py::handle value) {
  return py::cast<std::string>(py::repr(value));
}

template <class T>
T parsed(std::string_view name, py::handle text, result<T> (*parse)(std::string_view)) {
  auto value = parse(py::cast<std::string>(text));
  if (!value) refuse(PyExc_ValueError, name, value.error().message);
  return *value;
}

/// A whole number from an int, a float such as 1e6, or whatever else has __index__.
std::uint64_t whole(std::string_view name, py::handle value, std::uint64_t least,
                    std::uint64_t most) {
  const auto out_of_range = [&] {
    refuse(PyExc_ValueError, name,
           fmt::format("{} is not a whole number from {} to {}", shown(value), least, most));
  };
  if (PyBool_Check(value.ptr()))
    refuse(PyExc_TypeError, name, "a bool is not a number; give an int");
  if (PyFloat_Check(value.ptr())) {
    const double number = PyFloat_AS_DOUBLE(value.ptr());
    if (!(number >= 0 && number < 0x1p63 && number == std::floor(number))) out_of_range();
    const auto n = static_cast<std::uint64_t>(number);
    if (n < least || n > most) out_of_range();
    return n;
  }
  const auto index = py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()));
  if (!index) {
    PyErr_Clear();
    refuse(PyExc_TypeError, name, fmt::format("{} is not a number", Py_TYPE(value.ptr())->tp_name));
  }
  const unsigned long long n = PyLong_AsUnsignedLongLong(index.ptr());
  const bool fits = PyErr_Occurred() == nullptr;
  PyErr_Clear();
  if (!fits || n < least || n > most) out_of_range();
  return n;
}

std::uint64_t amount(std::string_view name, const py::object& value, std::uint64_t most,
                     result<std::uint64_t> (*parse)(std::string_view)) {
  if (value.is_none()) return 0;
  if (!PyUnicode_Check(value.ptr())) return whole(name, value, 1, most);
  const std::uint64_t n = parsed(name, value, parse);
  if (n > most)
    refuse(PyExc_ValueError, name, fmt::format("{} is more than {}", shown(value), most));
  return n;
}

}  // namespace

py::dict dict_of(const std::vector<property>& list) {
  py::dict all;
  for (const property& figure : list) {
    all[py::str(figure.name)] = std::visit(
        [](const auto& value) -> py::object {
          using type = std::decay_t<decltype(value)>;
          if constexpr (std::is_same_v<type, std::monostate>) {
            return py::none();
          } else if constexpr (std::is_same_v<type, std::vector<property>>) {
            return dict_of(value);
          } else if constexpr (std::is_same_v<type, std::vector<std::string>>) {
            py::list texts;
            for (const std::string& text : value) texts.append(text);
            return py::object(std::move(texts));
          } else {
            return py::cast(value);
          }
        },
        figure.value);
  }
  return all;
}

namespace {

using python::dict_of;

py::dict dict_of(const abilities& can) {
  py::dict all;
  for (const auto& [name, is_there] : named(can)) all[py::str(name)] = is_there;
  return all;
}

py::dict dict_of(std::string_view kind, const plan_report& plan) {
  py::dict all = dict_of(figures_of(kind, plan));
  if (!plan.hashes) all["hashes"] = py::none();
  return all;
}

}  // namespace

double rate(std::string_view name, const py::object& value) {
  if (value.is_none()) return 0;
  if (PyUnicode_Check(value.ptr())) return parsed(name, value, parse_rate);
  const double number = PyFloat_AsDouble(value.ptr());
  if (PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    refuse(PyExc_TypeError, name,
           fmt::format("{} is not a rate; give a float, or text as '1%' or '1/1000'",
                       Py_TYPE(value.ptr())->tp_name));
  }
  if (number > 0 && number < 1) return number;
  refuse(PyExc_ValueError, name,
         fmt::format("{} is not a rate; give one above 0 and below 1, as 0.01, '1%' or '1/1000'",
                     shown(value)));
}

std::optional<hash_key> secret_key_of(const py::object& key) {
  if (key.is_none()) return std::nullopt;
  if (!PyBytes_Check(key.ptr())) {
    refuse(PyExc_TypeError, "key",
           fmt::format("{} is not a key; give the 16 bytes of new_key()",
                       Py_TYPE(key.ptr())->tp_name));
  }
  const std::span<const char> given(PyBytes_AS_STRING(key.ptr()),
                                    static_cast<std::size_t>(PyBytes_GET_SIZE(key.ptr())));
  if (given.size() != hash_key::size) {
    refuse(PyExc_ValueError, "key",
           fmt::format("a key has 16 bytes, not {}; new_key() makes one", given.size()));
  }
  return hash_key::of(std::as_bytes(given).first<hash_key::size>());
}

py::bytes bytes_of_key(const hash_key& key) {
  return {reinterpret_cast<const char*>(key.bytes().data()), hash_key::size};
}

plan_request request_of(const py::object& capacity, const py::object& fpr, const py::object& memory,
                        const py::object& bits, const py::object& hashes, const py::object& seed,
                        const py::object& key, const py::object& hash, const py::dict& options) {
  constexpr auto any = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  plan_request request;
  request.capacity = amount("capacity", capacity, any, parse_count);
  request.fpr = rate("fpr", fpr);
  request.bits = amount("bits", bits, any, parse_count);
  if (const std::uint64_t bytes = amount("memory", memory, max_bytes, parse_bytes); bytes != 0) {
    if (request.bits != 0) {
      refuse(PyExc_ValueError, "memory", "bits already give the size; give one of them");
    }
    request.bits = bytes * 8;
  }
  if (!hashes.is_none()) {
    request.hashes = static_cast<unsigned>(whole("hashes", hashes, 1, max_hash_functions));
  }
  if (const auto secret = secret_key_of(key)) {
    if (!seed.is_none()) {
      refuse(PyExc_ValueError, "seed", "a filter has either a seed or a key; give one of them");
    }
    request.seed = *secret;
  } else if (!seed.is_none()) {
    request.seed = whole("seed", seed, 0, std::numeric_limits<std::uint64_t>::max());
  }
  if (!hash.is_none()) {
    const auto chosen = choose_hash(request, py::cast<std::string>(py::str(hash)));
    if (!chosen) refuse(PyExc_ValueError, "hash", chosen.error().message);
  }
  for (const auto& [name, value] : options) {
    request.options.emplace_back(py::cast<std::string>(name),
                                 py::cast<std::string>(py::str(value)));
  }
  return request;
}

const kind_info& kind_of(const std::string& name) {
  return *or_raise(find_kind(name));
}

py::dict plan(const py::object& kind, plan_request request, const needs& wanted) {
  assume_default_fpr(request);
  if (!kind.is_none()) {
    const auto name = py::cast<std::string>(kind);
    const kind_info& row = kind_of(name);
    return dict_of(row.name, or_raise(plan_for_named(row, request, wanted), PyExc_ValueError));
  }
  const advice found = or_raise(advise(request, wanted), PyExc_ValueError);
  py::dict best = dict_of(found.recommended().kind->name, *found.recommended().plan);
  best["reason"] = found.reason;
  py::list ranked;
  py::dict refused;
  for (const candidate& each : found.ranked) {
    if (each.plan) {
      ranked.append(dict_of(each.kind->name, *each.plan));
    } else {
      refused[py::str(each.kind->name)] = each.plan.error().message;
    }
  }
  best["ranked"] = std::move(ranked);
  best["refused"] = std::move(refused);
  return best;
}

py::dict dict_of(const filter_info& info) {
  return dict_of(figures_of(info));
}

py::dict all_kinds() {
  py::dict all;
  for (const kind_info& row : kinds()) {
    py::dict options;
    for (const kind_option& option : row.options) {
      options[py::str(option.name)] = fmt::format("{}: {}", option.meaning, option.values);
    }
    py::dict known;
    known["summary"] = row.summary;
    known["strengths"] = row.strengths;
    known["can"] = dict_of(row.can);
    known["built_once"] = row.build != nullptr;
    known["of_two_sets"] = row.build_of_two_sets != nullptr;
    known["options"] = std::move(options);
    all[py::str(row.name)] = std::move(known);
  }
  return all;
}

}  // namespace bloomset::python
