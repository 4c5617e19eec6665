#pragma once

// The part that all decompressing sources share.

#include <fmt/format.h>

#include <algorithm>
#include <bloomset/plan/units.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "input/input.hpp"

namespace bloomset::cli {

/// A block of compressed bytes, and a pending failure.
class unpacking_source : public byte_source {
 public:
  result<std::size_t> read(std::span<char> into) final {
    if (failed_) return fail(*failed_);
    std::size_t unpacked = 0;
    auto ok = unpack_some(into, unpacked);
    if (ok) return unpacked;
    if (unpacked == 0) return fail(std::move(ok.error()));
    failed_ = std::move(ok.error());
    return unpacked;
  }
  std::uint64_t consumed() const noexcept final { return packed_->consumed(); }
  bool would_wait() const noexcept final {
    return !ended_ && left_.empty() && packed_->would_wait();
  }

 protected:
  unpacking_source(std::unique_ptr<byte_source> packed, std::string_view format)
      : packed_(std::move(packed)), format_(format), block_(packed_block) {}

  /// Decompresses at least one byte, or to the end. `done` is correct even after a failure.
  virtual result<void> unpack_some(std::span<char> into, std::size_t& done) = 0;

  /// The compressed bytes in the block. Empty only at the end of the file.
  result<std::string_view> packed_bytes() {
    if (left_.empty() && !ended_) {
      const auto got = packed_->read(block_);
      if (!got) return fail(got.error());
      left_ = {block_.data(), *got};
      ended_ = *got == 0;
    }
    return left_;
  }
  void take(std::size_t n) noexcept { left_.remove_prefix(n); }
  /// Takes the zeros at the front, with which tapes and block devices pad. Returns whether there
  /// were any.
  bool take_zeros() noexcept {
    const auto zeros = std::min(left_.find_first_not_of('\0'), left_.size());
    take(zeros);
    return zeros != 0;
  }

  failure ends_early() const {
    return fail(errc::corrupt,
                fmt::format("the {} data ends too early, after {} bytes; get the whole file",
                            format_, format_count(consumed())));
  }
  failure damaged(std::string_view why) const {
    return fail(errc::corrupt,
                fmt::format("the {} data is damaged near byte {} ({}); get an undamaged copy",
                            format_, format_count(consumed() - left_.size()), why));
  }
  /// The failure for data that needs more memory than the limit. `command` unpacks it.
  failure too_large(std::string_view part, std::uint64_t needed, std::uint64_t limit,
                    std::string_view command) const {
    return fail(errc::unsupported,
                fmt::format("the {} data needs {} of {}, more than the memory limit of {}; raise "
                            "--memory-limit, or unpack it with '{}'",
                            format_, part, format_bytes(needed), format_bytes(limit), command));
  }

 private:
  // Large enough to amortise the system call, small enough for the second-level cache.
  static constexpr std::size_t packed_block = std::size_t{128} << 10;

  std::unique_ptr<byte_source> packed_;
  std::string_view format_;
  std::vector<char> block_;
  std::string_view left_;
  bool ended_ = false;
  std::optional<failure> failed_;
};

/// Sources for each codec, or none if this program was built without its library. They need at most
/// `memory` bytes.
using source_maker = std::unique_ptr<byte_source> (*)(std::unique_ptr<byte_source> packed,
                                                      std::uint64_t memory);
source_maker xz_maker() noexcept;
source_maker bzip2_maker() noexcept;

}  // namespace bloomset::cli
