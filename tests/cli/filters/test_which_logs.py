"""examples/which-logs: requests found in packed logs, with and without an index of the logs."""

import json
import subprocess

from conftest import BLOOMSET, ROOT


def test_the_index_opens_few_logs_and_finds_every_line():
    done = subprocess.run([ROOT / "examples" / "which-logs" / "run", "--bloomset", BLOOMSET, "--logs", "40",
                           "--lines", "200", "--requests", "6", "--json"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    figures = json.loads(done.stdout)
    everywhere, indexed = figures["ways"]["all logs"], figures["ways"]["bloomset which"]
    assert everywhere["opened"] == 6 * 40
    # Three requests have a line in one or two logs. Of three others, one or more get a log with a chance of 3%, and the
    # program's logs are the same in each run.
    assert figures["lines"] <= indexed["opened"] <= 6
    assert indexed["bytes"] < everywhere["bytes"] / 20
