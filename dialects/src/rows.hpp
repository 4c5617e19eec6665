#pragma once

// The registry's rows. Each is in a file of this folder.

#include <bloomset/dialects/dialect.hpp>

namespace bloomset::dialects {

dialect squid_dialect() noexcept;
dialect parquet_dialect() noexcept;
dialect leveldb_dialect() noexcept;
dialect dcso_dialect() noexcept;
dialect guava_dialect() noexcept;
dialect spark_dialect() noexcept;
dialect cassandra_dialect() noexcept;
dialect bip37_dialect() noexcept;
dialect cascade_dialect() noexcept;
dialect clubcard_dialect() noexcept;
dialect passwdqc_dialect() noexcept;
dialect poppy_dialect() noexcept;

/// A row's place in all().
enum class row : std::uint8_t {
  squid,
  parquet,
  leveldb,
  dcso,
  guava,
  spark,
  cassandra,
  bip37,
  cascade,
  clubcard,
  passwdqc,
  poppy
};

inline const dialect& row_of(row which) noexcept {
  return all()[static_cast<std::size_t>(which)];
}

}  // namespace bloomset::dialects
