"""BF.MERGE and CF.MERGE: the union, refusals, replication and events."""

import collections
import random

import pytest

from conftest import TOO_LARGE

SAYS = "ERR key {} of this command cannot be merged: {}"
MANY = ("their union has more items than the capacity that each was reserved with; reserve filters "
        "to merge with the capacity of their union")
GROWN = ("filters that have grown beyond the capacity that they were reserved with cannot be merged; "
         "reserve filters to merge with the capacity of their union")


@pytest.mark.parametrize("reserve", [("0.01", "20000", "NONSCALING"), ("0.01", "20000"),
                                     ("1e-10", "2000", "NONSCALING")],
                         ids=["fixed", "growing", "precise"])
def test_the_union_is_the_filter_of_all_items(server, reserve):
    capacity = int(reserve[1])
    parts = [[f"{part}:{i}" for i in range(capacity // 4)] for part in range(3)]
    for key in ("a", "b", "c", "all"):
        server.call("BF.RESERVE", key, *reserve)
    for key, items in zip("abc", parts):
        server.each("BF.MADD", key, items=items)
        server.each("BF.MADD", "all", items=items)
    assert server.call("BF.MERGE", "new", "a", "b", "no such key", "c", "a") == b"OK"
    members = sum(parts, [])
    assert all(server.call("BF.MEXISTS", "new", *members))
    non_members = [f"non-member{i}" for i in range(20_000)]
    # Bit for bit the filter of all items: every answer is the same.
    assert server.call("BF.MEXISTS", "new", *non_members) == \
        server.call("BF.MEXISTS", "all", *non_members)
    # The count is estimated from the bits; its standard deviation is below sqrt(capacity) / 4.
    assert abs(server.call("BF.CARD", "new") - len(members)) < 2 * len(members) ** 0.5
    assert server.call("BF.CARD", "a") == len(parts[0])
    # Into an existing filter, which keeps its items.
    assert server.call("BF.MERGE", "a", "b") == b"OK"
    assert all(server.call("BF.MEXISTS", "a", *parts[0], *parts[1]))
    assert server.call("BF.INFO", "a", "CAPACITY") == [capacity]
    # The union accepts further items.
    assert server.call("BF.ADD", "a", "later") == 1
    assert server.call("BF.EXISTS", "b", "later") == 0


@pytest.mark.parametrize("capacity", [100, 5000, 20_000])
def test_a_union_counts_an_item_of_both_once(server, capacity):
    server.call("BF.RESERVE", "day", "0.01", capacity)
    server.call("BF.RESERVE", "total", "0.02" if capacity < 10_000 else "0.01", capacity)
    server.each("BF.MADD", "day", items=[f"member{i}" for i in range(1000)])
    sizes = []
    # Most items of a day are also items of the day before.
    for turn in range(20):
        server.call("BF.MADD", "day", f"of {turn}", f"and {turn}")
        assert server.call("BF.MERGE", "total", "day") == b"OK"
        # New items that match some item are left out: at most 2%.
        assert 0.97 * (1002 + 2 * turn) <= server.call("BF.CARD", "total") <= 1006 + 2 * turn
        sizes.append(server.call("BF.INFO", "total", "SIZE")[0])
        assert all(server.call("BF.MEXISTS", "total", *(f"member{i}" for i in range(1000)),
                               *(f"of {i}" for i in range(turn + 1))))
    assert sizes[-1] <= 1.1 * sizes[0]


@pytest.mark.parametrize("family, reserve", [
    ("CF", ["4000"]), ("CF", ["100"]), ("CF", ["4000", "EXPANSION", "0"]), ("BF", ["0.01", "4000", "DELETABLE"])],
    ids=str)
def test_copies_add_up_and_can_be_deleted(server, family, reserve):
    chosen = random.Random(7)
    held = collections.Counter()
    for key in "abc":
        server.call(f"{family}.RESERVE", key, *reserve)
        items = [f"item{chosen.randrange(900)}" for _ in range(1000)]
        server.call(f"{family}.INSERT", key, "ITEMS", *items)
        held.update(items)
    deleted = next(iter(held))
    server.call(f"{family}.DEL", "a", deleted)
    held[deleted] -= 1
    assert server.call(f"{family}.MERGE", "a", "b", "c", "b", "a") == b"OK"
    assert server.call(f"{family}.COUNT", "a", "item7") >= held["item7"]
    items = list(held.elements())
    chosen.shuffle(items)
    assert set(server.call_all([f"{family}.DEL", "a", item] for item in items)) == {1}
    assert server.call(f"{family}.MEXISTS", "a", *held) == [0] * len(held)


def test_what_differs_is_said_and_nothing_changes(server):
    server.call("BF.RESERVE", "a", "0.01", "20000")
    for key, words in (("rate", ["0.02", "20000"]), ("capacity", ["0.01", "30000"]),
                       ("fixed", ["0.01", "20000", "NONSCALING"]),
                       ("deletable", ["0.01", "20000", "DELETABLE"])):
        server.call("BF.RESERVE", key, *words)
    server.call("BF.RESERVE", "like a", "0.01", "20000")
    server.call("BF.ADD", "like a", "x")
    server.call("SET", "text", "x")
    server.call("CF.RESERVE", "cuckoo", "1000")
    before = server.call("DUMP", "a")
    for key, what in (("rate", "error rate is 0.02, not 0.01"),
                      ("capacity", "capacity is 30000, not 20000"),
                      ("fixed", "NONSCALING is set, not unset"),
                      ("deletable", "DELETABLE is set, not unset")):
        why = SAYS.format(3, f"its {what}; reserve both with the same options")
        assert server.error("BF.MERGE", "a", "like a", key) == why
        assert server.error("BF.MERGE", "new", "like a", key) == why
    for key in ("text", "cuckoo"):
        for command in (["BF.MERGE", "a", "like a", key], ["BF.MERGE", key, "a"]):
            assert server.error(*command).startswith("WRONGTYPE")
    assert server.error("BF.MERGE", "new", "none", "nothing") == "ERR not found"
    assert server.error("BF.MERGE", "a") == \
        "ERR wrong number of arguments for 'BF.MERGE' command"
    server.call("BF.LOADCHUNK", "arriving", *server.call("BF.SCANDUMP", "a", 0))
    assert server.error("BF.MERGE", "a", "arriving") == \
        "ERR the filter is being loaded; send its remaining chunks"
    assert server.call("DUMP", "a") == before
    assert server.call("EXISTS", "new") == 0


def test_a_union_keeps_the_rate_or_is_refused(server):
    for key, reserve in (("fixed", ["NONSCALING"]), ("growing", []), ("deletable", ["DELETABLE"])):
        for part in (1, 2):
            server.call("BF.RESERVE", f"{key}{part}", "0.01", "12000", *reserve)
            server.each("BF.MADD", f"{key}{part}", items=[f"{part}:{i}" for i in range(8000)])
        before = server.call("DUMP", f"{key}1")
        assert server.error("BF.MERGE", f"{key}1", f"{key}2") == SAYS.format(2, MANY)
        assert server.call("DUMP", f"{key}1") == before
    # Sets that have nearly all items in common fit.
    server.call("COPY", "fixed1", "more")
    server.each("BF.MADD", "fixed1", items=[f"1:{i}" for i in range(8000, 11_500)])
    server.each("BF.MADD", "more", items=[f"1:{i}" for i in range(11_990)])
    assert server.call("BF.MERGE", "fixed1", "more") == b"OK"


def test_growing_filters_merge_whatever_they_were_reserved_with(server):
    server.call("BF.RESERVE", "all", "0.02", "100")
    members = []
    for key, reserve, count in (("a", ("0.01", "100"), 30_000), ("b", ("0.001", "5000"), 4000),
                                ("c", ("0.005", "1"), 300)):
        server.call("BF.RESERVE", key, *reserve)
        items = [f"{key}:{i}" for i in range(count)]
        server.each("BF.MADD", key, items=items)
        members += items
    assert server.call("BF.MERGE", "all", "a", "b", "c", "b") == b"OK"
    assert all(server.call("BF.MEXISTS", "all", *members))
    # Except items that match those of others, at most 2%.
    count = sum(server.call("BF.CARD", key) for key in "abc")
    assert 0.98 * count <= server.call("BF.CARD", "all") <= count
    # 2%. If the rate holds, 2.4% has a probability below 1e-9 by Chernoff's bound.
    non_members = [f"non-member{i}" for i in range(20_000)]
    assert sum(server.call("BF.MEXISTS", "all", *non_members)) <= 480
    # The union accepts further items.
    more = [f"d:{i}" for i in range(40_000)]
    server.each("BF.MADD", "all", items=more)
    assert all(server.call("BF.MEXISTS", "all", *members, *more))
    assert sum(server.call("BF.MEXISTS", "all", *non_members)) <= 480


def test_growing_filters_whose_union_could_not_keep_its_rate_are_refused(server):
    for key in "ab":
        server.each("BF.MADD", key, items=[f"{key}:{i}" for i in range(40_000)])
    before = server.call("DUMP", "a")
    why = server.error("BF.MERGE", "a", "b")
    assert why.startswith(SAYS.format(2, "the union could not keep the promised rate of 0.01"))
    assert server.call("DUMP", "a") == before
    # Into a missing or empty filter, unchanged.
    server.call("BF.RESERVE", "empty", "0.01", "100")
    for key in ("empty", "missing"):
        assert server.call("BF.MERGE", key, "a") == b"OK"
        assert server.call("DUMP", key) == before
    # Two filters that have grown beyond their capacity have two parts each.
    for key in "ef":
        server.call("BF.RESERVE", key, "0.01", "10000")
        server.each("BF.MADD", key, items=[f"{key}:{i}" for i in range(11_000)])
        server.call("CF.RESERVE", "c" + key, "1100")
        server.call("CF.INSERT", "c" + key, "ITEMS", *(f"{key}{i}" for i in range(1500)))
    assert server.error("BF.MERGE", "e", "f") == SAYS.format(2, GROWN)
    assert server.error("CF.MERGE", "ce", "cf") == SAYS.format(2, GROWN)


def test_replicas_and_the_append_only_file_get_the_same_bits(start):
    primary = start("--appendonly", "yes", "--repl-diskless-sync-delay", "0")
    replica = start("--replicaof", "127.0.0.1", str(primary.port),
                    module_arguments=["ERROR_RATE", "0.2"])
    for key in "ab":
        primary.call("BF.INSERT", key, "CAPACITY", 20_000, "ITEMS", *(key * i for i in range(1, 90)))
        primary.call("CF.INSERT", "c" + key, "ITEMS", *(key * i for i in range(1, 90)))
    primary.call("BF.MERGE", "new", "a", "b")
    primary.call("BF.MERGE", "a", "b")
    primary.call("CF.MERGE", "ca", "cb")
    assert primary.call("WAIT", 1, 30_000) == 1
    digest = primary.call("DEBUG", "DIGEST")
    assert replica.call("DEBUG", "DIGEST") == digest
    assert replica.error("BF.MERGE", "a", "b").startswith("READONLY")
    primary.restart()
    assert primary.call("DEBUG", "DIGEST") == digest


def test_limits_hold(start):
    server = start(module_arguments=["max-filter-size", str(1 << 20)])
    server.call("BF.RESERVE", "a", "0.01", "500000")
    server.client.config_set("bf.max-filter-size", 1 << 18)
    assert server.error("BF.MERGE", "b", "a") == TOO_LARGE
    server.client.config_set("bf.max-filter-size", 1 << 20)
    server.client.config_set("maxmemory", "1mb")
    assert server.error("BF.MERGE", "b", "a").startswith("OOM")


def test_the_server_knows_the_keys_and_tells_of_changes(server):
    for family in ("BF", "CF"):
        assert server.raw(2, "COMMAND", "GETKEYS", f"{family}.MERGE", "d", "s1", "s2") == \
            b"*3\r\n$1\r\nd\r\n$2\r\ns1\r\n$2\r\ns2\r\n"
        flags = server.raw(2, "COMMAND", "GETKEYSANDFLAGS", f"{family}.MERGE", "d", "s1")
        assert b"RW" in flags.split(b"s1")[0] and b"RO" in flags.split(b"s1")[1]
    server.call("BF.ADD", "source", "x")
    # The second command changes nothing.
    assert server.events_of(["BF.MERGE", "dest", "source"], ["BF.MERGE", "dest", "dest"]) == [(b"dest", b"bf.merge")]
