// Filters in DuckDB: a filter is a BLOB, which has the bytes of a filter file.
//
//     bloomset_agg(key [, rate [, kind [, capacity]]])   the filter of a column's keys
//     bloomset_contains(filter, key)                     whether the key may be a member
//     bloomset_merge(filter)                             the union of a column's filters
//     bloomset_info(filter)                              its properties, as JSON

#include <fmt/format.h>

#include <array>
#include <bloomset/any_filter.hpp>
#include <bloomset/file.hpp>
#include <bloomset/plan/units.hpp>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "column.hpp"
#include "sql/filters.hpp"

duckdb_ext_api_v1 duckdb_ext_api;

namespace bloomset::duckdb {
namespace {

using set_error = void (*)(duckdb_function_info, const char*);

/// Calls `work`, and tells DuckDB why it failed. No exception leaves it: DuckDB calls as C does.
template <class Work>
void call(duckdb_function_info info, set_error set, Work&& work) {
  try {
    const result<void> done = work();
    if (!done) set(info, ("bloomset: " + done.error().message).c_str());
  } catch (const std::bad_alloc&) {
    set(info, "bloomset: there is not enough memory for the filter");
  }
}

void set_null(duckdb_vector to, idx_t row) {
  duckdb_vector_ensure_validity_writable(to);
  duckdb_validity_set_row_invalid(duckdb_vector_get_validity(to), row);
}

constexpr std::uint64_t max_blob = std::numeric_limits<std::uint32_t>::max();
/// A capacity that a statement gives is no proof of as many keys. So it reserves no more than in
/// PostgreSQL and SQLite.
constexpr std::uint64_t max_unproved = std::uint64_t{1} << 30;

result<void> give(const any_filter& filter, duckdb_vector to, idx_t row) {
  const filter_image image = filter.image();
  const std::size_t size = serialized_size(image);
  if (auto ok = sql::check_size(size, max_blob); !ok) return ok;
  std::vector<char> bytes(size);
  serialize_to(image, std::as_writable_bytes(std::span(bytes)));
  duckdb_vector_assign_string_element_len(to, row, bytes.data(), size);
  return {};
}

// bloomset_contains
// ---------------------------------------------------------------------------------

using shared_filter = std::shared_ptr<const sql::kept_filter>;

/// The filters that were queried last, by any thread, so that a query over many rows checks and
/// copies each once.
class asked_filters {
 public:
  result<shared_filter> find(std::span<const std::byte> blob) {
    for (const auto& each : last()) {
      if (each && each->is(blob)) return each;
    }
    auto made = std::make_shared<sql::kept_filter>();
    if (auto ok = made->open(blob); !ok) return fail(std::move(ok.error()));
    const std::lock_guard lock(mutex_);
    return last_[next_++ % last_.size()] = std::move(made);
  }

 private:
  using filters = std::array<shared_filter, 4>;

  filters last() {
    const std::lock_guard lock(mutex_);
    return last_;
  }

  std::mutex mutex_;
  filters last_;
  std::size_t next_ = 0;
};

/// The filters of one chunk of rows by the place of their bytes, which do not change meanwhile.
/// Rows that refer to one value compare its bytes once.
class chunk_filters {
 public:
  explicit chunk_filters(asked_filters& asked) : asked_(asked) {}

  result<shared_filter> find(std::span<const std::byte> blob) {
    auto& at = found_[{blob.data(), blob.size()}];
    if (at == nullptr) {
      auto filter = asked_.find(blob);
      if (!filter) return filter;
      at = std::move(*filter);
    }
    return at;
  }

 private:
  asked_filters& asked_;
  std::map<std::pair<const std::byte*, std::size_t>, shared_filter> found_;
};

/// The answers for rows that have the same filter. A key that is null has the answer null.
void answer(const any_filter& filter, const column& keys, idx_t first, idx_t last,
            duckdb_vector to) {
  std::string room;
  const auto asked_keys = keys.keys(first, last, room);
  const auto found = std::make_unique<bool[]>(asked_keys.size());
  filter.may_contain(asked_keys, {found.get(), asked_keys.size()});
  auto* const answers = static_cast<bool*>(duckdb_vector_get_data(to));
  const bool* at = found.get();
  for (idx_t row = first; row < last; ++row) {
    if (keys.is_null(row)) {
      set_null(to, row);
    } else {
      answers[row] = *at++;
    }
  }
}

void contains(duckdb_function_info info, duckdb_data_chunk rows, duckdb_vector to) {
  call(info, duckdb_scalar_function_set_error, [&]() -> result<void> {
    chunk_filters found(*static_cast<asked_filters*>(duckdb_scalar_function_get_extra_info(info)));
    const idx_t count = duckdb_data_chunk_get_size(rows);
    const column filters(rows, 0);
    const column keys(rows, 1);
    if (auto ok = keys.has_keys(); !ok) return ok;
    for (idx_t first = 0; first < count;) {
      idx_t last = first + 1;
      if (filters.is_null(first)) {
        set_null(to, first);
      } else {
        // A constant is one value, to which all rows refer.
        const auto blob = filters.bytes(first);
        while (last < count && !filters.is_null(last) &&
               filters.bytes(last).data() == blob.data()) {
          ++last;
        }
        const auto filter = found.find(blob);
        if (!filter) return fail(filter.error());
        answer(*(*filter)->filter, keys, first, last, to);
      }
      first = last;
    }
    return {};
  });
}

void info_of(duckdb_function_info info, duckdb_data_chunk rows, duckdb_vector to) {
  call(info, duckdb_scalar_function_set_error, [&]() -> result<void> {
    const column filters(rows, 0);
    for (idx_t row = 0; row < duckdb_data_chunk_get_size(rows); ++row) {
      if (filters.is_null(row)) {
        set_null(to, row);
        continue;
      }
      const auto text = sql::info_of_value(filters.bytes(row));
      if (!text) return fail(text.error());
      duckdb_vector_assign_string_element_len(to, row, text->data(), text->size());
    }
    return {};
  });
}

// Aggregates
// ------------------------------------------------------------------------------------------

/// The functions of an aggregate over a `Group`, which has
///
///     using arguments;                                 // the columns of a chunk
///     result<void> add(const arguments&, idx_t row);
///     result<void> add(const Group& other);            // which another thread made, and stays
///     result<void> finish(duckdb_vector, idx_t row);
///
/// A state refers to its group, which the first row makes.
template <class Group>
struct aggregate {
  static Group& group_of(duckdb_aggregate_state state) {
    if (state->internal_ptr == nullptr) state->internal_ptr = new Group;
    return *static_cast<Group*>(state->internal_ptr);
  }

  static idx_t size(duckdb_function_info) { return sizeof(_duckdb_aggregate_state); }
  static void init(duckdb_function_info, duckdb_aggregate_state state) {
    state->internal_ptr = nullptr;
  }
  static void update(duckdb_function_info info, duckdb_data_chunk rows,
                     duckdb_aggregate_state* states) {
    call(info, duckdb_aggregate_function_set_error, [&]() -> result<void> {
      typename Group::arguments arguments(rows);
      if (auto ok = arguments.check(); !ok) return ok;
      for (idx_t row = 0; row < duckdb_data_chunk_get_size(rows); ++row) {
        if (auto ok = group_of(states[row]).add(arguments, row); !ok) return ok;
      }
      return {};
    });
  }
  static void combine(duckdb_function_info info, duckdb_aggregate_state* from,
                      duckdb_aggregate_state* to, idx_t count) {
    call(info, duckdb_aggregate_function_set_error, [&]() -> result<void> {
      for (idx_t i = 0; i < count; ++i) {
        if (from[i]->internal_ptr == nullptr) continue;
        if (auto ok = group_of(to[i]).add(group_of(from[i])); !ok) return ok;
      }
      return {};
    });
  }
  static void finish(duckdb_function_info info, duckdb_aggregate_state* states, duckdb_vector to,
                     idx_t count, idx_t offset) {
    call(info, duckdb_aggregate_function_set_error, [&]() -> result<void> {
      for (idx_t i = 0; i < count; ++i) {
        if (states[i]->internal_ptr == nullptr) {
          set_null(to, offset + i);
        } else if (auto ok = group_of(states[i]).finish(to, offset + i); !ok) {
          return ok;
        }
      }
      return {};
    });
  }
  static void destroy(duckdb_aggregate_state* states, idx_t count) {
    for (idx_t i = 0; i < count; ++i) {
      delete static_cast<Group*>(std::exchange(states[i]->internal_ptr, nullptr));
    }
  }
};

result<double> rate_of(const column& rates, idx_t row) {
  std::string room;
  switch (rates.type()) {
    case DUCKDB_TYPE_FLOAT:
      return parse_rate(fmt::format("{}", rates.value<float>(row)));
    case DUCKDB_TYPE_DOUBLE:
      return parse_rate(fmt::format("{}", rates.value<double>(row)));
    case DUCKDB_TYPE_VARCHAR:
    case DUCKDB_TYPE_DECIMAL:
      return parse_rate(rates.key(row, room));
    default:
      return fail(errc::invalid_argument, "a rate is a number such as 0.01, or a text such as 1%");
  }
}

struct key_group {
  struct arguments {
    explicit arguments(duckdb_data_chunk rows) : keys(rows, 0) {
      const idx_t count = duckdb_data_chunk_get_column_count(rows);
      if (count > 1) rates.emplace(rows, 1);
      if (count > 2) kinds.emplace(rows, 2);
      if (count > 3) capacities.emplace(rows, 3);
    }
    result<void> check() const { return keys.has_keys(); }

    column keys;
    std::optional<column> rates, kinds, capacities;
    std::string room = {};
  };

  std::vector<hash64> hashes = {};
  const kind_info* kind = nullptr;  ///< null before the first row
  double fpr = default_fpr;
  std::uint64_t capacity = sql::counted;

  result<void> plan(const arguments& from, idx_t row) {
    const auto has = [row](const auto& values) { return values && !values->is_null(row); };
    if (has(from.rates)) {
      const auto rate = rate_of(*from.rates, row);
      if (!rate) return fail(rate.error());
      fpr = *rate;
    }
    if (has(from.capacities)) {
      const auto given = sql::capacity_of(from.capacities->value<std::int64_t>(row));
      if (!given) return fail(given.error());
      capacity = *given;
    }
    const auto found = find_kind_of_one_set(has(from.kinds) ? from.kinds->text(row) : default_kind);
    if (!found) return fail(found.error());
    kind = *found;
    if (capacity == sql::counted) return {};
    return sql::check_plan(*kind, fpr, capacity, max_unproved);
  }
  result<void> add(arguments& from, idx_t row) {
    if (kind == nullptr) {
      if (auto ok = plan(from, row); !ok) return ok;
    }
    if (!from.keys.is_null(row)) hashes.push_back(sql::hash_of(from.keys.key(row, from.room)));
    return {};
  }
  result<void> add(const key_group& other) {
    if (kind == nullptr) {
      *this = other;
    } else {
      hashes.insert(hashes.end(), other.hashes.begin(), other.hashes.end());
    }
    return {};
  }
  result<void> finish(duckdb_vector to, idx_t row) const {
    // DuckDB's C interface does not show a function whether the query was interrupted.
    const auto built = sql::build(*kind, fpr, hashes, capacity, {max_blob});
    if (!built) return fail(built.error());
    return give(*built, to, row);
  }
};

struct filter_group {
  struct arguments {
    explicit arguments(duckdb_data_chunk rows) : filters(rows, 0) {}
    result<void> check() const { return {}; }

    column filters;
  };

  std::optional<any_filter> all = {};

  result<void> keep(result<any_filter> first) {
    if (!first) return fail(std::move(first.error()));
    all = std::move(*first);
    return {};
  }
  result<void> add(const arguments& from, idx_t row) {
    if (from.filters.is_null(row)) return {};
    const auto value = from.filters.bytes(row);
    return all ? sql::merge_value(*all, value) : keep(sql::open_value(value, access::writable));
  }
  result<void> add(const filter_group& other) {
    if (!other.all) return {};
    return all ? sql::merge(*all, *other.all) : keep(other.all->copy());
  }
  result<void> finish(duckdb_vector to, idx_t row) const {
    if (all) return give(*all, to, row);
    set_null(to, row);
    return {};
  }
};

// Registration
// ----------------------------------------------------------------------------------------

class logical_type {
 public:
  explicit logical_type(duckdb_type id) : type_(duckdb_create_logical_type(id)) {}
  logical_type(const logical_type&) = delete;
  logical_type& operator=(const logical_type&) = delete;
  ~logical_type() { duckdb_destroy_logical_type(&type_); }

  operator duckdb_logical_type() const noexcept { return type_; }

 private:
  duckdb_logical_type type_;
};

bool add_scalar(duckdb_connection to, const char* name, std::span<const duckdb_type> parameters,
                duckdb_type returned, duckdb_scalar_function_t work, void* extra = nullptr,
                duckdb_delete_callback_t destroy = nullptr) {
  duckdb_scalar_function function = duckdb_create_scalar_function();
  duckdb_scalar_function_set_name(function, name);
  for (const duckdb_type each : parameters) {
    duckdb_scalar_function_add_parameter(function, logical_type(each));
  }
  duckdb_scalar_function_set_return_type(function, logical_type(returned));
  duckdb_scalar_function_set_special_handling(function);  // nulls come too
  duckdb_scalar_function_set_function(function, work);
  duckdb_scalar_function_set_extra_info(function, extra, destroy);
  const bool is_added = duckdb_register_scalar_function(to, function) == DuckDBSuccess;
  duckdb_destroy_scalar_function(&function);
  return is_added;
}

/// An aggregate that returns a filter, with one or more of the parameters.
template <class Group>
bool add_aggregate(duckdb_connection to, const char* name,
                   std::span<const duckdb_type> parameters) {
  duckdb_aggregate_function_set all = duckdb_create_aggregate_function_set(name);
  for (std::size_t count = 1; count <= parameters.size(); ++count) {
    duckdb_aggregate_function function = duckdb_create_aggregate_function();
    duckdb_aggregate_function_set_name(function, name);
    for (const duckdb_type each : parameters.first(count)) {
      duckdb_aggregate_function_add_parameter(function, logical_type(each));
    }
    duckdb_aggregate_function_set_return_type(function, logical_type(DUCKDB_TYPE_BLOB));
    duckdb_aggregate_function_set_special_handling(function);
    using functions = aggregate<Group>;
    duckdb_aggregate_function_set_functions(function, functions::size, functions::init,
                                            functions::update, functions::combine,
                                            functions::finish);
    duckdb_aggregate_function_set_destructor(function, functions::destroy);
    (void)duckdb_add_aggregate_function_to_set(all, function);
    duckdb_destroy_aggregate_function(&function);
  }
  const bool is_added = duckdb_register_aggregate_function_set(to, all) == DuckDBSuccess;
  duckdb_destroy_aggregate_function_set(&all);
  return is_added;
}

bool add_functions(duckdb_connection to) {
  constexpr std::array filter = {DUCKDB_TYPE_BLOB};
  constexpr std::array filter_and_key = {DUCKDB_TYPE_BLOB, DUCKDB_TYPE_ANY};
  constexpr std::array plan = {DUCKDB_TYPE_ANY, DUCKDB_TYPE_ANY, DUCKDB_TYPE_VARCHAR,
                               DUCKDB_TYPE_BIGINT};
  return add_scalar(to, "bloomset_contains", filter_and_key, DUCKDB_TYPE_BOOLEAN, contains,
                    new asked_filters,
                    [](void* asked) { delete static_cast<asked_filters*>(asked); }) &&
         add_scalar(to, "bloomset_info", filter, DUCKDB_TYPE_VARCHAR, info_of) &&
         add_aggregate<key_group>(to, "bloomset_agg", plan) &&
         add_aggregate<filter_group>(to, "bloomset_merge", filter);
}

}  // namespace
}  // namespace bloomset::duckdb

extern "C" [[gnu::visibility("default")]] bool bloomset_init_c_api(
    duckdb_extension_info info, duckdb_extension_access* access) {
  const auto* const api = static_cast<const duckdb_ext_api_v1*>(access->get_api(info, "v1.2.0"));
  if (api == nullptr) return false;  // DuckDB says why
  duckdb_ext_api = *api;
  duckdb_connection connection = nullptr;
  if (duckdb_connect(*access->get_database(info), &connection) != DuckDBSuccess) {
    access->set_error(info, "bloomset: no connection to the database");
    return false;
  }
  bool is_done = false;
  try {
    is_done = bloomset::duckdb::add_functions(connection);
  } catch (const std::bad_alloc&) {
  }
  duckdb_disconnect(&connection);
  if (!is_done) access->set_error(info, "bloomset: the functions could not be added");
  return is_done;
}
