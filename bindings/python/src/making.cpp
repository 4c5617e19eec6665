#include "making.hpp"

#include <bloomery/file.hpp>
#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "batches.hpp"
#include "errors.hpp"
#include "for_batches.hpp"
#include "requests.hpp"

namespace py = pybind11;

namespace bloomery::python {
namespace {

constexpr const char* in_memory = "the bytes";

/// The name as the operating system has it. Raises TypeError for what is no path.
std::filesystem::path path_of(const py::object& path) {
  PyObject* encoded = nullptr;
  if (PyUnicode_FSConverter(path.ptr(), static_cast<void*>(&encoded)) == 0)
    throw py::error_already_set();
  const auto bytes = py::reinterpret_steal<py::bytes>(encoded);
  return {std::string(bytes)};
}

made_filter create(const std::string& kind_name, plan_request request) {
  const kind_info& kind = kind_of(kind_name);
  apply_default_rate(kind, request);
  return {or_raise([&] {
    const py::gil_scoped_release release;
    return kind.create(request);
  }())};
}

/// Of a kind that is built once from all its keys.
made_filter build(const std::string& kind_name, plan_request request, const py::object& keys,
                  const py::object& offsets) {
  const kind_info& kind = kind_of(kind_name);
  apply_default_rate(kind, request);
  std::vector<hash64> hashes;
  for_batches(keys, offsets, [&](key_batch& batch) {
    const py::gil_scoped_release release;
    append_hashes(hashes, xxh3_hasher(request.seed), batch);
  });
  return {or_raise([&] {
    const py::gil_scoped_release release;
    return kind.build(request, hash_source::of(hashes));
  }())};
}

made_filter open_file(const py::object& path, bool mapped, const py::object& verify) {
  const std::filesystem::path name = path_of(path);
  const auto how = verify.is_none()         ? verification::automatic
                   : py::cast<bool>(verify) ? verification::always
                                            : verification::header;
  return {or_raise(
      [&]() -> result<any_filter> {
        const py::gil_scoped_release release;
        const auto stored = map_file(name, how);
        if (!stored) return fail(stored.error());
        return open_any(*stored, mapped ? access::read_only : access::writable, name.string());
      }(),
      PyExc_ValueError)};
}

made_filter from_bytes(const py::object& data) {
  // A copy where others could write to it while it is checked and read.
  const auto bytes = PyBytes_Check(data.ptr())
                         ? py::reinterpret_borrow<py::object>(data)
                         : py::reinterpret_steal<py::object>(PyBytes_FromObject(data.ptr()));
  if (!bytes) throw py::error_already_set();
  const std::span<const char> given(PyBytes_AS_STRING(bytes.ptr()),
                                    static_cast<std::size_t>(PyBytes_GET_SIZE(bytes.ptr())));
  return {or_raise(
      [&]() -> result<any_filter> {
        const py::gil_scoped_release release;
        const auto stored = read_stored(mapped_storage(nullptr, std::as_bytes(given)),
                                        verification::always, in_memory);
        if (!stored) return fail(stored.error());
        return open_any(*stored, access::writable, in_memory);
      }(),
      PyExc_ValueError)};
}

}  // namespace

made_filter copy_of(const shared_filter& filter) {
  return {or_raise(filter.read([](const any_filter& original) {
    const filter_image image = original.image();
    std::vector<std::byte> joined;
    std::span<const std::byte> payload;
    if (image.payload.size() == 1) {
      payload = image.payload.front();
    } else {
      for (const auto& part : image.payload) joined.insert(joined.end(), part.begin(), part.end());
      payload = joined;
    }
    return open_any({image.header, image.parameters, mapped_storage(nullptr, payload)},
                    access::writable, in_memory);
  }))};
}

py::bytes bytes_of_filter(const shared_filter& filter) {
  const std::vector<std::byte> bytes =
      filter.read([](const any_filter& f) { return serialize(f.image()); });
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void save_to(const shared_filter& filter, const py::object& path, bool replace) {
  const std::filesystem::path name = path_of(path);
  or_raise(filter.read([&](const any_filter& f) {
    return save(f, name, replace ? if_exists::replace : if_exists::refuse);
  }));
}

void add_making(py::module_& module) {
  py::class_<plan_request>(module, "Request")
      .def(py::init(&request_of), py::kw_only(), py::arg("capacity"), py::arg("fpr"),
           py::arg("memory"), py::arg("bits"), py::arg("hashes"), py::arg("seed"),
           py::arg("options"));
  py::class_<made_filter>(module, "Made")
      .def_property_readonly("kind", [](const made_filter& made) {
        return std::string(find_kind(made.filter.image().header.kind)->name);
      });
  module.def("create", &create);
  module.def("build", &build);
  module.def("open", &open_file);
  module.def("from_bytes", &from_bytes);
}

}  // namespace bloomery::python
