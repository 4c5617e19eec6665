"""Passwords as keys: ranges of Pwned Passwords, and passwords that must leave no trace."""

import gzip
import json
import os
import pty
import select
import shutil
import signal
import termios
import time

import pytest
from reader_filters import WIDE, build, sha1  # noqa: F401


@pytest.fixture
def ranges(tmp_path):
    """A folder of range files of four passwords, with padding, as the API pads; one is packed."""
    folder = tmp_path / "ranges"
    folder.mkdir()
    for i, (password, count) in enumerate([(b"password", 9545824), (b"123456", 37359195), (b"qwerty", 10556095),
                                           (b"rare", 2)]):
        digest = sha1(password)
        text = b"\xef\xbb\xbf" + digest[5:] + b":%d\r\n" % count + b"0" * 34 + b"A:0\r\n"
        name = digest[:5].decode() + ".txt"
        if i == 2:
            (folder / (name + ".gz")).write_bytes(gzip.compress(text))
        else:
            (folder / name).write_bytes(text.rstrip(b"\r\n"))
    (folder / "README").write_text("not a range\n")
    (folder / f"{sha1(b'rare')[:5].decode()}.txt.bak").write_text("not a range\n")
    return folder


def test_a_folder_of_ranges(run, ranges):
    done = run("build", "-o", "p.bloom", "--keys", "pwned", *WIDE, "ranges").ok()
    assert b"4 keys" in done.err
    assert b"warning: ranges: this folder has 4 of 1,048,576 files" in done.err
    asked = b"password\nsecret\nqwerty\nrare\n"
    done = run("check", "p.bloom", "--keys", "password", input=asked)
    assert (done.code, done.out) == (0, b"stdin:1\nstdin:3\nstdin:4\n")
    run("build", "--force", "-o", "p.bloom", "--keys", "pwned", "--min-count", "10", *WIDE, "ranges").ok()
    assert run("check", "p.bloom", "--keys", "password", input=asked).out == b"stdin:1\nstdin:3\n"
    run("build", "--force", "-o", "q.bloom", "--keys", "pwned:min=10", *WIDE, "ranges").ok()
    assert (ranges.parent / "p.bloom").read_bytes() == (ranges.parent / "q.bloom").read_bytes()


def test_a_tree_of_folders_is_the_folder_of_its_files(run, ranges, tmp_path):
    for i, file in enumerate(sorted(ranges.iterdir())):
        folder = tmp_path / "tree" / "0123"[i % 4] / "ab"
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, folder)
    for name in "ranges", "tree":
        run("build", "-o", f"{name}.bloom", "--keys", "pwned", *WIDE, name).ok()
    assert (tmp_path / "tree.bloom").read_bytes() == (tmp_path / "ranges.bloom").read_bytes()


def test_only_pwned_reads_folders_and_only_of_ranges(run, ranges, tmp_path):
    run("build", "-o", "p.bloom", "ranges").refused("ranges", "folder")
    (tmp_path / "empty").mkdir()
    run("build", "-o", "p.bloom", "--keys", "pwned", "empty").refused("empty", "this folder has no file")
    (ranges / "ABCDE.txt").write_bytes(b"oops\n")
    run("build", "-o", "p.bloom", "--keys", "pwned", "ranges").refused("ranges/ABCDE.txt:1: 'oops' is not a hash")
    (tmp_path / "list.txt").write_bytes(sha1(b"x")[5:] + b":1\n")
    run("build", "-o", "p.bloom", "--keys", "pwned", "list.txt").refused("list.txt:1: ", "00000.txt")


def test_ntlm(run, build):
    f = build("pwned", b"8846F7EAEE8FB117AD06BDD830B7586C:9545824\r\n")
    assert run("check", f, "--keys", "password:ntlm", input=b"password\nx\n").out == b"stdin:1\n"
    assert run("check", f, "--keys", "password", input=b"password\nx\n").code == 1
    done = run("check", f, "--keys", "password:ntlm", input=b"geheim\xff\n")
    assert done.code == 2 and b"stdin:1: " in done.err and b"geheim" not in done.err


def test_passwords_are_never_shown(run, build, tmp_path):
    f = build("sha1", b"correct horse\n")
    asked = b"battery staple\ncorrect horse\n"
    for options, out in (([], b"stdin:2\n"), (["-v"], b"stdin:1\n"), (["-c"], b"1\n"), (["-q"], b"")):
        done = run("check", *options, f, "--keys", "password", input=asked)
        assert (done.code, done.out, done.err) == (0, out, b"")
    done = run("check", "--json", f, "--keys", "password", input=asked)
    assert json.loads(done.out) == {"file": "stdin", "line": 2, "maybe": True, "filters": ["f.bloom"]}
    (tmp_path / "list").write_bytes(asked)
    assert run("check", f, "--filter", f, "--keys", "password", "list").out == b"f.bloom,f.bloom\tlist:2\n"
    (tmp_path / "list.gz").write_bytes(gzip.compress(asked))
    run("check", f, "--keys", "password", "list.gz").refused("list.gz: ", "decompress")


def test_a_password_among_the_arguments_is_not_shown(run, build, tmp_path):
    build("sha1", b"hunter2\n")
    (tmp_path / "list").write_bytes(b"x\n")
    for args in (
        ("f.bloom", "--keys", "password", "hunter2"),
        ("f.bloom", "--keys", "password", "list", "hunter2"),
        ("f.bloom", "--keys", "password:ntlm", "hunter2"),
        ("f.bloom", "--keys", "password", "hunter2", "--json"),
        ("f.bloom", "--keys", "password", "hunter2/x"),
        ("--keys", "password", "hunter2"),
        ("f.bloom", "--filter", "hunter2", "--keys", "password"),
        ("f.bloom", "--keys", "password", "-xhunter2"),
        ("f.bloom", "--keys", "password", "--hunter2=x"),
        ("f.bloom", "--keys", "password:hunter2"),
        ("f.bloom", "--keys", "password:ntlm,hunter2"),
        ("f.bloom", "--keys", "password=hunter2"),
        ("f.bloom", "--keys", "password hunter2"),
    ):
        assert "hunter" not in run("check", *args).refused("not shown")


@pytest.mark.parametrize("verb", [("build", "-o", "n"), ("add",), ("remove",), ("count",), ("dedup",)])
def test_no_verb_shows_a_password_among_its_arguments(run, verb):
    assert "hunter" not in run(*verb, "hunter2", "--keys", "password").refused("--keys password", "secret")


def test_a_name_that_cannot_be_opened_is_told_by_its_place_where_it_may_be_a_password(run, build):
    f = build("sha1", b"hunter2\n")
    run("check", f, "--keys", "password", "nothere").refused(
        "INPUT: cannot open: No such file", "arguments, which other users can see")
    run("check", f, "--keys", "password", f, "nothere").refused("INPUT 2: cannot open: No such file")
    run("check", "--keys", "password", "nothere").refused("FILTER: cannot open: No such file")
    run("check", f, "nothere").refused("nothere: cannot open")


@pytest.mark.parametrize("keys", ["password", "password:ntlm"])
def test_no_password_is_left_in_memory(run, build, left_at_exit, tmp_path, keys):
    f = build("sha1", b"x\n")
    (tmp_path / "list").write_bytes(b"".join(b"list password %d\n" % i for i in range(2000)))
    for i in (0, 17, 1999):
        secret = b"st password %d\n" % i
        assert left_at_exit(secret, lambda: run("check", f, "--keys", keys, "list")) == 0
    # Of every length that goes through registers: these are saved on the stack by whoever comes next.
    for size in (8, 15, 16, 17, 31, 32, 40, 64, 100, 200):
        secret = (b"Tq7-xW.z" * 25)[:size]
        # As it was given, and in UTF-16, which NTLM's hash begins with.
        for form in (secret, secret.decode().encode("utf-16-le")):
            assert left_at_exit(form[:12], lambda: run("check", f, "--keys", keys,
                                                       input=secret + b"\n")) == 0, size
    # What is no secret is found, here among the arguments.
    assert left_at_exit(b"password 1999", lambda: run("check", f, "no password 1999")) > 0


def test_no_typed_password_is_left_in_memory(asking, left_at_exit):
    def ask():
        terminal = asking()
        os.write(terminal.fd, b"correct horse\n")
        assert terminal.finish(b"It certainly is not in f.bloom.") == 1
    assert left_at_exit(b"rrect hors", ask) == 0


def test_nothing_is_built_from_passwords(run, build):
    f = build("sha1", b"x\n")
    for verb in (["build", "-o", "n.bloom"], ["add", f], ["dedup"]):
        run(*verb, "--keys", "password", input=b"x\n").refused("--keys password", "secret")


class Terminal:
    """The program on a terminal of its own, which outlives it, so that its settings can be asked."""

    def __init__(self, program, folder, *args):
        self.fd, slave = pty.openpty()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self.fd)
            os.login_tty(slave)
            os.chdir(folder)
            os.execv(program, [program, *args])
        self.slave = slave
        self.seen = b""

    def look(self):
        if select.select([self.fd], [], [], 0.05)[0]:
            self.seen += os.read(self.fd, 1000)

    def read_until(self, text, times=1):
        end = time.monotonic() + 60
        while self.seen.count(text) < times:
            assert time.monotonic() < end, self.seen
            self.look()

    def echoes(self):
        return bool(termios.tcgetattr(self.slave)[3] & termios.ECHO)

    def finish(self, last):
        """The exit code, negative for a signal, after `last` was shown. What was written can
        arrive after its writer has ended, so it is waited for and not looked for once."""
        self.read_until(last)
        ended = os.waitpid(self.pid, 0)
        self.look()
        os.close(self.fd)
        os.close(self.slave)
        return os.waitstatus_to_exitcode(ended[1])


@pytest.fixture
def asking(build, bloomset, tmp_path):
    """asking() -> a terminal on which a password is asked for."""
    build("sha1", b"hunter2\n")

    def ask():
        terminal = Terminal(bloomset, tmp_path, "check", "f.bloom", "--keys", "password")
        terminal.read_until(b"Password: ")
        assert not terminal.echoes()
        return terminal
    return ask


def test_a_password_is_asked_for_without_echo(asking):
    for typed, code, verdict in ((b"hunter2", 0, b"It may be in f.bloom."),
                                 (b"hunter3", 1, b"It certainly is not in f.bloom."),
                                 (b"", 2, b"no password was given")):
        terminal = asking()
        os.write(terminal.fd, typed + b"\n")
        assert terminal.finish(verdict) == code
        assert b"hunter" not in terminal.seen
    terminal = asking()
    os.write(terminal.fd, b"\x04")
    assert terminal.finish(b"no password was given") == 2


def test_a_signal_ends_the_asking_and_leaves_the_terminal_as_it_was(asking):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        terminal = asking()
        os.kill(terminal.pid, number)
        assert os.WTERMSIG(os.waitpid(terminal.pid, 0)[1]) == number
        assert terminal.echoes()
        os.close(terminal.fd)
        os.close(terminal.slave)


def test_a_stopped_question_is_asked_again(asking):
    terminal = asking()
    # The leader of a session is not stopped by its terminal (POSIX, 2.4.3): it asks again at once.
    os.kill(terminal.pid, signal.SIGTSTP)
    terminal.read_until(b"Password: ", times=2)
    assert not terminal.echoes()
    os.write(terminal.fd, b"hunter2\n")
    assert terminal.finish(b"It may be in") == 0
