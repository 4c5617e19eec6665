# Compiles with clang (presets sanitize and tsan).
include(${CMAKE_CURRENT_LIST_DIR}/clang.cmake)
set(CMAKE_CXX_COMPILER ${BLOOMSET_CLANG})
