#pragma once

// valkey-bloom's type bloomfltr in RDB files and DUMP payloads, and the data of BF.LOAD, which its
// append-only files contain. Input is not trusted.

#include "valkeybloom/valkey_chain.hpp"

namespace bloomset::server {

/// The version of the type that valkey-bloom 1.0 writes.
inline constexpr int valkey_bloom_version = 1;

/// Null if the filter is damaged or does not fit into memory.
std::unique_ptr<valkey_chain> load_valkey_chain(io* stream);
void save(io* stream, const valkey_chain& filter);

/// The data of BF.LOAD.
std::vector<std::byte> load_data_of(const valkey_chain& filter);
/// The filter of such data. Throws refusal, with valkey-bloom's words.
std::unique_ptr<valkey_chain> read_load_data(std::string_view data);

}  // namespace bloomset::server
