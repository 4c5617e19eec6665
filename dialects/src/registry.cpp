#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bloomset/figures.hpp>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "beginnings.hpp"
#include "model.hpp"
#include "options.hpp"
#include "rows.hpp"

namespace bloomset::dialects {
namespace {

failure named(const std::string& name, const failure& why) {
  return fail(why.code, fmt::format("{}: {}", name, why.message));
}

}  // namespace

std::vector<property> figures_of(const foreign_info& info) {
  const auto known = [](std::string name, const auto& value) {
    property figure{std::move(name), {}};
    if (value) figure.value = *value;
    return figure;
  };
  return {{"format", std::string(info.format)},
          {"variant", info.variant},
          {"kind", std::string(info.kind)},
          known("capacity", info.capacity),
          known("count", info.count),
          known("estimated_size", info.estimated_size),
          {"bits", info.bits},
          {"bytes", info.bytes()},
          known("hashes", info.hashes),
          known("bits_per_key", info.bits_per_key()),
          known("planned_fpr", info.planned_fpr),
          known("current_fpr", info.current_fpr),
          known("fill", info.fill),
          // No verb inserts into such a filter.
          {"can", names_of(abilities{.merge = info.can_merge})},
          {"extras", info.extras}};
}

std::vector<std::byte> foreign_image::bytes() const {
  std::vector<std::byte> all = head;
  all.insert(all.end(), bits.begin(), bits.end());
  all.insert(all.end(), tail.begin(), tail.end());
  return all;
}

foreign_filter::foreign_filter(std::unique_ptr<model> m) noexcept : model_(std::move(m)) {}
foreign_filter::foreign_filter(foreign_filter&&) noexcept = default;
foreign_filter& foreign_filter::operator=(foreign_filter&&) noexcept = default;
foreign_filter::~foreign_filter() = default;

foreign_filter::model& foreign_filter::get() const noexcept {
  if (model_ == nullptr) [[unlikely]] {
    (void)std::fputs(
        "bloomset: a filter that was moved from may only be destroyed or assigned to\n", stderr);
    std::abort();
  }
  return *model_;
}

const dialect& foreign_filter::format() const noexcept {
  return get().format();
}
foreign_info foreign_filter::info() const {
  return get().info();
}
result<void> foreign_filter::askable() const {
  return get().askable();
}
bool foreign_filter::takes_any_key() const noexcept {
  return get().takes_any_key();
}
bool foreign_filter::stores_key_type() const noexcept {
  return get().stores_key_type();
}
result<void> foreign_filter::accepts(std::string_view key) const {
  return get().accepts(key);
}
std::string_view foreign_filter::key_form_name() const noexcept {
  return get().key_form_name();
}
std::string_view foreign_filter::key_reader() const noexcept {
  return get().key_reader();
}
bool foreign_filter::fits(std::string_view key) const {
  return get().fits(key);
}
bool foreign_filter::may_contain(std::string_view key) const noexcept {
  bool answer = false;
  get().may_contain({&key, 1}, {&answer, 1});
  return answer;
}
void foreign_filter::may_contain(std::span<const std::string_view> keys,
                                 std::span<bool> answers) const noexcept {
  get().may_contain(keys, answers);
}
bool foreign_filter::covers_all_keys() const noexcept {
  return get().covers_all_keys();
}
void foreign_filter::covers(std::span<const std::string_view> keys,
                            std::span<bool> covered) const noexcept {
  get().covers(keys, covered);
}
result<insert_summary> foreign_filter::insert(std::span<const std::string_view> keys) {
  return get().insert(keys);
}
result<void> foreign_filter::merge(const foreign_filter& other) {
  if (&format() != &other.format()) {
    return fail(errc::incompatible, fmt::format("one is of format {}, the other of format {}",
                                                format().name, other.format().name));
  }
  return get().merge(other.get());
}
result<foreign_filter> foreign_filter::fold(std::uint64_t factor) const {
  if (factor == 0) return fail(errc::invalid_argument, "the factor of a fold is at least 1");
  return get().fold(factor, 0);
}
result<foreign_filter> foreign_filter::fold_to(double fpr) const {
  return get().fold(0, fpr);
}
result<foreign_filter> foreign_filter::convert(const dialect& to,
                                               const option_list& options) const {
  if (auto ok = check_options(to, options); !ok) return fail(std::move(ok.error()));
  return get().convert(to, options);
}
result<foreign_image> foreign_filter::image() const {
  return get().image();
}

failure other_format(const dialect& from, const dialect& to) {
  return fail(errc::incompatible,
              fmt::format("a filter of format {} cannot become one of format {}: their hash "
                          "functions or probe rules differ, so that no bit would mean the same "
                          "keys; build it anew from the keys",
                          from.name, to.name));
}

std::span<const dialect> all() noexcept {
  // In the order of `row`.
  static const std::array rows = {squid_dialect(),     parquet_dialect(),  leveldb_dialect(),
                                  dcso_dialect(),      guava_dialect(),    spark_dialect(),
                                  cassandra_dialect(), bip37_dialect(),    cascade_dialect(),
                                  clubcard_dialect(),  passwdqc_dialect(), poppy_dialect()};
  return rows;
}

result<const dialect*> find(std::string_view name) {
  std::vector<std::string_view> names;
  for (const dialect& row : all()) {
    if (row.name == name) return &row;
    names.push_back(row.name);
  }
  return fail(errc::invalid_argument, fmt::format("there is no format '{}'; the formats are {}",
                                                  name, fmt::join(names, ", ")));
}

result<void> check_options(const dialect& as, const option_list& given) {
  for (auto each = given.begin(); each != given.end(); ++each) {
    const bool known = std::any_of(as.options.begin(), as.options.end(),
                                   [&](const kind_option& row) { return row.name == each->first; });
    if (!known) {
      std::vector<std::string_view> names;
      for (const kind_option& row : as.options) names.push_back(row.name);
      return fail(errc::invalid_argument,
                  fmt::format("format {} has no option '{}'; it has {}", as.name, each->first,
                              names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))));
    }
    if (std::any_of(given.begin(), each, [&](const auto& p) { return p.first == each->first; })) {
      return fail(errc::invalid_argument,
                  fmt::format("the option '{}' is given twice; give it once", each->first));
    }
  }
  return {};
}

guess recognise(std::span<const std::byte> bytes) {
  guess made;
  bool several = false;
  for (const dialect& row : all()) {
    const recognition said = row.recognise(bytes);
    if (said == recognition::no) continue;
    if (said == recognition::certain && made.certain == nullptr && !several) {
      made.certain = &row;
      continue;
    }
    if (said == recognition::certain && made.certain != nullptr) {
      made.perhaps.push_back(std::exchange(made.certain, nullptr));
      several = true;
    }
    made.perhaps.push_back(&row);
  }
  if (made.certain == nullptr) made.damaged = begins_as(bytes);
  return made;
}

result<foreign_filter> open(const dialect& as, const mapped_storage& bytes,
                            const open_request& request) {
  if (auto ok = check_options(as, request.options); !ok) return fail(std::move(ok.error()));
  try {
    auto opened = as.open(bytes, request);
    if (!opened) return named(request.name, opened.error());
    return opened;
  } catch (const std::bad_alloc&) {
    return named(request.name, {errc::out_of_memory, "there is not enough memory to open it"});
  }
}

result<foreign_filter> open(const mapped_storage& bytes, const open_request& request) {
  const guess made = recognise(bytes.bytes());
  if (made.certain != nullptr) return open(*made.certain, bytes, request);
  if (made.damaged != nullptr) {
    const auto why = open(*made.damaged, bytes, {.name = request.name});
    if (!why) {
      return fail(
          why.error().code,
          fmt::format("{}; read as format {}, whose filters begin so: name the format if it is "
                      "of another",
                      why.error().message, made.damaged->name));
    }
  }
  std::vector<std::string_view> names;
  names.reserve(made.perhaps.size());
  for (const dialect* row : made.perhaps) names.push_back(row->name);
  return fail(
      errc::unsupported,
      names.empty()
          ? fmt::format("{}: this is not a filter of a known format; name its format if it is one",
                        request.name)
          : fmt::format(
                "{}: its bytes do not show its format for certain; it may be {}: name the format",
                request.name, fmt::join(names, " or ")));
}

result<option_list> options_for(const dialect& as, const std::string& path, option_list given) {
  if (as.named == nullptr) return given;
  for (auto& [name, value] : as.named(path)) {
    const auto said = find_option(given, name);
    if (!said) {
      given.emplace_back(name, value);
    } else if (*said != value) {
      return fail(errc::invalid_argument,
                  fmt::format("{}: its name says {}={}, not {}; give it another name or leave the "
                              "option out",
                              path, name, value, *said));
    }
  }
  return given;
}

result<foreign_filter> create(const dialect& as, const plan_request& request) {
  if (auto ok = check_options(as, request.options); !ok) return fail(std::move(ok.error()));
  if (as.is_static()) {
    return fail(errc::unsupported,
                fmt::format("a filter of format {} is built once, from its members and all other "
                            "keys that will be queried; give the universe of keys",
                            as.name));
  }
  return as.create(request);
}

result<foreign_filter> build(const dialect& as, const plan_request& request,
                             const static_keys& keys) {
  if (auto ok = check_options(as, request.options); !ok) return fail(std::move(ok.error()));
  if (!as.is_static()) {
    return fail(errc::unsupported,
                fmt::format("a filter of format {} is made of its members only; leave the universe "
                            "out",
                            as.name));
  }
  try {
    return as.build(request, keys);
  } catch (const std::bad_alloc&) {
    return fail(errc::out_of_memory, "there is not enough memory for the keys and the filter");
  }
}

}  // namespace bloomset::dialects
