"""Kinds that are built once from all their keys, from the command line to the answers."""

import os
import re

import pytest
from kinds import kinds_that

KINDS = kinds_that(insert=False)  # of one set of keys; of two: test_two_sets.py


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


def test_it_is_built_checked_told_of_and_verified(run, info, kind, lines, tmp_path):
    built = run("build", "-o", "f.bloom", "--kind", kind, "--fpr", "0.5%", input=lines(10_000)).ok()
    assert built.err.startswith(b"f.bloom: 10,000 keys, ")
    assert run("check", "f.bloom", input=lines(10_000)).ok().out == lines(10_000)
    # Binomial, at most 100 of 20,000 with deviation 10: 7 of those above has a chance below 1e-8.
    non_members = run("check", "-c", "f.bloom", input=lines(20_000, "non-member"))
    assert 0 < int(non_members.out) <= 100 + 7 * 10
    found = info("f.bloom")
    assert (found["count"], found["capacity"], found["estimated_size"]) == (10_000,) * 3
    assert found["can"] == [] and found["overfilled"] is False
    assert 0 < found["current_fpr"] <= 0.005
    assert re.search(rb"\n  can +query only\n", run("info", "f.bloom").ok().out)
    assert run("verify", "f.bloom").ok().out == b"f.bloom: ok\n"
    assert os.listdir(tmp_path) == ["f.bloom"]


def test_no_keys_make_a_filter_that_denies_all(run, info, kind):
    run("build", "-o", "f.bloom", "--kind", kind).ok()
    found = info("f.bloom")
    assert (found["count"], found["current_fpr"], found["bits"]) == (0, 0, 0)
    assert run("check", "f.bloom", input=b"a\nb\n\n").code == 1
    assert run("verify", "f.bloom").ok()


@pytest.mark.parametrize("verb,sentence", [
    ("add", "f.bloom: a filter of kind {} accepts no keys after it is built; build a new one"),
    ("remove", "f.bloom: a filter of kind {} cannot remove keys"),
    ("count", "f.bloom: a filter of kind {} cannot count"),
])
def test_what_it_cannot_do_is_said_in_one_sentence(run, kind, verb, sentence, tmp_path):
    run("build", "-o", "f.bloom", "--kind", kind, input=b"a\n").ok()
    before = (tmp_path / "f.bloom").read_bytes()
    run(verb, "f.bloom", input=b"b\n").refused(sentence.format(kind))
    assert (tmp_path / "f.bloom").read_bytes() == before


def test_memory_alone_gives_the_lowest_rate_that_fits(run, info, kind, lines, tmp_path):
    run("build", "-o", "f.bloom", "--kind", kind, "--memory", "100kB", input=lines(50_000)).ok()
    found = info("f.bloom")
    assert found["bytes"] <= 100_000
    # 16 bits a key, of which at most one and a half are lost to whole bits and overhead.
    assert found["current_fpr"] < 2**-13
    run("build", "-o", "g.bloom", "--kind", kind, "--memory", "100kB", "--fpr", "1e-6",
        input=lines(50_000)).refused("more memory")
    assert not (tmp_path / "g.bloom").exists()


def test_more_keys_than_said_are_told_or_with_strict_an_error(run, kind, lines, tmp_path):
    args = ("--kind", kind, "--capacity", 10, "--fpr", "1%")
    built = run("build", "-o", "f.bloom", *args, input=lines(100)).ok()
    assert b"warning: f.bloom: 100 keys were read, more than the --capacity of 10;" in built.err
    assert run("check", "-c", "f.bloom", input=lines(100)).ok().out == b"100\n"
    run("build", "-o", "g.bloom", "--strict", *args, input=lines(100)).refused(
        "100 keys were read, more than the --capacity of 10 (--strict: nothing was written)")
    assert not (tmp_path / "g.bloom").exists()
    assert run("build", "-o", "g.bloom", "--strict", *args, input=lines(10)).ok()


def test_options_of_its_own(run, info):
    for arity in (3, 4):
        run("build", "-o", "f.bloom", "--force", "--kind", "fuse", "--with", f"arity={arity}",
            "--with", "fingerprint_bits=11", input=b"a\nb\n").ok()
        found = info("f.bloom")
        assert found["extras"]["arity"] == arity
        assert found["current_fpr"] == pytest.approx(2**-11)
    for given, sentence in (("arity=5", "a fuse filter has arity 3 or 4, not 5"),
                            ("fingerprint_bits=33", "give at most 32"),
                            ("slots=2", "has no option 'slots'")):
        run("build", "-o", "g.bloom", "--kind", "fuse", "--with", given).refused(sentence)
    run("build", "-o", "g.bloom", "--kind", "fuse", "--hashes", 3).refused("number of hash functions does not apply")
