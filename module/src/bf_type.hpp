#pragma once

// The type of the values of BF.* in the server: how they are saved, loaded, copied and freed.

#include "api.hpp"
#include "bf_value.hpp"

namespace bloomery::server {

/// Registers it. False if the server refuses.
bool create_bf_type(context* ctx) noexcept;

/// A key, opened as BF.* does. Closes it at the end.
class bf_key {
 public:
  bf_key(const request& in, int mode) noexcept;
  bf_key(const bf_key&) = delete;
  bf_key& operator=(const bf_key&) = delete;
  ~bf_key();

  bool is_empty() const noexcept;
  /// Null if there is none, or something else than a filter.
  bf_object* object() const noexcept;
  /// The filter, if there is one that answers. Else null, and why.
  bf_value* filter(wire_error& why) const noexcept;
  void set(std::unique_ptr<bf_object> object) noexcept;

 private:
  key* key_;
};

}  // namespace bloomery::server
