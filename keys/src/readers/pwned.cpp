// The downloads of Pwned Passwords (haveibeenpwned.com): lines HASH:COUNT, in one file or in one
// file per range. The name of a range's file has the five digits that its lines leave out.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "rows.hpp"
#include "text.hpp"

namespace bloomset::keys {
namespace {

constexpr std::size_t prefix_digits = 5;
constexpr std::size_t sha1_digits = 40;
constexpr std::size_t ntlm_digits = 32;

/// Whether a file's name is that of a range: 00000.txt, also packed.
bool names_range(std::string_view name) noexcept {
  if (name.size() < prefix_digits) return false;
  if (!std::ranges::all_of(name.substr(0, prefix_digits), is_hex_digit)) return false;
  std::string_view ending = name.substr(prefix_digits);
  if (ending.starts_with(".txt")) ending.remove_prefix(4);
  return ending.empty() || ending == ".gz" || ending == ".zst" || ending == ".xz" ||
         ending == ".bz2";
}

class pwned final : public reader {
 public:
  /// The count of a line that is asked may be missing.
  pwned(std::uint64_t min_count, purpose why) noexcept
      : min_count_(min_count), needs_count_(why == purpose::insert && min_count > 1) {}

  void begin_file(std::string_view name) override {
    name = name.substr(name.rfind('/') + 1);  // npos + 1 is the whole name
    ranged_ = names_range(name);
    if (ranged_) std::copy_n(name.begin(), prefix_digits, digits_.begin());
  }

  std::string shown(std::string_view, std::size_t, std::string_view key) const override {
    return to_hex(key);
  }

 private:
  result<void> read_record(std::string_view record, key_list& keys) override {
    record = without_mark(record);
    if (record.ends_with('\r')) record.remove_suffix(1);
    if (record.empty()) return {};
    const std::string_view hash = record.substr(0, record.find(':'));
    const auto enough = often_enough(record.substr(hash.size()));
    if (!enough) return fail(enough.error());
    std::string_view digits = hash;
    if (hash.size() + prefix_digits == sha1_digits || hash.size() + prefix_digits == ntlm_digits) {
      if (!ranged_) {
        return fail(errc::invalid_argument,
                    fmt::format("{} is the end of a hash, but the file's name is not its first {} "
                                "digits, as in 00000.txt",
                                in_quotes(hash), prefix_digits));
      }
      std::copy(hash.begin(), hash.end(), digits_.begin() + prefix_digits);
      digits = {digits_.data(), prefix_digits + hash.size()};
    }
    if (digits.size() != sha1_digits && digits.size() != ntlm_digits) return no_hash(hash);
    // The digits are checked even if the count is too low, so that a damaged line is always found.
    const std::size_t before = keys.size();
    if (!from_hex(digits, keys.make(digits.size() / 2))) return no_hash(hash);
    if (!*enough) keys.truncate(before);
    return {};
  }

  /// Whether the count reaches the minimum. `tail` is the line after the hash: nothing, or a colon
  /// and a number.
  result<bool> often_enough(std::string_view tail) const {
    if (tail.empty()) {
      if (!needs_count_) return true;
      return fail(errc::invalid_argument,
                  "the line has no count, but a minimum count was given; leave that out, or give "
                  "lines HASH:COUNT");
    }
    const auto count = whole_number(tail.substr(1));
    if (count) return *count >= min_count_;
    return fail(errc::invalid_argument,
                fmt::format("{} is not a count; write HASH:COUNT", in_quotes(tail.substr(1))));
  }

  static failure no_hash(std::string_view hash) {
    return fail(errc::invalid_argument,
                fmt::format("{} is not a hash of {} (SHA-1) or {} (NTLM) hexadecimal digits",
                            in_quotes(hash), sha1_digits, ntlm_digits));
  }

  std::uint64_t min_count_;
  bool needs_count_;
  bool ranged_ = false;
  std::array<char, sha1_digits> digits_{};  // a whole hash: the file's digits, then the line's
};

result<std::unique_ptr<reader>> make_pwned(std::string_view argument, purpose why) {
  // Lines with count 0 pad a range file, so that its size does not reveal the range.
  std::uint64_t min_count = 1;
  if (!argument.empty()) {
    const auto number =
        argument.starts_with("min=") ? whole_number(argument.substr(4)) : std::nullopt;
    if (!number || *number == 0) {
      return fail(errc::invalid_argument,
                  "the argument is not a minimum count; write for example pwned:min=10");
    }
    min_count = *number;
  }
  return std::make_unique<pwned>(min_count, why);
}

}  // namespace

reader_kind pwned_reader() noexcept {
  return {.name = "pwned",
          .argument = "[:min=N]",
          .summary =
              "Pwned Passwords' lines HASH:COUNT, of SHA-1 or NTLM, in one file or in a folder of "
              "range files; the key is the hash's bytes; lines with a count of 0 or below N are "
              "skipped",
          .make = make_pwned,
          .gives_bytes = byte_keys::always,
          .in_folder = names_range,
          .whole_folder = std::uint64_t{1} << (4 * prefix_digits)};
}

}  // namespace bloomset::keys
