#pragma once

// Included before everything else, so that an older language is the first that a compiler reports.

#if (defined(_MSVC_LANG) ? _MSVC_LANG : __cplusplus) < 202002L
#error "Bloomset needs C++20: compile with -std=c++20 or /std:c++20, or later"
#endif
