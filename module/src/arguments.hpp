#pragma once

// What stands behind a command's name.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "api.hpp"

namespace bloomery::server {

/// A string's bytes, valid as long as the string.
std::string_view bytes_of(const string* text) noexcept;

/// Whether two words are equal, upper and lower case being the same. Empty words are not.
bool equal_words(std::string_view a, std::string_view b) noexcept;

/// One call of a command.
struct request {
  context* ctx;
  std::span<string*> argv;

  std::string_view word(std::size_t i) const noexcept { return bytes_of(argv[i]); }
  string* key() const noexcept { return argv[1]; }
  /// The arguments from `first` on, as keys of a filter. Throws std::bad_alloc.
  std::vector<std::string_view> words_from(std::size_t first) const;
  /// Where the wanted word is among the arguments from `first` on.
  std::optional<std::size_t> find(std::string_view wanted, std::size_t first) const noexcept;

  /// Whether limits apply: what the primary or the append-only file says has been accepted before.
  bool is_limited() const noexcept;
};

/// What is wrong with a request, as it goes over the wire; null: nothing.
using wire_error = const char*;

/// A number of bytes, at least one, with the units that the server's own settings take (64mb).
/// False if it is none.
bool parse_bytes(std::string_view text, std::uint64_t& out) noexcept;

/// The commands that a filter answers to.
enum class filter_family : std::uint8_t { bloom = 1, cuckoo = 2 };

/// Whose filters stand behind the commands: the library's own, or those of RedisBloom.
enum class filter_engine : std::uint8_t { native, compatible };

/// What a WINDOW can be: seconds, and the number of its generations.
inline constexpr std::uint64_t max_window = 1'000'000'000;
inline constexpr std::uint16_t max_generations = 64;

/// What RESERVE and INSERT ask a filter to be.
struct filter_spec {
  filter_family family = filter_family::bloom;
  double error_rate = 0;
  std::uint64_t capacity = 0;
  std::uint32_t expansion = 0;  ///< 0: the filter does not grow
  filter_engine engine = filter_engine::native;
  /// Of compatible filters of BF.*: the expansion as they tell it, also if they do not grow.
  std::uint32_t growth = 0;
  bool deletable = false;            ///< of BF.*: copies are kept, counted and deleted
  std::uint16_t bucket_size = 0;     ///< of CF.*; kept for CF.INFO
  std::uint16_t max_iterations = 0;  ///< likewise
  std::uint64_t window = 0;          ///< of BF.*: seconds after which items are forgotten; 0: never
  std::uint16_t generations = 0;     ///< that a window is divided into; 0 without one

  bool operator==(const filter_spec&) const = default;
};

/// What BF.RESERVE asks a filter to fit into, instead of its capacity or its rate.
struct memory_request {
  std::uint64_t bytes = 0;  ///< 0: nothing is asked
  bool finds_rate = false;  ///< else the capacity is found
};

/// BF.RESERVE key error_rate capacity [EXPANSION n] [NONSCALING] [DELETABLE] [WINDOW seconds
/// [GENERATIONS n]] [[ENGINE] name], options anywhere. MEMORY size stands for either number. A
/// number behind NONSCALING is the growth that a compatible filter tells: replicas are told it so.
wire_error parse_bf_reserve(const request& in, filter_spec& out, memory_request& memory) noexcept;

/// BF.INSERT key [CAPACITY n] [ERROR f] [EXPANSION n] [NOCREATE] [NONSCALING] [DELETABLE] [WINDOW
/// seconds [GENERATIONS n]] [[ENGINE] name] [AT milliseconds] ITEMS item... RedisBloom tells its
/// words apart by their first letters, and clients abbreviate them; so are they here.
struct insert_options {
  filter_spec spec;
  bool create = true;
  bool names_engine = false;
  std::uint64_t at = 0;   ///< when the items came, in milliseconds since 1970; 0: now
  std::size_t items = 0;  ///< the first of them
};
/// Without ITEMS and an item behind it `items` stays 0.
wire_error parse_bf_insert(const request& in, insert_options& out) noexcept;

/// What a filter is that is made without being asked for.
filter_spec default_bf_spec() noexcept;

/// CF.RESERVE key capacity [BUCKETSIZE n] [MAXITERATIONS n] [EXPANSION n] [ERROR rate] [[ENGINE]
/// name], options anywhere.
wire_error parse_cf_reserve(const request& in, filter_spec& out) noexcept;

/// CF.INSERT and CF.INSERTNX key [CAPACITY n] [NOCREATE] [[ENGINE] name] ITEMS item...; words and
/// `items` as above.
wire_error parse_cf_insert(const request& in, insert_options& out) noexcept;

filter_spec default_cf_spec() noexcept;

}  // namespace bloomery::server
