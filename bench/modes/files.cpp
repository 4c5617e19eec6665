// The command line over files: building from lines, and asking one key of a large filter.

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bloomset/blocked_bloom.hpp>
#include <bloomset/file.hpp>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "keys.hpp"
#include "measure.hpp"
#include "modes.hpp"
#include "process.hpp"

namespace bench {
namespace {

constexpr std::uint64_t bytes_a_line = 60;           // 57 in the mean
constexpr std::size_t block = std::size_t{1} << 18;  // beside the hashes in a second-level cache

class open_file {
 public:
  explicit open_file(const std::string& path) : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (file_ < 0) throw std::runtime_error(path + ": cannot be opened");
    size_ = static_cast<std::uint64_t>(::lseek(file_, 0, SEEK_END));
  }
  open_file(const open_file&) = delete;
  open_file& operator=(const open_file&) = delete;
  ~open_file() { ::close(file_); }

  std::uint64_t size() const noexcept { return size_; }
  /// Bytes read from that place on; 0 at the end.
  std::size_t read(std::span<char> into, std::uint64_t at) const {
    const ssize_t got = ::pread(file_, into.data(), into.size(), static_cast<off_t>(at));
    if (got < 0) throw std::runtime_error("the lines cannot be read");
    return static_cast<std::size_t>(got);
  }

 private:
  int file_;
  std::uint64_t size_ = 0;
};

/// Calls `use(text)` with the blocks of one of `threads` equal parts of the file, cut at the ends
/// of lines: lines that begin in the part are all in it.
template <class Use>
void for_blocks(const open_file& file, unsigned t, unsigned threads, Use&& use) {
  const std::uint64_t begin = file.size() * t / threads;
  const std::uint64_t end = file.size() * (t + 1) / threads;
  std::vector<char> text(block);
  // From one byte before the part: the first line that begins in it follows a line's end.
  std::uint64_t at = begin == 0 ? 0 : begin - 1;
  bool skip = begin != 0;
  while (at < end) {
    const std::size_t got = file.read(text, at);
    if (got == 0) return;
    const char* first = text.data();
    const char* const last = first + got;
    if (skip) {
      const void* const line_end = std::memchr(first, '\n', got);
      if (line_end == nullptr) return;
      first = static_cast<const char*>(line_end) + 1;
      skip = false;
    }
    // Whole lines, and of them those that begin before `end`.
    const auto* stop = static_cast<const char*>(::memrchr(text.data(), '\n', got));
    if (stop == nullptr || stop < first) return;  // no line of ours is longer than a block
    if (at + got > end) {
      const char* const cut = text.data() + (end - at);
      if (cut <= first) return;
      // If the last of them goes on beyond this block, it begins the next.
      const void* const ours_end =
          std::memchr(cut - 1, '\n', static_cast<std::size_t>(last - cut + 1));
      if (ours_end != nullptr) stop = static_cast<const char*>(ours_end);
    }
    use(std::string_view(first, static_cast<std::size_t>(stop + 1 - first)));
    at += static_cast<std::uint64_t>(stop + 1 - text.data());
  }
}

/// Hashes every line of the file and throws the hashes away; the number of lines.
std::uint64_t hash_lines(const std::string& path, unsigned threads) {
  const open_file file(path);
  std::atomic<std::uint64_t> lines{0};
  time_threads(threads, [&](unsigned t) {
    const bloomset::xxh3_hasher hash;
    std::uint64_t count = 0;
    std::uint64_t sum = 0;
    for_blocks(file, t, threads, [&](std::string_view text) {
      while (!text.empty()) {
        const std::size_t size = text.find('\n');
        sum ^= hash(std::as_bytes(std::span(text.substr(0, size)))).value;
        text.remove_prefix(size + 1);
        ++count;
      }
    });
    keep(sum);
    lines += count;
  });
  return lines;
}

struct file_row {
  std::string name;
  std::function<finished()> run;
  times taken = {};
  std::uint64_t peak = 0;
};

}  // namespace

void time_files(const std::string& program, std::uint64_t n, unsigned runs,
                const std::string& folder, const sink& write) {
  const scratch_folder scratch(folder);
  // The page cache holds the lines while 2 GiB are left for what is measured.
  const std::uint64_t memory = memory_left();
  const std::uint64_t room =
      std::min(scratch.room() / 2, memory - std::min(memory, std::uint64_t{2} << 30));
  const std::uint64_t lines = std::min(n, std::max<std::uint64_t>(1000, room / bytes_a_line));
  if (lines < n) fmt::print(stderr, "disk and memory hold {} of {} lines\n", lines, n);
  const std::string text = scratch.file("lines");
  fmt::print(stderr, "writing {} lines\n", lines);
  write_urls(text, lines);

  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  const auto hashing = [&](unsigned threads) {
    return [&text, lines, threads] {
      const stopwatch watch;
      if (hash_lines(text, threads) != lines) {
        throw std::runtime_error("not all lines were read");
      }
      return finished{.seconds = watch.seconds()};
    };
  };
  const std::string ours = scratch.file("ours");
  const std::string number = std::to_string(lines);
  std::vector<file_row> rows = {
      {"reading and hashing lines, one core", hashing(1)},
      {"reading and hashing lines, all cores", hashing(cores)},
      {"bloomset build, capacity given",
       [&] {
         return run_program({program, "build", "-q", "--force", "-o", ours, "--fpr", "1%",
                             "--capacity", number, text});
       }},
      {"bloomset build, capacity unknown",
       [&] {
         return run_program({program, "build", "-q", "--force", "-o", ours, "--fpr", "1%", text});
       }},
  };
  if (const std::string wc = find_program("wc"); !wc.empty()) {
    rows.push_back({"wc -l", [wc, &text] { return run_program({wc, "-l", text}); }});
  }
  const std::string theirs = scratch.file("theirs");
  if (const std::string dcso = find_program("bloom"); !dcso.empty()) {
    rows.push_back({"DCSO bloom insert, capacity given", [&, dcso] {
                      std::filesystem::remove(theirs);
                      run_program({dcso, "create", "-p", "0.01", "-n", number, theirs});
                      return run_program({dcso, "insert", theirs}, text);
                    }});
  }
  for (unsigned run = 0; run < runs; ++run) {
    for (file_row& row : rows) {
      fmt::print(stderr, "run {} of {}: {}\n", run + 1, runs, row.name);
      const finished done = row.run();
      row.taken.add(done.seconds, lines);
      row.peak = std::max(row.peak, done.peak);
    }
  }
  const std::uint64_t size = open_file(text).size();
  for (const file_row& row : rows) {
    nlohmann::json j = figures(row.taken);
    j.update({{"record", "file"}, {"name", row.name}, {"lines", lines}, {"bytes", size}});
    if (row.peak != 0) j["peak"] = row.peak;
    write(j);
  }
}

void time_startup(const std::string& program, std::uint64_t bytes, unsigned runs,
                  const std::string& folder, const sink& write) {
  const scratch_folder scratch(folder);
  const std::string path = scratch.file("large");
  const std::string key = scratch.file("key");
  std::ofstream(key) << "somebody@example.com\n";
  {
    auto filter = bloomset::blocked_bloom::make({.fpr = 0.01, .bits = bytes * 8}).value();
    filter.insert("somebody@example.com");
    bloomset::save(filter, path).value();
  }
  times taken;
  std::uint64_t peak = 0;
  for (unsigned run = 0; run < runs; ++run) {
    const finished done = run_program({program, "check", path, key});
    taken.add(done.seconds, 1);
    peak = std::max(peak, done.peak);
  }
  nlohmann::json j = figures(taken);
  j.update({{"record", "startup"}, {"bytes", bytes}, {"peak", peak}});
  write(j);
}

}  // namespace bench
