// The Taffy block filter (Apple, 2022), a growing chain of block filters. It begins as
// `expandable, begun at n/1024` does.

extern "C" {
#include "block.c"

#include "memory.c"

#include "taffy-block.c"

#include "util.c"
}

#include "single_calls.hpp"

namespace bench {
namespace {

class taffy_block {
 public:
  explicit taffy_block(const setting& s) {
    if (::libfilter_taffy_block_init((s.n + 1023) / 1024, s.fpr, &filter_) < 0) {
      throw std::runtime_error("no memory");
    }
  }
  taffy_block(const taffy_block&) = delete;
  taffy_block& operator=(const taffy_block&) = delete;
  ~taffy_block() { ::libfilter_taffy_block_destruct(&filter_); }

  void insert(std::uint64_t hash) { ::libfilter_taffy_block_add_hash(&filter_, hash); }
  bool may_contain(std::uint64_t hash) const {
    return ::libfilter_taffy_block_find_hash(&filter_, hash);
  }
  std::uint64_t bytes() const { return ::libfilter_taffy_block_size_in_bytes(&filter_); }

 private:
  libfilter_taffy_block filter_{};
};

}  // namespace

[[gnu::visibility("default")]] entries taffy_peers() {
  return {single_calls_entry<taffy_block>("Taffy block, begun at n/1024")};
}

}  // namespace bench
