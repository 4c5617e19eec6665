#pragma once

#include <bloomset/concepts.hpp>
#include <bloomset/result.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "teach/hash_family.hpp"

namespace bloomset::teach {

/// A library filter of m bits or counters whose cells can be read.
class cell_array {
 public:
  cell_array() = default;
  cell_array(const cell_array&) = delete;
  cell_array& operator=(const cell_array&) = delete;
  virtual ~cell_array() = default;

  virtual std::string title() const = 0;
  virtual std::string_view cell_name() const noexcept = 0;  ///< "bit" or "counter"
  virtual std::uint64_t cells() const noexcept = 0;
  virtual unsigned max_value() const noexcept = 0;  ///< of a cell
  virtual unsigned cell(std::uint64_t position) const noexcept = 0;
  virtual insert_outcome insert(std::string_view element) noexcept = 0;
  virtual bool may_contain(std::string_view element) const noexcept = 0;
  virtual bool erase(std::string_view element) noexcept = 0;
  virtual double fill() const noexcept = 0;
  virtual double current_fpr() const noexcept = 0;
};

result<std::unique_ptr<cell_array>> make_bloom_array(std::uint64_t m, const shared_family& family);
/// counter_bits is 4, 8 or 16.
result<std::unique_ptr<cell_array>> make_counting_array(std::uint64_t m,
                                                        const shared_family& family,
                                                        unsigned counter_bits);

}  // namespace bloomset::teach
