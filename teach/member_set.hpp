#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace bloomset::teach {

/// The exact multiset beside a filter. A filter does not store its elements, so only an exact set
/// can tell a false positive from a true one.
class member_set {
 public:
  bool contains(const std::string& element) const { return copies_.contains(element); }
  /// Whether the element was inserted and all its copies were erased.
  bool erased(const std::string& element) const {
    return ever_.contains(element) && !contains(element);
  }
  std::size_t distinct() const noexcept { return copies_.size(); }
  /// Copies of each member, never zero.
  const std::map<std::string, std::uint64_t>& copies() const noexcept { return copies_; }

  void add(const std::string& element) {
    ++copies_[element];
    ever_.insert(element);
  }
  /// Removes one copy and returns the number of copies left. Precondition: contains(element).
  std::uint64_t remove(const std::string& element) {
    const auto found = copies_.find(element);
    const std::uint64_t left = --found->second;
    if (left == 0) copies_.erase(found);
    return left;
  }

 private:
  std::map<std::string, std::uint64_t> copies_;
  std::set<std::string> ever_;
};

}  // namespace bloomset::teach
