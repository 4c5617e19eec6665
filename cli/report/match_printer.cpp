#include "report/match_printer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "terminal/parse_error.hpp"

namespace bloomset::cli {
namespace {

/// The text as a JSON string. Bytes that are not UTF-8 become U+FFFD.
std::string json_text(std::string_view text) {
  return safe_json(
      nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace

/// The names of the filters that may contain a key of the line, separated by commas.
template <class Out, class NameOf>
void match_printer::append_names(const answers& said, std::size_t line, Out& out,
                                 NameOf&& name_of) const {
  bool first = true;
  for (std::size_t f = 0; f < asked_.filters(); ++f) {
    if (!said.lines[f][line]) continue;
    if (!first) out.append(",");
    first = false;
    out.append(name_of(asked_.name(f)));
  }
}

template <class Out>
void match_printer::append_place(std::uint64_t line, Out& out) const {
  if (places_.files) {
    out.append(input_.name());
    out.append(":");
  }
  if (!places_.lines) return;
  const fmt::format_int number(line);
  out.append(std::string_view(number.data(), number.size()));
  out.append(":");
}

template <class Out>
void match_printer::print(const key_batch& batch, const answers& said, Out& out) const {
  const key_format format = input_.format();
  // Lines that are adjacent in the block are copied in one piece, ends included.
  std::string_view run;
  for (std::size_t i = 0; i < batch.lines.size(); ++i) {
    if (!said.selected.data()[i]) continue;
    const std::string_view line = line_of(batch.lines[i], format);
    if (names_filters() || places_.files || places_.lines) {
      if (names_filters()) {
        append_names(said, i, out, one_line);
        out.append("\t");
      }
      append_place(batch.first_line + i, out);
      out.append(std::string_view(line.data(), line.size() + 1));
    } else if (run.data() + run.size() == line.data()) {
      run = {run.data(), run.size() + line.size() + 1};
    } else {
      if (!run.empty()) out.append(run);
      run = {line.data(), line.size() + 1};
    }
  }
  if (!run.empty()) out.append(run);
}

template void match_printer::print(const key_batch&, const answers&, output&) const;
template void match_printer::print(const key_batch&, const answers&, std::string&) const;

void match_printer::print_positions(const key_batch& batch, const answers& said,
                                    output& out) const {
  for (std::size_t i = 0; i < batch.lines.size(); ++i) {
    if (!said.selected.data()[i]) continue;
    if (names_filters()) {
      append_names(said, i, out, one_line);
      out.append('\t');
    }
    out.append(one_line(input_.position_of_line(batch, i)));
    out.append('\n');
  }
}

void match_printer::print_verdict(const answers& said, output& out) const {
  const auto answers_yes = [&](std::size_t f) { return said.lines[f][0]; };
  bool maybe = false;
  for (std::size_t f = 0; f < asked_.filters(); ++f) maybe |= answers_yes(f);
  out.append(maybe ? "It may be in " : "It certainly is not in ");
  bool first = true;
  for (std::size_t f = 0; f < asked_.filters(); ++f) {
    if (maybe && !answers_yes(f)) continue;
    if (!first) out.append(", ");
    first = false;
    out.append(one_line(asked_.name(f)));
  }
  out.append(".\n");
}

/// The line, and its keys that may be in some filter.
void match_printer::append_record(const key_batch& batch, const answers& said, std::size_t line,
                                  output& out) const {
  out.append(R"(,"record":)");
  out.append(json_text(batch.lines[line]));
  out.append(R"(,"keys":[)");
  const auto [first, last] = batch.keys_of(line);
  bool comma = false;
  for (std::size_t key = first; key < last; ++key) {
    if (std::none_of(said.key_memory.begin(), said.key_memory.end(),
                     [&](const flags& keys) { return keys.data()[key]; })) {
      continue;
    }
    if (comma) out.append(',');
    comma = true;
    out.append(json_text(input_.shown(batch.lines[line], key - first, batch.keys[key])));
  }
  out.append("]");
}

void match_printer::print_json(const key_batch& batch, const answers& said, output& out) const {
  for (std::size_t i = 0; i < batch.lines.size(); ++i) {
    if (!said.selected.data()[i]) continue;
    out.append(R"({"file":)");
    out.append(json_text(input_.name()));
    const fmt::format_int line(batch.first_line + i);
    out.append(R"(,"line":)");
    out.append({line.data(), line.size()});
    if (input_.choice().plain()) {
      out.append(R"(,"key":)");
      out.append(json_text(batch.keys[batch.keys_of(i).first]));
    } else if (!input_.secret()) {
      append_record(batch, said, i, out);
    }
    out.append(R"(,"maybe":)");
    out.append(asked_.selects() == selection::members       ? "true"
               : asked_.selects() == selection::non_members ? "false"
                                                            : "null");
    out.append(R"(,"filters":[)");
    append_names(said, i, out, json_text);
    out.append("]}\n");
  }
}

std::string match_printer::totals_json(std::uint64_t selected,
                                       std::span<const std::uint64_t> hits) const {
  std::string text =
      fmt::format(R"({{"lines":{},"selected":{},"filters":[)", input_.lines(), selected);
  for (std::size_t f = 0; f < asked_.filters(); ++f) {
    text += fmt::format(R"({}{{"filter":{},"maybe":{}}})", f == 0 ? "" : ",",
                        json_text(asked_.name(f)), hits[f]);
  }
  return text + "]}\n";
}

}  // namespace bloomset::cli
