#pragma once

// Filters in mapped temporary files instead of memory.

#include <bloomset/result.hpp>

namespace bloomset::cli {

/// From now on, memory of 64 KiB or more that filters allocate is in mapped temporary files. The
/// system writes its pages to the disk when it needs their memory. Precondition: no filter lives,
/// nor other owned_storage.
void use_file_memory() noexcept;

/// The failure of the last allocation, or `otherwise` if none failed.
failure file_memory_failure(failure otherwise);

/// Lets the system take back the memory of all such pages. Their contents stay.
void release_file_pages() noexcept;

}  // namespace bloomset::cli
