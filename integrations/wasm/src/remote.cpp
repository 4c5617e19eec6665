// The functions that only bloomset-remote.wasm has: a filter of whose file only some bytes are
// here. The host fetches the bytes that are missing.

#include <bloomset/partial.hpp>

#include "file/announced.hpp"
#include "reader.hpp"

namespace bloomset::wasm {
namespace {

// The only file of the instance.
std::optional<partial_file> part;  // NOLINT(*-avoid-non-const-global-variables)

constexpr std::uint64_t first_bytes = 4096;

/// The ranges as the answer: begin and end of each as u32, in ascending order and without overlaps.
void list(std::vector<byte_interval>& missing) {
  std::ranges::sort(missing, {}, &byte_interval::begin);
  answer.clear();
  std::uint64_t covered = 0;
  for (const byte_interval& each : missing) {
    const std::array<std::uint32_t, 2> range = {
        static_cast<std::uint32_t>(std::max(each.begin, covered)),
        static_cast<std::uint32_t>(each.end)};
    if (range[0] >= range[1]) continue;
    answer.append(reinterpret_cast<const char*>(range.data()), sizeof range);
    covered = each.end;
  }
}

result<void> missing_to_open() {
  const auto whole = part->storage().bytes();
  std::vector<byte_interval> missing;
  const auto need = [&](byte_interval range) {
    if (!part->has(range)) missing.push_back(range);
  };
  need({0, std::min(first_bytes, part->size())});
  if (missing.empty() && has_signature(whole) && whole.size() >= detail::file_header_bytes) {
    need({0, std::min(detail::announced_payload_at(whole), part->size())});
  }
  if (missing.empty()) {
    const auto stored = read_stored(part->storage(), verification::header, the_bytes);
    if (!stored) return fail(stored.error());
    if (auto ok = check_hash(*stored); !ok) return ok;
    const std::uint64_t payload = stored->payload.bytes().size();
    const auto ok =
        with_kind(*stored, [&]<class F>(std::type_identity<F>, std::string_view) -> result<void> {
          const auto params = F::params_type::decode(stored->header, stored->parameters);
          if (!params) return fail(params.error());
          bool fits = true;
          F::trace_open(*params, [&](byte_interval bytes) {
            fits = fits && bytes.begin <= bytes.end && bytes.end <= payload;
            const std::uint64_t at = part->size() - payload;
            if (fits) need({at + bytes.begin, at + bytes.end});
          });
          if (fits) return {};
          return fail(errc::corrupt,
                      "its payload does not fit its parameters; the file is damaged");
        });
    if (!ok) {
      return fail(ok.error().code, std::string(the_bytes) + ": " + ok.error().message);
    }
  }
  list(missing);
  return {};
}

void missing_to_query(const texts& keys) {
  const std::uint64_t payload_at = part->size() - payload_bytes;
  std::vector<byte_interval> missing;
  for (std::uint32_t i = 0; i < keys.count; ++i) {
    const std::string_view key = keys[i];
    filter->trace(hasher(std::as_bytes(std::span(key.data(), key.size()))),
                  [&](byte_interval bytes) {
                    const byte_interval in_file{payload_at + bytes.begin, payload_at + bytes.end};
                    const bool here = part->has(in_file);
                    if (!here) missing.push_back(in_file);
                    return here;
                  });
  }
  list(missing);
}

result<void> has_part() {
  if (part) return {};
  return fail(errc::invalid_argument, "this instance has no file; begin one");
}

}  // namespace
}  // namespace bloomset::wasm

/// Memory for a file of this size, whose bytes are zeros until they are put there.
BLOOMSET_EXPORT(bloomset_begin_part) std::uint32_t bloomset_begin_part(std::uint32_t size) {
  auto made = bloomset::partial_file::make(size);
  if (!made) {
    return status_of(
        bloomset::fail(made.error().code, std::string(the_bytes) + ": " + made.error().message));
  }
  part.emplace(std::move(*made));
  return 0;
}

/// Copies bytes into the file.
BLOOMSET_EXPORT(bloomset_put_part)
std::uint32_t bloomset_put_part(std::uint32_t at, const std::byte* bytes, std::uint32_t size) {
  if (const auto ok = has_part(); !ok) return status_of(ok);
  if (std::uint64_t{at} + size > part->size()) {
    return status_of(
        bloomset::fail(bloomset::errc::invalid_argument, "the bytes are not inside the file"));
  }
  part->put(at, byte_span(bytes, size));
  return 0;
}

/// The ranges of the file that are missing before it can be opened, as the answer: begin and end of
/// each, two u32. Fetch them and call again, until there are none.
BLOOMSET_EXPORT(bloomset_missing_to_open) std::uint32_t bloomset_missing_to_open() {
  if (const auto ok = has_part(); !ok) return status_of(ok);
  return status_of(missing_to_open());
}

/// Opens the filter. The checksum of its payload is checked if all bytes are there.
BLOOMSET_EXPORT(bloomset_open_part) std::uint32_t bloomset_open_part(const std::byte* key) {
  if (const auto ok = has_part(); !ok) return status_of(ok);
  const bool is_whole = part->bytes_present() == part->size();
  return status_of(open(part->storage(),
                        is_whole ? bloomset::verification::always : bloomset::verification::header,
                        key));
}

/// The ranges that are missing before these keys can be queried, in the same form.
BLOOMSET_EXPORT(bloomset_missing_to_query)
std::uint32_t bloomset_missing_to_query(const char* keys, const std::uint32_t* ends,
                                        std::uint32_t count) {
  if (const auto ok = has_part(); !ok) return status_of(ok);
  if (filter == nullptr) {
    return status_of(bloomset::fail(bloomset::errc::invalid_argument, "the filter is not open"));
  }
  missing_to_query({keys, ends, count});
  return 0;
}
