#include "teach/text/drawing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace bloomset::teach {
namespace {

constexpr std::size_t margin = 2;
constexpr std::size_t max_whole_rows = 8;
constexpr std::size_t group = 10;

tint tint_of(unsigned cell, mark m) {
  switch (m) {
    case mark::raised:
      return tint::good;
    case mark::kept:
    case mark::lowered:
      return tint::known;
    case mark::queried:
      return cell == 0 ? tint::bad : tint::good;
    case mark::none:
      break;
  }
  return cell == 0 ? tint::dim : tint::strong;
}

/// A line of cells without trailing blanks: blanks are written once a text follows them. Widths are
/// counted here, because the escape codes of a colour have bytes but no columns.
class line {
 public:
  void blanks(std::size_t n) { held_ += n; }
  void put(std::string_view shown, const palette& paint, tint how) {
    if (shown.empty()) return;
    text_.append(held_, ' ');
    held_ = 0;
    text_ += paint(how, shown);
  }
  std::string finish() const { return text_ + '\n'; }

 private:
  std::string text_;
  std::size_t held_ = 0;
};

struct layout {
  std::size_t label;  ///< columns left of the first cell
  std::size_t cell;   ///< columns of a cell, including the blank before it
  std::size_t per_row;
  bool compact;  ///< groups of ten cells, with blanks only between groups
};

layout layout_of(const strip& cells) {
  const std::size_t count = cells.cells.size();
  const std::size_t label = margin + std::max(cells.label.size(), std::size_t{4}) + 1;
  const auto digits = [](std::size_t n) { return fmt::format("{}", n).size(); };
  const std::size_t widest = std::max({digits(count - 1), digits(cells.max_value), std::size_t{2}});
  const std::size_t fit = (line_columns - label) / (widest + 1);
  if (count <= fit) return {label, widest + 1, count, false};
  if (cells.max_value == 1) return {label, 1, 6 * group, true};
  return {label, widest + 1, fit - fit % (fit < group ? 4 : group), false};
}

class drawing {
 public:
  drawing(const strip& cells, const palette& paint)
      : cells_(cells), paint_(paint), layout_(layout_of(cells)) {}

  std::string draw() const {
    const std::size_t count = cells_.cells.size();
    const std::size_t rows = (count + layout_.per_row - 1) / layout_.per_row;
    const bool whole = cells_.all_rows || rows <= max_whole_rows;
    if (!whole && std::count(cells_.cells.begin(), cells_.cells.end(), 0U) ==
                      static_cast<std::ptrdiff_t>(count)) {
      return fmt::format("{:{}}(all {} {}s are 0)\n", "", margin, count, cells_.label);
    }
    std::string text;
    if (layout_.compact) text += compact_ruler();
    std::size_t left_out = 0;
    for (std::size_t first = 0; first < count; first += layout_.per_row) {
      const std::size_t last = std::min(count, first + layout_.per_row);
      if (!whole && !marked(first, last)) {
        ++left_out;
        continue;
      }
      if (!layout_.compact) text += wide_ruler(first, last);
      text += values(first, last);
      if (marked(first, last)) text += marks(first, last);
    }
    if (left_out != 0) {
      text += fmt::format("{:{}}({} of {} rows, without a change here, are left out)\n", "", margin,
                          left_out, rows);
    }
    return text;
  }

 private:
  bool marked(std::size_t first, std::size_t last) const {
    const auto begin = cells_.marks.begin();
    return std::any_of(begin + static_cast<std::ptrdiff_t>(first),
                       begin + static_cast<std::ptrdiff_t>(last),
                       [](mark m) { return m != mark::none; });
  }

  void label(line& row, std::string_view text) const {
    row.blanks(margin);
    row.put(text, paint_, tint::dim);
    row.blanks(layout_.label - margin - text.size());
  }

  void cell(line& row, std::size_t place, std::string_view text, tint how) const {
    if (!layout_.compact) {
      row.blanks(layout_.cell - std::max(text.size(), std::size_t{1}));
    } else if (place % layout_.per_row != 0 && place % group == 0) {
      row.blanks(1);
    }
    row.put(text, paint_, how);
  }

  std::string compact_ruler() const {
    line row;
    label(row, cells_.label);
    for (std::size_t at = 0; at < std::min(layout_.per_row, cells_.cells.size()); at += group) {
      const auto text = fmt::format("{}{}", at == 0 ? "" : "+", at);
      row.put(text, paint_, tint::dim);
      row.blanks(group + 1 - text.size());
    }
    return row.finish();
  }

  std::string wide_ruler(std::size_t first, std::size_t last) const {
    line row;
    label(row, cells_.label);
    for (std::size_t at = first; at < last; ++at) cell(row, at, fmt::format("{}", at), tint::dim);
    return row.finish();
  }

  std::string values(std::size_t first, std::size_t last) const {
    line row;
    label(row, layout_.compact ? fmt::format("{}", first) : std::string());
    for (std::size_t at = first; at < last; ++at) {
      cell(row, at, fmt::format("{}", cells_.cells[at]),
           tint_of(cells_.cells[at], cells_.marks[at]));
    }
    return row.finish();
  }

  std::string marks(std::size_t first, std::size_t last) const {
    line row;
    label(row, "");
    for (std::size_t at = first; at < last; ++at) {
      const char sign = static_cast<char>(cells_.marks[at]);
      if (cells_.marks[at] != mark::none) {
        cell(row, at, {&sign, 1}, tint_of(cells_.cells[at], cells_.marks[at]));
      } else {
        cell(row, at, "", tint::none);
        row.blanks(1);
      }
    }
    return row.finish();
  }

  const strip& cells_;
  const palette& paint_;
  layout layout_;
};

}  // namespace

std::string draw(const strip& cells, const palette& paint) {
  return drawing(cells, paint).draw();
}

}  // namespace bloomset::teach
