#pragma once

// The keys of Arrow data: arrays, chunked arrays, and columns of data frames that another package
// exports by Arrow's PyCapsule protocol. The keys are read where they are, without a copy.
// docs/reference/format.md, "Keys of typed columns", says which bytes a value of each type is.

#include <pybind11/pybind11.h>

#include <memory>

#include "arrow_c.hpp"
#include "keys.hpp"

namespace bloomset::python {

/// The batches of keys in one column: one for an array, and one per chunk of a chunked array or a
/// table.
class arrow_column {
 public:
  /// Null if the object exports no Arrow data. Raises TypeError for several columns.
  static std::unique_ptr<arrow_column> of(pybind11::handle object);

  /// Null at the end. A type whose values are no keys raises TypeError; offsets or indices out of
  /// range, ValueError; an error of the producer, RuntimeError.
  std::unique_ptr<key_batch> next();

 private:
  template <class Out>
  void call(int (*what)(ArrowArrayStream*, Out*), Out& out);

  arrow::held<ArrowArrayStream> stream_;  // none for one array with its schema
  arrow::held<ArrowSchema> schema_;
  arrow::held_array only_;
};

}  // namespace bloomset::python
