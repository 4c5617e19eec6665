#include "making.hpp"

#include <atomic>
#include <bloomset/defaults.hpp>
#include <bloomset/file.hpp>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "batches.hpp"
#include "errors.hpp"
#include "file_name.hpp"
#include "for_batches.hpp"
#include "requests.hpp"
#include "signals.hpp"
#include "without_gil.hpp"

namespace py = pybind11;

namespace bloomset::python {
namespace {

constexpr const char* in_memory = "the bytes";

/// Lets the handlers of signals run while a filter is built, in the thread that waits for it.
class build_breaks {
 public:
  /// Called by that thread.
  void begin(without_gil& released) {
    released_ = &released;
    thread_ = std::this_thread::get_id();
    next_ = std::chrono::steady_clock::now() + time_between_signals;
  }

  /// Called by any thread of the build. Fails, with Python's exception set in the waiting thread,
  /// if a handler raised one.
  result<void> check() {
    if (std::this_thread::get_id() == thread_ && !is_cancelled_ &&
        std::chrono::steady_clock::now() >= next_) {
      is_cancelled_ = !released_->run_signal_handlers();
      next_ = std::chrono::steady_clock::now() + time_between_signals;
    }
    if (is_cancelled_) return fail(errc::invalid_argument, "a signal handler stopped the build");
    return {};
  }

 private:
  without_gil* released_ = nullptr;
  std::thread::id thread_;
  std::chrono::steady_clock::time_point next_;
  std::atomic<bool> is_cancelled_ = false;
};

made_filter create(const std::string& kind_name, plan_request request) {
  const kind_info& kind = kind_of(kind_name);
  apply_default_fpr(kind, request);
  return {or_raise([&] {
    const without_gil released;
    return kind.create(request);
  }())};
}

/// Of a kind that is built once from all its keys.
made_filter build(const std::string& kind_name, plan_request request, const py::object& keys,
                  const py::object& offsets) {
  const kind_info& kind = kind_of(kind_name);
  apply_default_fpr(kind, request);
  request.hash_bits = hash_bits_for(kind, request);
  std::vector<hash_chunks> hashes(request.hash_bits / 64);
  for_batches(keys, offsets, [&](key_batch& batch) {
    for (unsigned i = 0; i < hashes.size(); ++i) {
      for (batch_turns turns(batch); turns.next();) {
        const without_gil released;
        append_hashes(hashes[i], filter_hasher(request.seed.half(i)), turns);
      }
    }
  });
  build_breaks breaks;
  auto built = [&] {
    without_gil released;
    breaks.begin(released);
    std::vector<hash_source> sources;
    for (const auto& each : hashes) sources.push_back(each.source([&] { return breaks.check(); }));
    return build_filter(kind, request, sources);
  }();
  if (PyErr_Occurred() != nullptr) throw py::error_already_set();
  return {or_raise(std::move(built))};
}

/// Of a kind of two sets, from members and other keys, with the hasher of its keys.
template <class Hasher, class Build>
made_filter build_of_two_sets(Build build, const plan_request& request, const py::object& members,
                              const py::object& others) {
  const Hasher hasher(request.seed);
  basic_hash_chunks<typename Hasher::hash_type> held;
  basic_hash_chunks<typename Hasher::hash_type> rest;
  for (const auto& [keys, hashes] : {std::pair(&members, &held), {&others, &rest}}) {
    for_batches(*keys, py::none(), [&hashes = *hashes, &hasher](key_batch& batch) {
      for (batch_turns turns(batch); turns.next();) {
        const without_gil released;
        append_hashes(hashes, hasher, turns);
      }
    });
  }
  build_breaks breaks;
  auto built = [&] {
    without_gil released;
    breaks.begin(released);
    const auto check = [&] { return breaks.check(); };
    return build(request, held.source(check), rest.source(check));
  }();
  if (PyErr_Occurred() != nullptr) throw py::error_already_set();
  return {or_raise(std::move(built))};
}

made_filter build_exact(const std::string& kind_name, const plan_request& request,
                        const py::object& members, const py::object& others, bool has_partitions) {
  const kind_info& kind = kind_of(kind_name);
  return has_partitions
             ? build_of_two_sets<partition_hasher>(kind.build_of_partitions, request, members,
                                                   others)
             : build_of_two_sets<filter_hasher>(kind.build_of_two_sets, request, members, others);
}

made_filter open_file(const py::object& path, bool mapped, const py::object& verify,
                      const py::object& key) {
  const auto secret = secret_key_of(key);
  const file_name name(path);
  const auto how = verify.is_none()         ? verification::automatic
                   : py::cast<bool>(verify) ? verification::always
                                            : verification::header;
  return name.or_raise(
      [&]() -> result<made_filter> {
        const without_gil released;
        auto stored = map_file(name.encoded_path, how);
        if (!stored) return fail(std::move(stored.error()));
        if (auto ok = unlock(*stored, secret, name.encoded_path.string()); !ok) {
          return fail(std::move(ok.error()));
        }
        auto opened = open_any(*stored, mapped ? access::read_only : access::writable,
                               name.encoded_path.string());
        if (!opened) return fail(std::move(opened.error()));
        if (!mapped) return made_filter{std::move(*opened)};
        return made_filter{std::move(*opened), std::move(*stored)};
      }(),
      PyExc_ValueError);
}

py::dict info_of_file(const py::object& path) {
  const file_name name(path);
  return dict_of(name.or_raise(
      [&]() -> result<filter_info> {
        const without_gil released;
        auto stored = map_file(name.encoded_path);
        if (!stored) return fail(std::move(stored.error()));
        return info_of(std::move(*stored), name.encoded_path.string());
      }(),
      PyExc_ValueError));
}

made_filter from_bytes(const py::object& data, const py::object& key) {
  const auto secret = secret_key_of(key);
  // A copy where others could write to it while it is checked and read.
  const auto bytes = PyBytes_Check(data.ptr())
                         ? py::reinterpret_borrow<py::object>(data)
                         : py::reinterpret_steal<py::object>(PyBytes_FromObject(data.ptr()));
  if (!bytes) throw py::error_already_set();
  const std::span<const char> given(PyBytes_AS_STRING(bytes.ptr()),
                                    static_cast<std::size_t>(PyBytes_GET_SIZE(bytes.ptr())));
  return {or_raise(
      [&]() -> result<any_filter> {
        const without_gil released;
        auto stored = read_stored(mapped_storage(nullptr, std::as_bytes(given)),
                                  verification::always, in_memory);
        if (!stored) return fail(stored.error());
        if (auto ok = unlock(*stored, secret, in_memory); !ok) return fail(std::move(ok.error()));
        return open_any(*stored, access::writable, in_memory);
      }(),
      PyExc_ValueError)};
}

}  // namespace

made_filter copy_of(const shared_filter& filter) {
  const bool is_strict = filter.watch().is_strict;
  auto copy = or_raise(filter.read([&filter](const any_filter& original) {
    // A copy of a mapped filter would be another over the same mapping.
    if (filter.file()) {
      return open_any(with_changes(*filter.file(), original), access::writable, in_memory);
    }
    return original.copy();
  }));
  return {.filter = std::move(copy), .is_strict = is_strict};
}

made_filter fold_of(const shared_filter& filter, std::uint64_t factor, const py::object& fpr) {
  const double wanted = rate("fpr", fpr);
  const bool is_strict = filter.watch().is_strict;
  auto folded = or_raise(filter.read([=](const any_filter& original) {
    if (factor != 0) return original.fold(factor);
    return original.fold_to(wanted != 0 ? wanted : original.info().plan.planned_fpr);
  }));
  return {.filter = std::move(folded), .is_strict = is_strict};
}

py::bytes bytes_of_filter(const shared_filter& filter) {
  // Python's memory is asked for without the filter's lock, and written to with it.
  const std::size_t size =
      filter.read([](const any_filter& f) { return serialized_size(f.image()); });
  auto bytes = py::reinterpret_steal<py::bytes>(
      PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size)));
  if (!bytes) throw py::error_already_set();
  const std::span<char> memory(PyBytes_AS_STRING(bytes.ptr()), size);
  std::vector<std::byte> resized;  // of a filter that another thread has made grow meanwhile
  filter.read([&](const any_filter& f) {
    const filter_image image = f.image();
    if (serialized_size(image) == size) {
      serialize_to(image, std::as_writable_bytes(memory));
    } else {
      resized = serialize(image);
    }
  });
  if (resized.empty()) return bytes;
  return {reinterpret_cast<const char*>(resized.data()), resized.size()};
}

void save_to(const shared_filter& filter, const py::object& path, bool replace) {
  const file_name name(path);
  const auto policy = replace ? if_exists::replace : if_exists::refuse;
  name.or_raise(
      filter.read([&](const any_filter& f) { return save(f, name.encoded_path, policy); }),
      PyExc_TypeError);
}

void add_making(py::module_& module) {
  py::class_<plan_request>(module, "Request").def(py::init(&request_of));
  py::class_<made_filter>(module, "Made")
      .def_property_readonly("kind", [](const made_filter& made) {
        return std::string(find_kind(made.filter.image().header.kind)->name);
      });
  module.def("create", &create);
  module.def("build", &build);
  module.def("build_of_two_sets", &build_exact);
  module.def("open", &open_file);
  module.def("info", &info_of_file);
  module.def("from_bytes", &from_bytes);
  module.def("new_key", [] { return bytes_of_key(or_raise(new_hash_key())); });
}

}  // namespace bloomset::python
