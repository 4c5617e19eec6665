// Any text as the manifest of a published folder: refused with a sentence by `fetch` and by the
// library, or read by `fetch`; written again, both read the same names of files from it.

#include "publish/manifest.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "file/published.hpp"

namespace {

namespace cli = bloomset::cli;
using bloomset::detail::published_names;

void require(bool holds, const char* what, const std::string& which) {
  if (holds) return;
  (void)std::fprintf(stderr, "manifest: %s: %s\n", what, which.c_str());
  std::abort();
}

bool is_sentence(const bloomset::failure& why) {
  return why.message.starts_with("m: ") && why.message.find('\n') == std::string::npos &&
         why.message.size() < 500;
}

bool is_in_the_folder(const std::string& name) {
  return !name.empty() && name.front() != '.' && name.find('/') == std::string::npos;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto some = published_names::read(text, "m");
  if (some) {
    require(is_in_the_folder(some->base), "a base outside of the folder", some->base);
    for (const std::string& layer : some->layers) {
      require(is_in_the_folder(layer), "a layer outside of the folder", layer);
    }
  } else {
    require(is_sentence(some.error()), "no sentence", some.error().message);
  }
  const auto all = cli::manifest::read(text, "m");
  if (!all) {
    require(is_sentence(all.error()), "no sentence", all.error().message);
    return 0;
  }
  const std::string again = all->text();
  const auto same = cli::manifest::read(again, "m");
  require(same.has_value() && same->text() == again, "another one when read again", again);
  const auto names = published_names::read(again, "m");
  require(names.has_value(), "the library refuses it", again);
  require(names->base == all->base.name && names->valid_until == all->valid_until &&
              names->layers.size() == all->layers.size(),
          "other names in the library", again);
  for (std::size_t i = 0; i < names->layers.size(); ++i) {
    require(names->layers[i] == all->layers[i].file.name, "another layer in the library", again);
  }
  for (const cli::published_file* const file : {&all->base}) {
    require(is_in_the_folder(file->name) && file->sha256.size() == 64, "a wrong file", file->name);
  }
  (void)all->patches_from(all->base.sha256);
  return 0;
}
