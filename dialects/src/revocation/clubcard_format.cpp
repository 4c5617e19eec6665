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
    "LOG@FIRST-LAST,..., LOG in hexadecimal, FIRST and LAST in milliseconds since 1970";

constexpr std::array options = {
    kind_option{"version", "3 or 4 (default 4)", "the version of the file to write"},
    kind_option{"coverage", coverage_form,
                "for building: for each log of Certificate Transparency, the period whose "
                "certificates are all known; other programs answer only for certificates of these "
                "periods (default: none)"}};

/// One clubcard, with the bytes that it refers to and the name of its file.
struct opened_card {
  clubcard card;
  mapped_storage bytes;
  std::string name;
};

result<opened_card> open_card(mapped_storage bytes, std::string name) {
  auto card = read_clubcard(bytes.bytes());
  if (!card) return fail(std::move(card.error()));
  return opened_card{std::move(*card), std::move(bytes), std::move(name)};
}

/// One clubcard, or those that an index names. Keys are certificates, which may be unknown to all.
class clubcard_model final : public static_model {
 public:
  /// The bytes are those of the index, or else of the only card. The folder is that of all files.
  clubcard_model(std::vector<opened_card> cards, std::optional<clubcard_index> index,
                 mapped_storage bytes, access how, std::filesystem::path folder)
      : cards_(std::move(cards)),
        index_(std::move(index)),
        bytes_(std::move(bytes)),
        how_(how),
        folder_(std::move(folder)) {}

  const dialect& format() const noexcept override { return row_of(row::clubcard); }
  foreign_info info() const override;

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
  std::string_view key_form_name() const noexcept override {
    return index_ ? "a certificate ISSUER:SERIAL:LOG@TIME,... in hexadecimal"
                  : "a certificate ISSUER:SERIAL or ISSUER:SERIAL:LOG@TIME,... in hexadecimal";
  }
  bool fits(std::string_view key) const override {
    std::vector<std::byte> scratch;
    return read(key, scratch).has_value();
  }

  void may_contain(std::span<const std::string_view> keys,
                   std::span<bool> answers) const noexcept override {
    sha256 hasher;
    // Several filters can cover a certificate, and revoked in one is revoked.
    any_card(keys, answers, [&](const clubcard& card, const certificate& which) {
      return card.is_revoked(which, hasher);
    });
  }
  bool covers_all_keys() const noexcept override { return false; }
  void covers(std::span<const std::string_view> keys,
              std::span<bool> covered) const noexcept override {
    any_card(keys, covered, [](const clubcard& card, const certificate& which) {
      return card.find(which.issuer()) != nullptr;
    });
  }

  result<void> merge(const foreign_filter::model& other) override;
  result<foreign_filter> convert(const dialect& to, const option_list& given) const override;
  result<foreign_image> image() const override { return foreign_image{{}, bytes_.bytes(), {}}; }

 private:
  /// The certificate. Without its logs an index knows of no filter that covers it.
  std::optional<certificate> read(std::string_view key, std::vector<std::byte>& scratch) const {
    auto which = read_certificate(key, scratch);
    return index_ && which && which->logs.empty() ? std::nullopt : std::move(which);
  }

  /// Per key, whether `holds(card, certificate)` is true of a card that covers the certificate.
  template <class Holds>
  void any_card(std::span<const std::string_view> keys, std::span<bool> answers,
                Holds&& holds) const {
    std::vector<std::byte> scratch;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      answers[i] = false;
      const auto which = read(keys[i], scratch);
      if (!which) continue;
      if (!index_) {
        const clubcard& card = cards_.front().card;
        answers[i] = (which->logs.empty() || card.covers(which->logs)) && holds(card, *which);
        continue;
      }
      const auto files = index_->files_for(which->logs);
      answers[i] = std::any_of(files.begin(), files.end(),
                               [&](std::size_t file) { return holds(cards_[file].card, *which); });
    }
  }

  /// The intervals of all cards, by the cards' numbers.
  std::vector<covered_interval> intervals() const {
    return index_ ? intervals_of(*index_) : intervals_of(cards_.front().card);
  }

  std::vector<opened_card> cards_;
  std::optional<clubcard_index> index_;
  mapped_storage bytes_;
  access how_;
  std::filesystem::path folder_;
};

foreign_info clubcard_model::info() const {
  foreign_info info;
  info.format = format().name;
  info.variant = index_ ? fmt::format("index, upkiidx{}", index_->version)
                        : fmt::format("version {}", cards_.front().card.version);
  info.kind = "clubcard";
  info.can_merge = true;
  for (const opened_card& each : cards_) {
    info.bits += 64 * each.card.exact.words();
    for (const clubcard_column& column : each.card.columns) info.bits += 64 * column.words();
  }
  if (index_) {
    info.extras = {{"filters", std::uint64_t{cards_.size()}},
                   {"logs", std::uint64_t{index_->logs.size()}},
                   {"intervals", std::uint64_t{intervals().size()}}};
    return info;
  }
  const clubcard& card = cards_.front().card;
  std::uint64_t inverted = 0;
  std::uint64_t exceptions = 0;
  double yes = 0;
  for (const clubcard_issuer& each : card.issuers) {
    inverted += each.inverted;
    exceptions += each.exceptions.size();
    // Each column's product with another certificate is 0 half the time.
    const double passes =
        each.approx_rows == 0 ? 0 : 1 / numeric::power(2, std::uint32_t{each.rank} + 1);
    yes += each.inverted ? 1 - passes : passes;
  }
  if (!card.issuers.empty()) info.current_fpr = yes / static_cast<double>(card.issuers.size());
  info.extras = {{"issuers", std::uint64_t{card.issuers.size()}},
                 {"inverted_issuers", inverted},
                 {"logs", std::uint64_t{card.coverage.size()}},
                 {"columns", std::uint64_t{card.columns.size()}},
                 {"exact_bytes", 8 * card.exact.words()},
                 {"exceptions", exceptions}};
  return info;
}

/// Makes this the index of both, which names the cards by their files' names.
result<void> clubcard_model::merge(const foreign_filter::model& other) {
  if (how_ == access::read_only) return read_only();
  const auto& theirs = dynamic_cast<const clubcard_model&>(other);
  std::error_code error;
  const auto whole = [&](const std::filesystem::path& folder) {
    return std::filesystem::absolute(folder / ".", error).lexically_normal();
  };
  if (whole(folder_) != whole(theirs.folder_) || error) {
    return fail(errc::incompatible,
                "an index names the filters of its own folder, and they are in two; move them "
                "into one");
  }
  std::vector<opened_card> cards = cards_;
  std::vector<covered_interval> all = intervals();
  if (all.empty() || theirs.intervals().empty()) {
    return fail(errc::invalid_argument,
                "an index names the filter of a log and a time, and one of these covers none; "
                "build it with 'coverage'");
  }
  std::vector<std::size_t> numbers;  // of their cards, here
  std::vector<bool> is_new;
  for (const opened_card& each : theirs.cards_) {
    const auto at = std::find_if(cards.begin(), cards.end(),
                                 [&](const auto& ours) { return ours.name == each.name; });
    numbers.push_back(static_cast<std::size_t>(at - cards.begin()));
    is_new.push_back(at == cards.end());
    if (at != cards.end()) continue;
    auto copy = open_card(keep({each.bytes.bytes().begin(), each.bytes.bytes().end()}), each.name);
    if (!copy) return fail(std::move(copy.error()));
    cards.push_back(std::move(*copy));
  }
  for (covered_interval each : theirs.intervals()) {
    if (!is_new[each.file]) continue;
    each.file = numbers[each.file];
    all.push_back(each);
  }
  std::vector<std::string> names;
  names.reserve(cards.size());
  for (const opened_card& each : cards) names.push_back(each.name);
  auto bytes = write_clubcard_index(names, std::move(all));
  if (!bytes) return fail(std::move(bytes.error()));
  mapped_storage stored = keep(std::move(*bytes));
  auto index = read_clubcard_index(stored.bytes());
  if (!index) return fail(std::move(index.error()));
  cards_ = std::move(cards);
  index_ = std::move(*index);
  bytes_ = std::move(stored);
  return {};
}

result<foreign_filter> open_one(mapped_storage bytes, const open_request& request) {
  const std::filesystem::path path = request.name;
  std::vector<opened_card> cards;
  auto card = open_card(bytes, path.filename().string());
  if (!card) return fail(std::move(card.error()));
  cards.push_back(std::move(*card));
  return foreign_filter(std::make_unique<clubcard_model>(
      std::move(cards), std::nullopt, std::move(bytes), request.how, path.parent_path()));
}

/// The filter in a version's file.
result<foreign_filter> written(clubcard card, const option_list& given) {
  const auto version = number_option(given, "version", 3, 4, 4);
  if (!version) return fail(version.error());
  card.version = static_cast<std::uint8_t>(*version);
  auto bytes = write_clubcard(card);
  if (!bytes) return fail(std::move(bytes.error()));
  return open_one(keep(std::move(*bytes)), {});
}

result<foreign_filter> clubcard_model::convert(const dialect& to, const option_list& given) const {
  if (&to != &format()) return other_format(format(), to);
  if (index_) {
    return fail(errc::unsupported,
                "this is the index of several filters; convert each filter that it names");
  }
  if (find_option(given, "coverage")) {
    return fail(errc::invalid_argument, "the coverage is stored in the filter; leave it out");
  }
  return written(cards_.front().card, given);
}

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
    auto card = open_card(std::move(*mapped), name);
    if (!card) {
      return fail(card.error().code, fmt::format("its filter {}: {}", name, card.error().message));
    }
    cards.push_back(std::move(*card));
  }
  return foreign_filter(std::make_unique<clubcard_model>(std::move(cards), std::move(*index), bytes,
                                                         request.how, folder));
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
  return open_one(bytes, request);
}

/// The certificates of lines. `keys` must outlive the source.
certificate_source certificates_of(const key_source& keys) {
  return [&keys](const auto& use) {
    std::vector<std::byte> scratch;
    return keys.for_each([&](std::span<const std::string_view> lines) -> result<void> {
      for (const std::string_view line : lines) {
        const auto read = read_certificate(line, scratch);
        if (!read) {
          return fail(errc::invalid_argument,
                      fmt::format("'{}' is not a certificate ISSUER:SERIAL in hexadecimal",
                                  line.substr(0, 100)));
        }
        if (auto ok = use(read->bytes); !ok) return ok;
      }
      return {};
    });
  };
}

/// Each log may have one period, from earlier to later.
result<void> check_coverage(const std::vector<log_interval>& coverage) {
  for (auto at = coverage.begin(); at != coverage.end(); ++at) {
    if (at->low > at->high) {
      return fail(
          errc::invalid_argument,
          fmt::format("--with coverage: a period is from {} to {}; give the earlier time first",
                      at->low, at->high));
    }
    if (std::any_of(coverage.begin(), at, [&](const log_interval& other) {
          return std::ranges::equal(other.log, at->log);
        })) {
      return fail(errc::invalid_argument,
                  "--with coverage: a log is named twice; give one period for each log");
    }
  }
  return {};
}

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
    if (auto ok = check_coverage(coverage); !ok) return fail(std::move(ok.error()));
  }
  auto built = build_clubcard(certificates_of(keys.members), certificates_of(keys.universe));
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
