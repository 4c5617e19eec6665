"""The ribbon filter on the command line: the smallest file at any rate."""

import json

import pytest


def test_it_is_built_checked_told_of_and_verified(run, lines, tmp_path):
    built = run("build", "-o", "f.bloom", "--kind", "ribbon", "--fpr", "1%", input=lines(50_000)).ok()
    assert built.err.startswith(b"f.bloom: 50,000 keys, ")
    assert run("check", "f.bloom", input=lines(50_000)).ok().out == lines(50_000)
    # Binomial, at most 1000 of 100,000 with deviation 32: 6 of those above has a chance below 1e-8.
    non_members = run("check", "-c", "f.bloom", input=lines(100_000, "stranger"))
    assert 0 < int(non_members.out) <= 1000 + 6 * 32
    found = json.loads(run("info", "--json", "f.bloom").ok().out)
    assert (found["kind"], found["count"], found["can"]) == ("ribbon", 50_000, [])
    assert 0.0099 < found["current_fpr"] <= 0.01
    # 1.02 of the 6.72 columns that 1% takes, and the file's 64 + 192 bytes.
    assert (tmp_path / "f.bloom").stat().st_size * 8 < 1.02 * 6.72 * 50_000 + 8 * 256
    assert run("verify", "f.bloom").ok().out == b"f.bloom: ok\n"


@pytest.mark.parametrize("verb,sentence", [
    ("add", "f.bloom: a filter of kind ribbon accepts no keys after it is built; build a new one"),
    ("remove", "f.bloom: a filter of kind ribbon cannot remove keys"),
    ("count", "f.bloom: a filter of kind ribbon cannot count"),
])
def test_what_it_cannot_do_is_said_in_one_sentence(run, verb, sentence, tmp_path):
    run("build", "-o", "f.bloom", "--kind", "ribbon", input=b"a\n").ok()
    before = (tmp_path / "f.bloom").read_bytes()
    run(verb, "f.bloom", input=b"b\n").refused(sentence)
    assert (tmp_path / "f.bloom").read_bytes() == before


def test_it_is_not_merged(run):
    for name in ("a.bloom", "b.bloom"):
        run("build", "-o", name, "--kind", "ribbon", input=name.encode()).ok()
    run("merge", "-o", "c.bloom", "a.bloom", "b.bloom").refused(
        "a.bloom: a filter of kind ribbon cannot ")


def test_it_is_recommended_where_nothing_changes_and_memory_counts(run):
    found = json.loads(run("plan", "--json", "--capacity", "1M", "--fpr", "1%", "--static").ok().out)
    assert found["kind"] == "ribbon"
