"""Shared libraries keep the ABI of the last release while their names stay (abidiff). Added functions are no change.
The last release is the latest tag vX.Y.Z before HEAD."""

import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Parts without a shared library that programs link.
LEFT_OUT = ("CLI", "MODULE", "EXPLORER", "EXAMPLES")


def run(*command, **options):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **options).stdout


def installed(source, work):
    """The folder with the libraries and public headers of a tree, with debugging information."""
    run("cmake", "-G", "Ninja", "-S", source, "-B", work / "build", "-DCMAKE_BUILD_TYPE=Debug",
        "-DCMAKE_CXX_FLAGS=-O0 -g", "-DBUILD_SHARED_LIBS=ON", "-DCMAKE_INSTALL_LIBDIR=lib",
        *(f"-DBLOOMSET_{part}=OFF" for part in LEFT_OUT), stderr=subprocess.DEVNULL)
    run("cmake", "--build", work / "build")
    run("cmake", "--install", work / "build", "--prefix", work / "usr")
    shutil.rmtree(work / "build")
    return work / "usr"


def changes(tree, work):
    """What abidiff says about a tree and its last release; a skip where nothing can be said."""
    found = subprocess.run(["git", "-C", tree, "describe", "--tags", "--abbrev=0", "--match", "v[0-9]*.[0-9]*.[0-9]*"],
                           capture_output=True, text=True)
    if found.returncode != 0:
        pytest.skip("no release to compare with: no tag vX.Y.Z before this commit")
    tag = found.stdout.strip()
    version = re.search(r"project\(bloomset VERSION (\d+\.\d+)\.\d+", (tree / "CMakeLists.txt").read_text())[1]
    if not tag.startswith(f"v{version}."):
        pytest.skip(f"{tag} has libraries of other names than {version}, so the ABI may differ")
    (work / "tree").mkdir()
    archive = subprocess.run(["git", "-C", tree, "archive", tag], check=True, stdout=subprocess.PIPE).stdout
    subprocess.run(["tar", "-x", "-C", work / "tree"], check=True, input=archive)
    old, new = installed(work / "tree", work / "old"), installed(tree, work / "new")
    said = ""
    for library in sorted(old.glob("lib/*.so")):
        soname = re.search(r"\(SONAME\).*\[(.*)\]", run("readelf", "-d", library))[1]
        assert (new / "lib" / soname).exists(), f"{soname} is missing"
        done = subprocess.run(["abidiff", "--no-added-syms", "--headers-dir1", old / "include", "--headers-dir2",
                               new / "include", library, new / "lib" / soname], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        said += done.stdout if done.returncode != 0 else ""
    return said


@pytest.fixture(autouse=True)
def abidiff():
    if not shutil.which("abidiff"):
        pytest.skip("abidiff is missing")


def test_the_abi_of_the_last_release(tmp_path):
    assert changes(ROOT, tmp_path) == ""


LISTS = """cmake_minimum_required(VERSION 3.25)
project(bloomset VERSION 1.2.3 LANGUAGES CXX)
add_library(bloomset api.cpp)
set_target_properties(bloomset PROPERTIES VERSION 1.2.3 SOVERSION 1.2)
install(TARGETS bloomset)
install(FILES api.hpp TYPE INCLUDE)
"""
HEADER = """struct place { int row; };
int row_of(const place& at);
int twice(int number);
"""
SOURCE = """#include "api.hpp"
int row_of(const place& at) { return at.row; }
int twice(int number) { return 2 * number; }
"""


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A library with one commit, which is the release 1.2.0."""
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "Ann")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "ann@example.com")
    folder = tmp_path / "library"
    folder.mkdir()
    for name, text in (("CMakeLists.txt", LISTS), ("api.hpp", HEADER), ("api.cpp", SOURCE)):
        (folder / name).write_text(text)
    run("git", "init", "--quiet", folder)
    run("git", "-C", folder, "add", ".")
    run("git", "-C", folder, "commit", "--quiet", "--message", "Release")
    return folder


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_a_new_function_is_no_change(tree, tmp_path):
    run("git", "-C", tree, "tag", "v1.2.0")
    edit(tree / "api.hpp", "int twice", "int thrice(int number);\nint twice")
    edit(tree / "api.cpp", "int twice", "int thrice(int number) { return 3 * number; }\nint twice")
    assert changes(tree, tmp_path) == ""


@pytest.mark.parametrize("old, new, said", [
    ("int row;", "int column; int row;", "type size changed"),
    ("int twice(int number)", "int twice(long number)", "twice(int)"),
], ids=["member", "parameter"])
def test_a_change_is_found(tree, tmp_path, old, new, said):
    run("git", "-C", tree, "tag", "v1.2.0")
    edit(tree / "api.hpp", old, new)
    if old in SOURCE:
        edit(tree / "api.cpp", old, new)
    assert said in changes(tree, tmp_path)


def test_a_new_name_may_have_another_abi(tree, tmp_path):
    run("git", "-C", tree, "tag", "v1.2.0")
    edit(tree / "CMakeLists.txt", "VERSION 1.2.3", "VERSION 1.3.0")
    with pytest.raises(pytest.skip.Exception, match="v1.2.0 has libraries of other names than 1.3, so"):
        changes(tree, tmp_path)


def test_without_a_release_it_says_so(tree, tmp_path):
    run("git", "-C", tree, "tag", "nightly")
    with pytest.raises(pytest.skip.Exception, match="no release to compare with: no tag vX.Y.Z before this commit"):
        changes(tree, tmp_path)
