#include <leveldb/slice.h>

#include <bloomset/leveldb_filter_policy.hpp>
#include <cstdio>

int main() {
  const auto policy = bloomset::leveldb_filter_policy::make({.fpr = 0.001}).value();
  const leveldb::Slice alice = "alice@example.com";
  std::string filter;
  policy->CreateFilter(&alice, 1, &filter);
  std::puts(policy->KeyMayMatch(alice, filter) ? "maybe" : "no");
  std::puts(policy->KeyMayMatch("bob@example.com", filter) ? "maybe" : "no");
}
