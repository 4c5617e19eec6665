#pragma once

// Thrift's compact protocol, as far as Parquet's footers need it. A cursor reads the wanted fields,
// skips the others, and never reads beyond its bytes.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace bloomset::dialects::thrift {

enum class type : std::uint8_t {
  stop = 0,
  yes = 1,  // a boolean's value is its type
  no = 2,
  i8 = 3,
  i16 = 4,
  i32 = 5,
  i64 = 6,
  real = 7,
  binary = 8,
  list = 9,
  set = 10,
  map = 11,
  structure = 12,
};

struct field {
  type kind = type::stop;
  std::int32_t id = 0;
};

struct list_head {
  type kind = type::stop;
  std::uint64_t size = 0;
};

/// Reads forward. After the first malformed value good() is false, every number is zero and the
/// cursor does not move, so that loops end.
class cursor {
 public:
  explicit cursor(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}

  bool good() const noexcept { return good_; }
  std::size_t at() const noexcept { return at_; }

  std::uint64_t varint() noexcept;
  std::int64_t number() noexcept;  ///< zigzag
  std::string_view binary() noexcept;
  std::span<const std::byte> take(std::uint64_t size) noexcept;  ///< the next `size` bytes
  /// The size of a list with elements of that type, of at least `min_bytes` each. Another type is
  /// malformed, and so is a size that the bytes cannot have.
  std::uint64_t list_of(type kind, std::uint64_t min_bytes = 1) noexcept;
  /// The next field of a structure whose last field was `previous`; `stop` at its end.
  field next_field(std::int32_t previous) noexcept;

  /// Skips a value. Structures in structures are followed to a depth of 32.
  void skip(type kind) noexcept { skip(kind, 32); }

  /// Calls `use(field)` for each field of a structure. It reads the value, or returns false to skip
  /// it.
  template <class Use>
  void structure(Use&& use) noexcept(noexcept(use(field()))) {
    std::int32_t last = 0;
    for (;;) {
      const field next = next_field(last);
      if (next.kind == type::stop || !good_) return;
      last = next.id;
      if (!use(next)) skip(next.kind);
    }
  }

 private:
  std::uint8_t byte() noexcept;
  list_head list() noexcept;
  void skip(type kind, unsigned depth) noexcept;

  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  bool good_ = true;
};

void put_varint(std::vector<std::byte>& to, std::uint64_t value);
void put_number(std::vector<std::byte>& to, std::int64_t value);  ///< zigzag
/// Begins a field of a structure whose last field was `previous`. Its value must follow.
void put_field(std::vector<std::byte>& to, std::int32_t previous, const field& next);

}  // namespace bloomset::dialects::thrift
