# An extension of an SQL engine, one file that contains the library and exports what the folder's exported.map
# lists: bloomset_sql_extension(TARGET FILE HEADERS SOURCE...).
function(bloomset_sql_extension target file headers)
  add_library(${target} MODULE ${ARGN} ${PROJECT_SOURCE_DIR}/integrations/sql/filters.cpp)
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${file} PREFIX "" SUFFIX ".so"
                        CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/integrations)
  target_include_directories(${target} SYSTEM PRIVATE ${headers})
  target_link_libraries(${target} PRIVATE bloomset::bloomset fmt::fmt bloomset_warnings)
  bloomset_export_only(${target} ${CMAKE_CURRENT_SOURCE_DIR}/exported.map)
endfunction()
