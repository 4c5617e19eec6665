#pragma once

/// Filters of other programs, read and written bit for bit. A dialect is a named tuple of hash
/// function, probe rule, bit order and container; it adds no kind of filter.
/// docs/reference/dialects.md describes each.
///
///     auto bytes = bloomset::map_bytes("hashes.dcso");
///     if (!bytes) return report(bytes.error());
///     auto seen = bloomset::dialects::open(*bytes, {.name = "hashes.dcso"});
///     if (seen && seen->askable() && seen->may_contain("5d41402abc4b2a76")) ask_the_database();
///
/// The command line and the tests use dialects only through this header, and parquet.hpp.

#include <bloomset/any_filter.hpp>
#include <bloomset/concepts.hpp>
#include <bloomset/file.hpp>
#include <bloomset/result.hpp>
#include <bloomset/storage.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)  // a shared build shows it

namespace bloomset::dialects {

struct dialect;

/// An option that only one dialect has, such as a funnel, a version or a column: name and value.
using option_list = std::vector<std::pair<std::string, std::string>>;

/// The state of a filter. Values that its format does not store are absent.
struct foreign_info {
  std::string_view format;         ///< the dialect's name
  std::string variant;             ///< the container or version of the format
  std::string_view kind;           ///< of filter: bloom, blocked_bloom, cascade, clubcard or cuckoo
  std::uint64_t bits = 0;          ///< m
  std::optional<unsigned> hashes;  ///< k; of a cascade's first layer
  std::optional<std::uint64_t> capacity;  ///< the planned number of keys
  std::optional<double> planned_fpr;
  std::optional<std::uint64_t> count;    ///< keys inserted, as the original software counts them
  std::optional<double> estimated_size;  ///< distinct keys, from the bits; may be infinite
  /// Computed from the bits. If the filter was built for a universe: of keys outside it.
  std::optional<double> current_fpr;
  std::optional<double> fill;  ///< share of set bits, in [0, 1]
  bool can_merge = false;
  std::vector<property> extras;

  std::uint64_t bytes() const noexcept { return bits / 8 + (bits % 8 != 0); }
  std::optional<double> bits_per_key() const noexcept {
    if (!capacity) return std::nullopt;
    return static_cast<double>(bits) / static_cast<double>(*capacity);
  }
};

/// All figures of a filter, with the names that Bloomset's own filters have (figures.hpp), and
/// `format` and `variant`.
std::vector<property> figures_of(const foreign_info& info);

/// The bytes that the original software would store. Refers to the filter's own bits.
struct foreign_image {
  std::vector<std::byte> head;
  std::span<const std::byte> bits;
  std::vector<std::byte> tail;

  /// The pieces for write_file and write_stream.
  std::vector<std::span<const std::byte>> pieces() const { return {head, bits, tail}; }
  /// The same bytes in one string.
  std::vector<std::byte> bytes() const;
};

/// A filter in a foreign format, in its own memory or over the bytes that it was opened from.
///
/// Threads     Concurrent const calls are safe. All others need exclusive access.
/// Moves       A filter that was moved from may only be destroyed or assigned to.
class foreign_filter {
 public:
  class model;  // the interface that each dialect implements (dialects/src/model.hpp)

  explicit foreign_filter(std::unique_ptr<model> m) noexcept;
  foreign_filter(foreign_filter&&) noexcept;
  foreign_filter& operator=(foreign_filter&&) noexcept;
  foreign_filter(const foreign_filter&) = delete;
  foreign_filter& operator=(const foreign_filter&) = delete;
  ~foreign_filter();

  const dialect& format() const noexcept;
  /// O(m): the estimates read the bits.
  foreign_info info() const;

  /// Succeeds if keys can be queried and inserted. Otherwise the error names the missing option.
  /// Some formats do not store the rule by which a key becomes bytes, and with a wrong rule the
  /// filter would answer "no" for every key.
  result<void> askable() const;
  /// Succeeds if this key can be a member at all. Otherwise the error gives the reason: for
  /// example, a funnel of numbers accepts no words.
  result<void> accepts(std::string_view key) const;
  /// Whether every key is accepted, as in formats that hash the key's bytes unchanged.
  bool takes_any_key() const noexcept;
  /// Whether the filter's file contains the type of the keys, as a Parquet file does. A key that is
  /// not accepted is then a mistake to report, not just a non-member.
  bool stores_key_type() const noexcept;
  /// The form of the filter's keys for a sentence, such as "a whole number of 64 bits". Empty if it
  /// is not known, or if keys may have any form.
  std::string_view key_form_name() const noexcept;
  /// The reader of bloomset::keys that makes the filter's keys from lines, for filters whose keys
  /// are digests. Empty if lines are keys.
  std::string_view key_reader() const noexcept;
  /// Whether a key has this form. If no queried key has it, the caller has probably the wrong keys.
  bool fits(std::string_view key) const;

  /// Whether the key may be a member. False for a key that is not accepted. This call and all
  /// following calls with keys have the precondition askable().
  bool may_contain(std::string_view key) const noexcept;
  /// Precondition: answers.size() >= keys.size().
  void may_contain(std::span<const std::string_view> keys, std::span<bool> answers) const noexcept;

  /// Whether every key has an answer. Some formats answer only for keys of a known part of the
  /// world, such as certificates of enrolled issuers: may_contain() is false for all others, which
  /// says nothing about them.
  bool covers_all_keys() const noexcept;
  /// Per key, whether it has an answer. False too for a key that is not accepted, unless all keys
  /// are covered. Precondition: covered.size() >= keys.size().
  void covers(std::span<const std::string_view> keys, std::span<bool> covered) const noexcept;

  /// Inserts in order, up to the first key that is not accepted (summary.done < keys.size()). Fails
  /// with unsupported if the filter was opened read-only, or if the format is static.
  result<insert_summary> insert(std::span<const std::string_view> keys);

  /// Makes this the filter of both sets of keys, with the count that the original software would
  /// give. Fails with incompatible, and changes nothing, if the formats or the parameters differ.
  result<void> merge(const foreign_filter& other);

  /// The filter of the same keys with 1/factor of the blocks. Fails with unsupported if the format
  /// is not parquet, or with invalid_argument if the factor does not divide the blocks.
  result<foreign_filter> fold(std::uint64_t factor) const;
  /// The smallest such filter whose current rate is at most fpr. Fails with full if it is above fpr
  /// already.
  result<foreign_filter> fold_to(double fpr) const;

  /// The same bits in another container, in a filter with its own memory. Fails if the other format
  /// cannot hold them; the error gives the reason.
  result<foreign_filter> convert(const dialect& to, const option_list& options) const;

  /// The bytes that the original software would write.
  result<foreign_image> image() const;

 private:
  model& get() const noexcept;

  std::unique_ptr<model> model_;
};

/// A dialect's judgement whether bytes are of its format.
enum class recognition : std::uint8_t {
  no,
  maybe,    ///< they could be, but so could many other bytes
  certain,  ///< several fields and the length agree
};

/// How to open bytes, and their name in messages.
struct open_request {
  std::string name = "the filter";  ///< for messages; some file names contain a version
  access how = access::read_only;
  option_list options = {};
  /// Whether to read the whole of a large filter whose parts can be malformed, as
  /// bloomset::open() does: always of files up to automatic_verification_limit. A question to a
  /// malformed part that was not read gets the answer "maybe".
  verification verify = verification::automatic;
};

/// Keys that can be read more than once: a span in memory, or files.
struct key_source {
  using sink = std::function<result<void>(std::span<const std::string_view>)>;

  /// Passes all keys to `use`, many at a time and the same on each call, until `use` fails. Returns
  /// that failure, or its own.
  std::function<result<void>(const sink& use)> for_each = [](const sink&) -> result<void> {
    return {};
  };

  /// The keys of a span, which must outlive the source.
  static key_source of(std::span<const std::string_view> keys) {
    return {[keys](const sink& use) { return use(keys); }};
  }
};

/// The keys of a filter that is built once. Both may have repetitions.
struct static_keys {
  key_source members;  ///< read once
  /// All keys that will ever be queried. Members may be missing here. A clubcard reads them twice,
  /// and keeps those that it needs; a cascade keeps all.
  key_source universe;
};

/// One row of the registry.
struct dialect {
  std::string_view name;
  std::string_view summary;  ///< one line
  std::string_view limits;   ///< information that the format cannot hold or lacks, one line
  std::span<const kind_option> options;
  recognition (*recognise)(std::span<const std::byte> bytes) noexcept;
  /// A read-only filter refers to `bytes`; a writable one copies them. Fails with corrupt if the
  /// bytes are malformed.
  result<foreign_filter> (*open)(const mapped_storage& bytes, const open_request& request);
  /// An empty filter of the size that the original software would choose. Omitted values have the
  /// original's defaults. Fails with invalid_argument for values that the format cannot store. Null
  /// for a static format, whose filters do not insert.
  result<foreign_filter> (*create)(const plan_request& request);
  /// The options that the name of a file contains. Null if names of this format contain none.
  option_list (*named)(const std::string& path) = nullptr;
  /// Static formats: the filter that answers every key of the universe exactly. The same sets give
  /// the same bytes in any order. Null for other formats.
  result<foreign_filter> (*build)(const plan_request& request, const static_keys& keys) = nullptr;

  /// Whether filters are built once and never change.
  bool is_static() const noexcept { return build != nullptr; }
};

/// All dialects, in the order in which they are shown.
std::span<const dialect> all() noexcept;

/// The row of that name. Fails with invalid_argument for an unknown name; the error lists the
/// names.
result<const dialect*> find(std::string_view name);

/// Succeeds if the dialect has each of the options, and each is given once. Otherwise fails with
/// invalid_argument; the error lists the dialect's options.
result<void> check_options(const dialect& as, const option_list& given);

/// The dialects that bytes may be of.
struct guess {
  const dialect* certain = nullptr;     ///< null unless exactly one dialect is certain
  std::vector<const dialect*> perhaps;  ///< the others that are possible
  /// If none is certain: the dialect whose first fields the bytes have, although the rest does not
  /// match. The bytes are a damaged filter, or something else.
  const dialect* damaged = nullptr;
};
/// Asks every dialect whether the bytes are of its format.
guess recognise(std::span<const std::byte> bytes);

/// Opens bytes as that dialect. Error sentences begin with the request's name. Fails with
/// invalid_argument for an option that the dialect lacks.
result<foreign_filter> open(const dialect& as, const mapped_storage& bytes,
                            const open_request& request = {});
/// The same with the dialect that is certain of the bytes. If they look like a damaged filter, the
/// error names the damage.
result<foreign_filter> open(const mapped_storage& bytes, const open_request& request = {});

/// The options for a filter that will be written to `path`: the given ones, and those in the file's
/// name. Fails with invalid_argument if the two contradict each other, since readers rely on the
/// name.
result<option_list> options_for(const dialect& as, const std::string& path, option_list given);

/// An empty filter to insert into. Checks the options as check_options() does. Fails with
/// unsupported for a static format.
result<foreign_filter> create(const dialect& as, const plan_request& request);

/// A filter of a static format. Checks the options as check_options() does. Fails with unsupported
/// for other formats, and with invalid_argument for a key that the format does not accept.
result<foreign_filter> build(const dialect& as, const plan_request& request,
                             const static_keys& keys);

}  // namespace bloomset::dialects

#pragma GCC visibility pop
