#pragma once

// BLOOMERY_TARGET_BEGIN("avx2,bmi2") ... BLOOMERY_TARGET_END: the code between may use these
// instructions, whatever the build allows elsewhere. Headers are included before, so that no inline
// function of theirs is emitted with instructions that other callers' CPUs lack.

#define BLOOMERY_PRAGMA(text) _Pragma(#text)
#if defined(__clang__)
#define BLOOMERY_TARGET_BEGIN(features) \
  BLOOMERY_PRAGMA(clang attribute push(__attribute__((target(features))), apply_to = function))
#define BLOOMERY_TARGET_END BLOOMERY_PRAGMA(clang attribute pop)
#else
#define BLOOMERY_TARGET_BEGIN(features) \
  BLOOMERY_PRAGMA(GCC push_options) BLOOMERY_PRAGMA(GCC target(features))
#define BLOOMERY_TARGET_END BLOOMERY_PRAGMA(GCC pop_options)
#endif
