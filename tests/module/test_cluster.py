"""examples/valkey-cluster: six nodes, slots that move and a primary that is killed under writes."""

import shutil
import subprocess
import sys

import pytest

from conftest import MODULE, PRELOAD, PROGRAM, ROOT

EXAMPLE = ROOT / "examples" / "valkey-cluster"


@pytest.mark.skipif(shutil.which("redis-cli") is None, reason="redis-cli is not installed")
@pytest.mark.skipif(bool(PRELOAD), reason="the example's servers are plain ones")
def test_what_a_replica_confirmed_survives_resharding_and_failover():
    done = subprocess.run([sys.executable, EXAMPLE / "run", "--seconds", "4", "--server", PROGRAM],
                          env={"PATH": "/usr/bin:/bin", "BLOOMERY_MODULE": MODULE},
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "was killed and replaced" in done.stdout and "lost: 0;" in done.stdout


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_both_recipes_find_the_same_shards():
    sys.path.insert(0, str(EXAMPLE))
    from sharded_filter import shard_of
    items = ["alice", "bob", "", "Zo\u00eb", "\u6f22\u5b57", *(f"item{i}" for i in range(300))]
    for shards in (1, 16, 1000):
        shown = subprocess.run(["node", EXAMPLE / "sharded_filter.mjs", "seen", str(shards), *items],
                               capture_output=True, text=True, check=True).stdout.splitlines()
        assert shown == [f"seen:{{{shard_of(item, shards)}}}" for item in items]
    assert len({shard_of(item, 16) for item in items}) == 16
