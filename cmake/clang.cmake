# Finds clang: BLOOMSET_CLANG, and BLOOMSET_CLANG_VERSION if its name ends with one. It is the clang that
# scripts/install-packages.sh installs, because that reads the same list of versions.
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/clang-versions.txt clang_names REGEX "^[0-9]")
separate_arguments(clang_names)
list(TRANSFORM clang_names PREPEND clang++-)
find_program(BLOOMSET_CLANG NAMES ${clang_names} clang++)
mark_as_advanced(BLOOMSET_CLANG)
string(REGEX MATCH "[0-9]+$" BLOOMSET_CLANG_VERSION "${BLOOMSET_CLANG}")
