"""bloomset fold: smaller filters of the same keys."""

import itertools

import pytest
from kinds import kinds_that


@pytest.mark.parametrize("kind", kinds_that("fold"))
def test_a_filter_of_few_keys_becomes_small(run, info, lines, tmp_path, kind):
    run("build", "-o", "large", "--kind", kind, "--capacity", "1M", "--with", "foldable=yes",
        input=lines(5000)).ok()
    said = run("fold", "-o", "small", "large").ok()
    small, large = info("small"), info("large")
    assert said.out == b"" and said.err.startswith(b"small: ") and b" instead of 1." in said.err
    assert 4500 < small["capacity"] < 6500 and small["current_fpr"] <= 0.01
    assert small["bytes"] < 8000 < 1_000_000 < large["bytes"]
    assert run("check", "small", input=lines(5000)).ok().out == lines(5000)
    assert run("verify", "small").ok()
    # By a factor: twice the same.
    run("fold", "-q", "-o", "half", "--factor", "2", "large").ok()
    run("fold", "-q", "-o", "quarter", "--factor", "2", "half").ok()
    run("fold", "-q", "-o", "once", "--factor", "4", "large").ok()
    assert (tmp_path / "quarter").read_bytes() == (tmp_path / "once").read_bytes()
    assert info("half")["bits"] == large["bits"] // 2
    # To another rate.
    run("fold", "-q", "--force", "-o", "small", "--fpr", "20%", "large").ok()
    assert 0.1 < info("small")["current_fpr"] <= 0.2


def test_filters_whose_sizes_divide_each_other_are_merged(run, info, lines):
    for name, bits, capacity, first in (("small", 20_000, 1500, 0), ("large", 60_000, 4500, 300),
                                        ("odd", 60_001, 4500, 0), ("strict", 60_000, 1500, 300)):
        run("build", "-o", name, "--kind", "bloom", "--bits", bits, "--capacity", capacity, "--hashes", 7,
            input=lines(300, start=first)).ok()
    run("build", "-o", "both", "--kind", "bloom", "--bits", 20_000, "--hashes", 7, input=lines(600)).ok()
    for order in (("small", "large"), ("large", "small")):
        run("merge", "--force", "-o", "merged", *order).ok()
        assert info("merged")["bits"] == 20_000
        assert info("merged")["fill"] == info("both")["fill"]
        assert run("check", "merged", input=lines(600)).ok().out == lines(600)
    run("merge", "-o", "x", "large", "odd").refused(
        "large and odd: the filters have 60000 and 60001 bits; folded to 1 bits, ")
    # The highest planned rate counts, which is here that of the small filter.
    run("merge", "-o", "looser", "strict", "small").ok()
    run("build", "-o", "tight", "--kind", "bloom", "--bits", 20_000, "--capacity", 500, "--hashes", 7,
        input=lines(300)).ok()
    run("merge", "-o", "x", "strict", "tight").refused(
        "strict and tight: the filters have 60000 and 20000 bits; folded to 20000 bits, "
        "the largest size that divides all sizes, the union would have a rate of 0.000884%, above the planned 0.000275%")
    run("intersect", "-o", "x", "small", "large").refused("bits")


# Their bits do not depend on the order in any case. Their plans and refusals are tested here.
def test_the_order_of_filters_does_not_matter(run, lines, tmp_path):
    sizes = {"a": (20_000, 1500), "b": (60_000, 6000), "c": (60_000, 1500), "d": (40_000, 2900), "e": (20_000, 1499),
             "tight": (20_000, 600), "strict": (60_000, 1800)}
    for i, (name, (bits, capacity)) in enumerate(sizes.items()):
        run("build", "-o", name, "--kind", "bloom", "--bits", bits, "--capacity", capacity, "--hashes", 7,
            input=lines(300, start=300 * i)).ok()

    def merged(order):
        done = run("merge", "--force", "-o", "merged", *order)
        return (tmp_path / "merged").read_bytes() if done.code == 0 else done.refused("above the planned")[-10:]

    assert len({merged(order) for order in [*itertools.permutations("abcd")][::5]}) == 1
    assert len({merged(order) for order in itertools.permutations("abe")}) == 1
    refused = {merged(order) for order in itertools.permutations(("tight", "strict", "tight"))}
    assert len(refused) == 1


def test_a_parquet_filter_folds_to_the_one_built_for_the_keys(run, lines, tmp_path):
    parquet = ("--format", "parquet", "--with", "type=bytes")
    run("build", "-o", "large", *parquet, "--capacity", 100_000, input=lines(2000)).ok()
    run("build", "-o", "built", *parquet, "--capacity", 2000, "--fpr", "1%", input=lines(2000)).ok()
    run("fold", "-q", "-o", "small", "--fpr", "1%", "--with", "type=bytes", "large").ok()
    assert (tmp_path / "small").read_bytes() == (tmp_path / "built").read_bytes()
    run("fold", "-o", "x", "--with", "type=bytes", "large").refused("does not store a rate; give --fpr or --factor")


def test_what_cannot_be_folded_is_said(run, lines, tmp_path):
    run("build", "-o", "f", "--kind", "bloom", "--bits", 1000, "--hashes", 3, input=lines(50)).ok()
    run("fold", "-o", "x", "--factor", "7", "f").refused(
        "f: a filter of 1000 bits cannot be folded by 7; the factor must divide the size")
    run("fold", "-o", "x", "--factor", "2", "--fpr", "1%", "f").refused("--fpr and --factor contradict each other")
    run("fold", "-o", "x", "--fpr", "0.0000001", "f").refused("f: the filter's rate is already above the requested one")
    run("fold", "-o", "x", "--factor", "0", "f").refused("--factor: '0' is not a count: it must be at least 1")
    run("build", "-o", "c", "--kind", "cuckoo", input=lines(50)).ok()
    run("fold", "-o", "x", "c").refused(
        "c: a filter of kind cuckoo cannot be folded; the kinds that can: blocked_bloom, bloom")
    run("build", "-o", "d", "--format", "dcso", "--capacity", 50, input=lines(50)).ok()
    run("fold", "-o", "x", "--fpr", "1%", "d").refused("a filter of format dcso cannot be folded")
    run("build", "-o", "g", "--with", "foldable=maybe", input=lines(5)).refused("foldable=maybe is not yes or no")
    damaged = bytearray((tmp_path / "f").read_bytes())
    damaged[-1] ^= 1
    (tmp_path / "f").write_bytes(damaged)
    run("fold", "-o", "x", "f").refused("checksum")
    assert not (tmp_path / "x").exists()
