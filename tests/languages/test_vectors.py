"""The vectors of the other languages are those of today's command line."""

import os
import pathlib

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
