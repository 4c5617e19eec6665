"""bloomset merge and intersect."""

import os
import resource

import pytest
from conftest import LIMITED


@pytest.fixture
def build(run):
    """build("a.bloom", b"x\\n", kind=..., capacity=...)"""

    def make(name, keys, kind="bloom", capacity=1000, *more):
        run("build", "-o", name, "--kind", kind, "--capacity", capacity, "--fpr", "1%", *more,
            input=keys).ok()

    return make


@pytest.fixture
def kinds(plan):
    return [k["kind"] for k in plan("--capacity", 9, "--fpr", "1%")["kinds"]]


def test_the_union_is_the_filter_of_all_keys(run, info, build, lines, tmp_path):
    build("a.bloom", lines(200))
    build("b.bloom", lines(200, start=200))
    build("c.bloom", lines(100, start=400))
    build("all.bloom", lines(500))
    merged = run("merge", "-o", "abc.bloom", "a.bloom", "b.bloom", "c.bloom").ok()
    assert (merged.out, merged.err) == (b"", b"")
    assert run("check", "abc.bloom", input=lines(500)).ok().out == lines(500)
    both = [info(f) for f in ("abc.bloom", "all.bloom")]
    for figure in ("bits", "hashes", "fill", "current_fpr", "estimated_size"):
        assert both[0][figure] == both[1][figure]
    assert run("verify", "abc.bloom").ok()


def test_the_intersection_keeps_the_common_keys(run, build, lines):
    build("a.bloom", lines(300))
    build("b.bloom", lines(300, start=200))
    run("intersect", "-o", "both.bloom", "a.bloom", "b.bloom").ok()
    assert run("check", "both.bloom", input=lines(100, start=200)).ok().out == lines(100, start=200)
    # Of 1000 non-members at a rate below 1% (at a third of the capacity far below), fewer than 50.
    non_members = run("check", "-c", "both.bloom", input=lines(1000, "other"))
    assert int(non_members.out) < 50


def test_every_kind_merges_or_says_that_it_cannot(run, info, kinds, build, lines):
    for kind in kinds:
        a, b = f"{kind}-a.bloom", f"{kind}-b.bloom"
        build(a, lines(200), kind)
        build(b, lines(200, start=200), kind)
        can = info(a)["can"]
        for verb, keys in (("merge", lines(400)), ("intersect", b"")):
            out = f"{kind}-{verb}.bloom"
            done = run(verb, "-o", out, a, b)
            if verb not in can:
                done.refused(f"{a}: a filter of kind {kind} cannot {verb}; the kinds that can: "
                             "blocked_bloom, bloom")
                continue
            done.ok()
            done = run("check", "--verify", out, input=keys)
            assert (done.out, done.err) == (keys, b"")


def test_what_differs_is_named_with_both_files(run, kinds, build, tmp_path):
    build("a.bloom", b"x\n")
    build("large.bloom", b"x\n", "bloom", 2000)
    build("seeded.bloom", b"x\n", "bloom", 1000, "--seed", 5)
    run("merge", "-o", "out.bloom", "a.bloom", "large.bloom").refused(
        "a.bloom and large.bloom: the filters have 9595 and 19188 bits; folded to 1 bits")
    run("merge", "-o", "out.bloom", "a.bloom", "a.bloom", "seeded.bloom").refused(
        "a.bloom and seeded.bloom: the filters differ in seed (0 and 5)")
    for kind in kinds[1:]:
        build(f"{kind}.bloom", b"x\n", kind)
        run("merge", "-o", "out.bloom", "a.bloom", f"{kind}.bloom").refused(
            f"a.bloom and {kind}.bloom: the filters are of different kinds (bloom and {kind})")
    assert not (tmp_path / "out.bloom").exists()


def test_the_output_is_replaced_only_by_force(run, build, lines, tmp_path):
    build("a.bloom", lines(10))
    build("b.bloom", lines(10, start=10))
    (tmp_path / "out.bloom").write_bytes(b"precious")
    run("merge", "-o", "out.bloom", "a.bloom", "b.bloom").refused(
        "out.bloom: the file exists; give --force")
    assert (tmp_path / "out.bloom").read_bytes() == b"precious"
    run("merge", "--force", "-o", "out.bloom", "a.bloom", "b.bloom").ok()
    assert run("check", "out.bloom", input=lines(20)).ok().out == lines(20)


def test_an_input_that_is_damaged_leaves_the_output_as_it_was(run, build, lines, tmp_path):
    build("a.bloom", lines(10))
    build("b.bloom", lines(10, start=10))
    build("out.bloom", lines(5))
    whole = (tmp_path / "out.bloom").read_bytes()
    broken = bytearray((tmp_path / "b.bloom").read_bytes())
    broken[-1] ^= 1
    (tmp_path / "b.bloom").write_bytes(broken)
    run("merge", "--force", "-o", "out.bloom", "a.bloom", "b.bloom").refused("b.bloom: ", "checksum")
    run("merge", "--force", "-o", "out.bloom", "b.bloom", "a.bloom").refused("b.bloom: ", "checksum")
    run("merge", "--force", "-o", "out.bloom", "a.bloom", "gone.bloom").refused("gone.bloom: cannot open")
    assert (tmp_path / "out.bloom").read_bytes() == whole
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.bloom", "b.bloom", "out.bloom"]


def test_a_union_beyond_its_plan_is_warned_of(run, build, lines):
    build("a.bloom", lines(1000))
    build("b.bloom", lines(1000, start=1000))
    merged = run("merge", "-o", "ab.bloom", "a.bloom", "b.bloom").ok()
    assert merged.err.startswith(b"bloomset merge: warning: ab.bloom is overfilled: its rate is ")
    merged = run("merge", "-o", "-", "a.bloom", "b.bloom").ok()
    assert merged.err.startswith(b"bloomset merge: warning: stdout is overfilled: ")


def test_the_output_may_be_stdout(run, build, lines, tmp_path):
    build("a.bloom", lines(10))
    build("b.bloom", lines(10, start=10))
    (tmp_path / "ab.bloom").write_bytes(run("merge", "-o", "-", "a.bloom", "b.bloom").ok().out)
    assert run("check", "ab.bloom", input=lines(20)).ok().out == lines(20)


def test_arguments(run, build):
    build("a.bloom", b"x\n")
    run("merge", "-o", "out.bloom").refused("FILE")
    run("merge", "-o", "out.bloom", "a.bloom").refused("at least 2 are needed")
    run("merge", "a.bloom", "a.bloom").refused("--output is missing")
    run("merge", "-o", "no/such/out.bloom", "a.bloom", "a.bloom").refused("no/such/out.bloom")


def test_filters_that_grow_merge_at_the_rate_of_the_first_or_another(run, info, lines):
    for name, rate, start in (("a.bloom", "1%", 0), ("b.bloom", "1.5%", 30_000)):
        run("build", "-o", name, "--kind", "expandable", "--fpr", rate,
            "--capacity", "100", input=lines(30_000, start=start)).ok()
    run("merge", "-o", "ab.bloom", "a.bloom", "b.bloom").refused(
        "a.bloom and b.bloom: the union could not keep the promised rate of 0.01, because "
        "each filter has used a part of it; merge both into an empty filter")
    run("merge", "--fpr", "2%", "-o", "ab.bloom", "a.bloom", "b.bloom").ok()
    assert run("check", "-c", "ab.bloom", input=lines(60_000)).ok().out == b"60000\n"
    found = info("ab.bloom")
    assert (found["count"], found["planned_fpr"]) == (60_000, 0.02)
    assert found["current_fpr"] <= 0.02
    run("add", "ab.bloom", input=lines(30_000, start=60_000)).ok()
    assert run("check", "-c", "ab.bloom", input=lines(90_000)).ok().out == b"90000\n"


def test_another_rate_is_refused_where_filters_keep_theirs(run, build, lines):
    build("a.bloom", lines(200))
    run("merge", "--fpr", "2%", "-o", "c.bloom", "a.bloom", "a.bloom").refused(
        "a.bloom: --fpr: a filter of kind bloom keeps its rate")
    run("build", "-o", "g.bloom", "--kind", "expandable", "--fpr", "1%", input=lines(9)).ok()
    run("merge", "--fpr", "2", "-o", "c.bloom", "g.bloom", "g.bloom").refused("g.bloom: --fpr: ")


# One file at a time: with 16 open files, and less address space than the filters need together.
def test_many_filters_are_merged_one_by_one(run, build, lines, tmp_path):
    capacity = 2_000_000 if LIMITED else 20_000  # 2.4 MB
    build("whole", lines(300), "bloom", capacity)
    for i in range(3):
        build(f"part-{i}", lines(100, start=100 * i), "bloom", capacity)
    names = [f"{i}.bloom" for i in range(100)]
    for i, name in enumerate(names):
        os.link(tmp_path / f"part-{i % 3}", tmp_path / name)

    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (16, 16))
        if LIMITED:
            resource.setrlimit(resource.RLIMIT_AS, (200_000_000, 200_000_000))

    run("merge", "-o", "all.bloom", *names, preexec_fn=limit).ok()
    assert (tmp_path / "all.bloom").read_bytes() == (tmp_path / "whole").read_bytes()


@pytest.mark.parametrize("kind", ["bloom", "blocked_bloom"])
def test_an_empty_filter_does_not_reduce_the_size_of_the_union(run, info, lines, kind):
    for name, capacity, keys in (("a", 100, b""), ("b", 1000, b""), ("c", 100, lines(50)), ("d", 10_000, lines(9000))):
        run("build", "-o", name, "--kind", kind, "--capacity", capacity, input=keys).ok()
    run("merge", "-o", "ab", "a", "b").ok()
    assert info("ab")["capacity"] == 1000 and info("ab")["bytes"] == info("b")["bytes"]
    run("merge", "-o", "bc", "b", "c").ok()
    assert info("bc")["capacity"] == 100 and info("bc")["count"] == info("c")["count"]
    # Also if the rate of the other one is above its plan, which no fold has raised.
    run("build", "-q", "-o", "e", "--kind", kind, "--capacity", 10_000, input=lines(10_200)).ok()
    assert info("e")["current_fpr"] > info("e")["planned_fpr"]
    for full in "d", "e":
        for order in (full, "a"), ("a", full), ("a", full, "b"):
            run("merge", "--force", "-o", "both", *order).ok()
            assert info("both")["bytes"] == info(full)["bytes"]
