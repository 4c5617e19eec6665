#pragma once

// What is asked of a filter, from Python's keyword arguments, in the units of the command line; and
// plans, figures and kinds back to Python.

#include <pybind11/pybind11.h>

#include <bloomset/advise.hpp>
#include <bloomset/any_filter.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bloomset::python {

/// None means "find it". A count is an int, a whole float or text as `10M`; a rate a float or text
/// as `1%`; memory a number of bytes or text as `64MiB`. What is none of these raises ValueError or
/// TypeError, naming the argument.
plan_request request_of(const pybind11::object& capacity, const pybind11::object& fpr,
                        const pybind11::object& memory, const pybind11::object& bits,
                        const pybind11::object& hashes, const pybind11::object& seed,
                        const pybind11::object& key, const pybind11::object& hash,
                        const pybind11::dict& options);

/// A rate in any of these forms. 0 for None.
double rate(std::string_view name, const pybind11::object& value);

/// The secret key in 16 bytes, or nothing for None. Anything else raises ValueError or TypeError.
std::optional<hash_key> secret_key_of(const pybind11::object& key);
pybind11::bytes bytes_of_key(const hash_key& key);

/// The row of that name, or ValueError.
const kind_info& kind_of(const std::string& name);

/// A plan of one kind, or of all with advice: a dict of figures named as in `bloomset plan --json`.
pybind11::dict plan(const pybind11::object& kind, plan_request request, const needs& wanted);

/// A filter's account of itself, named as in `bloomset info --json`.
pybind11::dict dict_of(const filter_info& info);

/// Figures of the library.
pybind11::dict dict_of(const std::vector<property>& list);

/// What is known of all kinds: {name: {"summary": ..., "can": {...}, "options": {...}}}.
pybind11::dict all_kinds();

}  // namespace bloomset::python
