#include <bloomset/detail/core/source_memory.hpp>
#include <bloomset/file_index.hpp>
#include <new>
#include <utility>

#include "kinds/file_index/body.hpp"
#include "plan/checks.hpp"

namespace bloomset {
namespace {

const detail::file_index_body& body_of(const std::shared_ptr<const void>& body) noexcept {
  return *static_cast<const detail::file_index_body*>(body.get());
}

}  // namespace

result<file_index> file_index::open(const stored_filter& stored) {
  if (stored.header.kind != kind) {
    return fail(errc::incompatible,
                "this is a filter of one set, which does not know files; a filter cannot be "
                "inverted, so make an index of the files themselves with 'bloomset index'");
  }
  if (stored.header.seed.is_locked()) return detail::needs_key("the index");
  if (!filter_hasher::is_one(stored.header.hash) || stored.header.parts.of != 0 ||
      !stored.header.exceptions.empty() || !stored.header.layers.empty()) {
    return fail(
        errc::corrupt,
        "the file index has a hash function, parts, exceptions or layers that none has; the file "
        "is damaged");
  }
  try {
    auto params = detail::file_index_params::decode(stored.header, stored.parameters);
    if (!params) return fail(std::move(params.error()));
    auto body = detail::file_index_body::open(stored.header, std::move(*params), stored.payload);
    if (!body) return fail(std::move(body.error()));
    file_index index(std::make_shared<detail::file_index_body>(std::move(*body)));
    index.labels_ = stored.header.labels;
    return index;
  } catch (const std::bad_alloc&) {
    return detail::no_memory("there is not enough memory to open an index of files");
  }
}

filter_hasher file_index::hash_function() const noexcept {
  return filter_hasher(body_of(body_).seed());
}
std::size_t file_index::files() const noexcept {
  return body_of(body_).params().files;
}
std::string_view file_index::name(std::size_t file) const noexcept {
  return body_of(body_).name(file);
}
std::uint64_t file_index::size() const noexcept {
  return body_of(body_).count();
}
std::uint64_t file_index::size_in_bytes() const noexcept {
  return body_of(body_).payload().size();
}
double file_index::planned_fpr() const noexcept {
  return body_of(body_).params().fpr;
}

double file_index::current_fpr() const noexcept {
  return body_of(body_).current_fpr();
}

std::vector<std::uint32_t> file_index::files_of(hash64 h) const {
  std::vector<std::uint32_t> files;
  body_of(body_).find(h, files);
  return files;
}
void file_index::files_of(std::span<const hash64> hashes, file_lists& lists) const {
  body_of(body_).find(hashes, lists);
}

std::vector<property> file_index::figures() const {
  const detail::file_index_params& params = body_of(body_).params();
  const std::uint64_t chained = params.chain == detail::file_index_params::no_answer ? 0 : 1;
  std::vector<property> list;
  list.push_back({"kind", std::string("file_index")});
  list.push_back({"files", std::uint64_t{params.files}});
  list.push_back({"keys", size()});
  list.push_back({"bytes", size_in_bytes()});
  if (size() == 0) {
    list.push_back({"bits_per_key", std::monostate()});
  } else {
    list.push_back(
        {"bits_per_key", 8 * static_cast<double>(size_in_bytes()) / static_cast<double>(size())});
  }
  list.push_back({"planned_fpr", planned_fpr()});
  list.push_back({"current_fpr", current_fpr()});
  list.push_back({"lists", std::uint64_t{params.lists}});
  list.push_back({"chain", chained != 0});
  list.push_back({"classes", std::uint64_t{params.classes}});
  list.push_back({"columns", std::uint64_t{params.first.columns}});
  list.push_back({"hash", std::string(name_of(hash_function().id()))});
  list.push_back({"seed", hash_function().seed()});
  std::vector<property> labels;
  for (const auto& [name, value] : labels_.all()) {
    labels.push_back({std::string(name), std::string(value)});
  }
  list.push_back({"labels", std::move(labels)});
  return list;
}

filter_image file_index::image() const {
  return {{kind, kind_version, hash_function().id(), body_of(body_).seed(), size(), {}, labels_},
          body_of(body_).params().encode(),
          {body_of(body_).payload()}};
}

result<file_index> open_file_index(const std::filesystem::path& path, verification how,
                                   const std::optional<hash_key>& key) {
  auto stored = map_file(path, how);
  if (!stored) return fail(std::move(stored.error()));
  if (stored->header.kind == file_index::kind) {
    if (auto ok = unlock(*stored, key, path.string()); !ok) return fail(std::move(ok.error()));
  }
  auto index = file_index::open(*stored);
  if (!index) index.error().message.insert(0, path.string() + ": ");
  return index;
}

result<void> save(const file_index& index, const std::filesystem::path& path, if_exists policy) {
  return write_file(index.image(), path, policy);
}

}  // namespace bloomset
