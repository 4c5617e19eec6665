// passwdqc's lists of leaked passwords: a header, then a cuckoo filter of hashes (pwqfilter 2).

#include <fmt/format.h>

#include <array>
#include <bloomset/file.hpp>

#include "model.hpp"
#include "options.hpp"
#include "passwdqc/table.hpp"
#include "rows.hpp"

namespace bloomset::dialects {
namespace {
namespace passwdqc_format {

using namespace passwdqc;

constexpr std::array options = {
    kind_option{"hash", "md4, ntlm or opaque",
                "for building: the hash function of the keys; opaque is any other of 16 bytes; "
                "pwqcheck and PAM query only md4 and ntlm"}};

/// The hashes by their numbers in files.
struct hash_row {
  std::string_view name;
  std::string_view shown;
  std::string_view reader;  // of bloomset::keys
};
constexpr std::array<hash_row, 3> hashes = {{{"opaque", "opaque hashes", "hex"},
                                             {"md4", "MD4", "md4"},
                                             {"ntlm", "NTLM of CP1252", "ntlm:cp1252"}}};

const hash_row& row_of_hash(hash_type hash) noexcept {
  return hashes[static_cast<std::size_t>(hash)];
}

class passwdqc_model final : public foreign_filter::model {
 public:
  /// Over the bytes of a file.
  passwdqc_model(const header& head, mapped_storage buckets)
      : head_(head), mapped_(std::move(buckets)) {}
  /// With its own memory.
  passwdqc_model(const header& head, owned_storage buckets)
      : head_(head), owned_(std::move(buckets)), writer_(std::in_place, head_, own_bytes()) {}

  const dialect& format() const noexcept override {
    return bloomset::dialects::row_of(row::passwdqc);
  }

  foreign_info info() const override {
    foreign_info info;
    info.format = format().name;
    info.variant = row_of_hash(head_.hash).shown;
    info.kind = "cuckoo";
    info.bits = head_.buckets() * bucket_bytes * 8;
    info.capacity = head_.capacity;
    info.count = head_.count();
    info.current_fpr = view().current_fpr();
    info.extras = {
        {"load", static_cast<double>(head_.count()) / static_cast<double>(head_.capacity)},
        {"bucket_size", std::uint64_t{head_.bucket_size}},
        {"threshold", std::uint64_t{head_.threshold}},
        {"duplicates", head_.duplicates},
        {"deletes", head_.deletes},
        {"kicks", head_.kicks}};
    return info;
  }

  result<void> askable() const override { return {}; }
  bool takes_any_key() const noexcept override { return false; }
  // A password instead of its hash would be an error that looks like "not leaked".
  bool stores_key_type() const noexcept override { return true; }
  result<void> accepts(std::string_view key) const override {
    if (fits(key)) return {};
    return fail(errc::invalid_argument,
                fmt::format("a key of {} bytes is not a hash of 16 bytes, as the filter's keys are",
                            key.size()));
  }
  std::string_view key_form_name() const noexcept override { return "a hash of 16 bytes"; }
  std::string_view key_reader() const noexcept override { return row_of_hash(head_.hash).reader; }
  bool fits(std::string_view key) const override { return key.size() == hash_bytes; }

  void may_contain(std::span<const std::string_view> keys,
                   std::span<bool> answers) const noexcept override {
    const table_view table = view();
    for_each_place(keys, [&](std::size_t i, const place* at) {
      answers[i] = at != nullptr && table.may_contain(*at);
      return true;
    });
  }

  result<insert_summary> insert(std::span<const std::string_view> keys) override {
    if (!writer_) return read_only();
    insert_summary summary;
    for_each_place(keys, [&](std::size_t, const place* at) {
      if (at == nullptr) return false;
      const insert_answer said = writer_->insert(*at);
      if (said == insert_answer::full) {
        summary.stopped_by = insert_outcome::full;
        return false;
      }
      summary.inserted += said == insert_answer::inserted;
      summary.maybe_present += said == insert_answer::maybe_present;
      ++summary.done;
      return true;
    });
    return summary;
  }

  result<void> merge(const model&) override {
    return fail(errc::unsupported,
                "filters of format passwdqc cannot be merged; build one from all keys");
  }
  result<foreign_filter> convert(const dialect& to, const option_list&) const override {
    if (&to != &format()) return other_format(format(), to);
    return fail(errc::unsupported,
                "format passwdqc has one container only; there is nothing to convert a filter to");
  }
  result<foreign_image> image() const override {
    return foreign_image{write_header(head_), view_bytes(), {}};
  }

 private:
  std::span<std::byte> own_bytes() noexcept { return owned_.writable_bytes(); }
  std::span<const std::byte> view_bytes() const noexcept {
    return writer_ ? owned_.bytes() : mapped_.bytes();
  }
  table_view view() const noexcept { return {head_, view_bytes()}; }

  /// Calls `use` with each key's number and place, null if the key is not a hash, until it returns
  /// false. Buckets are fetched ahead.
  template <class Use>
  void for_each_place(std::span<const std::string_view> keys, Use&& use) const {
    const table_view table = view();
    constexpr std::size_t ahead = 16;
    std::array<place, ahead> places{};
    const auto fetch = [&](std::size_t i) {
      if (i >= keys.size() || !fits(keys[i])) return;
      places[i % ahead] = table.place_of(keys[i]);
      table.prefetch(places[i % ahead]);
    };
    for (std::size_t i = 0; i < ahead; ++i) fetch(i);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const place at = places[i % ahead];
      fetch(i + ahead);
      if (!use(i, fits(keys[i]) ? &at : nullptr)) return;
    }
  }

  header head_;
  mapped_storage mapped_;
  owned_storage owned_;
  std::optional<inserter> writer_;
};

recognition looks_like(std::span<const std::byte> bytes) noexcept {
  return read_header(bytes, bytes.size()) ? recognition::certain : recognition::no;
}

/// Checks every bucket, and their number of entries.
result<void> check_buckets(const header& head, std::span<const std::byte> buckets) {
  const table_view table(head, buckets);
  if (const auto number = table.find_malformed()) {
    return fail(errc::corrupt,
                fmt::format("its bucket {}, at byte {}, has no valid entries; get the file anew",
                            *number, header_bytes + *number * bucket_bytes));
  }
  const std::uint64_t entries = table.count_entries();
  if (entries == head.count()) return {};
  return fail(errc::corrupt, fmt::format("its header says {} entries, but its buckets have {}; get "
                                         "the file anew",
                                         head.count(), entries));
}

result<foreign_filter> open_filter(const mapped_storage& file, const open_request& request) {
  if (!request.options.empty()) {
    return fail(errc::invalid_argument, "the hash is stored in the filter; leave it out");
  }
  const auto head = read_header(file.bytes(), file.bytes().size());
  if (!head) return fail(head.error());
  auto buckets = file.slice(header_bytes, file.bytes().size() - header_bytes);
  const bool is_small = buckets.bytes().size() <= automatic_verification_limit;
  const bool verifies = request.verify == verification::always || request.how == access::writable ||
                        (request.verify == verification::automatic && is_small);
  if (verifies) {
    if (auto ok = check_buckets(*head, buckets.bytes()); !ok) return fail(std::move(ok.error()));
  }
  if (request.how == access::read_only) {
    return foreign_filter(std::make_unique<passwdqc_model>(*head, std::move(buckets)));
  }
  auto copy = owned_storage::copy_of(buckets.bytes());
  if (!copy) return fail(std::move(copy.error()));
  return foreign_filter(std::make_unique<passwdqc_model>(*head, std::move(*copy)));
}

result<foreign_filter> create_filter(const plan_request& request) {
  const auto ok = check_request(request, "passwdqc", {}, "give a capacity");
  if (!ok) return fail(ok.error());
  const auto name = find_option(request.options, "hash");
  const auto* const found = std::ranges::find(hashes, name.value_or(""), &hash_row::name);
  if (found == hashes.end()) {
    return fail(errc::invalid_argument,
                fmt::format("--with hash{}: give what the keys are hashes of, md4 or ntlm, as the "
                            "programs that query the filter make them, or opaque",
                            name ? fmt::format("={}", *name) : ""));
  }
  if (request.capacity > max_buckets * max_entries / 10 * 9) {
    return too_large("passwdqc", "17,179,869,180 places");
  }
  const header head{.hash = static_cast<hash_type>(found - hashes.begin()),
                    .capacity = capacity_for(request.capacity)};
  auto buckets = owned_storage::make(head.buckets() * bucket_bytes);
  if (!buckets) return fail(std::move(buckets.error()));
  return foreign_filter(std::make_unique<passwdqc_model>(head, std::move(*buckets)));
}

}  // namespace passwdqc_format
}  // namespace

dialect passwdqc_dialect() noexcept {
  return {"passwdqc",
          "leaked passwords as pwqcheck and pam_passwdqc read them (pwqfilter's PWQ0)",
          "keys are hashes of 16 bytes; their kind, MD4 or NTLM, is stored",
          passwdqc_format::options,
          passwdqc_format::looks_like,
          passwdqc_format::open_filter,
          passwdqc_format::create_filter};
}

}  // namespace bloomset::dialects
