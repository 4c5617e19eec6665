"""The vcpkg port without vcpkg: its manifest, and its portfile with replacements of vcpkg's functions, which configure
this checkout."""

import json
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[1]
PORT = ROOT / "packaging" / "vcpkg"
MANIFEST = json.loads((PORT / "vcpkg.json").read_text())
# Of https://learn.microsoft.com/vcpkg/reference/vcpkg-json, those that a port of this kind may have.
FIELDS = {"name", "version", "port-version", "description", "homepage", "documentation", "license", "supports",
          "dependencies", "default-features", "features"}
FUNCTIONS = """
function(vcpkg_from_github)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "OUT_SOURCE_PATH;REPO;REF;SHA512;HEAD_REF" "")
  set(${arg_OUT_SOURCE_PATH} "${ROOT}" PARENT_SCOPE)
endfunction()
function(vcpkg_check_features)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "OUT_FEATURE_OPTIONS" "FEATURES")
  set(options "")
  while(arg_FEATURES)
    list(POP_FRONT arg_FEATURES feature option)
    message("feature=${feature}")
    list(APPEND options "-D${option}=ON")
  endwhile()
  set(${arg_OUT_FEATURE_OPTIONS} "${options}" PARENT_SCOPE)
endfunction()
function(vcpkg_find_acquire_program name)
  find_program(${name} pkg-config REQUIRED)
endfunction()
function(vcpkg_cmake_configure)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "SOURCE_PATH" "OPTIONS;MAYBE_UNUSED_VARIABLES")
  message("maybe_unused=${arg_MAYBE_UNUSED_VARIABLES}")
  execute_process(COMMAND ${CMAKE_COMMAND} -G Ninja -S "${arg_SOURCE_PATH}" -B build -DCMAKE_INSTALL_PREFIX=/usr
                          -DCMAKE_INSTALL_LIBDIR=lib ${arg_OPTIONS} COMMAND_ERROR_IS_FATAL ANY)
endfunction()
function(vcpkg_cmake_config_fixup)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "CONFIG_PATH" "")
  message("config=${arg_CONFIG_PATH}")
endfunction()
function(vcpkg_install_copyright)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "FILE_LIST")
  message("copyright=${arg_FILE_LIST}")
endfunction()
function(vcpkg_cmake_install)
endfunction()
function(vcpkg_fixup_pkgconfig)
endfunction()
include("${ROOT}/packaging/vcpkg/portfile.cmake")
"""


def test_the_manifest_has_the_version_and_documented_fields():
    assert set(MANIFEST) <= FIELDS
    lists = (ROOT / "CMakeLists.txt").read_text()
    assert f"project(bloomery VERSION {MANIFEST['version']} " in lists
    for part in (MANIFEST, *MANIFEST["features"].values()):
        assert part["description"]
        for each in part["dependencies"]:
            assert isinstance(each, str) or set(each) == {"name", "host"}


def test_the_portfile_configures_the_build(tmp_path):
    (tmp_path / "port.cmake").write_text(FUNCTIONS)
    done = subprocess.run(["cmake", f"-DROOT={ROOT}", "-DPORT=bloomery", "-DVERSION=0",
                           f"-DCURRENT_PACKAGES_DIR={tmp_path}/packages", "-P", "port.cmake"],
                          cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    said = done.stdout
    assert done.returncode == 0, said
    assert set(re.findall(r"^feature=(.*)$", said, re.MULTILINE)) == set(MANIFEST["features"])
    unused = re.search(r"variables were not used by the project:\n\n((?: +\S+\n)*)", said)
    maybe = re.search(r"^maybe_unused=(.*)$", said, re.MULTILINE)[1].split(";")
    assert not unused or set(unused[1].split()) <= set(maybe), said
    config = re.search(r"^config=(.*)$", said, re.MULTILINE)[1]
    assert f'"${{CMAKE_INSTALL_PREFIX}}/{config}" TYPE FILE' in (tmp_path / "build" / "cmake_install.cmake").read_text()
    for file in re.search(r"^copyright=(.*)$", said, re.MULTILINE)[1].split(";"):
        assert pathlib.Path(file).exists()
    assert (tmp_path / "packages" / "share" / "bloomery" / "usage").exists()
