#include "arrow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrow_readers.hpp"
#include "arrow_types.hpp"
#include "errors.hpp"
#include "signals.hpp"
#include "without_gil.hpp"

namespace py = pybind11;

namespace bloomset::python {
namespace arrow {
namespace {

/// The keys of an array's rows that are not null.
template <class Reader>
class arrow_keys final : public key_batch {
 public:
  template <class... Format>
  explicit arrow_keys(part from, Format... format)
      : part_(std::move(from)), reader_(part_, format...) {
    if (part_.array->null_count == 0) return;
    signal_breaks breaks;
    for (std::size_t row = 0; row < part_.rows; ++row) {
      breaks();
      if (!part_.is_null(row)) rows_.push_back(row);
    }
    all_rows_ = rows_.size() == part_.rows;
  }

  std::size_t size() const noexcept override { return all_rows_ ? part_.rows : rows_.size(); }
  std::size_t rows() const noexcept override { return part_.rows; }
  std::size_t row_of(std::size_t i) const noexcept override { return all_rows_ ? i : rows_[i]; }

  void views(std::size_t first, std::span<std::string_view> into) override {
    scratch_.resize(std::max(scratch_.size(), into.size()));
    for (std::size_t i = 0; i < into.size(); ++i) into[i] = reader_(row_of(first + i), scratch_[i]);
  }

 private:
  part part_;
  Reader reader_;
  bool all_rows_ = true;
  std::vector<std::size_t> rows_;
  std::vector<typename Reader::scratch> scratch_;
};

std::unique_ptr<key_batch> batch_of(const ArrowSchema& schema, part from);

/// The keys of a dictionary, chosen by the rows of an array of indices.
class dictionary_keys final : public key_batch {
 public:
  dictionary_keys(std::unique_ptr<key_batch> indices, std::unique_ptr<key_batch> dictionary)
      : rows_(indices->rows()), dictionary_(std::move(dictionary)) {
    std::vector<std::string_view> values(dictionary_->size());
    dictionary_->views(0, values);  // They last as long as no others are asked for.
    std::vector<std::string_view> by_row(dictionary_->rows());
    std::vector<bool> there(by_row.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      by_row[dictionary_->row_of(i)] = values[i];
      there[dictionary_->row_of(i)] = true;
    }
    std::string_view word;
    signal_breaks breaks;
    for (std::size_t i = 0; i < indices->size(); ++i) {
      breaks();
      indices->views(i, std::span(&word, 1));
      std::uint64_t index = 0;
      for (std::size_t at = word.size(); at > 0; --at)
        index = index << 8U | static_cast<std::uint8_t>(word[at - 1]);
      if (index >= by_row.size()) {
        raise(
            PyExc_ValueError,
            fmt::format("the Arrow array's index {} is not one of the {} values of its dictionary",
                        static_cast<std::int64_t>(index), by_row.size()));
      }
      if (!there[index]) continue;
      keys_.push_back(by_row[index]);
      of_.push_back(indices->row_of(i));
    }
  }

  std::size_t size() const noexcept override { return keys_.size(); }
  std::size_t rows() const noexcept override { return rows_; }
  std::size_t row_of(std::size_t i) const noexcept override { return of_[i]; }
  void views(std::size_t first, std::span<std::string_view> into) override {
    std::copy_n(keys_.begin() + static_cast<std::ptrdiff_t>(first), into.size(), into.begin());
  }

 private:
  std::size_t rows_;
  std::unique_ptr<key_batch> dictionary_;
  std::vector<std::string_view> keys_;
  std::vector<std::size_t> of_;
};

/// An array of which every row is null.
class no_keys final : public key_batch {
 public:
  explicit no_keys(std::size_t rows) : rows_(rows) {}
  std::size_t size() const noexcept override { return 0; }
  std::size_t rows() const noexcept override { return rows_; }
  void views(std::size_t, std::span<std::string_view>) override {}

 private:
  std::size_t rows_;
};

/// Reads keys with the reader of the type.
template <class Reader, class... Format>
std::unique_ptr<key_batch> read(part from, Format... format) {
  return std::make_unique<arrow_keys<Reader>>(std::move(from), format...);
}

std::unique_ptr<key_batch> batch_by_letter(char letter, part& from) {
  switch (letter) {
    case 'n':
      return std::make_unique<no_keys>(from.rows);
    case 'c':
      return read<integer_reader<std::int8_t>>(std::move(from));
    case 'C':
      return read<integer_reader<std::uint8_t>>(std::move(from));
    case 's':
      return read<integer_reader<std::int16_t>>(std::move(from));
    case 'S':
      return read<integer_reader<std::uint16_t>>(std::move(from));
    case 'i':
      return read<integer_reader<std::int32_t>>(std::move(from));
    case 'I':
      return read<integer_reader<std::uint32_t>>(std::move(from));
    case 'l':
      return read<integer_reader<std::int64_t>>(std::move(from));
    case 'L':
      return read<integer_reader<std::uint64_t>>(std::move(from));
    case 'z':
    case 'u':
      return read<bytes_reader<std::int32_t>>(std::move(from));
    case 'Z':
    case 'U':
      return read<bytes_reader<std::int64_t>>(std::move(from));
    default:
      return nullptr;
  }
}

/// The only column of a table.
std::unique_ptr<key_batch> batch_of_struct(const ArrowSchema& schema, part from) {
  if (schema.n_children != 1 || from.array->n_children != 1 || schema.children == nullptr ||
      from.array->children == nullptr) {
    raise(PyExc_TypeError,
          fmt::format("the Arrow data have {} columns, but keys are one column; choose it",
                      schema.n_children));
  }
  for (std::size_t row = 0; from.array->null_count != 0 && row < from.rows; ++row) {
    if (from.is_null(row))
      raise(PyExc_TypeError, "a structure that is null has no key; choose its field");
  }
  part column(from.owner, *from.array->children[0]);
  if (from.offset + from.rows > column.rows)
    raise(PyExc_ValueError, "the Arrow structure's field has fewer rows than the structure");
  column.offset += from.offset;
  column.rows = from.rows;
  return batch_of(*schema.children[0], std::move(column));
}

[[noreturn]] void raise_no_keys(const ArrowSchema& schema) {
  raise(
      PyExc_TypeError,
      fmt::format("an Arrow column of type {} has no keys; cast it to integers, text, bytes, dates "
                  "or decimals",
                  type_name(schema)));
}

std::unique_ptr<key_batch> batch_of(const ArrowSchema& schema, part from) {
  if (schema.format == nullptr) raise(PyExc_ValueError, "the Arrow data have no format");
  const std::string_view format(schema.format);
  if (!has_keys_of_its_storage(schema)) raise_no_keys(schema);
  if (schema.dictionary != nullptr && from.array->dictionary != nullptr) {
    part dictionary(from.owner, *from.array->dictionary);
    auto indices = format.size() == 1 ? batch_by_letter(format[0], from) : nullptr;
    if (indices == nullptr)
      raise(PyExc_ValueError, "the Arrow dictionary's indices are not integers");
    return std::make_unique<dictionary_keys>(std::move(indices),
                                             batch_of(*schema.dictionary, std::move(dictionary)));
  }
  if (format == "+s") return batch_of_struct(schema, std::move(from));
  if (format == "vz" || format == "vu") return read<view_reader>(std::move(from));
  if (format == "tdD") return read<integer_reader<std::int32_t>>(std::move(from));
  if (format == "tdm") return read<integer_reader<std::int64_t, 86'400'000>>(std::move(from));
  if (format.starts_with("w:")) return read<fixed_reader>(std::move(from), format);
  if (format.starts_with("d:")) return read<decimal_reader>(std::move(from), format);
  if (format.size() == 1) {
    if (auto batch = batch_by_letter(format[0], from)) return batch;
  }
  raise_no_keys(schema);
}

/// DuckDB exports UUIDs as text, unless it is told to keep their type, and HUGEINTs as decimals.
/// These are other keys.
void refuse_other_keys(py::handle relation, const ArrowSchema& schema) {
  if (std::string_view(Py_TYPE(relation.ptr())->tp_name).find("DuckDBPyRelation") ==
          std::string_view::npos ||
      schema.n_children != 1 || is_uuid(*schema.children[0])) {
    return;
  }
  const py::list types(relation.attr("types"));
  const auto type = types.size() == 1 ? py::cast<std::string>(py::str(types[0])) : std::string();
  if (type == "UUID") {
    raise(PyExc_TypeError,
          "DuckDB gives UUIDs as text, which is another key; run SET arrow_lossless_conversion = "
          "true, or cast them to VARCHAR if their text is the key");
  }
  const bool is_decimal = std::string_view(schema.children[0]->format).starts_with("d:");
  if (is_decimal && (type == "HUGEINT" || type == "UHUGEINT")) {
    raise(PyExc_TypeError,
          fmt::format("DuckDB gives a {} as a decimal, which is another key than an integer; cast "
                      "it to BIGINT, or to VARCHAR if its text is the key",
                      type));
  }
}

/// The name of a column's type in its library; empty if that does not say. A data frame of one
/// column has a list of types, and none if only its index has keys.
std::string type_in_library(py::handle column) {
  py::object type;
  if (py::hasattr(column, "dtype")) {
    type = column.attr("dtype");
  } else if (py::hasattr(column, "dtypes") && py::hasattr(column.attr("dtypes"), "__len__")) {
    const py::list types(column.attr("dtypes"));
    if (types.size() != 1) return {};
    type = types[0];
  } else {
    return {};
  }
  // A categorical has the type of its categories.
  if (py::hasattr(type, "categories")) type = type.attr("categories").attr("dtype");
  return py::cast<std::string>(py::str(type));
}

/// pandas gives a column of Decimal objects the scale of its longest one, so that the key of a
/// number would depend on the others. Polars gives the addresses of objects.
void refuse_objects(py::handle column, const ArrowSchema& schema) {
  const ArrowSchema* values = schema.n_children == 1 ? schema.children[0] : &schema;
  if (values->dictionary != nullptr) values = values->dictionary;
  const std::string_view format = values->format;
  if (format.starts_with("d:") && type_in_library(column) == "object") {
    raise(PyExc_TypeError,
          "a Decimal object is not a key, because equal numbers can have different digits; convert "
          "the column to text, or to a decimal type of Arrow");
  }
  if (format == "w:8" && type_in_library(column) == "Object") {
    raise(PyExc_TypeError,
          "a column of Python objects has no keys in Arrow; give it as a list, or convert it to "
          "text or integers");
  }
}

/// Calls a method of the object without arguments, and returns its result.
py::object called(py::handle object, const char* method) {
  const py::object function = object.attr(method);
  auto result = py::reinterpret_steal<py::object>(
      while_python_runs([&] { return PyObject_CallNoArgs(function.ptr()); }));
  if (!result) throw py::error_already_set();
  return result;
}

}  // namespace
}  // namespace arrow

/// Calls the producer, which may wait for threads that need the GIL.
template <class Out>
void arrow_column::call(int (*what)(ArrowArrayStream*, Out*), Out& out) {
  const int error = [&] {
    const without_gil released;
    return what(&stream_.value, &out);
  }();
  if (error == 0) return;
  const char* const text = stream_.value.get_last_error(&stream_.value);
  raise(PyExc_RuntimeError, fmt::format("the producer of the Arrow data failed: {}",
                                        text == nullptr ? "no reason given" : text));
}

std::unique_ptr<arrow_column> arrow_column::of(py::handle object) {
  auto column = std::make_unique<arrow_column>();
  if (py::hasattr(object, "__arrow_c_stream__")) {
    const py::object capsule = arrow::called(object, "__arrow_c_stream__");
    column->stream_.take_from(capsule, "arrow_array_stream");
    column->call(column->stream_.value.get_schema, column->schema_.value);
    arrow::refuse_other_keys(object, column->schema_.value);
    arrow::refuse_objects(object, column->schema_.value);
  } else if (py::hasattr(object, "__arrow_c_array__")) {
    const auto pair = py::cast<py::tuple>(arrow::called(object, "__arrow_c_array__"));
    column->only_ = std::make_shared<arrow::held<ArrowArray>>();
    column->schema_.take_from(pair[0], "arrow_schema");
    column->only_->take_from(pair[1], "arrow_array");
  } else {
    return nullptr;
  }
  return column;
}

std::unique_ptr<key_batch> arrow_column::next() {
  arrow::held_array array = std::exchange(only_, nullptr);
  if (array == nullptr && stream_.value.release != nullptr) {
    array = std::make_shared<arrow::held<ArrowArray>>();
    call(stream_.value.get_next, array->value);
  }
  if (array == nullptr || array->value.release == nullptr) return nullptr;
  return arrow::batch_of(schema_.value, arrow::part(array, array->value));
}

}  // namespace bloomset::python
