// Runs one batch of queries or inserts by each kernel that the CPU has, an instruction at a time,
// and writes down what batch_lines.py needs to compute the memory that each instruction uses.
//
//   bloomset_batch_lines FOLDER KEYS KIND query|insert [OPTION=VALUE ...]
//
// FOLDER has a file `gathers`: the addresses of the instructions for which the vectors are written,
// too, in hexadecimal, relative to the begin of the program. Its other files are written: `maps`
// (/proc/self/maps before the batches), and for each kernel `KERNEL.steps` (the begin of the
// program, then for each step the instruction pointer and the 16 general registers) and
// `KERNEL.vectors` (the offsets of four components, then the extended state at each gather).
//
// The filter has room for KEYS keys at 1/256. It is full, or for inserts half full, so that no
// insert moves other keys.

#include <cpuid.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <bloomset/any_filter.hpp>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "src/cpu/dispatch.hpp"
#include "tests/support/words.hpp"

extern "C" const char __executable_start;  // by the linker

namespace {

using namespace bloomset;
using bloomset::test::hashes_of_stream;
using bloomset::test::value_of;

constexpr std::size_t batch = 160;
constexpr std::size_t max_steps = std::size_t{1} << 20;
constexpr std::size_t max_states = batch * 64;
constexpr std::size_t state_bytes = 4096;

struct step {
  std::uint64_t instruction;
  std::array<std::uint64_t, 16> registers;
};

// The handler runs between any two instructions, so it allocates nothing.
std::vector<step> steps;
std::vector<std::array<std::byte, state_bytes>> states;
std::unordered_set<std::uint64_t> gathers;

// Not in memory that could be the filter's.
std::array<hash64, batch> keys;
std::array<bool, batch> answers;

volatile bool is_stepping = false;

constexpr long trap_flag = 0x100;

void record(int, siginfo_t*, void* context) {
  auto& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
  auto& flags = machine.gregs[REG_EFL];
  flags = is_stepping ? flags | trap_flag : flags & ~trap_flag;
  if (!is_stepping || steps.size() == max_steps) return;
  step now{static_cast<std::uint64_t>(machine.gregs[REG_RIP]), {}};
  constexpr std::array names = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                REG_R12, REG_R13, REG_R14, REG_R15};
  for (std::size_t i = 0; i < names.size(); ++i) {
    now.registers[i] = static_cast<std::uint64_t>(machine.gregs[names[i]]);
  }
  steps.push_back(now);
  if (gathers.contains(now.instruction) && states.size() < max_states) {
    std::memcpy(&states.emplace_back(), machine.fpregs, state_bytes);
  }
}

any_filter filter_of_hashes(const kind_info& kind, const plan_request& request,
                            std::span<const hash64> hashes) {
  if (kind.build != nullptr) return value_of(kind.build(request, hash_source::of(hashes)));
  if (kind.build_of_two_sets != nullptr) {
    const auto others = hashes_of_stream(1, hashes.size() / 8);
    return value_of(kind.build_of_two_sets(request, hash_source::of(hashes),
                                           hash_source::of(std::span(others))));
  }
  any_filter filter = value_of(kind.create(request));
  value_of(filter.insert(hashes));
  return filter;
}

template <class T>
void write(std::ofstream& to, const T* from, std::size_t n) {
  to.write(reinterpret_cast<const char*>(from), static_cast<std::streamsize>(n * sizeof(T)));
}

void write_trace(const std::filesystem::path& path, std::uint64_t begin) {
  std::ofstream written(path.string() + ".steps", std::ios::binary);
  write(written, &begin, 1);
  write(written, steps.data(), steps.size());
  steps.clear();
  std::ofstream vectors(path.string() + ".vectors", std::ios::binary);
  // Intel SDM, volume 1, 13.5: the upper halves of ymm0 to ymm15, the masks, the upper halves of
  // zmm0 to zmm15, and zmm16 to zmm31.
  for (const unsigned component : {2U, 5U, 6U, 7U}) {
    std::uint32_t size = 0, offset = 0, c = 0, d = 0;
    __cpuid_count(0xd, component, size, offset, c, d);
    write(vectors, &offset, 1);
  }
  for (const auto& state : states) write(vectors, state.data(), state.size());
  states.clear();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  const std::filesystem::path folder(argv[1]);
  const std::size_t members = std::stoull(argv[2]);
  const kind_info& kind = *value_of(find_kind(std::string_view(argv[3])));
  const bool inserts = std::string_view(argv[4]) == "insert";
  plan_request request{.capacity = kind.can.insert ? members : 0, .fpr = 1.0 / 256};
  for (int i = 5; i < argc; ++i) {
    const std::string_view option = argv[i];
    const std::size_t middle = option.find('=');
    request.options.emplace_back(option.substr(0, middle), option.substr(middle + 1));
  }
  if (kind.build_of_two_sets != nullptr) request.fpr = 0;  // it has the rate that its keys need
  const auto hashes = hashes_of_stream(0, inserts ? members / 2 : members);
  any_filter filter = filter_of_hashes(kind, request, hashes);

  const auto begin = reinterpret_cast<std::uint64_t>(&__executable_start);
  std::ifstream addresses(folder / "gathers");
  for (std::uint64_t at = 0; addresses >> std::hex >> at;) gathers.insert(begin + at);
  steps.reserve(max_steps);
  states.reserve(max_states);
  std::ofstream(folder / "maps") << std::ifstream("/proc/self/maps").rdbuf();

  struct sigaction action{};
  action.sa_sigaction = record;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGTRAP, &action, nullptr);

  std::uint64_t stream = 2;
  for (const detail::instruction_set set : detail::usable_instruction_sets()) {
    detail::choose_instruction_set(set);
    // Half of a batch of queries are members.
    const auto others = hashes_of_stream(stream++, batch);
    std::copy(others.begin(), others.end(), keys.begin());
    for (std::size_t i = 0; !inserts && i < batch; i += 2) {
      keys[i] = hashes[i * (hashes.size() / batch)];
    }
    is_stepping = true;
    static_cast<void>(std::raise(SIGTRAP));
    if (inserts) {
      static_cast<void>(filter.insert(keys));
    } else {
      static_cast<void>(filter.may_contain(keys, answers));
    }
    is_stepping = false;
    if (steps.size() == max_steps || states.size() == max_states) {
      std::fputs("batch_lines: a batch has more instructions than there is room for\n", stderr);
      return 1;
    }
    write_trace(folder / detail::name_of(set), begin);
  }
  return 0;
}
