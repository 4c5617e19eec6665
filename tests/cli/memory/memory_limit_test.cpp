// The free memory of a machine and of its control groups, read from files.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "memory/memory_limit.hpp"

namespace {

namespace fs = std::filesystem;
using bloomset::cli::free_memory;

constexpr std::uint64_t mebi = std::uint64_t{1} << 20;

/// A root folder with some files, for one test.
class fake_root {
 public:
  fake_root() { fs::remove_all(folder_); }
  fake_root(const fake_root&) = delete;
  fake_root& operator=(const fake_root&) = delete;
  ~fake_root() { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }
  void group(const std::string& folder, const std::string& limit, const std::string& used,
             bool version_1 = false) const {
    write(folder + (version_1 ? "/memory.limit_in_bytes" : "/memory.max"), limit + "\n");
    write(folder + (version_1 ? "/memory.usage_in_bytes" : "/memory.current"), used + "\n");
  }
  std::optional<std::uint64_t> free() const { return free_memory(folder_); }

 private:
  fs::path folder_ = testing::TempDir() + "/bloomset_memory_limit_test";
};

TEST(memory_limit, unknown_without_files) {
  const fake_root root;
  EXPECT_EQ(root.free(), std::nullopt);
  root.write("proc/meminfo", "MemTotal: 100 kB\n");
  root.write("proc/self/cgroup", "nonsense\n0::/gone\n::\n");
  EXPECT_EQ(root.free(), std::nullopt);
}

TEST(memory_limit, what_the_machine_has_available) {
  const fake_root root;
  root.write("proc/meminfo", "MemTotal:  4096 kB\nMemFree: 5 kB\nMemAvailable:    2048 kB\n");
  EXPECT_EQ(root.free(), 2 * mebi);
}

TEST(memory_limit, the_group_or_one_above_it_leaves_less) {
  const fake_root root;
  root.write("proc/meminfo", "MemAvailable: 1048576 kB\n");
  root.write("proc/self/cgroup", "0::/user/job\n");
  root.group("sys/fs/cgroup/user/job", "max", "5");
  EXPECT_EQ(root.free(), 1024 * mebi);
  root.group("sys/fs/cgroup/user", std::to_string(100 * mebi), std::to_string(70 * mebi));
  EXPECT_EQ(root.free(), 30 * mebi);
  root.write("sys/fs/cgroup/user/memory.stat",
             "active_file 1\ninactive_file " + std::to_string(20 * mebi) + "\n");
  EXPECT_EQ(root.free(), 50 * mebi) << "the cache of files is given back";
  root.group("sys/fs/cgroup/user/job", std::to_string(mebi), std::to_string(2 * mebi));
  EXPECT_EQ(root.free(), 0U);
}

TEST(memory_limit, version_1_in_a_container) {
  const fake_root root;
  root.write("proc/meminfo", "MemAvailable: 1048576 kB\n");
  root.write("proc/self/cgroup", "5:cpu,cpuacct:/docker/12\n4:memory:/docker/12\n0::/\n");
  // The container sees its own group at the mount, not at the host's path.
  root.group("sys/fs/cgroup/memory", std::to_string(64 * mebi), std::to_string(16 * mebi), true);
  EXPECT_EQ(root.free(), 48 * mebi);
}

}  // namespace
