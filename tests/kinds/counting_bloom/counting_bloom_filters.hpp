#pragma once

#include <array>
#include <bloomery/counting_bloom.hpp>

namespace {

constexpr std::array widths = {4U, 8U, 16U};

/// A filter over the caller's functions of a number.
template <class... Functions>
auto filter_of(const bloomery::counting_bloom_spec& spec, Functions... functions) {
  using family = bloomery::function_family<Functions...>;
  return bloomery::basic_counting_bloom<family>(spec, family(functions...));
}

}  // namespace
