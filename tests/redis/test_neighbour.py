"""Another module of the server causes rare events: memory runs out in the middle of a command, and a
subscriber deletes a key during the event of its change."""

import os
import pathlib

import pytest

from conftest import PRELOAD, ROOT, Server, redis, wait_for_replica

NEIGHBOUR = os.path.abspath(os.environ.get("BLOOMSET_NEIGHBOUR",
                                           ROOT / "build" / "tests" / "hostile_neighbour.so"))
pytestmark = pytest.mark.skipif(not pathlib.Path(NEIGHBOUR).exists(),
                                reason="the target bloomset_hostile_neighbour is not built")


@pytest.fixture(scope="module")
def shared_pair(tmp_path_factory):
    primary = Server(tmp_path_factory.mktemp("primary"), "--repl-diskless-sync-delay", "0", "--loadmodule",
                     NEIGHBOUR, preload=None if PRELOAD else NEIGHBOUR)
    replica = Server(tmp_path_factory.mktemp("replica"), "--replicaof", f"127.0.0.1 {primary.port}")
    wait_for_replica(replica)
    yield primary, replica
    replica.stop()
    primary.stop()


@pytest.fixture
def pair(shared_pair):
    """A server with the neighbour, and a replica without it, both empty. A replica needs a second to
    attach, so all tests share them."""
    primary, replica = shared_pair
    primary.call("NEIGHBOUR.FAIL", 0)
    primary.call("NEIGHBOUR.DELETE")
    primary.call("CONFIG", "SET", "bf.engine", "native")
    primary.call("FLUSHALL", "SYNC")
    yield shared_pair
    assert primary.process.poll() is None and replica.process.poll() is None


def differing_keys(primary, replica):
    assert primary.call("WAIT", 1, 30_000) == 1
    if replica.call("DEBUG", "DIGEST") == primary.call("DEBUG", "DIGEST"):
        return []
    keys = set(primary.call("KEYS", "*")) | set(replica.call("KEYS", "*"))
    return sorted(key for key in keys if primary.call("DUMP", key) != replica.call("DUMP", key))


# Memory runs out ----------------------------------------------------------------------------------

MORE = [f"more{i}" for i in range(1500)]
# The words of a reservation, the items that the filter gets then, and the command that adds MORE.
FILTERS = {
    "bf made": (None, 0, "BF.MADD"),
    "bf grows": ("0.01 100", 300, "BF.MADD"),
    "bf two parts": ("0.01 10000", 9500, "BF.MADD"),
    "bf behind": ("0.01 10000", 12_000, "BF.MADD"),
    "bf deletable": ("0.01 1100 DELETABLE", 1000, "BF.MADD"),
    "bf window": ("0.01 500 WINDOW 100000", 0, "BF.MADD"),
    "bf compatible": ("0.01 100 ENGINE COMPATIBLE", 80, "BF.MADD"),
    "cf made": (None, 0, "CF.INSERT ITEMS"),
    "cf grows": ("1000", 900, "CF.INSERT ITEMS"),
    "cf two parts": ("1100", 1000, "CF.INSERT ITEMS"),
    "cf absent": ("1100", 1000, "CF.INSERTNX ITEMS"),
    "cf compatible": ("128 EXPANSION 2 ENGINE COMPATIBLE", 100, "CF.INSERT ITEMS"),
}


@pytest.mark.skipif(bool(PRELOAD), reason="a sanitizer's allocator is there instead")
@pytest.mark.parametrize("filter", FILTERS, ids=str)
def test_without_memory_replicas_hold_what_the_primary_holds(pair, filter):
    """Each allocation of a command fails in turn. A filter that grows may then have another layout, so that
    it is other items that pass by chance, but the members are the same."""
    primary, replica = pair
    reserve, items, add = FILTERS[filter]
    family, (add, *options) = add[:2], add.split()
    if reserve:
        primary.call(family + ".RESERVE", "base", *reserve.split())
        primary.each(family + ".INSERT", "base", "ITEMS", items=range(items))
    failed, answers = 0, {}
    for n in range(1, 80):
        key = f"{filter} {n}"
        if reserve:
            primary.call("COPY", "base", key)
        primary.call("NEIGHBOUR.FAIL", n)
        try:
            answers[key.encode()] = primary.call(add, key, *options, *MORE)
        except redis.ResponseError:
            answers[key.encode()] = []
        seen = primary.call("NEIGHBOUR.FAIL", 0)
        failed += seen >= n
        if seen < n:
            break
    assert failed > 0
    for key in differing_keys(primary, replica):
        there, copied = (server.call(family + ".MEXISTS", key, *MORE) for server in (primary, replica))
        assert all(there[i] and copied[i] for i, answer in enumerate(answers[key]) if answer == 1), key
        # Refused items match at 1% on either server: 15, and six standard deviations.
        assert sum(a != b for a, b in zip(there, copied)) <= 38, key
        sizes = [server.call(family + ".INFO", key)[7] for server in (primary, replica)]
        assert abs(sizes[0] - sizes[1]) <= 25, (key, sizes)


@pytest.mark.skipif(bool(PRELOAD), reason="a sanitizer's allocator is there instead")
@pytest.mark.parametrize("reserve", [
    ["BF.RESERVE", "f", "0.01", "1000"], ["BF.RESERVE", "f", "0.01", "1000", "ENGINE", "COMPATIBLE"],
    ["CF.RESERVE", "f", "1000"], ["CF.RESERVE", "f", "1000", "ENGINE", "COMPATIBLE"]],
    ids=lambda words: " ".join(words))
def test_without_memory_a_piece_of_a_dump_may_be_sent_again(pair, reserve):
    primary, replica = pair
    family = reserve[0][:2]
    primary.call(*reserve)
    add = ["BF.MADD", "f"] if family == "BF" else ["CF.INSERT", "f", "ITEMS"]
    primary.call(*add, *(f"item{i}" for i in range(900)))
    pieces = primary.pieces(family, "f")
    failed = 0
    for n in range(1, 60):
        seen = 0
        for piece in pieces:
            primary.call("NEIGHBOUR.FAIL", n)
            reply = primary.raw(2, family + ".LOADCHUNK", f"g{n}", *piece)
            seen = max(seen, primary.call("NEIGHBOUR.FAIL", 0))
            if reply.startswith(b"-"):
                failed += 1
                primary.call(family + ".LOADCHUNK", f"g{n}", *piece)
        assert primary.call("DUMP", f"g{n}") == primary.call("DUMP", "f")
        if seen < n:
            break
    assert failed > 0
    assert differing_keys(primary, replica) == []


# A subscriber deletes the key ---------------------------------------------------------------------

DELETABLE = [["BF.RESERVE", "k", "0.01", "100", "DELETABLE"], ["BF.ADD", "k", "a"]]
CUCKOO = [["CF.RESERVE", "k", "100", "ENGINE", "COMPATIBLE"], ["CF.ADD", "k", "a"]]
ITEMS = [f"item{i}" for i in range(200)]


@pytest.mark.parametrize("before, command, event", [
    ([], ["BF.RESERVE", "k", "0.01", "100"], "bf.reserve"),
    ([], ["BF.ADD", "k", "a"], "bf.reserve"),
    ([], ["BF.ADD", "k", "a"], "bf.add"),
    ([], ["BF.MADD", "k", *ITEMS], "bf.reserve"),
    ([], ["BF.INSERT", "k", "NONSCALING", "ITEMS", *ITEMS], "bf.reserve"),
    ([], ["BF.INSERT", "k", "WINDOW", "100000", "ITEMS", *ITEMS], "bf.reserve"),
    ([], ["BF.INSERT", "k", "DELETABLE", "ITEMS", *ITEMS], "bf.reserve"),
    ([], ["CF.RESERVE", "k", "100"], "cf.reserve"),
    ([], ["CF.ADD", "k", "a"], "cf.reserve"),
    ([], ["CF.ADDNX", "k", "a"], "cf.reserve"),
    ([], ["CF.ADD", "k", "a"], "cf.add"),
    ([], ["CF.INSERT", "k", "ITEMS", *ITEMS], "cf.reserve"),
    ([], ["CF.INSERTNX", "k", "ITEMS", *ITEMS], "cf.reserve"),
    (DELETABLE, ["BF.DEL", "k", "a"], "bf.del"),
    (CUCKOO, ["CF.DEL", "k", "a"], "cf.del"),
    (CUCKOO, ["CF.COMPACT", "k"], "cf.compact"),
    ([["BF.ADD", "l", "a"], ["BF.ADD", "k", "b"]], ["BF.MERGE", "k", "l"], "bf.merge"),
    ([["CF.ADD", "l", "a"]], ["CF.MERGE", "k", "l"], "cf.merge")],
    ids=lambda v: " ".join(v[:2]) if isinstance(v, list) and v and isinstance(v[0], str) else str(v)[:12])
def test_a_subscriber_may_delete_the_key(pair, before, command, event):
    primary, replica = pair
    for engine in ("native", "compatible"):
        primary.call("CONFIG", "SET", "bf.engine", engine)
        primary.call("FLUSHALL", "SYNC")
        for each in before:
            primary.call(*each)
        primary.call("NEIGHBOUR.DELETE", event)
        try:
            primary.call(*command)
        except redis.ResponseError as why:
            assert engine == "compatible" and "cannot be merged" in str(why)
            continue
        assert primary.call("EXISTS", "k") == 0
        assert primary.call("WAIT", 1, 30_000) == 1
        # The rest of the command does not create the deleted key on the replica.
        assert replica.call("EXISTS", "k") == 0
        assert primary.process.poll() is None and replica.process.poll() is None


def test_a_subscriber_may_delete_a_key_that_a_piece_of_a_dump_was_for(pair):
    primary, replica = pair
    for family, make in (("BF", ["BF.MADD", "f"]), ("CF", ["CF.INSERT", "f", "ITEMS"])):
        primary.call("FLUSHALL", "SYNC")
        primary.call(*make, *ITEMS)
        header = primary.call(family + ".SCANDUMP", "f", 0)
        for piece in (header, primary.call(family + ".SCANDUMP", "f", 1)):
            primary.call(family + ".LOADCHUNK", "k", *header)
            primary.call("NEIGHBOUR.DELETE", family.lower() + ".loadchunk")
            primary.call(family + ".LOADCHUNK", "k", *piece)
            assert primary.call("EXISTS", "k") == 0
        assert differing_keys(primary, replica) == []


def test_a_subscriber_may_delete_a_source_of_a_merge(pair):
    """A subscriber to the event of a missing key deletes a key that was found before it."""
    primary, replica = pair
    primary.call("BF.RESERVE", "k", "0.01", "20000")
    primary.call("BF.RESERVE", "source", "0.01", "20000")
    primary.call("BF.ADD", "k", "a")
    primary.call("BF.ADD", "source", "b")
    primary.call("NEIGHBOUR.DELETE", "keymiss", "source")
    assert primary.call("BF.MERGE", "k", "source", "missing") == b"OK"
    assert primary.call("EXISTS", "source") == 0
    assert primary.call("BF.MEXISTS", "k", "a", "b") == [1, 0]
    assert differing_keys(primary, replica) == []
