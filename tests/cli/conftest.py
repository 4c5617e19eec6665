"""Common parts of the tests of the command line: running it, and reading its output.

A test uses the fixture `run` and, if it makes files, pytest's own `tmp_path`:

    def test_a_member_is_found(run, tmp_path):
        f = tmp_path / "f.bloom"
        run("build", "-o", f, "--capacity", "10", input=b"alice\n").ok()
        found = run("check", f, input=b"alice\n")
        assert (found.code, found.out) == (0, b"alice\n")

The program is $BLOOMSET, or build/bloomset beside the sources. It runs in `tmp_path`, so that
relative names refer to that folder and messages are short.
"""

import dataclasses
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests" / "support"))
BLOOMSET = os.path.abspath(os.environ.get("BLOOMSET", ROOT / "build" / "bloomset"))
PROGRAM = pathlib.Path(BLOOMSET).read_bytes() if os.path.exists(BLOOMSET) else b""
#: A sanitizer needs more memory than tests grant, and so does an emulator, which a script starts.
LIMITED = PROGRAM.startswith(b"\x7fELF") and b"__asan_init" not in PROGRAM


@dataclasses.dataclass
class Finished:
    """What one run of the command line left: its exit code and both outputs, as bytes."""

    args: tuple
    code: int
    out: bytes
    err: bytes

    def ok(self):
        """Fails the test unless the exit code is 0. Returns itself."""
        assert self.code == 0, f"{self.args}: exit {self.code}, {self.err.decode(errors='replace')}"
        return self

    def refused(self, *sentences):
        """Fails the test unless this was an error as users are promised one: exit 2, nothing on
        stdout, one line on stderr that begins with the program's name and contains each of
        `sentences`. Returns that line as text."""
        text = self.err.decode(errors="replace")
        assert self.code == 2, f"{self.args}: exit {self.code}, not 2; stderr: {text}"
        assert self.out == b"", f"{self.args}: printed {self.out[:200]!r}"
        assert text.startswith("bloomset"), f"{self.args}: {text!r}"
        assert text.endswith("\n") and text.count("\n") == 1, f"{self.args}: not one line: {text!r}"
        for sentence in sentences:
            assert sentence in text, f"{self.args}: {sentence!r} is not in {text!r}"
        return text


def full_disk(size):
    """For preexec_fn: no file grows beyond that many bytes."""
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return limit


def few_bytes():
    """For preexec_fn: 120 MB of private pages at most, on two cores, as each core has its own."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
    resource.setrlimit(resource.RLIMIT_DATA, (120_000_000, 120_000_000))


def all_of(terminal):
    """What was written to it. It fails with EIO when no process has its other end any more."""
    shown = b""
    try:
        while piece := os.read(terminal, 65536):
            shown += piece
    except OSError:
        pass
    os.close(terminal)
    return shown


@pytest.fixture
def run(tmp_path):
    """Runs the command line: run("check", path, input=b"a\\n") -> Finished.

    Arguments are turned into strings, so paths and numbers may be given as they are. `input` is
    what stands on stdin (nothing by default); `env` adds to the environment; `timeout` in seconds
    fails the test. Anything else goes to subprocess.run: stdout=..., cwd=..., preexec_fn=...
    """

    def start(*args, input=b"", env=None, timeout=60, cwd=tmp_path, **more):
        more.setdefault("stdout", subprocess.PIPE)
        more.setdefault("stderr", subprocess.PIPE)
        if "stdin" not in more:
            more["input"] = input
        done = subprocess.run(
            [BLOOMSET, *map(str, args)],
            env={**os.environ, **(env or {})},
            timeout=timeout,
            cwd=cwd,
            **more,
        )
        return Finished(args, done.returncode, done.stdout or b"", done.stderr or b"")

    return start


@pytest.fixture
def info(run):
    """info(file, ...) -> the object that `bloomset info --json` prints."""
    return lambda *args: json.loads(run("info", "--json", *args).ok().out)


@pytest.fixture
def plan(run):
    """plan("--capacity", 1000, ...) -> the object that `bloomset plan --json` prints."""
    return lambda *args: json.loads(run("plan", "--json", *args).ok().out)


@pytest.fixture
def secret(run, tmp_path):
    """The file members.key, with a new secret key."""
    run("key", "new", "members.key").ok()
    return tmp_path / "members.key"


@pytest.fixture
def bloomset():
    """The program's path, for tests that need a pipe, a shell or a signal."""
    return BLOOMSET


@pytest.fixture
def lines():
    """lines(n) or lines(n, "stem") -> n distinct lines as bytes, the same at every call."""

    def make(n, stem="user", start=0):
        return b"".join(b"%s%d@example.com\n" % (stem.encode(), i) for i in range(start, start + n))

    return make


@pytest.fixture
def left_at_exit(bloomset, tmp_path, monkeypatch):
    """Calls ask() with a library in the program that counts, when it ends, how often the bytes stand
    in its memory; returns that number."""
    if b"__asan_init" in pathlib.Path(bloomset).read_bytes():
        pytest.skip("the address sanitizer must be loaded first")
    library = tmp_path / "memory_at_exit.so"
    source = pathlib.Path(__file__).with_name("memory_at_exit.c")
    subprocess.run([os.environ.get("CC", "cc"), "-O2", "-shared", "-fPIC", "-o", library, source],
                   check=True)

    def count(secret, ask):
        with monkeypatch.context() as patch:
            patch.setenv("LD_PRELOAD", str(library))
            patch.setenv("LOOK_FOR", secret.hex())
            patch.setenv("FOUND", str(tmp_path / "found"))
            ask()
        return int((tmp_path / "found").read_text().split()[0])
    return count
