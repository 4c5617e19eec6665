#pragma once

// `bloomset check --files`: which files of a tree have contents whose digests may be in a filter.

#include <bloomset/result.hpp>
#include <string>
#include <vector>

#include "filters/query.hpp"
#include "terminal/command.hpp"

namespace bloomset::cli {

struct file_check {
  std::vector<std::string> roots;  ///< files, and folders with all that is below them
  std::string digest;              ///< as in --keys; empty: the filters name it
  bool count = false;
  bool quiet = false;
  bool json = false;
};

/// Digests every regular file on all cores and prints the selected ones, folder by folder in the
/// order of their names. Symbolic links are not followed, and archives are not opened. A file that
/// cannot be read is reported, and the status is then `error`. Fails if the digest is not known, or
/// cannot be that of the filters' keys.
result<status> check_files(const query& asked, const file_check& options);

}  // namespace bloomset::cli
