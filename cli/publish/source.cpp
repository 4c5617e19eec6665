#include "publish/source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bloomset/file.hpp>
#include <bloomset/plan/units.hpp>
#include <filesystem>
#include <limits>
#include <system_error>
#include <utility>

#include "publish/manifest.hpp"
#include "remote/download.hpp"
#include "terminal/system.hpp"

namespace bloomset::cli {
namespace {

class folder_source final : public published_source {
 public:
  explicit folder_source(std::string folder) : folder_(std::move(folder)) {}

  result<void> read(const std::string& name, std::uint64_t begin, std::uint64_t end,
                    const sink& use) override {
    const auto file = map_bytes(shown(name));
    if (!file) return fail(file.error());
    const std::uint64_t size = file->bytes().size();
    end = std::min(end, size);
    begin = std::min(begin, end);
    return use(file->bytes().subspan(begin, end - begin));
  }
  bool is_remote() const noexcept override { return false; }
  std::string shown(const std::string& name) const override {
    return (std::filesystem::path(folder_) / name).string();
  }

 private:
  std::string folder_;
};

/// A folder on a web server.
class url_source final : public published_source {
 public:
  url_source(std::string url, const transfer_limits& limits)
      : url_(std::move(url)), limits_(limits) {
    while (url_.ends_with('/')) url_.pop_back();
  }

  result<void> read(const std::string& name, std::uint64_t begin, std::uint64_t end,
                    const sink& use) override {
    if (end - begin > limits_.max_bytes && name != manifest_name) {
      return fail(errc::unsupported,
                  fmt::format("{}: reading {} of it would exceed --max-bytes; give a larger one",
                              shown(name), format_bytes(end - begin)));
    }
    std::uint64_t left = end - begin;
    bool has_more = false;
    auto read =
        download(fmt::format("{}/{}", url_, name), begin, {}, unlimited(),
                 [&](std::span<const std::byte> some) -> result<void> {
                   has_more = some.size() > left;
                   some = some.first(std::min<std::uint64_t>(some.size(), left));
                   left -= some.size();
                   if (auto ok = use(some); !ok) return ok;
                   if (!has_more) return {};
                   return fail(errc::incompatible, "the file has more bytes than are needed");
                 });
    limits_.max_bytes -= std::min(limits_.max_bytes, end - begin - left);
    if (!read && !has_more) return fail(std::move(read.error()));
    return {};
  }
  bool is_remote() const noexcept override { return true; }
  std::string shown(const std::string& name) const override {
    return shown_url(fmt::format("{}/{}", url_, name));
  }

 private:
  /// The length of each read is limited by read() itself.
  transfer_limits unlimited() const {
    transfer_limits limits = limits_;
    limits.max_bytes = std::numeric_limits<std::uint64_t>::max();
    return limits;
  }

  std::string url_;
  transfer_limits limits_;
};

}  // namespace

result<std::unique_ptr<published_source>> open_source(const std::string& where,
                                                      const transfer_limits& limits) {
  if (is_url(where)) {
    return std::unique_ptr<published_source>(std::make_unique<url_source>(where, limits));
  }
  std::error_code ignored;
  if (!std::filesystem::is_directory(where, ignored)) {
    return fail(errc::not_found,
                where + ": this is not a folder; give one that 'bloomset publish' wrote");
  }
  return std::unique_ptr<published_source>(std::make_unique<folder_source>(where));
}

}  // namespace bloomset::cli
