// The files of revoked certificates that Firefox (CRLite) and upki read: a clubcard, or the index
// of a folder of them.

#include <array>
#include <bloomset/plan/numeric.hpp>
#include <filesystem>

#include "clubcard.hpp"
#include "clubcard_index.hpp"
#include "options.hpp"
#include "rows.hpp"
#include "static_model.hpp"

namespace bloomset::dialects {
namespace {
namespace clubcard_format {

constexpr std::string_view coverage_form =
    "LOG@FIRST-LAST,..., a log's identifier in hexadecimal and milliseconds since 1970";

constexpr std::array options = {
    kind_option{"version", "3 or 4 (default 4)", "the version of the file to write"},
    kind_option{"coverage", coverage_form,
                "for building: the times of which all certificates of each log are known (default "
                "none: other programs then find no certificate covered)"}};

/// One clubcard, with the bytes that it refers to.
struct opened_card {
  clubcard card;
  mapped_storage bytes;
};

result<opened_card> open_card(mapped_storage bytes) {
  auto card = read_clubcard(bytes.bytes());
  if (!card) return fail(std::move(card.error()));
  return opened_card{std::move(*card), std::move(bytes)};
}

/// What both files have in common: keys are certificates, which may be unknown to the filter.
class revocation_model : public static_model {
 public:
  explicit revocation_model(mapped_storage bytes) : bytes_(std::move(bytes)) {}

  const dialect& format() const noexcept override { return row_of(row::clubcard); }

  result<void> askable() const override { return {}; }
  bool takes_any_key() const noexcept override { return false; }
  // A line of another form would else be taken for a certificate that is not revoked.
  bool stores_key_type() const noexcept override { return true; }
  result<void> accepts(std::string_view key) const override {
    if (fits(key)) return {};
    constexpr std::size_t shown = 60;
    return fail(errc::invalid_argument,
                fmt::format("'{}{}' is not {}, as the filter's keys are", key.substr(0, shown),
                            key.size() > shown ? "..." : "", key_form_name()));
  }

  bool fits(std::string_view key) const override {
    std::vector<std::byte> scratch;
    return read(key, scratch).has_value();
  }

  void may_contain(std::span<const std::string_view> keys,
                   std::span<bool> answers) const noexcept override {
    sha256 hasher;
    std::vector<std::byte> scratch;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const auto which = read(keys[i], scratch);
      answers[i] = which && knows(*which) && is_revoked(*which, hasher);
    }
  }
  bool covers_all_keys() const noexcept override { return false; }
  void covers(std::span<const std::string_view> keys,
              std::span<bool> covered) const noexcept override {
    std::vector<std::byte> scratch;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const auto which = read(keys[i], scratch);
      covered[i] = which && knows(*which);
    }
  }

  result<foreign_image> image() const override { return foreign_image{{}, bytes_.bytes(), {}}; }

 private:
  /// The certificate, if it is in the form that the filter needs.
  virtual std::optional<certificate> read(std::string_view key,
                                          std::vector<std::byte>& scratch) const {
    return read_certificate(key, scratch);
  }
  virtual bool knows(const certificate& which) const = 0;
  /// Precondition: knows(which).
  virtual bool is_revoked(const certificate& which, sha256& hasher) const = 0;

  mapped_storage bytes_;
};

void add_card(const clubcard& card, foreign_info& to) {
  to.bits += 64 * card.exact.words();
  for (const clubcard_column& each : card.columns) to.bits += 64 * each.words();
}

class clubcard_model final : public revocation_model {
 public:
  explicit clubcard_model(opened_card card)
      : revocation_model(std::move(card.bytes)), card_(std::move(card.card)) {}

  foreign_info info() const override {
    foreign_info info;
    info.format = format().name;
    info.variant = fmt::format("version {}", card_.version);
    info.kind = "clubcard";
    add_card(card_, info);
    std::uint64_t inverted = 0;
    std::uint64_t exceptions = 0;
    double yes = 0;
    for (const clubcard_issuer& each : card_.issuers) {
      inverted += each.inverted;
      exceptions += each.exceptions.size();
      // Each column's product with another certificate is 0 half the time.
      const double passes =
          each.approx_rows == 0 ? 0 : 1 / numeric::power(2, std::uint32_t{each.rank} + 1);
      yes += each.inverted ? 1 - passes : passes;
    }
    if (!card_.issuers.empty()) info.current_fpr = yes / static_cast<double>(card_.issuers.size());
    info.extras = {{"issuers", std::uint64_t{card_.issuers.size()}},
                   {"inverted_issuers", inverted},
                   {"logs", std::uint64_t{card_.coverage.size()}},
                   {"columns", std::uint64_t{card_.columns.size()}},
                   {"exact_bytes", 8 * card_.exact.words()},
                   {"exceptions", exceptions}};
    return info;
  }

  std::string_view key_form_name() const noexcept override {
    return "a certificate ISSUER:SERIAL or ISSUER:SERIAL:LOG@TIME,... in hexadecimal";
  }

  result<foreign_filter> convert(const dialect& to, const option_list& given) const override;

 private:
  bool knows(const certificate& which) const override {
    return card_.find(which.issuer()) != nullptr &&
           (which.logs.empty() || card_.covers(which.logs));
  }
  bool is_revoked(const certificate& which, sha256& hasher) const override {
    return card_.is_revoked(which, hasher);
  }

  clubcard card_;
};

result<foreign_filter> over(mapped_storage bytes) {
  auto card = open_card(std::move(bytes));
  if (!card) return fail(std::move(card.error()));
  return foreign_filter(std::make_unique<clubcard_model>(std::move(*card)));
}

/// The filter in a version's file.
result<foreign_filter> written(clubcard card, const option_list& given) {
  const auto version = number_option(given, "version", 3, 4, 4);
  if (!version) return fail(version.error());
  card.version = static_cast<std::uint8_t>(*version);
  auto bytes = write_clubcard(card);
  if (!bytes) return fail(std::move(bytes.error()));
  return over(keep(std::move(*bytes)));
}

result<foreign_filter> clubcard_model::convert(const dialect& to, const option_list& given) const {
  if (&to != &format()) return other_format(format(), to);
  if (find_option(given, "coverage")) {
    return fail(errc::invalid_argument, "the coverage is stored in the filter; leave it out");
  }
  return written(card_, given);
}

class index_model final : public revocation_model {
 public:
  index_model(clubcard_index index, std::vector<opened_card> cards, mapped_storage bytes)
      : revocation_model(std::move(bytes)), index_(std::move(index)), cards_(std::move(cards)) {}

  foreign_info info() const override {
    foreign_info info;
    info.format = format().name;
    info.variant = fmt::format("index, upkiidx{}", index_.version);
    info.kind = "clubcard";
    for (const opened_card& each : cards_) add_card(each.card, info);
    std::uint64_t intervals = 0;
    for (const auto& each : index_.logs) intervals += each.entries.size();
    info.extras = {{"filters", std::uint64_t{cards_.size()}},
                   {"logs", std::uint64_t{index_.logs.size()}},
                   {"intervals", intervals}};
    return info;
  }

  std::string_view key_form_name() const noexcept override {
    return "a certificate ISSUER:SERIAL:LOG@TIME,... in hexadecimal";
  }
  result<foreign_filter> convert(const dialect& to, const option_list&) const override {
    if (&to != &format()) return other_format(format(), to);
    return fail(errc::unsupported,
                "this is the index of several filters; convert each filter that it names");
  }

 private:
  /// Without its logs no filter is known to cover a certificate.
  std::optional<certificate> read(std::string_view key,
                                  std::vector<std::byte>& scratch) const override {
    auto which = read_certificate(key, scratch);
    return which && which->logs.empty() ? std::nullopt : std::move(which);
  }
  bool knows(const certificate& which) const override {
    const auto files = index_.files_for(which.logs);
    return std::any_of(files.begin(), files.end(), [&](std::size_t file) {
      return cards_[file].card.find(which.issuer()) != nullptr;
    });
  }
  /// Several filters can cover a certificate, and revoked in one is revoked.
  bool is_revoked(const certificate& which, sha256& hasher) const override {
    const auto files = index_.files_for(which.logs);
    return std::any_of(files.begin(), files.end(), [&](std::size_t file) {
      return cards_[file].card.is_revoked(which, hasher);
    });
  }

  clubcard_index index_;
  std::vector<opened_card> cards_;
};

result<foreign_filter> open_index(const mapped_storage& bytes, const open_request& request) {
  auto index = read_clubcard_index(bytes.bytes());
  if (!index) return fail(std::move(index.error()));
  const auto folder = std::filesystem::path(request.name).parent_path();
  std::vector<opened_card> cards;
  for (const std::string& name : index->files) {
    const auto path = folder / name;
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) {
      return fail(errc::not_found,
                  fmt::format("it names the filter {}, which is not in its folder; get the index "
                              "and its filters anew",
                              name));
    }
    auto mapped = map_bytes(path);
    if (!mapped) return fail(std::move(mapped.error()));
    auto card = open_card(std::move(*mapped));
    if (!card) {
      return fail(card.error().code, fmt::format("its filter {}: {}", name, card.error().message));
    }
    cards.push_back(std::move(*card));
  }
  return foreign_filter(std::make_unique<index_model>(std::move(*index), std::move(cards), bytes));
}

recognition looks_like(std::span<const std::byte> bytes) noexcept {
  if (is_clubcard_index(bytes)) {
    return read_clubcard_index(bytes) ? recognition::certain : recognition::no;
  }
  return read_clubcard(bytes) ? recognition::certain : recognition::no;
}

result<foreign_filter> open_filter(const mapped_storage& given, const open_request& request) {
  if (!request.options.empty()) {
    return fail(errc::invalid_argument, fmt::format("the {} is stored in the filter; leave it out",
                                                    request.options.front().first));
  }
  const mapped_storage bytes = bytes_for(given, request.how);
  if (is_clubcard_index(bytes.bytes())) return open_index(bytes, request);
  return over(bytes);
}

/// The keys' bytes, one after the other, and where each ends.
struct certificate_list {
  result<void> add_all(std::span<const std::string_view> lines) {
    std::vector<std::byte> scratch;
    for (const std::string_view line : lines) {
      const auto read = read_certificate(line, scratch);
      if (!read) {
        return fail(errc::invalid_argument,
                    fmt::format("'{}' is not a certificate ISSUER:SERIAL in hexadecimal",
                                line.substr(0, 100)));
      }
      bytes.append(reinterpret_cast<const char*>(read->bytes.data()), read->bytes.size());
      ends.push_back(bytes.size());
    }
    return {};
  }
  std::vector<std::string_view> views() const {
    std::vector<std::string_view> all;
    all.reserve(ends.size());
    std::size_t begin = 0;
    for (const std::size_t end : ends) {
      all.push_back(std::string_view(bytes).substr(begin, end - begin));
      begin = end;
    }
    return all;
  }

  std::string bytes;
  std::vector<std::size_t> ends;
};

result<foreign_filter> build_filter(const plan_request& request, const static_keys& keys) {
  if (const auto ok = check_static(request, "clubcard"); !ok) return fail(ok.error());
  std::vector<std::byte> logs;
  std::vector<log_interval> coverage;
  if (const auto text = find_option(request.options, "coverage")) {
    auto read = read_intervals(*text, logs);
    if (!read) {
      return fail(errc::invalid_argument, fmt::format("--with coverage: give {}", coverage_form));
    }
    coverage = std::move(*read);
  }
  certificate_list members;
  certificate_list universe;
  if (auto read = members.add_all(keys.members); !read) return fail(std::move(read.error()));
  if (auto read = universe.add_all(keys.universe); !read) return fail(std::move(read.error()));
  const auto sets = split(members.views(), universe.views());
  auto built = build_clubcard(sets.members, sets.others);
  if (!built) return fail(std::move(built.error()));
  built->card.coverage = std::move(coverage);
  return written(std::move(built->card), request.options);
}

}  // namespace clubcard_format
}  // namespace

dialect clubcard_dialect() noexcept {
  return {"clubcard",
          "revoked certificates as Firefox (CRLite) and upki read them: a clubcard, or the index "
          "of several",
          "built once, from members and the universe; exact for keys of the universe only",
          clubcard_format::options,
          clubcard_format::looks_like,
          clubcard_format::open_filter,
          nullptr,
          nullptr,
          clubcard_format::build_filter};
}

}  // namespace bloomset::dialects
