"""Replies of the module to Node's clients. ioredis sends commands by name, node-redis uses its
helpers for Bloom and cuckoo filters in both protocols, and both run
examples/valkey-cluster/sharded_filter.mjs.

The clients come from npm into a folder beside the build, once, as package-lock.json names them;
without npm or its registry these tests are skipped.
"""

import json
import os
import pathlib
import shutil
import subprocess

import pytest

from conftest import MODULE, ROOT

HERE = pathlib.Path(__file__).parent / "clients"
FOLDER = pathlib.Path(os.environ.get("BLOOMSET_NODE_CLIENTS", pathlib.Path(MODULE).parent / "node-clients"))


def install():
    """Makes FOLDER completely or not at all; skips the tests if npm's registry does not answer."""
    partial = FOLDER.with_name(FOLDER.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HERE / name, partial)
    try:
        done = subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund",
                               "--fetch-retries=1", "--fetch-timeout=30000"],
                              cwd=partial, capture_output=True, timeout=180)
        installed = done.returncode == 0
    except subprocess.TimeoutExpired:
        installed = False
    if not installed:
        shutil.rmtree(partial, ignore_errors=True)
        pytest.skip("npm cannot install ioredis and redis: is its registry reachable?")
    shutil.rmtree(FOLDER, ignore_errors=True)
    partial.rename(FOLDER)


def is_installed():
    lock = FOLDER / "package-lock.json"
    return lock.is_file() and lock.read_bytes() == (HERE / "package-lock.json").read_bytes()


@pytest.fixture(scope="module")
def clients():
    """The folder that has them."""
    if not (shutil.which("node") and shutil.which("npm")):
        pytest.skip("node and npm are not installed, so Node's clients are not tried here")
    if not is_installed():
        install()
    return FOLDER


def run(script, *words):
    """The JSON that it writes to its standard output."""
    done = subprocess.run(["node", HERE / script, *map(str, words)],
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def told(clients, shared_server):
    """The replies that the clients return, all from one run."""
    return run("node_clients.mjs", clients, shared_server.port)


MOVED = {"pieces": 2, "replies": ["OK", "OK"], "same": True}


@pytest.mark.parametrize("protocol", ["resp2", "resp3"])
def test_node_rediss_bloom_helpers_work(told, protocol):
    bf = told[protocol]["bf"]
    sizes = [bf["info"].pop("Size"), bf["fixedInfo"].pop("Size")]
    assert all(size > 0 for size in sizes)
    assert bf == {
        "reserve": "OK", "reserveAgain": {"error": "ERR item exists"},
        "add": [True, False], "mAdd": [False, True, True],
        "insert": [True, True, False], "insertNoCreate": {"error": "ERR not found"},
        "exists": [True, False, False], "mExists": [True, False], "card": [3, 0],
        "info": {"Capacity": 1000, "Number of filters": 1, "Number of items inserted": 3, "Expansion rate": 2},
        "fixed": "OK",
        "fixedInfo": {"Capacity": 2, "Number of filters": 1, "Number of items inserted": 0, "Expansion rate": None},
        "full": {"error": "ERR non scaling filter is full"},
        "moved": MOVED, "movedCard": 3,
        "wrongType": {"error": "WRONGTYPE Operation against a key holding the wrong kind of value"},
    }


@pytest.mark.parametrize("protocol", ["resp2", "resp3"])
def test_node_rediss_cuckoo_helpers_work(told, protocol):
    cf = told[protocol]["cf"]
    assert cf["info"].pop("Size") > 0
    assert cf == {
        "reserve": "OK", "add": [True, True], "addNX": [False, True], "insert": [True, True],
        # A number in both protocols, since -1 means that there was no room; node-redis converts only
        # RESP2's to booleans.
        "insertNX": [False, True], "insertNoCreate": {"error": "ERR not found"},
        "exists": [True, False], "count": [2, 0], "del": [True, True, False],
        "info": {"Number of buckets": 250, "Number of filters": 1, "Number of items inserted": 1,
                 "Number of items deleted": 2, "Bucket size": 4, "Expansion rate": 1, "Max iterations": 20},
        "moved": MOVED, "movedExists": True,
    }
    assert [type(each) for each in cf["insertNX"]] == [bool if protocol == "resp2" else int] * 2


def test_ioredis_calls_pipelines_and_scripts_work(told):
    said = told["ioredis"]
    info = dict(zip(said["info"][::2], said["info"][1::2]))
    del said["info"]
    assert (info["Capacity"], info["Number of items inserted"]) == (1000, 3)
    assert said == {
        "reserve": "OK", "add": [1, 0], "mAdd": [0, 1], "together": [1, 0],
        "pipeline": [[None, 2], [None, 1], [None, 1]], "transaction": [[None, 1], [None, 1]],
        "builtin": [1, 0], "script": [1, 0],
        "error": {"error": "ERR wrong number of arguments for 'BF.ADD' command"},
        "loaded": ["OK", "OK"], "same": True,
    }


@pytest.mark.parametrize("client", ["ioredis", "node-redis"])
def test_the_recipe_for_clusters_loses_nothing_that_a_shard_refuses(clients, one_node_cluster, client):
    one_node_cluster.call("CONFIG", "SET", "bf.max-filter-size", 65536)
    said = run("sharded_filter_clients.mjs", clients, ROOT / "examples/valkey-cluster/sharded_filter.mjs",
               one_node_cluster.port, client)
    refused = said.pop("refused")
    assert said == {
        "add": [True, True], "contains": [True, False], "reserveAgain": None, "reserveGrown": None,
        "otherRate": "seen:{0} exists, of rate 0.01 for 635 items, not of rate 1e-7 for 635",
        "lessRoom": "seen:{0} exists, of rate 0.01 for 635 items, not of rate 0.01 for 51342",
        "lost": 0, "wholeShard": True,
    }
    assert refused["name"] == "Refused" and 0 < refused["left"] < 9000
    assert refused["message"] == (
        f"{refused['key']} refused '{refused['item']}': ERR problem inserting into filter: it has reached "
        f"bf.max-filter-size; {refused['left']} of 9000 items have no answer")
