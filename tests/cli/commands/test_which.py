"""bloomset index and bloomset which: the files that have a key."""

import json
import os
import random
import subprocess

import pytest
from conftest import LIMITED, few_bytes, full_disk


def write(path, keys):
    path.write_bytes(b"".join(key + b"\n" for key in keys))


@pytest.fixture
def three_files(run, tmp_path):
    write(tmp_path / "a.txt", [b"alice", b"bob"])
    write(tmp_path / "b.txt", [b"bob", b"carol", b"bob"])
    write(tmp_path / "c d.txt", [b"bob", b"dave"])
    run("index", "-q", "-o", "all.which", "--fpr", "1e-8", "a.txt", "b.txt", "c d.txt").ok()


def test_one_key_prints_the_names_of_its_files(run, three_files):
    found = run("which", "all.which", "bob")
    assert (found.code, found.out, found.err) == (0, b"a.txt\nb.txt\nc d.txt\n", b"")
    assert run("which", "all.which", "carol").out == b"b.txt\n"
    nothing = run("which", "all.which", "mallory")
    assert (nothing.code, nothing.out) == (1, b"")


def test_several_keys_are_printed_with_their_files(run, three_files):
    expected = b"alice\ta.txt\nbob\ta.txt\nbob\tb.txt\nbob\tc d.txt\n"
    assert run("which", "all.which", "alice", "mallory", "bob").out == expected
    assert run("which", "all.which", input=b"alice\n\nmallory\nbob").out == expected
    assert run("which", "all.which", input=b"alice\n").out == b"alice\ta.txt\n"
    assert run("which", "-l", "all.which", "dave", "alice").out == b"a.txt\nc d.txt\n"
    assert run("which", "-v", "all.which", "alice", "mallory").out == b"mallory\n"
    assert run("which", "-v", "all.which", "mallory").out == b"mallory\n"
    assert run("which", "-c", "all.which", "alice", "mallory", "bob").out == b"2\n"
    quiet = run("which", "-q", "all.which", "alice")
    assert (quiet.code, quiet.out) == (0, b"")


def test_several_indexes_are_asked_together(run, three_files, tmp_path):
    write(tmp_path / "e.txt", [b"erin", b"bob"])
    run("index", "-q", "-o", "new.which", "--fpr", "1e-8", "b.txt", "e.txt").ok()
    assert run("which", "--index", "new.which", "all.which", "bob").out == b"a.txt\nb.txt\nc d.txt\ne.txt\n"
    assert run("which", "--index", "new.which", "all.which", "erin", "dave").out == b"erin\te.txt\ndave\tc d.txt\n"
    run("index", "-q", "-o", "hex.which", "--keys", "email", "--skip-bad", "e.txt")
    run("which", "--index", "hex.which", "all.which", "bob").refused("were made by the reader")


def test_nul_separates_keys_and_names(run, three_files):
    assert run("which", "-0", "all.which", "dave").out == b"c d.txt\0"
    assert run("which", "-0", "all.which", input=b"dave\0alice\0").out == b"dave\tc d.txt\0alice\ta.txt\0"


def test_json_has_an_object_per_key(run, three_files):
    out = run("which", "--json", "all.which", "carol", "mallory", "bob").out
    assert [json.loads(line) for line in out.splitlines()] == [
        {"key": "carol", "files": ["b.txt"]},
        {"key": "bob", "files": ["a.txt", "b.txt", "c d.txt"]},
    ]


def test_the_reader_is_stored(run, tmp_path):
    write(tmp_path / "a.csv", [b"1;Ann@Example.com;x@y.z", b"2;none"])
    write(tmp_path / "b.csv", [b"3;bob@example.com"])
    run("index", "-q", "-o", "all.which", "--fpr", "1e-8", "--keys", "email", "--skip-bad", "a.csv", "b.csv")
    run("index", "-q", "--force", "-o", "all.which", "--fpr", "1e-8", "--keys", "fields:2,;", "a.csv", "b.csv").ok()
    assert run("which", "all.which", input=b"7;bob@example.com;8\n").out == b"7;bob@example.com;8\tb.csv\n"
    for reader in (), ("--keys", "lines"):
        itself = run("which", "all.which", *reader, "bob@example.com")
        assert (itself.out, itself.err) == (b"b.csv\n", b"")
    assert run("which", "all.which", "--keys", "fields:2,;", "7;bob@example.com;8").out == b"b.csv\n"
    other = run("which", "-l", "all.which", "--keys", "lines", input=b"bob@example.com\n")
    assert other.out == b"b.csv\n" and b"made by --keys fields:2,;" in other.err
    info = json.loads(run("info", "--json", "all.which").ok().out)
    assert (info["kind"], info["files"], info["keys"], info["labels"]) == (
        "file_index", 2, 3, {"keys": "fields:2,;"})


def test_an_argument_is_converted_as_lines_are(run, tmp_path):
    write(tmp_path / "a", [b"Ann <ann@EXAMPLE.com>"])
    run("index", "-q", "-o", "all.which", "--fpr", "1e-8", "--keys", "email", "a").ok()
    assert run("which", "all.which", "ann@Example.COM").out == b"a\n"


def test_an_argument_is_text_whatever_it_looks_like(run, tmp_path):
    odd = [b"-rf", b"[ERROR]", b"[a,b]", b"[]", b"--help", b"++"]
    write(tmp_path / "a", odd)
    run("index", "-q", "-o", "all.which", "--fpr", "1e-8", "a").ok()
    for key in odd:
        assert run("which", "all.which", "--", key.decode()).out == b"a\n", key
    for key in odd[1:4]:
        assert run("which", "all.which", key.decode()).out == b"a\n", key
    assert run("which", "--", "all.which", "-rf", "-x", "-r").out == b"-rf\ta\n"
    (tmp_path / "[a,b]").write_bytes(b"x\nx\n")
    (tmp_path / "-x").write_bytes(b"y\ny\n")
    assert run("dedup", "[a,b]", "--", "-x").ok().out == b"x\ny\n"


def test_an_index_never_replaces_a_file_that_it_reads(run, tmp_path):
    write(tmp_path / "a", [b"alice"])
    run("key", "new", "secret").ok()
    before = (tmp_path / "secret").read_bytes()
    run("index", "--force", "-o", "secret", "--key-file", "secret", "a").refused("this is also an input")
    assert (tmp_path / "secret").read_bytes() == before


def test_an_argument_that_is_no_key_is_said(run, tmp_path):
    write(tmp_path / "a", [b"ann@example.com"])
    run("index", "-q", "-o", "all.which", "--fpr", "1e-8", "--keys", "email", "a").ok()
    said = run("which", "all.which", "ann")
    assert (said.code, said.out) == (1, b"") and b"KEY 1: 'ann' has no @; it was skipped" in said.err


def test_a_wrong_argument_is_named(run, tmp_path):
    write(tmp_path / "a", [b"00ff"])
    run("index", "-q", "-o", "all.which", "--keys", "hex", "a").ok()
    assert run("which", "all.which", "00FF").out == b"a\n"
    run("which", "all.which", "00ff", "xyz", "--json").refused("KEY 2: ")


def test_a_secret_key_is_needed_again(run, tmp_path):
    run("key", "new", "secret").ok()
    write(tmp_path / "a", [b"alice"])
    run("index", "-q", "-o", "all.which", "--key-file", "secret", "a").ok()
    run("which", "all.which", "alice").refused("secret key")
    assert run("which", "--key-file", "secret", "all.which", "alice").out == b"a\n"
    assert b"file_index" in run("info", "all.which").ok().out


def test_an_index_is_no_filter_and_a_filter_no_index(run, three_files):
    run("build", "-q", "-o", "f.bloom", "a.txt").ok()
    for verb in (["check", "all.which", "a.txt"], ["add", "all.which", "a.txt"], ["verify", "all.which"],
                 ["merge", "-o", "x", "all.which", "f.bloom"], ["count", "all.which"]):
        run(*verb).refused("all.which: this is an index of files, not a filter; query it with 'bloomset which'")
    run("which", "f.bloom", "alice").refused("f.bloom: ", "a filter cannot be inverted", "'bloomset index'")
    run("which", "a.txt", "alice").refused("a.txt: this is not a Bloomset filter")


def test_wrong_requests_are_refused(run, three_files):
    run("index", "-o", "all.which", "a.txt").refused("all.which", "--force")
    run("index", "-o", "x.which", "a.txt", "b.txt", "a.txt").refused("a.txt: this file is given twice")
    run("index", "-o", "x.which", "--fpr", "90%", "a.txt").refused("0.9")
    run("index", "-o", "x.which", "missing.txt").refused("missing.txt")
    run("which", "all.which", "--keys", "password", "hunter2").refused("never from arguments")
    run("which", "-", input=b"").refused("stdin cannot be both")


def test_a_damaged_index_is_refused(run, three_files, tmp_path):
    data = bytearray((tmp_path / "all.which").read_bytes())
    for at in range(0, len(data), 61):
        data[at] ^= 1
        (tmp_path / "bad.which").write_bytes(data)
        data[at] ^= 1
        run("which", "bad.which", "alice").refused("bad.which")


def test_order_threads_and_packings_give_the_same_bytes(run, tmp_path):
    keys = [b"key-%d" % i for i in range(30000)]
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    shuffler = random.Random(5)
    for i in range(10):
        chosen = [key for n, key in enumerate(keys) if n % 10 == i or n % 97 < i]
        write(tmp_path / "one" / f"{i}", chosen)
        write(tmp_path / "two" / f"{i}", shuffler.sample(chosen, len(chosen)) + chosen[:20])
        subprocess.run(["zstd", "-q", "--rm", "-o", f"{i}.zst", f"{i}"], cwd=tmp_path / "two", check=True)
        (tmp_path / "two" / f"{i}.zst").rename(tmp_path / "two" / f"{i}")
    names = [str(i) for i in range(10)]
    run("index", "-q", "-o", "x.which", *names, cwd=tmp_path / "one").ok()
    run("index", "-q", "-o", "x.which", *names, cwd=tmp_path / "two").ok()
    assert (tmp_path / "one" / "x.which").read_bytes() == (tmp_path / "two" / "x.which").read_bytes()


def numbers(path, first, end):
    path.write_bytes(subprocess.check_output(["seq", str(first), str(end - 1)]))


@pytest.mark.skipif(not LIMITED, reason="a build of this size needs minutes under the sanitizers")
def test_a_build_beyond_the_memory_limit_gives_the_same_index(run, tmp_path):
    numbers(tmp_path / "a", 0, 1_500_000)
    numbers(tmp_path / "b", 1_400_000, 3_000_000)
    run("index", "-q", "-o", "memory.which", "a", "b").ok()
    run("index", "-o", "x.which", "a", "b", preexec_fn=few_bytes).refused("could not be allocated")
    assert not (tmp_path / "x.which").exists()
    (tmp_path / "temporary").mkdir()
    env = {"TMPDIR": str(tmp_path / "temporary")}
    limited = run("index", "-q", "-o", "disk.which", "--memory-limit", "16MiB", "a", "b", env=env, preexec_fn=few_bytes).ok()
    assert b"keys the hashes of further keys go to temporary files in %b\n" % os.fsencode(env["TMPDIR"]) in limited.err
    assert list((tmp_path / "temporary").iterdir()) == []
    assert (tmp_path / "disk.which").read_bytes() == (tmp_path / "memory.which").read_bytes()
    assert run("which", "disk.which", "1399999").out == b"a\n"
    assert run("which", "disk.which", "1400000").out == b"a\nb\n"
    assert run("which", "-c", "disk.which", input=(tmp_path / "b").read_bytes()).out == b"1600000\n"


@pytest.mark.parametrize("limit, why", [("0", "'0' is not a size"), ("1k", "1k is too little to work with"),
                                        ("5 bananas", "' bananas' is not a unit"), ("", "its value is empty")])
def test_memory_limits_that_are_nonsense_are_refused(run, three_files, limit, why):
    run("index", "-o", "x.which", "--memory-limit", limit, "a.txt").refused("--memory-limit: ", why)


def test_a_full_disk_leaves_no_index(run, tmp_path):
    numbers(tmp_path / "a", 0, 600_000)
    (tmp_path / "temporary").mkdir()
    done = run("index", "-o", "x.which", "--memory-limit", "16MiB", "a", env={"TMPDIR": str(tmp_path / "temporary")},
               preexec_fn=full_disk(1_000_000))
    assert done.code == 2 and b"set TMPDIR" in done.err.splitlines()[-1]
    assert sorted(os.listdir(tmp_path)) == ["a", "temporary"] and os.listdir(tmp_path / "temporary") == []


def test_indexes_are_joined_by_reading_their_files_again(run, three_files, tmp_path):
    write(tmp_path / "e.txt", [b"erin", b"bob"])
    run("index", "-q", "-o", "new.which", "--fpr", "1e-6", "b.txt", "e.txt").ok()
    run("index", "-q", "--compact", "-o", "joined.which", "all.which", "new.which").ok()
    run("index", "-q", "-o", "direct.which", "--fpr", "1e-8", "a.txt", "b.txt", "c d.txt", "e.txt").ok()
    assert (tmp_path / "joined.which").read_bytes() == (tmp_path / "direct.which").read_bytes()
    run("index", "-q", "--compact", "--force", "-o", "all.which", "--fpr", "1e-3", "all.which", "new.which").ok()
    assert run("which", "all.which", "erin").out == b"e.txt\n"
    assert json.loads(run("info", "--json", "all.which").out)["planned_fpr"] == 1e-3


def test_indexes_are_joined_with_the_reader_that_they_name(run, tmp_path):
    (tmp_path / "n.csv").write_text("id;mail\n1;ann@example.com\n")
    (tmp_path / "s.csv").write_text("id;mail\n2;bob@example.com\n")
    for name in "n", "s":
        run("index", "-q", "-o", f"{name}.which", "--keys", "fields:2,;", f"{name}.csv").ok()
    run("index", "-q", "--compact", "-o", "both.which", "n.which", "s.which").ok()
    assert run("which", "--keys", "lines", "both.which", "bob@example.com").out == b"s.csv\n"


def test_a_joined_index_has_the_lines_and_labels_of_the_indexes(run, tmp_path):
    (tmp_path / "a").write_bytes(b"# list\r\nann\r\nbob\n")
    (tmp_path / "b").write_bytes(b"cid\r\n")
    for name in "a", "b":
        run("index", "-q", "-o", f"{name}.which", "--crlf", "--skip-comments", "--label", "source=x", "--label", f"name={name}", name).ok()
    run("index", "-q", "--compact", "-o", "both.which", "a.which", "b.which").ok()
    assert run("which", "both.which", "ann", "cid", "# list").out == b"ann\ta\ncid\tb\n"
    assert json.loads(run("info", "--json", "both.which").out)["labels"] == {"lines": "crlf,skip-comments", "source": "x"}
    (tmp_path / "c").write_bytes(b"dan\0eve\0")
    run("index", "-q", "-o", "c.which", "-0", "c").ok()
    run("index", "-q", "--compact", "--force", "-o", "c.which", "c.which").ok()
    assert run("which", "c.which", "eve").out == b"c\n"
    run("index", "--compact", "-o", "x.which", "a.which", "c.which").refused("a.which and c.which: their lines were read with different options")
    # A file without bad lines has the same keys where bad lines are left out.
    (tmp_path / "mail").write_bytes(b"ann@example.com\n")
    (tmp_path / "some").write_bytes(b"bob@example.com\nnobody\n")
    run("index", "-q", "-o", "m.which", "--keys", "email", "mail").ok()
    run("index", "-q", "-o", "s.which", "--keys", "email", "--skip-bad", "some")
    for order in ("m.which", "s.which"), ("s.which", "m.which"):
        run("index", "-q", "--force", "--compact", "-o", "both.which", *order)
        assert run("which", "both.which", "bob@example.com", "ann@example.com").ok().out.count(b"\n") == 2
    for label in "lines", "column":
        run("index", "-o", "l.which", "--label", f"{label}=crlf", "mail").refused(f"--label: {label} is set by index")


def test_indexes_that_cannot_be_joined_are_refused(run, three_files, tmp_path):
    run("index", "--compact", "-o", "x.which").refused("--compact: give the indexes to join")
    run("index", "--compact", "-o", "x.which", "a.txt").refused("a.txt: ")
    run("index", "-q", "-o", "stdin.which", input=b"a\n").ok()
    run("index", "--compact", "-o", "x.which", "stdin.which").refused("stdin.which: it has the keys of stdin")
    (tmp_path / "b.txt").unlink()
    run("index", "--compact", "-o", "x.which", "all.which").refused("b.txt: cannot open")
    assert not (tmp_path / "x.which").exists()


def test_a_column_needs_parquet_files_and_no_reader(run, three_files):
    run("index", "-o", "x.which", "--column", "c", "a.txt").refused("a.txt: a Parquet file begins and ends with PAR1")
    run("index", "-o", "x.which", "--column", "c").refused("--column: give Parquet files")
    run("index", "-o", "x.which", "--column", "c", "-").refused("a Parquet file is not read from stdin")
    for reader in ("--keys", "hex"), ("-0",), ("--crlf",), ("--skip-bad",), ("--skip-comments",):
        run("index", "-o", "x.which", "--column", "c", *reader, "a.txt").refused("leave out the options that say how")
