// The ribbon filter of the Rust crate `pleat`, which groups keys by window before it solves. pleat/
// has the C functions.

#include <memory>
#include <stdexcept>

#include "../keys.hpp"
#include "peers.hpp"

extern "C" {
struct pleat_filter;
pleat_filter* pleat_build(const std::uint64_t* keys, std::size_t count, std::uint32_t columns,
                          std::size_t threads);
void pleat_free(pleat_filter* filter);
std::size_t pleat_bytes(const pleat_filter* filter);
std::uint64_t pleat_ask_each(const pleat_filter* filter, const std::uint64_t* keys,
                             std::size_t count);
void pleat_ask_batch(const pleat_filter* filter, const std::uint64_t* keys, std::size_t count,
                     bool* answers);
}

namespace bench {
namespace {

const std::uint64_t* words(keys hashes) noexcept {
  return reinterpret_cast<const std::uint64_t*>(hashes.data());
}

class pleat final : public subject {
 public:
  explicit pleat(std::uint32_t columns) : columns_(columns) {}

  void build(keys members, unsigned threads) override {
    filter_.reset();
    filter_.reset(pleat_build(words(members), members.size(), columns_, threads));
    if (!filter_) throw std::runtime_error("pleat has no filter of so many columns here");
  }
  std::uint64_t bytes() const override { return pleat_bytes(filter_.get()); }
  std::uint64_t ask_each(keys asked) const override {
    return pleat_ask_each(filter_.get(), words(asked), asked.size());
  }
  void ask_batch(keys asked, bool* answers, unsigned) const override {
    pleat_ask_batch(filter_.get(), words(asked), asked.size(), answers);
  }
  std::string remark() const override { return std::to_string(columns_) + " columns of 64 bits"; }

 private:
  struct freed {
    void operator()(pleat_filter* filter) const noexcept { pleat_free(filter); }
  };
  std::uint32_t columns_;
  std::unique_ptr<pleat_filter, freed> filter_;
};

}  // namespace

entries pleat_peers() {
  return {{.name = "pleat homogeneous ribbon",
           .batch = true,
           .parallel_build = true,
           .make = [](const setting& s) -> std::unique_ptr<subject> {
             if (s.fpr >= 1.0 / 128) return std::make_unique<pleat>(7);
             if (s.fpr >= 1.0 / 256) return std::make_unique<pleat>(8);
             return std::make_unique<pleat>(10);
           }}};
}

}  // namespace bench
