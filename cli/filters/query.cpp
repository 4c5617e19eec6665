#include "filters/query.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bloomset/plan/units.hpp>
#include <utility>
#include <variant>

#include "terminal/declare.hpp"

namespace bloomset::cli {
namespace {

const dialects::foreign_filter* foreign_in(const opened_filter& filter) {
  return std::get_if<dialects::foreign_filter>(&filter);
}

/// Per line, whether any of its keys may be in the filter.
const bool* any_of_line(const key_batch& batch, std::span<const bool> keys, flags& memory) {
  const auto lines = memory.first(batch.lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto [first, last] = batch.keys_of(i);
    lines[i] = std::any_of(keys.begin() + static_cast<std::ptrdiff_t>(first),
                           keys.begin() + static_cast<std::ptrdiff_t>(last),
                           [](bool maybe) { return maybe; });
  }
  return lines.data();
}

/// Deselects lines without a key and returns their number. A selection of non-members contains
/// them, although no filter was queried for them.
std::size_t drop_keyless(const key_batch& batch, std::span<bool> selected) noexcept {
  std::size_t n = 0;
  for (std::size_t i = 0; i < selected.size(); ++i) {
    const auto [first, last] = batch.keys_of(i);
    if (first != last || !selected[i]) continue;
    selected[i] = false;
    ++n;
  }
  return n;
}

/// Whether a key has the form of the filter's keys, which is known of some foreign filters.
bool has_fitting(const opened_filter& filter, std::span<const std::string_view> keys) {
  const auto* const foreign = foreign_in(filter);
  return foreign != nullptr && !foreign->key_form_name().empty() &&
         std::any_of(keys.begin(), keys.end(),
                     [foreign](std::string_view key) { return foreign->fits(key); });
}

}  // namespace

result<query> query::open(std::vector<std::string> names, const format_options& format,
                          const transfer_limits& limits, verification verify, selection select) {
  query made(select);
  auto opener = filter_opener::make(format);
  if (!opener) return fail(std::move(opener.error()));
  for (std::string& name : names) {
    if (is_url(name)) {
      auto source = remote_filter::open(name, limits, verify == verification::always);
      if (!source) return fail(std::move(source.error()));
      auto opened = opener->open_bytes(source->bytes(), source->name(), access::read_only,
                                       source->is_whole() ? verify : verification::header);
      if (!opened) return fail(std::move(opened.error()));
      made.filters_.push_back(
          {source->name(), std::move(*opened),
           source->is_whole() ? nullptr : std::make_unique<remote_filter>(std::move(*source))});
      continue;
    }
    auto opened = opener->open(name, access::read_only, verify);
    if (!opened) return fail(std::move(opened.error()));
    made.filters_.push_back({std::move(name), std::move(*opened), nullptr});
  }
  if (auto ok = opener->all_used(); !ok) return fail(std::move(ok.error()));
  for (const named_filter& each : made.filters_) {
    const auto* const foreign = foreign_in(each.filter);
    if (foreign == nullptr) continue;
    if (auto ok = named(each.name, foreign->askable()); !ok) return fail(std::move(ok.error()));
  }
  return made;
}

const any_filter* query::in_hash_order() const {
  const auto* const ours = std::get_if<any_filter>(&filters_.front().filter);
  if (filters_.size() != 1 || ours == nullptr || is_remote()) return nullptr;
  const filter_header header = ours->image().header;
  const bool sorts = find_kind(header.kind)->in_hash_order && filter_hasher::is_one(header.hash);
  return sorts ? ours : nullptr;
}

std::vector<labelled_filter> query::labels() const {
  std::vector<labelled_filter> all;
  all.reserve(filters_.size());
  for (const named_filter& each : filters_) all.push_back(labelled(each.name, each.filter));
  return all;
}

std::uint64_t query::size_in_bytes() const {
  std::uint64_t sum = 0;
  for (const named_filter& each : filters_) {
    const auto* const ours = std::get_if<any_filter>(&each.filter);
    if (ours != nullptr && each.source == nullptr) sum += ours->size_in_bytes();
  }
  return sum;
}

std::function<result<void>(std::string_view key)> query::key_check() const {
  std::vector<const dialects::foreign_filter*> typed;
  for (const named_filter& each : filters_) {
    const auto* const foreign = foreign_in(each.filter);
    if (foreign != nullptr && foreign->stores_key_type() && !foreign->takes_any_key()) {
      typed.push_back(foreign);
    }
  }
  if (typed.empty()) return nullptr;
  return [typed = std::move(typed)](std::string_view key) -> result<void> {
    for (const auto* filter : typed) {
      if (auto ok = filter->accepts(key); !ok) return ok;
    }
    return {};
  };
}

std::string query::wrong_form(std::size_t filter, std::uint64_t keys) const {
  const auto* const foreign = foreign_in(filters_[filter].filter);
  if (foreign == nullptr || foreign->key_form_name().empty()) return {};
  return fmt::format(
      "{}: {} {}, as the keys in the filter are; give keys of that form{}", filters_[filter].name,
      keys == 1 ? "the queried key is not"
                : fmt::format("none of the {} queried keys is", format_count(keys)),
      foreign->key_form_name(), foreign->takes_any_key() ? "" : ", or name another with --with");
}

/// Per line, whether a filter has no answer for one of its keys.
std::span<bool> query::find_unknown(const key_batch& batch, answers& said) const {
  const auto unknown = said.unknown.first(batch.lines.size());
  std::fill(unknown.begin(), unknown.end(), false);
  flags of_keys;
  for (const named_filter& each : filters_) {
    const auto covered = of_keys.first(batch.keys.size());
    const bool is_answered = std::visit(
        [&](const auto& filter) noexcept {
          if (filter.covers_all_keys()) return true;
          filter.covers(batch.keys, covered);
          return false;
        },
        each.filter);
    if (is_answered) continue;
    for (std::size_t i = 0; i < unknown.size(); ++i) {
      const auto [first, last] = batch.keys_of(i);
      unknown[i] |= std::any_of(covered.begin() + static_cast<std::ptrdiff_t>(first),
                                covered.begin() + static_cast<std::ptrdiff_t>(last),
                                [](bool known) { return !known; });
    }
  }
  return unknown;
}

bool query::is_remote() const noexcept {
  return std::ranges::any_of(filters_,
                             [](const named_filter& each) { return each.source != nullptr; });
}

result<std::size_t> query::ask(const key_batch& batch, answers& said) const {
  for (const named_filter& each : filters_) {
    if (each.source == nullptr) continue;
    const auto& filter = std::get<any_filter>(each.filter);
    if (auto ok = each.source->fetch_for(filter, batch.keys); !ok) return fail(ok.error());
  }
  const std::size_t lines = batch.lines.size();
  const auto selected = said.selected.first(lines);
  std::fill(selected.begin(), selected.end(), false);
  said.lines.clear();
  for (std::size_t f = 0; f < filters_.size(); ++f) {
    const auto of_keys = said.key_memory[f].first(batch.keys.size());
    std::visit([&](const auto& filter) noexcept { filter.may_contain(batch.keys, of_keys); },
               filters_[f].filter);
    if (!said.fitting[f]) said.fitting[f] = has_fitting(filters_[f].filter, batch.keys);
    const bool* const of_lines =
        batch.ends.empty() ? of_keys.data() : any_of_line(batch, of_keys, said.line_memory[f]);
    said.lines.push_back(of_lines);
    for (std::size_t i = 0; i < lines; ++i) {
      said.hits[f] += of_lines[i];
      selected[i] |= of_lines[i];
    }
  }
  const auto unknown = find_unknown(batch, said);
  std::size_t n = 0;
  for (std::size_t i = 0; i < lines; ++i) {
    unknown[i] &= !selected[i];
    said.unknowns += unknown[i];
    selected[i] = select_ == selection::members   ? selected[i]
                  : select_ == selection::unknown ? unknown[i]
                                                  : !selected[i] && !unknown[i];
    n += selected[i];
  }
  const bool has_keyless = select_ == selection::non_members && !batch.ends.empty();
  return has_keyless ? n - drop_keyless(batch, selected) : n;
}

}  // namespace bloomset::cli
