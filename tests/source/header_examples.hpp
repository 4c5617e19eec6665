#pragma once

// Declarations that the examples in headers assume: the program around them (header_examples.py).

// The example in C is compiled as C++, whose compilers warn of members without initialiser.
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

#if __has_include(<leveldb/options.h>)
#include <leveldb/options.h>
#endif

#include <bloomset/bloomset.hpp>
#include <cstdio>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

[[maybe_unused]] const std::vector<std::string> lines = {"one", "two", "one"};

template <class... Anything>
void use(const Anything&...) {}
template <class... Anything>
void ask(const Anything&...) {}
[[maybe_unused]] void print(std::string_view) {}
[[maybe_unused]] void report(const bloomset::failure&) {}
[[maybe_unused]] void ask_the_database() {}
[[maybe_unused]] void ask_for_a_larger_one() {}

}  // namespace
