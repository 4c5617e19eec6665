#pragma once

#include <memory>

#include "values/filter_object.hpp"

namespace bloomset::server {

/// An open key of the server, closed at the end of the scope.
class filter_key {
 public:
  /// `argument` is the index of the key's name.
  filter_key(const command_call& call, int mode, std::size_t argument = 1) noexcept;
  filter_key(const filter_key&) = delete;
  filter_key& operator=(const filter_key&) = delete;
  ~filter_key();

  bool is_empty() const noexcept;
  /// Null if the key is empty or holds something else than a filter of the command's family.
  filter_object* object() const noexcept;
  /// Throws refusal if object() is null or its dump is still arriving.
  filter_value& filter() const;
  void set(std::unique_ptr<filter_object> object) noexcept;

  /// Tells the clients that watch the key, and the subscribers of keyspace events, of a change.
  /// Subscribers may delete the key. So the key is closed first, and its filter must not be used
  /// afterwards.
  void announce(const char* event, int event_class = event_of_module) noexcept;

 private:
  const command_call& call_;
  key* key_;
};

}  // namespace bloomset::server
