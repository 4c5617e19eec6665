#pragma once

// The keys of Arrow data: arrays, chunked arrays, and columns of data frames that another package
// exports by Arrow's PyCapsule protocol. The keys are read where they are, without a copy.
// docs/format.md, "Keys of typed columns", says which bytes a value of each type is.

#include <pybind11/pybind11.h>

#include <memory>
#include <optional>

#include "keys.hpp"

namespace bloomery::python {

struct arrow_stream;

/// The batches of keys in one column: one for an array, and one per chunk of a chunked array or a
/// table.
class arrow_column {
 public:
  /// Empty if the object exports no Arrow data. Raises TypeError for several columns.
  static std::optional<arrow_column> of(pybind11::handle object);

  arrow_column(arrow_column&&) noexcept;
  arrow_column& operator=(arrow_column&&) noexcept;
  ~arrow_column();

  /// Null at the end. A type whose values are no keys raises TypeError; offsets or indices out of
  /// range, ValueError; an error of the producer, RuntimeError.
  std::unique_ptr<key_batch> next();

 private:
  explicit arrow_column(std::unique_ptr<arrow_stream> stream);

  std::unique_ptr<arrow_stream> stream_;
};

}  // namespace bloomery::python
