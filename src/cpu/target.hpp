#pragma once

// BLOOMSET_TARGET_BEGIN("avx2,bmi2") ... BLOOMSET_TARGET_END: the code between may use these
// instructions, whatever the build allows elsewhere. Headers are included before, so that no inline
// function of theirs is emitted with instructions that other callers' CPUs lack.

#define BLOOMSET_PRAGMA(text) _Pragma(#text)
#if defined(__clang__)
#define BLOOMSET_TARGET_BEGIN(features) \
  BLOOMSET_PRAGMA(clang attribute push(__attribute__((target(features))), apply_to = function))
#define BLOOMSET_TARGET_END BLOOMSET_PRAGMA(clang attribute pop)
#else
#define BLOOMSET_TARGET_BEGIN(features) \
  BLOOMSET_PRAGMA(GCC push_options) BLOOMSET_PRAGMA(GCC target(features))
#define BLOOMSET_TARGET_END BLOOMSET_PRAGMA(GCC pop_options)
#endif
