#pragma once

// From Python's objects to keys. A str is its UTF-8 bytes, bytes are themselves, an int is the
// eight little-endian bytes of its value, and a UUID its 16 bytes, as everywhere in Bloomset.

#include <pybind11/pybind11.h>

#include <array>
#include <bloomset/hash.hpp>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace bloomset::python {

/// The bytes that stand for an int: those of its 64 bits, since the library is for little-endian
/// machines only.
using key_word = std::array<char, 8>;

/// The key that one object is. Refers to the object, to `word` for an int, or to `kept`, which it
/// then sets. What is no key raises TypeError; an int beyond 64 bits, ValueError.
std::string_view key_of(pybind11::handle object, key_word& word, pybind11::object& kept);

/// Many keys, in a form that can be read without the interpreter. To be made and destroyed with it.
class key_batch {
 public:
  key_batch() = default;
  key_batch(const key_batch&) = delete;
  key_batch& operator=(const key_batch&) = delete;
  virtual ~key_batch() = default;

  virtual std::size_t size() const noexcept = 0;
  /// The rows that the keys are of: more than keys, where some rows are null.
  virtual std::size_t rows() const noexcept { return size(); }
  /// The row of a key, which rises with i.
  virtual std::size_t row_of(std::size_t i) const noexcept { return i; }
  /// into[i] is key first + i, until the next call. Precondition: they are keys of the batch.
  virtual void views(std::size_t first, std::span<std::string_view> into) = 0;
  /// The same, hashed.
  virtual void hashes(const filter_hasher& hash, std::size_t first, std::span<hash64> into);
};

/// The keys of an array: one dimension of integers, of bytes or of text of a fixed width. Null
/// where the object is no such thing and is to be iterated over (an array of objects too). What
/// lends its memory but has no keys in it (floating-point numbers, several dimensions) raises
/// TypeError.
std::unique_ptr<key_batch> batch_of_array(pybind11::handle object);

/// Keys that lie one after the other in `data`: key i from offsets[i] up to offsets[i + 1], as
/// Arrow's arrays of strings have them. Offsets that fall or leave the data raise ValueError.
std::unique_ptr<key_batch> batch_of_offsets(pybind11::handle data, pybind11::handle offsets);

/// The keys of anything that can be iterated over, some thousands at a time. It holds on to the
/// objects, so that their bytes stay.
class iterated_keys final : public key_batch {
 public:
  /// Raises TypeError for what cannot be iterated over, and for str and bytes, which are one key.
  explicit iterated_keys(pybind11::handle iterable);

  /// Goes on to the next keys; false if there are none.
  bool next();

  std::size_t size() const noexcept override { return keys_.size(); }
  void views(std::size_t first, std::span<std::string_view> into) override;

 private:
  pybind11::object iterator_;
  std::vector<pybind11::object> objects_;
  std::vector<key_word> words_;
  std::vector<std::string_view> keys_;
};

}  // namespace bloomset::python
