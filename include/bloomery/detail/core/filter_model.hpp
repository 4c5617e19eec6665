#pragma once

// The member of a type-erased filter.

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>

namespace bloomery::detail {

/// A pointer to the model of a type-erased filter. A filter that was moved from may only be
/// destroyed or assigned to (concepts.hpp). Any other call prints a sentence that says so and ends
/// the program, in every build.
template <class Model>
class filter_model {
 public:
  explicit filter_model(std::unique_ptr<Model> model) noexcept : model_(std::move(model)) {}

  Model& operator*() const noexcept {
    if (model_ == nullptr) [[unlikely]] {
      (void)std::fputs(
          "bloomery: a filter that was moved from may only be destroyed or assigned to\n", stderr);
      std::abort();
    }
    return *model_;
  }
  Model* operator->() const noexcept { return &**this; }

 private:
  std::unique_ptr<Model> model_;
};

}  // namespace bloomery::detail
