#include "equal_values.hpp"

#include <cstdint>
#include <cstring>
#include <optional>

namespace bloomset::dialects {
namespace {

/// A floating-point format of IEEE 754, and the bits of a number in it.
class float_bits {
 public:
  /// None if the form is not of floating-point numbers.
  static std::optional<float_bits> of(const value_form& form, std::span<const std::byte> value) {
    const unsigned fraction = form.how == encoding::float16   ? 10
                              : form.how == encoding::float32 ? 23
                              : form.how == encoding::float64 ? 52
                                                              : 0;
    float_bits made(value.size() * 8, fraction);
    if (fraction == 0 || value.size() > sizeof made.bits_) return std::nullopt;
    std::memcpy(&made.bits_, value.data(), value.size());
    return made;
  }

  bool is_zero() const noexcept { return magnitude() == 0; }
  bool is_nan() const noexcept { return magnitude() > infinity(); }
  bool is_negative() const noexcept { return (bits_ & sign_) != 0; }

  void become_first() noexcept {
    bits_ = is_nan() ? infinity() | std::uint64_t{1} << (fraction_ - 1) : 0;
  }
  void set_sign() noexcept { bits_ |= sign_; }
  void put(std::span<std::byte> value) const noexcept {
    std::memcpy(value.data(), &bits_, value.size());
  }

 private:
  float_bits(std::size_t width, unsigned fraction) noexcept
      : sign_(width == 0 ? 0 : std::uint64_t{1} << (width - 1)), fraction_(fraction) {}

  std::uint64_t magnitude() const noexcept { return bits_ & ~sign_; }
  std::uint64_t infinity() const noexcept { return sign_ - (std::uint64_t{1} << fraction_); }

  std::uint64_t bits_ = 0;
  std::uint64_t sign_;
  unsigned fraction_;  // bits of it
};

/// The byte of which a decimal may begin with any number.
std::byte sign_byte(std::span<const std::byte> decimal) noexcept {
  const bool negative = !decimal.empty() && (decimal.front() & std::byte{0x80}) != std::byte{0};
  return negative ? std::byte{0xff} : std::byte{0};
}

}  // namespace

bool has_equal_encodings(const value_form& form) noexcept {
  return form.how == encoding::float16 || form.how == encoding::float32 ||
         form.how == encoding::float64 || form.how == encoding::short_decimal;
}

bool is_nan(const value_form& form, std::span<const std::byte> value) noexcept {
  const auto number = float_bits::of(form, value);
  return number && number->is_nan();
}

bool first_encoding(const value_form& form, std::vector<std::byte>& value) {
  if (form.how == encoding::short_decimal) {
    const std::byte sign = sign_byte(value);
    std::size_t unneeded = 0;
    while (unneeded + 1 < value.size() && value[unneeded] == sign &&
           (value[unneeded + 1] & std::byte{0x80}) == (sign & std::byte{0x80})) {
      ++unneeded;
    }
    value.erase(value.begin(), value.begin() + static_cast<std::ptrdiff_t>(unneeded));
    return true;
  }
  auto number = float_bits::of(form, value);
  if (!number || !(number->is_zero() || number->is_nan())) return false;
  number->become_first();
  number->put(value);
  return true;
}

bool next_encoding(const value_form& form, std::vector<std::byte>& value) {
  if (form.how == encoding::short_decimal) {
    if (value.size() >= form.size) return false;
    value.insert(value.begin(), sign_byte(value));
    return true;
  }
  auto number = float_bits::of(form, value);
  if (!number || !(number->is_zero() || number->is_nan()) || number->is_negative()) return false;
  number->set_sign();
  number->put(value);
  return true;
}

}  // namespace bloomset::dialects
