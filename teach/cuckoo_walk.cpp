#include <fmt/format.h>

#include <algorithm>
#include <bloomset/plan/formulas.hpp>
#include <bloomset/plan/units.hpp>
#include <cstddef>
#include <optional>
#include <ranges>
#include <utility>

#include "teach/cuckoo_table.hpp"
#include "teach/text/text_walk.hpp"
#include "teach/walks.hpp"

namespace bloomset::teach {
namespace {

constexpr std::size_t max_whole_buckets = 24;

/// The relocations of an insert are computed from the table before and after it.
class cuckoo_walk final : public text_walk {
 public:
  cuckoo_walk(cuckoo filter, const palette& paint)
      : text_walk(paint),
        filter_(std::move(filter)),
        layout_(filter_.params().buckets, filter_.params().slots,
                filter_.params().fingerprint_bits) {}

 protected:
  void opening() override {
    const auto& p = filter_.params();
    title(fmt::format("a cuckoo filter of {} with {} slots and {}-bit fingerprints",
                      counted(p.buckets, "bucket"), p.slots, p.fingerprint_bits));
    say("the first bucket comes from XXH3(x), and the fingerprint f(x), from 1, from a mix of it",
        2, 6);
    say(fmt::format("the other bucket = (g(f) - first) modulo {}, so that a fingerprint can move "
                    "without its element",
                    p.buckets),
        2, 6);
    say("in the table: + new, > moved here, ^ found, - erased; > before a bucket: the element's");
    append("\n");
    picture(snapshot(), {});
  }

  void insert(const std::string& element) override {
    const cuckoo_place at = describe(element);
    const cuckoo_slots before = snapshot();
    const unsigned stashed_before = filter_.stashed();
    const insert_outcome outcome = filter_.insert(element);
    const cuckoo_slots after = snapshot();
    if (outcome == insert_outcome::too_many_copies) {
      show(after, at);
      conclude(
          tint::bad, "too many copies",
          fmt::format(": its slots hold {} and no more; nothing was changed", copies_that_fit(at)));
      return;
    }
    if (outcome == insert_outcome::full) {
      show(after, at);
      conclude(tint::bad, "full",
               ": no chain of moves frees a slot, and the stash is full; nothing was changed");
      return;
    }
    if (filter_.stashed() > stashed_before) {
      say(fmt::format("no chain of moves frees a slot: {} waits in the stash, {} of {}",
                      hex(at.fingerprint), filter_.stashed(), detail::stash_entries));
      show(after, at);
    } else {
      tell_moves(moves_between(layout_, before, after, at), before);
    }
    if (outcome == insert_outcome::inserted) {
      is_new(element, "its fingerprint was in neither bucket");
    } else {
      not_new(element, "its fingerprint was there");
    }
    members().add(element);
  }

  void check(const std::string& element) override {
    const cuckoo_place at = describe(element);
    const cuckoo_slots now = snapshot();
    show(now, at);
    const bool found = filter_.may_contain(element);
    const bool wrong =
        judge(element, found, fmt::format("no {} in {}", hex(at.fingerprint), buckets_of(at)),
              "put it there");
    if (wrong) list_twins(at);
  }

  void erase(const std::string& element) override {
    const cuckoo_place at = describe(element);
    const cuckoo_slots before = snapshot();
    const unsigned stashed_before = filter_.stashed();
    const bool erased = filter_.erase(element);
    const cuckoo_slots after = snapshot();
    marks changes;
    for (std::size_t slot = 0; slot < after.size(); ++slot) {
      if (before[slot] == after[slot]) continue;
      changes.emplace_back(slot, '-');
      say(fmt::format("{} leaves {}", hex(before[slot]), name(slot)));
      if (after[slot] != 0) {
        say(fmt::format("{} comes out of the stash into it", hex(after[slot])));
      }
    }
    if (erased && changes.empty() && filter_.stashed() < stashed_before) {
      say(fmt::format("{} leaves the stash", hex(at.fingerprint)));
    }
    if (!erased) {
      show(after, at);
      nothing_to_erase(element, fmt::format("no {} in {}", hex(at.fingerprint), buckets_of(at)));
      return;
    }
    picture(after, changes, &at);
    if (!members().contains(element)) {
      conclude(tint::bad, "erased",
               fmt::format(", but should not have been: {}; the fingerprint was another's, who may "
                           "be missed now",
                           absence(element)));
      list_twins(at);
    } else {
      erased_one(element, members().remove(element));
    }
  }

  void closing() override {
    const auto& p = filter_.params();
    picture(snapshot(), {}, nullptr, true);
    const std::uint64_t slots = p.buckets * p.slots;
    std::uint64_t copies = 0;
    for (const auto& [element, times] : members().copies()) copies += times;
    say(fmt::format("{} in, {} of {} slots taken = a load of {:.1f}%, {} in the stash",
                    counted(copies, "element"), filter_.size() - filter_.stashed(), slots,
                    100 * filter_.fill(), filter_.stashed()));
    say(fmt::format("rate of false positives now, counted from the slots: {}",
                    format_rate(filter_.current_fpr())));
    say(fmt::format(
        "the paper's formula at this load: 1 - (1 - 1/(2^{} - 1))^(2*{}*load) = {}",
        p.fingerprint_bits, p.slots,
        format_rate(formulas::cuckoo_fpr(p.slots, p.fingerprint_bits, filter_.fill()))));
  }

 private:
  /// Slots, each with the sign that is drawn before its fingerprint.
  using marks = std::vector<std::pair<std::size_t, char>>;

  std::string hex(std::uint32_t fingerprint) const {
    return fmt::format("{:0{}x}", fingerprint, digits());
  }
  std::size_t digits() const { return (filter_.params().fingerprint_bits + 3) / 4; }
  std::string name(std::size_t slot) const {
    const std::size_t slots = filter_.params().slots;
    return fmt::format("bucket {}, slot {}", slot / slots, slot % slots);
  }
  static std::string buckets_of(const cuckoo_place& at) {
    return at.first == at.second ? fmt::format("bucket {}", at.first)
                                 : fmt::format("bucket {} or {}", at.first, at.second);
  }
  std::uint64_t copies_that_fit(const cuckoo_place& at) const {
    return (at.first == at.second ? 1ULL : 2ULL) * filter_.params().slots;
  }

  cuckoo_place place_of(const std::string& element) const {
    return filter_.place(filter_.hash_function()(bytes_of(element)));
  }

  cuckoo_place describe(const std::string& element) {
    const cuckoo_place at = place_of(element);
    say(fmt::format("XXH3 = {:#018x}", filter_.hash_function()(bytes_of(element)).value));
    say(fmt::format("fingerprint {}, {}", hex(at.fingerprint),
                    at.first == at.second
                        ? fmt::format("bucket {}, which is its other one too", at.first)
                        : fmt::format("buckets {} and {}", at.first, at.second)));
    return at;
  }

  cuckoo_slots snapshot() const { return slots_of(filter_); }

  /// Shows a chain in the order of events: the last fingerprint moved first.
  void tell_moves(const std::vector<cuckoo_move>& chain, const cuckoo_slots& before) {
    if (chain.size() > 1) say("both buckets are full, so others move:");
    cuckoo_slots now = before;
    for (const cuckoo_move& move : std::views::reverse(chain)) {
      const std::string what = hex(move.fingerprint);
      if (move.from.has_value()) {
        say(fmt::format("{}{} moves from {} to {}", what,
                        whose(move.fingerprint, move.to / filter_.params().slots), name(*move.from),
                        name(move.to)));
        now[*move.from] = 0;
      } else {
        say(fmt::format("{} goes to {}", what, name(move.to)));
      }
      now[move.to] = move.fingerprint;
      picture(now, {{move.to, move.from.has_value() ? '>' : '+'}});
    }
  }

  /// Draws the table with the fingerprints of that place marked.
  void show(const cuckoo_slots& now, const cuckoo_place& at) {
    marks found;
    const std::size_t slots = filter_.params().slots;
    for (std::size_t slot = 0; slot < now.size(); ++slot) {
      const std::size_t bucket = slot / slots;
      if (now[slot] == at.fingerprint && (bucket == at.first || bucket == at.second)) {
        found.emplace_back(slot, '^');
      }
    }
    picture(now, found, &at);
  }

  /// ` (a and b)`: the members that may have left the fingerprint in that bucket.
  std::string whose(std::uint32_t fingerprint, std::uint64_t bucket) const {
    std::vector<std::string> names;
    for (const auto& [element, times] : members().copies()) {
      if (may_own(place_of(element), fingerprint, bucket)) names.push_back(element);
    }
    return names.empty() ? "" : fmt::format(" ({})", listed(names));
  }

  /// Lists the members that no query can tell from an element of that place.
  void list_twins(const cuckoo_place& at) {
    for (const auto& [element, times] : members().copies()) {
      if (!indistinguishable(place_of(element), at)) continue;
      say(fmt::format("{} has the same fingerprint and buckets", printable(element)), 4, 6);
    }
  }

  /// Draws one row per bucket. A table of more than 24 buckets shows only rows with a mark and the
  /// rows of `at`, unless `all_rows` is set.
  void picture(const cuckoo_slots& now, const marks& signs, const cuckoo_place* at = nullptr,
               bool all_rows = false) {
    const std::size_t slots = filter_.params().slots;
    const std::size_t rows = now.size() / slots;
    const auto is_of_interest = [&](std::size_t row) {
      return (at != nullptr && (row == at->first || row == at->second)) ||
             std::any_of(signs.begin(), signs.end(),
                         [&](const auto& m) { return m.first / slots == row; });
    };
    std::size_t left_out = 0;
    append(fmt::format("  {}\n", paint()(tint::dim, "bucket")));
    for (std::size_t row = 0; row < rows; ++row) {
      if (!all_rows && rows > max_whole_buckets && !is_of_interest(row)) {
        ++left_out;
        continue;
      }
      const bool here = at != nullptr && (row == at->first || row == at->second);
      std::string line =
          fmt::format("{}{}", here ? " >" : "  ", paint()(tint::dim, fmt::format("{:>4}", row)));
      for (std::size_t slot = row * slots; slot < (row + 1) * slots; ++slot) {
        line += cell(now, slot, signs);
      }
      append(line + '\n');
    }
    if (filter_.stashed() != 0) {
      append(fmt::format("  {}", paint()(tint::dim, "stash")));
      for (unsigned i = 0; i < filter_.stashed(); ++i) {
        append(fmt::format(" {}", hex(layout_.stashed(filter_.bytes().data(), i).fingerprint)));
      }
      append("\n");
    }
    if (left_out != 0) {
      append(fmt::format("  ({} of {} buckets, not touched here, are left out)\n", left_out, rows));
    }
  }

  // Eight slots of eight digits still fit 80 columns: 6 + 8 * (1 + 8) = 78.
  std::string cell(const cuckoo_slots& now, std::size_t slot, const marks& signs) const {
    const auto found =
        std::find_if(signs.begin(), signs.end(), [slot](const auto& m) { return m.first == slot; });
    const char sign = found == signs.end() ? ' ' : found->second;
    const std::string_view gap = digits() <= 6 ? " " : "";
    const std::string text = now[slot] == 0 ? std::string(digits(), '.') : hex(now[slot]);
    tint how = now[slot] == 0 ? tint::dim : tint::none;
    if (sign == '+' || sign == '^') how = tint::good;
    if (sign == '>' || sign == '-') how = tint::known;
    return fmt::format("{}{}{}", gap, sign, paint()(how, text));
  }

  cuckoo filter_;
  detail::cuckoo_layout layout_;
};

}  // namespace

result<std::string> walk_cuckoo(std::uint64_t buckets, unsigned slots, unsigned fingerprint_bits,
                                const std::vector<step>& steps, const palette& paint) {
  auto filter = make_cuckoo_table(buckets, slots, fingerprint_bits);
  if (!filter) return fail(std::move(filter.error()));
  return cuckoo_walk(std::move(*filter), paint).tell(steps);
}

}  // namespace bloomset::teach
