// The extension module: what the classes in bloomset/ stand on. Names that begin with an underscore
// are for them; docstrings stand there too.

#include <pybind11/pybind11.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "batches.hpp"
#include "errors.hpp"
#include "for_batches.hpp"
#include "key_counter.hpp"
#include "making.hpp"
#include "requests.hpp"
#include "shared_filter.hpp"
#include "signals.hpp"
#include "which.hpp"
#include "without_gil.hpp"

namespace py = pybind11;

namespace bloomset::python {
namespace {

key_door door_of(const shared_filter& f) noexcept {
  return {f.by_hash(), f.hasher()};
}

/// As or_raise; where only the mapping is in the way, with what helps.
template <class T>
T changed_or_raise(const shared_filter& f, result<T> done) {
  if (!done) [[unlikely]] {
    if (done.error().code == errc::unsupported && !f.can().insert &&
        find_kind(f.kind())->can.insert && f.read_one([](const any_filter& filter) {
          return filter.check_changeable().has_value();
        })) {
      done.error().message += "; open it with mmap=False";
    }
    raise(done.error());
  }
  if constexpr (!std::is_void_v<T>) return std::move(*done);
}

bool contains(const shared_filter& f, std::string_view key) {
  return f.read_one([key](const any_filter& filter) { return filter.may_contain(key); });
}

filter_info info_of(const shared_filter& f) {
  return f.read([](const any_filter& filter) { return filter.info(); });
}

/// A full look at the filter: if it is newly overfilled, a strict one raises FullError, and any
/// other warns. `contained` is of the keys that were given.
void look(shared_filter& f, std::uint64_t contained) {
  const filter_info info = info_of(f);
  if (!f.watch().look(info)) return;
  if (f.watch().is_strict) raise_overfilled(overfilled_text(info), contained);
  const py::object warn = py::module_::import("bloomset._overfill").attr("warn");
  const py::str text(overfilled_text(info));
  const auto done = py::reinterpret_steal<py::object>(
      while_python_runs([&] { return PyObject_CallOneArg(warn.ptr(), text.ptr()); }));
  if (!done) throw py::error_already_set();
}

/// The same after other changes.
void look_if_needed(shared_filter& f) {
  if (f.watch().must_look(f.read_one([](const any_filter& filter) { return filter.size(); })))
    look(f, 0);
}

void refuse_if_overfilled(shared_filter& f, std::uint64_t contained = 0) {
  if (!f.watch().refuses()) return;
  f.watch().must_look(f.read_one([](const any_filter& filter) { return filter.size(); }));
  if (f.watch().refuses()) raise_overfilled(overfilled_text(info_of(f)), contained);
}

bool add(shared_filter& f, std::string_view key) {
  refuse_if_overfilled(f);
  std::uint64_t size = 0;
  const insert_summary did = changed_or_raise(f, f.write_one([&](any_filter& filter) {
    auto done = filter.insert(std::span(&key, 1));
    size = filter.size();
    return done;
  }));
  if (did.done == 0) raise_full(did.stopped_by, 0);
  if (f.watch().must_look(size)) look(f, 1);
  return did.inserted != 0;
}

bool erase_one(shared_filter& f, std::string_view key) {
  bool erased = false;
  changed_or_raise(f, f.write_one([&](any_filter& filter) {
    return filter.erase(std::span(&key, 1), std::span(&erased, 1));
  }));
  return erased;
}

std::uint64_t count_one(const shared_filter& f, std::string_view key) {
  std::uint64_t count = 0;
  or_raise(f.read_one([&](const any_filter& filter) {
    return filter.count(std::span(&key, 1), std::span(&count, 1));
  }));
  return count;
}

// What is called for single keys stands in slots and methods of CPython's own: through pybind11's
// search for an overload a call takes several times as long as the filter's work.

shared_filter& filter_in(PyObject* self) {
  const auto made = reinterpret_cast<py::detail::instance*>(self)->get_value_and_holder();
  if (!made.holder_constructed()) raise(PyExc_TypeError, "the filter was never made");
  return *made.value_ptr<shared_filter>();
}

/// use(filter, key), or `failed` with the exception set.
template <class Use, class Answer>
Answer for_one(PyObject* self, PyObject* object, Answer failed, Use&& use) {
  try {
    key_word word;
    py::object kept;
    return use(filter_in(self), key_of(object, word, kept));
  } catch (py::error_already_set& raised) {
    raised.restore();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& other) {
    PyErr_SetString(PyExc_RuntimeError, other.what());
  }
  return failed;
}

int contains_slot(PyObject* self, PyObject* object) {
  return for_one(self, object, -1,
                 [](shared_filter& f, std::string_view key) { return int{contains(f, key)}; });
}

template <bool (*Use)(shared_filter&, std::string_view)>
PyObject* bool_method(PyObject* self, PyObject* object) {
  return for_one(
      self, object, static_cast<PyObject*>(nullptr),
      [](shared_filter& f, std::string_view key) { return PyBool_FromLong(Use(f, key)); });
}

PyObject* count_method(PyObject* self, PyObject* object) {
  return for_one(self, object, static_cast<PyObject*>(nullptr),
                 [](shared_filter& f, std::string_view key) {
                   return PyLong_FromUnsignedLongLong(count_one(f, key));
                 });
}

std::array<PyMethodDef, 4> single_key_methods = {
    {{"_add", &bool_method<&add>, METH_O, nullptr},
     {"_discard", &bool_method<&erase_one>, METH_O, nullptr},
     {"_count", &count_method, METH_O, nullptr},
     {nullptr, nullptr, 0, nullptr}}};

void set_single_key_slots(PyHeapTypeObject* type) {
  type->as_sequence.sq_contains = &contains_slot;
  type->ht_type.tp_methods = single_key_methods.data();
}

/// A method of one parameter, `key`, which may be given by name.
template <PyCFunction Method>
PyObject* with_keyword(PyObject* self, PyObject* const* arguments, Py_ssize_t count,
                       PyObject* names) {
  const bool one = count == 1 && (names == nullptr || PyTuple_GET_SIZE(names) == 0);
  if (one || (count == 0 && names != nullptr && PyTuple_GET_SIZE(names) == 1 &&
              PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, 0), "key") == 0)) {
    return Method(self, arguments[0]);
  }
  PyErr_SetString(PyExc_TypeError, "one argument is expected: key");
  return nullptr;
}

template <PyCFunction Method>
PyMethodDef direct_method(const char* name) noexcept {
  // CPython calls it by its flags. The void (*)() tells compilers that the cast is meant.
  return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&with_keyword<Method>)),
          METH_FASTCALL | METH_KEYWORDS, nullptr};
}

/// Class decorator: replaces functions of the class that only pass a key on to a single-key method,
/// because a call of a function of Python's takes about as long as the filter's work. Signature and
/// docstring stay.
py::type with_direct_methods(const py::type& cls) {
  for (PyMethodDef method : {direct_method<&bool_method<&add>>("add"),
                             direct_method<&bool_method<&erase_one>>("discard"),
                             direct_method<&count_method>("count")}) {
    const py::object function = cls.attr("__dict__").attr("get")(method.ml_name);
    if (function.is_none()) continue;
    std::string text = std::string(method.ml_name) + "($self, key)\n--\n\n";
    const py::object doc = function.attr("__doc__");
    if (!doc.is_none()) text += py::cast<std::string>(doc);  // python -OO has none
    // Both live as long as the class, which is as long as the program.
    method.ml_doc = (new std::string(std::move(text)))->c_str();
    auto descriptor = py::reinterpret_steal<py::object>(
        PyDescr_NewMethod(reinterpret_cast<PyTypeObject*>(cls.ptr()), new PyMethodDef(method)));
    if (!descriptor) throw py::error_already_set();
    py::setattr(cls, method.ml_name, descriptor);
  }
  return cls;
}

/// A bytearray that grows by an answer of type T for each row: memory that NumPy can take over.
template <class T>
class answers {
 public:
  answers() : bytes_(py::reinterpret_steal<py::object>(PyByteArray_FromStringAndSize(nullptr, 0))) {
    if (!bytes_) throw py::error_already_set();
  }

  std::span<T> grow(std::size_t n) {
    if (PyByteArray_Resize(bytes_.ptr(), static_cast<Py_ssize_t>((size_ + n) * sizeof(T))) != 0) {
      throw py::error_already_set();
    }
    T* const all = reinterpret_cast<T*>(PyByteArray_AS_STRING(bytes_.ptr()));
    return {all + std::exchange(size_, size_ + n), n};
  }

  py::object take() { return std::move(bytes_); }

 private:
  py::object bytes_;
  std::size_t size_ = 0;
};

/// From answers for keys to answers for rows, where those of null rows are zero.
template <class T>
void put_in_rows(const key_batch& batch, std::span<T> answers) {
  std::size_t i = batch.size();
  std::size_t end = answers.size();  // from here on they are answers for rows
  signal_breaks breaks;
  for (; i > 0 && batch.row_of(i - 1) != i - 1; --i) {
    breaks();
    const std::size_t row = batch.row_of(i - 1);
    const T answer = answers[i - 1];
    std::ranges::fill(answers.subspan(row, end - row), T{});
    answers[row] = answer;
    end = row;
  }
  std::ranges::fill(answers.subspan(i, end - i), T{});
}

py::object ask_many(const shared_filter& f, const py::object& keys, const py::object& offsets) {
  answers<bool> all;
  for_batches(keys, offsets, [&](key_batch& batch) {
    const auto some = all.grow(batch.rows());
    for (batch_turns turns(batch); turns.next();) {
      f.read([&](const any_filter& filter) {
        ask(filter, door_of(f), turns, some.first(batch.size()));
      });
    }
    put_in_rows(batch, some);
  });
  return all.take();
}

py::object cover_many(const shared_filter& f, const py::object& keys, const py::object& offsets) {
  answers<bool> all;
  for_batches(keys, offsets, [&](key_batch& batch) {
    const auto some = all.grow(batch.rows());
    for (batch_turns turns(batch); turns.next();) {
      f.read([&](const any_filter& filter) { covers(filter, turns, some.first(batch.size())); });
    }
    put_in_rows(batch, some);
  });
  return all.take();
}

py::object count_many(const shared_filter& f, const py::object& keys, const py::object& offsets) {
  answers<std::uint64_t> all;
  for_batches(keys, offsets, [&](key_batch& batch) {
    const auto some = all.grow(batch.rows());
    for (batch_turns turns(batch); turns.next();) {
      or_raise(f.read([&](const any_filter& filter) {
        return count(filter, turns, some.first(batch.size()));
      }));
    }
    put_in_rows(batch, some);
  });
  return all.take();
}

std::uint64_t add_many(shared_filter& f, const py::tuple& batches, const py::object& offsets) {
  std::uint64_t contained = 0;
  std::uint64_t fresh = 0;
  for_all_batches(batches, offsets, [&](key_batch& batch) {
    batch_turns turns(batch);
    while (turns.next(f.watch().room_of_turn())) {
      refuse_if_overfilled(f, contained);
      std::uint64_t size = 0;
      const insert_summary did = changed_or_raise(f, f.write([&](any_filter& filter) {
        auto done = insert(filter, door_of(f), turns);
        size = filter.size();
        return done;
      }));
      contained += did.done;
      fresh += did.inserted;
      if (!is_contained(did.stopped_by)) raise_full(did.stopped_by, contained);
      if (f.watch().must_look(size)) look(f, contained);
    }
  });
  return fresh;
}

std::uint64_t erase_many(shared_filter& f, const py::tuple& batches, const py::object& offsets) {
  std::uint64_t erased = 0;
  for_all_batches(batches, offsets, [&](key_batch& batch) {
    for (batch_turns turns(batch); turns.next();) {
      erased +=
          changed_or_raise(f, f.write([&](any_filter& filter) { return erase(filter, turns); }));
    }
  });
  return erased;
}

std::uint64_t except_many(shared_filter& f, const py::tuple& batches, const py::object& offsets,
                          bool undo) {
  std::uint64_t changed = 0;
  for_all_batches(batches, offsets, [&](key_batch& batch) {
    for (batch_turns turns(batch); turns.next();) {
      changed += changed_or_raise(
          f, f.write([&](any_filter& filter) { return except(filter, turns, undo); }));
    }
  });
  return changed;
}

void merge(shared_filter& f, const shared_filter& other) {
  std::string overfilled;
  const bool is_strict = f.watch().is_strict;
  changed_or_raise(f, f.write_with(other, [&](any_filter& ours, const any_filter& theirs) {
    if (!is_strict) return merge_folded(ours, theirs);
    auto both = ours.copy();
    if (!both) return result<void>(fail(std::move(both.error())));
    if (auto ok = merge_folded(*both, theirs); !ok) return ok;
    if (const filter_info info = both->info(); info.overfilled) {
      overfilled = overfilled_text(info);
    } else {
      ours = std::move(*both);
    }
    return result<void>();
  }));
  if (!overfilled.empty()) raise_overfilled(overfilled, 0);
  look_if_needed(f);
}

void intersect(shared_filter& f, const shared_filter& other) {
  changed_or_raise(f, f.write_with(other, [](any_filter& ours, const any_filter& theirs) {
    return ours.intersect(theirs);
  }));
  if (f.watch().is_strict) f.watch().forget();
}

void clear(shared_filter& f) {
  changed_or_raise(f, f.write([](any_filter& filter) { return filter.clear(); }));
  f.watch().forget();
}

void set_labels(shared_filter& f, const py::dict& pairs) {
  label_list labels;
  for (const auto& [name, value] : pairs) {
    if (!py::isinstance<py::str>(name) || !py::isinstance<py::str>(value)) {
      raise(PyExc_TypeError, "labels are a dictionary of str to str");
    }
    or_raise(labels.set(py::cast<std::string>(name), py::cast<std::string>(value)));
  }
  or_raise(f.write([&](any_filter& filter) -> result<void> {
    if (auto ok = filter.check_changeable(); !ok) return ok;
    filter.labels() = std::move(labels);
    return {};
  }));
}

/// Whether it says so about itself. Filters within their capacity are not read for it.
bool shows_overfilled(const shared_filter& f) {
  const bool may_be =
      f.read_one([](const any_filter& filter) { return filter.size() > filter.capacity(); });
  return (may_be || f.watch().is_overfilled()) && info_of(f).overfilled;
}

/// Whether both are of one kind with the same parameters, bits, exceptions and layers. How many
/// keys were counted on the way to those bits does not matter.
bool same(const filter_image& a, const filter_image& b) {
  if (a.header.kind != b.header.kind || a.header.kind_version != b.header.kind_version ||
      a.header.hash != b.header.hash || a.header.seed != b.header.seed ||
      a.parameters != b.parameters || a.header.exceptions != b.header.exceptions ||
      a.header.layers != b.header.layers) {
    return false;
  }
  std::span<const std::byte> rest;
  auto next = b.payload.begin();
  for (std::span<const std::byte> part : a.payload) {
    while (!part.empty()) {
      while (rest.empty()) {
        if (next == b.payload.end()) return false;
        rest = *next++;
      }
      const std::size_t n = std::min(part.size(), rest.size());
      if (!std::equal(part.begin(), part.begin() + static_cast<std::ptrdiff_t>(n), rest.begin())) {
        return false;
      }
      part = part.subspan(n);
      rest = rest.subspan(n);
    }
  }
  return rest.empty() &&
         std::all_of(next, b.payload.end(), [](const auto& part) { return part.empty(); });
}

std::uint64_t approximate_size(const shared_filter& f) {
  const double estimate =
      f.read([](const any_filter& filter) { return filter.info().estimated_size; });
  if (!std::isfinite(estimate) || estimate >= 0x1p63) {
    raise(PyExc_ValueError,
          "the number of keys is unknown, because the filter is too full or a result of several "
          "intersections");
  }
  return static_cast<std::uint64_t>(std::llround(estimate));
}

/// A figure that takes no time, so that the GIL is kept.
template <auto Figure>
std::uint64_t figure(const shared_filter& f) {
  return f.read_one([](const any_filter& filter) { return (filter.*Figure)(); });
}

void add_filter(py::module_& module) {
  py::class_<shared_filter>(module, "Filter", py::custom_type_setup(&set_single_key_slots))
      .def(py::init([](made_filter& made) {
        auto filter = std::make_unique<shared_filter>(std::move(made.filter), std::move(made.file));
        filter->watch().is_strict = made.is_strict;
        return filter;
      }))
      .def("_ask_many", &ask_many)
      .def("_cover_many", &cover_many)
      .def("_count_many", &count_many)
      .def("_add_many", &add_many)
      .def("_discard_many", &erase_many)
      .def("_except_many", &except_many)
      .def("_merge", &merge)
      .def("_intersect", &intersect)
      .def("_clear", &clear)
      .def("_look", &look_if_needed)
      .def("_overfilled", &shows_overfilled)
      .def("_strict", [](const shared_filter& f) { return f.watch().is_strict; })
      .def("_set_strict", [](shared_filter& f, bool strict) { f.watch().is_strict = strict; })
      .def("_settle_count",
           [](shared_filter& f) { f.write([](any_filter& filter) { filter.settle_count(); }); })
      .def("_same",
           [](const shared_filter& f, const shared_filter& other) {
             return &f == &other ||
                    f.read_with(other, [](const any_filter& a, const any_filter& b) {
                      return same(a.image(), b.image());
                    });
           })
      .def("_copy", &copy_of)
      .def("_fold", &fold_of)
      .def("_to_bytes", &bytes_of_filter)
      .def("_save", &save_to)
      .def("_info", [](const shared_filter& f) { return dict_of(info_of(f)); })
      .def("_approx_len", &approximate_size)
      .def("_current_fpr",
           [](const shared_filter& f) {
             return f.read([](const any_filter& filter) { return filter.current_fpr(); });
           })
      .def("_labels",
           [](const shared_filter& f) {
             py::list pairs;
             const label_list labels =
                 f.read_one([](const any_filter& filter) { return filter.labels(); });
             for (const auto& [name, value] : labels.all()) {
               pairs.append(py::make_tuple(std::string(name), std::string(value)));
             }
             return pairs;
           })
      .def("_set_labels", &set_labels)
      .def("_capacity", &figure<&any_filter::capacity>)
      .def("_size", &figure<&any_filter::size>)
      .def("_nbytes", &figure<&any_filter::size_in_bytes>)
      .def("_secret_key", [](const shared_filter& f) -> py::object {
        const hash_seed seed = f.hasher().settings();
        if (!seed.is_keyed()) return py::none();
        return bytes_of_key(seed.key());
      });
}

}  // namespace
}  // namespace bloomset::python

PYBIND11_MODULE(_native, module) {
  using namespace bloomset::python;
  find_main_thread();
  add_full_error(module);
  add_making(module);
  add_filter(module);
  add_key_counter(module);
  add_which(module);
  module.def("with_direct_methods", &with_direct_methods);
  module.def("plan", [](const py::object& kind, const bloomset::plan_request& request,
                        bool deletable, bool counting, bool growing, bool unchanging) {
    return plan(kind, request,
                {.deletable = deletable,
                 .counting = counting,
                 .growing = growing,
                 .unchanging = unchanging});
  });
  module.def("kinds", &all_kinds);
  module.attr("version") = BLOOMSET_VERSION;
  module.attr("default_seed") = bloomset::default_seed;
}
