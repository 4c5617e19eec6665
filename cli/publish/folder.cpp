#include "publish/folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bloomset/patch.hpp>
#include <bloomset/plan/units.hpp>
#include <set>
#include <system_error>
#include <utility>

#include "publish/sha256.hpp"

namespace bloomset::cli {
namespace {

namespace fs = std::filesystem;
using byte_span = std::span<const std::byte>;

std::set<std::string> names_of(const manifest& all) {
  std::set<std::string> names = {all.base.name};
  for (const auto& patch : all.patches) names.insert(patch.file.name);
  for (const auto& layer : all.layers) names.insert(layer.file.name);
  return names;
}

/// Whether publish makes files of that name. Others in the folder are the user's.
bool is_ours(std::string_view name) {
  if (name.ends_with(".patch")) {
    return name.size() == 16 + 1 + 16 + 6 && is_short_name(name.substr(0, 16)) && name[16] == '-' &&
           is_short_name(name.substr(17, 16));
  }
  return (name.ends_with(".bloom") || name.ends_with(".layer")) &&
         is_short_name(name.substr(0, name.size() - 6));
}

void remove_others(const folder_change& change) {
  auto keep = names_of(change.after);
  if (change.before) keep.merge(names_of(*change.before));
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(change.folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (is_ours(name) && !keep.contains(name)) fs::remove(entry.path(), ignored);
  }
}

}  // namespace

result<void> make_folder(const std::string& name) {
  std::error_code wrong;
  fs::create_directory(name, wrong);
  if (fs::is_directory(name, wrong)) return {};
  if (fs::exists(name, wrong)) {
    return fail(errc::invalid_argument,
                name + ": this is not a folder; name the folder first, and then the filter");
  }
  return fail(errc::io, name + ": the folder cannot be created; name one in a folder that exists");
}

result<folder_change> open_folder(const std::string& name) {
  folder_change change;
  change.folder = name;
  const std::string path = change.path(manifest_name);
  const auto text = map_bytes(path);
  if (!text) {
    if (text.error().code == errc::not_found) return change;
    return fail(text.error());
  }
  const byte_span bytes = text->bytes();
  auto before = manifest::read({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
  if (!before) return fail(std::move(before.error()));
  change.before = std::move(*before);
  return change;
}

result<published_file> add_file(const folder_change& change, byte_span bytes, std::string name) {
  const std::array pieces = {bytes};
  const std::string path = change.path(name);
  if (auto ok = write_file(byte_pieces(pieces), path); !ok) return fail(std::move(ok.error()));
  return published_file{std::move(name), bytes.size(), sha256_of(bytes)};
}

result<mapped_storage> published_bytes(const folder_change& change, const published_file& file) {
  const std::string path = change.path(file.name);
  auto bytes = map_bytes(path);
  if (!bytes) return fail(std::move(bytes.error()));
  if (bytes->bytes().size() != file.bytes || sha256_of(bytes->bytes()) != file.sha256) {
    return fail(errc::corrupt,
                path + ": the file is not the one of the manifest; publish into a new folder");
  }
  return bytes;
}

result<void> replace_base(folder_change& change, const mapped_storage& bytes,
                          const std::string& name) {
  manifest& after = change.after;
  const std::string sha256 = sha256_of(bytes.bytes());
  auto file = add_file(change, bytes.bytes(), short_name(sha256) + ".bloom");
  if (!file) return fail(std::move(file.error()));
  after.base = std::move(*file);
  if (!change.before) return {};
  const manifest& before = *change.before;
  after.patches = before.patches;
  if (before.base.sha256 == after.base.sha256) {
    change.summary.emplace_back("as before");
    return {};
  }
  const auto old = published_bytes(change, before.base);
  if (!old) return fail(old.error());
  const auto patch = make_patch(*old, change.path(before.base.name), bytes, name);
  if (!patch) return fail(patch.error());
  if (patch->is_whole) {
    after.patches.clear();
    change.summary.emplace_back("without a patch, because it would not be smaller");
    return {};
  }
  const std::string from = short_name(before.base.sha256);
  auto patch_file =
      add_file(change, patch->bytes, fmt::format("{}-{}.patch", from, short_name(sha256)));
  if (!patch_file) return fail(std::move(patch_file.error()));
  change.summary.push_back(fmt::format("by a patch of {}", format_bytes(patch_file->bytes)));
  after.patches.push_back({std::move(*patch_file), from});
  // A way that is not shorter than the whole file helps nobody.
  std::uint64_t sum = 0;
  std::size_t keep = 0;
  while (keep < std::min(after.patches.size(), manifest::max_patches)) {
    sum += after.patches[after.patches.size() - 1 - keep].file.bytes;
    if (sum >= after.base.bytes) break;
    ++keep;
  }
  after.patches.erase(after.patches.begin(),
                      after.patches.end() - static_cast<std::ptrdiff_t>(keep));
  return {};
}

result<void> write_manifest(const folder_change& change) {
  const std::string text = change.after.text();
  const std::array pieces = {std::as_bytes(std::span(text))};
  auto written = write_file(byte_pieces(pieces), change.path(manifest_name));
  if (written) remove_others(change);
  return written;
}

}  // namespace bloomset::cli
