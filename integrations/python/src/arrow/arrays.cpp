// The keys of arrays that lend their memory (NumPy's, Python's own, memory views), by Python's
// buffer protocol, so that NumPy is needed neither to build nor to run.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "errors.hpp"
#include "keys.hpp"
#include "signals.hpp"

namespace py = pybind11;

namespace bloomset::python {
namespace {

struct give_back {
  void operator()(Py_buffer* buffer) const noexcept {
    PyBuffer_Release(buffer);
    delete buffer;  // NOLINT(cppcoreguidelines-owning-memory): a deleter
  }
};

/// An object's memory, lent for as long as this lives. It must not move: shape and strides may
/// point into the structure itself.
using lent_memory = std::unique_ptr<Py_buffer, give_back>;

/// The elements of one dimension.
struct elements {
  const char* first = nullptr;
  std::ptrdiff_t stride = 0;
  std::size_t count = 0;
  std::size_t size = 0;  ///< bytes of each

  const char* operator[](std::size_t i) const noexcept {
    return first + static_cast<std::ptrdiff_t>(i) * stride;
  }
};

// The elements lie one after the other where strides are null, as in arrays of ctypes; shape may be
// null too.
Py_ssize_t count_of(const Py_buffer& buffer) noexcept {
  if (buffer.shape != nullptr) return buffer.shape[0];
  return buffer.itemsize > 0 ? buffer.len / buffer.itemsize : 0;
}

elements elements_of(const Py_buffer& buffer) noexcept {
  return {static_cast<const char*>(buffer.buf),
          buffer.strides != nullptr ? buffer.strides[0] : buffer.itemsize,
          static_cast<std::size_t>(count_of(buffer)), static_cast<std::size_t>(buffer.itemsize)};
}

template <class T>
T swapped(T value) noexcept {
  T turned{};
  const auto* const from = reinterpret_cast<const char*>(&value);
  std::reverse_copy(from, from + sizeof(T), reinterpret_cast<char*>(&turned));
  return turned;
}

/// Integers of any width, sign extended to the eight bytes that stand for their value.
template <class T, bool Swap>
class integers final : public key_batch {
 public:
  explicit integers(lent_memory memory)
      : memory_(std::move(memory)), elements_(elements_of(*memory_)) {}

  std::size_t size() const noexcept override { return elements_.count; }

  void views(std::size_t first, std::span<std::string_view> into) override {
    words_.resize(std::max(words_.size(), into.size()));
    for (std::size_t i = 0; i < into.size(); ++i) {
      words_[i] = word(first + i);
      into[i] = {words_[i].data(), words_[i].size()};
    }
  }

  void hashes(const filter_hasher& hash, std::size_t first, std::span<hash64> into) override {
    std::array<key_word, 128> words;
    std::array<std::span<const std::byte>, words.size()> keys;
    for (std::size_t at = 0; at < into.size(); at += keys.size()) {
      const std::size_t n = std::min(keys.size(), into.size() - at);
      for (std::size_t i = 0; i < n; ++i) {
        words[i] = word(first + at + i);
        keys[i] = std::as_bytes(std::span(words[i]));
      }
      hash(std::span(keys).first(n), into.data() + at);
    }
  }

 private:
  key_word word(std::size_t i) const noexcept {
    T value{};
    std::memcpy(&value, elements_[i], sizeof value);
    if constexpr (Swap) value = swapped(value);
    // NOLINTNEXTLINE(bugprone-signed-char-misuse,cert-str34-c): the sign is meant to be extended
    return std::bit_cast<key_word>(static_cast<std::uint64_t>(value));
  }

  lent_memory memory_;
  elements elements_;
  std::vector<key_word> words_;
};

/// NumPy's `S`: bytes of a fixed width, filled up with zeros, which are not of the key.
class fixed_bytes final : public key_batch {
 public:
  explicit fixed_bytes(lent_memory memory)
      : memory_(std::move(memory)), elements_(elements_of(*memory_)) {}

  std::size_t size() const noexcept override { return elements_.count; }

  void views(std::size_t first, std::span<std::string_view> into) override {
    for (std::size_t i = 0; i < into.size(); ++i) {
      const std::string_view whole(elements_[first + i], elements_.size);
      into[i] = whole.substr(0, whole.find_last_not_of('\0') + 1);
    }
  }

 private:
  lent_memory memory_;
  elements elements_;
};

void append_utf8(std::string& to, char32_t c) {
  const auto low = [c](unsigned shift) {
    return static_cast<char>(0x80U | ((c >> shift) & 0x3FU));
  };
  if (c < 0x80) {
    to += static_cast<char>(c);
  } else if (c < 0x800) {
    (to += static_cast<char>(0xC0U | (c >> 6U))) += low(0);
  } else if (c < 0x10000) {
    ((to += static_cast<char>(0xE0U | (c >> 12U))) += low(6)) += low(0);
  } else {
    (((to += static_cast<char>(0xF0U | ((c >> 18U) & 7U))) += low(12)) += low(6)) += low(0);
  }
}

/// NumPy's `U`: code points of 32 bits, filled up with zeros. A key is their UTF-8, as str's.
class fixed_text final : public key_batch {
 public:
  fixed_text(lent_memory memory, bool swap)
      : memory_(std::move(memory)), elements_(elements_of(*memory_)), swap_(swap) {
    signal_breaks breaks;
    for (std::size_t i = 0; i < elements_.count; ++i) {
      for (std::size_t at = 0; at < elements_.size / 4; ++at) check(i, code_point(i, at));
      breaks(elements_.size / 4);
    }
  }

  std::size_t size() const noexcept override { return elements_.count; }

  void views(std::size_t first, std::span<std::string_view> into) override {
    text_.clear();
    ends_.clear();
    for (std::size_t i = first; i < first + into.size(); ++i) {
      std::size_t length = elements_.size / 4;
      while (length > 0 && code_point(i, length - 1) == 0) --length;
      for (std::size_t at = 0; at < length; ++at) append_utf8(text_, code_point(i, at));
      ends_.push_back(text_.size());
    }
    std::size_t begin = 0;
    for (std::size_t i = 0; i < into.size(); ++i) {
      into[i] = std::string_view(text_).substr(begin, ends_[i] - begin);
      begin = ends_[i];
    }
  }

 private:
  char32_t code_point(std::size_t i, std::size_t at) const noexcept {
    char32_t c = 0;
    std::memcpy(&c, elements_[i] + 4 * at, sizeof c);
    return swap_ ? swapped(c) : c;
  }

  static void check(std::size_t i, char32_t c) {
    if (c < 0xD800 || (c > 0xDFFF && c <= 0x10FFFF)) return;
    raise(PyExc_ValueError, fmt::format("element {} is not text: {:#x} is a lone surrogate or not "
                                        "a character; give the keys as bytes",
                                        i, static_cast<std::uint32_t>(c)));
  }

  lent_memory memory_;
  elements elements_;
  bool swap_;
  std::string text_;
  std::vector<std::size_t> ends_;
};

/// Arrow's layout. The offsets are a copy that was checked, so that they hold whatever other
/// threads write meanwhile.
class adjacent final : public key_batch {
 public:
  adjacent(lent_memory data, std::vector<std::uint64_t> offsets)
      : data_(std::move(data)), offsets_(std::move(offsets)) {}

  std::size_t size() const noexcept override { return offsets_.size() - 1; }

  void views(std::size_t first, std::span<std::string_view> into) override {
    const auto* const data = static_cast<const char*>(data_->buf);
    for (std::size_t i = 0; i < into.size(); ++i) {
      const std::uint64_t begin = offsets_[first + i];
      into[i] = {data + begin, offsets_[first + i + 1] - begin};
    }
  }

 private:
  lent_memory data_;
  std::vector<std::uint64_t> offsets_;
};

/// Python's code for an element.
struct element_format {
  char letter = 'B';    ///< 'T' for a structure or any other long code
  bool swap = false;    ///< whether it is in the other byte order
  Py_ssize_t size = 1;  ///< bytes that the code stands for; 0 if they are not known
};

/// The size of an integer's letter: `native` as the compiler has it, and fixed with a byte order.
Py_ssize_t size_of_letter(char letter, bool native) noexcept {
  switch (letter) {
    case 'b':
    case 'B':
    case 's':
      return 1;
    case 'h':
    case 'H':
      return 2;
    case 'i':
    case 'I':
    case 'w':
      return 4;
    case 'l':
    case 'L':
      return native ? static_cast<Py_ssize_t>(sizeof(long)) : 4;
    case 'q':
    case 'Q':
      return 8;
    case 'n':
    case 'N':
      return native ? static_cast<Py_ssize_t>(sizeof(std::size_t)) : 0;
    default:
      return 0;
  }
}

element_format format_of(const Py_buffer& buffer) noexcept {
  if (buffer.format == nullptr) return {};
  std::string_view text(buffer.format);
  element_format format;
  bool native = true;
  if (!text.empty() && std::string_view("@=<>!").find(text.front()) != std::string_view::npos) {
    format.swap = text.front() == '>' || text.front() == '!';
    native = text.front() == '@';
    text.remove_prefix(1);
  }
  // A width may stand before the letter of bytes and text.
  Py_ssize_t width = 1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), width);
  if (error == std::errc()) text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  format.letter = text.size() == 1 && error != std::errc::result_out_of_range ? text.front() : 'T';
  if (width != 1 && format.letter != 's' && format.letter != 'w') format.letter = 'T';
  const Py_ssize_t size = size_of_letter(format.letter, native);
  if (__builtin_mul_overflow(size, width, &format.size)) format.letter = 'T';
  return format;
}

template <class T>
std::unique_ptr<key_batch> integers_of(lent_memory memory, bool swap) {
  if (swap) return std::make_unique<integers<T, true>>(std::move(memory));
  return std::make_unique<integers<T, false>>(std::move(memory));
}

constexpr std::string_view signed_letters = "bhilqn";
constexpr std::string_view unsigned_letters = "BHILQN";

/// Null for other elements than integers.
std::unique_ptr<key_batch> integers_of(lent_memory& memory, element_format format) {
  const bool is_signed = signed_letters.find(format.letter) != std::string_view::npos;
  if (!is_signed && unsigned_letters.find(format.letter) == std::string_view::npos) return nullptr;
  const bool swap = format.swap;
  switch (memory->itemsize) {
    case 1:
      return is_signed ? integers_of<std::int8_t>(std::move(memory), false)
                       : integers_of<std::uint8_t>(std::move(memory), false);
    case 2:
      return is_signed ? integers_of<std::int16_t>(std::move(memory), swap)
                       : integers_of<std::uint16_t>(std::move(memory), swap);
    case 4:
      return is_signed ? integers_of<std::int32_t>(std::move(memory), swap)
                       : integers_of<std::uint32_t>(std::move(memory), swap);
    case 8:
      return is_signed ? integers_of<std::int64_t>(std::move(memory), swap)
                       : integers_of<std::uint64_t>(std::move(memory), swap);
    default:
      return nullptr;
  }
}

/// Whether it is an array of NumPy whose elements can be without a value. Its memory does not say
/// which.
bool is_masked(py::handle object) {
  PyObject* const loaded = PyDict_GetItemString(PyImport_GetModuleDict(), "numpy.ma");
  if (loaded == nullptr) return false;
  const py::object type = py::getattr(loaded, "MaskedArray", py::none());
  return !type.is_none() && py::isinstance(object, type);
}

/// Null for an object that does not lend its memory in this way.
lent_memory try_to_lend(py::handle object, int flags) {
  if (is_masked(object)) {
    raise(PyExc_TypeError,
          "a masked array has elements that are not keys; give array.compressed(), or array.data "
          "for all of them");
  }
  auto buffer = std::make_unique<Py_buffer>();
  if (PyObject_GetBuffer(object.ptr(), buffer.get(), flags) == 0)
    return lent_memory(buffer.release());
  if (PyErr_ExceptionMatches(PyExc_MemoryError) != 0) throw py::error_already_set();
  PyErr_Clear();
  return nullptr;
}

[[noreturn]] void raise_not_lent(py::handle object, std::string_view wanted) {
  raise(PyExc_TypeError,
        fmt::format("this {} cannot be read as keys; {}", Py_TYPE(object.ptr())->tp_name, wanted));
}

/// Raises for memory that cannot be read as one dimension of elements.
void check_layout(py::handle object, const Py_buffer& buffer) {
  const char* const type = Py_TYPE(object.ptr())->tp_name;
  if (buffer.ndim == 0) {
    raise(PyExc_TypeError,
          fmt::format("this {} is one element without a dimension, where many keys are expected; "
                      "give a list of keys, or use add() and `in`",
                      type));
  }
  if (buffer.ndim != 1) {
    raise(PyExc_TypeError,
          fmt::format("the array has {} dimensions, but keys have one; give array.ravel()",
                      buffer.ndim));
  }
  if (buffer.suboffsets != nullptr && buffer.suboffsets[0] >= 0) {
    raise(PyExc_TypeError,
          fmt::format("the elements of this {} are behind pointers; give a list of them", type));
  }
  const Py_ssize_t count = count_of(buffer);
  Py_ssize_t bytes = 0;
  if (count < 0 || buffer.itemsize < 0 || __builtin_mul_overflow(count, buffer.itemsize, &bytes) ||
      bytes != buffer.len || (bytes > 0 && buffer.buf == nullptr)) {
    raise(PyExc_ValueError,
          fmt::format("the memory of this {} has {} bytes, not {} elements of {} bytes as it says; "
                      "give a list of keys",
                      type, buffer.len, count, buffer.itemsize));
  }
}

/// A format as people know it: NumPy's name of the type.
std::string type_name(const char* format) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> names = {{
      {"e", "float16"},
      {"f", "float32"},
      {"d", "float64"},
      {"g", "longdouble"},
      {"Zf", "complex64"},
      {"Zd", "complex128"},
      {"?", "bool"},
  }};
  std::string_view letters = format == nullptr ? "B" : format;
  if (!letters.empty() &&
      std::string_view("@=<>!^").find(letters.front()) != std::string_view::npos)
    letters.remove_prefix(1);
  for (const auto& [letter, name] : names) {
    if (letters == letter) return std::string(name);
  }
  return fmt::format("elements of format '{}'", format == nullptr ? "B" : format);
}

/// NumPy's StringDType, which lends no memory. Its elements are str.
bool is_string_array(py::handle object) {
  const py::object type = py::getattr(object, "dtype", py::none());
  const py::object letter = py::getattr(type, "char", py::none());
  return py::isinstance<py::str>(letter) && py::cast<std::string>(letter) == "T";
}

std::uint64_t checked_offset(std::string_view word, std::size_t i, std::uint64_t least,
                             std::uint64_t most) {
  std::uint64_t offset = 0;
  std::memcpy(&offset, word.data(), sizeof offset);
  if (offset >= least && offset <= most) return offset;
  raise(PyExc_ValueError,
        fmt::format("offsets[{}] is {}: offsets must not fall and must stay within the data's {} "
                    "bytes",
                    i, static_cast<std::int64_t>(offset), most));
}

}  // namespace

std::unique_ptr<key_batch> batch_of_array(py::handle object) {
  PyObject* const o = object.ptr();
  if (PyObject_CheckBuffer(o) == 0 || PyBytes_Check(o) || PyByteArray_Check(o)) return nullptr;
  lent_memory memory = try_to_lend(object, PyBUF_RECORDS_RO);
  if (memory == nullptr) {
    if (is_string_array(object)) return nullptr;
    raise_not_lent(object, "an array has integers, bytes (S), text (U) or objects");
  }
  check_layout(object, *memory);
  const element_format format = format_of(*memory);
  if (format.letter == 'O') return nullptr;
  // Without an element there is no key either, whatever the type: NumPy's empty array has floats.
  if (count_of(*memory) == 0) return std::make_unique<fixed_bytes>(std::move(memory));
  if (format.size != 0 && format.size != memory->itemsize) {
    raise(PyExc_TypeError,
          fmt::format("elements of format '{}' have {} bytes, and those of this {} have {}; give a "
                      "list of keys",
                      memory->format == nullptr ? "B" : memory->format, format.size,
                      Py_TYPE(o)->tp_name, memory->itemsize));
  }
  if (format.letter == 's') return std::make_unique<fixed_bytes>(std::move(memory));
  if (format.letter == 'w') return std::make_unique<fixed_text>(std::move(memory), format.swap);
  if (auto batch = integers_of(memory, format)) return batch;
  raise(PyExc_TypeError, fmt::format("an array of {} has no keys; it takes integers, bytes (S), "
                                     "text (U) or objects",
                                     type_name(memory->format)));
}

std::unique_ptr<key_batch> batch_of_offsets(py::handle data, py::handle offsets) {
  lent_memory memory = try_to_lend(data, PyBUF_SIMPLE);
  if (memory == nullptr) raise_not_lent(data, "with offsets, keys are contiguous bytes");
  lent_memory numbers = try_to_lend(offsets, PyBUF_RECORDS_RO);
  if (numbers == nullptr) raise_not_lent(offsets, "offsets are an array of int32 or int64");
  check_layout(offsets, *numbers);
  const element_format format = format_of(*numbers);
  auto read = format.size == numbers->itemsize ? integers_of(numbers, format) : nullptr;
  if (read == nullptr || read->size() == 0) {
    raise(PyExc_ValueError,
          "offsets are an array of integers, one more than there are keys; give int32 or int64");
  }
  std::vector<std::uint64_t> checked(read->size());
  std::string_view word;
  signal_breaks breaks;
  for (std::size_t i = 0; i < checked.size(); ++i) {
    breaks();
    read->views(i, std::span(&word, 1));
    checked[i] = checked_offset(word, i, i == 0 ? 0 : checked[i - 1],
                                static_cast<std::uint64_t>(memory->len));
  }
  return std::make_unique<adjacent>(std::move(memory), std::move(checked));
}

}  // namespace bloomset::python
