#pragma once

// The walks of `bloomery explain`: what each step asks, what each shows.

#include <bloomery/concepts.hpp>
#include <bloomery/result.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "explain_family.hpp"
#include "explain_text.hpp"

namespace bloomery::cli {

/// One step, of one element, in the order of the command line.
struct explain_step {
  enum class verb : std::uint8_t { insert, check, erase };
  verb what;
  std::string element;
};

/// A library filter of m cells, whose cells can be looked at.
class taught_array {
 public:
  taught_array() = default;
  taught_array(const taught_array&) = delete;
  taught_array& operator=(const taught_array&) = delete;
  virtual ~taught_array() = default;

  virtual std::string title() const = 0;
  virtual std::string_view cell_name() const noexcept = 0;  ///< "bit" or "counter"
  virtual std::uint64_t places() const noexcept = 0;
  virtual unsigned largest() const noexcept = 0;  ///< value of a cell
  virtual unsigned cell(std::uint64_t place) const noexcept = 0;
  virtual insert_outcome insert(std::string_view element) noexcept = 0;
  virtual bool may_contain(std::string_view element) const noexcept = 0;
  virtual bool erase(std::string_view element) noexcept = 0;
  virtual double fill() const noexcept = 0;
  virtual double current_fpr() const noexcept = 0;
};

result<std::unique_ptr<taught_array>> make_bloom_array(std::uint64_t m,
                                                       const shared_family& family);
/// Counters of that many bits: 4, 8 or 16.
result<std::unique_ptr<taught_array>> make_counting_array(std::uint64_t m,
                                                          const shared_family& family,
                                                          unsigned counter_bits);

/// The whole walk over bits or counters, as text. The steps' elements are the family's own.
std::string walk_array(taught_array& filter, const taught_family& family,
                       const std::vector<explain_step>& steps, const palette& paint);

/// The whole walk over the buckets of a cuckoo filter, or why there is no such filter.
/// Precondition: buckets <= 2^32.
result<std::string> walk_cuckoo(std::uint64_t buckets, unsigned slots, unsigned fingerprint_bits,
                                const std::vector<explain_step>& steps, const palette& paint);

}  // namespace bloomery::cli
