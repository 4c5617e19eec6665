"""CF.* as clients see it: replies in both protocols, every error, deletes and counts, growth."""

import collections
import random

import pytest
import redis

from conftest import TOO_LARGE, assert_moves


def test_redis_pys_own_helpers_work(server):
    cf = redis.Redis(port=server.port).cf()
    assert cf.create("users", 1000, bucket_size=4, max_iterations=30, expansion=3)
    assert cf.add("users", "alice") == 1
    assert cf.addnx("users", "alice") == 0
    assert cf.insert("users", ["bob", "carol"]) == [1, 1]
    assert cf.insertnx("users", ["bob", "dave"], capacity=500) == [0, 1]
    assert cf.exists("users", "alice") == 1
    assert cf.exists("users", "zoe") == 0
    assert cf.add("users", "alice") == 1
    assert cf.count("users", "alice") == 2
    assert cf.delete("users", "alice") == 1
    info = cf.info("users")
    assert (info.filterNum, info.insertedNum, info.deletedNum) == (1, 4, 1)
    # An expansion is rounded up to a power of two.
    assert (info.bucketSize, info.expansionRate, info.maxIteration) == (4, 4, 30)
    assert_moves(server, cf, "users")


# Replies ------------------------------------------------------------------------------------------

REPLIES = [
    # command, RESP2, RESP3
    (["CF.RESERVE", "f", "100"], b"+OK\r\n", b"+OK\r\n"),
    (["CF.ADD", "f", "a"], b":1\r\n", b"#t\r\n"),
    (["CF.ADD", "some", "x"], b":1\r\n", b"#t\r\n"),
    (["CF.ADDNX", "some", "x"], b":0\r\n", b"#f\r\n"),
    (["CF.ADDNX", "some", "new"], b":1\r\n", b"#t\r\n"),
    (["CF.ADD", "full", "new"], b"-Filter is full\r\n", b"-Filter is full\r\n"),
    (["CF.INSERT", "some", "ITEMS", "x", "new"], b"*2\r\n:1\r\n:1\r\n", b"*2\r\n#t\r\n#t\r\n"),
    (["CF.INSERT", "full", "ITEMS", "i1", "new"], b"*2\r\n:1\r\n:-1\r\n",
     b"*2\r\n#t\r\n#f\r\n"),
    (["CF.INSERTNX", "full", "ITEMS", "i1", "new"], b"*2\r\n:0\r\n:-1\r\n",
     b"*2\r\n:0\r\n:-1\r\n"),
    (["CF.INSERTNX", "some", "ITEMS", "x", "new", "new"], b"*3\r\n:0\r\n:1\r\n:0\r\n",
     b"*3\r\n:0\r\n:1\r\n:0\r\n"),
    (["CF.EXISTS", "some", "x"], b":1\r\n", b"#t\r\n"),
    (["CF.EXISTS", "none", "x"], b":0\r\n", b"#f\r\n"),
    (["CF.EXISTS", "text", "x"], b":0\r\n", b"#f\r\n"),
    (["CF.MEXISTS", "some", "x", "z"], b"*2\r\n:1\r\n:0\r\n", b"*2\r\n#t\r\n#f\r\n"),
    (["CF.MEXISTS", "none", "x"], b"*1\r\n:0\r\n", b"*1\r\n#f\r\n"),
    (["CF.COUNT", "some", "x"], b":2\r\n", b":2\r\n"),
    (["CF.COUNT", "none", "x"], b":0\r\n", b":0\r\n"),
    (["CF.COUNT", "text", "x"], b":0\r\n", b":0\r\n"),
    (["CF.DEL", "some", "x"], b":1\r\n", b"#t\r\n"),
    (["CF.DEL", "some", "z"], b":0\r\n", b"#f\r\n"),
    (["CF.COMPACT", "some"], b"+OK\r\n", b"+OK\r\n"),
    (["CF.SCANDUMP", "empty", "0"], b"*2\r\n:0\r\n$-1\r\n", b"*2\r\n:0\r\n_\r\n"),
    (["CF.SCANDUMP", "some", "1000000"], b"*2\r\n:0\r\n$-1\r\n", b"*2\r\n:0\r\n_\r\n"),
]


@pytest.mark.parametrize("command, resp2, resp3", REPLIES, ids=lambda v: str(v)[:60])
def test_replies(server, command, resp2, resp3):
    for protocol, expected in ((2, resp2), (3, resp3)):
        server.call("FLUSHALL", "SYNC")
        server.call("SET", "text", "x")
        server.call("CF.RESERVE", "empty", "100")
        server.call("CF.RESERVE", "some", "100")
        server.call("CF.INSERT", "some", "ITEMS", "x", "x", "y")
        server.call("CF.RESERVE", "full", "4", "EXPANSION", "0")
        server.call("CF.INSERT", "full", "ITEMS", *(f"i{k}" for k in range(200)))
        assert server.raw(protocol, *command) == expected


def test_info_names_its_fields_in_order(server):
    server.call("CF.RESERVE", "f", "64")
    server.call("CF.INSERT", "f", "ITEMS", "a", "b")
    server.call("CF.DEL", "f", "a")
    size = server.call("CF.INFO", "f")[1]
    fields = (b"+Size\r\n:%d\r\n+Number of buckets\r\n:32\r\n+Number of filters\r\n:1\r\n"
              b"+Number of items inserted\r\n:1\r\n+Number of items deleted\r\n:1\r\n"
              b"+Bucket size\r\n:2\r\n+Expansion rate\r\n:1\r\n+Max iterations\r\n:20\r\n" % size)
    assert server.raw(2, "CF.INFO", "f") == b"*16\r\n" + fields
    assert server.raw(3, "CF.INFO", "f") == b"%8\r\n" + fields


WRONG_TYPE = "WRONGTYPE Operation against a key holding the wrong kind of value"
CAPACITY_RANGE = "Capacity must be in the range [2 * BUCKETSIZE, 1073741824]"
INSERT_RANGE = "Capacity must be in the range [cf-bucket-size * 2, 1073741824]"

ERRORS = [
    (["CF.RESERVE", "there", "100"], "ERR item exists"),
    (["CF.RESERVE", "text", "100"], WRONG_TYPE),
    (["CF.RESERVE", "bloom", "100"], WRONG_TYPE),
    (["CF.RESERVE", "f", "many"], "Bad capacity"),
    (["CF.RESERVE", "f", "3"], CAPACITY_RANGE),
    (["CF.RESERVE", "f", "15", "BUCKETSIZE", "8"], CAPACITY_RANGE),
    (["CF.RESERVE", "f", "1073741825"], CAPACITY_RANGE),
    (["CF.RESERVE", "f", "100", "BUCKETSIZE", "0"],
     "BUCKETSIZE: value must be in the range [1, 255]"),
    (["CF.RESERVE", "f", "100", "BUCKETSIZE", "x"], "Couldn't parse BUCKETSIZE"),
    (["CF.RESERVE", "f", "100", "MAXITERATIONS", "65536"],
     "MAXITERATIONS: value must be in the range [1, 65535]"),
    (["CF.RESERVE", "f", "100", "MAXITERATIONS", "x"], "Couldn't parse MAXITERATIONS"),
    (["CF.RESERVE", "f", "100", "EXPANSION", "-1"],
     "EXPANSION: value must be in the range [0, 32768]"),
    (["CF.RESERVE", "f", "100", "EXPANSION", "x"], "Couldn't parse EXPANSION"),
    (["CF.RESERVE", "f", "100", "ERROR", "x"], "Bad error rate"),
    (["CF.RESERVE", "f", "100", "EXPANSION"],
     "ERR wrong number of arguments for 'CF.RESERVE' command"),
    (["CF.RESERVE", "f"], "ERR wrong number of arguments for 'CF.RESERVE' command"),
    (["CF.ADD", "text", "a"], WRONG_TYPE),
    (["CF.ADD", "bloom", "a"], WRONG_TYPE),
    (["BF.ADD", "there", "a"], WRONG_TYPE),
    (["CF.ADDNX", "text", "a"], WRONG_TYPE),
    (["CF.ADD", "f"], "ERR wrong number of arguments for 'CF.ADD' command"),
    (["CF.INSERT", "f", "NOCREATE", "ITEMS", "a"], "ERR not found"),
    (["CF.INSERTNX", "f", "NOCREATE", "ITEMS", "a"], "ERR not found"),
    (["CF.INSERT", "f", "CAPACITY", "many", "ITEMS", "a"], "Bad capacity"),
    (["CF.INSERT", "f", "CAPACITY", "3", "ITEMS", "a"], INSERT_RANGE),
    (["CF.INSERT", "f", "SIZE", "5", "ITEMS", "a"],
     "Unknown argument received: argument 2 of CF.INSERT is none of CAPACITY, NOCREATE, ENGINE, ITEMS"),
    (["CF.INSERT", "f", "NOCREATE", "ITEMS"],
     "ERR wrong number of arguments for 'CF.INSERT' command"),
    (["CF.DEL", "none", "a"], "Not found"),
    (["CF.DEL", "text", "a"], "Not found"),
    (["CF.COMPACT", "none"], "Cuckoo filter was not found"),
    (["CF.INFO", "none"], "ERR not found"),
    (["CF.INFO", "text"], WRONG_TYPE),
    (["CF.SCANDUMP", "none", "0"], "ERR not found"),
    (["CF.SCANDUMP", "there", "first"], "Invalid position"),
    (["CF.LOADCHUNK", "f", "first", "data"], "Invalid position"),
    (["CF.LOADCHUNK", "f", "1", "data"], "Invalid header"),
    (["CF.LOADCHUNK", "f", "2", "data"], "ERR not found"),
    (["CF.LOADCHUNK", "there", "1", "data"], "ERR item exists"),
    (["CF.LOADCHUNK", "there", "2", "data"], "Couldn't load chunk!"),
]


@pytest.mark.parametrize("command, expected", ERRORS, ids=lambda v: " ".join(v) if isinstance(v, list) else "")
def test_errors_change_nothing_and_are_worded_as_clients_know_them(server, command, expected):
    server.call("SET", "text", "x")
    server.call("CF.RESERVE", "there", "100")
    server.call("BF.RESERVE", "bloom", "0.01", "100")
    before = server.call("DUMP", "there")
    assert server.error(*command) == expected
    assert sorted(server.call("KEYS", "*")) == [b"bloom", b"text", b"there"]
    assert server.call("DUMP", "there") == before


# Filters ------------------------------------------------------------------------------------------

@pytest.mark.parametrize("reserve, n, bits", [
    (["20000"], 20_000, 12), (["20000", "EXPANSION", "0"], 20_000, 11),
    (["100"], 20_000, 24), (["2000"], 20_000, 24), (["20000"], 40_000, 20)], ids=str)
def test_size_and_rate(server, reserve, n, bits):
    """At most 12 bits per item when reserved, and the rate holds, reserved or grown."""
    server.call("CF.RESERVE", "f", *reserve)
    members = [f"member{i}" for i in range(n)]
    assert server.each("CF.INSERT", "f", "ITEMS", items=members) == [1] * n
    info = server.client.cf().info("f")
    assert info.insertedNum == n
    assert 8 * info.size / n <= bits
    assert server.each("CF.MEXISTS", "f", items=members) == [1] * n
    non_members = [f"non-member{i}" for i in range(20_000)]
    passed = sum(server.each("CF.MEXISTS", "f", items=non_members))
    # Six standard deviations of a binomial; the keys are fixed.
    assert passed <= 200 + 6 * 200 ** 0.5
    one_by_one = server.call_all(["CF.EXISTS", "f", item] for item in non_members[:300])
    assert server.call("CF.MEXISTS", "f", *non_members[:300]) == one_by_one


@pytest.mark.parametrize("capacity", [30, 600, 1100, 4000])
def test_deletes_and_counts_against_a_multiset(server, capacity):
    """Adds and deletes never lose a member, and no count is too low: also where the
    filter has grown, and where members lie in two parts (1100)."""
    chosen = random.Random(capacity)
    server.call("CF.RESERVE", "f", capacity)
    held = collections.Counter()
    names = [f"item{i}" for i in range(2000)]
    for _ in range(40):
        adds = [names[min(chosen.randrange(2000), chosen.randrange(2000))] for _ in range(150)]
        assert server.call("CF.INSERT", "f", "ITEMS", *adds) == [1] * len(adds)
        held.update(adds)
        deleted = chosen.sample(sorted(held.elements()), 110)
        assert server.call_all(["CF.DEL", "f", item] for item in deleted) == [1] * 110
        held -= collections.Counter(deleted)
        present = sorted(held)
        assert server.each("CF.MEXISTS", "f", items=present) == [1] * len(present)
    info = server.client.cf().info("f")
    assert (info.insertedNum, info.deletedNum) == (held.total(), 40 * 110)
    counts = server.call_all(["CF.COUNT", "f", item] for item in held)
    assert all(count >= held[item] for count, item in zip(counts, held))
    assert sum(count == held[item] for count, item in zip(counts, held)) >= 0.96 * len(held)
    assert set(server.call_all(["CF.DEL", "f", item] for item in held.elements())) == {1}
    assert server.client.cf().info("f").insertedNum == 0
    assert server.client.cf().info("f").filterNum == 1
    assert server.each("CF.MEXISTS", "f", items=names) == [0] * len(names)


def test_a_thousand_copies_are_counted(server):
    server.call("CF.RESERVE", "f", "100", "EXPANSION", "0")
    for _ in range(4):
        server.call("CF.INSERT", "f", "ITEMS", *["same"] * 250)
    assert server.call("CF.COUNT", "f", "same") == 1000
    size = server.client.cf().info("f").size
    assert size < 1000
    assert server.call_all(1001 * [["CF.DEL", "f", "same"]]) == 1000 * [1] + [0]
    assert server.call("CF.EXISTS", "f", "same") == 0


@pytest.mark.parametrize("capacity, filters", [(1024, 1), (1025, 2)])
def test_a_filter_grows_as_far_as_memory_is_allowed(server, capacity, filters):
    """RedisBloom's stops at 30,660 items. 1024 is the default capacity."""
    if filters == 2:
        server.call("CF.RESERVE", "f", capacity)
    assert set(server.each("CF.INSERT", "f", "ITEMS", items=range(35_000))) == {1}
    assert server.each("CF.MEXISTS", "f", items=range(35_000)) == [1] * 35_000
    assert server.client.cf().info("f").filterNum == filters


def test_what_is_there_is_no_reason_to_grow(server):
    server.call("CF.RESERVE", "f", 2000)
    assert set(server.call("CF.INSERT", "f", "ITEMS", *range(2000))) == {1}
    before = server.client.cf().info("f")
    assert set(server.call("CF.INSERTNX", "f", "ITEMS", *range(2000))) == {0}
    assert server.call("CF.INSERT", "f", "ITEMS", 1, 2, 1) == [1, 1, 1]
    after = server.client.cf().info("f")
    assert (before.filterNum, after.filterNum) == (1, 1)
    assert after.size <= before.size + 1024 and server.call("CF.COUNT", "f", 1) >= 3


def test_limits_are_errors(start):
    server = start(module_arguments=["max-filter-size", "131072", "CF_MAX_EXPANSIONS", "5"])
    assert server.error("CF.RESERVE", "g", "10000000") == TOO_LARGE
    inserted = 0
    answers = []
    while -1 not in answers:
        answers = server.call("CF.INSERT", "f", "ITEMS", *range(inserted, inserted + 3000))
        inserted += 3000
    # The next key may still find a place, because other buckets are tried for it.
    replies = (server.raw(2, "CF.ADD", "f", f"more {i}") for i in range(10_000))
    assert next(r for r in replies if r != b":1\r\n") == \
        b"-Maximum expansions reached: the filter has reached bf.max-filter-size\r\n"
    assert server.client.cf().info("f").size < 3 * 131072


def test_settings_decide_what_a_missing_filter_becomes(start):
    server = start()
    server.call("CONFIG", "SET", "bf.cf-initial-size", "5000", "bf.cf-bucket-size", "4",
                "bf.cf-max-iterations", "7", "bf.cf-expansion-factor", "3",
                "bf.cf-error-rate", "0.0001")
    server.call("CF.ADD", "f", "a")
    info = server.client.cf().info("f")
    assert (info.bucketNum, info.bucketSize, info.maxIteration, info.expansionRate) == \
        (1250, 4, 7, 4)
    assert 8 * info.size > 5000 * 14  # 0.01% takes log2(10000) bits, and 1.4


def test_changes_are_told_as_keyspace_events(server):
    # CF.ADDNX and the second CF.DEL change nothing.
    assert server.events_of(
        ["CF.RESERVE", "f", "10"], ["CF.ADD", "f", "a"], ["CF.ADDNX", "f", "a"], ["CF.DEL", "f", "a"],
        ["CF.DEL", "f", "a"], ["CF.INSERT", "g", "ITEMS", "a"],
    ) == [(b"f", b"cf.reserve"), (b"f", b"cf.add"), (b"f", b"cf.del"), (b"g", b"cf.reserve"), (b"g", b"cf.add")]


def test_what_a_full_filter_refuses_is_told_item_by_item(server):
    server.call("CF.RESERVE", "f", 1000, "EXPANSION", 0)
    first = server.call("CF.INSERT", "f", "ITEMS", *range(3000))
    kept = [i for i, answer in enumerate(first) if answer == 1]
    assert 1000 <= len(kept) < 2000
    assert all(server.call("CF.MEXISTS", "f", *kept))
    # Again: members are told apart from items without room, in any order.
    asked = random.Random(7).sample(range(4000), 4000)
    there = server.call("CF.MEXISTS", "f", *asked)
    again = server.call("CF.INSERTNX", "f", "ITEMS", *asked)
    assert all(answer == 0 for answer, known in zip(again, there) if known)
    refused = [item for item, answer, known in zip(asked, again, there) if not known and answer == -1]
    assert len(refused) > 2500
    assert not any(server.call("CF.MEXISTS", "f", *refused[:500]))
    assert server.call("CF.DEL", "f", kept[0]) == 1
    assert server.call("CF.INSERT", "f", "ITEMS", *refused[:50]).count(1) == 1
