#pragma once

// A lock for many readers or one writer in which neither waits for ever.

#include <mutex>
#include <shared_mutex>

namespace bloomset::python {

/// std::shared_mutex with an entrance. glibc's own lets readers in while a writer waits, so that a
/// writer waits as long as readers overlap: beside two to four threads that each ask for two
/// million keys again and again, an add() took 0.5 to 10 s in the median, and takes as long as the
/// batches under way now. Here all that have to wait do so in the entrance, one at a time: a writer
/// keeps those that come later out until the readers before it are done.
///
/// try_lock and try_lock_shared pass by the entrance. Whoever uses them for single keys holds the
/// GIL, so such readers do not overlap each other.
class fair_mutex {
 public:
  void lock() {
    const std::lock_guard turn(entrance_);
    mutex_.lock();
  }
  void lock_shared() {
    const std::lock_guard turn(entrance_);
    mutex_.lock_shared();
  }
  bool try_lock() { return mutex_.try_lock(); }
  bool try_lock_shared() { return mutex_.try_lock_shared(); }
  void unlock() { mutex_.unlock(); }
  void unlock_shared() { mutex_.unlock_shared(); }

 private:
  std::mutex entrance_;
  std::shared_mutex mutex_;
};

}  // namespace bloomset::python
