"""bloomset info and verify: a file's format, state and integrity."""

import json

import pytest
from kinds import kinds_that


@pytest.fixture
def filled(run, lines, tmp_path):
    """A filter for 1000 keys with 1000 keys."""
    path = tmp_path / "members.bloom"
    run("build", "-o", path, "--kind", "bloom", "--capacity", 1000, "--fpr", "1%", "--seed", 42,
        input=lines(1000)).ok()
    return path


def test_says_what_a_filter_is_and_how_it_stands(run, info, filled):
    text = run("info", "members.bloom").ok().out.decode()
    assert text.startswith("members.bloom\n")
    for figure in ("bloom", "1,000 keys", "about 997 keys", "distinct keys", "1.20 kB", "hashes (k)",
                   "bits per key", "planned rate", "current rate", "fill", "xxh3, seed 42",
                   "insert, merge, intersect, fold"):
        assert figure in text, figure
    assert "overfilled" not in text
    found = info(filled)
    assert found["file"] == str(filled)
    assert (found["kind"], found["capacity"], found["seed"]) == ("bloom", 1000, 42)
    assert found["count"] == round(found["estimated_size"])
    # Deviations: 9 keys of the estimate, 4% of the rate; both bounds are above six of them.
    assert found["estimated_size"] == pytest.approx(1000, abs=60)
    assert found["current_fpr"] == pytest.approx(0.01, rel=0.25)
    assert found["planned_fpr"] <= 0.01
    assert found["bits_per_key"] == pytest.approx(9.6, abs=0.1)
    assert found["bytes"] == (found["bits"] + 7) // 8
    assert found["fill"] == pytest.approx(0.5, abs=0.05)
    assert found["can"] == ["insert", "merge", "intersect", "fold"]
    assert found["overfilled"] is False


def test_says_when_more_was_put_in_than_planned(run, info, lines):
    run("build", "-o", "few.bloom", "--kind", "bloom", "--capacity", 100, "--fpr", "1%",
        input=lines(2000))
    found = info("few.bloom")
    assert found["overfilled"] is True
    assert found["current_fpr"] > 0.5 > 0.01 >= found["planned_fpr"]
    text = run("info", "few.bloom").ok().out.decode()
    assert "\noverfilled: the current rate, " in text and "rebuild" in text


def test_a_filter_with_every_bit_set_has_no_estimate(run, info, lines):
    run("build", "-o", "full.bloom", "--kind", "bloom", "--capacity", 1, "--bits", 8,
        input=lines(1000))
    found = info("full.bloom")
    assert found["estimated_size"] is None
    assert (found["current_fpr"], found["fill"]) == (1, 1)
    assert b"unknown: the filter is too full" in run("info", "full.bloom").ok().out


def test_an_empty_filter(run, info):
    run("build", "-o", "empty.bloom", "--kind", "bloom", "--capacity", 10, "--fpr", "1%").ok()
    found = info("empty.bloom")
    assert (found["count"], found["estimated_size"], found["current_fpr"]) == (0, 0, 0)
    assert found["overfilled"] is False


def test_every_kind_tells_of_itself(run, info, plan, lines):
    for kind in (each["kind"] for each in plan("--capacity", 1000, "--fpr", "1%")["kinds"]):
        name = f"{kind}.bloom"
        run("build", "-o", name, "--kind", kind, "--capacity", 1000, "--fpr", "1%",
            input=lines(500)).ok()
        found = info(name)
        for member in ("kind", "capacity", "bits", "bytes", "bits_per_key", "planned_fpr", "count",
                       "estimated_size", "current_fpr"):
            assert member in found, (kind, member)
        assert (found["kind"], found["overfilled"]) == (kind, False)
        # Half full: a deviation of the estimate is below 1%, so this is more than ten of them.
        assert found["estimated_size"] == pytest.approx(500, rel=0.12)
        assert 0 < found["current_fpr"] <= 0.01
        if found["can"] == []:
            assert (found["capacity"], found["count"]) == (500, 500)  # one that is built once
        else:
            assert "insert" in found["can"]
        assert run("info", name).ok().out.startswith(name.encode() + b"\n  kind ")
        assert run("verify", name).ok().out == name.encode() + b": ok\n"


def test_several_files_are_a_json_object_a_line(run, filled):
    run("build", "-o", "b.bloom", "--capacity", 10, "--fpr", "1%").ok()
    out = run("info", "--json", "members.bloom", "b.bloom").ok().out.decode().splitlines()
    assert [json.loads(line)["file"] for line in out] == ["members.bloom", "b.bloom"]


def test_a_bad_file_among_several_does_not_hide_the_others(run, filled):
    both = run("info", "--json", "missing.bloom", "members.bloom")
    assert both.code == 2
    assert json.loads(both.out)["file"] == "members.bloom"
    assert both.err == b"bloomset info: missing.bloom: cannot open: No such file or directory\n"
    run("info", "missing.bloom").refused("missing.bloom: cannot open")


def test_a_file_may_have_a_verbs_name(run, filled, tmp_path):
    filled.rename(tmp_path / "plan")
    assert run("info", "plan").ok().out.startswith(b"plan\n")


def test_verify_names_each_file_and_looks_at_all(run, filled, tmp_path):
    whole = filled.read_bytes()
    flipped = bytearray(whole)
    flipped[-1] ^= 0x10
    (tmp_path / "flipped.bloom").write_bytes(flipped)
    (tmp_path / "short.bloom").write_bytes(whole[:-1])
    (tmp_path / "text.bloom").write_bytes(b"alice\nbob\n")
    (tmp_path / "nothing.bloom").write_bytes(b"")
    names = ["flipped.bloom", "members.bloom", "short.bloom", "text.bloom", "nothing.bloom",
             "missing.bloom"]
    seen = run("verify", *names)
    assert (seen.code, seen.out) == (2, b"members.bloom: ok\n")
    said = seen.err.decode().splitlines()
    assert [line.split(": ")[1] for line in said] == [n for n in names if n != "members.bloom"]
    assert all(line.startswith("bloomset verify: ") for line in said)
    assert "checksum" in said[0]


def test_a_files_name_cannot_break_the_line(run, filled, tmp_path):
    (tmp_path / "two\nlines").write_bytes(b"x")
    run("info", "two\nlines").refused("two\\nlines")
    seen = run("verify", "two\nlines")
    assert seen.code == 2 and seen.err.count(b"\n") == 1


def test_a_folder_is_no_filter(run, tmp_path):
    (tmp_path / "folder").mkdir()
    run("info", "folder").refused("folder: this is a folder")


def test_the_estimate_of_an_intersection_is_of_common_keys(run, info, lines):
    """Of 10,000 disjoint keys each, less than six standard errors (40 keys each, of the union 60)."""
    every = lines(20_000).splitlines(keepends=True)
    for name, some in (("a", every[:10_000]), ("b", every[10_000:]), ("c", every[5000:15_000])):
        run("build", "-o", name, "--fpr", "1%", "--capacity", "10k", input=b"".join(some)).ok()
    run("intersect", "-o", "ab", "a", "b").ok()
    assert info("ab")["estimated_size"] < 500
    assert info("ab")["count"] < 500
    run("intersect", "-o", "ac", "a", "c").ok()
    assert info("ac")["estimated_size"] == pytest.approx(5000, abs=500)
    run("intersect", "-o", "abc", "a", "c", "b").ok()
    assert info("abc")["estimated_size"] is None
    assert b"unknown: the filter is a result of several intersections" in run("info", "abc").ok().out


@pytest.mark.parametrize("kind", kinds_that("count"))
def test_copies_are_counted_and_keys_estimated(run, info, lines, kind):
    run("build", "-o", "f.bloom", "--kind", kind, "--capacity", 4000, "--fpr", "1%",
        input=lines(1000) * 2).ok()
    assert info("f.bloom")["count"] == 2000
    assert info("f.bloom")["estimated_size"] == pytest.approx(1000, rel=0.06)
    text = run("info", "f.bloom").ok().out
    assert b"2,000 keys inserted, copies included" in text


def test_a_count_of_bits_says_what_it_is(run, lines):
    run("build", "-o", "f.bloom", "--kind", "bloom", "--capacity", 100, input=lines(100)).ok()
    assert b"count           about 101 keys\n" in run("info", "f.bloom").ok().out
    # A chain counts the keys that set a bit.
    run("build", "-o", "s.bloom", "--kind", "scalable_bloom", "--capacity", 100, "--fpr", "20%",
        input=lines(2000)).ok()
    assert b"keys inserted that were certainly new" in run("info", "s.bloom").ok().out
