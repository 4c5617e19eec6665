"""Equal keys give equal files: in any order, with any number of threads, on any kernel, in parts."""

import json
import os
import random
import re
import threading

import pytest
from kinds import kinds_that

ANY_ORDER = kinds_that(any_order=True)
ORDERED = kinds_that(any_order=False)
MERGED = kinds_that("merge", any_order=True)


def one_cpu():
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


@pytest.fixture
def built(run, tmp_path):
    """built(keys, "--kind", ...) -> the bytes of the file, with the options of subprocess.run."""

    def make(keys, *options, **how):
        run("build", "-q", "--force", "-o", "built", *options, input=b"".join(keys), **how).ok()
        return (tmp_path / "built").read_bytes()

    return make


def members(n):
    return [b"member %d\n" % i for i in range(n)]


def shuffled(keys, seed):
    keys = list(keys)
    random.Random(seed).shuffle(keys)
    return keys


@pytest.mark.parametrize("size", [(), ("--capacity", 2000), ("--hash", "xxh3-2x64", "--seed", 5, "--fpr", "3%")])
@pytest.mark.parametrize("kind", ANY_ORDER)
def test_any_order_any_threads_any_kernel(built, kind, size):
    if kind == "counting_bloom" and "--hash" in size:
        size = size[2:]
    keys = members(3000)
    options = ("--kind", kind, *size)
    expected = built(keys, *options)
    assert built(keys[::-1], *options) == expected
    assert built(shuffled(keys, 1), *options, preexec_fn=one_cpu) == expected
    assert built(shuffled(keys, 2), *options, "--canonical") == expected
    for kernel in ("scalar", "avx2"):
        assert built(shuffled(keys, 3), *options, env={"BLOOMSET_KERNEL": kernel}) == expected
    # Copies are part of what counting_bloom stores.
    repeated = built(shuffled(keys + keys[:1000] + keys[:10], 4), *options)
    assert (repeated == expected) == (kind != "counting_bloom")


@pytest.mark.parametrize("kind", ORDERED)
@pytest.mark.parametrize("size", [(), ("--capacity", 4000)])
def test_the_canonical_order(built, kind, size):
    keys = members(3000)
    options = ("--kind", kind, *size)
    assert built(keys, *options) != built(keys[::-1], *options)
    expected = built(keys, *options, "--canonical")
    for seed in (1, 2):
        assert built(shuffled(keys, seed), *options, "--canonical", preexec_fn=one_cpu) == expected
    assert built(shuffled(keys, 3), *options, "--canonical", env={"BLOOMSET_KERNEL": "scalar"}) == expected
    copies = keys + keys[:100] * 2
    assert (built(shuffled(copies, 4), *options, "--canonical") ==
            built(shuffled(copies, 5), *options, "--canonical"))


def test_a_canonical_filter_that_is_full_says_so(run, tmp_path):
    run("build", "-o", "f", "--kind", "cuckoo", "--capacity", 100, "--canonical",
        input=b"".join(members(1000))).refused(
            "--canonical: the filter is full and cannot store this key; give a larger --capacity")
    assert not (tmp_path / "f").exists()


@pytest.mark.parametrize("kind", MERGED)
def test_parts_give_the_file_of_the_whole(run, built, tmp_path, kind):
    keys = members(4000)
    options = ("--kind", kind, "--capacity", 3000)
    expected = built(keys, *options)
    for seed in (1, 2):
        parts = shuffled(keys, seed)
        cuts = [0, *sorted(random.Random(seed).sample(range(4001), 3)), 4000]
        for i in range(4):
            (tmp_path / f"part{i}").write_bytes(built(parts[cuts[i]:cuts[i + 1]], *options))
        order = shuffled([f"part{i}" for i in range(4)], seed)
        run("merge", "--force", "-o", "merged", *order).ok()
        assert (tmp_path / "merged").read_bytes() == expected
    # Keys that were added later, one file after the other.
    (tmp_path / "grown").write_bytes(built(keys[3000:], *options))
    for some in (keys[:1000], keys[1000:3000]):
        run("add", "-q", "grown", input=b"".join(some)).ok()
    assert (tmp_path / "grown").read_bytes() == expected


@pytest.mark.parametrize("kind", kinds_that("fold"))
def test_a_merge_of_folded_parts_is_the_folded_merge(run, built, tmp_path, kind):
    keys = members(2000)
    options = ("--kind", kind, "--capacity", 30_000, "--with", "foldable=yes")
    for name, some in (("all", keys), ("a", keys[:700]), ("b", keys[700:])):
        (tmp_path / name).write_bytes(built(some, *options))
    for name in ("all", "a", "b"):
        run("fold", "-q", "--factor", 3, "-o", f"{name}-3", name).ok()
    for parts in (("a-3", "b-3"), ("a-3", "b"), ("b", "a-3")):
        run("merge", "--force", "-o", "merged", *parts).ok()
        assert (tmp_path / "merged").read_bytes() == (tmp_path / "all-3").read_bytes(), parts


@pytest.mark.parametrize("kind", kinds_that("insert", any_order=True, count=False))
def test_the_count_that_the_file_has_is_the_estimate(run, kind):
    run("build", "-q", "-o", "f", "--kind", kind, "--capacity", 1000, input=b"".join(members(1000))).ok()
    text = run("info", "f").ok().out.decode()
    about = re.search(r"count +about ([\d,]+) keys\n", text)[1]
    assert f"estimated size  {about} distinct keys\n" in text
    # 1,000 keys were planned for, and the estimate may be above.
    assert run("add", "--strict", "f", input=members(1)[0]).ok()


NUMBERS = b"".join(b"%d\n" % i for i in range(70_000))  # so many that distinct keys are estimated
TEXTS = {
    "nothing": b"", "an empty line": b"\n", "no last end": b"a\nbc", "empty lines": b"\n\na\n\n\nb\n\n" * 9,
    "repeated": b"a\nb\na\n", "marked": b"\xef\xbb\xbf#a\nb\n", "comments": b"#a\nb\n#\n", "carriage returns": b"a\r\n\r\nb\r\n",
    "NULs": b"a\0\0b\0c", "many": NUMBERS, "many, repeated": NUMBERS + b"1\n2\n" * 30_000,
}


@pytest.mark.parametrize("options", [[], ["--crlf"], ["--skip-comments"], ["-0"], ["--hash", "xxh3-2x64"]], ids=str)
@pytest.mark.parametrize("name", TEXTS)
def test_files_are_read_again_and_give_what_a_pipe_gives(run, tmp_path, name, options):
    text = TEXTS[name]
    (tmp_path / "whole").write_bytes(text)
    for kind in ("bloom", "blocked_bloom"):
        piped = run("build", "-o", f"{kind}-p", "--kind", kind, *options, input=text).ok()
        read = run("build", "-o", f"{kind}-f", "--kind", kind, *options, "whole").ok()
        assert (tmp_path / f"{kind}-f").read_bytes() == (tmp_path / f"{kind}-p").read_bytes()
        assert read.err.replace(b"-f", b"-p").replace(b"whole", b"stdin") == piped.err


@pytest.mark.parametrize("seed", range(20))
def test_keys_are_counted_before_they_are_read_again(run, tmp_path, seed):
    some = random.Random(seed)
    text = bytes(some.choice(b"\n\n\na\r\0\xff\x8a") for _ in range(some.randrange(1, 60)))
    (tmp_path / "in").write_bytes(text)
    run("build", "-o", "f", "--format", "dcso", "in").ok()
    keys = sum(line != b"" for line in text.split(b"\n"))
    assert json.loads(run("info", "--json", "f").ok().out)["capacity"] == max(1, keys)


def test_a_log_that_grows_while_it_is_read(run, tmp_path):
    (tmp_path / "log").write_bytes(NUMBERS)
    more = threading.Event()

    def write():
        with open(tmp_path / "log", "ab", buffering=0) as log:
            while not more.wait(0.0002):
                log.write(b"once more\n")

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(5):
            run("build", "--force", "-o", "f", "log").ok()
    finally:
        more.set()
        writer.join()
    assert run("check", "-c", "f", input=NUMBERS).ok().out == b"70000\n"


def test_stdin_is_not_read_again(run, tmp_path):
    (tmp_path / "in").write_bytes(NUMBERS)
    with open(tmp_path / "in", "rb") as stdin:
        run("build", "-o", "f", "--format", "dcso", stdin=stdin).refused("stdin and pipes can be read only once")
    with open(tmp_path / "in", "rb") as stdin:
        run("build", "-o", "f", stdin=stdin).ok()
    run("build", "-o", "g", "in").ok()
    assert (tmp_path / "f").read_bytes() == (tmp_path / "g").read_bytes()
