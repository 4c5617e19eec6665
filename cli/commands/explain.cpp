#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <bloomset/plan/bloom_plan.hpp>
#include <bloomset/plan/units.hpp>
#include <optional>
#include <set>

#include "commands/all.hpp"
#include "teach/walks.hpp"
#include "terminal/declare.hpp"
#include "terminal/output.hpp"

namespace bloomset::cli {
namespace {
namespace explain {

using teach::palette;
using teach::shared_family;
using teach::step;
using teach::verb;

// Limits of a readable drawing: 4096 bits are 69 rows.
constexpr std::uint64_t max_drawn = 4096;
constexpr std::uint64_t max_buckets = 512;

struct explain_options {
  std::vector<std::string> hash, place, insert, check, erase, others;
  std::string bits;
  std::string family;
  std::optional<unsigned> hashes;
  bool counting = false;
  unsigned counter_bits = 4;
  bool cuckoo = false;
  std::string buckets = "8";
  unsigned slots = 4;
  unsigned fingerprint_bits = 8;
  bool exact = false;

  void declare(CLI::App& app);
};

failure refuse(std::string why) {
  return fail(errc::invalid_argument, std::move(why));
}

CLI::Option* repeatable(CLI::App& app, const std::string& name, std::vector<std::string>& into,
                        const std::string& what, const std::string& type) {
  // One value per option, so that the next argument is never part of it.
  return app.add_option(name, into, what)
      ->type_name(type)
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void explain_options::declare(CLI::App& app) {
  auto* size =
      app.add_option("--bits", bits,
                     "size of the array, in bits or counters (default 32), or slots of the exact "
                     "filter (default: two more than there are members)");
  size->type_name("M");
  auto* formulas =
      repeatable(app, "--hash", hash,
                 "a hash function: a formula in x with + - * % and ^ (power); repeat it "
                 "for more functions",
                 "FORMULA");
  auto* places = repeatable(app, "--place", place,
                            "positions of a word, which replace the computed ones", "WORD=P,P,...");
  auto* rule = app.add_option(
      "--family", family,
      fmt::format("hash functions of words: {}; {} (default) is double "
                  "hashing, {} has a seed for each function",
                  teach::family_names(), double_hashing::name, teach::salted_hashing::name));
  rule->type_name("NAME");
  auto* number = app.add_option(
      "--hashes", hashes,
      "number of functions of the family (default: the best for the inserted elements)");
  number->type_name("K");
  formulas->excludes(places)->excludes(rule)->excludes(number);
  places->excludes(rule)->excludes(number);
  repeatable(app, "--insert", insert, "insert elements: numbers with --hash, else words",
             "X,X,...");
  repeatable(app, "--check", check, "query elements", "X,X,...");
  repeatable(app, "--erase", erase, "erase elements (with --counting or --cuckoo)", "X,X,...");
  auto* counted = app.add_flag("--counting", counting, "use counters instead of bits");
  app.add_option("--counter-bits", counter_bits, "bits per counter: 4 (default), 8 or 16")
      ->type_name("BITS")
      ->needs(counted);
  auto* table = app.add_flag("--cuckoo", cuckoo, "use a cuckoo filter: buckets of fingerprints");
  table->excludes(counted)->excludes(size);
  for (CLI::Option* other : {formulas, places, rule, number}) table->excludes(other);
  auto* built =
      app.add_flag("--exact", exact, "use an exact filter: the inserted words are its members");
  built->excludes(counted)->excludes(table);
  for (CLI::Option* other : {formulas, places, rule, number}) built->excludes(other);
  auto* rest = repeatable(
      app, "--others", others,
      "words that are not members, and for which the exact filter must answer no", "X,X,...");
  rest->needs(built);
  built->needs(rest);
  app.add_option("--buckets", buckets, "buckets of the cuckoo filter (default 8)")
      ->type_name("N")
      ->needs(table);
  app.add_option("--slots", slots, "slots per bucket: 2, 4 (default) or 8")
      ->type_name("S")
      ->needs(table);
  app.add_option("--fingerprint-bits", fingerprint_bits,
                 "bits per fingerprint: 4 to 32 (default 8)")
      ->type_name("F")
      ->needs(table);
  for (const char* name : {"--insert", "--check", "--erase", "--others", "--place"}) {
    find_declared(app, name).under(headings::input);
  }
  for (const char* name :
       {"--bits", "--counter-bits", "--buckets", "--slots", "--fingerprint-bits"}) {
    find_declared(app, name).under(headings::size);
  }
  for (const char* name : {"--counting", "--cuckoo", "--exact", "--family", "--hash", "--hashes"}) {
    find_declared(app, name).under(headings::kind);
  }
}

/// The steps in the order of the command line: CLI11 lists an option once per use.
result<std::vector<step>> steps_of(const CLI::App& app, const explain_options& options) {
  struct source {
    std::string_view name;
    const std::vector<std::string>& values;
    verb what;
    std::size_t next = 0;
  };
  std::array<source, 3> sources = {{{"--insert", options.insert, verb::insert},
                                    {"--check", options.check, verb::check},
                                    {"--erase", options.erase, verb::erase}}};
  std::vector<step> steps;
  for (const CLI::Option* option : app.parse_order()) {
    for (source& from : sources) {
      if (option->get_name() != from.name) continue;
      auto elements = teach::split_commas(from.name, from.values.at(from.next++));
      if (!elements) return fail(std::move(elements.error()));
      for (std::string& element : *elements) {
        if (element.size() > teach::max_element_bytes) {
          return refuse(
              fmt::format("{}: an element of {} bytes is too long to draw; give at most {}",
                          from.name, element.size(), teach::max_element_bytes));
        }
        steps.push_back({from.what, std::move(element)});
      }
    }
  }
  if (steps.empty()) {
    return refuse("no steps are given; give for example --insert 2,4,9 --check 4,7");
  }
  if (steps.size() > teach::max_steps) {
    return refuse(fmt::format("{} steps are too many to read; give at most {} elements",
                              steps.size(), teach::max_steps));
  }
  return steps;
}

result<std::uint64_t> drawable(std::string_view option, const std::string& text,
                               std::uint64_t most) {
  const auto m = named(option, parse_count(text));
  if (!m) return fail(m.error());
  if (*m > most) {
    return refuse(fmt::format("{}: {} are too many to draw; give at most {}", option, text,
                              format_count(most)));
  }
  return *m;
}

result<shared_family> family_of(const explain_options& options, std::uint64_t m,
                                const std::vector<step>& steps) {
  if (!options.hash.empty()) return teach::formula_family(options.hash);
  if (!options.place.empty()) return teach::table_family(options.place, m);
  unsigned k = options.hashes.value_or(0);
  if (options.hashes && (k == 0 || k > max_hash_functions)) {
    return refuse(fmt::format("--hashes: a filter cannot have {} functions; give 1 to {}", k,
                              max_hash_functions));
  }
  if (k == 0) {
    std::set<std::string_view> distinct;
    for (const step& step : steps) {
      if (step.what == verb::insert) distinct.insert(step.element);
    }
    const auto plan =
        plan_bloom({.capacity = std::max<std::uint64_t>(1, distinct.size()), .bits = m});
    if (!plan) return fail(plan.error());
    k = plan->hashes;
  }
  return teach::named_family(options.family.empty() ? double_hashing::name : options.family, k);
}

result<std::string> exact_story(const explain_options& options, const std::vector<step>& steps,
                                const palette& paint) {
  if (!options.erase.empty()) {
    return refuse("--erase: an exact filter cannot erase, because it is built once");
  }
  const auto distinct = [](std::vector<std::string>& words, const std::string& word) {
    if (std::ranges::find(words, word) == words.end()) words.push_back(word);
  };
  std::vector<std::string> members;
  for (const step& step : steps) {
    if (step.what == verb::insert) distinct(members, step.element);
  }
  std::vector<std::string> others;
  for (const std::string& list : options.others) {
    const auto words = teach::split_commas("--others", list);
    if (!words) return fail(words.error());
    for (const std::string& word : *words) {
      if (word.size() > teach::max_element_bytes) {
        return refuse(
            fmt::format("--others: an element of {} bytes is too long to draw; give at "
                        "most {}",
                        word.size(), teach::max_element_bytes));
      }
      distinct(others, word);
    }
  }
  if (others.size() > teach::max_steps) {
    return refuse(fmt::format("--others: {} words are too many to read; give at most {}",
                              others.size(), teach::max_steps));
  }
  std::uint64_t slots = std::max<std::uint64_t>(members.size() + 2, 4);
  if (!options.bits.empty()) {
    const auto given = drawable("--bits", options.bits, max_drawn);
    if (!given) return fail(given.error());
    slots = *given;
  }
  return teach::walk_exact(static_cast<unsigned>(slots), members, others, steps, paint);
}

result<std::string> story(const CLI::App& app, const explain_options& options,
                          const palette& paint) {
  auto steps = steps_of(app, options);
  if (!steps) return fail(std::move(steps.error()));
  if (options.cuckoo) {
    const auto buckets = drawable("--buckets", options.buckets, max_buckets);
    if (!buckets) return fail(buckets.error());
    return teach::walk_cuckoo(*buckets, options.slots, options.fingerprint_bits, *steps, paint);
  }
  if (options.exact) return exact_story(options, *steps, paint);
  const auto m = drawable("--bits", options.bits.empty() ? "32" : options.bits, max_drawn);
  if (!m) return fail(m.error());
  const auto family = family_of(options, *m, *steps);
  if (!family) return fail(family.error());
  for (step& step : *steps) {
    auto element = (*family)->element(step.element);
    if (!element) return fail(std::move(element.error()));
    step.element = std::move(*element);
  }
  if (!options.erase.empty() && !options.counting) {
    return refuse(
        "--erase: a Bloom filter cannot erase, since a bit may be another element's too; "
        "add --counting or --cuckoo");
  }
  const auto filter = options.counting
                          ? teach::make_counting_array(*m, *family, options.counter_bits)
                          : teach::make_bloom_array(*m, *family);
  if (!filter) return fail(filter.error());
  return teach::walk_array(**filter, **family, *steps, paint);
}

action define(CLI::App& app) {
  auto options = std::make_shared<explain_options>();
  options->declare(app);
  return [options, &app]() -> result<status> {
    const auto text = story(app, *options, palette::for_stdout());
    if (!text) return fail(text.error());
    output out;
    out.append(*text);
    if (auto ok = out.flush(); !ok) return fail(ok.error());
    return done;
  };
}

}  // namespace explain
}  // namespace

command explain_command() {
  return {"explain", "walk through a small filter step by step, as in a lecture",
          "  bloomset explain --bits 10 --hash '(x+3)%10' --hash '(3*x+1)%10' \\\n"
          "                   --hash '(x^2+2)%10' --insert 2,4,9 --check 4,7,12\n"
          "  bloomset explain --family md5 --bits 15 --hashes 2 --insert hello,world --check you\n"
          "  bloomset explain --counting --bits 12 --insert ant,bee --erase ant --check ant,bee\n"
          "  bloomset explain --cuckoo --buckets 4 --slots 2 --insert ant,bee,cat,dog,eel,fox,gnu\n"
          "  bloomset explain --exact --insert ant,bee,cat --others dog,fox,hen,owl,pig --check "
          "ant,owl\n"
          "  bloomset explain --bits 10 --place hello=6,0 --place world=7,6 --insert hello,world\n",
          explain::define};
}

}  // namespace bloomset::cli
