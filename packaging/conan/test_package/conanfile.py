"""Builds and runs the consumers of tests/consumer, which print one member and one non-member."""

import io
import os

from conan import ConanFile
from conan.errors import ConanException
from conan.tools.build import can_run
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout


class Consumer(ConanFile):
    settings = "os", "arch", "compiler", "build_type"
    generators = "CMakeDeps"

    def requirements(self):
        self.requires(self.tested_reference_str)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.user_presets_path = False
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def test(self):
        if not can_run(self):
            return
        options = self.dependencies["bloomset"].options
        for program in ("main", *(part for part in ("dialects", "keys") if options.get_safe(part))):
            said = io.StringIO()
            self.run(os.path.join(self.cpp.build.bindir, program), said, env="conanrun")
            if not said.getvalue().endswith("maybe\nno\n"):
                raise ConanException(f"{program}: wrong answers: {said.getvalue()}")
