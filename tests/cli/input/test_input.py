"""What an input is: packed, binary, the output itself, endless, of mixed form; and lines that have no key."""

import bz2
import gzip
import io
import lzma
import os
import pathlib
import sqlite3
import subprocess
import tarfile
import zipfile

import pytest

LINES = b"alice\nbob\n"
# Each reads keys in its own way, or writes another thing.
READERS = [("build", "-o", "new"), ("build", "-o", "new", "--format", "dcso", "--capacity", "9"), ("build", "-o", "new", "--keys", "sha1"),
           ("check", "f"), ("add", "f"), ("remove", "f"), ("count", "f"), ("dedup",)]


@pytest.fixture
def f(run):
    """A filter of alice and bob, of a kind that has every verb."""
    run("build", "-o", "f", "--kind", "vector_quotient", "--capacity", "100", "--fpr", "1e-9", input=LINES).ok()
    return "f"


def tar():
    into = io.BytesIO()
    with tarfile.open(fileobj=into, mode="w") as archive:
        member = tarfile.TarInfo("l.txt")
        member.size = len(LINES)
        archive.addfile(member, io.BytesIO(LINES))
    return into.getvalue()


def old_tar():
    """Without the word "ustar": only the checksum shows it."""
    header = bytearray(tar()[:512])
    header[257:265] = bytes(8)
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    return bytes(header) + LINES.ljust(512, b"\0") + bytes(1024)


def zipped(*names):
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w") as archive:
        for name in names:
            archive.writestr(name, LINES)
    return into.getvalue()


def packed_by(*command):
    return subprocess.run(command, input=LINES, stdout=subprocess.PIPE, check=True).stdout


# Packed input ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pack", [lzma.compress, bz2.compress, lambda text: lzma.compress(text[:6]) + lzma.compress(text[6:]),
                                  lambda text: bz2.compress(text[:6]) + bz2.compress(text[6:]),
                                  lambda text: lzma.compress(text) + bytes(8), lambda text: gzip.compress(bz2.compress(text))])
def test_xz_and_bzip2_are_read(run, tmp_path, pack, f):
    (tmp_path / "a").write_bytes(pack(LINES))
    assert run("dedup", "a").ok().out == LINES
    assert run("check", f, input=pack(LINES)).ok().out == LINES
    assert run("build", "-o", "new", "a").ok().err.startswith(b"new: 2 keys")


@pytest.mark.parametrize("pack, format", [(lzma.compress, "xz"), (bz2.compress, "bzip2")])
def test_damaged_xz_and_bzip2_name_file_and_place(run, tmp_path, lines, pack, format):
    packed = pack(lines(20_000))
    (tmp_path / "none").write_bytes(pack(b""))
    assert run("dedup", "none").ok().out == b""
    (tmp_path / "short").write_bytes(packed[:len(packed) * 2 // 3])
    run("build", "-o", "new", "short").refused("short:", f"the {format} data ends too early, after ")
    (tmp_path / "bad").write_bytes(packed[:-60] + b"\xff" * 40 + packed[-20:])
    run("build", "-o", "new", "bad").refused("bad:", f"the {format} data is damaged near byte ")
    (tmp_path / "more").write_bytes(packed + b"garbage!" * 4)
    run("build", "-o", "new", "more").refused("more:", f"the {format} data is damaged near byte ")


def sqlite(tmp_path):
    with sqlite3.connect(tmp_path / "made.db") as made:
        made.execute("create table t(a)")
    return (tmp_path / "made.db").read_bytes()


OTHERS = [(zipped("l"), "a zip archive", "unzip -p"), (zipped(), "a zip archive without files", ""),
          (b"7z\xbc\xaf\x27\x1c\0\4" + bytes(24), "a 7z archive", "7z x -so"),
          (b"Rar!\x1a\x07\1\0more", "a rar archive", "unrar p"), (packed_by("lz4", "-qc"), "lz4-compressed", "lz4 -dc"),
          (b"\x1f\x9d\x90alice", "compressed by 'compress'", "gzip -dc"), (b"LZIP\1\x0c" + bytes(30), "lzip-compressed", "lzip -dc"),
          (lzma.compress(LINES, lzma.FORMAT_ALONE), "lzma-compressed", "xz --format=lzma -dc"),
          (tar(), "a tar archive", "tar -xOf"), (old_tar(), "a tar archive", "tar -xOf"),
          (gzip.compress(tar()), "a tar archive", "tar -xOf"), (lzma.compress(tar()), "a tar archive", "tar -xOf"),
          (bz2.compress(zipped("l")), "a zip archive", "unzip -p"),
          (b"PAR1\x15\4\x15\x0c" + bytes(40) + b"PAR1", "a Parquet file", "--column"),
          (sqlite, "an SQLite database", "its SQL shell")]


@pytest.mark.parametrize("data, what, remedy", OTHERS, ids=lambda value: value if isinstance(value, str) else "")
def test_other_packings_are_refused_by_name(run, tmp_path, data, what, remedy):
    data = data(tmp_path) if callable(data) else data
    (tmp_path / "a").write_bytes(data)
    run("build", "-o", "new", "a").refused(f"a: this is {what}, and keys are read from lines", remedy)
    run("dedup", input=data).refused(f"stdin: this is {what}")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("args", READERS, ids=" ".join)
def test_every_verb_refuses_packings_and_filters(run, tmp_path, f, args):
    run(*args, input=zipped("l")).refused("stdin: this is a zip archive")
    run("build", "-o", "g", input=LINES).ok()
    run(*args, "g").refused("g: this is a Bloomset filter, and keys are read from lines", "FILTER")
    run("build", "-o", "h", "--format", "dcso", "--capacity", "9", input=LINES).ok()
    for text in (tmp_path / "h").read_bytes(), gzip.compress((tmp_path / "h").read_bytes()):
        run(*args, input=text).refused("stdin: this is a filter of format dcso")


@pytest.mark.parametrize("text", [b"PK", b"PK peak\n", b"PK\n\3\4\n", b"BZh9\nBZh\n", b"BZh91AY\n", b"PAR1\ngolf\n", b"PAR1 golf\n",
                                  b"LZIP\nlist\n", b"Rar!\n", b"7z\n", b"070701" + b"0" * 122 + b"\n", b"SQLite format 3\n", b"ORC\n",
                                  b"!<arch>\nx\n", b"MSCF\n", b"]\n", b"(", b"\x1f\n", b"Obj\n", b"\xfd7z\n", b"P"], ids=repr)
def test_texts_that_begin_alike_are_texts(run, text):
    done = run("dedup", input=text).ok()
    assert (done.out, done.err) == (text if text.endswith(b"\n") else text + b"\n", b"")


def test_a_packed_filter_is_named_where_a_filter_is_needed(run, tmp_path, f):
    (tmp_path / "f.xz").write_bytes(lzma.compress((tmp_path / f).read_bytes()))
    run("info", "f.xz").refused("f.xz: this is xz-compressed, not a filter", "xz -dc")


def test_answers_come_while_a_line_like_a_packing_waits(run, f, bloomset, tmp_path):
    with subprocess.Popen([bloomset, "check", f], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path) as check:
        check.stdin.write(b"alice\n")
        check.stdin.flush()
        assert check.stdout.readline() == b"alice\n"
        check.stdin.close()
        assert check.wait(timeout=20) == 0


@pytest.mark.parametrize("args", READERS, ids=" ".join)
def test_nul_bytes_are_told_unless_they_end_the_lines(run, f, args):
    told = run(*args, input=b"alice\0bob\0\n")
    assert f"bloomset {args[0]}: warning: stdin has NUL bytes" in told.err.decode() and b"give -0" in told.err
    again = [each.replace("new", "new0") for each in args]
    assert b"NUL" not in run(*again, "-0", input=b"alice\0bob\0").err


# Windows of zstd, and long lines ---------------------------------------------------------------------------


def test_a_large_window_is_read_within_the_memory_limit(run, tmp_path):
    packed = subprocess.run(["zstd", "-q", "--ultra", "--long=28"], input=LINES, stdout=subprocess.PIPE, check=True).stdout
    (tmp_path / "a.zst").write_bytes(packed)
    assert run("dedup", "--memory-limit", "300MB", "a.zst").ok().out == LINES
    run("dedup", "--memory-limit", "200MB", "a.zst").refused(
        "a.zst:1: the zstd data needs a window of 268 MB, more than the memory limit of 200 MB; raise --memory-limit")


def peak(bloomset, tmp_path, *args):
    """The most memory in MiB, and the exit status and stderr."""
    with subprocess.Popen([bloomset, *args], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          cwd=tmp_path) as started:
        said = started.stderr.read().decode()
        _, status, used = os.wait4(started.pid, 0)
        started.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_maxrss >> 10, started.returncode, said


@pytest.mark.parametrize("args", [("build", "--force", "-o", "new"), ("check", "f"), ("dedup",)], ids=" ".join)
def test_a_long_line_needs_one_copy_and_has_a_limit(run, bloomset, tmp_path, f, args):
    with gzip.open(tmp_path / "a.gz", "wb", compresslevel=1) as packed:
        packed.write(b"alice\n")
        for _ in range(100):
            packed.write(b"x" * (1 << 20))
        packed.write(b"\nbob\n")
    # The address sanitizer keeps what was freed.
    other = 200 if b"__asan_init" in pathlib.Path(bloomset).read_bytes() else 60
    memory, status, said = peak(bloomset, tmp_path, *args, "--memory-limit", "200MB", "a.gz")
    assert status == 0 and memory < 100 + other, said
    memory, status, said = peak(bloomset, tmp_path, *args, "--memory-limit", "32MB", "a.gz")
    assert status == 2 and memory < 32 + other, said
    assert "a.gz:2: this line is longer than the memory limit of 32.0 MB; raise --memory-limit" in said


@pytest.mark.parametrize("file", ["/dev/zero", "/dev/urandom"])
@pytest.mark.parametrize("args", [("info",), ("verify",), ("check",), ("add",), ("fold", "-o", "new"), ("convert", "-o", "new"),
                                  ("merge", "-o", "new", "f"), ("parquet", "attach", "-o", "new", "--column", "c")], ids=" ".join)
def test_an_endless_file_is_no_filter(run, f, args, file):
    run(*args, file).refused(file)


def test_an_endless_pipe_is_no_filter(bloomset, f, tmp_path):
    done = subprocess.run(f"yes | timeout 20 {bloomset} info /dev/stdin; (cat f; cat /dev/zero) | timeout 20 {bloomset} info /dev/stdin",
                          shell=True, stderr=subprocess.PIPE, cwd=tmp_path)
    assert done.returncode == 2
    assert b"not a Bloomset filter" in done.stderr and b"its payload has" in done.stderr


# The output is an input ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["list", "./list", "link", "hard"])
def test_no_list_is_replaced_by_its_filter(run, tmp_path, name):
    (tmp_path / "list").write_bytes(LINES)
    (tmp_path / "link").symlink_to("list")
    os.link(tmp_path / "list", tmp_path / "hard")
    run("build", "--force", "-o", name, "list").refused(f"{name}: this is also an input, list")
    run("build", "--force", "--format", "dcso", "-o", name, "list").refused(f"{name}: this is also an input")
    with open(tmp_path / "list", "rb") as stdin:
        run("build", "--force", "-o", name, stdin=stdin).refused(f"{name}: this is also an input, stdin")
    assert (tmp_path / "list").read_bytes() == LINES


@pytest.mark.parametrize("args", [("check", "f"), ("count", "f"), ("dedup",), ("build", "-o", "-")], ids=" ".join)
def test_stdout_is_no_input(run, tmp_path, f, args):
    (tmp_path / "list").write_bytes(LINES)
    for input in ({}, {"stdin": open(tmp_path / "list", "rb")}):
        with open(tmp_path / "list", "ab") as out:
            done = run(*args, *(() if input else ("list",)), stdout=out, **input)
        assert done.code == 2 and b"this input is also the output" in done.err
    assert (tmp_path / "list").read_bytes() == LINES


def test_verbs_that_write_filters_spare_their_inputs(run, tmp_path, secret):
    run("build", "-o", "f", input=LINES).ok()
    run("build", "-o", "other", input=LINES).ok()
    run("build", "--format", "dcso", "--capacity", "9", "-o", "d", input=LINES).ok()
    (tmp_path / "link").hardlink_to(tmp_path / "f")
    before = [(tmp_path / name).read_bytes() for name in ("f", "d")]
    for args in (("fold", "-o", "f", "f"), ("intersect", "-o", "f", "f", "other"), ("merge", "-o", "f", "other", "f"),
                 ("fold", "-o", "f", "link"), ("merge", "-o", "f", "other", "link")):
        run(*args, "--force").refused(f"f: this is also an input, {args[-1] if args[-1] != 'other' else 'f'}")
    run("convert", "--force", "-o", "d", "d").refused("d: this is also an input, d")
    run("add", "f", "f").refused("f: this is also an input, f")
    assert [(tmp_path / name).read_bytes() for name in ("f", "d")] == before
    run("build", "--force", "-o", secret, "--key-file", secret, input=LINES).refused("this is also an input")
    run("parquet", "attach", "--force", "--column", "c", "-o", "f", "f").refused("this is also an input", "leave -o out")


# Lines -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("args", READERS, ids=" ".join)
def test_mixed_line_ends_are_told(run, f, args):
    crs = b"".join(b"u%d\r\n" % i for i in range(98))
    assert b"98 of 100 lines of stdin end in CR LF" in run(*args, input=crs + b"a\nb").err
    assert b"98 of 100 lines of stdin end in CR LF" in run(*[a.replace("new", "new2") for a in args], input=b"a\n" + crs + b"b\n").err
    assert b"CR LF" not in run(*[a.replace("new", "new3") for a in args], input=crs + b"a\n" * 98).err


@pytest.mark.parametrize("reader, line", [("lines", b"a"), ("fields:1", b"a"), ("csv:1", b"a"), ("hex", b"0a"), ("sha1", b"a"),
                                          ("sha256", b"a"), ("pwned", b"0" * 40 + b":1"), ("url", b"a.de"), ("safe-browsing", b"a.de/"),
                                          ("email", b"a@a.de"), ("json:/a", b'{"a":1}')])
def test_an_empty_line_has_no_key(run, reader, line):
    text = line + b"\n\n" + line + b"\n\n"
    made = ["--keys", reader, "--kind", "vector_quotient", "--capacity", "100", "--fpr", "1e-9"]
    assert b": 2 keys" in run("build", "-o", "f", *made, input=text).ok().err
    assert b": 2 keys" in run("build", "-0", "-o", "g", *made, input=text.replace(b"\n", b"\0")).ok().err
    assert b": 2 keys" in run("build", "-o", "d", "--format", "dcso", "--capacity", "9", "--keys", reader, input=text).ok().err
    assert b"f: 2 keys read" in run("add", "f", "--keys", reader, input=text).ok().err
    assert run("check", "f", "--keys", reader, input=text).out == (line + b"\n") * 2
    assert run("check", "-v", "f", "--keys", reader, input=b"\n\n").code == 1
    assert run("count", "f", "--keys", reader, input=b"\n" + line + b"\n").out == b"4\t" + line + b"\n"
    run("remove", "f", "--keys", reader, input=text).ok()
    expected = line + b"\n\n" + (b"" if reader == "lines" else b"\n")
    assert run("dedup", "--keys", reader, input=text).out == expected


def test_large_files_with_empty_lines(run, tmp_path, lines):
    text = lines(200_000).replace(b"\n", b"\n\n")
    (tmp_path / "a").write_bytes(text)
    assert b"a.bloom: 200,000 keys" in run("build", "-o", "a.bloom", "a").ok().err
    assert run("check", "-c", "a.bloom", "a").out == b"200000\n"
    assert run("check", "a.bloom", "a").out == lines(200_000)


def test_comments_are_skipped_on_request(run, f):
    text = b"# a list\nalice\n#bob\n"
    assert run("check", "--skip-comments", f, input=text).out == b"alice\n"
    assert run("check", "-v", "--skip-comments", f, input=text).code == 1
    assert run("check", "-v", f, input=text).out == b"# a list\n#bob\n"
    assert b"1 key," in run("build", "--skip-comments", "-o", "g", input=text).ok().err
    assert b"1 key," in run("build", "--skip-comments", "-o", "h", "--keys", "csv:name", input=b"#x\nname\nalice\n").ok().err


def test_csv_from_build_to_check(run, tmp_path):
    (tmp_path / "a.csv").write_bytes(b'id,name\r\n1,"Smith, ""Ann"""\r\n2,bob\r\n')
    (tmp_path / "b.csv").write_bytes(b"name,id\ncid,3\n,4\n")
    assert b"f: 3 keys" in run("build", "-o", "f", "--keys", "csv:name", "a.csv", "b.csv").ok().err
    assert run("check", "f", "--keys", "lines", input=b'Smith, "Ann"\nbob\ncid\nname\n').out == b'Smith, "Ann"\nbob\ncid\n'
    assert run("check", "f", "--keys", "csv:2", "a.csv").out == b'1,"Smith, ""Ann"""\r\n2,bob\r\n'
    assert run("check", "f", "--keys", "csv:2,;", input=b"x;bob\n").out == b"x;bob\n"
    run("build", "-o", "g", "--keys", "csv:mail", "a.csv").refused("a.csv:1: no column has the name 'mail'", "id, name")
    broken = b'1,"a\nb,bob\nc"\n2,bob\n'
    run("build", "-o", "h", input=b"x\n").ok()
    run("check", "h", "--keys", "csv:2", input=broken).refused("stdin:1: a quoted field does not end in this line")
    done = run("check", "f", "--keys", "csv:2", "--skip-bad", input=broken)
    assert done.out == b"2,bob\n" and b"3 lines were skipped; the first is stdin:1" in done.err


def test_large_csv_files_have_one_header(run, tmp_path):
    rows = b"id,name\n" + b"".join(b'%d,"u%d"\n' % (i, i) for i in range(300_000))
    (tmp_path / "a.csv").write_bytes(rows)
    assert b"f: 300,000 keys" in run("build", "-o", "f", "--keys", "csv:name", "a.csv").ok().err
    assert run("check", "-c", "f", "--keys", "csv:name", "a.csv").out == b"300000\n"


def test_documents_as_python_writes_them(run):
    text = b'{"u": "x", "v": NaN}\n{"u": "x", "v": "\\ud800"}\n'
    assert run("dedup", "--keys", "json:/u", input=text).ok().out == text[:text.index(b"\n") + 1]
    run("dedup", "--keys", "json:/v", input=text[text.index(b"\n") + 1:]).refused("stdin:1: the string at '/v' has half of a surrogate pair")


def test_dedup_does_not_print_what_it_skipped(run):
    done = run("dedup", "--keys", "fields:2,;", "--skip-bad", input=b"1;a\nbad\n2;b\nbad\n3;a\n\n").ok()
    assert done.out == b"1;a\n2;b\n\n"
    assert b"2 lines were skipped; the first is stdin:2" in done.err


# Names -----------------------------------------------------------------------------------------------------


def test_control_characters_in_names_are_escaped(run, tmp_path):
    name = b"a\x1b[31m\xc2\x9b\x9b\xc3\xa9\x7f\n.bloom"
    shown = rb"a\x1b[31m\xc2\x9b\x9b" + b"\xc3\xa9" + rb"\x7f\n.bloom"
    path = os.fsdecode(name)
    built = run("build", "-o", path, input=LINES).ok()
    assert built.err.startswith(shown + b": 2 keys")
    assert run("info", path).ok().out.startswith(shown + b"\n")
    assert run("verify", path).ok().out == shown + b": ok\n"
    assert run("check", path, "--filter", path, input=b"bob\n").out == shown + b"," + shown + b"\tbob\n"
    assert run("build", "-o", path, input=LINES).err.startswith(b"bloomset build: " + shown + b": the file exists")
    (tmp_path / path).with_suffix(".txt").write_bytes(b"x;\nx\n")
    listed = os.fsdecode(name.replace(b".bloom", b".txt"))
    assert shown.replace(b".bloom", b".txt:2: ") in run("dedup", "--keys", "fields:2,;", listed).err
    for text in run("info", "--json", path).out, run("check", "--json", path, input=b"bob\n").out:
        text.decode()
        assert rb"\u001b[31m\u009b" in text and b"\xc3\xa9\\u007f\\n" in text
