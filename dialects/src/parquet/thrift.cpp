#include "thrift.hpp"

namespace bloomset::dialects::thrift {

std::uint8_t cursor::byte() noexcept {
  if (!good_ || at_ == bytes_.size()) {
    good_ = false;
    return 0;
  }
  return std::to_integer<std::uint8_t>(bytes_[at_++]);
}

std::uint64_t cursor::varint() noexcept {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const std::uint8_t next = byte();
    value |= std::uint64_t{next & 0x7fU} << shift;
    if ((next & 0x80U) == 0) return good_ ? value : 0;
  }
  good_ = false;
  return 0;
}

std::int64_t cursor::number() noexcept {
  const std::uint64_t word = varint();
  return static_cast<std::int64_t>((word >> 1) ^ (~(word & 1) + 1));
}

std::span<const std::byte> cursor::take(std::uint64_t size) noexcept {
  if (!good_ || size > bytes_.size() - at_) {
    good_ = false;
    return {};
  }
  const auto taken = bytes_.subspan(at_, size);
  at_ += size;
  return taken;
}

std::string_view cursor::binary() noexcept {
  const auto taken = take(varint());
  return {reinterpret_cast<const char*>(taken.data()), taken.size()};
}

list_head cursor::list() noexcept {
  const std::uint8_t head = byte();
  const std::uint64_t size = head >> 4 == 15 ? varint() : head >> 4;
  // An element has at least one byte, so a list cannot have more elements than there are bytes.
  if (!good_ || size > bytes_.size() - at_) {
    good_ = false;
    return {};
  }
  return {static_cast<type>(head & 15U), size};
}

std::uint64_t cursor::list_of(type kind, std::uint64_t min_bytes) noexcept {
  const list_head head = list();
  if (head.size != 0 && head.kind != kind) good_ = false;
  if (good_ && head.size > (bytes_.size() - at_) / min_bytes) good_ = false;
  return good_ ? head.size : 0;
}

field cursor::next_field(std::int32_t previous) noexcept {
  const std::uint8_t head = byte();
  const auto kind = static_cast<type>(head & 15U);
  if (!good_ || kind == type::stop) return {};
  // A long form has the number itself, a short one the difference to the number before.
  const auto id = head >> 4 == 0 ? static_cast<std::int32_t>(static_cast<std::int16_t>(number()))
                                 : previous + (head >> 4);
  if (!good_) return {};
  return {kind, id};
}

void cursor::skip(type kind, unsigned depth) noexcept {
  if (depth == 0) good_ = false;
  if (!good_) return;
  switch (kind) {
    case type::yes:
    case type::no:
      return;
    case type::i8:
      (void)byte();
      return;
    case type::i16:
    case type::i32:
    case type::i64:
      (void)varint();
      return;
    case type::real:
      for (int i = 0; i < 8; ++i) (void)byte();
      return;
    case type::binary:
      (void)binary();
      return;
    case type::list:
    case type::set: {
      const list_head head = list();
      for (std::uint64_t i = 0; i < head.size && good_; ++i) {
        // In a list a boolean has a byte of its own.
        if (head.kind == type::yes || head.kind == type::no) {
          (void)byte();
        } else {
          skip(head.kind, depth - 1);
        }
      }
      return;
    }
    case type::structure:
      structure([&](const field& each) {
        skip(each.kind, depth - 1);
        return true;
      });
      return;
    case type::stop:
    case type::map:  // Parquet has none
      break;
  }
  good_ = false;
}

void put_varint(std::vector<std::byte>& to, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) to.push_back(static_cast<std::byte>(value | 0x80));
  to.push_back(static_cast<std::byte>(value));
}

void put_number(std::vector<std::byte>& to, std::int64_t value) {
  const auto word = static_cast<std::uint64_t>(value);
  put_varint(to, value < 0 ? ~(word << 1) : word << 1);
}

void put_field(std::vector<std::byte>& to, std::int32_t previous, const field& next) {
  const std::int32_t step = next.id - previous;
  const auto kind = static_cast<std::int32_t>(next.kind);
  const bool is_short = step > 0 && step <= 15;
  to.push_back(static_cast<std::byte>(is_short ? step << 4 | kind : kind));
  if (!is_short) put_number(to, next.id);
}

}  // namespace bloomset::dialects::thrift
