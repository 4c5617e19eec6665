"""build and add: accepted and refused input, and the files that they leave."""

import gzip
import os
import re
import subprocess

import pytest
from kinds import kinds_that

MEMBERS = b"alice\nbob\ncarol\n"


def selected(run, filter_, text, *options):
    return run("check", *options, filter_, input=text).out


def test_a_built_filter_knows_its_keys(run, tmp_path):
    built = run("build", "-o", "f.bloom", input=MEMBERS).ok()
    assert built.out == b""
    assert built.err.startswith(b"f.bloom: 3 keys, ")
    assert selected(run, "f.bloom", MEMBERS) == MEMBERS
    assert os.listdir(tmp_path) == ["f.bloom"]


@pytest.mark.parametrize("options", [(), ("--memory", "1MB"), ("--capacity", "5000"), ("--kind", "expandable"),
                                     ("--kind", "cuckoo", "--capacity", "64")])
@pytest.mark.parametrize("keys", [1, 10, 1000])
def test_the_summary_divides_by_the_keys_that_are_there(run, info, lines, options, keys):
    if "64" in options and keys > 64:
        return
    done = run("build", "-o", "f.bloom", *options, input=lines(keys)).ok()
    said = re.fullmatch(r"f\.bloom: ([\d,]+) keys?, .*, ([\d.]+) bits/key, rate .*\n", done.err.decode())
    assert said[1] == f"{keys:,}" and ("1 keys" not in done.err.decode())
    assert said[2] == f"{8 * info('f.bloom')['bytes'] / keys:.2f}"
    assert run("build", "-o", "g.bloom").ok().err.startswith(b"g.bloom: 0 keys, ")


def test_files_stdin_and_packed_files_make_one_filter(run, tmp_path, lines):
    (tmp_path / "a.txt").write_bytes(b"first\nlast lacks its end")
    (tmp_path / "b.gz").write_bytes(gzip.compress(lines(5000)) + gzip.compress(b"more\n"))
    packed = subprocess.run(["zstd", "-q"], input=lines(5000, "z"), stdout=subprocess.PIPE, check=True)
    (tmp_path / "c.zst").write_bytes(packed.stdout)
    run("build", "-o", "f.bloom", "a.txt", "-", "b.gz", "c.zst", input=b"from stdin\n").ok()
    for text in (b"first\nlast lacks its end\nfrom stdin\nmore\n", lines(5000), lines(5000, "z")):
        assert selected(run, "f.bloom", text) == text
    # The same bytes without names: told by what they begin with, not by what they are called.
    run("build", "-o", "g.bloom", input=packed.stdout).ok()
    assert selected(run, "g.bloom", lines(5000, "z")) == lines(5000, "z")


def test_without_a_capacity_the_filter_has_that_of_its_distinct_keys(run, tmp_path, lines):
    once = lines(30_000)
    run("build", "-o", "counted.bloom", input=once).ok()
    run("build", "-o", "planned.bloom", "--capacity", "30_000", input=once).ok()
    assert (tmp_path / "counted.bloom").read_bytes() == (tmp_path / "planned.bloom").read_bytes()
    # Ten times as many lines, no more keys: an estimate within 4 + 5 standard errors (9 * 0.41%).
    repeated = run("build", "-o", "repeated.bloom", input=once * 10).ok()
    size = (tmp_path / "planned.bloom").stat().st_size
    assert size * 0.99 <= (tmp_path / "repeated.bloom").stat().st_size <= size * 1.04
    assert b"300,000 keys (about 30," in repeated.err or b"300,000 keys (about 29," in repeated.err
    assert selected(run, "repeated.bloom", once) == once


def test_the_default_rate_is_met(run, lines):
    run("build", "-o", "f.bloom", input=lines(20_000)).ok()
    non_members = int(selected(run, "f.bloom", lines(20_000, "non-member"), "-c"))
    # Binomial around 200 with deviation 14: a false alarm at 7 deviations has a chance of 1e-9.
    assert 100 < non_members < 300


def test_memory_alone_makes_the_capacity(run, tmp_path):
    run("build", "-o", "f.bloom", "--memory", "1MB", input=MEMBERS).ok()
    size = (tmp_path / "f.bloom").stat().st_size
    assert 1_000_000 <= size < 1_001_000
    run("build", "-o", "g.bloom", "--memory", "1MB", "--capacity", "10k", input=MEMBERS).ok()
    assert (tmp_path / "g.bloom").stat().st_size == size


def test_no_keys_make_a_valid_filter(run, tmp_path):
    run("build", "-o", "f.bloom", input=b"").ok()
    assert run("check", "f.bloom", input=b"anything\n").code == 1
    run("build", "-o", "g.bloom", "--capacity", "10", "/dev/null").ok()
    assert run("check", "-c", "g.bloom", input=b"anything\n").out == b"0\n"


def test_a_seed_and_options_of_the_kind_are_used(run, tmp_path):
    for name, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        run("build", "-o", name, "--seed", seed, input=MEMBERS).ok()
    a, b, c = ((tmp_path / n).read_bytes() for n in "abc")
    assert a == b != c
    run("build", "-o", "d", "--kind", "counting_bloom", "--with", "counter_bits=8", input=MEMBERS).ok()
    assert selected(run, "d", MEMBERS) == MEMBERS


def test_a_random_seed_is_drawn_and_shown(run, info):
    seeds = set()
    for name in "ab":
        run("build", "-o", name, "--seed", "random", input=MEMBERS).ok()
        assert selected(run, name, MEMBERS) == MEMBERS
        seeds.add(info(name)["seed"])
    assert len(seeds) == 2 and 0 not in seeds


def test_an_existing_file_is_refused_before_any_input_is_read(run, bloomset, tmp_path):
    target = tmp_path / "f.bloom"
    target.write_bytes(b"precious")
    # stdin stays open: if a byte were read first, this would wait for ever.
    reading, writing = os.pipe()
    done = run("build", "-o", "f.bloom", stdin=reading, timeout=20)
    os.close(writing)
    os.close(reading)
    done.refused("f.bloom: the file exists", "--force")
    assert target.read_bytes() == b"precious"
    run("build", "-o", "f.bloom", "--force", input=MEMBERS).ok()
    assert selected(run, "f.bloom", MEMBERS) == MEMBERS


@pytest.mark.parametrize("place, sentence", [
    ("missing/f.bloom", "No such file or directory"),
    (".", "this is a folder"),
])
def test_a_place_that_cannot_be_written_is_told_before_any_input_is_read(run, place, sentence):
    reading, writing = os.pipe()
    done = run("build", "--force", "-o", place, stdin=reading, timeout=20)
    os.close(writing)
    os.close(reading)
    done.refused(place, sentence)


def test_stdout_as_the_target(run, tmp_path):
    done = run("build", "-o", "-", input=MEMBERS).ok()
    (tmp_path / "f.bloom").write_bytes(done.out)
    assert selected(run, "f.bloom", MEMBERS) == MEMBERS


def test_a_terminal_is_no_place_for_a_filter(run):
    run("build", "-o", "a.bloom", input=MEMBERS).ok()
    run("build", "-o", "a.dcso", "--format", "dcso", "--capacity", "10", input=MEMBERS).ok()
    for verb, target in (("build", "-"), ("build", "/dev/stdout"), ("build --format dcso", "-"),
                         ("merge a.bloom a.bloom", "/dev/stdout"), ("intersect a.bloom a.bloom", "-"),
                         ("convert a.dcso", "/dev/stdout")):
        ours, theirs = os.openpty()
        done = run(*verb.split(), "-o", target, input=MEMBERS, stdout=theirs)
        os.set_blocking(ours, False)
        os.close(theirs)
        with pytest.raises(OSError):  # there is nothing to read, and nobody writes any more
            os.read(ours, 1)
        os.close(ours)
        done.refused(f"-o {target}: ", "is a terminal", "give -o FILE")


@pytest.mark.parametrize("size", [[], ["--capacity", "1000"]], ids=str)
def test_copies_of_keys_are_not_past_the_capacity_of_kinds_that_count_them(run, lines, size):
    done = run("build", "-o", "f.bloom", "--kind", "vector_quotient", "--strict", *size,
               input=lines(1000) * 3).ok()
    assert b"warning" not in done.err
    run("build", "-o", "g.bloom", "--kind", "vector_quotient", "--capacity", "2000", "--strict",
        input=lines(2500)).refused("stdin:2", "the filter is full")


@pytest.mark.parametrize("n", [1000, 100_000])
@pytest.mark.parametrize("copies, most", [(1, 1.08), (2, 2.15), (3, 3.2)])
def test_a_filter_that_counts_is_planned_for_copies_too(run, info, lines, n, copies, most):
    run("build", "-o", "f.bloom", "--kind", "vector_quotient", "--fpr", "1%",
        input=lines(n) * copies).ok()
    found = info("f.bloom")
    assert found["count"] == n * copies
    assert copies * n <= found["capacity"] <= most * n + 60
    # Nearly all copies have slots. The overflow table of all of them would need 30 bytes per key.
    assert 16 * found["extras"]["overflow_entries"] <= n
    counted = run("count", "f.bloom", input=lines(1)).ok().out
    assert counted.split()[0] == b"%d" % copies


def test_past_its_capacity_a_warning_or_with_strict_an_error_and_no_file(run, tmp_path, lines):
    done = run("build", "-o", "f.bloom", "--capacity", "1000", input=lines(20_000)).ok()
    assert b"bloomset build: warning: f.bloom: " in done.err
    assert b"planned for 1,000" in done.err
    assert re.search(rb"its rate is (100|99\.\d+)% instead of 0\.927%", done.err)
    run("build", "-o", "g.bloom", "--capacity", "1000", "--strict", input=lines(20_000)).refused(
        "g.bloom: ", "planned for 1,000", "nothing was written")
    assert os.listdir(tmp_path) == ["f.bloom"]
    full = run("build", "-o", "h.bloom", "--capacity", "1000", "--strict", input=lines(1000)).ok()
    assert b"warning" not in full.err


def test_repeated_keys_do_not_count_against_the_capacity(run, lines):
    done = run("build", "-o", "f.bloom", "--capacity", "1000", "--strict", input=lines(1000) * 5).ok()
    assert b"5,000 keys (about " in done.err


def test_quiet_is_quiet_and_progress_is_for_terminals(run, lines):
    assert run("build", "-q", "-o", "f.bloom", input=lines(10_000)).ok().err == b""
    assert run("add", "-q", "f.bloom", input=b"user1@example.com\n").ok().err == b""


def test_add_puts_keys_in_and_says_how_many_were_new(run):
    run("build", "-o", "f.bloom", "--capacity", "100", input=MEMBERS).ok()
    done = run("add", "f.bloom", input=b"carol\ndave\nerin\n").ok()
    assert done.out == b""
    assert b"f.bloom: 3 keys read, 2 of them new; now about 5 keys" in done.err
    everyone = MEMBERS + b"dave\nerin\n"
    assert selected(run, "f.bloom", everyone) == everyone


def test_add_past_the_capacity(run, tmp_path, lines):
    run("build", "-o", "f.bloom", "--capacity", "100", input=lines(100)).ok()
    before = (tmp_path / "f.bloom").read_bytes()
    run("add", "--strict", "f.bloom", input=lines(500)).refused("f.bloom: ", "nothing was written")
    assert (tmp_path / "f.bloom").read_bytes() == before
    assert b"warning: f.bloom: " in run("add", "f.bloom", input=lines(500)).ok().err
    assert selected(run, "f.bloom", lines(500)) == lines(500)


def test_add_keeps_the_mode_and_follows_a_link(run, tmp_path):
    run("build", "-o", "f.bloom", "--capacity", "10", input=MEMBERS).ok()
    os.chmod(tmp_path / "f.bloom", 0o640)
    os.symlink("f.bloom", tmp_path / "link")
    run("add", "link", input=b"dave\n").ok()
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "f.bloom").stat().st_mode & 0o777 == 0o640
    assert selected(run, "f.bloom", b"dave\n") == b"dave\n"


def test_add_refuses_what_is_no_filter(run, tmp_path):
    (tmp_path / "words.txt").write_bytes(MEMBERS)
    run("add", "missing.bloom", input=MEMBERS).refused("missing.bloom: ", "No such file")
    run("add", "words.txt", input=MEMBERS).refused("words.txt: ")
    assert (tmp_path / "words.txt").read_bytes() == MEMBERS


def test_options_after_files_and_names_that_look_like_options(run, tmp_path):
    (tmp_path / "-x").write_bytes(b"dash\n")
    (tmp_path / "check").write_bytes(b"a verb's name\n")
    run("build", "check", "-o", "f.bloom", "--capacity", "10", "--", "-x").ok()
    assert selected(run, "f.bloom", b"dash\na verb's name\nother\n") == b"dash\na verb's name\n"
    done = run("check", "f.bloom", "check", "-c", "--", "-x").ok()
    assert done.out == b"2\n"


def test_a_kind_that_cannot_remove_or_count_names_those_that_can(run, tmp_path):
    run("build", "-o", "f.bloom", input=MEMBERS).ok()
    before = (tmp_path / "f.bloom").read_bytes()
    run("remove", "f.bloom", input=b"bob\n").refused("f.bloom: ", "kind blocked_bloom")
    run("count", "f.bloom", input=b"bob\n").refused("f.bloom: ", "kind blocked_bloom", "cannot count")
    assert (tmp_path / "f.bloom").read_bytes() == before


@pytest.fixture(params=kinds_that("erase", "count"))
def multiset(request, run):
    """A kind that can remove and count, with a filter of it in f."""
    built = run("build", "-o", "f", "--kind", request.param, "--fpr", "1e-6", input=MEMBERS + b"bob\n")
    built.ok()
    return request.param


def test_remove_takes_members_out_and_tells_non_members(run, multiset):
    done = run("remove", "f", input=b"alice\n").ok()
    assert re.fullmatch(rb"f: 1 key read, 1 of them removed; now .*\n", done.err)
    assert run("remove", "-q", "f", input=b"bob\n").ok().err == b""
    assert selected(run, "f", MEMBERS) == b"bob\ncarol\n"
    run("build", "-o", "g", "--kind", multiset, "--capacity", "1000", "--fpr", "1e-6",
        input=MEMBERS).ok()
    done = run("remove", "g", input=b"alice\nzoe\nbob\nyan\n")
    assert (done.code, done.out) == (1, b"")
    assert b"2 of 4 lines certainly were not members" in done.err
    assert b"the first is stdin:2\n" in done.err
    assert b"g: 4 keys read, 2 of them removed; now " in done.err
    assert selected(run, "g", MEMBERS) == b"carol\n"


def test_count_prints_how_often(run, multiset):
    done = run("count", "f", input=b"bob\nalice\n").ok()
    assert done.out == b"2\tbob\n1\talice\n"
    run("remove", "f", input=b"bob\n").ok()
    assert run("count", "f", input=b"bob\n").out == b"1\tbob\n"
    run("build", "-o", "g", "--kind", multiset, "--capacity", "10", "--fpr", "1e-6", input=b"").ok()
    nothing = run("count", "g", input=b"bob\n")
    assert (nothing.code, nothing.out) == (1, b"0\tbob\n")


def test_every_copy_finds_room_when_copies_are_kept(run, multiset, lines):
    run("build", "-o", "g", "--kind", multiset, input=lines(20_000) * 2).ok()
    run("remove", "g", input=lines(20_000)).ok()
    assert selected(run, "g", lines(20_000)) == lines(20_000)


def test_a_full_filter_names_the_line_and_leaves_no_file(run, tmp_path, lines):
    (tmp_path / "big.txt").write_bytes(lines(5000))
    done = run("build", "-o", "f", "--kind", "cuckoo", "--capacity", "100", "big.txt")
    done.refused("big.txt:", "full", "give a larger --capacity")
    many = run("build", "-o", "f", "--kind", "cuckoo", "--capacity", "1000", input=b"x\n" * 500)
    many.refused("stdin:", "copies")
    assert os.listdir(tmp_path) == ["big.txt"]
    run("build", "-o", "f", "--kind", "cuckoo", input=b"x\n" * 500).refused("stdin:", "copies")
    assert os.listdir(tmp_path) == ["big.txt"]


@pytest.mark.parametrize("arguments, sentence", [
    (["--kind", "blom"], "'blom'"),
    (["--capacity", "0"], "--capacity: "),
    (["--capacity", "-5"], ""),
    (["--capacity", "10 thousand"], "--capacity: "),
    (["--fpr", "0"], "--fpr: "),
    (["--fpr", "2"], "--fpr: "),
    (["--fpr", "nan"], "--fpr: "),
    (["--memory", "10 parsecs"], "--memory: "),
    (["--with", "foldable"], "--with: "),
    (["--with", "colour=red"], "colour"),
    (["--kind", "bloom", "--with", "probe=md5"], "probe"),
    (["--capacity", "1e15"], ""),
])
def test_nonsense_is_refused_in_one_sentence(run, tmp_path, arguments, sentence):
    run("build", "-o", "f.bloom", *arguments, input=MEMBERS).refused(sentence)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("capacity, fpr", [("1M", "1%"), ("1e6", "1/100"), ("1_000_000", "0.01"), ("1000000", "1e-2")])
def test_numbers_as_people_write_them(run, tmp_path, capacity, fpr):
    run("build", "-o", "f", "--capacity", capacity, "--fpr", fpr, input=MEMBERS).ok()
    assert (tmp_path / "f").stat().st_size == 1_263_360


def keys_told(text):
    """Of "about 3,012 keys" the number."""
    found = re.search(rb"about ([\d,]+) keys", text)
    assert found, text
    return int(found[1].replace(b",", b""))


# 3,000 keys in the bits of 1,000 at 10%: the estimate's standard error is 1.5%, so that 10% are more
# than six of them. The inserts that set a bit stay behind by a fifth and more.
def test_a_warning_tells_the_keys_and_not_only_those_that_set_a_bit(run, lines):
    done = run("build", "-o", "f.bloom", "--kind", "bloom", "--fpr", "10%", "--capacity", 1000,
               input=lines(3000)).ok()
    assert abs(keys_told(done.err) - 3000) < 300
    assert b"are in a filter planned for 1,000" in done.err
    full = run("build", "-o", "g.bloom", "--kind", "bloom", "--capacity", 10, input=lines(5000)).ok()
    assert re.search(rb"too many keys to count \(at least \d+\) are in a filter planned for 10",
                     full.err)


def test_add_tells_what_it_is_sure_of_and_what_it_estimates(run, lines):
    run("build", "-o", "f.bloom", "--kind", "bloom", "--fpr", "10%", "--capacity", 1000,
        input=lines(1000)).ok()
    done = run("add", "f.bloom", input=lines(3000)).ok()
    added = done.err.splitlines()[-1]
    assert re.search(rb"f\.bloom: 3,000 keys read, at least [\d,]+ of them new; now about ", added)
    assert abs(keys_told(added) - 3000) < 300


# 10,700 keys at 25%, of which about 9,600 are counted: 360 more than the warning begins at, seven
# standard errors of the estimate.
def test_more_keys_than_planned_are_noticed_where_the_count_is_below_the_capacity(run, lines):
    build = ["build", "-o", "f.bloom", "--kind", "bloom", "--fpr", "25%", "--capacity", 10_000]
    assert b"warning: f.bloom: about 10," in run(*build, input=lines(10_700)).ok().err
    run(*build, "--force", "--strict", input=lines(10_700)).refused("f.bloom: ", "nothing was written")
    assert b"warning" not in run(*build, "--force", "--strict", input=lines(10_000)).ok().err


def test_copies_that_take_no_room_do_not_count_against_the_capacity(run, lines):
    done = run("build", "-o", "f.bloom", "--kind", "counting_bloom", "--capacity", 1000, "--strict",
               input=lines(1000) * 5).ok()
    assert b"warning" not in done.err
    done = run("add", "f.bloom", input=lines(1000)).ok()
    assert re.search(rb"now about (1,0\d\d|9\d\d) keys in 6,000 copies", done.err)


def test_a_link_to_a_file_that_is_not_there_yet_is_followed(run, tmp_path):
    (tmp_path / "data").mkdir()
    os.symlink("data/f.bloom", tmp_path / "inner")
    os.symlink(tmp_path / "inner", tmp_path / "link")
    run("build", "-q", "-o", "link", input=MEMBERS).ok()
    assert (tmp_path / "link").is_symlink() and (tmp_path / "inner").is_symlink()
    assert (tmp_path / "data" / "f.bloom").is_file()
