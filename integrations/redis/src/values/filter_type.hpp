#pragma once

// The server's data types for filters: how values are saved, loaded, copied and freed.

#include "server/api.hpp"
#include "values/filter_spec.hpp"

namespace bloomset::server {

/// Registers the types. False if the server refuses one.
bool create_filter_types(context* ctx) noexcept;

/// Allocations of valkey-bloom's filters that active defragmentation moved, and that it left.
struct defrag_counts {
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
};
defrag_counts defrag_counts_of_valkey_filters() noexcept;

/// A registered type. Dumps that are arriving have the type of native filters.
type* filter_type(filter_family family, filter_engine engine) noexcept;

}  // namespace bloomset::server
