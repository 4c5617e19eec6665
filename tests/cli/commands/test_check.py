"""check: its output, its exit status, and its behaviour in a pipe."""

import gzip
import json
import os
import random
import subprocess
import time

import pytest

from conftest import all_of

MEMBERS = b"alice\nbob\ncarol\n"


@pytest.fixture
def members(run, tmp_path):
    """A filter of three members, so wide that no non-member of these tests passes."""
    run("build", "-o", "m.bloom", "--capacity", "1000", "--fpr", "1e-9", input=MEMBERS).ok()
    return "m.bloom"


def test_exit_codes_are_those_of_grep(run, members):
    assert run("check", members, input=b"bob\nzoe\n").code == 0
    assert run("check", members, input=b"zoe\n").code == 1
    assert run("check", members, input=b"").code == 1
    assert run("check", "-v", members, input=b"bob\n").code == 1
    assert run("check", "-v", members, input=b"zoe\n").code == 0
    assert run("check", "missing", input=b"zoe\n").code == 2


def test_lines_are_printed_unchanged_and_in_order(run, members, tmp_path):
    text = b"zoe\ncarol\n\nalice\nzoe\nbob\nalice\n"
    assert run("check", members, input=text).out == b"carol\nalice\nbob\nalice\n"
    assert run("check", "-v", members, input=text).out == b"zoe\nzoe\n", "an empty line has no key"
    (tmp_path / "a").write_bytes(b"zoe\nbob")
    (tmp_path / "b").write_bytes(b"carol\n")
    assert run("check", members, "a", "b").out == b"bob\ncarol\n"


def test_count_and_quiet(run, members):
    text = b"zoe\ncarol\nalice\nyan\nxia\n"
    assert run("check", "-c", members, input=text).out == b"2\n"
    assert run("check", "-vc", members, input=text).out == b"3\n"
    done = run("check", "-c", members, input=b"zoe\n")
    assert (done.code, done.out) == (1, b"0\n")
    for options, code in ((["-q"], 0), (["-qc"], 0), (["-q", "--json"], 0)):
        done = run("check", *options, members, input=text)
        assert (done.code, done.out, done.err) == (code, b"", b"")
    assert run("check", "-q", members, input=b"zoe\n").code == 1


def test_quiet_stops_at_the_first_hit(run, members, bloomset, tmp_path):
    # The pipe is left open after the hit: whoever reads to the end waits for ever.
    with subprocess.Popen([bloomset, "check", "-q", members], stdin=subprocess.PIPE,
                          cwd=tmp_path) as check:
        check.stdin.write(b"zoe\nbob\n")
        check.stdin.flush()
        assert check.wait(timeout=20) == 0


def test_lines_come_out_while_the_input_waits(run, members, bloomset, tmp_path):
    with subprocess.Popen([bloomset, "check", members], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, cwd=tmp_path) as check:
        for name in (b"bob\n", b"carol\n"):
            check.stdin.write(b"zoe\n" + name)
            check.stdin.flush()
            assert check.stdout.readline() == name  # and not only at the end
        check.stdin.close()
        assert check.wait(timeout=20) == 0


def test_a_filter_that_is_shortened_in_place_ends_the_check_with_a_sentence(run, bloomset, tmp_path):
    run("build", "-q", "-o", "m", "--memory", "1MB", input=MEMBERS).ok()
    with subprocess.Popen([bloomset, "check", "m"], cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as check:
        check.stdin.write(b"bob\n")
        check.stdin.flush()
        assert check.stdout.readline() == b"bob\n"
        os.truncate(tmp_path / "m", 64)
        check.stdin.write(b"alice\n" + b"".join(b"%d\n" % i for i in range(1000)))
        _, err = check.communicate()
    assert check.returncode == 2
    assert err.startswith(b"bloomset: a mapped file could not be read or written: another program shortened it")


def test_several_filters_name_themselves(run, members):
    run("build", "-o", "n.bloom", "--capacity", "1000", "--fpr", "1e-9", input=b"bob\ndave\n").ok()
    text = b"alice\nbob\ndave\nzoe\n"
    both = ["check", "m.bloom", "--filter", "n.bloom"]
    assert run(*both, input=text).out == b"m.bloom\talice\nm.bloom,n.bloom\tbob\nn.bloom\tdave\n"
    assert run(*both, "-v", input=text).out == b"zoe\n"
    assert run(*both, "-c", input=text).out == b"3\n"
    assert run(*both, "-vc", input=text).out == b"1\n"
    assert run(*both, input=b"zoe\n").code == 1
    found = [json.loads(line) for line in run(*both, "--json", input=text).out.splitlines()]
    assert [f["filters"] for f in found] == [["m.bloom"], ["m.bloom", "n.bloom"], ["n.bloom"]]
    totals = json.loads(run(*both, "--json", "-c", input=text).out)
    assert totals == {"lines": 4, "selected": 3,
                      "filters": [{"filter": "m.bloom", "maybe": 2}, {"filter": "n.bloom", "maybe": 2}]}


def test_json_is_an_object_a_line(run, members, tmp_path):
    text = b"zoe\nbob\n\xff\"\\\t\n"
    run("add", members, input=b"\xff\"\\\t\n").ok()
    found = [json.loads(line) for line in run("check", "--json", members, input=text).out.splitlines()]
    assert found == [
        {"file": "stdin", "line": 2, "key": "bob", "maybe": True, "filters": [members]},
        {"file": "stdin", "line": 3, "key": "\ufffd\"\\\t", "maybe": True, "filters": [members]},
    ]
    non_members = run("check", "--json", "-v", members, input=text).out.splitlines()
    assert json.loads(non_members[0]) == {"file": "stdin", "line": 1, "key": "zoe", "maybe": False,
                                          "filters": []}
    (tmp_path / "a").write_bytes(b"zoe\n")
    (tmp_path / "b").write_bytes(b"zoe\nbob\n")
    (found,) = run("check", "--json", members, "a", "b").out.splitlines()
    assert json.loads(found) == {"file": "b", "line": 2, "key": "bob", "maybe": True, "filters": [members]}


def test_lines_are_printed_with_their_places(run, members, tmp_path, lines):
    (tmp_path / "a").write_bytes(b"zoe\nbob")
    (tmp_path / "b").write_bytes(lines(300_000) + b"alice\r\n")  # large enough for several threads
    assert run("check", "-n", members, "a", "--crlf", "b").ok().out == b"2:bob\n300001:alice\r\n"
    assert run("check", "-nH", members, "a", "-", input=b"bob\n").ok().out == b"a:2:bob\nstdin:1:bob\n"
    assert run("check", "--with-filename", "-v", members, "a").ok().out == b"a:zoe\n"
    both = run("check", members, "--filter", members, "--line-number", "a").ok()
    assert both.out == f"{members},{members}\t2:bob\n".encode()
    assert run("check", "-c", "-n", members, "a").ok().out == b"1\n"


def test_stdin_may_be_the_filter(run, members, tmp_path, bloomset):
    (tmp_path / "a").write_bytes(b"zoe\nbob\n")
    bytes_of_it = (tmp_path / members).read_bytes()
    assert run("check", "-", "a", input=bytes_of_it).ok().out == b"bob\n"
    with open(tmp_path / members, "rb") as redirected:
        assert run("check", members, "--filter", "-", "a", stdin=redirected).ok().out == f"{members},-\tbob\n".encode()
    assert run("info", "-", input=bytes_of_it).ok().out.startswith(b"-\n")
    assert run("verify", "-", input=bytes_of_it).ok().out == b"-: ok\n"
    run("merge", "-o", "both", members, "-", input=bytes_of_it).ok()
    assert run("check", "both", "a").ok().out == b"bob\n"
    run("check", "-", "a", input=bytes_of_it[:-1]).refused("stdin: ")
    run("check", "-", input=bytes_of_it).refused("cannot be both the filter and the keys")
    run("check", "-", "a", "-", input=bytes_of_it).refused("cannot be both the filter and the keys")
    run("merge", "-o", "c", "-", "-", input=bytes_of_it).refused("stdin has one filter")
    ours, theirs = os.openpty()
    run("check", "-", "a", stdin=theirs).refused("stdin is a terminal")
    os.close(theirs)
    os.close(ours)


def test_a_terminal_as_stdin_is_said_once(run, members):
    ours, theirs = os.openpty()
    os.write(ours, b"bob\n\x04")
    done = run("check", members, stdin=theirs)
    os.close(theirs)
    os.close(ours)
    assert (done.code, done.out) == (0, b"bob\n")
    assert done.err == b"reading keys from the terminal; end with Ctrl-D\n"


def test_keys_that_end_in_nul(run):
    run("build", "-0", "-o", "f", "--capacity", "100", "--fpr", "1e-9", input=b"a\nb\0c\0\0").ok()
    assert run("check", "-0", "f", input=b"c\0x\0a\nb\0\0last").out == b"c\0a\nb\0"
    assert run("check", "f", input=b"c\nx\n").out == b"c\n"


def test_large_output_in_order(run, lines):
    text = lines(50_000)
    run("build", "-o", "f", input=text).ok()
    assert run("check", "f", input=text).out == text
    mixed = b"".join(b"no%d\n" % i + line for i, line in enumerate(text.splitlines(True)))
    out = run("check", "f", input=mixed).out
    # Every member in order; non-members among them at 1% (340 to 660 is 7 deviations).
    assert b"".join(l for l in out.splitlines(True) if not l.startswith(b"no")) == text
    assert 340 < out.count(b"no") < 660


def test_a_pipe_closed_early_is_quiet(run, bloomset, tmp_path, lines):
    (tmp_path / "big").write_bytes(lines(20_000))
    run("build", "-o", "f", "big").ok()
    for command in ("check f big", "check --json f big", "dedup --capacity 1M big"):
        done = subprocess.run(f"{bloomset} {command} | head -1", shell=True, cwd=tmp_path,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
        assert done.stdout.count(b"\n") == 1
        assert done.stderr == b""
        # Also where whoever starts it ignores the signal.
        done = subprocess.run(["bash", "-c", f"trap '' PIPE; {bloomset} {command} | head -1"],
                              cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
        assert done.stderr == b""


def test_a_progress_line_on_a_terminal_only_and_taken_away_again(run, bloomset, tmp_path, lines):
    run("build", "-o", "f", input=lines(100)).ok()

    def on_a_terminal(*options, terminal="xterm"):
        ours, theirs = os.openpty()
        with subprocess.Popen([bloomset, "check", "-c", "f", *options], cwd=tmp_path,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=theirs,
                              env={**os.environ, "TERM": terminal}) as check:
            for _ in range(80):  # the line is drawn after half a second
                check.stdin.write(lines(100))
                check.stdin.flush()
                time.sleep(0.01)
            check.stdin.close()
            assert check.wait(timeout=20) == 0
            assert check.stdout.read() == b"8000\n"
        os.close(theirs)
        return all_of(ours)

    start = time.monotonic()
    shown = on_a_terminal()
    assert b"00 keys, " in shown
    assert shown.endswith(b"\r\x1b[K")
    assert shown.count(b"keys") <= 10 * (time.monotonic() - start) + 1, "at most ten a second"
    assert on_a_terminal("--no-progress") == b""
    assert on_a_terminal(terminal="dumb") == b""


def test_no_progress_line_between_answers_on_a_terminal(run, bloomset, tmp_path, lines):
    run("build", "-o", "f", input=lines(1)).ok()
    run("build", "--kind", "counting_bloom", "-o", "counts", input=lines(1)).ok()
    (tmp_path / "list").write_bytes(lines(1))
    run("index", "-o", "index", "list").ok()
    commands = ("check f", "check --json f", "count counts", "which index", "dedup --capacity 10")

    def shown(is_answered_there):
        """The text that each command writes to a terminal while it reads for almost a second."""
        running = []
        for command in commands:
            ours, theirs = os.openpty()
            running.append((ours, subprocess.Popen(
                [bloomset, *command.split()], cwd=tmp_path, stdin=subprocess.PIPE, stderr=theirs,
                stdout=theirs if is_answered_there else subprocess.DEVNULL, env={**os.environ, "TERM": "xterm"})))
            os.close(theirs)
        for _ in range(80):
            for _, program in running:
                program.stdin.write(lines(1))
                program.stdin.flush()
            time.sleep(0.01)
        for _, program in running:
            program.stdin.close()
            program.wait(timeout=20)
        return [all_of(ours) for ours, _ in running]

    assert all(b"\x1b" in text for text in shown(False))
    assert not any(b"\x1b" in text for text in shown(True))


def test_large_files_by_every_core_say_what_a_pipe_says(run, tmp_path):
    # A file of more than 4 MiB is taken by several threads in blocks of 2 MiB, a pipe by one.
    text = b"".join(b"https://example.org/%s/%d%s\n" % (b"x" * 600, i, b"\r" if i % 5 == 0 else b"")
                    for i in range(8000))
    (tmp_path / "large").write_bytes(text[:-1])  # the last line lacks its end
    keys = text.replace(b"\r", b"").splitlines(keepends=True)
    run("build", "-o", "third", input=b"".join(keys[::3])).ok()
    run("build", "-o", "odd", input=b"".join(keys[1::2])).ok()
    for options in ("", "-v", "-c", "-c --json", "-q", "--crlf", "--filter odd", "--filter odd -v"):
        by_cores = run("check", *options.split(), "third", "large").ok()
        in_turn = run("check", *options.split(), "third", input=text[:-1])
        assert (by_cores.code, by_cores.out) == (in_turn.code, in_turn.out), options


def test_a_damaged_large_file_gives_its_lines_and_then_the_place(run, members, tmp_path):
    packed = gzip.compress(random.Random(5).randbytes(3_000_000).hex().encode(), 1)
    (tmp_path / "good").write_bytes(b"bob\n%s\n" % (b"z" * 600) * 10_000)
    (tmp_path / "bad.gz").write_bytes(packed[:-1000])
    done = run("check", members, "good", "bad.gz")
    assert done.code == 2
    assert done.out == b"bob\n" * 10_000
    assert b"bad.gz:1: " in done.err
