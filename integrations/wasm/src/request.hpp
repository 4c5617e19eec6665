#pragma once

// Requests as the module receives them.

#include <bloomset/advise.hpp>
#include <bloomset/any_filter.hpp>
#include <bloomset/result.hpp>
#include <cstddef>

#include "texts.hpp"

namespace bloomset::wasm {

/// A request by names and values, with the names of the Python binding.
struct request {
  plan_request plan;
  needs wanted;
  const kind_info* kind = nullptr;  ///< null if none was named
};

/// The request that names and values, one after the other, describe.
result<request> read_request(const texts& fields, const std::byte* key);

/// The same for a filter that is made, which has a kind and a rate.
result<request> read_filter_request(const texts& fields, const std::byte* key);

}  // namespace bloomset::wasm
