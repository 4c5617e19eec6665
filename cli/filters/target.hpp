#pragma once

// The output file of a verb.

#include <bloomset/result.hpp>
#include <functional>
#include <span>
#include <string>

namespace bloomset::cli {

/// Fails if a filter cannot be written there. Call it before any key is read. The target is a file,
/// or "-" for a stdout that is not a terminal.
result<void> check_target(const std::string& target, bool force);

/// Fails if the target is one of the inputs: the same file by device and inode, by whatever name.
/// The target "-" is stdout, and the input "-" is stdin. Devices and pipes may be both.
result<void> check_apart(const std::string& target, std::span<const std::string> inputs);

/// check_target() for a chart, which is always a file, because stdout has the figures.
result<void> check_chart(const std::string& target, bool force);

/// Writes the chart atomically, like a filter file.
result<void> write_chart(const std::string& svg, const std::string& target, bool force);

/// Calls `write`, which replaces the file at that path. Warns on stderr if the new file has another
/// owner or group.
result<void> replacing(const std::string& path, const std::function<result<void>()>& write);

}  // namespace bloomset::cli
