#pragma once

/// Everything: include this, link bloomery::bloomery.

#include <bloomery/advise.hpp>
#include <bloomery/any_filter.hpp>
#include <bloomery/blocked_bloom.hpp>
#include <bloomery/bloom.hpp>
#include <bloomery/counting_bloom.hpp>
#include <bloomery/cuckoo.hpp>
#include <bloomery/expandable.hpp>
#include <bloomery/file.hpp>
#include <bloomery/fuse.hpp>
#include <bloomery/plan/formulas.hpp>
#include <bloomery/plan/units.hpp>
#include <bloomery/ribbon.hpp>
#include <bloomery/scalable_bloom.hpp>
#include <bloomery/vector_quotient.hpp>
