"""Kinds that are built from members and all keys of a universe, from the command line to the answers."""

import gzip
import json
import math
import os
import re

import pytest
from kinds import kinds_that


@pytest.fixture(params=kinds_that(of_two_sets=True))
def kind(request):
    return request.param


@pytest.fixture
def universe(lines, tmp_path):
    """20,000 keys and the 200 members in all.txt, and the members in members.txt."""
    (tmp_path / "members.txt").write_bytes(lines(200))
    (tmp_path / "all.txt").write_bytes(lines(20_000, "other") + lines(200))


def build(run, kind, *more, **options):
    return run("build", "-o", "f.bloom", "--kind", kind, "--universe", "all.txt", *more, **options)


def test_every_key_of_the_universe_is_answered_exactly(run, info, kind, lines, universe, tmp_path):
    built = build(run, kind, "members.txt").ok()
    assert re.fullmatch(rb"f\.bloom: 200 members of a universe of 20,200 keys, \d+ B, \d+\.\d\d bits/member; "
                        rb"keys outside the universe pass at a rate of 0\.781%\n", built.err), built.err
    assert run("check", "f.bloom", "all.txt").ok().out == lines(200)
    found = info("f.bloom")
    assert (found["count"], found["capacity"], found["current_fpr"]) == (200, 200, 2**-7)
    assert found["can"] == [] and found["overfilled"] is False and found["extras"]["holds"] == "members"
    assert "answered exactly" in found["extras"]["meaning"]
    # 20,000 at 1/128: 156 expected, deviation 12.5; beyond 7 of them is a chance below 1e-10.
    passed = int(run("check", "-c", "f.bloom", input=lines(20_000, "unknown")).out)
    assert abs(passed - 156) < 7 * 12.5
    assert run("verify", "f.bloom").ok().out == b"f.bloom: ok\n"


def test_a_universe_has_what_its_queries_look_up(run, kind, tmp_path):
    """A query of a domain looks up its parents, which a universe of names therefore has, too."""
    names = [f"host{i}.zone{i % 50}.example.org" for i in range(400)]
    listed = [*names[:20], "zone7.example.org"]
    (tmp_path / "all.txt").write_text("".join(name + "\n" for name in names))
    run("build", "-q", "-o", "f", "--kind", kind, "--keys", "domain:hosts", "--universe", "all.txt",
        input="".join(f"0.0.0.0 {name}\n" for name in listed).encode()).ok()
    blocked = [name for name in names if name in listed or name.endswith(".zone7.example.org")]
    assert run("check", "f", "all.txt").ok().out.decode().splitlines() == blocked


def test_order_repetitions_packing_and_files_do_not_matter(run, kind, lines, universe, tmp_path):
    build(run, kind, "members.txt").ok()
    first = (tmp_path / "f.bloom").read_bytes()
    turned = lines(20_000, "other").splitlines(keepends=True)[::-1]
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"".join(turned[:7000]) * 3))
    (tmp_path / "b.txt").write_bytes(b"".join(turned[6000:]))
    run("build", "--force", "-o", "g.bloom", "--kind", kind, "--universe", "a.gz", "--universe", "b.txt",
        input=b"".join(lines(200).splitlines(keepends=True)[::-1]) * 2).ok()
    assert _unlabelled(tmp_path / "g.bloom") == _unlabelled(tmp_path / "f.bloom")
    assert len(first) == len((tmp_path / "g.bloom").read_bytes())
    # In temporary files, too.
    build(run, kind, "--force", "--memory-limit", "64MB", "members.txt").ok()
    assert (tmp_path / "f.bloom").read_bytes() == first


def _unlabelled(path):
    from unlabelled import unlabelled
    return unlabelled(path.read_bytes())


def test_more_members_than_others_are_negated(run, info, kind, lines, tmp_path):
    (tmp_path / "all.txt").write_bytes(lines(5000) + lines(100, "other"))
    build(run, kind, input=lines(5000)).ok()
    assert run("check", "f.bloom", "all.txt").ok().out == lines(5000)
    found = info("f.bloom")
    assert found["count"] == 5000 and found["extras"]["holds"] == "other keys" and found["current_fpr"] > 0.9


def test_the_universe_may_be_stdin(run, kind, lines, universe):
    run("build", "-q", "-o", "f.bloom", "--kind", kind, "--universe", "-", "members.txt",
        input=lines(20_000, "other")).ok()
    assert run("check", "f.bloom", "all.txt").ok().out == lines(200)


def test_no_members_and_no_others(run, kind, lines, universe, tmp_path):
    build(run, kind, input=b"").ok()
    assert run("check", "f.bloom", "all.txt").code == 1
    (tmp_path / "all.txt").write_bytes(b"")
    build(run, kind, "--force", "members.txt").ok()
    assert run("check", "-c", "f.bloom", "members.txt").out == b"200\n"


def test_what_does_not_fit_together_is_refused(run, kind, lines, universe, tmp_path):
    args = ("build", "-o", "f.bloom")
    run(*args, "--kind", kind, "members.txt").refused("give a file of all keys with --universe")
    run(*args, "--universe", "all.txt", "members.txt").refused(f"has no use for other keys; give --kind {kind}")
    for option in (("--fpr", "1%"), ("--memory", "1MB")):
        build(run, kind, *option, "members.txt").refused("leave the rate and the memory out")
    run(*args, "--kind", kind, "--universe", "-").refused("stdin cannot have both")
    run(*args, "--kind", kind, "--universe", "no.txt", "members.txt").refused("no.txt: cannot open")
    build(run, kind, "--part", "1/2", "members.txt").refused("cannot be merged")
    assert sorted(os.listdir(tmp_path)) == ["all.txt", "members.txt"]
    build(run, kind, "members.txt").ok()
    run("add", "f.bloom", input=b"b\n").refused(f"f.bloom: a filter of kind {kind} accepts no keys after it is built")


def test_a_plan_is_near_what_is_built_and_near_the_least_possible(run, info, kind, universe):
    build(run, kind, "members.txt").ok()
    plan = json.loads(run("plan", "--kind", kind, "--capacity", 200, "--universe", 20_200, "--json").ok().out)
    assert plan["planned_fpr"] == 2**-7 and plan["rate_assumed"] is False
    assert abs(plan["bytes"] - info("f.bloom")["bytes"]) < 30
    share = 1 / 101
    least = -101 * (share * math.log2(share) + (1 - share) * math.log2(1 - share))
    assert math.isclose(plan["information_bound"], least, rel_tol=1e-9)
    large = json.loads(run("plan", "--kind", kind, "--capacity", "1M", "--universe", "101M", "--json").ok().out)
    assert 1 < large["bits_per_key"] / large["information_bound"] < 1.035
    assert b" for these two sets" in run("plan", "--kind", kind, "--capacity", "1M", "--universe", "101M").ok().out
    run("plan", "--kind", kind, "--capacity", "1M").refused("give the capacity and the universe")
    run("plan", "--kind", kind, "--capacity", "1M", "--universe", "10").refused("a universe of 10 keys is out of range")
    run("plan", "--kind", kind, "--capacity", "1M", "--universe", "x").refused("universe: 'x'")
