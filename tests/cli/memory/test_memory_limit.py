"""--memory-limit: what does not fit is in nameless temporary files, and the result is the same."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

from conftest import few_bytes, full_disk

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
import format_reader  # noqa: E402
from xxh3 import xxh3_64  # noqa: E402

LIMIT = ["--memory-limit", "16MiB"]


def numbers(first, end):
    """The numbers from `first` up to `end`, a line each."""
    return subprocess.check_output(["seq", str(first), str(end - 1)])


# More hashes than a quarter of the limit holds.
KEYS = numbers(0, 600_000)


@pytest.fixture
def temporary(tmp_path):
    folder = tmp_path / "temporary"
    folder.mkdir()
    return folder


@pytest.fixture
def keys(tmp_path):
    (tmp_path / "keys").write_bytes(KEYS)
    return "keys"


@pytest.mark.parametrize("options", [
    "", "--kind bloom", "--kind fuse", "--kind ribbon", "--kind cuckoo",
    # Larger than three quarters of the limit: built on disk, and those of 30 MB in three passes.
    "--memory 30MB --with layout=parquet", "--memory 28MB --hash xxh3-2x64",
    "--capacity 11M", "--capacity 8M --fpr 0.1%", "--kind bloom --memory 30MB --fpr 0.1%",
    "--kind bloom --capacity 11M --hash xxh3-2x64", "--kind bloom --capacity 11M --part 1/2",
    "--kind counting_bloom --capacity 3M", "--kind counting_bloom --memory 30MB --with counter_bits=16 --fpr 0.1%",
])
def test_the_filter_is_the_same(run, tmp_path, temporary, keys, options):
    run("build", "-o", "a", *options.split(), keys).ok()
    done = run("build", "-o", "b", *options.split(), *LIMIT, input=KEYS, env={"TMPDIR": str(temporary)}).ok()
    assert f"their hashes go to a temporary file in {temporary}".encode() in done.err
    on_disk = "--memory" in options or "--capacity" in options
    assert (b"does not fit the memory limit of 16.8 MB" in done.err) == on_disk
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert list(temporary.iterdir()) == []


def test_check_without_answers_selects_nothing_beyond_the_limit_too(run, tmp_path, keys):
    run("build", "-o", "a", "--capacity", "11M", keys).ok()
    for limit in ([], LIMIT):
        none = run("check", "--unknown", *limit, "a", keys)
        assert (none.code, none.out) == (1, b""), none.err


def test_the_temporary_file_has_no_name_even_for_a_moment(run, temporary):
    try:
        os.close(os.open(temporary, os.O_TMPFILE | os.O_RDWR))
    except OSError:
        pytest.skip("this file system has no files without a name")
    changed = temporary.stat().st_mtime_ns
    run("build", "-o", "a", *LIMIT, input=KEYS, env={"TMPDIR": str(temporary)}).ok()
    assert temporary.stat().st_mtime_ns == changed


@pytest.mark.parametrize("kind", ["blocked_bloom", "bloom"])
def test_the_limit_holds(run, keys, kind):
    big = ["build", "--kind", kind, "--fpr", "1%", "--memory", "150MB", keys]
    run(*big, "-o", "a", preexec_fn=few_bytes).refused("could not be allocated")
    run(*big, "-o", "a", *LIMIT, preexec_fn=few_bytes).ok()
    assert run("check", "-c", "a", keys).out == b"600000\n"


def test_a_kind_that_must_be_in_memory_says_so(run, tmp_path, keys):
    for options in (["cuckoo"], ["vector_quotient"], ["scalable_bloom", "--capacity", "30M", "--fpr", "1%"],
                    ["expandable", "--capacity", "30M"]):
        options += [] if "--capacity" in options else ["--memory", "40MB"]
        run("build", "-o", "a", "--kind", *options, *LIMIT, keys).refused(
            f"a filter of kind {options[0]} with these options must be in memory", "raise the limit")
        assert not (tmp_path / "a").exists()


@pytest.mark.parametrize("kind, fpr, capacity, n", [("scalable_bloom", 1e-9, 1_000_000, 1_100_000),
                                                    ("expandable", 1e-11, 1000, 3_000_000)])
def test_a_filter_that_grows_beyond_the_limit_is_refused(run, tmp_path, kind, fpr, capacity, n):
    (tmp_path / "many").write_bytes(numbers(0, n))
    build = ["build", "-o", "a", "--kind", kind, "--fpr", fpr, "--capacity", capacity, "many"]
    run(*build, "--memory-limit", "17MB").refused(f"a filter of kind {kind} with these options must be in memory")
    assert not (tmp_path / "a").exists()
    run(*build, "--memory-limit", "40MB").ok()


@pytest.mark.parametrize("most, options", [(1_000_000, []), (20_000_000, ["--memory", "40MB"])])
def test_a_full_disk_leaves_nothing(run, tmp_path, temporary, most, options):
    done = run("build", "-o", "a", *options, *LIMIT, input=KEYS, env={"TMPDIR": str(temporary)},
               preexec_fn=full_disk(most))
    assert done.code == 2
    last = done.err.decode().splitlines()[-1]
    assert last.startswith(f"bloomset build: {temporary}: cannot ") and "set TMPDIR" in last
    assert sorted(file.name for file in tmp_path.iterdir()) == ["temporary"]
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("command", [("build", "-o", "a"), ("check", "big")])
def test_a_killed_program_leaves_nothing(run, bloomset, tmp_path, temporary, command):
    if command[0] == "check":
        run("build", "-o", "big", "--memory", "20MB", input=b"x\n").ok()
    before = sorted(tmp_path.iterdir())
    with subprocess.Popen([bloomset, *command, *LIMIT], cwd=tmp_path,
                          stdin=subprocess.PIPE, stderr=subprocess.PIPE,
                          env={**os.environ, "TMPDIR": str(temporary)}) as process:
        while True:  # until the notice that the temporary file is made
            process.stdin.write(KEYS)
            process.stdin.flush()
            os.set_blocking(process.stderr.fileno(), False)
            if b"temporary file" in (process.stderr.read() or b""):
                break
        assert list(temporary.iterdir()) == []
        process.kill()
        process.stdin.close()
    assert sorted(tmp_path.iterdir()) == before
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("limit", ["0", "-1", "5 bananas", "", "1k", "1e30"])
def test_limits_that_are_nonsense_are_refused(run, tmp_path, limit):
    run("build", "-o", "a", "--memory-limit", limit, input=b"x\n").refused("--memory-limit")
    assert list(tmp_path.iterdir()) == []


def test_more_than_the_machine_has_is_no_limit(run, keys):
    assert b"temporary" not in run("build", "-o", "a", "--memory-limit", "64TB", keys).ok().err


@pytest.mark.parametrize("options", ["", "--kind bloom", "--kind counting_bloom",
                                     "--memory 20MB --memory-limit 16MiB",
                                     "--capacity 1M --hash xxh3-2x64"])
def test_parts_make_the_whole(run, tmp_path, options):
    options = options.split()
    keys = numbers(0, 60_000)
    run("build", "-o", "whole", *options, input=keys).ok()
    for part in (1, 2, 3):
        done = run("build", "-o", f"part{part}", "--part", f"{part}/3", *options, input=keys).ok()
        # Each part has a third of the keys.
        kept = re.search(r"part\d: ([\d,]+) keys", done.err.decode()).group(1)
        assert abs(int(kept.replace(",", "")) - 20_000) < 1000
    run("merge", "-o", "merged", "part1", "part2", "part3").ok()
    assert (tmp_path / "merged").read_bytes() == (tmp_path / "whole").read_bytes()


@pytest.fixture
def parts(run, lines, tmp_path):
    for part in range(1, 6):
        run("build", "-q", "-o", f"{part}", "--part", f"{part}/5", "--capacity", 1000, input=lines(1000)).ok()
    run("build", "-o", "whole", "--capacity", 1000, input=lines(1000)).ok()
    return tmp_path


def test_a_filter_that_lacks_parts_is_not_asked(run, parts):
    why = "2: it lacks the keys of 4 of 5 parts; write the filter of all parts with 'bloomset merge'"
    for verb in (["check"], ["check", "whole", "--filter"], ["add"], ["fold", "-o", "x"],
                 ["intersect", "-o", "x", "whole"], ["intersect", "-o", "x", "2"]):
        run(*verb, "2", input=b"x\n").refused(why)
    text = run("info", "2").ok().out.decode()
    assert re.search(r"^ +parts +2 of 5$", text, re.M) and re.search(r"^ +missing parts +1, 3-5 of 5$", text, re.M), text
    assert run("verify", "2").ok().out == b"2: ok\n"
    # Nothing but the document tells another reader what it is.
    of_two, has = format_reader.read((parts / "2").read_bytes(), of_parts=True)
    assert has == (5, [2]) and isinstance(of_two, format_reader.BlockedBloom)
    with pytest.raises(format_reader.Refused):
        format_reader.read((parts / "2").read_bytes())


def test_merge_knows_the_parts(run, parts, lines):
    done = run("merge", "-o", "some", "4", "2", "1").ok()
    assert done.err.decode() == (
        "bloomset merge: some lacks the keys of part 3, 5 of 5; only 'merge' accepts it until all parts are in it\n")
    run("check", "some", input=b"x\n").refused("some: it lacks the keys of 2 of 5 parts")
    assert run("merge", "-o", "all", "3", "some", "5").ok().err == b""
    assert (parts / "all").read_bytes() == (parts / "whole").read_bytes()
    # A filter of other keys has no parts.
    run("build", "-o", "more", "--capacity", 1000, input=b"more\n").ok()
    run("merge", "-o", "with-more", "more", "some").ok()
    run("check", "with-more", input=b"more\n").refused("lacks the keys of 2 of 5 parts")
    run("merge", "-o", "x", "some", "3", "2").refused("some and 2: both have part 2 of 5; leave one out")
    run("build", "-q", "-o", "1-of-2", "--part", "1/2", "--capacity", 1000, input=lines(1000)).ok()
    run("merge", "-o", "x", "1-of-2", "2").refused("1-of-2 and 2: one is a part of a set in 2 parts, the other of a set in 5")
    assert not (parts / "x").exists()


def test_parts_of_filters_with_128_bit_hashes(run, lines):
    options = ["--capacity", 1000, "--hash", "siphash-2x64", "--key-file", "secret", "-q"]
    run("key", "new", "secret").ok()
    for part in (1, 2, 255, 256):
        run("build", "-o", part, "--part", f"{part}/256", *options, input=lines(1000)).ok()
    run("merge", "--key-file", "secret", "-o", "some", "256", "2", "1", "255").ok()
    assert b"  missing parts   3-254 of 256\n" in run("info", "some").ok().out
    run("check", "--key-file", "secret", "some", input=b"x\n").refused("some: it lacks the keys of 252 of 256 parts")


@pytest.mark.parametrize("at, byte", [(0, 1), (0, 0), (1, 4), (8, 0), (8, 31), (9, 1), (39, 1), (40, 1), (63, 1)])
def test_parts_that_cannot_be_are_damage(run, parts, at, byte):
    data = bytearray((parts / "2").read_bytes())
    size = int.from_bytes(data[20:24], "little")
    data[size + at] = byte
    data[56:64] = xxh3_64(bytes(data[:56] + data[64:64 + size])).to_bytes(8, "little")
    (parts / "2").write_bytes(data)
    for verb in (["info"], ["verify"], ["merge", "-o", "x", "1"]):
        run(*verb, "2").refused("its list of parts is malformed; the file is damaged")


@pytest.mark.parametrize("part", ["0/3", "4/3", "3", "a/b", "1/", "", "1/257", "257/257"])
def test_parts_that_do_not_exist_are_refused(run, part):
    run("build", "-o", "a", "--part", part, input=b"x\n").refused("--part")


def test_parts_of_kinds_that_do_not_merge_are_refused(run):
    run("build", "-o", "a", "--part", "1/2", "--kind", "fuse", input=b"x\n").refused(
        "cannot be merged")


# At this rate some 2.1 million lines fill the limit, and no new line passes as an old one.
DEDUP = ["dedup", "--fpr", "1e-11", *LIMIT]


@pytest.fixture(scope="module")
def full():
    return numbers(0, 2_150_000)


@pytest.mark.parametrize("how", [[], ["--crlf"]], ids=str)
def test_dedup_prints_the_same_lines_in_their_order(run, tmp_path, temporary, full, how):
    end = b"\r" if how else b""
    later = [b"new %d" % (i * i % 99_991) for i in range(300_000)]
    later += [b"a" + end, b"7", b"", b"x" * 3_000_000, b"", b"a"]
    (tmp_path / "in").write_bytes(full + b"\n".join(later))
    done = run(*DEDUP, *how, "in", env={"TMPDIR": str(temporary)}).ok()
    expected = dict.fromkeys(later[:-1])  # "a" comes twice
    del expected[b"7"]
    assert len(expected) < 100_000
    assert done.out == full + b"\n".join(expected) + b"\n"
    assert b"the memory limit of 16.8 MB is reached" in done.err
    assert list(temporary.iterdir()) == []


def test_dedup_on_a_full_disk_says_so(run, temporary, full):
    lines = full + numbers(5_000_000, 5_300_000)  # these are more than is read at a time
    done = run(*DEDUP, input=lines, env={"TMPDIR": str(temporary)}, preexec_fn=full_disk(100_000))
    assert done.code == 2
    last = done.err.decode().splitlines()[-1]
    assert last.startswith(f"bloomset dedup: {temporary}: cannot write a temporary file: File too large")
    assert lines.startswith(done.out), "what was printed is right"


def test_dedup_of_a_fixed_size_must_fit(run):
    run("dedup", "--memory", "40MB", *LIMIT, input=b"x\n").refused("--memory-limit")
    assert run("dedup", "--memory", "4MB", *LIMIT, input=b"x\nx\n").ok().out == b"x\n"


ODD_LINES = b"\n1\r\n1\n" + b"x" * 3_000_000 + b"\n5"


@pytest.mark.parametrize("options, n, hows", [
    ("--memory 20MB", 40_000, ["", "-v", "-v -c", "--crlf", "-c --json"]),
    ("--kind fuse --with fingerprint_bits=32", 2_900_000, ["-c"]), ("--kind ribbon --fpr 1e-9", 3_400_000, ["-c"]),
])
def test_check_prints_the_same_lines_in_their_order(run, tmp_path, temporary, options, n, hows):
    members = numbers(0, n)
    run("build", "-q", "-o", "f", *options.split(), input=members).ok()
    if "--kind" in options:  # fuse and ribbon are built on disk too
        done = run("build", "-o", "g", *options.split(), *LIMIT, input=members, env={"TMPDIR": str(temporary)}).ok()
        assert b"does not fit the memory limit of 16.8 MB and is built in a temporary file" in done.err
        assert (tmp_path / "f").read_bytes() == (tmp_path / "g").read_bytes()
    # More hashes than a quarter of the limit holds, and every ninth line is a member.
    text = b"".join(b"%d\n" % (i * 7919 % (9 * n)) for i in range(270_000)) + ODD_LINES
    for how in hows:
        plain = run("check", "f", *how.split(), input=text).ok()
        done = run("check", "f", *how.split(), *LIMIT, input=text, env={"TMPDIR": str(temporary)}).ok()
        assert done.out == plain.out != b"", how
        notice = f"does not fit the memory limit of 16.8 MB; lines wait in temporary files in {temporary}"
        assert notice in done.err.decode()
        assert list(temporary.iterdir()) == []


def test_check_of_lines_with_several_keys(run):
    reader = ["--keys", "safe-browsing"]
    run("build", "-o", "f", "--memory", "20MB", *reader, input=b"evil.com/a/\n").ok()
    text = b"http://x.evil.com/a/b?c\nhttp://evil.com/b\nhttps://evil.com/a/\n"
    for how, lines in (("", [0, 2]), ("-v", [1])):
        done = run("check", "f", *reader, *how.split(), *LIMIT, input=text).ok()
        assert done.out == b"".join(text.splitlines(True)[i] for i in lines)
    for asked, code in ((b"nobody.com\n", 1), (text, 0)):
        assert run("check", "-q", "f", *reader, *LIMIT, input=asked).code == code


def test_check_of_filters_that_are_read_page_by_page_says_so(run):
    run("build", "-o", "f", "--memory", "20MB", input=b"x\n").ok()
    run("build", "-o", "g", "--kind", "bloom", "--memory", "20MB", input=b"x\n").ok()
    for how in (["g"], ["f", "--filter", "g"], ["f", "--json"]):
        done = run("check", *how, *LIMIT, input=b"y\nx\n").ok()
        assert done.out == run("check", *how, input=b"y\nx\n").ok().out != b""
        assert b"are read page by page, which is slow for many keys" in done.err


@pytest.mark.parametrize("options", ["--memory 20MB", "--memory 20MB --kind bloom", "--memory 40MB --hash xxh3-2x64",
                                     "--memory 20MB --kind counting_bloom"])
def test_the_union_is_the_same(run, tmp_path, temporary, options):
    for name, start in (("a", 0), ("b", 1000)):
        run("build", "-q", "-o", name, *options.split(), input=b"".join(b"%d\n" % i for i in range(start, start + 2000))).ok()
    run("merge", "-o", "ab", "a", "b").ok()
    done = run("merge", "-o", "on-disk", *LIMIT, "a", "b", env={"TMPDIR": str(temporary)}).ok()
    assert b"does not fit the memory limit of 16.8 MB; the result is made in a temporary file" in done.err
    assert (tmp_path / "on-disk").read_bytes() == (tmp_path / "ab").read_bytes()
    assert list(temporary.iterdir()) == []


def test_the_limit_holds_for_a_union(run, tmp_path):
    run("build", "-q", "-o", "a", "--memory", "130MB", "--with", "foldable=yes", *LIMIT, input=b"x\n").ok()
    run("fold", "-q", "-o", "b", "--factor", "2", "a").ok()
    run("merge", "-o", "x", "a", "b", preexec_fn=few_bytes).refused("could not be allocated")
    run("merge", "-o", "ab", *LIMIT, "a", "b", preexec_fn=few_bytes).ok()
    assert (tmp_path / "ab").read_bytes() == (tmp_path / "b").read_bytes()
    done = run("merge", "-o", "x", *LIMIT, "a", "b", preexec_fn=full_disk(1_000_000))
    assert done.code == 2 and b"cannot reserve room for the filter" in done.err and b"set TMPDIR" in done.err
    assert not (tmp_path / "x").exists()


def test_answers_before_an_error_are_printed(run, tmp_path):
    run("build", "-q", "-o", "f", "--capacity", "11M", "--keys", "hex", input=b"00ff\n").ok()
    for limit in ([], LIMIT):
        done = run("check", *limit, "f", input=b"00ff\nzz\n")
        assert (done.code, done.out) == (2, b"00ff\n"), done.err


def test_a_closed_stderr_costs_no_key(run, bloomset, tmp_path):
    """The temporary file must not get its number."""
    for name in ("keys", "more"):
        (tmp_path / name).write_bytes(KEYS)
    subprocess.run(f"{bloomset} build -q -o f --kind fuse {' '.join(LIMIT)} < keys 2>&-", shell=True, cwd=tmp_path, check=True)
    assert run("check", "-c", "f", "keys").ok().out == b"600000\n"
    done = subprocess.run(f"{bloomset} build -o g keys 2>/dev/full", shell=True, cwd=tmp_path)
    assert done.returncode == 0
    assert subprocess.run(f"{bloomset} check f keys >&-", shell=True, cwd=tmp_path, capture_output=True).returncode == 2
