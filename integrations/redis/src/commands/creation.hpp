#pragma once

// Creation of filters by RESERVE, and by the commands that insert into a missing key.

#include "commands/filter_key.hpp"

namespace bloomset::server {

/// Creates the filter of RESERVE and replies.
int reserve(const command_call& call, const filter_spec& spec);

struct opened_filter {
  filter_value& filter;
  bool created;  ///< the caller announces the creation after the last use of the filter
};
/// The filter of a key to insert into. A missing filter is created from `spec` if `create` allows
/// it. Throws refusal.
opened_filter open_or_create(const command_call& call, filter_key& key, const filter_spec& spec,
                             bool create);

}  // namespace bloomset::server
