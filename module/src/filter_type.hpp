#pragma once

// The types of the values of BF.* and CF.* in the server: how they are saved, loaded, copied and
// freed.

#include "api.hpp"
#include "filter_value.hpp"

namespace bloomery::server {

/// Registers them. False if the server refuses one.
bool create_filter_types(context* ctx) noexcept;

/// A key, opened as the commands of a family do. Closes it at the end.
class filter_key {
 public:
  filter_key(const request& in, filter_family family, int mode) noexcept;
  /// Another key than the first.
  filter_key(const request& in, std::size_t argument, filter_family family, int mode) noexcept;
  filter_key(const filter_key&) = delete;
  filter_key& operator=(const filter_key&) = delete;
  ~filter_key();

  /// Closes it before the end. A subscriber that is told of a change may delete the key, so no key
  /// is open then.
  void close() noexcept;
  bool is_empty() const noexcept;
  /// Null if there is none, or something else than a filter of the family.
  filter_object* object() const noexcept;
  /// The filter, if there is one that answers. Else null, and why.
  filter_value* filter(wire_error& why) const noexcept;
  void set(std::unique_ptr<filter_object> object) noexcept;

 private:
  key* key_;
  filter_family family_;
};

}  // namespace bloomery::server
