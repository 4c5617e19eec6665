"""Known faults of other programs, each tested here: the fault table, hostile input, and the power
cut."""

import gzip
import os
import random
import subprocess
import time

import pytest

from conftest import full_disk

MEMBERS = b"alice\nbob\ncarol\n"


def build(run, name, text, *options):
    run("build", "-o", name, *options, input=text).ok()


# Row 2: lines longer than 64 KiB.
def test_lines_of_any_length_and_those_after_them(run):
    long = b"x" * 200_000 + b"\n"
    longer = b"y" * 3_000_000 + b"\n"
    text = b"before\n" + long + b"between\n" + longer + b"after\n"
    build(run, "f", text, "--capacity", "100", "--fpr", "1e-9")
    assert run("check", "f", input=text).out == text
    # The last byte counts: nothing is cut off before it is hashed.
    assert run("check", "f", input=long[:-2] + b"z\n").code == 1
    assert run("dedup", "--capacity", "10", input=text * 2).out == text


# Row 3: two writers at once.
def test_two_adders_at_once_lose_nothing(run, bloomset, tmp_path, lines):
    build(run, "f", b"", "--capacity", "100k", "--fpr", "1e-6")
    n, pieces = 20_000, 10
    writers = []
    for who in ("left", "right"):
        script = f"for i in {' '.join(map(str, range(pieces)))}; do {bloomset} add -q f {who}$i || exit 9; done"
        for i in range(pieces):
            (tmp_path / f"{who}{i}").write_bytes(lines(n // pieces, who, start=i * n // pieces))
        writers.append(subprocess.Popen(["bash", "-c", script], cwd=tmp_path))
    assert [w.wait(timeout=60) for w in writers] == [0, 0]
    everyone = lines(n, "left") + lines(n, "right")
    assert run("check", "-c", "f", input=everyone).out == b"%d\n" % (2 * n)


def owners(path):
    status = path.stat()
    return status.st_uid, status.st_gid, status.st_mode & 0o7777


# What sudo does: root changes a file that a service reads.
WRITERS = [("add", "f"), ("remove", "f"), ("build", "--force", "-o", "f", "--kind", "cuckoo"),
           ("merge", "--force", "-o", "f", "g", "g"), ("convert", "--force", "-o", "d", "e"),
           ("build", "--force", "-o", "d", "--format", "dcso", "--capacity", "9"),
           ("plan", "--force", "--plot", "p.svg", "--capacity", "9")]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("args", WRITERS, ids=" ".join)
def test_who_changes_a_file_keeps_its_owner_or_says_so(run, bloomset, tmp_path, args):
    for name, how in (("f", ["--kind", "cuckoo"]), ("g", ["--kind", "cuckoo"]),
                      ("d", ["--format", "dcso"]), ("e", ["--format", "dcso"])):
        build(run, name, MEMBERS, *how, "--capacity", "100")
    (tmp_path / "p.svg").write_bytes(b"")
    kind = next(name for name in ("d", "p.svg", "f") if name in args)
    changed = tmp_path / kind
    for name in ("f", "g", "d", "p.svg"):
        os.chown(tmp_path / name, 12345, 54321)
        os.chmod(tmp_path / name, 0o660)
    assert b"owner" not in run(*args, input=b"alice\n").ok().err
    assert owners(changed) == (12345, 54321, 0o660)

    # One who may write into the folder and has not the owner's name.
    # Below a root folder of mode 0700 another user can open no path at all.
    if not os.stat("/").st_mode & 0o001:
        pytest.skip("other users may not look into / here")
    tmp_path.chmod(0o777)

    def another():
        os.setgroups([54321])
        os.setgid(12346)
        os.setuid(12346)

    # Opened here, since the other may not be allowed into the folders above it.
    with open(bloomset, "rb") as program:
        done = run(*args, input=b"bob\n", preexec_fn=another, pass_fds=[program.fileno()],
                   executable=f"/proc/self/fd/{program.fileno()}").ok()
    assert owners(changed) == (12346, 54321, 0o660)
    assert (f"{kind}: the file now belongs to 12346:54321, because only root can keep its owner "
            "12345:54321\n").encode() in done.err


# Rows 1, too many keys, 4, an existing file, and 7, numbers, are in test_build.py, row 5, damage, in test_hostile.py,
# and row 6, hit or miss, in test_check.py.


# Row 8: CRLF.
def test_a_carriage_return_is_a_byte_unless_it_is_said_not_to_be(run):
    build(run, "f", b"alice\r\nbob\n", "--capacity", "100", "--fpr", "1e-9")
    assert run("check", "f", input=b"alice\nalice\r\nbob\nbob\r\n").out == b"alice\r\nbob\n"
    build(run, "g", b"alice\r\nbob\n", "--crlf", "--capacity", "100", "--fpr", "1e-9")
    text = b"alice\nalice\r\nbob\nbob\r\nalice\r\r\n"
    assert run("check", "g", input=text).out == b"alice\nbob\n"
    assert run("check", "--crlf", "g", input=text).out == b"alice\nalice\r\nbob\nbob\r\n"


MARK = b"\xef\xbb\xbf"
FOREIGN_FORMS = [
    (b"alice\r\nbob\r\n", "all lines of a end in CR LF, and the CR is read as part of each; --crlf drops it"),
    (b"alice\r\nbob\r\nlast", "all lines of a end in CR LF"),
    (MARK + b"alice\nbob\n", "a begins with a byte-order mark, which is read as part of the first "
                             "line; --crlf drops it"),
    (MARK + b"alice\r\nbob\r\n", "a begins with a byte-order mark and all its lines end in CR LF; "
                                 "the mark and the CRs are read as parts of lines; --crlf drops them"),
]
# Each reads keys in its own way: by lines, by blocks, by blocks of records, in one pass or two.
READERS = [("check", "f"), ("check", "-q", "f"), ("check", "f", "--keys", "sha1"), ("dedup",), ("add", "f"), ("remove", "f"),
           ("count", "f"), ("build", "-o", "new"), ("build", "-o", "new", "--keys", "sha256"),
           ("build", "-o", "new", "--kind", "fuse"), ("build", "-o", "new", "--capacity", "9"),
           ("build", "-o", "new", "--format", "dcso")]


# Every reader tells of the form that has both; tests/cli/input/input_test.cpp finds each form where pieces of a text meet.
@pytest.mark.parametrize("args, text, sentence", [
    *((READERS[0], *form) for form in FOREIGN_FORMS[:-1]), *((args, *FOREIGN_FORMS[-1]) for args in READERS)])
def test_a_file_of_another_systems_form_is_told_once(run, tmp_path, args, text, sentence):
    build(run, "f", MEMBERS, "--kind", "cuckoo", "--capacity", "1000", "--fpr", "1e-6")
    (tmp_path / "a").write_bytes(text)
    (tmp_path / "b").write_bytes(text)
    told = run(*args, "a", "b")
    assert told.code in (0, 1)
    assert told.err.decode().count(f"bloomset {args[0]}: warning: {sentence}") == 1
    assert told.err.count(b"--crlf") == 1
    (tmp_path / "new").unlink(missing_ok=True)
    quiet = run(*args, "--crlf", "a", "b")
    assert quiet.code in (0, 1) and b"--crlf" not in quiet.err


def test_large_files_of_another_systems_form_are_told_once(run, tmp_path, lines):
    """Beyond 4 MiB every core reads."""
    text = MARK + lines(300_000).replace(b"\n", b"\r\n")
    assert len(text) > 4 << 20
    (tmp_path / "a").write_bytes(text)
    build(run, "f", lines(300_000), "--fpr", "1e-6")
    assert run("check", "-c", "--crlf", "f", "a").out == b"300000\n"
    told = run("check", "-c", "f", "a")
    assert told.err.decode().count("a begins with a byte-order mark and all its lines end in CR LF") == 1


@pytest.mark.parametrize("text", [b"", MARK.join([b"a\n", b"b\n"]), b"alice\r\nbob\n", b"alice\r",
                                  b"alice\nbob\r\n"], ids=repr)
def test_other_marks_and_crs_are_bytes_and_nobody_is_told(run, text):
    build(run, "f", MEMBERS)
    assert run("check", "f", input=text).err == b""


@pytest.mark.parametrize("keys", ["url", "fields:1", "pwned"])
def test_readers_that_drop_the_mark_themselves_need_no_telling(run, keys):
    line = b"A" * 40 if keys == "pwned" else b"http://example.com/"
    assert run("dedup", "--keys", keys, input=MARK + line + b"\n").err == b""
    if keys != "fields:1":
        assert run("dedup", "--keys", keys, input=line + b"\r\n").err == b""


def test_utf16_is_told(run):
    told = run("dedup", input="alice\nbob\n".encode("utf-16")).ok()
    assert b"dedup: warning: stdin begins with the byte-order mark of UTF-16" in told.err
    assert b"iconv -f UTF-16 -t UTF-8" in told.err


def test_the_mark_is_of_no_key_where_it_is_said_to_be_none(run, tmp_path):
    build(run, "f", MARK + b"alice\r\nbob\r\n", "--crlf", "--fpr", "1e-9")
    assert run("check", "f", input=b"alice\nbob\n" + MARK + b"bob\n").out == b"alice\nbob\n"
    # Of a file's first line only.
    (tmp_path / "a").write_bytes(MARK + b"alice\n" + MARK + b"bob\n")
    (tmp_path / "b").write_bytes(MARK + b"bob\n")
    assert run("check", "--crlf", "f", "a", "b").out == b"alice\nbob\n"
    build(run, "empty", MARK, "--crlf")
    assert run("check", "empty", input=b"\n").code == 1


# Row 9: one write a hit.
def test_output_is_written_in_large_pieces(run, bloomset, tmp_path, lines):
    text = lines(100_000)
    build(run, "f", text)
    (tmp_path / "in").write_bytes(text)
    # On a SEQPACKET socket each write is a message of its own.
    import socket
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    theirs.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
    with subprocess.Popen([bloomset, "check", "f", "in"], stdout=theirs, cwd=tmp_path) as check:
        theirs.close()
        pieces = []
        while piece := ours.recv(1 << 20):
            pieces.append(piece)
        assert check.wait(timeout=20) == 0
    ours.close()
    assert b"".join(pieces) == text
    assert all(len(piece) >= 65536 for piece in pieces[:-1])


# Row 10: a huge filter is mapped, not read. Only --verify finds damage elsewhere in it.
def test_one_key_against_a_large_filter_reads_little_of_it(run, bloomset, tmp_path):
    build(run, "f", MEMBERS, "--memory", "80MB")

    def max_memory(*args):
        """The most memory it held, in KiB, pages of a mapped file among them, when it had answered."""
        with subprocess.Popen([bloomset, *args], cwd=tmp_path, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE) as check:
            check.stdin.write(b"bob\n")
            check.stdin.flush()
            assert check.stdout.readline() == b"bob\n"
            with open(f"/proc/{check.pid}/status") as status:
                held = next(line for line in status if line.startswith("VmHWM:"))
            check.stdin.close()
            assert check.wait(timeout=20) == 0
        return int(held.split()[1])

    build(run, "small", MEMBERS)
    program = max_memory("check", "small")
    assert max_memory("check", "f") < program + 20_000
    assert max_memory("check", "--verify", "f") > program + 70_000, "what reading it all shows"
    with open(tmp_path / "f", "r+b") as file:
        file.seek(70_000_000)
        file.write(b"\x01")
    assert run("check", "f", input=MEMBERS).ok().out == MEMBERS
    run("check", "--verify", "f", input=MEMBERS).refused("f: ", "checksum")


def test_nul_bytes_and_bytes_that_are_no_text(run):
    text = b"a\0b\na\0c\n\xff\xfe\n\0\n"
    build(run, "f", text, "--capacity", "100", "--fpr", "1e-9")
    assert run("check", "f", input=text).out == text
    assert run("check", "f", input=b"a\n").code == 1
    assert run("check", "f", input=b"a\0d\n").code == 1


@pytest.mark.parametrize("verb", ["build", "add", "check", "dedup"])
def test_inputs_that_cannot_be_read(run, tmp_path, verb):
    build(run, "f", MEMBERS)
    before = (tmp_path / "f").read_bytes()
    (tmp_path / "folder").mkdir()
    (tmp_path / "good").write_bytes(MEMBERS)
    start = {"build": ["build", "-o", "new"], "add": ["add", "f"], "check": ["check", "f"],
             "dedup": ["dedup", "--capacity", "10"]}[verb]
    # A wrong name after a good one is told before anything is printed or done.
    run(*start, "good", "missing.txt").refused("missing.txt: cannot open: No such file")
    run(*start, "good", "folder").refused("folder: this is a folder")
    folder = os.open(tmp_path, os.O_RDONLY)
    try:
        run(*start, stdin=folder).refused("stdin: this is a folder")
    finally:
        os.close(folder)
    assert (tmp_path / "f").read_bytes() == before
    assert not (tmp_path / "new").exists()


def test_an_input_that_may_not_be_read(bloomset, tmp_path):
    (tmp_path / "secret").write_bytes(MEMBERS)
    os.chmod(tmp_path / "secret", 0)
    # The superuser may read everything, unless it lays that right down.
    as_anyone = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
    done = subprocess.run([*as_anyone, bloomset, "build", "-o", "f", "secret"], cwd=tmp_path,
                          capture_output=True, timeout=60)
    assert done.returncode == 2
    assert b"secret: cannot open: Permission denied" in done.stderr
    assert not (tmp_path / "f").exists()


def test_a_name_that_no_file_can_have(run):
    name = "x" * 300
    run("parquet", "attach", name, "--column", "c").refused(f"{name}: cannot open")


def test_an_input_that_fails_while_it_is_read(run):
    run("build", "-o", "f", "/proc/self/mem").refused("/proc/self/mem: cannot read: Input/output error")


@pytest.mark.parametrize("verb", ["build", "add", "check"])
@pytest.mark.parametrize("format", ["gzip", "zstd"])
def test_packed_input_cut_short_or_damaged_names_file_and_place(run, tmp_path, lines, verb, format):
    build(run, "f", lines(20_000))
    before = (tmp_path / "f").read_bytes()
    text = lines(20_000)
    packed = (gzip.compress(text) if format == "gzip" else
              subprocess.run(["zstd", "-q", "--check"], input=text, stdout=subprocess.PIPE, check=True).stdout)
    (tmp_path / "short").write_bytes(packed[:len(packed) * 2 // 3])
    middle = len(packed) // 2
    (tmp_path / "bad").write_bytes(packed[:middle] + b"\xff\x00\xff\x00" + packed[middle + 4:])
    start = {"build": ["build", "-o", "new"], "add": ["add", "f"], "check": ["check", "-c", "f"]}[verb]
    run(*start, "short").refused("short:", f"the {format} data ends too early, after ")
    text = run(*start, "bad").refused("bad:", f"the {format} data is damaged near byte ")
    line = int(text.split("bad:")[1].split(":")[0])
    assert 1 <= line <= 20_000
    assert (tmp_path / "f").read_bytes() == before
    assert not (tmp_path / "new").exists()


def test_a_full_disk_is_an_error(run, tmp_path, lines):
    build(run, "f", lines(50_000))
    (tmp_path / "in").write_bytes(lines(50_000))
    texts = ("info f", "info --json f", "verify f", "plan --capacity 9", "man", "completion bash", "--help", "-h",
             "--version", "help", "plan --help", "help plan")
    for command in ("check f in", "check -c f in", "dedup --capacity 1M in", "build -o - in", "explain --insert a", *texts):
        sentence = ": No space left on device\n" if command in texts else "stdout: cannot write: No space left on device"
        with open("/dev/full", "wb") as full:
            run(*command.split(), stdout=full).refused(sentence)
    run("build", "-o", "/dev/full", "in").refused("/dev/full: cannot write: No space left on device")


def test_a_file_size_limit_leaves_the_old_filter_and_no_other(run, tmp_path, lines):
    build(run, "f", lines(100), "--capacity", "1M")
    before = (tmp_path / "f").read_bytes()

    run("add", "f", input=b"dave\n", preexec_fn=full_disk(100_000)).refused("f: cannot write: File too large")
    run("build", "-o", "new", "--capacity", "1M", input=b"dave\n", preexec_fn=full_disk(100_000)).refused(
        "new: cannot write: File too large")
    assert (tmp_path / "f").read_bytes() == before
    assert os.listdir(tmp_path) == ["f"]


@pytest.mark.parametrize("verb", ["add", "build"])
def test_a_power_cut_leaves_the_old_filter_or_the_new_one(run, bloomset, tmp_path, lines, verb):
    build(run, "f", lines(1000, "old"), "--capacity", "300k")
    (tmp_path / "in").write_bytes(lines(1000, "old") + lines(20_000, "new"))
    args = {"add": ["add", "-q", "f", "in"],
            "build": ["build", "-q", "--force", "--capacity", "300k", "-o", "f", "in"]}[verb]
    old = (tmp_path / "f").read_bytes()
    start = time.monotonic()
    run(*args).ok()
    whole = time.monotonic() - start
    new = (tmp_path / "f").read_bytes()
    chance = random.Random(17)
    seen = set()
    for _ in range(40):
        (tmp_path / "f").write_bytes(old)
        with subprocess.Popen([bloomset, *args], cwd=tmp_path) as victim:
            time.sleep(chance.uniform(0, whole * 1.2))
            victim.kill()
        now = (tmp_path / "f").read_bytes()
        assert now in (old, new), "neither the old filter nor the new one"
        seen.add(now == new)
    assert seen, "no kill at all"
    # A kill in the moment between two system calls may leave a hidden name; the next writer takes
    # it away.
    run(*args).ok()
    assert sorted(os.listdir(tmp_path)) == ["f", "in"]


def test_what_a_killed_writer_left_is_taken_away(run, tmp_path):
    build(run, "f", MEMBERS, "--capacity", "100")
    (tmp_path / ".f.bloomset.tmp").write_bytes(b"half a filter")
    run("add", "f", input=b"dave\n").ok()
    assert os.listdir(tmp_path) == ["f"]
    assert run("check", "f", input=b"dave\n").ok()
