# The parts of an installed Bloomery: headers, library, find_package and pkg-config files.
include(CMakePackageConfigHelpers)

install(TARGETS bloomery EXPORT bloomeryTargets)
install(TARGETS bloomery_dialects EXPORT bloomery_dialectsTargets)
install(TARGETS bloomery_keys EXPORT bloomery_keysTargets)
install(DIRECTORY include/bloomery dialects/include/bloomery keys/include/bloomery
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
set(exports bloomery bloomery_dialects bloomery_keys)
if(TARGET bloomery_leveldb)
  install(TARGETS bloomery_leveldb EXPORT bloomery_leveldbTargets)
  install(DIRECTORY dialects/leveldb/include/bloomery DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  list(APPEND exports bloomery_leveldb)
endif()
if(BLOOMERY_C)
  install(TARGETS bloomery_c_shared EXPORT bloomery_cTargets)
  if(NOT BUILD_SHARED_LIBS)
    install(TARGETS bloomery_c_static EXPORT bloomery_cTargets)
  endif()
  install(FILES bindings/c/include/bloomery.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  list(APPEND exports bloomery_c)
endif()
set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/bloomery)
foreach(export IN LISTS exports)
  install(EXPORT ${export}Targets NAMESPACE bloomery:: DESTINATION ${config_dir})
endforeach()
configure_package_config_file(cmake/bloomeryConfig.cmake.in bloomeryConfig.cmake
                              INSTALL_DESTINATION ${config_dir})
# The same rule as BLOOMERY_SOVERSION.
write_basic_package_version_file(bloomeryConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/bloomeryConfig.cmake
              ${PROJECT_BINARY_DIR}/bloomeryConfigVersion.cmake DESTINATION ${config_dir})
# Programs that link the static library also link its dependencies, with or without pkg-config
# --static. A shared library finds them by itself.
if(NOT BUILD_SHARED_LIBS)
  set(pc_static_libs " -pthread")
  set(pc_c_static "Requires.private: libxxhash fmt\nLibs.private: -lbloomery -lstdc++ -lm -pthread\n")
endif()
# Relative, so that an installed tree can be moved.
file(RELATIVE_PATH pc_to_prefix /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
set(pc_files bloomery)
if(BLOOMERY_C)
  list(APPEND pc_files bloomery-c)
endif()
foreach(pc ${pc_files})
  configure_file(cmake/${pc}.pc.in ${pc}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${pc}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
