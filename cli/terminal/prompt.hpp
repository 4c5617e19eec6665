#pragma once

// A prompt for a secret on the terminal.

#include <bloomset/result.hpp>
#include <memory>
#include <string>

#include "input/input.hpp"

namespace bloomset::cli {

/// Whether stdin is a terminal.
bool can_prompt() noexcept;

/// A source of one line. The first read prompts for it on the terminal without echo. The terminal's
/// settings are restored at the end, also after a signal. No line, or an empty one, is a failure.
/// The source's copy is wiped.
std::unique_ptr<byte_source> prompt_source(std::string question);

}  // namespace bloomset::cli
