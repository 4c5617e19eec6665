#pragma once

// The registry's rows. Each is in a file of this folder.

#include <bloomset/keys/reader.hpp>

namespace bloomset::keys {

reader_kind lines_reader() noexcept;
reader_kind fields_reader() noexcept;
reader_kind csv_reader() noexcept;
reader_kind hex_reader() noexcept;
reader_kind base64_reader() noexcept;
reader_kind md4_reader() noexcept;
reader_kind md5_reader() noexcept;
reader_kind sha1_reader() noexcept;
reader_kind sha256_reader() noexcept;
reader_kind ntlm_reader() noexcept;
reader_kind pwned_reader() noexcept;
reader_kind password_reader() noexcept;
reader_kind url_reader() noexcept;
reader_kind safe_browsing_reader() noexcept;
reader_kind domain_reader() noexcept;
reader_kind email_reader() noexcept;
reader_kind json_reader() noexcept;

}  // namespace bloomset::keys
