# Compiles to WebAssembly with clang and Debian's wasm32 libraries. Sets BLOOMSET_WASM_MISSING to the first tool or
# library that is not installed, or to "".
include(${CMAKE_CURRENT_LIST_DIR}/clang.cmake)
set(llvm /usr/lib/llvm-${BLOOMSET_CLANG_VERSION}/lib)
find_program(BLOOMSET_WASM_LD wasm-ld-${BLOOMSET_CLANG_VERSION})
find_file(BLOOMSET_WASM_LIBC wasm32-wasi/libc.a PATHS /usr/lib NO_DEFAULT_PATH)
find_file(BLOOMSET_WASM_LIBCXX wasm32-wasi/libc++.a PATHS ${llvm} NO_DEFAULT_PATH)
find_file(BLOOMSET_WASM_RT wasi/libclang_rt.builtins-wasm32.a
          PATHS ${llvm}/clang/${BLOOMSET_CLANG_VERSION}/lib NO_DEFAULT_PATH)
mark_as_advanced(BLOOMSET_WASM_LD BLOOMSET_WASM_LIBC BLOOMSET_WASM_LIBCXX BLOOMSET_WASM_RT)
set(BLOOMSET_WASM_MISSING "")
foreach(needed RT LIBCXX LIBC LD)
  if(NOT BLOOMSET_WASM_${needed})
    set(BLOOMSET_WASM_MISSING ${needed})
  endif()
endforeach()
if(NOT BLOOMSET_CLANG)
  set(BLOOMSET_WASM_MISSING CLANG)
endif()

# A folder with links to these headers, because the system's other headers are of another architecture:
# bloomset_wasm_headers(FOLDER HEADER...)
function(bloomset_wasm_headers folder)
  file(MAKE_DIRECTORY ${folder})
  foreach(header ${ARGN})
    find_path(folder_of_header NAMES ${header} NO_CACHE REQUIRED)
    file(CREATE_LINK ${folder_of_header}/${header} ${folder}/${header} SYMBOLIC)
    unset(folder_of_header)
  endforeach()
endfunction()

# Compiles sources, those of a folder as one: bloomset_wasm_objects(RESULT FOLDER PCH FLAGS SOURCE...). PCH (a
# precompiled header) and FLAGS are names of variables.
function(bloomset_wasm_objects result folder name_of_pch name_of_flags)
  file(MAKE_DIRECTORY ${folder})
  set(groups "")
  foreach(source ${ARGN})
    cmake_path(GET source PARENT_PATH parent)
    cmake_path(RELATIVE_PATH parent BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE group)
    string(REPLACE "/" "_" group ${group})
    list(APPEND groups ${group})
    string(APPEND includes_of_${group} "#include \"${source}\"\n")
    list(APPEND sources_of_${group} ${source})
  endforeach()
  list(REMOVE_DUPLICATES groups)
  set(objects "")
  foreach(group ${groups})
    set(source ${folder}/${group}.cpp)
    set(object ${folder}/${group}.o)
    file(CONFIGURE OUTPUT ${source} CONTENT "${includes_of_${group}}")
    add_custom_command(
      OUTPUT ${object}
      COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} ${BLOOMSET_CLANG} ${${name_of_flags}} -include-pch ${${name_of_pch}} -c ${source} -o ${object}
              -MD -MF ${object}.d
      DEPENDS ${source} ${sources_of_${group}} ${${name_of_pch}}
      DEPFILE ${object}.d
      COMMENT "WebAssembly: ${group}" VERBATIM)
    list(APPEND objects ${object})
  endforeach()
  set(${result} ${objects} PARENT_SCOPE)
endfunction()
