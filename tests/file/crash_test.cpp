// A file keeps its whole old or whole new contents, and no key is lost, when the saving process
// dies, when the disk is full, and when several processes write at once.

#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>
#include <thread>

#include "core/system.hpp"
#include "tests/support/filter_types.hpp"

namespace bloomset::test {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> all;
  for (const auto& entry : fs::directory_iterator(folder)) {
    all.push_back(entry.path().filename().string());
  }
  return all;
}

/// A folder of its own, removed at the end.
class in_a_folder : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "bloomset-crash-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    path_ = folder_ / "f.bloom";
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::vector<std::string> names() const { return names_in(folder_); }

  fs::path folder_;
  fs::path path_;
};
using crash = in_a_folder;
using full_disk = in_a_folder;
using two_writers = in_a_folder;
using shared_folder = in_a_folder;

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string{std::istreambuf_iterator<char>(file), {}};
}

template <class F>
std::string text_of(const F& filter) {
  const auto bytes = file_bytes(filter);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Runs `what` in a child process, which ends with its result as exit code, whatever happens.
template <class What>
pid_t child(What&& what) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    int code = 99;
    try {
      code = what();
    } catch (...) {
      code = 98;
    }
    ::_exit(code);
  }
  return pid;
}

int exit_code(pid_t pid) {
  int status = 0;
  if (::waitpid(pid, &status, 0) != pid) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/// A filter of a megabyte, so that a write of it is no single step.
bloom large(std::string_view prefix) {
  bloom f({.bits = 8'000'000, .hashes = 7});
  for (const std::string& key : words(prefix, 10'000)) f.insert(key);
  return f;
}

/// The middle one of five saves, in microseconds.
template <class F>
std::int64_t typical_save(const F& filter, const fs::path& path) {
  std::array<std::int64_t, 5> times{};
  for (std::int64_t& time : times) {
    const auto start = std::chrono::steady_clock::now();
    value_of(save(filter, path));
    const auto taken = std::chrono::steady_clock::now() - start;
    time = std::chrono::duration_cast<std::chrono::microseconds>(taken).count();
  }
  std::ranges::sort(times);
  return times[2];
}

/// Whether temporary files in the folder have no name while they are written.
bool has_nameless_files(const fs::path& folder) {
  const int file = detail::open_nameless(folder.c_str(), 0600);
  if (file >= 0) ::close(file);
  return file >= 0;
}

// A child saves two versions in turn until it is killed, after up to the time of three saves, which
// is longer where the machine has become slower since it was measured. The
// name must hold one of the two, whole. On a file system with nameless temporary files, the only
// other name that a kill can leave is the one that a finished file has for the instant between link
// and rename: then it is whole as well. (Elsewhere it is the temporary file, in whatever state.)
void kill_while_saving(const fs::path& folder, int kills) {
  const fs::path path = folder / "f.bloom";
  const bloom first = large("first");
  const bloom second = large("second");
  const std::string first_bytes = text_of(first);
  const std::string second_bytes = text_of(second);
  ASSERT_NE(first_bytes, second_bytes);
  const bool leaves_only_whole_files = has_nameless_files(folder);
  auto longest = static_cast<std::uint64_t>(
      std::clamp<std::int64_t>(3 * typical_save(first, path), 300, 100'000));

  void* shared = ::mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  auto* saves = new (shared) std::atomic<int>(0);
  std::mt19937_64 random(20);
  int found_second = 0;
  int left_behind = 0;
  int killed = 0;
  for (; killed < kills || (*saves < kills / 10 && killed < 20 * kills); ++killed) {
    if (killed % 10 == 9 && *saves < killed / 10) longest *= 2;
    const pid_t pid = child([&] {
      for (int turn = killed;; ++turn) {
        if (!save(turn % 2 == 0 ? second : first, path)) return 1;
        ++*saves;
      }
    });
    ASSERT_GT(pid, 0);
    std::this_thread::sleep_for(std::chrono::microseconds(random() % longest));
    ASSERT_EQ(::kill(pid, SIGKILL), 0);
    ASSERT_EQ(exit_code(pid), -SIGKILL) << "the child ended by itself: a save failed";

    const std::string now = contents(path);
    ASSERT_TRUE(now == first_bytes || now == second_bytes) << "after kill " << killed;
    found_second += now == second_bytes;
    int others = 0;
    for (const std::string& name : names_in(folder)) {
      if (name == "f.bloom") continue;
      ++others;
      EXPECT_TRUE(name.starts_with(".f.bloom.") && name.ends_with(".tmp")) << name;
      if (leaves_only_whole_files) {
        const std::string other = contents(folder / name);
        EXPECT_TRUE(other == first_bytes || other == second_bytes) << name;
      }
      fs::remove(folder / name);
    }
    EXPECT_LE(others, 1);
    left_behind += others;
  }
  if (leaves_only_whole_files) {
    // An instant, beside the writing and syncing of a megabyte: seldom hit.
    EXPECT_LE(left_behind, killed / 4);
  }
  // The test has tested something: children were saving when they were killed.
  EXPECT_GE(*saves, kills / 10);
  EXPECT_GT(found_second, 0);
  EXPECT_LT(found_second, killed);
  EXPECT_EQ(::munmap(shared, sizeof(std::atomic<int>)), 0);
}

TEST_F(crash, killed_while_saving_leaves_the_old_file_or_the_new_one) {
  kill_while_saving(folder_, 100);
}

// In memory, where a sync takes no time, more of the kills come between write, link and rename.
TEST_F(crash, killed_while_saving_to_memory_leaves_the_old_file_or_the_new_one) {
  std::string name = "/dev/shm/bloomset-crash-XXXXXX";
  const bool in_memory = ::mkdtemp(name.data()) != nullptr;
  kill_while_saving(in_memory ? fs::path(name) : folder_, 300);
  if (in_memory) fs::remove_all(name);
}

TEST_F(full_disk, a_save_that_does_not_fit_leaves_the_old_file_and_nothing_else) {
  bloom small({.capacity = 100, .fpr = 0.01});
  small.insert("alice");
  value_of(save(small, path_));
  const std::string before = contents(path_);
  const bloom big = large("big");
  for (const std::uint64_t limit : {0U, 63U, 64U, 100U, 4096U, 999'999U}) {
    for (const auto& path : {path_, folder_ / "new.bloom"}) {
      // A limit on the size of files fails a write as a full disk does (EFBIG, where that is
      // ENOSPC), at any byte that one likes.
      const int code = exit_code(child([&] {
        std::signal(SIGXFSZ, SIG_IGN);
        const rlimit most{limit, limit};
        if (::setrlimit(RLIMIT_FSIZE, &most) != 0) return 3;
        const auto saved = save(big, path);
        if (saved) return 4;
        return saved.error().code == errc::io && saved.error().message.find(path.string()) == 0 ? 0
                                                                                                : 5;
      }));
      EXPECT_EQ(code, 0) << limit << " " << path;
      EXPECT_EQ(contents(path_), before) << limit;
      EXPECT_EQ(names(), std::vector<std::string>{"f.bloom"}) << limit;
    }
  }
}

TEST_F(crash, zeros_become_holes_and_are_read_as_zeros) {
  // Zeros at the end, and zeros between keys.
  for (const int keys : {0, 1, 20}) {
    blocked_bloom filter({.capacity = 10'000'000, .fpr = 0.01});
    for (int i = 0; i < keys; ++i) filter.insert(i);
    value_of(save(filter, path_));
    EXPECT_EQ(contents(path_), text_of(filter)) << keys;
    struct stat status{};
    ASSERT_EQ(::stat(path_.c_str(), &status), 0);
    // A file system without holes stores all of it.
    const auto stored = static_cast<std::uint64_t>(status.st_blocks) * 512;
    if (stored < filter.size_in_bytes()) {
      EXPECT_LE(stored, static_cast<std::uint64_t>(keys + 1) << 17) << keys;
    }
  }
}

TEST_F(full_disk, a_device_without_room_is_an_error_with_its_name) {
  const auto saved = save(large("big"), "/dev/full");
  ASSERT_FALSE(saved);
  EXPECT_EQ(saved.error().code, errc::io);
  EXPECT_EQ(saved.error().message.find("/dev/full"), 0U) << saved.error().message;
}

TEST_F(full_disk, a_folder_that_is_not_there_is_an_error_with_the_files_name) {
  const fs::path path = folder_ / "no-such" / "f.bloom";
  const auto saved = save(large("big"), path);
  ASSERT_FALSE(saved);
  EXPECT_EQ(saved.error().code, errc::not_found);
  EXPECT_EQ(saved.error().message.find(path.string()), 0U) << saved.error().message;
}

TEST_F(full_disk, refusing_to_replace_leaves_the_file) {
  bloom small({.capacity = 100, .fpr = 0.01});
  value_of(save(small, path_, if_exists::refuse));
  const std::string before = contents(path_);
  const auto again = save(large("big"), path_, if_exists::refuse);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, errc::exists);
  EXPECT_EQ(contents(path_), before);
  EXPECT_EQ(names(), std::vector<std::string>{"f.bloom"});
}

TEST_F(two_writers, lose_none_of_each_others_keys) {
  constexpr int writers = 6;
  constexpr int rounds = 15;
  const auto key = [](int writer, int round) { return fmt::format("{}/{}", writer, round); };
  value_of(save(bloom({.capacity = 1000, .fpr = 1e-9}), path_));
  std::vector<pid_t> running;
  for (int writer = 0; writer < writers; ++writer) {
    running.push_back(child([&] {
      for (int round = 0; round < rounds; ++round) {
        const auto lock = file_lock::acquire(path_);
        if (!lock) return 1;
        auto filter = load(path_);
        if (!filter) return 2;
        const std::string own = key(writer, round);
        if (!filter->insert(std::array<std::string_view, 1>{own})) return 3;
        if (!save(*filter, path_)) return 4;
      }
      return 0;
    }));
  }
  for (const pid_t pid : running) EXPECT_EQ(exit_code(pid), 0);
  const auto filter = value_of(open(path_));
  EXPECT_EQ(filter.size(), std::uint64_t{writers * rounds});
  for (int writer = 0; writer < writers; ++writer) {
    for (int round = 0; round < rounds; ++round) {
      EXPECT_TRUE(filter.may_contain(key(writer, round))) << key(writer, round);
    }
  }
  EXPECT_EQ(names(), std::vector<std::string>{"f.bloom"});
}

TEST_F(two_writers, who_creates_a_file_that_must_be_new_is_one) {
  constexpr int writers = 8;
  for (int round = 0; round < 20; ++round) {
    std::vector<pid_t> running;
    for (int writer = 0; writer < writers; ++writer) {
      running.push_back(child([&] {
        const auto saved = save(bloom({.capacity = 1000, .fpr = 0.01}), path_, if_exists::refuse);
        return saved ? 0 : saved.error().code == errc::exists ? 1 : 2;
      }));
    }
    int created = 0;
    for (const pid_t pid : running) {
      const int code = exit_code(pid);
      EXPECT_TRUE(code == 0 || code == 1) << code;
      created += code == 0;
    }
    EXPECT_EQ(created, 1);
    EXPECT_EQ(names(), std::vector<std::string>{"f.bloom"});
    fs::remove(path_);
  }
}

// In a folder that all may write to, anyone can make the name that writers use for a moment.
TEST_F(shared_folder, whoever_has_the_passing_name_keeps_no_writer_waiting) {
  const fs::path taken = folder_ / ".f.bloom.bloomset.tmp";
  const std::vector<std::function<void()>> ways = {
      [&] { std::ofstream(taken) << "locked"; },
      [&] { ASSERT_EQ(::mkfifo(taken.c_str(), 0600), 0); },
      [&] { fs::create_directory(taken); },
  };
  value_of(save(bloom({.capacity = 100, .fpr = 0.01}), path_));
  for (std::size_t way = 0; way < ways.size(); ++way) {
    ways[way]();
    const int held = ::open(taken.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    ASSERT_GE(held, 0);
    ASSERT_EQ(::flock(held, LOCK_EX), 0);
    const bloom now({.capacity = 1000 + way, .fpr = 0.01});
    // The alarm ends a child that waits.
    const int code = exit_code(child([&] {
      ::alarm(20);
      return save(now, path_) ? 0 : 1;
    }));
    EXPECT_EQ(code, 0) << way;
    EXPECT_EQ(contents(path_), text_of(now)) << way;
    EXPECT_EQ(names().size(), 2U) << way;
    EXPECT_EQ(::close(held), 0);
    fs::remove_all(taken);
  }
}

TEST_F(shared_folder, the_name_that_a_killed_writer_left_is_removed_by_the_next) {
  std::ofstream(folder_ / ".f.bloom.bloomset.tmp") << "left";
  value_of(save(bloom({.capacity = 100, .fpr = 0.01}), path_));
  // Files that have a name from the beginning need no second one, and leave this one alone.
  EXPECT_EQ(names().size(), has_nameless_files(folder_) ? 1U : 2U);
  EXPECT_TRUE(fs::exists(path_));
}

// The names that writers use for a moment are longer, and 255 bytes are the most.
TEST_F(shared_folder, a_file_with_the_longest_name_is_replaced) {
  std::string characters;
  for (int i = 0; i < 85; ++i) characters += "\u6f22";  // three bytes each
  for (const std::string& name : {std::string(255, 'a'), characters, std::string(241, 'b')}) {
    for (const std::uint64_t capacity : {100U, 200U, 300U}) {
      const bloom f({.capacity = capacity, .fpr = 0.01});
      value_of(save(f, folder_ / name));
      EXPECT_EQ(contents(folder_ / name), text_of(f));
    }
  }
  EXPECT_EQ(names().size(), 3U);
}

class replaced_file : public shared_folder {
 protected:
  static constexpr uid_t owner = 12345;
  static constexpr gid_t group = 54321;

  struct stat status() const {
    struct stat now{};
    EXPECT_EQ(::stat(path_.c_str(), &now), 0);
    return now;
  }

  const bloom f = bloom({.capacity = 100, .fpr = 0.01});
};

TEST_F(replaced_file, keeps_its_mode) {
  value_of(save(f, path_));
  ASSERT_EQ(::chmod(path_.c_str(), 0640), 0);
  value_of(save(f, path_));
  EXPECT_EQ(status().st_uid, ::geteuid());
  EXPECT_EQ(status().st_mode & 07777U, 0640U);
}

// Only root can give files to other users. Tests of the project run as root in CI.
TEST_F(replaced_file, keeps_owner_group_and_mode_if_root_replaces_it) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  value_of(save(f, path_));
  ASSERT_EQ(::chown(path_.c_str(), owner, group), 0);
  ASSERT_EQ(::chmod(path_.c_str(), 02640), 0);
  value_of(save(f, path_));
  EXPECT_EQ(status().st_uid, owner);
  EXPECT_EQ(status().st_gid, group);
  EXPECT_EQ(status().st_mode & 07777U, 02640U);
}

// Root may read any folder, so root becomes another user. A folder that was hidden by a root folder
// of mode 0700 is then the root of that user.
TEST_F(replaced_file, may_be_in_a_folder_that_cannot_be_read) {
  const bool is_root = ::geteuid() == 0;
  struct stat root{};
  ASSERT_EQ(::stat("/", &root), 0);
  const bool hidden = is_root && (root.st_mode & S_IXOTH) == 0;
  if (is_root) {
    ASSERT_EQ(::chown(folder_.c_str(), owner, group), 0);
  }
  for (const if_exists policy : {if_exists::refuse, if_exists::replace}) {
    ASSERT_EQ(::chmod(folder_.c_str(), 0300), 0);
    const int code = exit_code(child([&] {
      if (hidden && (::chroot(folder_.c_str()) != 0 || ::chdir("/") != 0)) return 2;
      if (is_root && (::setgroups(0, nullptr) != 0 || ::setgid(group) != 0 || ::setuid(owner) != 0))
        return 2;
      return save(f, hidden ? "/" / path_.filename() : path_, policy) ? 0 : 1;
    }));
    ASSERT_EQ(::chmod(folder_.c_str(), 0700), 0);
    EXPECT_EQ(code, 0);
    EXPECT_EQ(contents(path_), text_of(f));
    EXPECT_EQ(names().size(), 1U);
  }
}

// Only root can become another user, so this test is left out for others. CI runs it as root.
// Below a root folder of mode 0700 another user can open no path at all. The test's folder is then
// the root of that user.
TEST_F(replaced_file, loses_only_the_rights_that_another_user_cannot_give) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  struct stat root{};
  ASSERT_EQ(::stat("/", &root), 0);
  const bool hidden = (root.st_mode & S_IXOTH) == 0;
  constexpr uid_t other = 12346;
  value_of(save(f, path_));
  ASSERT_EQ(::chown(path_.c_str(), owner, group), 0);
  ASSERT_EQ(::chmod(path_.c_str(), 02640), 0);
  const auto save_as = [&](gid_t of) {
    return exit_code(child([&] {
      if (hidden && (::chroot(folder_.c_str()) != 0 || ::chdir("/") != 0)) return 2;
      if (::setgroups(0, nullptr) != 0 || ::setgid(of) != 0 || ::setuid(other) != 0) return 2;
      return save(f, hidden ? "/" / path_.filename() : path_) ? 0 : 1;
    }));
  };
  ASSERT_EQ(::chmod(folder_.c_str(), 0777), 0);
  // One of the group keeps the group.
  ASSERT_EQ(save_as(group), 0);
  EXPECT_EQ(status().st_uid, other);
  EXPECT_EQ(status().st_gid, group);
  EXPECT_EQ(status().st_mode & 07777U, 0640U) << "no set-id bit for another owner";
  // Another group may do what others might.
  ASSERT_EQ(::chown(path_.c_str(), owner, group), 0);
  ASSERT_EQ(save_as(other), 0);
  EXPECT_EQ(status().st_gid, other);
  EXPECT_EQ(status().st_mode & 07777U, 0600U);
}

}  // namespace
}  // namespace bloomset::test
