"""BF.RESERVE ... WINDOW: filters that forget, by the clock of the server."""

import base64
import time

import pytest

from conftest import wait_until

WINDOW = 1000  # seconds; with the default of 8 generations a slice has 125


def now_of(server):
    seconds, microseconds = server.client.time()
    return 1000 * seconds + microseconds // 1000


@pytest.mark.parametrize("words, slice_seconds", [([], 125), (["GENERATIONS", "1"], 1000),
                                                  (["GENERATIONS", "64"], 16)], ids=str)
def test_an_item_is_known_for_a_window_at_least_and_a_slice_more_at_most(server, words,
                                                                        slice_seconds):
    server.call("BF.RESERVE", "f", "0.0001", "2000", "WINDOW", WINDOW, *words)
    now = now_of(server)
    ages = range(2 * WINDOW + 200, -1, -3)
    late = 30  # seconds that this test may take
    for age in ages:
        added = server.call("BF.INSERT", "f", "AT", now - 1000 * age, "ITEMS", f"age{age}")
        # Items older than the window are refused, with or without newer items in the filter.
        assert added == [1] if age < WINDOW - late else age < WINDOW + slice_seconds or added == [0]
    for age, answer in zip(ages, server.each("BF.MEXISTS", "f", items=[f"age{age}" for age in ages])):
        if age < WINDOW - late:
            assert answer == 1, age
        # The rate is 0.0001 for some hundred queries: no false positive with this hash function.
        if age > WINDOW + slice_seconds:
            assert answer == 0, age
    held = server.call("BF.CARD", "f")
    assert WINDOW // 3 - late <= held <= (WINDOW + slice_seconds) // 3 + 1
    assert server.call("BF.INSERT", "f", "AT", now - 5000 * WINDOW, "ITEMS", "a", "b") == [0, 0]
    assert server.call("BF.MEXISTS", "f", "a", "b") == [0, 0]


def test_what_comes_again_is_known_for_a_window_from_then_on(server):
    server.call("BF.RESERVE", "f", "0.001", "1000", "WINDOW", WINDOW)
    now = now_of(server)
    assert server.call("BF.INSERT", "f", "AT", now - 900_000, "ITEMS", "twice", "once") == [1, 1]
    assert server.call("BF.INSERT", "f", "AT", now - 300_000, "ITEMS", "twice") == [0]
    assert server.call("BF.MADD", "f", "new", "new", "once") == [1, 0, 0]
    server.call("BF.RESERVE", "g", "0.001", "1000", "WINDOW", WINDOW)
    server.call("BF.INSERT", "g", "AT", now - 1_900_000, "ITEMS", "twice", "once")
    server.call("BF.INSERT", "g", "AT", now - 900_000, "ITEMS", "twice")
    assert server.call("BF.MEXISTS", "g", "twice", "once") == [1, 0]


def test_a_filter_forgets_without_being_written_to(server):
    server.call("BF.RESERVE", "f", "0.001", "1000", "WINDOW", "1", "GENERATIONS", "4")
    begin = time.monotonic()
    server.call("BF.MADD", "f", "a", "b")
    dump = server.call("DUMP", "f")
    answers = server.call("BF.MEXISTS", "f", "a", "b")
    if time.monotonic() - begin < 1:
        assert answers == [1, 1]
    wait_until(lambda: server.call("BF.EXISTS", "f", "a") == 0)
    assert time.monotonic() - begin >= 1
    assert server.call("BF.CARD", "f") == 0
    # The filter itself has not changed; the next write frees the memory.
    assert server.call("DUMP", "f") == dump
    assert server.call("BF.ADD", "f", "a") == 1
    assert server.call("BF.CARD", "f") == 1


@pytest.mark.parametrize("arrival, capacity", [("evenly", 2000), ("evenly", 100_000), ("at once", 2000),
                                               ("at once", 30_000)])
def test_the_rate_holds_over_all_generations(server, capacity, arrival):
    # A slice of 115 days ends during this test once in a million runs.
    window, slice_length = 80_000_000, 10_000_000_000
    server.call("BF.RESERVE", "f", "0.01", capacity, "WINDOW", window)
    now = now_of(server)
    # Evenly over a window and a slice, so that all nine generations are full.
    parts = 9 if arrival == "evenly" else 1
    each = capacity // 8 if arrival == "evenly" else capacity
    for part in range(parts):
        items = [f"{part}:{i}" for i in range(each)]
        server.each("BF.INSERT", "f", "AT", now - slice_length * (parts - 1 - part), "ITEMS", items=items)
        assert all(server.each("BF.MEXISTS", "f", items=items))
    non_members = 20_000
    passed = sum(server.each("BF.MEXISTS", "f", items=[f"non-member{i}" for i in range(non_members)]))
    # Six standard deviations of a binomial, 10^-9; the keys are fixed.
    assert passed <= 0.01 * non_members + 6 * (0.01 * non_members) ** 0.5
    stats = server.call("BF.STATS", "f")
    stats = {name.decode(): float(value) for name, value in zip(stats[:-2:2], stats[1:-2:2])}
    assert 0 < stats["Error rate now"] <= 0.01 == stats["Error rate requested"]
    assert abs(stats["Number of items estimated"] - parts * each) <= 0.02 * parts * each
    assert stats["Window in seconds"] == window and stats["Generations"] == 8
    # As docs/reference/server/commands.md says ("WINDOW").
    if capacity == 100_000 and arrival == "evenly":
        assert stats["Bits per item"] <= 16


def test_info_and_creation_by_insert(server):
    assert server.call("BF.INSERT", "f", "CAPACITY", "500", "WINDOW", "60", "ITEMS", "a") == [1]
    fields = server.call("BF.INFO", "f")
    assert fields[1] == 500 and fields[7] == 1 and fields[9] == 2
    server.client.config_set("bf.expansion-factor", 0)
    server.call("BF.RESERVE", "g", "0.01", "500", "WINDOW", "60")
    server.client.config_set("bf.expansion-factor", 2)
    assert server.call("BF.INFO", "g", "EXPANSION") == [2]


@pytest.mark.parametrize("command, expected", [
    (["BF.RESERVE", "f", "0.01", "9", "WINDOW"], "ERR no window"),
    (["BF.RESERVE", "f", "0.01", "9", "WINDOW", "long"], "ERR bad window"),
    (["BF.RESERVE", "f", "0.01", "9", "WINDOW", "0"],
     "ERR window must be in the range [1, 1000000000] seconds"),
    (["BF.RESERVE", "f", "0.01", "9", "WINDOW", "9", "GENERATIONS"], "ERR no generations"),
    (["BF.RESERVE", "f", "0.01", "9", "WINDOW", "9", "GENERATIONS", "65"],
     "ERR generations must be in the range [1, 64]"),
    (["BF.RESERVE", "f", "0.01", "9", "GENERATIONS", "5"], "ERR GENERATIONS needs a WINDOW"),
    (["BF.RESERVE", "f", "0.01", "9", "WINDOW", "9", "DELETABLE"],
     "ERR WINDOW and DELETABLE cannot be combined"),
    (["BF.RESERVE", "f", "0.01", "9", "WINDOW", "9", "NONSCALING"],
     "ERR a filter with a WINDOW grows with its items; leave out NONSCALING"),
    (["BF.RESERVE", "f", "0.01", "9", "WINDOW", "9", "EXPANSION", "0"],
     "ERR a filter with a WINDOW grows with its items; leave out NONSCALING"),
    (["BF.RESERVE", "f", "0.01", "MEMORY", "1mb", "WINDOW", "9"],
     "ERR MEMORY and WINDOW cannot be combined: that filter grows with its items"),
    (["BF.INSERT", "f", "WINDOW", "no", "ITEMS", "a"], "ERR bad window"),
    (["BF.INSERT", "f", "AT", "5", "ITEMS", "a"], "ERR AT needs a filter with a WINDOW"),
    (["BF.INSERT", "plain", "AT", "5", "ITEMS", "a"], "ERR AT needs a filter with a WINDOW"),
    (["BF.INSERT", "window", "AT", "noon", "ITEMS", "a"],
     "ERR bad time: AT takes milliseconds since 1970"),
    (["BF.INSERT", "window", "AT", "9999999999999", "ITEMS", "a"], "ERR AT is in the future"),
    (["BF.DEL", "window", "a"],
     "ERR the filter was reserved without DELETABLE, and neither deletes nor counts"),
    (["BF.MERGE", "window", "plain"], "ERR key 1 of this command cannot be merged: it has a WINDOW, "
                                      "and filters that forget cannot be merged"),
    (["BF.MERGE", "plain", "window"], "ERR key 2 of this command cannot be merged: it has a WINDOW, "
                                      "and filters that forget cannot be merged"),
], ids=lambda v: " ".join(v) if isinstance(v, list) else "")
def test_errors_change_nothing(server, command, expected):
    server.call("BF.RESERVE", "plain", "0.01", "100")
    server.call("BF.RESERVE", "window", "0.01", "100", "WINDOW", "3600")
    server.call("BF.ADD", "window", "x")
    before = [server.call("DUMP", key) for key in ("plain", "window")]
    assert server.error(*command) == expected
    assert [server.call("DUMP", key) for key in ("plain", "window")] == before
    assert server.call("EXISTS", "f") == 0


def test_a_replica_whose_clock_is_another_holds_the_same_bits(start):
    """Replicas and the append-only file receive the time of items."""
    primary = start("--appendonly", "yes", "--repl-diskless-sync-delay", "0")
    replica = start("--replicaof", "127.0.0.1", str(primary.port),
                    module_arguments=["EXPANSION", "0", "max-filter-size", "65536"])
    primary.call("BF.RESERVE", "f", "0.01", "1000", "WINDOW", "1", "GENERATIONS", "8")
    primary.call("BF.RESERVE", "limited", "0.01", "1000", "WINDOW", "1")
    until = time.monotonic() + 1.3
    i = 0
    while time.monotonic() < until:  # more than a window, so that generations are forgotten
        primary.call("BF.MADD", "f", *(f"{i}:{k}" for k in range(20)))
        primary.call("BF.ADD", "limited", i)
        i += 1
        time.sleep(0.01)
    # A refused item still makes the filter forget old ones.
    primary.client.config_set("bf.max-memory", 1)
    time.sleep(0.3)
    assert b"bf.max-memory" in primary.raw(2, "BF.ADD", "limited", "refused")
    assert primary.call("WAIT", 1, 30_000) == 1
    digest = primary.call("DEBUG", "DIGEST")
    assert replica.call("DEBUG", "DIGEST") == digest
    time.sleep(0.2)  # at another time, with the same bits
    primary.restart()
    assert primary.call("DEBUG", "DIGEST") == digest
    assert replica.call("DEBUG", "DIGEST") == digest


def test_memory_is_given_back_and_counted(server):
    server.call("BF.RESERVE", "f", "0.01", "1000000", "WINDOW", WINDOW)
    assert server.call("MEMORY", "USAGE", "f") < 1000  # memory is allocated when it is needed
    now = now_of(server)
    for age in range(3000, -1, -100):
        server.call("BF.INSERT", "f", "AT", now - 1000 * age, "ITEMS", *range(age, age + 50))
    size = server.call("BF.INFO", "f", "SIZE")[0]
    assert size <= server.call("MEMORY", "USAGE", "f") <= size + 4096
    assert abs(server.client.info("modules")["bf_filter_bytes"] - size) <= 4096
    assert server.call("BF.INFO", "f", "FILTERS")[0] in (8, 9)


def test_a_dump_of_a_time_that_cannot_be_is_refused(server):
    """A newest slice beyond the range of 64-bit times, with right checksums."""
    header = base64.b64decode("QkxNUllETVABAAAAAQIAAAIAAAAAAAAAAAAAAAAAAAB7FK5H4XqEP2QAAAAAAAAAIAAAAA"
                              "AAAACCtSgcPWEayWQAAAAAAAAACAAAAAAAAAAAAAAAAAAAAAEeYDxQk34b")
    assert server.error("BF.LOADCHUNK", "f", 1, header) == "ERR received bad data"
    assert server.call("EXISTS", "f") == 0


def test_items_that_are_known_already_are_not_replicated(start):
    server = start("--appendonly", "yes", "--aof-use-rdb-preamble", "no")
    server.call("BF.RESERVE", "w", "0.01", "100", "WINDOW", "100000", "GENERATIONS", "1")
    server.call("BF.MADD", "w", "a", "b")
    file, = (server.folder / "appendonlydir").glob("*.incr.aof")

    def grows(*command):
        server.call("ECHO", "written")
        before = file.stat().st_size
        server.call(*command)
        server.call("ECHO", "written")
        return file.stat().st_size > before

    assert not grows("BF.ADD", "w", "a")
    assert not grows("BF.INSERT", "w", "AT", now_of(server) - 300_000_000, "ITEMS", "old")
    assert grows("BF.MADD", "w", "a", "c")
    server.restart()
    assert server.call("BF.MEXISTS", "w", "a", "b", "c", "old") == [1, 1, 1, 0]


def test_a_missing_window_is_not_found(server):
    assert server.error("BF.INSERT", "none", "NOCREATE", "AT", now_of(server), "ITEMS", "a") == "ERR not found"
    assert "needs a filter with a WINDOW" in server.error("BF.INSERT", "none", "AT", now_of(server), "ITEMS", "a")
