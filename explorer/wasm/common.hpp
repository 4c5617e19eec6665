#pragma once

// The precompiled header of every source that is compiled for the page.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bloomset/any_filter.hpp>
#include <bloomset/detail/core/key_overloads.hpp>
#include <bloomset/plan/formulas.hpp>
#include <bloomset/plan/units.hpp>
#include <bloomset/probe.hpp>
#include <bloomset/storage.hpp>
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
