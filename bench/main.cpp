// bloomset_bench: measures, and appends what it measured to a results file, a JSON object a line.
// bench/run.sh calls it; bench/reports/charts.py reads the file.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <bloomset/plan/units.hpp>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "modes.hpp"
#include "modes/compare.hpp"

namespace bench {
namespace {

struct options {
  std::string output = "-";
  std::string program = "build/bloomset";
  std::string folder = "/tmp";
  std::vector<std::string> sizes = {"10k", "1M"};
  std::vector<std::string> rates = {"1%"};
  std::vector<unsigned> threads = {1, 2};
  std::string keys = "1M";
  std::string bytes = "1GB";
  std::string asked = "4M";
  std::string bulk = "0";
  std::string rate_keys = "10M";
  std::string grown = "1M";
  std::string members = "100k";
  std::string files = "1000";
  std::string universe = "100M";
  std::string steps = "10M";
  double bits = 8;
  comparison how;
};

entries all_entries(std::vector<left_out>& missing) {
  entries all;
  for (entries some : {memory_limits(), our_filters(), our_filters_of_keys(), peers(missing)}) {
    std::move(some.begin(), some.end(), std::back_inserter(all));
  }
  return all;
}

void run(const std::string& mode, options& o, const sink& write) {
  std::vector<left_out> missing;
  const entries all = all_entries(missing);
  const std::uint64_t n = bloomset::parse_count(o.keys).value();
  if (mode == "machine") {
    describe_machine(missing, write);
  } else if (mode == "hash") {
    time_hash(o.how.runs, write);
  } else if (mode == "filters") {
    for (const std::string& size : o.sizes) {
      o.how.sizes.push_back(bloomset::parse_count(size).value());
    }
    for (const std::string& rate : o.rates) {
      o.how.rates.push_back(bloomset::parse_rate(rate).value());
    }
    o.how.threads = o.threads;
    o.how.questions = bloomset::parse_count(o.asked).value();
    o.how.bulk = o.bulk == "0" ? 0 : bloomset::parse_count(o.bulk).value();
    o.how.rate_keys = bloomset::parse_count(o.rate_keys).value();
    compare(o.how, all, write);
  } else if (mode == "batches") {
    compare_batches(n, 0.01, o.how.runs, all, write);
  } else if (mode == "which") {
    time_which(n, static_cast<std::uint32_t>(bloomset::parse_count(o.files).value()), o.how.runs);
  } else if (mode == "exact") {
    time_exact(n, bloomset::parse_count(o.universe).value(), o.how.runs);
  } else if (mode == "revocation") {
    simulate_revocation(n, bloomset::parse_count(o.universe).value(),
                        bloomset::parse_count(o.files).value());
  } else if (mode == "tune") {
    tune(o.how.runs);
  } else if (mode == "strings") {
    time_strings(n, o.how.runs);
  } else if (mode == "growth") {
    time_growth(n, o.how.runs, all);
  } else if (mode == "sets") {
    compare_sets(n, write);
  } else if (mode == "files") {
    time_files(o.program, n, o.how.runs, o.folder, write);
  } else if (mode == "sizing") {
    for (const std::string& size : o.sizes) {
      compare_sizing(o.program, bloomset::parse_count(size).value(), o.how.runs, o.folder, write);
    }
  } else if (mode == "startup") {
    time_startup(o.program, bloomset::parse_bytes(o.bytes).value(), o.how.runs, o.folder, write);
  } else if (mode == "hash-bits") {
    measure_hash_bits(n, bloomset::parse_count(o.asked).value(), write);
  } else if (mode == "billion") {
    fill_billion(n, o.bits, write);
  } else if (mode == "attack") {
    attack(bloomset::parse_count(o.members).value(), bloomset::parse_count(o.steps).value());
  } else if (mode == "attack-times") {
    attack_by_times(n);
  } else {
    measure_drawbacks(n, bloomset::parse_count(o.grown).value(), write);
  }
}

int measure(int argc, char** argv) {
  CLI::App app{"Measures Bloomset, its peers and the machine. bench/run.sh runs all of it."};
  options o;
  app.add_option("-o,--output", o.output, "the results file to append to; - is stdout");
  app.add_option("--runs", o.how.runs, "how often; the median counts")->check(CLI::Range(1, 1000));
  app.require_subcommand(1);
  const auto mode = [&](const char* name, const char* what) {
    return app.add_subcommand(name, what)->fallthrough();
  };
  const auto keys_of = [&](CLI::App* of) { of->add_option("-n,--keys", o.keys, "how many keys"); };
  const auto program_of = [&](CLI::App* of) {
    of->add_option("--program", o.program, "the command line (build/bloomset)");
    of->add_option("--folder", o.folder, "where large files may be (/tmp)");
  };

  const auto sizes_of = [&](CLI::App* of) {
    of->add_option("--sizes", o.sizes, "numbers of keys")->delimiter(',');
  };

  mode("machine", "describe machine and compiler");
  mode("hash", "the hash alone");
  CLI::App* const filters = mode("filters", "every kind and peer: size, rate, build, queries");
  sizes_of(filters);
  filters->add_option("--rates", o.rates, "rates of false positives")->delimiter(',');
  filters->add_option("--threads", o.threads, "numbers of threads")
      ->delimiter(',')
      ->check(CLI::Range(1, 1024));
  filters->add_option("--only", o.how.only, "those whose name contains one of these")
      ->delimiter(',');
  filters->add_option("--least", o.how.least, "asked in a run in the caches (1048576)");
  filters->add_option("--questions", o.asked, "asked in a run beyond the caches (4M)");
  filters->add_option("--bulk", o.bulk, "asked in one call beyond the caches (0: not measured)");
  filters->add_option("--rate-keys", o.rate_keys, "non-members by which a rate is measured");
  filters->add_option("--cell-seconds", o.how.cell_seconds, "a query's cell ends after that");
  filters->add_option("--build-seconds", o.how.build_seconds, "a build's");
  keys_of(mode("batches", "batches of every size against the memory's limit"));
  mode("tune", "the best distances of prefetching on this CPU beside the library's: a table");
  keys_of(mode("strings", "filters of strings, hashing included: a table"));
  keys_of(mode("growth", "filters that grow with their keys, one by one and in batches: a table"));
  keys_of(mode("sets", "the textbook's sets of URLs"));
  CLI::App* const files = mode("files", "bloomset build of lines against reading and hashing them");
  keys_of(files);
  program_of(files);
  CLI::App* const sizing = mode("sizing", "bloomset build of an unknown number of lines");
  sizes_of(sizing);
  program_of(sizing);
  CLI::App* const startup = mode("startup", "bloomset check of one key in a large filter");
  startup->add_option("--bytes", o.bytes, "size of the filter");
  program_of(startup);
  CLI::App* const hash_bits = mode("hash-bits", "halves of 128-bit hashes: rates, equal hashes");
  keys_of(hash_bits);
  hash_bits->add_option("--non-members", o.asked, "asked of each filter (4M)");
  CLI::App* const billion = mode("billion", "generated addresses by every core");
  keys_of(billion);
  billion->add_option("--bits", o.bits, "bits per key")->check(CLI::PositiveNumber);
  CLI::App* const drawbacks = mode("drawbacks", "what the textbooks complain of");
  keys_of(drawbacks);
  drawbacks->add_option("--grown", o.grown, "the keys that filters grow to");
  CLI::App* const which = mode("which", "an index of many files beside a filter for each: a table");
  keys_of(which);
  which->add_option("--files", o.files, "how many files (1000)");
  CLI::App* const exact = mode("exact", "exact filters in universes of several sizes: a table");
  keys_of(exact);
  exact->add_option("--universe", o.universe, "at most so many keys in all (100M)");
  CLI::App* const revocation = mode("revocation", "revoked certificates of many issuers: a table");
  keys_of(revocation);
  revocation->add_option("--universe", o.universe, "all certificates (100M)");
  revocation->add_option("--issuers", o.files, "how many issuers (1000)");
  CLI::App* const attacks = mode("attack", "what adversaries achieve: a table");
  attacks->add_option("-n,--keys", o.members, "members of each filter (100k)");
  attacks->add_option("--steps", o.steps, "of the adversary who sees answers, per kind (10M)");
  keys_of(mode("attack-times", "what the times of queries tell: a table"));
  CLI11_PARSE(app, argc, argv);

  const std::string part = app.get_subcommands().front()->get_name();
  const sink write = [&](const nlohmann::json& record) {
    nlohmann::json line = record;
    line["part"] = part;
    if (o.output == "-") {
      fmt::print("{}\n", line.dump());
      std::fflush(stdout);
      return;
    }
    std::ofstream file(o.output, std::ios::app);
    file << line.dump() << std::endl;
    if (!file) throw std::runtime_error(o.output + ": cannot be written");
  };
  run(part, o, write);
  return 0;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  try {
    return bench::measure(argc, argv);
  } catch (const std::exception& failed) {
    fmt::print(stderr, "bloomset_bench: {}\n", failed.what());
    return 2;
  }
}
