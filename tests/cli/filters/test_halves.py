"""Rates that 64-bit hashes cannot give: filters with 128-bit hashes."""

import pytest
from kinds import kinds_that

KINDS = kinds_that(takes_128_bits=True)


@pytest.mark.parametrize("kind", KINDS)
def test_a_plan_of_half_a_billion_keys_at_one_in_a_trillion(plan, kind):
    found = plan("--kind", kind, "--capacity", "500M", "--fpr", "1e-12")
    assert found["hash_bits"] == 128 and 0.9e-12 < found["planned_fpr"] <= 1e-12
    assert plan("--kind", kind, "--capacity", "500M", "--fpr", "1e-8")["hash_bits"] == 64


def test_the_plan_says_so_and_its_line_builds_it(run, lines, tmp_path):
    shown = run("plan", "--kind", "bloom", "--capacity", "1000", "--bits", "60000", "--hash", "xxh3-2x64").ok().out.decode()
    assert "128: two 64-bit hashes" in shown and "--hash xxh3-2x64" in shown
    line = next(line for line in shown.splitlines() if line.startswith("  bloomset build")).split()
    (tmp_path / "members.txt").write_bytes(lines(1000))
    run(*line[1:]).ok()
    assert b"xxh3-2x64, seed 0" in run("info", "members.bloom").ok().out


@pytest.mark.parametrize("sized", [[], ["--capacity", 3000], ["--memory", "100kB"]])
@pytest.mark.parametrize("keyed", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_it_is_built_asked_and_verified(run, info, secret, lines, kind, keyed, sized):
    key = ["--key-file", secret] if keyed else []
    wanted = ["--hash", "siphash-2x64" if keyed else "xxh3-2x64"] if sized else []
    run("build", "-q", "-o", "f.bloom", "--kind", kind, *key, "--fpr", "1e-12", *sized, *wanted,
        input=lines(3000)).ok()
    assert run("check", "-c", *key, "f.bloom", input=lines(3000)).ok().out == b"3000\n"
    assert run("check", "-c", *key, "f.bloom", input=lines(3000, start=5000)).out == b"0\n"
    run("verify", "f.bloom").ok()
    shown = info(*key, "f.bloom")
    assert shown["hash"] == ("siphash-2x64" if keyed else "xxh3-2x64") and shown["planned_fpr"] <= 1e-12
    if keyed:
        run("check", "f.bloom", input=b"x\n").refused("secret key")


@pytest.mark.parametrize("kind", kinds_that("insert", takes_128_bits=True))
def test_it_takes_more_keys_and_merges(run, lines, kind):
    for name, first in (("a", 0), ("b", 1000)):
        run("build", "-q", "-o", name, "--kind", kind, "--capacity", 3000, "--fpr", "1e-12", "--hash", "xxh3-2x64",
            input=lines(1000, start=first)).ok()
    run("add", "a", input=lines(500, start=2000)).ok()
    run("merge", "-o", "both", "a", "b").ok()
    assert run("check", "-c", "both", input=lines(2500)).ok().out == b"2500\n"
    run("build", "-q", "-o", "narrow", "--kind", kind, "--capacity", 3000, input=lines(10)).ok()
    run("merge", "-o", "c", "a", "narrow").refused("128-bit hashes")
    run("merge", "-o", "c", "narrow", "a").refused("128-bit hashes")
    run("intersect", "-o", "common", "both", "b").ok()
    assert run("check", "-c", "common", input=lines(1000, start=1000)).ok().out == b"1000\n"


@pytest.mark.parametrize("arguments, sentence", [
    (["--hash", "siphash-2x64"], "needs a secret key"),
    (["--hash", "xxh3-2x64", "--key-file", "members.key"], "takes no secret key"),
    *[(["--kind", kind, "--hash", "xxh3-2x64"],
       f"a filter of kind {kind} cannot use hashes of 128 bits; leave the hash out, or use a kind that can use "
       f"128: {', '.join(KINDS)}")
      for kind in kinds_that(takes_128_bits=False)],
    *[(["--kind", kind, "--capacity", "500M", "--fpr", "1e-12"], "or use a kind with 128-bit hashes")
      for kind in kinds_that(takes_128_bits=False, any_order=False)],
    (["--kind", "bloom", "--hashes", 7, "--capacity", 10, "--hash", "xxh3-2x64"], "an even number"),
    (["--kind", "bloom", "--capacity", "500M", "--fpr", "1e-30"], "a rate of 1e-30 is too low for this kind, even with 128-bit hashes; give a higher rate or another kind"),
    (["--kind", "bloom", "--capacity", 1000, "--bits", 80000, "--fpr", "1e-12", "--hash", "xxh3-2x64", "--with", "nonsense=1"], "nonsense"),
    (["--format", "guava", "--capacity", 10, "--fpr", "1%", "--hash", "xxh3-2x64"], "fixes the hash function"),
])
def test_what_cannot_be_is_refused_in_a_sentence(run, secret, arguments, sentence):
    run("build", "-o", "f.bloom", *arguments, input=b"a\n").refused(sentence)
