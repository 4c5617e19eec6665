#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <bloomset/hash.hpp>
#include <fstream>
#include <string>
#include <thread>

#include "cpu/dispatch.hpp"
#include "keys.hpp"
#include "measure.hpp"
#include "modes.hpp"

namespace bench {
namespace {

/// The first line of a file that begins so, from after its colon, or all of the first line.
std::string line_of(const char* path, const std::string& begins) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(begins)) continue;
    const std::size_t colon = begins.empty() ? std::string::npos : line.find(": ");
    return colon == std::string::npos ? line : line.substr(colon + 2);
  }
  return "unknown";
}

std::uint64_t figure(int name) {
  const long value = ::sysconf(name);
  return value < 0 ? 0 : static_cast<std::uint64_t>(value);
}

}  // namespace

void describe_machine(const std::vector<left_out>& missing, const sink& write) {
  utsname system{};
  ::uname(&system);
  nlohmann::json j = {
      {"record", "machine"},
      {"cpu", line_of("/proc/cpuinfo", "model name")},
      {"cores", std::thread::hardware_concurrency()},
      {"l1d", figure(_SC_LEVEL1_DCACHE_SIZE)},
      {"l2", figure(_SC_LEVEL2_CACHE_SIZE)},
      {"l3", figure(_SC_LEVEL3_CACHE_SIZE)},
      {"memory", figure(_SC_PHYS_PAGES) * figure(_SC_PAGESIZE)},
      {"system", fmt::format("{} {}, {}", system.sysname, system.release, system.machine)},
      {"huge_pages", line_of("/sys/kernel/mm/transparent_hugepage/enabled", "")},
      {"compiler", BLOOMSET_BENCH_COMPILER},
      {"flags", BLOOMSET_BENCH_FLAGS},
      {"kernels", bloomset::detail::name_of(bloomset::detail::chosen_instruction_set())},
      {"without", nlohmann::json::array()}};
  for (const left_out& one : missing) {
    j["without"].push_back({{"name", one.name}, {"why", one.why}});
  }
  write(j);
}

void time_hash(unsigned runs, const sink& write) {
  constexpr std::size_t count = 4096;
  constexpr unsigned repeats = 256;
  const bloomset::xxh3_hasher hash;
  const urls lines(0, count);
  std::vector<std::uint64_t> numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = mixed(i);
  std::vector<bloomset::hash64> hashes(count);
  times of_numbers;
  times of_lines;
  for (unsigned run = 0; run < runs; ++run) {
    const stopwatch first;
    for (unsigned r = 0; r < repeats; ++r) {
      for (std::size_t i = 0; i < count; ++i) {
        hashes[i] = hash(std::as_bytes(std::span(&numbers[i], 1)));
      }
      keep(hashes[0]);
    }
    of_numbers.add(first.seconds(), count * repeats);
    const stopwatch second;
    for (unsigned r = 0; r < repeats; ++r) {
      for (std::size_t i = 0; i < count; ++i) {
        hashes[i] = hash(std::as_bytes(std::span(lines.all()[i])));
      }
      keep(hashes[0]);
    }
    of_lines.add(second.seconds(), count * repeats);
  }
  const auto record = [&](const char* what, double bytes, const times& taken) {
    nlohmann::json j = figures(taken);
    j.update({{"record", "hash"}, {"key", what}, {"bytes", bytes}});
    write(j);
  };
  record("8 bytes", 8, of_numbers);
  record("a URL", static_cast<double>(lines.bytes()) / static_cast<double>(count), of_lines);
}

}  // namespace bench
