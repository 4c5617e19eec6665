#pragma once

/// Filters of other programs, read and written bit for bit. A dialect adds no filter: it is a named
/// tuple of hash function, probe rule, bit order and container. docs/dialects.md draws each.
///
///     auto bytes = bloomery::map_bytes("hashes.dcso");
///     if (!bytes) return report(bytes.error());
///     auto seen = bloomery::dialects::open(*bytes, {.name = "hashes.dcso"});
///     if (seen && seen->askable() && seen->may_contain("5d41402abc4b2a76")) ask_the_database();
///
/// Command line and tests see dialects only through this header.

#include <bloomery/any_filter.hpp>
#include <bloomery/concepts.hpp>
#include <bloomery/file.hpp>
#include <bloomery/result.hpp>
#include <bloomery/storage.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)  // a shared build shows it

namespace bloomery::dialects {

struct dialect;

/// NAME and VALUE of what only one dialect has: a funnel, a version, a column.
using option_list = std::vector<std::pair<std::string, std::string>>;

/// A filter's own account of itself. What its format does not store is absent.
struct foreign_info {
  std::string_view format;                ///< the dialect's name
  std::string variant;                    ///< which of the format's containers or versions
  std::string_view kind;                  ///< of filter: bloom or blocked_bloom
  std::uint64_t bits = 0;                 ///< m
  unsigned hashes = 0;                    ///< k
  std::optional<std::uint64_t> capacity;  ///< keys it was planned for
  std::optional<double> planned_fpr;
  std::optional<std::uint64_t> count;  ///< keys inserted, as the original software counts them
  double estimated_size = 0;           ///< distinct keys, from the bits; may be infinite
  double current_fpr = 0;              ///< of the bits as they stand
  double fill = 0;                     ///< share of set bits, in [0, 1]
  bool can_insert = false;
  bool can_merge = false;
  std::vector<property> extras;

  std::uint64_t bytes() const noexcept { return bits / 8 + (bits % 8 != 0); }
};

/// A filter as its original software stores it. Refers to the filter's own bits.
struct foreign_image {
  std::vector<std::byte> head;
  std::span<const std::byte> bits;
  std::vector<std::byte> tail;

  /// What write_file and write_stream take.
  std::vector<std::span<const std::byte>> pieces() const { return {head, bits, tail}; }
  /// The same as one string of bytes.
  std::vector<std::byte> bytes() const;
};

/// A filter in a foreign format, owning or over the bytes that it was opened from. Movable; one
/// that was moved from may only be destroyed or assigned to. Threads: const calls may run at once;
/// anything else needs the filter to itself.
class foreign_filter {
 public:
  class model;  // what each dialect implements (dialects/src/model.hpp)

  explicit foreign_filter(std::unique_ptr<model> m) noexcept;
  foreign_filter(foreign_filter&&) noexcept;
  foreign_filter& operator=(foreign_filter&&) noexcept;
  foreign_filter(const foreign_filter&) = delete;
  foreign_filter& operator=(const foreign_filter&) = delete;
  ~foreign_filter();

  const dialect& format() const noexcept;
  /// O(m): the estimates read the bits.
  foreign_info info() const;

  /// Whether keys can be asked and inserted, or what has to be known first: some formats do not
  /// store how a key becomes bytes, and a wrong guess would be a false "no" for every key.
  result<void> askable() const;
  /// Whether this key can be a member at all, or why not: a funnel of numbers takes no words.
  result<void> accepts(std::string_view key) const;
  /// Whether every key is accepted, as by formats that hash its bytes as they stand.
  bool takes_any_key() const noexcept;
  /// Whether the filter's own file says of what type the keys are, as a Parquet file does: then a
  /// key that is not accepted is a mistake rather than a stranger, and who asks is to be told.
  bool stores_key_type() const noexcept;

  /// Precondition of all that follows with keys: askable(). A key that is not accepted surely is no
  /// member.
  bool may_contain(std::string_view key) const noexcept;
  /// Precondition: answers.size() >= keys.size().
  void may_contain(std::span<const std::string_view> keys, std::span<bool> answers) const noexcept;

  /// Inserts in order, up to the first key that is not accepted (summary.done < keys.size()).
  /// Unsupported by a filter that was opened read-only.
  result<insert_summary> insert(std::span<const std::string_view> keys);

  /// Makes this the filter of both sets of keys, counted as the original software counts. Another
  /// format, or other parameters, are incompatible; then nothing has changed.
  result<void> merge(const foreign_filter& other);

  /// The same bits in another container: a filter of its own memory. What the other format cannot
  /// hold is refused with the reason.
  result<foreign_filter> convert(const dialect& to, const option_list& options) const;

  /// What the original software would have written.
  result<foreign_image> image() const;

 private:
  model& get() const noexcept;

  std::unique_ptr<model> model_;
};

/// How sure a dialect is that bytes are of its format.
enum class recognition : std::uint8_t {
  no,
  maybe,    ///< they could be, and other bytes too easily could
  certain,  ///< several fields and the length agree
};

/// How to open bytes, and what to call them.
struct open_request {
  std::string name = "the filter";  ///< what messages call the bytes; file names tell versions
  access how = access::read_only;
  option_list options = {};
};

/// One row of the registry.
struct dialect {
  std::string_view name;
  std::string_view summary;  ///< one line
  std::string_view limits;   ///< what the format cannot hold or does not tell, one line
  std::span<const kind_option> options;
  recognition (*recognise)(std::span<const std::byte> bytes) noexcept;
  /// Read-only the filter refers to `bytes`; writable it has a copy. Malformed bytes are corrupt.
  result<foreign_filter> (*open)(const mapped_storage& bytes, const open_request& request);
  /// An empty filter of the size that the original software would choose. What the request leaves
  /// out has the original's default; what the format has no place for is invalid_argument.
  result<foreign_filter> (*create)(const plan_request& request);
  /// The options that the name of a file of the format tells, if any can.
  option_list (*named)(const std::string& path) = nullptr;
};

/// All dialects, in the order in which they are shown.
std::span<const dialect> all() noexcept;

/// The row of that name; an unknown name is invalid_argument, with the names that exist.
result<const dialect*> find(std::string_view name);

/// Whether each of the options is one of the dialect's, and given once; else invalid_argument, with
/// those that it has.
result<void> check_options(const dialect& as, const option_list& given);

/// What bytes look like.
struct guess {
  const dialect* certain = nullptr;     ///< null unless exactly one dialect is certain
  std::vector<const dialect*> perhaps;  ///< the others that they might be
  /// Where none is certain, the one whose first fields these look like though the rest is not what
  /// they say: damaged, or something else.
  const dialect* damaged = nullptr;
};
/// Asks every dialect whether the bytes are of its format.
guess recognise(std::span<const std::byte> bytes);

/// Opens bytes as that dialect, or as the one that is certain of them. Failures begin with the
/// request's name; an option that the dialect does not have is invalid_argument. Of bytes that look
/// like a damaged filter the failure is what is wrong with them.
result<foreign_filter> open(const dialect& as, const mapped_storage& bytes,
                            const open_request& request = {});
/// The same, as the dialect that is certain of the bytes.
result<foreign_filter> open(const mapped_storage& bytes, const open_request& request = {});

/// The options for a filter that will be written to `path`: the given ones, and those that the name
/// tells. A name that tells something else is invalid_argument, since every reader believes it.
result<option_list> options_for(const dialect& as, const std::string& path, option_list given);

/// An empty filter to insert into, after the same check of options.
result<foreign_filter> create(const dialect& as, const plan_request& request);

}  // namespace bloomery::dialects

#pragma GCC visibility pop
