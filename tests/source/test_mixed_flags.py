"""Programs whose translation units are compiled for different CPUs.

The linker keeps one definition of each inline function, from the translation unit that it sees
first. If that unit was compiled for a CPU with AVX-512, a caller that was compiled for every CPU
would run it. Code that headers choose by -m flags must therefore not be in a function that other
units can be linked to. (tests/mixed/ runs such a program. It cannot detect a wrong choice if the
CPU has all instructions.)
"""

import os
import pathlib
import platform
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Instructions that no compiler comes upon by itself at -O0: they are written in our headers.
WRITTEN = re.compile(r"\b(pdep|vptest\w*|vpmultishiftqb|vprolvq|vpsllv\w|vpsrlv\w|vpmull\w)\b")


@pytest.fixture(scope="module")
def functions(tmp_path_factory):
    """(linkage, name, instructions) of every function of tests/mixed/side.cpp for a large CPU."""
    if platform.machine() != "x86_64":
        pytest.skip("the headers choose by -m flags on x86-64 only")
    made = tmp_path_factory.mktemp("mixed") / "side.o"
    subprocess.run([os.environ.get("CXX", "c++"), "-std=c++20", "-O0", "-march=x86-64-v4",
                    "-mavx512vbmi", "-DBLOOMSET_SIDE_NAME=this_cpu", f"-I{ROOT}",
                    f"-I{ROOT / 'include'}", "-c", str(ROOT / "tests/mixed/side.cpp"),
                    "-o", str(made)], check=True)

    def output(*command):
        return subprocess.run([*command, str(made)], check=True, capture_output=True,
                              text=True).stdout

    linkage = {}
    for line in output("nm", "--defined-only").splitlines():
        _, kind, name = line.split(maxsplit=2)
        linkage[name] = kind
    found = []
    for block in re.split(r"\n\n", output("objdump", "-d", "--no-show-raw-insn")):
        head = re.match(r"\s*[0-9a-f]+ <(.+)>:", block)
        if head:
            found.append((linkage.get(head[1], "t"), head[1], block))
    return found


def test_the_headers_do_choose(functions):
    chosen = {m for _, _, code in functions for m in WRITTEN.findall(code)}
    assert {"pdep", "vpmultishiftqb"} <= chosen


def test_no_function_that_others_are_linked_to_has_what_was_chosen(functions):
    shared = [(name, sorted(set(WRITTEN.findall(code)))) for kind, name, code in functions
              if kind in "WVu" and WRITTEN.search(code)]
    assert shared == []


def test_hashes_are_computed_by_the_same_code_everywhere(functions):
    wide = [name for _, name, code in functions if re.search(r"\bvpmuludq .*%[yz]mm", code)]
    assert wide == []
