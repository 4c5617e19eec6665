#pragma once

// What all commands that write share: filters are made within the limits, and replicas and the
// append-only file are told of all that this server's settings decided.

#include "filter_type.hpp"

namespace bloomery::server {

/// A new filter, or null after the error reply.
std::unique_ptr<filter_object> make_or_reply(const request& in, const filter_spec& spec);

/// Makes the filter of RESERVE, or replies the error.
int reserve(const request& in, const filter_spec& spec, const char* event);

/// The filter of a key to add items to, which is made of `spec` if there is none and `create`
/// allows it. Null after an error reply.
struct opened {
  filter_value* filter;
  bool made;
};
opened open_to_add(const request& in, filter_key& key, const filter_spec& spec, bool create,
                   const char* event);

/// The most bytes that a filter may grow to by so many items. Replicas take what the primary took.
struct growth_limit {
  std::uint64_t bytes;
  bool is_of_all;  ///< whether that is what all filters together may take
};
growth_limit limit_for(const request& in, const filter_value& filter, std::size_t items) noexcept;

/// Whether limits leave room for a filter of so many bytes.
bool is_allowed(const request& in, std::uint64_t bytes) noexcept;
/// Whether one that has been made keeps within them.
bool is_within_limits(const request& in, const filter_value& made) noexcept;

/// Tells who watches the key, and who listens, of a change.
void announce(const request& in, const char* event) noexcept;

}  // namespace bloomery::server
