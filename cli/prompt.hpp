#pragma once

// A secret, asked for on the terminal.

#include <bloomery/result.hpp>
#include <memory>
#include <string>

#include "input.hpp"

namespace bloomery::cli {

/// Whether stdin is a terminal, where somebody can be asked.
bool can_prompt() noexcept;

/// One line that is asked for on the terminal, at the first read, and not echoed while it is typed.
/// What the terminal was like is restored whatever ends the asking, signals too. No line, or an
/// empty one, is a failure. The source's own copy is wiped.
std::unique_ptr<byte_source> prompt_source(std::string question);

}  // namespace bloomery::cli
