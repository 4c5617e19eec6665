#include <algorithm>
#include <bloomset/detail/retrieval/layout.hpp>
#include <bloomset/plan/partitioned_exact_plan.hpp>
#include <cmath>

#include "kinds/exact/plan_sections.hpp"
#include "plan/checks.hpp"

namespace bloomset {
namespace detail {
namespace {

constexpr std::uint32_t max_guided = 2;

bool are_sections(const std::vector<exact_section>& sections, std::uint32_t max_columns,
                  std::uint32_t width) {
  std::uint32_t columns = 0;
  for (const exact_section& section : sections) {
    if (section.columns <= columns || !is_possible(section, max_columns, width)) return false;
    columns = section.columns;
  }
  return true;
}

// A section: its columns and levels (bytes), and two zeros.
void write_section(record_writer& writer, const exact_section& section) {
  writer.u16(section.columns | section.levels.size() << 8).zeros(6);
  write_levels(writer, section);
}

exact_section read_section(record_reader& reader, std::uint32_t width) {
  std::uint16_t shape = 0;
  reader.values(shape).zeros(6);
  exact_section section{.columns = static_cast<std::uint32_t>(shape & 0xff)};
  read_levels(reader, section, width, static_cast<std::uint8_t>(shape >> 8));
  return section;
}

std::vector<exact_section> read_sections(record_reader& reader, std::uint32_t width,
                                         std::uint32_t count, std::uint32_t most) {
  std::vector<exact_section> sections(std::min(count, most + 1));
  for (exact_section& section : sections) section = read_section(reader, width);
  return sections;
}

}  // namespace

double partition_class::unknown_rate() const noexcept {
  const double held =
      is_constant() ? 0 : std::ldexp(1.0, -static_cast<int>(first() + guided() + 1));
  return negated() ? 1 - held : held;
}

}  // namespace detail

std::uint64_t partitioned_exact_params::directory_bytes() const noexcept {
  return detail::round_up(9 * partitions, 8);
}

std::uint64_t partitioned_exact_params::payload_bytes() const noexcept {
  if (partitions == 0) return 0;
  std::uint64_t bytes = directory_bytes() + detail::retrieval_padding;
  for (const exact_section& section : first) bytes += detail::retrieval_bytes(section.levels);
  for (const exact_section& section : guided) bytes += detail::retrieval_bytes(section.levels);
  return bytes + detail::retrieval_bytes(last.levels);
}

bool partitioned_exact_params::possible(std::uint64_t count) const noexcept {
  if (partitions > max_partitions || stored > detail::max_retrieval_keys ||
      count > detail::max_retrieval_keys ||
      !detail::are_sections(first, max_first_columns, detail::plain_width) ||
      !detail::are_sections(guided, detail::max_guided, detail::guided_width) ||
      !detail::is_possible(last, 1, detail::plain_width)) {
    return false;
  }
  if (!last.levels.empty()) return partitions != 0 && count != 0;
  return first.empty() && guided.empty() && stored == 0 && (partitions != 0 || count == 0);
}

std::vector<std::byte> partitioned_exact_params::encode() const {
  detail::record_writer writer;
  writer.values(partitions, stored);
  // A byte for each number of sections, and zeros.
  writer.values(std::uint64_t{first.size()} | std::uint64_t{guided.size()} << 8);
  for (const exact_section& section : first) detail::write_section(writer, section);
  for (const exact_section& section : guided) detail::write_section(writer, section);
  detail::write_section(writer, last);
  return writer.finish();
}

result<partitioned_exact_params> partitioned_exact_params::decode(
    const filter_header& header, std::span<const std::byte> block) {
  std::uint64_t shape = 0;
  return detail::decode_block<partitioned_exact_params>(
      header, block, "exact filter",
      [&](detail::record_reader& reader, partitioned_exact_params& params) {
        reader.values(params.partitions, params.stored, shape);
        params.first =
            detail::read_sections(reader, detail::plain_width, shape & 0xff, max_first_columns);
        params.guided = detail::read_sections(reader, detail::guided_width, shape >> 8 & 0xff,
                                              detail::max_guided);
        params.last = detail::read_section(reader, detail::plain_width);
      },
      [&](const partitioned_exact_params& params) {
        return shape >> 16 == 0 && params.possible(header.count);
      },
      2);
}

}  // namespace bloomset
