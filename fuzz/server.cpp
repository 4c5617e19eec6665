// The module for servers reads bytes from outside: pieces of dumps, by LOADCHUNK, values of
// RedisBloom's types and of valkey-bloom's, as in an RDB file or a payload of RESTORE, and the
// data of BF.LOAD. Any bytes are refused, or a filter that can be used and is written as it was
// read. The first byte chooses.
//
// Of the server only the functions that read and write fields of a value are here; they have the
// same form as in a payload: an opcode, then a length or number, then bytes.

#include <algorithm>
#include <array>
#include <bit>
#include <bloomset/hash.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "redisbloom/redisbloom_rdb.hpp"
#include "server/memory.hpp"
#include "valkeybloom/valkey_rdb.hpp"
#include "values/dump_pieces.hpp"
#include "values/filter_object.hpp"

namespace {

namespace s = bloomset::server;

void require(bool holds, const char* what) {
  if (holds) return;
  (void)std::fprintf(stderr, "server: %s\n", what);
  std::abort();
}

// A value's fields
// ----------------

enum opcode : unsigned { is_unsigned = 2, is_real = 4, is_string = 5 };

struct payload {
  std::string bytes;
  std::size_t at = 0;
  bool broken = false;
};
payload& of(s::io* io) noexcept {
  return *reinterpret_cast<payload*>(io);
}
s::io* as_io(payload& from) noexcept {
  return reinterpret_cast<s::io*>(&from);
}

std::string_view next(payload& from, std::uint64_t size) {
  if (from.broken || size > from.bytes.size() - from.at) {
    from.broken = true;
    return {};
  }
  from.at += size;
  return std::string_view(from.bytes).substr(from.at - size, size);
}

/// Six or fourteen bits, or 32 or 64 behind a byte; big-endian.
std::uint64_t next_length(payload& from) {
  const auto number_of = [&](std::size_t bytes) {
    std::uint64_t number = 0;
    for (const char c : next(from, bytes)) number = number << 8 | static_cast<unsigned char>(c);
    return number;
  };
  const std::uint64_t first = number_of(1);
  if (first >> 6 == 0) return first;
  if (first >> 6 == 1) return (first & 63) << 8 | number_of(1);
  if (first == 0x80) return number_of(4);
  if (first == 0x81) return number_of(8);
  from.broken = true;
  return 0;
}
void put_length(payload& to, std::uint64_t length) {
  to.bytes += '\x81';
  for (int shift = 56; shift >= 0; shift -= 8) to.bytes += static_cast<char>(length >> shift);
}

std::uint64_t load_unsigned(s::io* io) {
  payload& from = of(io);
  if (next_length(from) != is_unsigned) from.broken = true;
  return from.broken ? 0 : next_length(from);
}
double load_real(s::io* io) {
  double real = 0;
  if (next_length(of(io)) != is_real) of(io).broken = true;
  next(of(io), sizeof real).copy(reinterpret_cast<char*>(&real), sizeof real);
  return real;
}
char* load_bytes(s::io* io, std::size_t* size) {
  payload& from = of(io);
  if (next_length(from) != is_string) from.broken = true;
  const std::string_view bytes = next(from, next_length(from));
  if (from.broken) return nullptr;
  *size = bytes.size();
  auto* const copy = static_cast<char*>(std::malloc(bytes.size() + 1));
  bytes.copy(copy, bytes.size());
  return copy;
}
int has_io_error(s::io* io) {
  return of(io).broken ? 1 : 0;
}

void save_unsigned(s::io* io, std::uint64_t number) {
  put_length(of(io), is_unsigned);
  put_length(of(io), number);
}
void save_real(s::io* io, double real) {
  put_length(of(io), is_real);
  of(io).bytes.append(std::string_view(reinterpret_cast<const char*>(&real), sizeof real));
}
void save_bytes(s::io* io, const char* bytes, std::size_t size) {
  put_length(of(io), is_string);
  put_length(of(io), size);
  of(io).bytes.append(bytes, size);
}

// When the seeds that forget were made.
constexpr long long now = 1'795'299'942'000;

void stand_in_for_the_server() {
  s::api.try_calloc = std::calloc;
  s::api.milliseconds = [] { return now; };
  s::api.load_unsigned = load_unsigned;
  s::api.load_real = load_real;
  s::api.load_bytes = load_bytes;
  s::api.has_io_error = has_io_error;
  s::api.save_unsigned = save_unsigned;
  s::api.save_real = save_real;
  s::api.save_bytes = save_bytes;
  s::api.free = std::free;
  s::use_server_memory();
}

// Filters that were taken
// --------------------------------------------------------------------------

std::string written(const s::filter_value& filter) {
  std::string all(s::as_chars(filter.dump_header()));
  for (const auto piece : filter.dump_payload()) all += s::as_chars(piece);
  return all;
}

void use(s::filter_value& filter) {
  const s::growth_limit limit = {.max_bytes = std::uint64_t{1} << 20};
  const std::array<std::string_view, 4> items = {"alice", "bob", "", "alice"};
  std::array<bool, 4> answers{};
  std::array<bool, 4> newly_inserted{};
  filter.contains(items, answers);
  const s::filter_facts facts = filter.facts();
  const s::filter_state state = filter.state();
  require(state.error_rate >= 0 && state.error_rate <= 1, "a rate outside of 0 to 1");
  const bool deletes = facts.spec.family == s::filter_family::cuckoo;
  // One with a window may have forgotten all, and what is added now if its header is of later.
  const bool forgets = facts.spec.window != 0;
  require(forgets || (facts.filters >= 1 && facts.bytes > 0 && filter.bytes() > 0),
          "facts of nothing");
  filter.advance(now);
  for (const s::insert_mode mode : {s::insert_mode::if_absent, s::insert_mode::copies}) {
    if (!deletes && mode == s::insert_mode::copies) continue;
    const auto added = filter.insert(items, newly_inserted, mode, limit);
    filter.contains(items, answers);
    for (std::size_t i = 0; i < added.done; ++i)
      require(answers.at(i) || forgets, "a false negative");
  }
  if (!deletes) return;
  for (const std::string_view item : items) {
    const bool was_there = filter.count(item) != 0;
    require(filter.erase(item) == was_there, "a delete against the count");
  }
  filter.compact();
}

/// As COPY does it, and an append-only file.
void require_same_after_a_dump(const s::filter_value& filter) {
  const auto header = filter.dump_header();
  s::received_dump dump;
  require(dump.begin(s::as_chars(header)) == nullptr, "what was written is refused");
  s::filter_object object(std::move(dump));
  std::uint64_t at = 0;
  for (const auto piece : filter.dump_payload()) {
    require(object.append(at, s::as_chars(piece)) == nullptr,
            "a piece that was written is refused");
    at += piece.size();
  }
  require(object.filter != nullptr, "a dump without an end");
  require(written(*object.filter) == written(filter), "what was read is written otherwise");
}

void require_same_after_an_rdb(const s::filter_value& filter) {
  const s::filter_spec spec = filter.facts().spec;
  if (spec.engine == s::filter_engine::native) return;
  payload saved;
  std::unique_ptr<s::filter_value> again;
  if (spec.family == s::filter_family::bloom) {
    save(as_io(saved), static_cast<const s::bloom_chain&>(filter));
    again = s::load_chain(as_io(saved), s::redisbloom_version);
  } else {
    save(as_io(saved), static_cast<const s::cuckoo_chain&>(filter));
    again = s::load_cuckoo(as_io(saved), s::redisbloom_version);
  }
  require(again != nullptr && saved.at == saved.bytes.size(), "what was saved is refused");
  payload twice;
  if (spec.family == s::filter_family::bloom) {
    save(as_io(twice), static_cast<const s::bloom_chain&>(*again));
  } else {
    save(as_io(twice), static_cast<const s::cuckoo_chain&>(*again));
  }
  require(twice.bytes == saved.bytes, "what was loaded is saved otherwise");
}

void check(s::filter_value& filter) {
  require_same_after_a_dump(filter);
  require_same_after_an_rdb(filter);
  use(filter);
  require_same_after_a_dump(filter);
}

/// Reads a value of valkey-bloom's type, or else the data of BF.LOAD.
void take_valkey_filter(payload& from, bool is_value) {
  std::unique_ptr<s::valkey_chain> filter;
  if (is_value) {
    filter = s::load_valkey_chain(as_io(from));
  } else {
    try {
      filter = s::read_load_data(from.bytes);
    } catch (const s::refusal& error) {
      require(std::string_view(error.what()).starts_with("ERR "), "an error without a text");
    }
  }
  if (filter == nullptr) return;
  const auto require_same = [&filter] {
    payload saved;
    save(as_io(saved), *filter);
    const auto loaded = s::load_valkey_chain(as_io(saved));
    require(loaded != nullptr, "what was saved is refused");
    const auto data = s::load_data_of(*filter);
    require(s::load_data_of(*loaded) == data, "what was loaded is saved otherwise");
    const auto again = s::read_load_data(s::as_chars(data));
    require(written(*again) == written(*filter), "what was read is written otherwise");
  };
  require_same();
  use(*filter);
  require_same();
}

/// Makes the checksums of a native header right: that of its prefix, and, where it has a window,
/// that of the block behind it.
void seal(std::string& header) {
  constexpr std::size_t prefix = 64;
  constexpr std::size_t at_flags = 13;
  constexpr std::size_t at_block_size = 48;
  constexpr unsigned flag_window = 2;
  const auto seal_end = [&header](std::size_t from, std::size_t to) {
    const std::size_t at = to - sizeof(std::uint64_t);
    const std::uint64_t checksum =
        bloomset::xxh3_hasher(0)(std::as_bytes(std::span(header).subspan(from, at - from))).value;
    std::memcpy(header.data() + at, &checksum, sizeof checksum);
  };
  if (header.size() < prefix) return;
  std::uint32_t block = 0;
  std::memcpy(&block, header.data() + at_block_size, sizeof block);
  const bool has_window = (static_cast<unsigned char>(header[at_flags]) & flag_window) != 0;
  if (has_window && block >= sizeof(std::uint64_t) && block <= header.size() - prefix) {
    seal_end(prefix, prefix + block);
  }
  seal_end(0, prefix);
}

/// Pieces of two bytes of length, the upper bit of which says that the piece has a wrong place, and
/// then so many bytes; the first is the header. With `sealed` its checksum is made right.
void take_dump(std::string_view rest, bool sealed) {
  const auto next_piece = [&rest](bool& misplaced) {
    std::uint16_t length = 0;
    rest.copy(reinterpret_cast<char*>(&length), sizeof length);
    rest.remove_prefix(std::min(sizeof length, rest.size()));
    misplaced = length >> 15 != 0;
    const std::string_view piece = rest.substr(0, length & 0x7fff);
    rest.remove_prefix(piece.size());
    return piece;
  };
  bool misplaced = false;
  std::string header(next_piece(misplaced));
  if (sealed) seal(header);
  s::received_dump dump;
  if (dump.begin(header) != nullptr) return;
  s::filter_object object(std::move(dump));
  for (std::uint64_t at = 0; !rest.empty() && object.filter == nullptr;) {
    const std::string_view piece = next_piece(misplaced);
    const std::uint64_t before = s::size_of(object.dump_payload());
    require(before == at, "a piece was lost");
    const s::wire_error error = object.append(at + (misplaced ? 1 : 0), piece);
    require(error == nullptr || std::string_view(error).size() > 4, "an error without a text");
    require(!misplaced || error != nullptr, "a piece at a wrong place was taken");
    if (error == nullptr) at += piece.size();
  }
  if (object.filter) check(*object.filter);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  [[maybe_unused]] static const bool once = (stand_in_for_the_server(), true);
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  constexpr unsigned versions = 6;  // one more than there are
  const unsigned choice = *data % (4 + 2 * versions);
  if (choice < 2) {
    take_dump(rest, choice == 1);
    return 0;
  }
  payload from{.bytes = std::string(rest)};
  if (choice >= 2 + 2 * versions) {
    take_valkey_filter(from, choice == 2 + 2 * versions);
    return 0;
  }
  const int version = static_cast<int>((choice - 2) / 2);
  const auto filter =
      choice % 2 == 0 ? s::load_chain(as_io(from), version) : s::load_cuckoo(as_io(from), version);
  if (filter != nullptr) check(*filter);
  return 0;
}
