#include "publish/source.hpp"

#include <bloomset/file.hpp>
#include <filesystem>
#include <system_error>
#include <utility>

#include "terminal/system.hpp"

namespace bloomset::cli {
namespace {

class folder_source final : public published_source {
 public:
  explicit folder_source(std::string folder) : folder_(std::move(folder)) {}

  result<std::vector<std::byte>> read(const std::string& name, std::uint64_t begin,
                                      std::uint64_t end) override {
    const auto file = map_bytes(shown(name));
    if (!file) return fail(file.error());
    const std::uint64_t size = file->bytes().size();
    end = std::min(end, size);
    begin = std::min(begin, end);
    const auto part = file->bytes().subspan(begin, end - begin);
    return std::vector<std::byte>(part.begin(), part.end());
  }
  std::string shown(const std::string& name) const override {
    return (std::filesystem::path(folder_) / name).string();
  }

 private:
  std::string folder_;
};

}  // namespace

result<std::unique_ptr<published_source>> open_source(const std::string& where) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(where, ignored)) {
    return fail(errc::not_found,
                where + ": this is not a folder; give one that 'bloomset publish' wrote");
  }
  return std::unique_ptr<published_source>(std::make_unique<folder_source>(where));
}

}  // namespace bloomset::cli
