"""Items refused near a limit change nothing, and members are still found."""

import pytest

from conftest import TOO_MUCH_FOR_ALL, wait_for_replica


@pytest.mark.parametrize("setting, least", [("bf.max-memory", 1), ("bf.max-filter-size", 65536)])
def test_a_refused_item_leaves_the_filter_as_it_was(start, setting, least):
    server = start("--repl-diskless-sync-delay", "0")
    replica = start("--replicaof", f"127.0.0.1 {server.port}")
    wait_for_replica(replica)
    capacity = 2000 if setting == "bf.max-memory" else 50_000
    server.call("BF.RESERVE", "k", "0.01", capacity, "DELETABLE")
    server.each("BF.MADD", "k", items=range(capacity))
    before = server.call("DUMP", "k"), server.call("BF.INFO", "k")
    # From a limit that is reached to one that leaves just enough, in small steps. The second part takes
    # some hundred bytes more than planned.
    size = server.call("BF.INFO", "k", "SIZE")[0]
    limit = max(size, least)
    refused = 0
    while True:
        server.client.config_set(setting, limit)
        reply = server.raw(2, "BF.ADD", "k", "one more")
        if not reply.startswith(b"-"):
            break
        refused += 1
        assert (server.call("DUMP", "k"), server.call("BF.INFO", "k")) == before, limit
        limit += 64
        assert limit < size + 40_000
    assert refused > 10
    assert server.call("BF.INFO", "k", "FILTERS") == [2]
    assert server.call("WAIT", 1, 30_000) == 1
    assert replica.call("DUMP", "k") == server.call("DUMP", "k")


@pytest.mark.parametrize("command", ["BF.ADD", "CF.ADD"])
def test_a_refused_filter_is_not_there(start, command):
    server = start()
    made = 0
    for limit in range(100, 4000, 50):
        server.client.config_set("bf.max-memory", limit)
        reply = server.raw(2, command, "n", "x")
        assert server.client.info("modules")["bf_filter_bytes"] <= limit
        if b"all have reached bf.max-memory" in reply:
            # There was room for the filter, which is there, and none for its first item.
            assert server.call(f"{command[:2]}.EXISTS", "n", "x") == 0
            assert server.call("DEL", "n") == 1
        elif reply.startswith(b"-"):
            assert TOO_MUCH_FOR_ALL.encode() in reply
            assert server.call("EXISTS", "n") == 0
        else:
            made += 1
            server.call("FLUSHALL", "SYNC")
    assert made > 10


@pytest.mark.parametrize("reserve, n", [
    (["BF.RESERVE", "k", "0.01", "100"], 300), (["BF.RESERVE", "k", "0.01", "20000"], 25_000),
    (["BF.RESERVE", "k", "0.01", "2000", "NONSCALING"], 2100),
    (["BF.RESERVE", "k", "0.01", "100", "ENGINE", "COMPATIBLE"], 300)],
    ids=lambda words: " ".join(words[2:]) if isinstance(words, list) else None)
def test_what_is_held_is_known_at_the_limit(start, reserve, n):
    server = start()
    server.call(*reserve)
    server.each("BF.MADD", "k", items=range(n))
    n = min(n, 2000) if "NONSCALING" in reserve else n  # the filter is full then
    server.client.config_set("bf.max-memory", "1")
    before = server.call("DUMP", "k")
    assert server.call("BF.ADD", "k", 5) == 0
    assert server.call("BF.MADD", "k", *range(n)) == n * [0]
    non_members = [f"new{i}" for i in range(100)]
    replies = server.client.execute_command("BF.MADD", "k", 1, *non_members, 2)
    assert replies[0] == 0 and isinstance(replies[-1], Exception)
    assert server.call("DUMP", "k") == before


def test_what_is_held_is_known_where_copies_are_at_the_limit(start):
    server = start()
    server.call("CF.RESERVE", "k", 1000, "EXPANSION", 0)
    items = [f"item{i}" for i in range(600)]
    server.client.config_set("bf.max-memory", "1")
    for _ in range(6):
        server.client.execute_command("CF.INSERT", "k", "ITEMS", *items)
    assert all(server.call("CF.MEXISTS", "k", *items))
    assert server.call("CF.ADDNX", "k", "item1") == 0
    assert server.call("CF.INSERTNX", "k", "ITEMS", *items) == 600 * [0]
    assert server.raw(2, "CF.ADD", "k", "item1").startswith(b"-Maximum expansions reached")


def test_a_dump_that_fits_can_be_loaded_and_begun_again(start):
    source = start()
    source.call("BF.RESERVE", "f", "0.01", "3300000")
    source.call("BF.ADD", "f", "a")
    pieces = source.pieces("BF", "f")
    assert len(pieces) > 4
    target = start()
    target.client.config_set("bf.max-memory", 4718592)
    for iterator, data in pieces[:-1]:
        target.call("BF.LOADCHUNK", "f", iterator, data)
    for iterator, data in pieces:
        target.call("BF.LOADCHUNK", "f", iterator, data)
    assert target.call("BF.EXISTS", "f", "a") == 1
    assert target.call("DUMP", "f") == source.call("DUMP", "f")
