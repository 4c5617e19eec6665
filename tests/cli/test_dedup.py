"""dedup prints each line the first time that it occurs."""

import pytest


def first_times(text, end=b"\n"):
    return b"".join(key + end for key in dict.fromkeys(text.split(end)[:-1]))


@pytest.fixture(params=[[], ["--capacity", "1M"], ["--memory", "8MB"]],
                ids=["growing", "capacity", "memory"])
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
    assert done.err == b""


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


def test_a_rate_loses_new_lines_no_more_often(run, lines):
    done = run("dedup", "--capacity", "100k", "--fpr", "1%", input=lines(100_000)).ok()
    lost = 100_000 - done.out.count(b"\n")
    # The rate rises to 1% only at the end: some 180 on the way, and never 1,200.
    assert 0 < lost < 1200


def test_nonsense_is_refused(run):
    run("dedup", "--fpr", "0", input=b"a\n").refused("--fpr: ")
    run("dedup", "--capacity", "many", input=b"a\n").refused("--capacity: ")
    run("dedup", "missing").refused("missing: ", "No such file")
