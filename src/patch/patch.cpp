#include <bloomset/detail/core/bits.hpp>
#include <bloomset/detail/core/xxhash.hpp>
#include <bloomset/file.hpp>
#include <bloomset/patch.hpp>
#include <bloomset/plan/numeric.hpp>

#include <algorithm>
#include <array>
#include <numbers>
#include <optional>
#include <utility>

#include "core/format.hpp"
#include "core/varint.hpp"
#include "patch/change_coder.hpp"

namespace bloomset {
namespace {

using bytes = std::span<const std::byte>;

constexpr std::array<unsigned char, 8> patch_magic = {0x89, 'B', 'P', 'A', 'T', 'C', 'H', 0x0a};

enum class patch_method : std::uint8_t {
  whole = 0,    // the new file follows
  changes = 1,  // any bits of the payload change
  sets = 2,     // bits of the payload change only from 0 to 1
};

struct patch_header {
  std::array<unsigned char, 8> magic;
  std::uint64_t before;  // the header checksum of each file, which seals all of it
  std::uint64_t after;
};
static_assert(sizeof(patch_header) == 24);

// Of a filter's header (docs/reference/format.md).
constexpr std::size_t filter_header_bytes = 64;
constexpr std::size_t parameter_bytes_at = 20;
constexpr std::size_t header_checksum_at = 56;

// Header and parameters are few bytes, of which an eighth or so changes.
constexpr std::uint8_t head_step = 24;

/// A filter file, whose parts are headed by their lengths.
struct file_parts {
  explicit file_parts(bytes file) {
    const std::uint64_t length =
        filter_header_bytes + detail::load<std::uint32_t>(file.data() + parameter_bytes_at);
    head = file.first(length);
    payload = file.subspan(length);
    seal = detail::load<std::uint64_t>(file.data() + header_checksum_at);
  }

  bytes head;  // header and parameters
  bytes payload;
  std::uint64_t seal;  // the header's checksum
};

/// Checks every byte, and splits the file.
result<file_parts> parts_of(const mapped_storage& file, const std::string& name) {
  if (auto ok = read_stored(file, verification::always, name); !ok)
    return fail(std::move(ok.error()));
  return file_parts(file.bytes());
}

/// The header and parameters without their checksum, which the patch has apart.
std::vector<std::byte> unsealed(bytes head) {
  std::vector<std::byte> copy(head.begin(), head.end());
  std::fill_n(copy.begin() + header_checksum_at, sizeof(std::uint64_t), std::byte{});
  return copy;
}

bytes page_of(bytes all, std::size_t at) noexcept {
  if (at >= all.size()) return {};
  return all.subspan(at, std::min(detail::page_bytes, all.size() - at));
}

/// The largest new file that is coded as changes: others may be as large as their patch.
std::uint64_t max_changed_size(std::uint64_t old_size) noexcept {
  return 4 * old_size + detail::page_bytes;
}

std::uint64_t word_at(bytes from, std::size_t at) noexcept {
  std::uint64_t word = 0;
  if (at < from.size())
    std::memcpy(&word, from.data() + at, std::min<std::size_t>(8, from.size() - at));
  return word;
}

struct counted_changes {
  bit_changes bits;
  std::uint64_t groups = 0;  // of 4 bits, that change
};

counted_changes count_changes(bytes before, bytes after) noexcept {
  counted_changes counted;
  const std::size_t size = std::max(before.size(), after.size());
  for (std::size_t at = 0; at < size; at += 8) {
    const std::uint64_t was = word_at(before, at);
    const std::uint64_t changed = was ^ word_at(after, at);
    counted.bits.ones += detail::count_ones(was);
    if (changed == 0) continue;
    counted.bits.set += detail::count_ones(changed & ~was);
    counted.bits.cleared += detail::count_ones(changed & was);
    const std::uint64_t pairs = changed | changed >> 1;
    counted.groups += detail::count_ones((pairs | pairs >> 2) & 0x1111111111111111);
  }
  counted.bits.zeros = 8 * std::uint64_t{size} - counted.bits.ones;
  return counted;
}

/// The step whose share is nearest from below.
std::uint8_t step_of(std::uint64_t groups, std::uint64_t all) noexcept {
  std::uint8_t step = 1;  // the share of step 0 has 33 bits
  while (step < 255 && detail::mulhi64(detail::share_of_step(step) << 32, all) > groups) ++step;
  return step;
}

/// Codes header and parameters, then the payload.
template <class Coder, class Byte>
void code_file(Coder& coder, bytes old_head, std::span<Byte> new_head, bytes old_payload,
               std::span<Byte> new_payload, bool only_sets, std::uint8_t step) {
  const auto code = [&](bytes before, std::span<Byte> after, bool sets, std::uint8_t share) {
    detail::change_coder<Coder> changes(coder, sets, share);
    for (std::size_t at = 0; at < after.size(); at += detail::page_bytes) {
      changes.page(page_of(before, at),
                   after.subspan(at, std::min(detail::page_bytes, after.size() - at)));
    }
  };
  code(old_head, new_head, false, head_step);
  code(old_payload, new_payload, only_sets, step);
}

std::string checksum_text(std::uint64_t checksum) {
  return detail::format_text("{:016x}", checksum);
}

}  // namespace

double bit_changes::entropy() const noexcept {
  const auto of = [](std::uint64_t changed, std::uint64_t all) {
    if (changed == 0 || changed >= all) return 0.0;
    const auto n = static_cast<double>(all);
    const auto k = static_cast<double>(changed);
    return (k * numeric::log(n / k) + (n - k) * numeric::log(n / (n - k))) / std::numbers::ln2;
  };
  return of(set, zeros) + of(cleared, ones);
}

result<patch_build> make_patch(const mapped_storage& before, const std::string& before_name,
                               const mapped_storage& after, const std::string& after_name) {
  const auto old_parts = parts_of(before, before_name);
  if (!old_parts) return fail(old_parts.error());
  const auto new_parts = parts_of(after, after_name);
  if (!new_parts) return fail(new_parts.error());

  patch_build made;
  const patch_header header{patch_magic, old_parts->seal, new_parts->seal};
  const auto start = std::as_bytes(std::span(&header, 1));
  made.bytes.assign(start.begin(), start.end());
  const counted_changes counted = count_changes(old_parts->payload, new_parts->payload);
  made.changes = counted.bits;

  const std::uint64_t new_size = after.bytes().size();
  const std::uint64_t groups = 2 * std::uint64_t{new_parts->payload.size()};
  made.is_whole = new_size > max_changed_size(before.bytes().size()) ||
                  counted.groups > groups / 8 * 7;  // random bytes differ in 15/16 of them
  if (!made.is_whole) {
    const bool only_sets = counted.bits.cleared == 0;
    const std::uint8_t step = step_of(counted.groups, groups);
    made.bytes.push_back(
        static_cast<std::byte>(only_sets ? patch_method::sets : patch_method::changes));
    detail::append_varint(made.bytes, new_parts->head.size() / 64);
    detail::append_varint(made.bytes, new_parts->payload.size());
    made.bytes.push_back(static_cast<std::byte>(step));
    const auto old_head = unsealed(old_parts->head);
    const auto new_head = unsealed(new_parts->head);
    detail::range_encoder coder(made.bytes);
    code_file<detail::range_encoder, const std::byte>(coder, old_head, new_head, old_parts->payload,
                                                      new_parts->payload, only_sets, step);
    coder.finish();
    made.is_whole = made.bytes.size() >= sizeof(patch_header) + 1 + new_size;
  }
  if (made.is_whole) {
    made.bytes.resize(sizeof(patch_header));
    made.bytes.push_back(static_cast<std::byte>(patch_method::whole));
    made.bytes.insert(made.bytes.end(), after.bytes().begin(), after.bytes().end());
  }
  return made;
}

result<owned_storage> apply_patch(const mapped_storage& before, const std::string& before_name,
                                  bytes patch, const std::string& patch_name) {
  if (patch.size() < sizeof patch_magic ||
      std::memcmp(patch.data(), patch_magic.data(), sizeof patch_magic) != 0) {
    return fail(errc::corrupt, patch_name +
                                   ": this is not a patch (its first 8 bytes are not the "
                                   "signature); give a file that 'bloomset diff' wrote");
  }
  const auto damaged = [&](std::string_view how) {
    return detail::format_failure(errc::corrupt, "{}: {}; the patch is damaged, fetch it again",
                                  patch_name, how);
  };
  if (patch.size() <= sizeof(patch_header)) return damaged("it ends within its header");
  const auto old_parts = parts_of(before, before_name);
  if (!old_parts) return fail(old_parts.error());
  const auto header = detail::load<patch_header>(patch.data());
  if (old_parts->seal != header.before) {
    if (old_parts->seal == header.after) {
      return fail(errc::incompatible, before_name + ": the file is the result of " + patch_name +
                                          " already; there is nothing to do");
    }
    return detail::format_failure(
        errc::incompatible,
        "{}: {} was made for another file, with the header checksum {} instead of {}; give that "
        "file, or fetch the whole filter",
        before_name, patch_name, checksum_text(header.before), checksum_text(old_parts->seal));
  }
  const auto method = static_cast<patch_method>(patch[sizeof(patch_header)]);
  bytes rest = patch.subspan(sizeof(patch_header) + 1);

  owned_storage made;
  if (method == patch_method::whole) {
    auto copied = owned_storage::copy_of(rest);
    if (!copied) return copied;
    made = std::move(*copied);
  } else if (method == patch_method::changes || method == patch_method::sets) {
    const auto head_blocks = detail::take_varint(rest);
    const auto payload_size = detail::take_varint(rest);
    if (!head_blocks || !payload_size || rest.empty()) return damaged("it ends within its lengths");
    const std::uint64_t most = max_changed_size(before.bytes().size());
    if (*head_blocks == 0 || *head_blocks > most / 64 || *payload_size > most ||
        *head_blocks * 64 + *payload_size > most) {
      return damaged("its lengths are not those of a new file");
    }
    auto memory = owned_storage::make(*head_blocks * 64 + *payload_size);
    if (!memory) return memory;
    made = std::move(*memory);
    const auto all = made.writable_bytes();
    const auto head = all.first(*head_blocks * 64);
    const auto step = std::to_integer<std::uint8_t>(rest.front());
    detail::range_decoder coder(rest.subspan(1));
    code_file<detail::range_decoder, std::byte>(coder, unsealed(old_parts->head), head,
                                                old_parts->payload, all.subspan(head.size()),
                                                method == patch_method::sets, step);
    if (coder.has_more()) return damaged("bytes follow its changes");
    detail::store(head.data() + header_checksum_at, header.after);
  } else {
    return detail::format_failure(errc::unsupported,
                                  "{}: its method {} is not known here; use a newer bloomset",
                                  patch_name, static_cast<unsigned>(method));
  }

  // The result is what the patch announces, or the patch is damaged.
  const auto stored =
      read_stored(mapped_storage(nullptr, made.bytes()), verification::always, patch_name);
  if (!stored) return damaged("its result is not a whole filter");
  if (file_parts(made.bytes()).seal != header.after) {
    return damaged("its result has another checksum than it announces");
  }
  return made;
}

}  // namespace bloomset
