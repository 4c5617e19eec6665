"""scripts/progress.sh: the line on a terminal."""

import contextlib
import os
import pathlib
import pty
import subprocess

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "progress.sh"


def all_of(terminal):
    """What was written; the terminal passes it on in parts, and fails with EIO after the last one."""
    parts = []
    with contextlib.suppress(OSError):
        while part := os.read(terminal, 1 << 16):
            parts.append(part)
    return b"".join(parts).decode()


def test_a_line_is_cut_and_its_seconds_change_while_nothing_is_read():
    terminal, end = pty.openpty()
    command = f"(echo '[1/2] {'x' * 200}'; sleep 2.5; echo '[2/2] last') | {SCRIPT}"
    assert subprocess.run(["bash", "-c", command], stdin=subprocess.DEVNULL, stdout=end,
                          env={**os.environ, "TERM": "xterm"}).returncode == 0
    os.close(end)
    shown = [line.removeprefix("\x1b[K") for line in all_of(terminal).split("\r")]
    os.close(terminal)
    first = [line for line in shown if "[1/2]" in line]
    assert len({line.split()[0] for line in first}) > 1
    assert all(len(line) < 80 for line in first)
    assert "[2/2] last" in shown[-2] and shown[-1] == ""


def test_without_a_terminal_nothing_is_shown():
    assert subprocess.run([SCRIPT], input=b"[1/2]\n", capture_output=True, check=True).stdout == b""
