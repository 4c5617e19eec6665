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
/// allows it. Null after an error reply. The caller announces one that was made, once it no longer
/// uses the filter.
struct opened {
  filter_value* filter;
  bool made;
};
opened open_to_add(const request& in, filter_key& key, const filter_spec& spec, bool create);

/// How far a filter may grow by so many items. Replicas take what the primary took.
growth_limit limit_for(const request& in, const filter_value& filter, std::size_t items) noexcept;

inline constexpr wire_error too_much_for_all =
    "ERR could not create filter: all filters together would take more than bf.max-memory";

/// Why limits leave no room for a filter of so many bytes; null: they do.
wire_error refusal(const request& in, filter_engine engine, std::uint64_t bytes) noexcept;
/// Why one that has been made is beyond them; null: it is not.
wire_error refusal(const request& in, const filter_value& made) noexcept;

/// Tells who watches the key, and who listens, of a change. A listener may delete the key, so it is
/// closed first, and its filter must not be used afterwards.
void announce(const request& in, filter_key& key, const char* event) noexcept;

}  // namespace bloomery::server
