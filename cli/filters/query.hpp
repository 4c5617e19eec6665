#pragma once

// The filters that a check queries, and their answers.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "filters/flags.hpp"
#include "filters/opened.hpp"
#include "input/record_keys.hpp"
#include "input/stored_reader.hpp"
#include "remote/remote_filter.hpp"

namespace bloomset::cli {

/// The answers for one batch. `hits` counts over all batches.
struct answers {
  explicit answers(std::size_t filters)
      : key_memory(filters), line_memory(filters), hits(filters), fitting(filters) {}

  std::vector<flags> key_memory;    ///< per filter: whether each key may be in it
  std::vector<flags> line_memory;   ///< per filter: the same per line, unless each line is one key
  std::vector<const bool*> lines;   ///< per filter: whether any key of each line may be in it
  flags selected;                   ///< per line
  flags unknown;                    ///< per line: in no filter, and some filter has no answer
  std::vector<std::uint64_t> hits;  ///< per filter: lines that may be in it
  std::uint64_t unknowns = 0;       ///< lines that are `unknown`
  /// Per filter: whether any key so far has the form of its keys. Not set if it has no such form.
  std::vector<bool> fitting;
};

/// The lines that a check selects.
enum class selection : std::uint8_t {
  members,      ///< may be in some filter
  non_members,  ///< certainly in none
  unknown       ///< some filter has no answer, and the others do not have it
};

/// Queries any number of filters. Threads may query at once, each with its own answers.
class query {
 public:
  /// Opens the filters; a name may be a URL. Fails if one cannot be queried, or if no filter uses
  /// an option of `format`.
  static result<query> open(std::vector<std::string> names, const format_options& format,
                            const transfer_limits& limits, verification verify, selection select);

  /// The one filter, if its queries can be sorted by their hashes, so that its memory is read from
  /// begin to end. Null for several filters and for others.
  const any_filter* in_hash_order() const;
  /// The memory of all filters, in bytes.
  std::uint64_t size_in_bytes() const;

  std::size_t filters() const noexcept { return filters_.size(); }
  std::string_view name(std::size_t filter) const noexcept { return filters_[filter].name; }
  selection selects() const noexcept { return select_; }
  std::vector<labelled_filter> labels() const;

  /// A check of a key against the key types that the filters store, or nothing if none stores one.
  std::function<result<void>(std::string_view key)> key_check() const;
  /// A sentence for a filter whose keys have a form that none of the `keys` queried keys has. Empty
  /// if it has no such form.
  std::string wrong_form(std::size_t filter, std::uint64_t keys) const;

  /// Whether ask() reads bytes of a filter from a server. Then only one thread may call it.
  bool is_remote() const noexcept;

  /// Queries all filters. Returns the number of lines selected. Fails only if is_remote().
  result<std::size_t> ask(const key_batch& batch, answers& said) const;

 private:
  struct named_filter {
    std::string name;
    opened_filter filter;
    std::unique_ptr<remote_filter> source;  // of the bytes that are not there yet, or null
  };

  explicit query(selection select) : select_(select) {}

  std::span<bool> find_unknown(const key_batch& batch, answers& said) const;

  std::vector<named_filter> filters_;
  selection select_;
};

}  // namespace bloomset::cli
