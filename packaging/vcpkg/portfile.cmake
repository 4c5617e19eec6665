# SHA512 is of the tarball of the release's tag.
vcpkg_from_github(
    OUT_SOURCE_PATH SOURCE_PATH
    REPO bloomery/bloomery
    REF "v${VERSION}"
    SHA512 0
    HEAD_REF main
)
vcpkg_check_features(
    OUT_FEATURE_OPTIONS FEATURE_OPTIONS
    FEATURES
        dialects BLOOMERY_DIALECTS
        keys     BLOOMERY_KEYS
)
vcpkg_find_acquire_program(PKGCONFIG)
vcpkg_cmake_configure(
    SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS
        ${FEATURE_OPTIONS}
        -DBLOOMERY_CLI=OFF
        -DBLOOMERY_C=OFF
        -DBLOOMERY_MODULE=OFF
        -DBLOOMERY_EXPLORER=OFF
        -DBLOOMERY_EXAMPLES=OFF
        -DBLOOMERY_SQLITE=OFF
        -DBLOOMERY_POSTGRES=OFF
        -DBLOOMERY_DUCKDB=OFF
        -DCMAKE_DISABLE_FIND_PACKAGE_leveldb=ON
        "-DPKG_CONFIG_EXECUTABLE=${PKGCONFIG}"
    MAYBE_UNUSED_VARIABLES
        CMAKE_DISABLE_FIND_PACKAGE_leveldb
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/bloomery)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
