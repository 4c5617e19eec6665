"""BF.RESERVE with a MEMORY size, the memory limit of all filters, and the server's own limit."""

import re

import pytest
import redis

from conftest import NO_ROOM, TOO_LARGE, TOO_LARGE_BY_DEFAULT, TOO_MUCH_FOR_ALL, wait_for_replica, wait_until


def reserved(server, key):
    stats = server.call("BF.STATS", key)
    return server.call("BF.INFO", key, "CAPACITY")[0], float(stats[1])


@pytest.mark.parametrize("extra", [[], ["DELETABLE"]], ids=str)
@pytest.mark.parametrize("size, size_in_bytes", [
    ("1kb", 1024), ("5000", 5000), ("64K", 64_000), ("1mb", 1 << 20), ("2M", 2_000_000),
    ("4194304b", 1 << 22)], ids=str)
def test_the_capacity_is_the_largest_that_fits(server, size, size_in_bytes, extra):
    for rate in ("0.1", "0.01", "0.00001"):
        server.call("DEL", "f", "next")
        assert server.call("BF.RESERVE", "f", rate, "memory", size, *extra) == b"OK"
        capacity, kept = reserved(server, "f")
        assert kept == float(rate)
        assert server.call("BF.INFO", "f", "EXPANSION") == [None]
        used = server.call("MEMORY", "USAGE", "f")
        assert used <= size_in_bytes
        # The filter has that rate and capacity; 5% more would not fit.
        server.call("BF.RESERVE", "like", rate, capacity, "NONSCALING", *extra)
        assert server.call("DUMP", "like") == server.call("DUMP", "f")
        server.call("DEL", "like")
        server.call("BF.RESERVE", "next", rate, capacity + capacity // 20 + 40, "NONSCALING",
                    *extra)
        assert server.call("MEMORY", "USAGE", "next") > size_in_bytes - 600


@pytest.mark.parametrize("capacity, size, least, most", [
    (1_000_000, "1mb", 0.015, 0.03),     # 8.4 bits per item
    (1_000_000, "2mb", 0.0003, 0.001),    # 16.8
    (1_000_000, "500kb", 0.11, 0.25),    # 4.1
    (1000, "100kb", 1e-10, 1e-8)])
def test_the_rate_is_the_least_that_fits(server, capacity, size, least, most):
    assert server.call("BF.RESERVE", "f", "MEMORY", size, capacity) == b"OK"
    kept, rate = reserved(server, "f")
    assert kept == capacity and least <= rate <= most
    assert server.call("MEMORY", "USAGE", "f") <= int(size[:-2]) * (
        1024 if size.endswith("kb") else 1 << 20)


def test_a_filter_of_a_memory_size_keeps_its_rate_and_replicates_as_it_is(start):
    primary = start("--repl-diskless-sync-delay", "0")
    replica = start("--replicaof", "127.0.0.1", str(primary.port))
    primary.call("BF.RESERVE", "a", "0.01", "MEMORY", "40kb")
    primary.call("BF.RESERVE", "b", "MEMORY", "40kb", "20000", "NONSCALING", "DELETABLE")
    for key in "ab":
        capacity, rate = reserved(primary, key)
        primary.each("BF.MADD", key, items=range(capacity))
        non_members = 20_000
        passed = sum(primary.call("BF.MEXISTS", key, *(f"non-member{i}" for i in range(non_members))))
        assert passed <= rate * non_members + 6 * (rate * non_members) ** 0.5 + 1
    assert primary.call("WAIT", 1, 30_000) == 1
    assert replica.call("DEBUG", "DIGEST") == primary.call("DEBUG", "DIGEST")


@pytest.mark.parametrize("command, expected", [
    (["BF.RESERVE", "f", "0.01", "MEMORY"], "ERR bad memory: give bytes, or a size such as 64mb"),
    (["BF.RESERVE", "f", "0.01", "MEMORY", "much"],
     "ERR bad memory: give bytes, or a size such as 64mb"),
    (["BF.RESERVE", "f", "0.01", "MEMORY", "-5mb"],
     "ERR bad memory: give bytes, or a size such as 64mb"),
    (["BF.RESERVE", "f", "0.01", "MEMORY", "99999999999gb"],
     "ERR bad memory: give bytes, or a size such as 64mb"),
    (["BF.RESERVE", "f", "0.01", "MEMORY", "64mib"],
     "ERR bad memory: give bytes, or a size such as 64mb"),
    (["BF.RESERVE", "f", "0.01", "MEMORY", "100"],
     "ERR the memory is too small for any item at this rate; give more"),
    (["BF.RESERVE", "f", "MEMORY", "1mb"], "ERR bad capacity"),
    (["BF.RESERVE", "f", "MEMORY", "1mb", "many"], "ERR bad capacity"),
    (["BF.RESERVE", "f", "MEMORY", "1kb", "1000000"],
     "ERR the memory is too small for this capacity at any rate; give more, or reserve for fewer "
     "items"),
    (["BF.RESERVE", "f", "MEMORY", "1mb", "MEMORY", "1mb"], "ERR bad capacity"),
    (["BF.RESERVE", "f", "0.01", "100", "MEMORY", "1mb"],
     "ERR MEMORY and a size replace the error rate or the capacity"),
    (["BF.RESERVE", "f", "0.01", "1000", "WINDOW", "10", "MEMORY", "1mb"],
     "ERR MEMORY and a size replace the error rate or the capacity"),
    (["BF.RESERVE", "f", "0.01", "MEMORY", "1mb", "EXPANSION", "2"],
     "ERR a filter of a MEMORY size does not grow; leave out EXPANSION"),
    (["BF.RESERVE", "f", "0.01", "MEMORY", "4gb"], TOO_LARGE_BY_DEFAULT),
], ids=lambda v: " ".join(v) if isinstance(v, list) else "")
def test_errors(server, command, expected):
    assert server.error(*command) == expected
    assert server.call("EXISTS", "f") == 0


# All filters together -----------------------------------------------------------------------------

def test_all_filters_together_stay_within_their_limit(start):
    server = start(module_arguments=["max-memory", str(1 << 20)])
    assert server.client.info("modules")["bf_max_memory"] == 1 << 20
    made = 0
    while True:
        reply = server.raw(2, "BF.RESERVE", f"f{made}", "0.01", "100000")
        if reply.startswith(b"-"):
            break
        made += 1
    assert reply.decode().strip() == "-" + TOO_MUCH_FOR_ALL
    assert made == 8  # of 126 kB each
    dump = server.call("BF.SCANDUMP", "f0", 0)
    assert server.error("BF.LOADCHUNK", "g", *dump) == TOO_MUCH_FOR_ALL
    assert server.error("BF.MERGE", "g", "f0") == TOO_MUCH_FOR_ALL
    assert server.error("CF.RESERVE", "g", "200000") == TOO_MUCH_FOR_ALL
    assert server.error("BF.RESERVE", "g", "0.01", "200000", "WINDOW", "60") == TOO_MUCH_FOR_ALL
    # Small filters and growth reach the same limit.
    refused = None
    for first in range(0, 300_000, 1000):
        reply = server.raw(2, "BF.MADD", "small", *range(first, first + 1000))
        if b"-" in reply:
            refused = reply
            break
    assert b"-ERR problem inserting into filter: all have reached bf.max-memory" in refused
    assert server.client.info("modules")["bf_filter_bytes"] <= (1 << 20) + (1 << 16)
    assert server.call("BF.EXISTS", "small", 0) == 1
    assert server.call("BF.ADD", "f0", "within what was reserved") == 1
    # Other filters can use freed memory; CONFIG changes the limit.
    server.remove("f1", "f2")
    server.call("BF.MADD", "small", *(f"more{i}" for i in range(1000)))
    server.client.config_set("bf.max-memory", "64mb")
    assert server.call("BF.RESERVE", "g", "0.01", "1000000") == b"OK"
    server.client.config_set("bf.max-memory", "0")
    assert server.call("BF.RESERVE", "h", "0.01", "10000000") == b"OK"


@pytest.mark.parametrize("command", [["BF.ADD"], ["CF.ADD"]], ids=str)
def test_the_server_counts_all_that_small_filters_take(start, command):
    server = start()
    server.call(*command, "first", "x")

    def taken():
        memory = server.client.info("memory")
        return memory["used_memory"], memory["used_memory_rss"]
    before = taken()
    server.call_all([*command, f"f{i}", "x"] for i in range(30_000))
    counted, resident = (now - then for now, then in zip(taken(), before))
    # Without the bytes beside the bits it would be half.
    assert counted >= 0.8 * resident
    assert server.client.info("modules")["bf_filter_bytes"] >= 0.6 * counted


def test_what_comes_behind_and_new_generations_are_within_the_limit(start):
    server = start()
    for key, reserve in (("two parts", ["BF.RESERVE", "two parts", "0.01", "40000"]),
                         ("deletable", ["BF.RESERVE", "deletable", "0.01", "40000", "DELETABLE"]),
                         ("window", ["BF.RESERVE", "window", "0.01", "320000", "WINDOW", "99999"])):
        server.call("FLUSHALL", "SYNC")
        server.client.config_set("bf.max-memory", "16mb")
        server.call(*reserve)
        server.client.config_set("bf.max-memory", "56kb")
        for first in range(0, 41_000, 1000):
            reply = server.raw(2, "BF.MADD", key, *range(first, first + 1000))
        assert b"-ERR problem inserting into filter: all have reached bf.max-memory" in reply
        assert server.client.info("modules")["bf_filter_bytes"] <= 56 * 1024


@pytest.mark.parametrize("deletable", [[], ["DELETABLE"]], ids=["plain", "deletable"])
@pytest.mark.parametrize("setting, least", [("bf.max-memory", 1), ("bf.max-filter-size", 65536)])
def test_beyond_the_limit_what_was_reserved_is_still_taken(start, setting, least, deletable):
    server = start()
    server.call("BF.RESERVE", "f", "0.01", "60000", *deletable)
    server.client.config_set(setting, least)
    assert len(server.call("BF.MADD", "f", *range(54_000))) == 54_000
    assert 0 not in server.call("BF.MEXISTS", "f", *range(54_000))
    # Beyond it none is inserted, but members are still found and can be deleted.
    refused = server.raw(2, "BF.MADD", "f", *range(54_000, 66_000))
    assert refused.count(b"-ERR problem inserting into filter: ") == 1
    assert server.call("BF.EXISTS", "f", 57_000) == 1
    if deletable:
        assert server.call("BF.DEL", "f", 57_000) == 1
        assert server.call("BF.ADD", "f", 57_000) == 1


@pytest.mark.parametrize("setting", ["bf.max-filter-size", "bf.max-memory"])
@pytest.mark.parametrize("reserve", [
    ["CF.RESERVE", "k", 17_000, "EXPANSION", 0], ["CF.RESERVE", "k", 17_000],
    ["BF.RESERVE", "k", 0.01, 17_000, "DELETABLE", "EXPANSION", 0],
    ["BF.RESERVE", "k", 0.01, 17_000, "DELETABLE"]], ids=lambda words: " ".join(map(str, words)))
def test_copies_take_no_more_than_the_limit(start, reserve, setting):
    server = start("--repl-diskless-sync-delay", "0")
    server.call(*reserve)
    server.client.config_set(setting, "100kb")
    family = reserve[0][:2]
    add = ["CF.INSERT", "k", "ITEMS"] if family == "CF" else ["BF.MADD", "k"]
    taken = {i: 0 for i in range(15_000)}
    refused = 0
    for _ in range(6):
        for first in range(0, 15_000, 1000):
            items = range(first, first + 1000)
            replies = server.client.execute_command(*add, *items)
            # BF.MADD ends at the first refused item.
            for item, reply in zip(items, replies):
                if isinstance(reply, Exception) or reply == -1:
                    refused += 1
                else:
                    taken[item] += 1
    # 21 kB were reserved; the counts of all items would take about 230 kB.
    assert refused > 0
    assert server.call("MEMORY", "USAGE", "k") <= 100 * 1024 + 512
    assert server.client.info("modules")["bf_filter_bytes"] <= 100 * 1024 + 512
    assert all(taken.values())
    # A replica and the append-only file have the same bits, without the refused items.
    replica = start("--replicaof", f"127.0.0.1 {server.port}")
    wait_for_replica(replica)
    more = server.client.execute_command(*add, "new1", 3, "new2", *range(15_000, 15_500), 4, 4, 4)
    if family == "CF":
        server.call("CF.INSERTNX", "k", "ITEMS", *range(15_500, 17_000))
    assert server.call("WAIT", 1, 30_000) == 1
    assert replica.call("DUMP", "k") == server.call("DUMP", "k")
    if family == "CF":
        for item, reply in zip(["new1", 3, "new2"], more):
            assert server.call("CF.COUNT", "k", item) >= (reply == 1)
    assert server.call("MEMORY", "USAGE", "k") <= 100 * 1024 + 512
    some = range(0, 15_000, 150)
    for item in some:
        assert server.call(family + ".COUNT", "k", item) >= taken[item]
    for item in some:
        assert set(server.call_all(taken[item] * [[family + ".DEL", "k", item]])) == {1}


def test_a_union_of_copies_is_within_the_limit(start):
    server = start()
    for key in "ab":
        server.call("CF.RESERVE", key, 100_000, "EXPANSION", 0)
        for _ in range(2):
            server.call("CF.INSERT", key, "ITEMS", *range(20_000))
    server.client.config_set("bf.max-filter-size", "300kb")
    assert server.error("CF.MERGE", "m", "a", "b") == TOO_LARGE
    assert server.call("EXISTS", "m") == 0
    server.client.config_set("bf.max-filter-size", "4mb")
    assert server.call("CF.MERGE", "m", "a", "b") == b"OK"
    assert server.call("CF.COUNT", "m", 7) >= 4


def test_dumps_that_arrive_together_stay_within_the_limit(start):
    server = start()
    server.call("BF.RESERVE", "f", "0.01", "1000000")
    pieces = server.pieces("BF", "f")
    server.client.config_set("bf.max-memory", "3mb")
    for key in "ab":
        server.call("BF.LOADCHUNK", key, *pieces[0])
    for piece in pieces[1:]:
        server.call("BF.LOADCHUNK", "a", *piece)
    refused = next(i for i, piece in enumerate(pieces)
                   if i != 0 and server.raw(2, "BF.LOADCHUNK", "b", *piece) != b"+OK\r\n")
    assert server.error("BF.LOADCHUNK", "b", *pieces[refused]) == TOO_MUCH_FOR_ALL
    assert server.client.info("modules")["bf_filter_bytes"] <= 3 << 20
    # With room again, the dump continues at the refused piece.
    server.remove("a")
    for piece in pieces[refused:]:
        server.call("BF.LOADCHUNK", "b", *piece)
    assert server.call("BF.INFO", "b", "CAPACITY") == [1000000]


def test_copies_are_within_the_limit_and_replicas_take_what_their_primary_took(start):
    primary = start("--repl-diskless-sync-delay", "0")
    replica = start("--replicaof", "127.0.0.1", str(primary.port),
                    module_arguments=["max-memory", "1"])
    primary.call("BF.RESERVE", "a", "0.01", "1000000")
    primary.call("BF.MADD", "added", *range(5000))
    primary.call("BF.MERGE", "merged", "added")
    assert primary.call("COPY", "a", "b") == 1
    primary.client.config_set("bf.max-memory", "3mb")
    assert "failed to copy" in primary.error("COPY", "a", "c")
    assert primary.call("WAIT", 1, 30_000) == 1
    assert replica.call("DEBUG", "DIGEST") == primary.call("DEBUG", "DIGEST")


def test_a_server_that_evicts_makes_room_for_a_filter(start):
    server = start("--maxmemory-policy", "allkeys-lru")
    used = server.client.info("memory")["used_memory"]
    server.client.config_set("maxmemory", used + (8 << 20))
    server.call_all(["SET", f"s{i}", "x" * 1000] for i in range(12_000))
    assert server.call("BF.RESERVE", "f", "0.01", "1000000") == b"OK"
    assert server.error("BF.RESERVE", "g", "0.01", "100000000") == NO_ROOM
    server.client.config_set("maxmemory-policy", "noeviction")
    server.client.config_set("maxmemory", server.client.info("memory")["used_memory"] + (1 << 20))
    assert server.error("BF.RESERVE", "g", "0.01", "1000000") == NO_ROOM


@pytest.mark.parametrize("reserve, batch, wording", [
    (["BF.RESERVE", "f", "0.01", "1000", "EXPANSION", "32768", "ENGINE", "COMPATIBLE"], 1000,
     "ERR problem inserting into filter: the server's maxmemory leaves it no room to grow"),
    (["CF.RESERVE", "f", "1024", "EXPANSION", "32768", "ENGINE", "COMPATIBLE"], 500,
     "ERR Insufficient memory: the server's maxmemory leaves the filter no room to grow"),
    (["BF.RESERVE", "f", "0.01", "12000000", "WINDOW", "99999", "GENERATIONS", "2"], 0,
     "ERR problem inserting into filter: the server's maxmemory leaves it no room to grow"),
    (["BF.RESERVE", "f", "1e-11", "1400000"], 1_400_000,
     "ERR problem inserting into filter: the server's maxmemory leaves it no room to grow")],
    ids=lambda v: " ".join(v) if isinstance(v, list) else "")
def test_growth_keeps_within_the_servers_maxmemory(start, reserve, batch, wording):
    """The server is asked before a large step of growth, as before a new filter."""
    server = start("--repl-diskless-sync-delay", "0")
    server.call(*reserve)
    add = ["BF.MADD", "f"] if reserve[0].startswith("BF") else ["CF.INSERT", "f", "ITEMS"]
    server.each(*add, items=range(batch))
    limit = server.client.info("memory")["used_memory"] + (1 << 20)
    server.client.config_set("maxmemory", limit)
    single = add[0].replace("MADD", "ADD").replace("INSERT", "ADD")
    for i in range(2000):
        reply = server.raw(2, single, "f", f"more{i}").decode().strip()
        if reply.startswith("-"):
            break
    assert reply == "-" + wording
    assert server.client.info("memory")["used_memory"] < limit
    assert batch == 0 or server.call(add[0].split(".")[0] + ".EXISTS", "f", 7) == 1
    server.client.config_set("maxmemory", 0)
    assert server.call(single, "f", f"more{i}") == 1


def test_counted_copies_keep_within_the_servers_maxmemory(start):
    server = start()
    server.call("CF.RESERVE", "f", "300000", "EXPANSION", "0")
    limit, first = None, 0
    while True:
        # Four copies of each item; the fourth is counted in a table that doubles.
        items = [item for item in range(first, first + 1000) for _ in range(4)]
        replies = server.call("CF.INSERT", "f", "ITEMS", *items)
        if -1 in replies:
            break
        first += 1000
        if limit is None and first == 60_000:
            limit = server.client.info("memory")["used_memory"] + (1 << 20)
            server.client.config_set("maxmemory", limit)
        assert first < 100_000
    assert server.error("CF.ADD", "f", items[-1]) == \
        "ERR Insufficient memory: the server's maxmemory leaves the filter no room to grow"
    assert server.client.info("memory")["used_memory"] < limit
    assert server.call("CF.ADDNX", "f", 7) == 0
    server.client.config_set("maxmemory", 0)
    assert server.call("CF.ADD", "f", items[-1]) == 1


def test_beyond_maxmemory_every_command_that_can_take_memory_is_refused(start):
    server = start()
    server.call("BF.MADD", "b", "x")
    server.call("CF.ADD", "c", "x")
    server.call("BF.RESERVE", "d", "0.01", "100", "DELETABLE")
    server.call("BF.ADD", "d", "x")
    header = server.call("BF.SCANDUMP", "b", 0)
    server.client.config_set("maxmemory", "1")
    for command in (["BF.RESERVE", "n", "0.01", "10"], ["BF.ADD", "b", "y"], ["BF.MADD", "b", "y"],
                    ["BF.INSERT", "b", "ITEMS", "y"], ["BF.MERGE", "b", "b"],
                    ["BF.LOADCHUNK", "n", *header], ["CF.RESERVE", "n", "10"], ["CF.ADD", "c", "y"],
                    ["CF.ADDNX", "c", "y"], ["CF.INSERT", "c", "ITEMS", "y"],
                    ["CF.INSERTNX", "c", "ITEMS", "y"], ["CF.MERGE", "c", "c"],
                    ["CF.LOADCHUNK", "n", *header]):
        assert server.error(*command).startswith("OOM command not allowed"), command
    # These are all commands that write, except those that free memory.
    text = server.raw(2, "COMMAND", "LIST", "FILTERBY", "MODULE", "bf").decode()
    for name in set(re.findall(r"[BC]F\.[A-Z]+", text)):
        flags = server.raw(2, "COMMAND", "INFO", name)
        if b"+write" in flags:
            assert (b"+denyoom" in flags) != (name in ("BF.DEL", "CF.DEL", "CF.COMPACT")), name
    assert server.call("BF.EXISTS", "b", "x") == 1
    assert server.call("BF.DEL", "d", "x") == 1
    assert server.call("CF.DEL", "c", "x") == 1


# Active defragmentation ---------------------------------------------------------------------------

def test_a_server_that_can_moves_small_filters_and_nothing_is_lost(start):
    """On servers with their own allocator; tests/core/memory_source_test.cpp moves filters of all kinds."""
    server = start()
    try:
        server.client.config_set("active-defrag-ignore-bytes", "1")
        server.client.config_set("active-defrag-threshold-lower", 1)
        server.client.config_set("activedefrag", "yes")
    except redis.ResponseError:
        pytest.skip("this server's allocator cannot defragment")
    server.client.config_set("activedefrag", "no")
    server.call_all(["BF.MADD", f"bf{i}", i, "x"] for i in range(4000))
    server.call_all(["CF.INSERT", f"cf{i}", "CAPACITY", 50, "ITEMS", i, *"xxxxx"] for i in range(4000))
    server.call_all(["DEL", f"bf{i}", f"cf{i}"] for i in range(4000) if i % 8)
    digest = server.call("DEBUG", "DIGEST")
    server.client.config_set("activedefrag", "yes")
    wait_until(lambda: server.client.info("stats")["active_defrag_key_hits"] >= 100)
    server.client.config_set("activedefrag", "no")
    assert server.call("DEBUG", "DIGEST") == digest
    for i in range(0, 4000, 8):
        assert server.call("BF.MEXISTS", f"bf{i}", i, "x") == [1, 1]
        assert server.call("CF.COUNT", f"cf{i}", "x") >= 5
