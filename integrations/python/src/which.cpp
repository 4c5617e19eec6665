#include "which.hpp"

#include <bloomset/file_index.hpp>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "batch_turns.hpp"
#include "errors.hpp"
#include "file_name.hpp"
#include "for_batches.hpp"
#include "keys.hpp"
#include "requests.hpp"
#include "without_gil.hpp"

namespace py = pybind11;

namespace bloomset::python {
namespace {
namespace which {

constexpr std::size_t keys_at_once = 4096;

/// Calls `use(first, hashes)` for the hashes of all keys of a batch from the key `first` on, some
/// thousands at a time, with the GIL.
template <class Use>
void for_hashes(key_batch& batch, const filter_hasher& hasher, Use&& use) {
  std::vector<hash64> hashes(keys_at_once);
  for (batch_turns turns(batch); turns.next(keys_at_once);) {
    const auto now = std::span(hashes).first(turns.left());
    const std::size_t first = turns.first();
    batch.hashes(hasher, first, now);
    turns.advance(now.size());
    use(first, std::span<const hash64>(now));
  }
}

/// File names are bytes, which Python's own file functions decode in this way.
py::object text_of(std::string_view name) {
  return py::reinterpret_steal<py::object>(
      PyUnicode_DecodeFSDefaultAndSize(name.data(), static_cast<Py_ssize_t>(name.size())));
}

py::list names_of(const file_index& index, std::span<const std::uint32_t> files) {
  py::list names;
  for (const std::uint32_t file : files) names.append(text_of(index.name(file)));
  return names;
}

/// The index of {name: keys}.
file_index build(const py::dict& keys_of, const py::object& fpr, const py::object& seed,
                 const py::object& key) {
  file_index_spec spec;
  if (!fpr.is_none()) spec.fpr = rate("fpr", fpr);
  const plan_request request = request_of(py::none(), py::none(), py::none(), py::none(),
                                          py::none(), seed, key, py::none(), py::dict());
  spec.seed = request.seed;
  const filter_hasher hasher(spec.seed);
  std::vector<std::vector<file_key>> keys;
  std::uint64_t size = 0;
  for (const auto& [name, some] : keys_of) {
    spec.names.push_back(file_name(py::reinterpret_borrow<py::object>(name)).encoded_path.string());
    auto& into = keys.emplace_back();
    const auto file = static_cast<std::uint32_t>(keys.size() - 1);
    for_batches(py::reinterpret_borrow<py::object>(some), py::none(), [&](key_batch& batch) {
      for_hashes(batch, hasher, [&](std::size_t, std::span<const hash64> hashes) {
        for (const hash64 h : hashes) into.emplace_back(h, file);
      });
    });
    size += into.size();
  }
  const file_key_source source{size, [&](const file_key_source::sink& use) -> result<void> {
                                 for (const auto& of_file : keys) {
                                   if (auto ok = use(of_file); !ok) return ok;
                                 }
                                 return {};
                               }};
  auto made = [&] {
    const without_gil released;
    return file_index::build(spec, source);
  }();
  return or_raise(std::move(made), PyExc_ValueError);
}

file_index open(const py::object& path, const py::object& verify, const py::object& key) {
  const file_name name(path);
  const auto secret = secret_key_of(key);
  const verification how = verify.is_none()      ? verification::automatic
                           : verify.cast<bool>() ? verification::always
                                                 : verification::header;
  auto opened = [&] {
    const without_gil released;
    return open_file_index(name.encoded_path, how, secret);
  }();
  return name.or_raise(std::move(opened), PyExc_ValueError);
}

void save_to(const file_index& index, const py::object& path, bool replace) {
  const file_name name(path);
  auto saved = [&] {
    const without_gil released;
    return save(index, name.encoded_path, replace ? if_exists::replace : if_exists::refuse);
  }();
  name.or_raise(std::move(saved), PyExc_ValueError);
}

py::list files_of(const file_index& index, const py::object& key) {
  key_word word;
  py::object kept;
  const std::string_view bytes = key_of(key, word, kept);
  return names_of(index, index.files_of(bytes));
}

py::list files_of_many(const file_index& index, const py::object& keys) {
  py::list all;
  file_lists lists;
  for_batches(keys, py::none(), [&](key_batch& batch) {
    const std::size_t begin = all.size();
    // Rows that are null have no key, and so no file.
    const auto fill = [&](std::size_t rows) {
      while (all.size() < begin + rows) all.append(py::list());
    };
    for_hashes(batch, index.hash_function(), [&](std::size_t first, auto hashes) {
      index.files_of(hashes, lists);
      for (std::size_t i = 0; i < hashes.size(); ++i) {
        fill(batch.row_of(first + i));
        all.append(names_of(index, lists.of(i)));
      }
    });
    fill(batch.rows());
  });
  return all;
}

}  // namespace which
}  // namespace

void add_which(py::module_& module) {
  py::class_<file_index>(module, "FileIndex")
      .def_static("_build", &which::build)
      .def_static("_open", &which::open)
      .def("_files_of", &which::files_of)
      .def("_files_of_many", &which::files_of_many)
      .def("_save", &which::save_to)
      .def("_size", &file_index::size)
      .def("_info", [](const file_index& index) { return dict_of(index.figures()); })
      .def("_names", [](const file_index& index) {
        py::list names;
        for (std::size_t file = 0; file < index.files(); ++file) {
          names.append(which::text_of(index.name(file)));
        }
        return names;
      });
}

}  // namespace bloomset::python
