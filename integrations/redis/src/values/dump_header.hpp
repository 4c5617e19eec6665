#pragma once

// Headers of native dumps (docs/reference/server/internals.md, "Dumps").

#include "values/dump_pieces.hpp"

namespace bloomset::server {

/// The facts of a filter that its parts do not contain.
struct dump_prefix {
  filter_spec spec;
  std::uint64_t deleted = 0;
  std::uint64_t newest_slice = 0;  ///< of a window
};

/// The header of a part's filter file; or, in a windowed filter, of the dump of a generation.
struct dump_section {
  std::vector<std::byte> header;
  std::uint64_t slice = 0;  ///< of the generation
};

bool is_native_header(std::string_view header) noexcept;

/// Reads a header that anyone may have sent.
wire_error read_dump_header(std::string_view header, dump_prefix& prefix,
                            std::vector<dump_section>& sections);

std::vector<std::byte> make_dump_header(const dump_prefix& prefix,
                                        std::span<const dump_section> sections);

}  // namespace bloomset::server
