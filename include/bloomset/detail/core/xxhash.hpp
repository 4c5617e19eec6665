#pragma once

// xxHash, inlined, with the vectors that every CPU of the architecture has. XXH3 would hash long
// keys with the widest vectors that the -m flags allow. Its code is inlined into functions that
// have one name whatever the flags are, so the code must not depend on them.

#ifndef XXH_INLINE_ALL
#define XXH_INLINE_ALL
#endif
#ifndef XXH_VECTOR
#if defined(__x86_64__)
#define XXH_VECTOR XXH_SSE2
#elif defined(__aarch64__)
#define XXH_VECTOR XXH_NEON
#endif
#endif
#include <xxhash.h>
