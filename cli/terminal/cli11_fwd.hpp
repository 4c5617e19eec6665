#pragma once

// CLI11's classes by name: its header takes ten seconds to compile, in each file that includes it.

namespace CLI {
class App;
class Option;
class ParseError;
}  // namespace CLI
