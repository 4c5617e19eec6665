#pragma once

// The precompiled header of every source that is compiled for the page.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bloomery/any_filter.hpp>
#include <bloomery/detail/core/key_overloads.hpp>
#include <bloomery/plan/formulas.hpp>
#include <bloomery/plan/units.hpp>
#include <bloomery/probe.hpp>
#include <bloomery/storage.hpp>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
