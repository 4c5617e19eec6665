"""bloomset diff and bloomset patch: one filter file becomes another."""

import os
import random
import signal
import subprocess
import time

import pytest
from conftest import LIMITED
from kinds import kinds_that


def two_filters(run, lines, kind="bloom", more=()):
    run("build", "-q", "-o", "old", "--kind", kind, "--capacity", 12000, *more, input=lines(10_000)).ok()
    run("build", "-q", "-o", "new", "--kind", kind, "--capacity", 12000, *more, input=lines(10_100)).ok()


@pytest.mark.parametrize("kind", kinds_that())
def test_the_patched_file_is_the_new_one(run, lines, tmp_path, kind):
    two_filters(run, lines, kind)
    said = run("diff", "old", "new", "-o", "p").ok()
    assert said.out == b"" and said.err.startswith(b"p: ")
    run("patch", "-q", "old", "p", "-o", "again").ok()
    assert (tmp_path / "again").read_bytes() == (tmp_path / "new").read_bytes()
    assert (tmp_path / "p").stat().st_size <= (tmp_path / "new").stat().st_size + 25
    run("verify", "again").ok()
    run("patch", "old", "p").ok()  # in place
    assert (tmp_path / "old").read_bytes() == (tmp_path / "new").read_bytes()
    run("patch", "old", "p").refused("old: the file is the result of p already; there is nothing to do")


def test_labels_exceptions_and_another_kind_come_along(run, lines, tmp_path):
    run("build", "-q", "-o", "old", "--label", "day=1", input=lines(1000)).ok()
    run("build", "-q", "-o", "new", "--kind", "expandable", "--label", "source=Zoë", input=lines(90)).ok()
    run("diff", "old", "new", "-o", "p").ok()
    run("patch", "-o", "again", "old", "p").ok()
    assert (tmp_path / "again").read_bytes() == (tmp_path / "new").read_bytes()


def test_pipes(run, lines, tmp_path):
    two_filters(run, lines)
    patch = run("diff", "-q", "old", "new", "-o", "-").ok().out
    assert patch.startswith(b"\x89BPATCH\n")
    assert run("patch", "-q", "old", "/dev/stdin", "-o", "-", input=patch).ok().out == (tmp_path / "new").read_bytes()


def test_an_index_of_files_is_patched_too(run, lines, tmp_path):
    (tmp_path / "a").write_bytes(lines(500))
    (tmp_path / "b").write_bytes(lines(510))
    run("index", "-q", "-o", "old", "a").ok()
    run("index", "-q", "-o", "new", "a", "b").ok()
    run("diff", "old", "new", "-o", "p").ok()
    run("patch", "-q", "old", "p").ok()
    assert (tmp_path / "old").read_bytes() == (tmp_path / "new").read_bytes()


def test_wrong_files_are_named_and_nothing_is_written(run, lines, tmp_path):
    two_filters(run, lines)
    run("build", "-q", "-o", "other", input=lines(50)).ok()
    run("diff", "-q", "old", "new", "-o", "p").ok()
    run("patch", "other", "p").refused("other: p was made for another file, with the header checksum ",
                                       "give that file, or fetch the whole filter")
    run("patch", "old", "new", "-o", "x").refused("new: this is not a patch", "'bloomset diff'")
    run("patch", "p", "p", "-o", "x").refused("p: this is not a Bloomset filter")
    run("diff", "old", "p", "-o", "x").refused("p: this is not a Bloomset filter")
    run("diff", "old", "missing", "-o", "x").refused("missing")
    run("diff", "old", "new", "-o", "new").refused("new: this is also an input")
    run("diff", "old", "new", "-o", "p").refused("p: the file exists")
    run("patch", "old", "p", "-o", "other").refused("other: the file exists")
    run("patch", "old", "p", "-o", "p", "--force").refused("p: this is also an input")
    data = bytearray((tmp_path / "p").read_bytes())
    before = (tmp_path / "old").read_bytes()
    for at in random.Random(3).sample(range(len(data)), 40):
        bad = bytearray(data)
        bad[at] ^= 1 << at % 8
        (tmp_path / "bad").write_bytes(bad)
        run("patch", "old", "bad").refused()
        (tmp_path / "bad").write_bytes(data[:at])
        run("patch", "old", "bad").refused("bad: ")
    assert (tmp_path / "old").read_bytes() == before
    assert not (tmp_path / "x").exists()


@pytest.mark.skipif(not LIMITED, reason="sanitizers find nothing in what a killed process leaves")
def test_a_killed_patch_leaves_the_old_or_the_new_file(run, lines, tmp_path, bloomset):
    run("build", "-q", "-o", "old", "--kind", "bloom", "--capacity", "4M", input=lines(10_000)).ok()
    run("build", "-q", "-o", "new", "--kind", "bloom", "--capacity", "4M", input=lines(20_000)).ok()
    run("diff", "-q", "old", "new", "-o", "p").ok()
    old, new = ((tmp_path / name).read_bytes() for name in ("old", "new"))
    (tmp_path / "f").write_bytes(old)
    begin = time.monotonic()
    run("patch", "-q", "f", "p").ok()
    whole = time.monotonic() - begin
    seen = set()
    for i in range(300):
        if i >= 30 and len(seen) == 2:
            break
        (tmp_path / "f").write_bytes(old)
        process = subprocess.Popen([bloomset, "patch", "-q", "f", "p"], cwd=tmp_path)
        time.sleep(whole * (i + 0.5) / 20)
        process.send_signal(signal.SIGKILL)
        process.wait()
        now = (tmp_path / "f").read_bytes()
        assert now in (old, new)
        seen.add(now == new)
    assert seen == {True, False}
    assert {name for name in os.listdir(tmp_path) if not name.startswith(".")} == {"old", "new", "p", "f"}
