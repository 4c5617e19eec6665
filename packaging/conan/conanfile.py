"""Conan 2: `conan create packaging/conan`. The options dialects and keys add the components of these names."""

import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir
from conan.tools.gnu import PkgConfigDeps

required_conan_version = ">=2.4"


class Bloomset(ConanFile):
    name = "bloomset"
    description = "Bloom filters and their kin: approximate sets with a known error rate"
    license = "MIT"
    topics = ("bloom-filter", "cuckoo-filter", "quotient-filter", "ribbon-filter", "approximate-membership")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False], "dialects": [True, False], "keys": [True, False]}
    default_options = {"shared": False, "fPIC": True, "dialects": False, "keys": False}
    implements = ["auto_shared_fpic"]

    @property
    def root(self):
        return os.path.join(self.recipe_folder, "..", "..")

    def set_version(self):
        lists = load(self, os.path.join(self.root, "CMakeLists.txt"))
        self.version = re.search(r"project\(bloomset VERSION ([0-9.]+)", lists)[1]

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "src/*", "dialects/*", "keys/*"):
            copy(self, pattern, self.root, self.export_sources_folder)

    def requirements(self):
        # The headers include xxHash's.
        self.requires("xxhash/[>=0.8.1 <0.9]", transitive_headers=True)
        # CMakeLists.txt looks for fmt in every case, but the core does not link it.
        self.requires("fmt/[>=9]", visible=bool(self.options.dialects or self.options.keys))
        if self.options.dialects or self.options.keys:
            self.requires("openssl/[>=3 <4]")
        if self.options.dialects:
            self.requires("zlib/[>=1.2.11 <2]")
        if self.options.keys:
            self.requires("libidn2/[>=2.3 <3]")
            self.requires("nlohmann_json/[>=3.11 <4]")

    def validate(self):
        check_min_cppstd(self, 20)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for part in ("CLI", "C", "MODULE", "EXPLORER", "EXAMPLES", "SQLITE", "DUCKDB", "POSTGRES"):
            toolchain.cache_variables[f"BLOOMSET_{part}"] = False
        toolchain.cache_variables["BLOOMSET_DIALECTS"] = bool(self.options.dialects)
        toolchain.cache_variables["BLOOMSET_KEYS"] = bool(self.options.keys)
        # LevelDB of the machine is no requirement of the package.
        toolchain.cache_variables["CMAKE_DISABLE_FIND_PACKAGE_leveldb"] = True
        toolchain.generate()
        CMakeDeps(self).generate()
        PkgConfigDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        # Conan generates files for find_package and pkg-config from package_info.
        rmdir(self, os.path.join(self.package_folder, "lib", "cmake"))
        rmdir(self, os.path.join(self.package_folder, "lib", "pkgconfig"))

    def package_info(self):
        core = self.cpp_info.components["core"]
        core.set_property("cmake_target_name", "bloomset::bloomset")
        core.set_property("pkg_config_name", "bloomset")
        core.libs = ["bloomset"]
        core.requires = ["xxhash::xxhash"]
        if self.settings.os == "Linux":
            core.system_libs = ["pthread", "m"]
        for part, requires in (("dialects", ["fmt::fmt", "openssl::crypto", "zlib::zlib"]),
                               ("keys", ["fmt::fmt", "openssl::crypto", "libidn2::libidn2",
                                         "nlohmann_json::nlohmann_json"])):
            if self.options.get_safe(part):
                component = self.cpp_info.components[part]
                component.libs = [f"bloomset_{part}"]
                component.requires = ["core", *requires]
