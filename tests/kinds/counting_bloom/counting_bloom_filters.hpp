#pragma once

#include <array>
#include <bloomset/counting_bloom.hpp>

#include "tests/support/function_family.hpp"

namespace {

constexpr std::array widths = {4U, 8U, 16U};

/// A filter over the caller's functions of a number.
template <class... Functions>
auto filter_of(const bloomset::counting_bloom_spec& spec, Functions... functions) {
  using family = bloomset::test::function_family<Functions...>;
  return bloomset::basic_counting_bloom<family>(spec, family(functions...));
}

}  // namespace
