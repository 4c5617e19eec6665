"""BF.* as clients see it: replies in both protocols, every error, options."""

import collections
import random

import pytest
import redis

from conftest import assert_moves


def test_redis_pys_own_helpers_work(server):
    bf = redis.Redis(port=server.port).bf()
    assert bf.create("users", 0.01, 1000)
    assert bf.add("users", "alice") == 1
    assert bf.add("users", "alice") == 0
    assert bf.exists("users", "alice") == 1
    assert bf.exists("users", "bob") == 0
    assert bf.madd("users", "alice", "bob", "carol") == [0, 1, 1]
    assert bf.mexists("users", "bob", "dave") == [1, 0]
    assert bf.insert("more", ["a", "b"], capacity=500, error=0.001, expansion=4) == [1, 1]
    info = bf.info("users")
    assert (info.capacity, info.filterNum, info.insertedNum, info.expansionRate) == (1000, 1, 3, 2)
    assert bf.info("more").expansionRate == 4
    assert_moves(server, bf, "users")


# Replies ------------------------------------------------------------------------------------------

REPLIES = [
    # command, RESP2, RESP3
    (["BF.RESERVE", "f", "0.01", "100"], b"+OK\r\n", b"+OK\r\n"),
    (["BF.ADD", "f", "a"], b":1\r\n", b"#t\r\n"),
    (["BF.ADD", "full", "new"], b"-ERR non scaling filter is full\r\n",
     b"-ERR non scaling filter is full\r\n"),
    (["BF.ADD", "full", "x"], b":0\r\n", b"#f\r\n"),
    (["BF.MADD", "f", "a", "b", "a"], b"*3\r\n:1\r\n:1\r\n:0\r\n", b"*3\r\n#t\r\n#t\r\n#f\r\n"),
    (["BF.MADD", "full", "x", "new", "y"],
     b"*2\r\n:0\r\n-ERR non scaling filter is full\r\n",
     b"*2\r\n#f\r\n-ERR non scaling filter is full\r\n"),
    (["BF.INSERT", "f", "ITEMS", "a", "b"], b"*2\r\n:1\r\n:1\r\n", b"*2\r\n#t\r\n#t\r\n"),
    (["BF.EXISTS", "full", "x"], b":1\r\n", b"#t\r\n"),
    (["BF.EXISTS", "none", "x"], b":0\r\n", b"#f\r\n"),
    (["BF.EXISTS", "text", "x"], b":0\r\n", b"#f\r\n"),
    (["BF.MEXISTS", "full", "x", "z"], b"*2\r\n:1\r\n:0\r\n", b"*2\r\n#t\r\n#f\r\n"),
    (["BF.MEXISTS", "none", "x", "z"], b"*2\r\n:0\r\n:0\r\n", b"*2\r\n#f\r\n#f\r\n"),
    (["BF.MEXISTS", "text", "x"], b"*1\r\n:0\r\n", b"*1\r\n#f\r\n"),
    (["BF.CARD", "full"], b":2\r\n", b":2\r\n"),
    (["BF.CARD", "none"], b":0\r\n", b":0\r\n"),
    (["BF.INFO", "full", "capacity"], b"*1\r\n:2\r\n", b"%1\r\n+Capacity\r\n:2\r\n"),
    (["BF.INFO", "full", "FILTERS"], b"*1\r\n:1\r\n", b"%1\r\n+Number of filters\r\n:1\r\n"),
    (["BF.INFO", "full", "ITEMS"], b"*1\r\n:2\r\n",
     b"%1\r\n+Number of items inserted\r\n:2\r\n"),
    (["BF.INFO", "full", "EXPANSION"], b"*1\r\n$-1\r\n", b"%1\r\n+Expansion rate\r\n_\r\n"),
    (["BF.INFO", "grows", "EXPANSION"], b"*1\r\n:3\r\n", b"%1\r\n+Expansion rate\r\n:3\r\n"),
    (["BF.SCANDUMP", "full", "1000000"], b"*2\r\n:0\r\n$0\r\n\r\n", b"*2\r\n:0\r\n$0\r\n\r\n"),
    (["BF.SCANDUMP", "full", "-1"], b"*2\r\n:0\r\n$0\r\n\r\n", b"*2\r\n:0\r\n$0\r\n\r\n"),
]


@pytest.mark.parametrize("command, resp2, resp3", REPLIES, ids=lambda v: str(v)[:60])
def test_replies(server, command, resp2, resp3):
    for protocol, expected in ((2, resp2), (3, resp3)):
        server.call("FLUSHALL", "SYNC")
        server.call("SET", "text", "x")
        server.call("BF.RESERVE", "full", "0.01", "2", "NONSCALING")
        server.call("BF.MADD", "full", "x", "y")
        server.call("BF.RESERVE", "grows", "0.01", "10", "EXPANSION", "3")
        assert server.raw(protocol, *command) == expected


def test_info_names_its_fields_in_order(server):
    server.call("BF.RESERVE", "f", "0.01", "64", "NONSCALING")
    server.call("BF.ADD", "f", "a")
    size = server.call("BF.INFO", "f", "SIZE")[0]
    assert size > 0
    fields = (b"+Capacity\r\n:64\r\n+Size\r\n:%d\r\n+Number of filters\r\n:1\r\n"
              b"+Number of items inserted\r\n:1\r\n+Expansion rate\r\n" % size)
    assert server.raw(2, "BF.INFO", "f") == b"*10\r\n" + fields + b"$-1\r\n"
    assert server.raw(3, "BF.INFO", "f") == b"%5\r\n" + fields + b"_\r\n"


@pytest.mark.parametrize("capacity", [100, 12_000])  # one part, and two
def test_stats_tell_items_that_seemed_to_be_there(server, capacity):
    """At a rate of 25%, where a tenth and more of 40,000 items is not counted. A deviation is below
    0.67 sqrt(n) / (1 - rate), 0.5%: six are 3%."""
    server.call("BF.RESERVE", "f", "0.25", capacity)
    server.each("BF.MADD", "f", items=range(40_000))
    assert abs(float(server.call("BF.STATS", "f")[5]) - 40_000) < 1200


@pytest.mark.parametrize("reserve", [["BF.RESERVE", "f", "0.01", "20000", "NONSCALING"],
                                     ["BF.RESERVE", "f", "0.01", "10000"],
                                     ["BF.RESERVE", "f", "0.01", "100"],
                                     ["CF.RESERVE", "f", "20000"], ["CF.RESERVE", "f", "5000"]],
                         ids=" ".join)
def test_stats_tell_the_truth(server, reserve):
    family, n, non_members = reserve[0][:2], 19_000, 20_000
    server.call(*reserve)
    add = ["BF.MADD", "f"] if family == "BF" else ["CF.INSERT", "f", "ITEMS"]
    server.each(*add, items=range(n))
    stats = server.call(family + ".STATS", "f")
    assert stats[-2:] == [b"Hash", b"xxh3"]
    stats = {name.decode(): float(value) for name, value in zip(stats[:-2:2], stats[1:-2:2])}
    assert list(stats) == ["Error rate requested", "Error rate now", "Number of items estimated",
                           "Bits per item"]
    passed = sum(server.each(family + ".MEXISTS", "f", items=[f"non-member{i}" for i in range(non_members)]))
    now = stats["Error rate now"]
    # Six standard deviations of a binomial; the keys are fixed.
    assert abs(passed - now * non_members) <= 6 * (now * non_members) ** 0.5 + 10
    assert stats["Error rate requested"] == 0.01 >= now
    assert abs(stats["Number of items estimated"] - n) <= 0.02 * n
    info = server.client.execute_command("MEMORY", "USAGE", "f")
    assert abs(stats["Bits per item"] - 8 * info / n) <= 0.2
    assert b"\r\n," in server.raw(3, family + ".STATS", "f")
    assert server.error(family + ".STATS", "none") == "ERR not found"


WRONG_TYPE = "WRONGTYPE Operation against a key holding the wrong kind of value"
RATE_RANGE = "ERR error rate must be in the range (0.000000, 1.000000)"
CAPACITY_RANGE = "ERR capacity must be in the range [1, 1073741824]"
EXPANSION_RANGE = "ERR expansion must be in the range [0, 32768]"

NOT_DELETABLE = "ERR the filter was reserved without DELETABLE, and neither deletes nor counts"

ERRORS = [
    (["BF.RESERVE", "there", "0.01", "100"], "ERR item exists"),
    (["BF.RESERVE", "text", "0.01", "100"], WRONG_TYPE),
    (["BF.RESERVE", "f", "much", "100"], "ERR bad error rate"),
    (["BF.RESERVE", "f", "nan", "100"], "ERR bad error rate"),
    (["BF.RESERVE", "f", "0", "100"], RATE_RANGE),
    (["BF.RESERVE", "f", "1", "100"], RATE_RANGE),
    (["BF.RESERVE", "f", "-0.1", "100"], RATE_RANGE),
    (["BF.RESERVE", "f", "inf", "100"], RATE_RANGE),
    (["BF.RESERVE", "f", "0.01", "many"], "ERR bad capacity"),
    (["BF.RESERVE", "f", "0.01", "1e3"], "ERR bad capacity"),
    (["BF.RESERVE", "f", "0.01", "0"], CAPACITY_RANGE),
    (["BF.RESERVE", "f", "0.01", "-5"], CAPACITY_RANGE),
    (["BF.RESERVE", "f", "0.01", "1073741825"], CAPACITY_RANGE),
    (["BF.RESERVE", "f", "0.01", "100", "EXPANSION"], "ERR no expansion"),
    (["BF.RESERVE", "f", "0.01", "100", "EXPANSION", "two"], "ERR bad expansion"),
    (["BF.RESERVE", "f", "0.01", "100", "EXPANSION", "-1"], EXPANSION_RANGE),
    (["BF.RESERVE", "f", "0.01", "100", "EXPANSION", "32769"], EXPANSION_RANGE),
    (["BF.RESERVE", "f", "0.01", "100", "EXPANSION", "2", "NONSCALING"],
     "Nonscaling filters cannot expand"),
    (["BF.RESERVE", "f", "0.01"], "ERR wrong number of arguments for 'BF.RESERVE' command"),
    (["BF.RESERVE", "f", "0.01", "9", "EXPANSION", "2", "NATIVE", "NATIVE"],
     "ERR wrong number of arguments for 'BF.RESERVE' command"),
    (["BF.ADD", "f"], "ERR wrong number of arguments for 'BF.ADD' command"),
    (["BF.ADD", "f", "a", "b"], "ERR wrong number of arguments for 'BF.ADD' command"),
    (["BF.ADD", "text", "a"], WRONG_TYPE),
    (["BF.MADD", "text", "a"], WRONG_TYPE),
    (["BF.MADD", "f"], "ERR wrong number of arguments for 'BF.MADD' command"),
    (["BF.INSERT", "text", "ITEMS", "a"], WRONG_TYPE),
    (["BF.INSERT", "f", "NOCREATE", "ITEMS", "a"], "ERR not found"),
    (["BF.INSERT", "f", "CAPACITY", "many", "ITEMS", "a"], "Bad capacity"),
    (["BF.INSERT", "f", "CAPACITY", "0", "ITEMS", "a"], CAPACITY_RANGE),
    (["BF.INSERT", "f", "ERROR", "much", "ITEMS", "a"], "Bad error rate"),
    (["BF.INSERT", "f", "ERROR", "1.5", "ITEMS", "a"], RATE_RANGE),
    (["BF.INSERT", "f", "EXPANSION", "two", "ITEMS", "a"], "Bad expansion"),
    (["BF.INSERT", "f", "EXPANSION", "40000", "ITEMS", "a"], EXPANSION_RANGE),
    (["BF.INSERT", "f", "SIZE", "5", "ITEMS", "a"],
     "Unknown argument received: argument 2 of BF.INSERT is none of CAPACITY, ERROR, EXPANSION, NOCREATE, NONSCALING, "
     "DELETABLE, WINDOW, GENERATIONS, HASH, ENGINE, AT, ITEMS"),
    (["BF.INSERT", "f", "CAPACITY", "5"],
     "ERR wrong number of arguments for 'BF.INSERT' command"),
    (["BF.INSERT", "f", "NOCREATE", "ITEMS"],
     "ERR wrong number of arguments for 'BF.INSERT' command"),
    (["BF.CARD", "text"], WRONG_TYPE),
    (["BF.DEL", "none", "a"], "ERR not found"),
    (["BF.DEL", "text", "a"], WRONG_TYPE),
    (["BF.DEL", "there", "a"], NOT_DELETABLE),
    (["BF.COUNT", "text", "a"], WRONG_TYPE),
    (["BF.COUNT", "there", "a"], NOT_DELETABLE),
    (["BF.INFO", "none"], "ERR not found"),
    (["BF.INFO", "text"], WRONG_TYPE),
    (["BF.INFO", "there", "colour"], "Invalid information value"),
    (["BF.INFO", "there", "SIZE", "ITEMS"],
     "ERR wrong number of arguments for 'BF.INFO' command"),
    (["BF.SCANDUMP", "none", "0"], "ERR not found"),
    (["BF.SCANDUMP", "text", "0"], WRONG_TYPE),
    (["BF.SCANDUMP", "there", "first"], "Second argument must be numeric"),
    (["BF.LOADCHUNK", "f", "first", "data"], "ERR Second argument must be numeric"),
    (["BF.LOADCHUNK", "f", "1", "data"], "ERR received bad data"),
    (["BF.LOADCHUNK", "f", "2", "data"], "ERR not found"),
    (["BF.LOADCHUNK", "there", "1", "data"], "ERR received bad data"),
    (["BF.LOADCHUNK", "text", "1", "data"], WRONG_TYPE),
]


@pytest.mark.parametrize("command, expected", ERRORS, ids=lambda v: " ".join(v) if isinstance(v, list) else "")
def test_errors_change_nothing_and_are_worded_as_clients_know_them(server, command, expected):
    server.call("SET", "text", "x")
    server.call("BF.RESERVE", "there", "0.01", "100")
    before = server.call("DUMP", "there")
    assert server.error(*command) == expected
    assert sorted(server.call("KEYS", "*")) == [b"text", b"there"]
    assert server.call("DUMP", "there") == before


# Filters ------------------------------------------------------------------------------------------

def test_options_are_found_by_name_anywhere_and_in_any_case(server):
    server.call("BF.RESERVE", "a", "0.01", "100", "nonscaling", "expansion", "0")
    assert server.call("BF.INFO", "a", "EXPANSION") == [None]
    server.call("BF.RESERVE", "b", "0.01", "100", "expansion", "0")
    assert server.call("BF.INFO", "b", "EXPANSION") == [None]
    server.call("BF.INSERT", "c", "error", "0.001", "nonscaling", "capacity", "77", "items", "x")
    assert server.call("BF.INFO", "c", "EXPANSION") == [None]
    assert server.call("BF.INFO", "c", "CAPACITY") == [77]


@pytest.mark.parametrize("engine", ["native", "compatible"])
def test_insert_takes_its_words_abbreviated(server, engine):
    """Recognised by the letters that RedisBloom compares."""
    for number, (words, capacity, expansion) in enumerate([
            (["CAP", "77", "ERR", "0.001", "ITEM"], 77, 2), (["cap", "77", "exp", "4", "i"], 77, 4),
            (["C", "77", "E", "4", "NON", "I"], 77, None), (["CAPACITY", "77", "NO", "ITEMS"], 77, None),
            (["er", "0.02", "items"], 100, 2)]):
        assert server.call("BF.INSERT", f"f{number}", "ENGINE", engine, *words, "x") == [1]
        assert server.call("BF.INFO", f"f{number}", "CAPACITY") == [capacity]
        assert server.call("BF.INFO", f"f{number}", "EXPANSION") == [expansion]
    assert server.error("BF.INSERT", "none", "NOC", "ITEM", "x") == "ERR not found"
    for command in ("CF.INSERT", "CF.INSERTNX"):
        assert server.call(command, command, "ENGINE", engine, "CAP", "5000", "ITEM", "x", "y") == [1, 1]
        assert server.call("CF.INFO", command)[3] in (2500, 4096)  # buckets
        assert server.error(command, "none", "NOC", "ITEM", "x") == "ERR not found"
    # All words after ITEMS are items, even if they look like options.
    assert server.call("BF.INSERT", "items", "ITEMS", "ITEMS", "CAPACITY", "5") == [1, 1, 1]
    for word in ("", "SIZE", "X"):
        for command in ("BF.INSERT", "CF.INSERT"):
            assert server.error(command, "none", word, "5", "ITEMS", "a").startswith("Unknown argument received")
    assert server.error("BF.INSERT", "none", "NOCREATE", "SIZE").startswith("Unknown argument received")


@pytest.mark.parametrize("engine", ["native", "compatible"])
@pytest.mark.parametrize("words", [["NONSCALING", "EXPANSION", "4"], ["EXPANSION", "4", "NONSCALING"],
                                   ["EXPANSION", "0", "NONSCALING"]], ids=" ".join)
def test_insert_takes_nonscaling_with_an_expansion(server, engine, words):
    assert server.call("BF.INSERT", "f", "CAPACITY", "2", *words, "ENGINE", engine, "ITEMS", "a", "b") == [1, 1]
    assert server.call("BF.INFO", "f", "EXPANSION") == [None]
    assert server.error("BF.ADD", "f", "c") == "ERR non scaling filter is full"


def test_items_are_bytes(server):
    odd = [b"", b"\x00", b"\x00\x00", bytes(range(256)), b"ITEMS", b"x" * 100_000]
    assert server.call("BF.MADD", "f", *odd) == [1] * len(odd)
    assert server.call("BF.MEXISTS", "f", *odd) == [1] * len(odd)


def test_a_filter_that_began_small_stays_small_and_keeps_its_rate(server):
    n = 50_000
    members = [f"member{i}" for i in range(n)]
    server.each("BF.MADD", "f", items=members)
    capacity, size, filters = (server.call("BF.INFO", "f", word)[0]
                               for word in ("CAPACITY", "SIZE", "FILTERS"))
    assert capacity >= server.call("BF.CARD", "f") and filters == 1
    # The stored size and the size in memory differ: the filter has room for its next steps.
    assert 8 * len(server.call("DUMP", "f")) / n <= 18
    assert 8 * size / n <= 28
    assert all(server.each("BF.MEXISTS", "f", items=members))
    passed = sum(server.each("BF.MEXISTS", "f", items=[f"non-member{i}" for i in range(n)]))
    assert passed <= 0.01 * n + 6 * (0.01 * n) ** 0.5


def test_adding_twice_changes_nothing(server):
    items = [f"item{i}" for i in range(500)]
    server.call("BF.MADD", "f", *items)
    before = server.call("DUMP", "f")
    card = server.call("BF.CARD", "f")
    assert server.call("BF.MADD", "f", *items, *items) == [0] * 1000
    assert set(server.call_all(["BF.ADD", "f", item] for item in items)) == {0}
    assert server.call("BF.CARD", "f") == card
    assert server.call("DUMP", "f") == before


def test_a_fixed_filter_stops_at_its_capacity_and_loses_nothing(server):
    server.call("BF.RESERVE", "f", "0.001", "100", "NONSCALING")
    added, refused = [], 0
    for i in range(300):
        try:
            server.call("BF.ADD", "f", i)
            added.append(i)
        except redis.ResponseError as why:
            assert str(why) == "non scaling filter is full"
            refused += 1
    assert server.call("BF.CARD", "f") == 100 and refused >= 190
    assert server.call("BF.MEXISTS", "f", *added) == [1] * len(added)


@pytest.mark.parametrize("options", [["100"], ["1100"], ["5000"], ["3000", "NONSCALING"]], ids=" ".join)
def test_a_deletable_filter_against_a_multiset(server, options):
    """Adds and deletes never lose a member: copies are kept, and each add says whether
    the item was there."""
    chosen = random.Random(5)
    server.call("BF.RESERVE", "f", "0.01", *options, "DELETABLE")
    held, wrong = collections.Counter(), 0
    names = [f"item{i}" for i in range(1500)]
    for _ in range(25):
        adds = [names[min(chosen.randrange(1500), chosen.randrange(1500))] for _ in range(180)]
        for item, answer in zip(adds, server.call("BF.MADD", "f", *adds)):
            assert answer == 0 or held[item] == 0
            wrong += answer == 0 and held[item] == 0
            held[item] += 1
        deleted = chosen.sample(sorted(held.elements()), 90)
        assert server.call_all(["BF.DEL", "f", item] for item in deleted) == [1] * 90
        held -= collections.Counter(deleted)
        assert server.call("BF.MEXISTS", "f", *sorted(held)) == [1] * len(held)
    assert server.call("BF.CARD", "f") == held.total()
    assert wrong <= 60  # 1% of the added items, and six standard deviations
    for item in sorted(held)[:300]:
        assert server.call("BF.COUNT", "f", item) >= held[item]
    assert set(server.call_all(["BF.DEL", "f", item] for item in held.elements())) == {1}
    assert server.call("BF.CARD", "f") == 0
    assert sum(server.call("BF.MEXISTS", "f", *names)) == 0
    assert server.call("BF.COUNT", "f", "item1") == 0 == server.call("BF.COUNT", "none", "item1")
    assert server.call("BF.DEL", "f", "item1") == 0


def test_a_deletable_filter_that_stays_is_full_at_its_capacity(server):
    assert server.call("BF.INSERT", "f", "CAPACITY", "20", "NONSCALING", "DELETABLE", "ITEMS",
                       *range(15)) == [1] * 15
    with pytest.raises(redis.ResponseError, match="non scaling filter is full"):
        for i in range(15, 40):
            server.call("BF.ADD", "f", i)
    assert server.call("BF.CARD", "f") == 20
    assert server.call("BF.DEL", "f", "3") == 1
    assert server.call("BF.ADD", "f", "another") == 1


# The server's own commands ----------------------------------------------------------------------

def test_the_server_documents_the_commands(server):
    for commands, phrases in (
            ("BF.INSERT BF.EXISTS", ["capacity", "NOCREATE", "ITEMS", "expansion", "no is certain", "O(1)"]),
            ("CF.INSERT CF.COUNT CF.RESERVE", ["capacity", "NOCREATE", "ITEMS", "never too low", "BUCKETSIZE", "O(1)"]),
            ("BF.RESERVE BF.INSERT", ["WINDOW", "GENERATIONS", "MEMORY", "AT"]),
            ("BF.MERGE", ["source", "union"]), ("CF.MERGE", ["source", "union"])):
        text = server.raw(2, "COMMAND", "DOCS", *commands.split()).decode()
        assert all(phrase in text for phrase in phrases), commands
    for command, flags in (("BF.ADD", [b"write", b"denyoom"]), ("BF.EXISTS", [b"readonly", b"fast"]),
                           ("CF.ADD", [b"write", b"denyoom"]), ("CF.EXISTS", [b"readonly", b"fast"]),
                           ("CF.DEL", [b"write"])):
        info = server.raw(2, "COMMAND", "INFO", command)
        assert all(b"+" + flag in info for flag in flags)
    # Commands that read or move all of a filter are not fast.
    for command in ("BF.SCANDUMP", "CF.SCANDUMP", "BF.STATS", "CF.STATS", "CF.COMPACT", "BF.MERGE",
                    "BF.LOADCHUNK", "CF.LOADCHUNK"):
        assert b"+fast" not in server.raw(2, "COMMAND", "INFO", command), command
    assert server.raw(2, "COMMAND", "GETKEYS", "BF.MADD", "f", "a", "b") == b"*1\r\n$1\r\nf\r\n"


def test_the_info_section_counts_filters(server):
    server.call("BF.ADD", "a", "x")
    server.call("BF.ADD", "b", "x")
    info = server.client.info("modules")
    assert info["bf_filters"] == 2 and info["bf_filter_bytes"] > 0
    server.call("FLUSHALL", "SYNC")
    assert server.client.info("modules")["bf_filters"] == 0
    assert server.client.info("modules")["bf_filter_bytes"] == 0


def test_changes_are_told_as_keyspace_events(server):
    # The second BF.ADD and BF.EXISTS change nothing.
    assert server.events_of(
        ["BF.RESERVE", "f", "0.01", "10"], ["BF.ADD", "f", "a"], ["BF.ADD", "f", "a"], ["BF.EXISTS", "f", "a"],
        ["BF.MADD", "g", "a", "b"],
    ) == [(b"f", b"bf.reserve"), (b"f", b"bf.add"), (b"g", b"bf.reserve"), (b"g", b"bf.add")]


def test_watch_sees_what_changes_a_filter_and_nothing_else(server):
    server.call("BF.ADD", "f", "a")
    server.call("BF.ADD", "g", "c")
    for write, aborts in ((["BF.ADD", "f", "b"], True), (["BF.ADD", "f", "a"], False),
                          (["BF.MERGE", "f", "g"], True), (["BF.EXISTS", "f", "a"], False)):
        with server.client.pipeline() as pipe:
            pipe.watch("f")
            server.call(*write)
            pipe.multi()
            pipe.ping()
            if aborts:
                with pytest.raises(redis.WatchError):
                    pipe.execute()
            else:
                assert pipe.execute() == [True]


def test_access_control_lists_know_what_reads_and_what_writes(server):
    if b"bloom" not in server.raw(2, "ACL", "CAT"):
        pytest.skip("this server lets no module tell its categories")
    server.call("BF.ADD", "f", "a")
    server.call("ACL", "SETUSER", "reader", "on", "nopass", "~*", "+@all", "-@write")
    server.call("ACL", "SETUSER", "only", "on", "nopass", "~*", "+@read")
    reader = redis.Redis(port=server.port, username="reader", password="x")
    only = redis.Redis(port=server.port, username="only", password="x")
    for client in (reader, only):
        assert client.execute_command("BF.EXISTS", "f", "a") == 1
        for command in (["BF.ADD", "f", "b"], ["BF.RESERVE", "g", "0.01", "10"], ["BF.MERGE", "f", "f"],
                        ["CF.DEL", "c", "a"]):
            with pytest.raises(redis.exceptions.NoPermissionError):
                client.execute_command(*command)
    for name, category in (("bf.exists", "fast"), ("bf.madd", "slow"), ("cf.add", "cuckoo")):
        listed = server.raw(2, "COMMAND", "LIST", "FILTERBY", "ACLCAT", category)
        assert name.encode() in listed.lower()
