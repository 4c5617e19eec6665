"""Damaged filter files on the command line: exit 2 and one sentence that names the file.

tests/file/hostile_test.cpp damages every byte in one process. The tests here start a process for each damage, and so damage
each golden file in a few places, which are others in the next file.
"""

import pathlib

import pytest

GOLDEN = sorted((pathlib.Path(__file__).resolve().parents[2] / "golden").glob("*.bloom"))
KEY = {"BLOOMSET_KEY": bytes(range(16)).hex()}  # of the golden files that need one
VERBS = (("info",), ("check",))


def damages(data):
    """(what, bytes): flips in each field of the header and over the rest, truncations, more."""
    fields = (0, 7, 8, 10, 12, 14, 16, 20, 24, 32, 40, 47, 48, 56, 63)
    rest = range(64, len(data), max(1, (len(data) - 64) // 12))
    for i in [*fields, *rest, len(data) - 1]:
        yield f"byte {i}", data[:i] + bytes([data[i] ^ 1 << i % 8]) + data[i + 1 :]
    for size in (0, 1, 8, 63, 64, 100, 128, len(data) - 1):
        yield f"the first {size} bytes", data[:size]
    yield "a byte more", data + b"\0"


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_a_damaged_file_is_refused(run, tmp_path, path):
    damaged = tmp_path / "damaged.bloom"
    some = [*damages(path.read_bytes())][GOLDEN.index(path) % 8::8]
    for number, (what, data) in enumerate(some):
        damaged.write_bytes(data)
        verb = VERBS[number % len(VERBS)]
        sentence = run(*verb, damaged, input=b"member-0\n", env=KEY).refused(str(damaged))
        assert len(sentence) > len(str(damaged)) + 30, (what, sentence)
    assert [entry.name for entry in tmp_path.iterdir()] == ["damaged.bloom"]


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_the_undamaged_file_is_read(run, path):
    run("info", path, env=KEY).ok()
    # As in support/golden_recipes.hpp.
    keys = b"partition-0\tmember-0\npartition-1\tmember-1\n" if "partitions" in path.stem else b"member-0\nmember-1\n"
    found = run("check", path, input=keys, env=KEY).ok()
    assert found.out == keys


@pytest.mark.parametrize("verb", ["add", "merge"])
def test_a_verb_that_writes_leaves_a_damaged_file_as_it_is(run, tmp_path, verb):
    damaged = tmp_path / "damaged.bloom"
    data = bytearray(GOLDEN[0].read_bytes())
    data[-1] ^= 1
    damaged.write_bytes(data)
    arguments = {"add": ["add", damaged], "merge": ["merge", "-o", tmp_path / "out", damaged, damaged]}
    run(*arguments[verb], input=b"alice\n").refused(str(damaged))
    assert damaged.read_bytes() == data
    assert [entry.name for entry in tmp_path.iterdir()] == ["damaged.bloom"]
