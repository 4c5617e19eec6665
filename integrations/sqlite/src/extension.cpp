// Filters in SQLite: a filter is a BLOB, which has the bytes of a filter file.
//
//     bloomset_agg(key [, rate [, kind [, capacity]]])   the filter of a column's keys
//     bloomset_contains(filter, key)        1 if the key may be a member, otherwise 0
//     bloomset_merge(filter)                the union of a column's filters
//     bloomset_info(filter)                 its properties, as JSON
//
// TEXT and BLOB are keys by their bytes, INTEGER by its eight little-endian bytes. NULL is no key:
// the aggregate passes over it, and a query returns NULL.

#include <fmt/format.h>
#include <sqlite3ext.h>

#include <array>
#include <bit>
#include <bloomset/any_filter.hpp>
#include <bloomset/file.hpp>
#include <bloomset/plan/units.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sql/filters.hpp"

SQLITE_EXTENSION_INIT1

namespace bloomset::sqlite {
namespace {

void set_error(sqlite3_context* context, const std::string& sentence) {
  sqlite3_result_error(context, ("bloomset: " + sentence).c_str(), -1);
}

/// Calls `Work`. No exception leaves it: SQLite is C.
template <auto Work, class... Arguments>
void call(sqlite3_context* context, Arguments... arguments) {
  try {
    Work(context, arguments...);
  } catch (const std::bad_alloc&) {
    sqlite3_result_error_nomem(context);
  }
}

/// The bytes of a blob, or of a text in UTF-8, whatever the encoding of the database is.
std::string_view bytes_of(sqlite3_value* value) {
  const bool is_text = sqlite3_value_type(value) == SQLITE_TEXT;
  const void* const data = is_text ? sqlite3_value_text(value) : sqlite3_value_blob(value);
  if (is_text && data == nullptr) throw std::bad_alloc();
  return {static_cast<const char*>(data), static_cast<std::size_t>(sqlite3_value_bytes(value))};
}

using key_word = std::array<char, 8>;

/// The key that a value is, which is not NULL; empty for a floating-point number.
std::optional<std::string_view> key_of(sqlite3_value* value, key_word& word) {
  switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER:
      word = std::bit_cast<key_word>(sqlite3_value_int64(value));
      return std::string_view(word.data(), word.size());
    case SQLITE_TEXT:
    case SQLITE_BLOB:
      return bytes_of(value);
    default:
      return std::nullopt;
  }
}

constexpr const char* no_key =
    "a floating-point number is not a key, because equal numbers can have different bytes; write "
    "cast(value as integer) or cast(value as text)";

bool is_null(sqlite3_value* value) {
  return sqlite3_value_type(value) == SQLITE_NULL;
}

void give(sqlite3_context* context, const any_filter& filter) {
  const filter_image image = filter.image();
  const std::size_t size = serialized_size(image);
  auto* const bytes = static_cast<std::byte*>(sqlite3_malloc64(size));
  if (bytes == nullptr) return sqlite3_result_error_nomem(context);
  serialize_to(image, {bytes, size});
  // Fails by itself if it is larger than the connection's limit.
  sqlite3_result_blob64(context, bytes, size, sqlite3_free);
}

std::span<const std::byte> blob_of(sqlite3_value* value) {
  return std::as_bytes(std::span(bytes_of(value)));
}

// bloomset_contains
// ---------------------------------------------------------------------------------

using shared_filter = std::shared_ptr<const sql::kept_filter>;

/// The filter in the first argument, opened. A query over many rows checks and copies it once.
result<shared_filter> filter_of(sqlite3_context* context, sqlite3_value* value) {
  // SQLite keeps this as long as the argument is the same: for the whole statement if it is a
  // constant or a parameter, otherwise for no other row.
  if (const void* const same = sqlite3_get_auxdata(context, 0)) {
    return *static_cast<const shared_filter*>(same);
  }
  auto& last = *static_cast<shared_filter*>(sqlite3_user_data(context));  // of this connection
  const auto blob = blob_of(value);
  if (last == nullptr || !last->is(blob)) {
    auto opened = std::make_shared<sql::kept_filter>();
    if (auto ok = opened->open(blob); !ok) return fail(std::move(ok.error()));
    last = std::move(opened);
  }
  // NOLINTNEXTLINE(cppcoreguidelines-owning-memory): SQLite deletes it, perhaps at once
  sqlite3_set_auxdata(context, 0, new shared_filter(last),
                      [](void* kept) { delete static_cast<shared_filter*>(kept); });
  return last;
}

void contains(sqlite3_context* context, int, sqlite3_value** values) {
  if (is_null(values[0]) || is_null(values[1])) return sqlite3_result_null(context);
  const auto filter = filter_of(context, values[0]);
  if (!filter) return set_error(context, filter.error().message);
  key_word word;
  const auto key = key_of(values[1], word);
  if (!key) return set_error(context, no_key);
  sqlite3_result_int(context, (*filter)->filter->may_contain(*key) ? 1 : 0);
}

// Aggregates
// ------------------------------------------------------------------------------------------

/// The object of an aggregate's group, which `finish` deletes. Made at the first row.
template <class T>
T& group_of(sqlite3_context* context) {
  auto** const at = static_cast<T**>(sqlite3_aggregate_context(context, sizeof(T*)));
  if (at == nullptr) throw std::bad_alloc();
  if (*at == nullptr) *at = new T;  // NOLINT(cppcoreguidelines-owning-memory): SQLite keeps it
  return **at;
}

/// Null if there was no row.
template <class T>
std::unique_ptr<T> take_group(sqlite3_context* context) {
  auto** const at = static_cast<T**>(sqlite3_aggregate_context(context, 0));
  return std::unique_ptr<T>(at == nullptr ? nullptr : std::exchange(*at, nullptr));
}

struct key_group {
  std::vector<hash64> hashes;
  double fpr = default_fpr;
  const kind_info* kind = nullptr;
  std::uint64_t capacity = sql::counted;
};

result<double> rate_of(sqlite3_value* value) {
  if (sqlite3_value_type(value) == SQLITE_TEXT) return parse_rate(bytes_of(value));
  return parse_rate(fmt::format("{}", sqlite3_value_double(value)));
}

result<std::uint64_t> capacity_of(sqlite3_value* value) {
  const int type = sqlite3_value_type(value);
  if (type == SQLITE_TEXT) return parse_count(bytes_of(value));
  if (type == SQLITE_BLOB) {
    return fail(errc::invalid_argument,
                "a capacity is a number of keys, such as 10000000 or '10M'");
  }
  return sql::capacity_of(sqlite3_value_int64(value));
}

result<void> plan(key_group& group, int count, sqlite3_value** values) {
  const auto has = [=](int i) { return i < count && !is_null(values[i]); };
  if (has(1)) {
    const auto fpr = rate_of(values[1]);
    if (!fpr) return fail(fpr.error());
    group.fpr = *fpr;
  }
  if (has(3)) {
    const auto capacity = capacity_of(values[3]);
    if (!capacity) return fail(capacity.error());
    group.capacity = *capacity;
  }
  const auto kind = find_kind_of_one_set(has(2) ? bytes_of(values[2]) : default_kind);
  if (!kind) return fail(kind.error());
  group.kind = *kind;
  return {};
}

/// Tells whether the connection was interrupted. SQLite before 3.41 has no function for this, but
/// it interrupts every statement that starts until the interrupted ones have ended.
class interrupt_check {
 public:
  explicit interrupt_check(sqlite3* db) {
    is_late_ = sqlite3_prepare_v2(db, "select 1", -1, &statement_, nullptr) == SQLITE_INTERRUPT;
  }
  interrupt_check(const interrupt_check&) = delete;
  interrupt_check& operator=(const interrupt_check&) = delete;
  ~interrupt_check() { sqlite3_finalize(statement_); }

  bool operator()() const {
    if (is_late_) return true;
    const bool is_interrupted = sqlite3_step(statement_) == SQLITE_INTERRUPT;
    sqlite3_reset(statement_);
    return is_interrupted;
  }

 private:
  sqlite3_stmt* statement_ = nullptr;
  bool is_late_;  ///< whether it was interrupted before this check was made
};

std::uint64_t max_bytes(sqlite3_context* context) {
  return static_cast<std::uint64_t>(
      sqlite3_limit(sqlite3_context_db_handle(context), SQLITE_LIMIT_LENGTH, -1));
}

void add_key(sqlite3_context* context, int count, sqlite3_value** values) {
  auto& group = group_of<key_group>(context);
  if (group.kind == nullptr) {  // the first row
    auto ok = plan(group, count, values);
    if (ok && group.capacity != sql::counted) {
      ok = sql::check_plan(*group.kind, group.fpr, group.capacity, max_bytes(context));
    }
    if (!ok) return set_error(context, ok.error().message);
  }
  if (is_null(values[0])) return;
  key_word word;
  const auto key = key_of(values[0], word);
  if (!key) return set_error(context, no_key);
  group.hashes.push_back(sql::hash_of(*key));
}

void build(sqlite3_context* context) {
  const auto group = take_group<key_group>(context);
  if (group == nullptr || group->kind == nullptr) return sqlite3_result_null(context);
  const interrupt_check is_interrupted(sqlite3_context_db_handle(context));
  const auto built = sql::build(*group->kind, group->fpr, group->hashes, group->capacity,
                                {max_bytes(context), std::cref(is_interrupted)});
  if (is_interrupted()) return sqlite3_result_error_code(context, SQLITE_INTERRUPT);
  if (!built) return set_error(context, built.error().message);
  give(context, *built);
}

struct filter_group {
  std::optional<any_filter> all;
};

void add_filter(sqlite3_context* context, int, sqlite3_value** values) {
  auto& group = group_of<filter_group>(context);
  if (is_null(values[0])) return;
  if (group.all) {
    const auto merged = sql::merge_value(*group.all, blob_of(values[0]));
    if (!merged) set_error(context, merged.error().message);
    return;
  }
  auto opened = sql::open_value(blob_of(values[0]), access::writable);
  if (!opened) return set_error(context, opened.error().message);
  group.all = std::move(*opened);
}

void give_union(sqlite3_context* context) {
  const auto group = take_group<filter_group>(context);
  if (group == nullptr || !group->all) return sqlite3_result_null(context);
  give(context, *group->all);
}

// bloomset_info
// ----------------------------------------------------------------------------------------

void info(sqlite3_context* context, int, sqlite3_value** values) {
  if (is_null(values[0])) return sqlite3_result_null(context);
  const auto text = sql::info_of_value(blob_of(values[0]));
  if (!text) return set_error(context, text.error().message);
  sqlite3_result_text64(context, text->data(), text->size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

constexpr int pure = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;

int add_functions(sqlite3* db) {
  int status = sqlite3_create_function_v2(
      db, "bloomset_contains", 2, pure, new shared_filter, call<contains>, nullptr, nullptr,
      [](void* last) { delete static_cast<shared_filter*>(last); });
  if (status == SQLITE_OK) {
    status = sqlite3_create_function(db, "bloomset_info", 1, pure, nullptr, call<info>, nullptr,
                                     nullptr);
  }
  if (status == SQLITE_OK) {
    status = sqlite3_create_function(db, "bloomset_merge", 1, pure, nullptr, nullptr,
                                     call<add_filter>, call<give_union>);
  }
  for (int arguments = 1; arguments <= 4 && status == SQLITE_OK; ++arguments) {
    status = sqlite3_create_function(db, "bloomset_agg", arguments, pure, nullptr, nullptr,
                                     call<add_key>, call<build>);
  }
  return status;
}

}  // namespace
}  // namespace bloomset::sqlite

extern "C" [[gnu::visibility("default")]] int sqlite3_bloomsetsqlite_init(
    sqlite3* db, char**, const sqlite3_api_routines* pApi) {
  SQLITE_EXTENSION_INIT2(pApi)
  try {
    return bloomset::sqlite::add_functions(db);
  } catch (const std::bad_alloc&) {
    return SQLITE_NOMEM;
  }
}
