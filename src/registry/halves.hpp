#pragma once

// Filters with 128-bit hashes: two filters of one kind with 64-bit hashes, of which both must
// answer yes (docs/maintain/decisions/base/128-bit-hashes.md).

#include <bloomset/any_filter.hpp>
#include <cstddef>
#include <functional>

#pragma GCC visibility push(hidden)  // a shared build does not show it

namespace bloomset::detail {

/// The sentence for a request of hash bits that the kind cannot have. It names the kinds that can
/// have 128.
failure other_hash_bits(std::string_view kind, unsigned hash_bits);

/// The plan of two halves. `plan` plans a filter with 64-bit hashes, as for the other functions.
result<plan_report> plan_halves(const plan_request& request,
                                result<plan_report> (*plan)(const plan_request&));

/// The filter of two halves, which `make` gives for a request and the number 0 or 1.
result<any_filter> make_halves(
    const plan_request& request,
    const std::function<result<any_filter>(const plan_request&, unsigned)>& make);

/// Opens both halves of a stored filter. Their parameters must begin with the same `equal` bytes.
result<any_filter> open_halves(const stored_filter& stored, access how,
                               result<any_filter> (*open)(const stored_filter&, access),
                               std::size_t equal);

/// kind_info::trace_open of a stored filter of two halves.
result<std::vector<byte_interval>> trace_open_halves(
    const stored_filter& stored,
    result<std::vector<byte_interval>> (*trace_open)(const stored_filter&), std::size_t equal);

}  // namespace bloomset::detail

#pragma GCC visibility pop
