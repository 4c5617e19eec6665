#pragma once

namespace bloomset::detail {

/// The results of fill(), current_fpr() and estimate_size() of a filter, from one pass over it.
struct filter_figures {
  double fill;
  double current_fpr;
  double estimated_size;
};

}  // namespace bloomset::detail
