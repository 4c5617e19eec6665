"""The vectors of the other languages are those of today's command line."""

import json
import os
import pathlib
import re

import vectors

HERE = pathlib.Path(__file__).parent
BLOOMSET = os.path.abspath(os.environ.get("BLOOMSET", HERE.parents[1] / "build" / "bloomset"))


def test_the_file_is_current():
    current = vectors.text_of(BLOOMSET)
    assert (HERE / "vectors.json").read_text() == current, (
        "write it again: python3 tests/languages/vectors.py build/bloomset > tests/languages/vectors.json")


def test_every_kind_is_there_and_some_keys_pass():
    everything = vectors.vectors(BLOOMSET)
    assert {row["kind"] for row in everything["filters"]} == {
        "blocked_bloom", "bloom", "counting_bloom", "vector_quotient", "cuckoo", "expandable", "scalable_bloom", "fuse",
        "ribbon", "exact"}
    for row in everything["filters"]:
        members = row["answers"][:len(vectors.MEMBERS)]
        assert set(members) == {"1"}, row["name"]
        assert row["answers"].count("1") < len(members) + 60, row["name"]


def test_the_packages_have_the_version_of_the_library():
    root = HERE.parents[1]
    version = re.search(r"project\(bloomset VERSION ([\d.]+)", (root / "CMakeLists.txt").read_text())[1]
    assert json.loads((root / "integrations" / "javascript" / "package.json").read_text())["version"] == version
    pom = (root / "integrations" / "java" / "pom.xml").read_text()
    assert re.search(r"<artifactId>bloomset</artifactId>\s*<version>([\d.]+)</version>", pom)[1] == version
    cargo = (root / "integrations" / "rust" / "Cargo.toml").read_text()
    assert re.search(r'^version = "([\d.]+)"', cargo, re.M)[1] == version
