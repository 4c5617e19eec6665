"""dedup prints each line the first time that it occurs."""

import functools
import os
import random
import re
import subprocess

import pytest


def first_times(text, end=b"\n"):
    return b"".join(key + end for key in dict.fromkeys(text.split(end)[:-1]))


@pytest.fixture(params=[[], ["--capacity", "1M"], ["--memory", "8MB"], ["--exact"]],
                ids=["growing", "capacity", "memory", "exact"])
def dedup(request, run):
    """run("dedup", ...) with memory of each sort."""

    def start(*args, **more):
        return run("dedup", *request.param, *args, **more)

    return start


def test_each_line_once_and_in_order(dedup):
    text = b"b\na\nb\n\nc\na\n\nb\n"
    assert dedup(input=text).ok().out == b"b\na\n\nc\n"
    assert dedup(input=b"").ok().out == b""
    assert dedup(input=b"no end").out == b"no end\n"


def test_repeats_near_and_far(dedup, lines):
    text = lines(30_000) * 2 + lines(100) * 50 + lines(60_000)
    done = dedup(input=text).ok()
    # At one in a million a new line is lost among 60,000 in 3% of all inputs; not in this one.
    assert done.out == first_times(text)


def test_the_cores_do_not_change_the_output(run, tmp_path, lines):
    """Several rounds of a file, in one thread and in one for each core; and through a pipe."""
    text = lines(900_000) + lines(300_000) + b"x" * 3_000_000 + b"\nlast"
    (tmp_path / "text").write_bytes(text)
    one_core = functools.partial(os.sched_setaffinity, 0, sorted(os.sched_getaffinity(0))[:1])
    alone = run("dedup", "--fpr", "1e-3", "text", preexec_fn=one_core).ok()
    for done in (run("dedup", "--fpr", "1e-3", "text").ok(), run("dedup", "--fpr", "1e-3", input=text).ok()):
        assert done.out == alone.out
        assert done.err == alone.err
    lost = 900_002 - alone.out.count(b"\n")
    assert 0 < lost < 900
    said = re.search(rb"about ([\d,]+) new lines", alone.err)
    assert abs(int(said[1].replace(b",", b"")) - lost) < 6 * lost ** 0.5 + lost / 10


def test_lines_of_a_pipe_are_printed_before_more_are_waited_for(bloomset):
    with subprocess.Popen([bloomset, "dedup"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as started:
        for line, printed in ((b"a\n", b"a\n"), (b"a\nb\n", b"b\n"), (b"c\nd\n", b"c\nd\n")):
            started.stdin.write(line)
            started.stdin.flush()
            assert b"".join(started.stdout.readline() for _ in range(printed.count(b"\n"))) == printed
        started.stdin.close()
        assert started.stdout.read() == b""


def test_files_and_formats(dedup, tmp_path):
    (tmp_path / "a").write_bytes(b"x\r\ny")
    (tmp_path / "b").write_bytes(b"y\nx\nz\n")
    assert dedup("a", "b").ok().out == b"x\r\ny\nx\nz\n"
    assert dedup("--crlf", "a", "b").ok().out == b"x\r\ny\nz\n"
    assert dedup("-0", input=b"a\nb\0a\0a\nb\0").ok().out == b"a\nb\0a\0"


def test_past_its_capacity_it_warns(run, lines):
    done = run("dedup", "--capacity", "1000", input=lines(50_000))
    assert done.code == 0
    assert b"bloomset dedup: warning: " in done.err
    assert b"planned for 1,000" in done.err
    within = run("dedup", "--capacity", "1000", input=lines(1000) * 3).ok()
    assert (within.out, within.err) == (lines(1000), b"")


@pytest.mark.parametrize("options", [("--capacity", "100k"), ("--memory", "100kB"), ("--capacity", "30k"), ()])
def test_it_says_how_many_new_lines_may_be_missing(run, lines, options):
    text = lines(100_000)
    done = run("dedup", *options, "--fpr", "1%", input=text * 2)
    lost = 100_000 - done.out.count(b"\n")
    said = re.search(rb"bloomset dedup: about ([\d,]+) new lines may be missing among the ([\d,]+) lines dropped as "
                     rb"repeated; --exact drops none\n", done.err)
    # Six standard deviations of a Poisson variable, and a tenth for a rate that is read in steps. The
    # lines are fixed, so this does not vary.
    assert lost > 0 and abs(int(said[1].replace(b",", b"")) - lost) < 6 * lost ** 0.5 + lost / 10
    assert int(said[2].replace(b",", b"")) == 100_000 + lost
    # Without a dropped line none can be missing.
    assert run("dedup", "--fpr", "1%", "--capacity", "100k", input=lines(1000)).ok().err == b""


def test_a_small_chance_of_a_missing_line_is_a_rate(run, lines):
    done = run("dedup", "--capacity", "100k", "--fpr", "1e-5", input=lines(100_000) + b"user1@example.com\n").ok()
    assert re.fullmatch(rb"bloomset dedup: a new line may be missing, with a chance of about [\d.]+%; --exact drops "
                        rb"none\n", done.err), done.err


def test_exact_compares_whatever_the_memory(run, tmp_path):
    """Beyond the memory limit; lines of 0 bytes to 100 kB, of all bytes but the end and NUL."""
    rng = random.Random(7)
    words = [rng.randbytes(rng.choice((1, 2, 8, 8, 8, 30, 300))).replace(b"\n", b"").replace(b"\0", b"") for _ in range(150_000)]
    words += [bytes([c]) * 100_000 for c in b"abc"] * 2 + [b""] * 3
    text = b"".join(word + b"\n" for word in rng.choices(words, k=300_000))
    (tmp_path / "t").mkdir()
    limited = run("dedup", "--exact", "--memory-limit", "17MB", input=text, env={"TMPDIR": str(tmp_path / "t")}).ok()
    assert b"the memory limit of 17.0 MB is reached" in limited.err
    assert limited.err.count(b"\n") == 1  # nothing about missing lines
    assert limited.out == first_times(text) == run("dedup", "--exact", input=text).ok().out
    text = b'{"u":"a","n":1}\n{"u":"a"}\n{"u":"b"}\n{}\n'
    assert run("dedup", "--exact", "--keys", "json:/u", input=text).ok().out == b'{"u":"a","n":1}\n{"u":"b"}\n{}\n'


@pytest.mark.parametrize("option", ["--fpr", "--capacity", "--memory"])
def test_exact_has_no_filter_to_size(run, option):
    run("dedup", "--exact", option, "1e-3" if option == "--fpr" else "1000", input=b"a\n").refused("--exact uses no filter")


def test_nonsense_is_refused(run):
    run("dedup", "--fpr", "0", input=b"a\n").refused("--fpr: ")
    run("dedup", "--capacity", "many", input=b"a\n").refused("--capacity: ")
    run("dedup", "missing").refused("missing: ", "No such file")
