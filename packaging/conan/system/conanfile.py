"""Bloomset's requirements as the system's libraries, where Conan's own packages are not wanted or not reachable:

    for each in xxhash fmt openssl zlib libidn2 nlohmann_json; do conan create packaging/conan/system --name $each; done
"""

import subprocess

from conan import ConanFile

#: The name of a package: its names for pkg-config and CMake, its library.
PACKAGES = {
    "fmt": ("fmt", "fmt", "fmt"),
    "libidn2": ("libidn2", "libidn2", "idn2"),
    "nlohmann_json": ("nlohmann_json", "nlohmann_json", None),
    "openssl": ("libcrypto", "OpenSSL", "crypto"),
    "xxhash": ("libxxhash", "xxhash", "xxhash"),
    "zlib": ("zlib", "ZLIB", "z"),
}


class System(ConanFile):
    settings = "os", "arch"

    @property
    def names(self):
        return PACKAGES[self.name]

    def set_version(self):
        self.version = subprocess.check_output(["pkg-config", "--modversion", self.names[0]], text=True).strip()

    def package_info(self):
        pkg_config, cmake, library = self.names
        self.cpp_info.set_property("cmake_file_name", cmake)
        self.cpp_info.set_property("pkg_config_name", pkg_config)
        info = self.cpp_info
        if self.name == "openssl":
            info = self.cpp_info.components["crypto"]
            info.set_property("cmake_target_name", "OpenSSL::Crypto")
        else:
            info.set_property("cmake_target_name", f"{cmake}::{cmake}")
        info.includedirs, info.libdirs, info.bindirs = [], [], []
        info.system_libs = [library] if library else []
