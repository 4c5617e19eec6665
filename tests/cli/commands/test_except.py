"""`except`: known false positives that a file lists and answers "no" to."""

import json
import re

import pytest

from kinds import kinds_that

KEYS = b"".join(b"member-%d\n" % i for i in range(1000))
OTHERS = b"".join(b"non-member-%d\n" % i for i in range(20_000))


# All kinds are in tests/file/exceptions_test.cpp.
@pytest.fixture(params=[kinds_that("insert")[0], kinds_that(insert=False)[0]])
def filter(request, run):
    """A filter in f, and the non-members that pass it."""
    run("build", "-o", "f", "--kind", request.param, "--fpr", "5%", input=KEYS).ok()
    passing = run("check", "f", input=OTHERS).ok().out
    assert 20 < passing.count(b"\n") < 2000
    return request.param, passing


def test_false_positives_are_denied_from_then_on(run, filter):
    _, passing = filter
    n = passing.count(b"\n")
    done = run("except", "f", input=OTHERS).ok()
    assert done.out == b""
    assert done.err == (f'f: 20,000 keys read, {n:,} exceptions added, {20_000 - n:,} got "no" before; '
                        f"now {n:,} of at most 4,096\n").encode()
    assert run("check", "f", input=OTHERS).code == 1
    assert run("check", "f", input=KEYS).out == KEYS
    assert json.loads(run("info", "--json", "f").ok().out)["exceptions"] == n
    assert re.search(rf"exceptions +{n:,} keys of at most 4,096\n".encode(), run("info", "f").ok().out)
    run("verify", "f").ok()
    # Nothing new: the file stays.
    assert b" 0 exceptions added" in run("except", "f", input=OTHERS).ok().err
    assert run("except", "-q", "f", input=OTHERS).ok().err == b""


def test_exceptions_end_by_undo_and_by_add(run, filter):
    kind, passing = filter
    first, second, *_ = passing.splitlines(keepends=True)
    run("except", "-q", "f", input=passing).ok()
    done = run("except", "--undo", "f", input=first + b"unknown\n").ok()
    assert b"2 keys read, 1 exception ended; now " in done.err
    assert run("check", "f", input=passing).out == first
    if kind in kinds_that("insert"):
        run("add", "-q", "f", input=second).ok()
        assert run("check", "f", input=passing).out == first + second


def test_the_key_reader_of_the_filter_is_used(run):
    members = b"".join(b"http://example.org/member-%d\n" % i for i in range(1000))
    run("build", "-q", "-o", "f", "--keys", "url", "--fpr", "50%", input=members).ok()
    asked = b"".join(b"http://example.org/%d\n" % i for i in range(50))
    passing = run("check", "f", input=asked).ok().out
    run("except", "-q", "f", input=passing).ok()
    assert run("check", "f", input=passing.replace(b"http://example", b"HTTP://EXAMPLE")).code == 1


def test_more_than_the_limit_is_refused_and_changes_nothing(run, tmp_path):
    run("build", "-q", "-o", "f", "--kind", "bloom", "--capacity", "10", "--fpr", "50%", input=KEYS).ok()
    before = (tmp_path / "f").read_bytes()
    many = b"".join(b"x%d\n" % i for i in range(5000))
    run("except", "f", input=many).refused("f: ", "more than 4096 exceptions", "lower rate")
    assert (tmp_path / "f").read_bytes() == before


def test_a_filter_of_128_bit_hashes_and_other_files_are_refused(run, tmp_path):
    run("build", "-q", "-o", "f", "--fpr", "1e-12", input=KEYS).ok()
    run("except", "f", input=b"x\n").refused("f: ", "128-bit hashes")
    (tmp_path / "words").write_bytes(KEYS)
    run("except", "words", input=b"x\n").refused("words: ")
    run("except", "missing", input=b"x\n").refused("missing: ")


def test_a_union_denies_what_both_deny(run):
    run("build", "-q", "-o", "a", "--capacity", "1000", "--fpr", "10%", input=KEYS).ok()
    run("build", "-q", "-o", "b", "--capacity", "1000", "--fpr", "10%", input=b"other\n").ok()
    passing = run("check", "a", input=OTHERS).ok().out
    run("except", "-q", "a", input=passing).ok()
    run("merge", "-o", "all", "a", "b").ok()
    assert run("check", "all", input=passing).code == 1
    assert run("check", "all", input=KEYS + b"other\n").out == KEYS + b"other\n"
