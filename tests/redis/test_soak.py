"""Short runs of soak.py, whose default is ten minutes, and of bench/server*.py."""

import subprocess
import sys

import pytest

from conftest import MODULE, PRELOAD, ROOT


def test_clients_lose_nothing_while_servers_save_restart_and_replicate():
    # Two rounds, in which the server is killed and stopped. The pauses leave time for other tests on this machine.
    length = ["--seconds", "4", "--clients", "12"] if PRELOAD else ["--seconds", "11", "--pause", "0.2"]
    done = subprocess.run([sys.executable, ROOT / "tests" / "redis" / "soak.py", *length],
                          capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "nothing lost" in done.stdout


@pytest.mark.skipif(bool(PRELOAD), reason="sanitizers are not what it measures")
def test_the_benchmark_measures_every_filter_and_command():
    done = subprocess.run([sys.executable, ROOT / "bench" / "jobs" / "server.py", "--items", "300",
                           "--module", MODULE], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    rows = [line.split("|")[1:-1] for line in done.stdout.splitlines()[2:]]
    assert len(rows) == 26
    for name, _, one, fifty, bits, rate in rows:
        assert float(one) > 0 and float(fifty) > 0
        if name.strip() == "missing key":
            continue
        assert 8 < float(bits) < 200 and float(rate.strip().rstrip("%")) < 1.5


@pytest.mark.skipif(bool(PRELOAD), reason="sanitizers are not what it measures")
def test_what_holds_the_server_is_measured():
    done = subprocess.run([sys.executable, ROOT / "bench" / "jobs" / "server_stalls.py", "--megabytes", "0.1",
                           "--module", MODULE], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    rows = [line.split("|")[1:-1] for line in done.stdout.splitlines()[2:]]
    assert len(rows) == 30
    # A short command may run between two PINGs, but not all do.
    assert min(float(figure) for _, *figures in rows for figure in figures) >= 0
    assert max(float(works) for _, works, _ in rows) > 0
    assert max(float(longest) for _, _, longest in rows) > 0
