// A program without exceptions and run-time type information. It makes,
// changes, saves, opens and queries every kind.

#include <bloomset/bloomset.hpp>
#include <cstdio>
#include <string>
#include <vector>

namespace {

namespace bl = bloomset;

const std::vector<std::string> members = {"alice@example.com", "carol@example.com"};
int wrong = 0;

void expect(bool held, const char* what) {
  if (held) return;
  std::fprintf(stderr, "%s\n", what);
  ++wrong;
}

template <class F>
void ask(const F& f) {
  expect(f.may_contain("alice@example.com") && !f.may_contain("bob@example.com"), "wrong answer");
  bool answers[2] = {};
  f.may_contain(members, answers);
  expect(answers[0] && answers[1], "wrong answer in a batch");
}

template <class F>
void ask_stored(const F& f) {
  ask(f);
  const std::string path = "plain.bloom";
  expect(bl::save(f, path).has_value(), "not saved");
  using view = typename F::template rebind_storage<bl::mapped_storage>;
  const auto mapped = bl::open<view>(path);
  const auto copied = bl::open<F>(path);
  const auto any = bl::open(path);
  const auto loaded = bl::load(path);
  if (!mapped || !copied || !any || !loaded) return expect(false, "not opened");
  ask(*mapped);
  ask(*copied);
  expect(any->may_contain("alice@example.com"), "wrong answer of an any_filter");
  std::remove(path.c_str());
}

template <class F>
void use() {
  F f({.capacity = 1000, .fpr = 1e-6});
  f.insert("alice@example.com");
  f.insert(members);
  ask_stored(f);
  if constexpr (bl::mergeable<F>) {
    auto both = F::make({.capacity = 1000, .fpr = 1e-6});
    expect(both && both->merge(f), "not merged");
    if (both) ask(*both);
  }
  if constexpr (bl::countable<F>) expect(f.count("alice@example.com") >= 2, "not counted");
  if constexpr (bl::erasable<F>) expect(f.erase("alice@example.com"), "not erased");
  for (int i = 0; i < 100'000; ++i) f.insert(i);  // those that grow do
  f.clear();
  expect(!f.may_contain("alice@example.com"), "not cleared");
}

template <class F>
void build() {
  const auto f = F::build({.fpr = 1e-6}, members);
  if (!f) return expect(false, "not built");
  ask_stored(*f);
}

}  // namespace

int main() {
  use<bl::bloom>();
  use<bl::blocked_bloom>();
  use<bl::counting_bloom>();
  use<bl::scalable_bloom>();
  use<bl::cuckoo>();
  use<bl::vector_quotient>();
  use<bl::expandable>();
  build<bl::fuse>();
  build<bl::ribbon>();
  bl::vector_quotient shared({.capacity = 100, .fpr = 0.01});
  auto door = shared.concurrent();
  door.insert("alice@example.com");
  expect(!bl::bloom::make({.fpr = 2}), "an impossible rate is made");
  if (wrong != 0) return 1;
  std::puts("maybe\nno");
}
