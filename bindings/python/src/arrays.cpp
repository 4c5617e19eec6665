// The keys of arrays that lend their memory (NumPy's, Python's own, memory views), by Python's
// buffer protocol, so that NumPy is needed neither to build nor to run.

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

#include "errors.hpp"
#include "keys.hpp"

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

elements elements_of(const Py_buffer& buffer) noexcept {
  return {static_cast<const char*>(buffer.buf), buffer.strides[0],
          static_cast<std::size_t>(buffer.shape[0]), static_cast<std::size_t>(buffer.itemsize)};
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
    for (std::size_t i = 0; i < elements_.count; ++i) {
      for (std::size_t at = 0; at < elements_.size / 4; ++at) check(i, code_point(i, at));
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
    raise(PyExc_ValueError,
          fmt::format("element {} is no text: {:#x} is a lone surrogate or no character; give the "
                      "keys as bytes",
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

/// Python's code for an element: its letter, and whether it is in the other byte order.
struct element_format {
  char letter = 'B';
  bool swap = false;
};

element_format format_of(const Py_buffer& buffer) noexcept {
  if (buffer.format == nullptr) return {};
  std::string_view text(buffer.format);
  element_format format;
  if (!text.empty() && std::string_view("@=<>!").find(text.front()) != std::string_view::npos) {
    format.swap = text.front() == '>' || text.front() == '!';
    text.remove_prefix(1);
  }
  // A width may stand before the letter, which comes last; what is longer is a structure.
  while (text.size() > 1 && text.front() >= '0' && text.front() <= '9') text.remove_prefix(1);
  format.letter = text.size() == 1 ? text.front() : 'T';
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

lent_memory lend(py::handle object, int flags) {
  if (is_masked(object)) {
    raise(
        PyExc_TypeError,
        "a masked array has elements that are no keys; give array.compressed(), or array.data for "
        "all of them");
  }
  auto buffer = std::make_unique<Py_buffer>();
  if (PyObject_GetBuffer(object.ptr(), buffer.get(), flags) == 0)
    return lent_memory(buffer.release());
  PyErr_Clear();
  raise(PyExc_TypeError,
        fmt::format("this {} does not lend its elements as keys; an array has integers, bytes (S), "
                    "text (U) or objects",
                    Py_TYPE(object.ptr())->tp_name));
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
  lent_memory memory = lend(object, PyBUF_RECORDS_RO);
  const element_format format = format_of(*memory);
  if (memory->ndim != 1) {
    raise(PyExc_TypeError,
          fmt::format("the array has {} dimensions, where keys have one; give array.ravel()",
                      memory->ndim));
  }
  if (format.letter == 'O') return nullptr;
  // Without an element there is no key either, whatever the type: NumPy's empty array has floats.
  const bool empty = memory->shape[0] == 0;
  if (format.letter == 's' || empty) return std::make_unique<fixed_bytes>(std::move(memory));
  if (format.letter == 'w') return std::make_unique<fixed_text>(std::move(memory), format.swap);
  if (auto batch = integers_of(memory, format)) return batch;
  raise(
      PyExc_TypeError,
      fmt::format("an array of elements of format '{}' has no keys; it takes integers, bytes (S), "
                  "text (U) or objects",
                  memory->format == nullptr ? "B" : memory->format));
}

std::unique_ptr<key_batch> batch_of_offsets(py::handle data, py::handle offsets) {
  lent_memory memory = lend(data, PyBUF_SIMPLE);
  lent_memory numbers = lend(offsets, PyBUF_RECORDS_RO);
  const element_format format = format_of(*numbers);
  const bool one_dimension = numbers->ndim == 1;
  auto read = one_dimension ? integers_of(numbers, format) : nullptr;
  if (read == nullptr || read->size() == 0) {
    raise(PyExc_ValueError,
          "offsets are an array of integers, one more than there are keys; give int32 or int64");
  }
  std::vector<std::uint64_t> checked(read->size());
  std::string_view word;
  for (std::size_t i = 0; i < checked.size(); ++i) {
    read->views(i, std::span(&word, 1));
    checked[i] = checked_offset(word, i, i == 0 ? 0 : checked[i - 1],
                                static_cast<std::uint64_t>(memory->len));
  }
  return std::make_unique<adjacent>(std::move(memory), std::move(checked));
}

}  // namespace bloomset::python
