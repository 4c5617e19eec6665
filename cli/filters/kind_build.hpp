#pragma once

// Builds a filter of a kind from the keys of an input: while they are read, or once their number is
// known; in memory, or in temporary files.

#include <bloomset/any_filter.hpp>
#include <bloomset/result.hpp>
#include <memory>

#include "filters/key_part.hpp"
#include "input/input_options.hpp"
#include "input/key_input.hpp"
#include "memory/memory_limit.hpp"

namespace bloomset::cli {

/// What a build is made of, beside the plan.
struct build_input {
  const input_options& options;
  std::unique_ptr<key_input>& opened;  ///< anew if it is read again
  key_part& part;
  memory_limit memory;
  /// Of a kind of two sets: all keys, and their options, to open them anew.
  std::unique_ptr<key_input>* universe = nullptr;
  const input_options* universe_options = nullptr;

  key_input& input() const noexcept { return *opened; }
};

/// Whether a build of unknown size reads files again, if it can, once their keys are counted. Other
/// kinds need the order or the copies of the keys, so the hashes are kept.
bool reads_files_again(const kind_info& kind) noexcept;

/// A filter with all keys of the input. A kind of two sets has the keys of `universe` as other
/// keys. If the request has neither capacity nor size, it is planned for the number of keys. With
/// `canonical`, kinds whose bytes depend on the order of inserts insert in an order of their own.
/// Fails as the input or the plan does, or names the key that does not fit.
result<any_filter> build_of_kind(const kind_info& kind, const plan_request& request,
                                 const build_input& from, bool canonical);

}  // namespace bloomset::cli
