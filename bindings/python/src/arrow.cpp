#include "arrow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "errors.hpp"

namespace py = pybind11;

// Arrow's C data and stream interfaces (https://arrow.apache.org/docs/format/CDataInterface.html).
// The layouts of these structures are fixed.
extern "C" {
struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  std::int64_t length;
  std::int64_t null_count;
  std::int64_t offset;
  std::int64_t n_buffers;
  std::int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};

struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema*);
  int (*get_next)(ArrowArrayStream*, ArrowArray*);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};
}

namespace bloomery::python {
namespace arrow {

/// One of the structures, released at the end.
template <class T>
struct held {
  T value{};

  held() = default;
  held(const held&) = delete;
  held& operator=(const held&) = delete;
  ~held() {
    if (value.release != nullptr) value.release(&value);
  }

  /// Takes it out of a capsule, which then has none.
  void take_from(py::handle capsule, const char* name) {
    void* const given = PyCapsule_GetPointer(capsule.ptr(), name);
    if (given == nullptr) throw py::error_already_set();
    value = std::exchange(*static_cast<T*>(given), T{});
  }
};

using held_array = std::shared_ptr<held<ArrowArray>>;

/// The rows from `offset` on of one array, which `owner` keeps.
struct part {
  held_array owner;
  const ArrowArray* array;
  std::size_t offset;
  std::size_t rows;

  part(held_array owner_, const ArrowArray& array_)
      : owner(std::move(owner_)),
        array(&array_),
        offset(static_cast<std::size_t>(array_.offset)),
        rows(static_cast<std::size_t>(array_.length)) {
    if (array_.offset < 0 || array_.length < 0 || array_.offset > INT64_MAX - array_.length)
      raise(PyExc_ValueError, "the Arrow array's length or offset is out of range");
  }

  const void* buffer(std::int64_t i) const {
    if (i >= array->n_buffers || array->buffers[i] == nullptr)
      raise(PyExc_ValueError, "the Arrow array lacks a buffer that its type has");
    return array->buffers[i];
  }

  /// The values in buffer 1 from the first row on, of `size` bytes each. Null without rows.
  const char* values(std::size_t size) const {
    return rows == 0 ? nullptr : static_cast<const char*>(buffer(1)) + offset * size;
  }
  template <class T>
  const T* values() const {
    return reinterpret_cast<const T*>(values(sizeof(T)));
  }

  bool is_null(std::size_t row) const noexcept {
    const auto* const valid =
        array->n_buffers > 0 ? static_cast<const std::uint8_t*>(array->buffers[0]) : nullptr;
    const std::size_t at = offset + row;
    return valid != nullptr && ((valid[at / 8] >> (at % 8)) & 1U) == 0;
  }
};

// Readers: the key in a row. A reader may use `scratch` for the bytes.
// --------------------------------

template <class T>
T load(const T* from) noexcept {
  T value{};
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// Integers; and dates, as days since 1970-01-01. Divides by `unit`.
template <class T, std::int64_t Unit = 1>
struct integer_reader {
  using scratch = key_word;
  const T* values;

  explicit integer_reader(const part& from) : values(from.values<T>()) {}

  std::string_view operator()(std::size_t row, scratch& word) const noexcept {
    // NOLINTNEXTLINE(bugprone-signed-char-misuse,cert-str34-c): the sign is meant to be extended
    auto wide = static_cast<std::uint64_t>(load(values + row));
    if constexpr (Unit != 1) {
      const auto value = static_cast<std::int64_t>(wide);
      wide = static_cast<std::uint64_t>(value / Unit - std::int64_t{value % Unit < 0});
    }
    for (std::size_t i = 0; i < word.size(); ++i) word[i] = static_cast<char>(wide >> (8 * i));
    return {word.data(), word.size()};
  }
};

struct no_scratch {};

/// Text and bytes behind one another.
template <class Offset>
struct bytes_reader {
  using scratch = no_scratch;
  const Offset* offsets;
  const char* data;

  explicit bytes_reader(const part& from) : offsets(from.values<Offset>()), data() {
    Offset last = 0;
    for (std::size_t row = 0; from.rows != 0 && row <= from.rows; ++row) {
      if (offsets[row] < last)
        raise(PyExc_ValueError, fmt::format("the Arrow array's offset {} falls", row));
      last = offsets[row];
    }
    if (last != 0) data = static_cast<const char*>(from.buffer(2));
  }

  std::string_view operator()(std::size_t row, scratch&) const noexcept {
    return {data + offsets[row], static_cast<std::size_t>(offsets[row + 1] - offsets[row])};
  }
};

/// Text and bytes as views: at most 12 bytes in the view itself, more in one of several buffers.
struct view_reader {
  using scratch = no_scratch;
  struct view {
    std::int32_t size;
    char prefix[4];
    std::int32_t buffer;
    std::int32_t offset;
  };
  static_assert(sizeof(view) == 16);
  const view* views;
  const void** buffers;

  explicit view_reader(const part& from)
      : views(from.values<view>()), buffers(from.array->buffers + 2) {
    // The last buffer has the sizes of those between.
    const std::int64_t between = from.array->n_buffers - 3;
    const auto* const sizes =
        between > 0 ? static_cast<const std::int64_t*>(from.buffer(between + 2)) : nullptr;
    for (std::size_t row = 0; row < from.rows; ++row) {
      if (from.is_null(row)) continue;
      const view v = load(views + row);
      const bool is_good =
          v.size >= 0 && (v.size <= 12 || (v.buffer >= 0 && v.buffer < between && v.offset >= 0 &&
                                           std::int64_t{v.offset} + v.size <= sizes[v.buffer]));
      if (!is_good)
        raise(PyExc_ValueError, fmt::format("the Arrow array's view {} leaves its buffer", row));
    }
  }

  std::string_view operator()(std::size_t row, scratch&) const noexcept {
    const view v = load(views + row);
    const auto size = static_cast<std::size_t>(v.size);
    if (size <= 12) return {reinterpret_cast<const char*>(views + row) + 4, size};
    return {static_cast<const char*>(buffers[v.buffer]) + v.offset, size};
  }
};

/// The number in a format such as "w:16".
std::int64_t number_in(std::string_view text, std::string_view format) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || (end != text.data() + text.size() && *end != ','))
    raise(PyExc_ValueError, fmt::format("'{}' is no format of Arrow's", format));
  return number;
}

/// Bytes of one width.
struct fixed_reader {
  using scratch = no_scratch;
  std::size_t width;
  const char* data;

  fixed_reader(const part& from, std::string_view format) : width(), data() {
    const std::int64_t given = number_in(format.substr(2), format);
    if (given < 0) raise(PyExc_ValueError, fmt::format("'{}' is no format of Arrow's", format));
    width = static_cast<std::size_t>(given);
    if (width != 0) data = from.values(width);
  }

  std::string_view operator()(std::size_t row, scratch&) const noexcept {
    return {data + row * width, width};
  }
};

/// Decimals as text, with all digits of their scale.
struct decimal_reader {
  // Of 256 bits: 78 digits, a sign, a point, and as many zeros as the scale may ask for.
  using scratch = std::array<char, 192>;
  std::size_t width = 16;
  std::int64_t scale = 0;
  const char* data;

  /// The format is "d:precision,scale" or "d:precision,scale,bits".
  decimal_reader(const part& from, std::string_view format) : data() {
    const std::size_t first = std::min(format.find(','), format.size() - 1);
    scale = number_in(format.substr(first + 1), format);
    const std::size_t second = format.find(',', first + 1);
    if (second != std::string_view::npos) {
      const std::int64_t bits = number_in(format.substr(second + 1), format);
      width = static_cast<std::size_t>(bits) / 8;
      if (bits != 32 && bits != 64 && bits != 128 && bits != 256) scale = 1000;
    }
    if (scale < -76 || scale > 76)
      raise(PyExc_TypeError,
            fmt::format("decimals of the format '{}' are no keys; cast them to text", format));
    data = from.values(width);
  }

  std::string_view operator()(std::size_t row, scratch& text) const noexcept {
    // The magnitude, lowest limb first.
    std::array<std::uint32_t, 8> limbs{};
    const std::size_t count = width / 4;
    std::memcpy(limbs.data(), data + row * width, width);
    const bool negative = (limbs[count - 1] >> 31U) != 0;
    std::uint64_t carry = 1;
    for (std::size_t i = 0; negative && i < count; ++i) {
      carry += static_cast<std::uint32_t>(~limbs[i]);
      limbs[i] = static_cast<std::uint32_t>(carry);
      carry >>= 32U;
    }
    char* const end = text.data() + text.size();
    char* at = end;
    bool is_zero = std::all_of(limbs.begin(), limbs.end(), [](auto limb) { return limb == 0; });
    for (std::int64_t i = scale; i < 0 && !is_zero; ++i) *--at = '0';
    std::int64_t digits = 0;
    do {
      std::uint64_t rest = 0;
      for (std::size_t i = count; i > 0; --i) {
        const std::uint64_t value = (rest << 32U) | limbs[i - 1];
        limbs[i - 1] = static_cast<std::uint32_t>(value / 10);
        rest = value % 10;
      }
      *--at = static_cast<char>('0' + rest);
      if (++digits == scale) *--at = '.';
      is_zero = std::all_of(limbs.begin(), limbs.end(), [](auto limb) { return limb == 0; });
    } while (!is_zero || digits <= scale);
    if (negative) *--at = '-';
    return {at, static_cast<std::size_t>(end - at)};
  }
};

/// The keys of an array's rows that are not null.
template <class Reader>
class arrow_keys final : public key_batch {
 public:
  template <class... Format>
  explicit arrow_keys(part from, Format... format)
      : part_(std::move(from)), reader_(part_, format...) {
    if (part_.array->null_count == 0) return;
    for (std::size_t row = 0; row < part_.rows; ++row) {
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

  void hashes(const filter_hasher& hash, std::size_t first, std::span<hash64> into) override {
    std::array<typename Reader::scratch, 128> scratch;
    std::array<std::span<const std::byte>, scratch.size()> keys;
    for (std::size_t at = 0; at < into.size(); at += keys.size()) {
      const std::size_t n = std::min(keys.size(), into.size() - at);
      for (std::size_t i = 0; i < n; ++i) {
        keys[i] = std::as_bytes(std::span(reader_(row_of(first + at + i), scratch[i])));
      }
      hash(std::span(keys).first(n), into.data() + at);
    }
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
    for (std::size_t i = 0; i < indices->size(); ++i) {
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
  if (schema.n_children != 1 || from.array->n_children != 1) {
    raise(PyExc_TypeError,
          fmt::format("the Arrow data have {} columns, where keys are one; choose a column",
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

std::unique_ptr<key_batch> batch_of(const ArrowSchema& schema, part from) {
  const std::string_view format(schema.format);
  if (schema.dictionary != nullptr && from.array->dictionary != nullptr) {
    part dictionary(from.owner, *from.array->dictionary);
    auto indices = format.size() == 1 ? batch_by_letter(format[0], from) : nullptr;
    if (indices == nullptr)
      raise(PyExc_ValueError, "the Arrow dictionary's indices are no integers");
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
  raise(
      PyExc_TypeError,
      fmt::format("Arrow data of the format '{}' have no keys; cast them to integers, text, bytes, "
                  "dates or decimals",
                  format));
}

}  // namespace arrow

/// A stream, or one array with its schema.
struct arrow_stream {
  arrow::held<ArrowArrayStream> stream;
  arrow::held<ArrowSchema> schema;
  arrow::held_array only;

  [[noreturn]] void raise_error() {
    const char* const text = stream.value.get_last_error(&stream.value);
    raise(PyExc_RuntimeError, fmt::format("the producer of the Arrow data failed: {}",
                                          text == nullptr ? "no reason given" : text));
  }
};

arrow_column::arrow_column(std::unique_ptr<arrow_stream> stream) : stream_(std::move(stream)) {}
arrow_column::arrow_column(arrow_column&&) noexcept = default;
arrow_column& arrow_column::operator=(arrow_column&&) noexcept = default;
arrow_column::~arrow_column() = default;

std::optional<arrow_column> arrow_column::of(py::handle object) {
  auto all = std::make_unique<arrow_stream>();
  if (py::hasattr(object, "__arrow_c_stream__")) {
    const py::object capsule = object.attr("__arrow_c_stream__")();
    all->stream.take_from(capsule, "arrow_array_stream");
    if (all->stream.value.get_schema(&all->stream.value, &all->schema.value) != 0)
      all->raise_error();
  } else if (py::hasattr(object, "__arrow_c_array__")) {
    const auto pair = py::cast<py::tuple>(object.attr("__arrow_c_array__")());
    all->only = std::make_shared<arrow::held<ArrowArray>>();
    all->schema.take_from(pair[0], "arrow_schema");
    all->only->take_from(pair[1], "arrow_array");
  } else {
    return std::nullopt;
  }
  return arrow_column(std::move(all));
}

std::unique_ptr<key_batch> arrow_column::next() {
  arrow::held_array array = std::exchange(stream_->only, nullptr);
  if (array == nullptr && stream_->stream.value.release != nullptr) {
    array = std::make_shared<arrow::held<ArrowArray>>();
    ArrowArrayStream& stream = stream_->stream.value;
    if (stream.get_next(&stream, &array->value) != 0) stream_->raise_error();
  }
  if (array == nullptr || array->value.release == nullptr) return nullptr;
  return arrow::batch_of(stream_->schema.value, arrow::part(array, array->value));
}

}  // namespace bloomery::python
