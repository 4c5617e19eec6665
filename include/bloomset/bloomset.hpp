#pragma once

/// Everything: include this, link bloomset::bloomset.

#include <bloomset/advise.hpp>
#include <bloomset/any_filter.hpp>
#include <bloomset/blocked_bloom.hpp>
#include <bloomset/bloom.hpp>
#include <bloomset/counting_bloom.hpp>
#include <bloomset/cuckoo.hpp>
#include <bloomset/exact.hpp>
#include <bloomset/expandable.hpp>
#include <bloomset/figures.hpp>
#include <bloomset/file.hpp>
#include <bloomset/file_index.hpp>
#include <bloomset/fuse.hpp>
#include <bloomset/partial.hpp>
#include <bloomset/partitioned_exact.hpp>
#include <bloomset/patch.hpp>
#include <bloomset/plan/formulas.hpp>
#include <bloomset/plan/units.hpp>
#include <bloomset/ribbon.hpp>
#include <bloomset/scalable_bloom.hpp>
#include <bloomset/vector_quotient.hpp>
