"""Filters of the engine `compatible`: their creation, replies, files and replication."""

import re

import pytest
import redis

from conftest import TOO_LARGE, TOO_LARGE_BY_DEFAULT, assert_moves, wait_for_replica
from redisbloom import NEW, OLD, family, found, members

# Choice of the engine -------------------------------------------------------------------------------------


def is_compatible(server, key):
    return b"BLMSTDMP" not in server.call("DUMP", key)


def test_the_setting_and_the_option_choose_the_engine(start):
    server = start("--rdbcompression", "no")
    for engine in ("compatible", "native"):
        server.call("CONFIG", "SET", "bf.engine", engine)
        assert server.client.config_get("bf.engine") == {"bf.engine": engine}
        server.call("FLUSHALL", "SYNC")
        server.call("BF.RESERVE", "reserved", "0.01", "100")
        server.call("BF.ADD", "added", "a")
        server.call("BF.INSERT", "inserted", "ITEMS", "a")
        server.call("CF.RESERVE", "cuckoo", "100")
        server.call("CF.ADD", "cuckoo added", "a")
        for key in ("reserved", "added", "inserted", "cuckoo", "cuckoo added"):
            assert is_compatible(server, key) == (engine == "compatible"), key
        server.call("BF.RESERVE", "c", "0.01", "100", "EXPANSION", "4", "ENGINE", "compatible")
        server.call("BF.RESERVE", "n", "0.01", "100", "ENGINE", "NATIVE")
        server.call("CF.RESERVE", "cuckoo c", "100", "ENGINE", "COMPATIBLE")
        server.call("CF.RESERVE", "cuckoo n", "100", "ENGINE", "native", "EXPANSION", "2")
        # Options that RedisBloom does not have make native filters.
        server.call("BF.RESERVE", "d", "0.01", "100", "DELETABLE")
        server.call("BF.INSERT", "d too", "DELETABLE", "ITEMS", "a")
        server.call("CF.RESERVE", "cuckoo e", "100", "ERROR", "0.001")
        for key in ("c", "cuckoo c"):
            assert is_compatible(server, key), key
        for key in ("n", "cuckoo n", "d", "d too", "cuckoo e"):
            assert not is_compatible(server, key), key
    assert "no such option" in server.error("BF.RESERVE", "x", "0.1", "9", "DELETABLE", "ENGINE",
                                            "COMPATIBLE")
    assert "no such option" in server.error("CF.RESERVE", "x", "9", "ERROR", "0.1", "ENGINE",
                                            "COMPATIBLE")
    assert "ENGINE is NATIVE or COMPATIBLE" in server.error("BF.RESERVE", "x", "0.1", "9", "ENGINE",
                                                            "other")
    assert "one engine" in server.error("BF.RESERVE", "x", "0.1", "9", "NATIVE", "COMPATIBLE")
    assert server.call("EXISTS", "x") == 0
    with pytest.raises(redis.ResponseError):
        server.call("CONFIG", "SET", "bf.engine", "other")


def test_what_only_native_filters_do_is_native_under_the_setting(compatible):
    compatible.call("BF.RESERVE", "forgets", "0.01", "100", "WINDOW", "60")
    compatible.call("BF.INSERT", "forgets too", "WINDOW", "60", "ITEMS", "a")
    compatible.call("BF.RESERVE", "sized", "0.01", "MEMORY", "64kb")
    for key in ("forgets", "forgets too", "sized"):
        assert not is_compatible(compatible, key), key
    assert "no such option" in compatible.error("BF.RESERVE", "x", "0.01", "9", "WINDOW", "60",
                                                "ENGINE", "COMPATIBLE")


def test_compatible_filters_merge_with_none(compatible):
    compatible.call("BF.MADD", "f", "a", "b")
    compatible.call("BF.MADD", "g", "c")
    compatible.call("BF.RESERVE", "n", "0.01", "100", "ENGINE", "NATIVE")
    before = dumps(compatible)
    assert "filters of their engine cannot be merged" in compatible.error("BF.MERGE", "f", "g")
    assert "its engine is native, not compatible" in compatible.error("BF.MERGE", "f", "n")
    assert "its engine is compatible, not native" in compatible.error("BF.MERGE", "n", "f")
    assert dumps(compatible) == before
    compatible.call("BF.MERGE", "copy", "f")
    assert compatible.call("DUMP", "copy") == compatible.call("DUMP", "f")


def test_native_dumps_load_where_the_setting_is_compatible(server, compatible):
    items = [f"m{i}" for i in range(400)]
    for name in ("BF", "CF"):
        server.call(name + ".INSERT", name, "ITEMS", *items)
        compatible.call("RESTORE", name, 0, server.call("DUMP", name))
        for piece in server.pieces(name, name):
            compatible.call(name + ".LOADCHUNK", "loaded", *piece)
        assert compatible.call("DUMP", "loaded") == compatible.call("DUMP", name)
        assert compatible.call(name + ".MEXISTS", "loaded", *items) == [1] * 400
        compatible.call("DEL", "loaded")


# Replies --------------------------------------------------------------------------------


def test_errors_and_replies_of_compatible_filters(compatible):
    call, error = compatible.call, compatible.error
    call("BF.RESERVE", "f", "0.01", "2", "NONSCALING")
    assert call("BF.MADD", "f", "a", "b", "a") == [1, 1, 0]
    assert error("BF.ADD", "f", "c") == "ERR non scaling filter is full"
    assert call("BF.ADD", "f", "a") == 0
    reply = call("BF.MADD", "f", "a", "c", "d")
    assert reply[0] == 0 and len(reply) == 2 and "full" in str(reply[1])
    assert "DELETABLE" in error("BF.DEL", "f", "a") and "DELETABLE" in error("BF.COUNT", "f", "a")
    call("CF.RESERVE", "c", "4", "BUCKETSIZE", "2", "EXPANSION", "0")
    assert call("CF.INSERT", "c", "ITEMS", *"abcdefgh").count(-1) >= 4
    assert error("CF.ADD", "c", "another") == "Filter is full"
    assert call("CF.ADDNX", "c", "a") == 0
    assert call("CF.DEL", "c", "a") == 1 and call("CF.DEL", "c", "nobody") == 0
    assert compatible.raw(3, "CF.INSERT", "c", "ITEMS", "a") == b"*1\r\n#t\r\n"
    assert error("CF.SCANDUMP", "c", -1) == "Invalid position"
    assert error("CF.LOADCHUNK", "c", 0, "x") == "Invalid position"
    assert error("CF.LOADCHUNK", "new", 1, b"\0" * 38) == "Couldn't create filter!"
    assert error("CF.LOADCHUNK", "new", 1, b"\0" * 37) == "Invalid header"
    call("CF.RESERVE", "small", "4")
    with pytest.raises(redis.ResponseError, match="Maximum expansions reached"):
        for i in range(1000):
            call("CF.INSERT", "small", "ITEMS", *(f"{i}:{k}" for k in range(8)))
    assert call("CF.INFO", "small")[5] >= 32


def test_the_wording_is_redisblooms(compatible):
    """The fields of RedisBloom's replies; native filters have more."""
    call, error = compatible.call, compatible.error
    for engine in ("compatible", "native"):
        its = engine == "compatible"
        in_range = "ERR {} must be in the range {}"
        for words, wording, range_of_native in (
                (["ERROR", "0"], "Bad error rate", ("error rate", "(0.000000, 1.000000)")),
                (["ERROR", "1"], "Bad error rate", ("error rate", "(0.000000, 1.000000)")),
                (["CAPACITY", "0"], "Bad capacity", ("capacity", "[1, 1073741824]")),
                (["CAPACITY", "1073741825"], "Bad capacity", ("capacity", "[1, 1073741824]")),
                (["EXPANSION", "-1"], "Bad expansion", ("expansion", "[0, 32768]"))):
            expected = wording if its else in_range.format(*range_of_native)
            assert error("BF.INSERT", "f", *words, "ENGINE", engine, "ITEMS", "a") == expected
            assert error("BF.INSERT", "f", "ENGINE", engine, *words, "ERROR", "x", "ITEMS", "a") == expected
    # Pieces for a complete filter. Even those that fit are refused.
    call("BF.RESERVE", "f", "0.01", "100")
    call("BF.ADD", "f", "a")
    pieces = compatible.pieces("BF", "f")
    before = call("DUMP", "f")
    size = len(pieces[1][1])
    for iterator, data, wording in (
            (*pieces[0], "ERR received bad data"), (0, b"x", "ERR received bad data"),
            (-5, b"x", "ERR received bad data"), (3, b"xxxx", "ERR received bad data"),
            (4, b"xxxx", "ERR invalid offset - no link found"),
            (size + 2, b"x", "ERR invalid offset - no link found"),
            (1 << 62, b"x", "ERR invalid offset - no link found"),
            (size + 2, b"xx", "ERR invalid chunk - Too big for current filter"),
            (*pieces[1], "ERR received bad data")):
        assert error("BF.LOADCHUNK", "f", iterator, data) == wording, (iterator, data)
    assert call("DUMP", "f") == before
    call("CF.ADD", "c", "a")
    header, chunk = compatible.pieces("CF", "c")[:2]
    assert error("CF.LOADCHUNK", "c", *header) == "ERR item exists"
    assert error("CF.LOADCHUNK", "c", *chunk) == "Couldn't load chunk!"
    # The first piece.
    assert error("BF.LOADCHUNK", "none", 1, b"x") == "ERR received bad data"
    assert error("BF.LOADCHUNK", "none", 2, b"x") == "ERR not found"
    assert error("CF.LOADCHUNK", "none", 1, header[1][:-1]) == "Invalid header"
    assert error("CF.LOADCHUNK", "none", 1, bytes(38)) == "Couldn't create filter!"
    assert error("CF.LOADCHUNK", "none", 2, chunk[1]) == "ERR not found"


def test_debug_tells_of_each_part(compatible):
    compatible.call("BF.RESERVE", "f", "0.01", "100")
    compatible.call("BF.MADD", "f", *range(150))
    assert compatible.call("BF.CARD", "f") == 150
    assert compatible.call("BF.DEBUG", "f") == [
        b"size:150",
        b"bytes:144 bits:1152 hashes:8 hashwidth:64 capacity:100 size:100 ratio:0.005",
        b"bytes:312 bits:2496 hashes:9 hashwidth:64 capacity:200 size:50 ratio:0.0025"]
    compatible.call("CF.RESERVE", "c", "100", "BUCKETSIZE", "4")
    compatible.call("CF.INSERT", "c", "ITEMS", "a", "b", "c")
    compatible.call("CF.DEL", "c", "a")
    assert compatible.call("CF.DEBUG", "c") == \
        b"bktsize:4 buckets:32 items:2 deletes:1 filters:1 max_iterations:20 expansion:1"
    for family in ("BF", "CF"):
        compatible.call(family + ".RESERVE", "n", *(["0.01"] if family == "BF" else []), "100", "ENGINE",
                        "NATIVE")
        assert compatible.error(family + ".DEBUG", "n") == \
            f"ERR not a compatible filter; see {family}.STATS"
        assert compatible.error(family + ".DEBUG", "none") == "ERR not found"
        compatible.call("DEL", "n")


def test_compatible_filters_have_redisblooms_sizes(compatible):
    """Without a limit, sizes are bounded by memory only, as in RedisBloom."""
    memory = compatible.client.info("memory")
    if memory["total_system_memory"] - memory["used_memory"] < 3 << 30:
        pytest.skip("this machine has no room for them")
    # Pages of empty filters are not touched. Native filters of such sizes need the setting.
    compatible.call("BF.RESERVE", "f", "0.01", str(1 << 30))
    compatible.call("CF.RESERVE", "c", str(1 << 30))
    assert compatible.call("BF.INFO", "f", "CAPACITY") == [1 << 30]
    assert compatible.call("CF.INFO", "c")[3] == 1 << 29
    compatible.call("DEL", "f", "c")
    assert compatible.error("BF.RESERVE", "f", "0.01", str(1 << 30), "ENGINE", "NATIVE") == TOO_LARGE_BY_DEFAULT
    compatible.call("CONFIG", "SET", "bf.max-filter-size", "1gb")
    assert compatible.error("BF.RESERVE", "f", "0.01", str(1 << 30)) == TOO_LARGE
    compatible.call("CONFIG", "SET", "bf.max-filter-size", "0")


def test_replicas_are_told_the_expansion_of_a_filter_that_does_not_grow(start):
    primary = start("--repl-diskless-sync-delay", "0", module_arguments=["engine", "compatible"])
    replica = start("--replicaof", f"127.0.0.1 {primary.port}", module_arguments=["expansion-factor", "7"])
    wait_for_replica(replica)
    primary.call("BF.INSERT", "f", "NONSCALING", "EXPANSION", "4", "ITEMS", "a")
    primary.call("BF.INSERT", "g", "NONSCALING", "ITEMS", "a")
    primary.call("BF.RESERVE", "h", "0.01", "100", "NONSCALING")
    primary.call("CONFIG", "SET", "bf.expansion-factor", "5")
    primary.call("BF.RESERVE", "i", "0.01", "100", "NONSCALING")
    primary.call("BF.RESERVE", "j", "0.01", "100", "EXPANSION", "0")
    told = [int.from_bytes(primary.call("BF.SCANDUMP", key, 0)[1][16:20], "little") for key in "fghij"]
    assert told == [4, 2, 2, 5, 0]  # as in RedisBloom's header
    assert primary.call("WAIT", 1, 20_000) == 1
    assert dumps(replica) == dumps(primary)


def test_insert_chooses_the_engine(server, compatible):
    for place, other in ((server, "COMPATIBLE"), (compatible, "NATIVE")):
        for words in (["ENGINE", other], [other], [other.lower()]):
            place.call("FLUSHALL", "SYNC")
            place.call("BF.INSERT", "f", *words, "ITEMS", "ENGINE")
            place.call("CF.INSERT", "c", *words, "CAPACITY", "100", "ITEMS", "a")
            place.call("CF.INSERTNX", "d", "CAPACITY", "100", *words, "ITEMS", "a")
            for key in "fcd":
                assert is_compatible(place, key) == (other == "COMPATIBLE")
    for command in ("BF.INSERT", "CF.INSERT"):
        assert "ENGINE is NATIVE or" in server.error(command, "x", "ENGINE", "other", "ITEMS", "a")
        assert "one engine" in server.error(command, "x", "NATIVE", "ENGINE", "COMPATIBLE", "ITEMS", "a")
    assert "no such option" in server.error("BF.INSERT", "x", "DELETABLE", "COMPATIBLE", "ITEMS", "a")
    assert "no such option" in server.error("BF.INSERT", "x", "COMPATIBLE", "WINDOW", "9", "ITEMS", "a")
    assert server.call("EXISTS", "x") == 0


def test_stats_are_near_the_truth(compatible):
    items = [f"m{i}" for i in range(3000)]
    compatible.call("BF.RESERVE", "f", "0.01", "100")
    compatible.call("BF.MADD", "f", *items)
    compatible.call("CF.RESERVE", "c", "4096")
    compatible.call("CF.INSERT", "c", "ITEMS", *items)
    for key, name in (("f", "BF"), ("c", "CF")):
        requested, now, estimated, bits = map(float, compatible.call(name + ".STATS", key)[1::2])
        assert abs(estimated - 3000) < 60
        non_members = compatible.call(name + ".MEXISTS", key, *(f"q{i}" for i in range(50_000)))
        # 50,000 trials at the rate: within six standard deviations (probability of failure below 1e-8).
        assert abs(sum(non_members) - 50_000 * now) < 6 * (50_000 * now) ** 0.5
        assert now <= 1.1 * requested and bits > 8


def test_stats_tell_items_that_seemed_to_be_there_and_copies_once(compatible):
    """A chain's deviation is below 0.67 sqrt(n) / (1 - rate), 1.3%: six are 8%. Without what seemed to
    be in an older link it would be a fifth too low."""
    items = [f"m{i}" for i in range(5000)]
    compatible.call("BF.RESERVE", "f", "0.25", "100")
    compatible.call("BF.MADD", "f", *items)
    assert abs(float(compatible.call("BF.STATS", "f")[5]) - 5000) < 400
    compatible.call("CF.RESERVE", "c", "65536", "BUCKETSIZE", "8")
    for _ in range(2):
        compatible.call("CF.INSERT", "c", "ITEMS", *items)
    assert compatible.call("CF.INFO", "c")[7] == 10_000
    # Of a million fingerprints in pairs of buckets: a deviation of 4 items.
    assert compatible.call("CF.INFO", "c")[5] == 1
    assert abs(float(compatible.call("CF.STATS", "c")[5]) - 5000) < 30


def test_redis_py_speaks_to_it(compatible):
    bf, cf = compatible.client.bf(), compatible.client.cf()
    assert bf.create("f", 0.01, 100)
    assert bf.madd("f", "a", "b") == [1, 1]
    assert bf.info("f").insertedNum == 2 and bf.info("f").expansionRate == 2
    assert cf.create("c", 100)
    assert cf.add("c", "a") == 1 and cf.count("c", "a") == 1 and cf.delete("c", "a") == 1
    cf.add("c", "b")
    for helper, key in ((bf, "f"), (cf, "c")):
        assert_moves(compatible, helper, key)
        compatible.call("DEL", "again")


# Saved, copied, replicated ------------------------------------------------------------------------


def fill(server):
    for i, vector in enumerate(NEW):
        for command in vector["commands"]:
            server.call(command[0], f"{family(vector)}{i}", *command[2:])
    server.call("BF.RESERVE", "BFempty", "0.01", "1000", "COMPATIBLE")
    server.call("CF.RESERVE", "CFempty", "1000", "ENGINE", "COMPATIBLE")
    for vector in OLD:
        server.call("RESTORE", vector["filter"], 0, vector["dump"])


def dumps(server):
    return {key: server.call("DUMP", key) for key in sorted(server.call("KEYS", "*"))}


@pytest.mark.parametrize("preamble", ["yes", "no"])
def test_files_hold_them(start, preamble):
    server = start("--appendonly", "yes", "--aof-use-rdb-preamble", preamble,
                   module_arguments=["engine", "compatible"])
    fill(server)
    # A dump that is arriving keeps its pieces and accepts the others.
    vector = NEW[0]
    pieces = server.pieces("BF", "BF0")
    for iterator, data in pieces[:3]:
        server.call("BF.LOADCHUNK", "arriving", iterator, data)
    before, digest = dumps(server), server.call("DEBUG", "DIGEST")
    server.restart()
    assert dumps(server) == before
    server.call("CONFIG", "SET", "bf.engine", "native")
    server.rewrite_append_only_file()
    server.restart()
    assert dumps(server) == before
    assert server.call("DEBUG", "DIGEST") == digest
    assert server.error("BF.EXISTS", "arriving", "a").startswith("ERR the filter is being loaded")
    assert "being loaded" in server.error("BF.ADD", "arriving", "a")
    server.call("EXPIRE", "arriving", 1000)
    for iterator, data in pieces[3:]:
        server.call("BF.LOADCHUNK", "arriving", iterator, data)
    assert 900 < server.call("TTL", "arriving") <= 1000
    assert server.call("DUMP", "arriving") == server.call("DUMP", "BF0")
    assert found(server, vector, "arriving") == list(members(vector["found"]))


def test_copies_digests_and_memory(compatible):
    fill(compatible)
    for key, payload in dumps(compatible).items():
        assert compatible.call("COPY", key, "copied") == 1
        assert compatible.call("DUMP", "copied") == payload
        digest = compatible.call("DEBUG", "DIGEST-VALUE", key)
        assert compatible.call("DEBUG", "DIGEST-VALUE", "copied") == digest
        if b"CF" in key or b"cuckoo" in key:
            changed = compatible.call("CF.INSERT", "copied", "ITEMS", "a") == [1]
        else:
            changed = compatible.call("BF.INSERT", "copied", "ITEMS", "a") == [1]
        assert (compatible.call("DEBUG", "DIGEST-VALUE", "copied") != digest) == changed
        assert compatible.call("DUMP", key) == payload
        assert compatible.call("MEMORY", "USAGE", key) > len(payload) - 100
        compatible.call("DEL", "copied")
    used = compatible.client.info("memory")["used_memory"]
    compatible.call("BF.RESERVE", "large", "0.01", "10000000")
    grown = compatible.client.info("memory")["used_memory"] - used
    assert 13_000_000 < compatible.call("MEMORY", "USAGE", "large") < grown * 1.1 + 10_000
    compatible.call("UNLINK", "large")


def test_replicas_with_other_settings_hold_the_same_bytes(start):
    primary = start("--repl-diskless-sync-delay", "0", module_arguments=["engine", "compatible"])
    fill(primary)
    replica = start("--replicaof", f"127.0.0.1 {primary.port}",
                    module_arguments=["ERROR_RATE", "0.2", "INITIAL_SIZE", "7", "EXPANSION", "0",
                                      "cf-max-expansions", "1", "max-filter-size", "65536",
                                      "cf-bucket-size", "4", "cf-initial-size", "50"])
    wait_for_replica(replica)
    items = [f"m{i}" for i in range(3000)]
    primary.call("BF.MADD", "made here", *items)
    primary.call("BF.RESERVE", "fixed", "0.01", "10", "NONSCALING")
    primary.call("BF.MADD", "fixed", *items[:30])
    primary.call("BF.RESERVE", "fixed too", "0.01", "10", "EXPANSION", "0")
    primary.call("BF.RESERVE", "large", "0.0001", "100000")
    primary.call("CF.RESERVE", "cuckoo", "64", "EXPANSION", "2", "BUCKETSIZE", "3")
    primary.call("CF.INSERT", "cuckoo", "ITEMS", *items)
    primary.call("CF.INSERTNX", "cuckoo", "ITEMS", *items[:50], "new1", "new2")
    for item in items[:1500]:
        primary.call("CF.DEL", "cuckoo", item)
    primary.call("CF.COMPACT", "cuckoo")
    primary.call("CF.ADD", "cuckoo made here", "a")
    primary.call("BF.RESERVE", "native", "0.01", "100", "ENGINE", "NATIVE")
    replica.call("CONFIG", "SET", "bf.engine", "compatible")
    primary.call("CF.RESERVE", "native cuckoo", "100", "ENGINE", "NATIVE")
    for iterator, data in primary.pieces("BF", "BF0"):
        primary.call("BF.LOADCHUNK", "loaded", iterator, data)
    assert primary.call("WAIT", 1, 20_000) == 1
    assert dumps(replica) == dumps(primary)
    assert replica.call("DEBUG", "DIGEST") == primary.call("DEBUG", "DIGEST")


def test_what_redisbloom_can_follow(start):
    """As a replica it takes up to seven words in BF.RESERVE and an odd number in CF.RESERVE."""
    # "always": otherwise a slow disk delays the log by up to two seconds after the reply.
    server = start("--appendonly", "yes", "--appendfsync", "always", "--aof-use-rdb-preamble", "no",
                   module_arguments=["engine", "compatible"])
    server.call("BF.ADD", "f", "a")
    server.call("BF.RESERVE", "g", "0.01", "10", "NONSCALING")
    server.call("CF.ADD", "c", "a")
    log = b"".join(path.read_bytes() for path in (server.folder / "appendonlydir").glob("*.incr.aof"))
    arrays = re.findall(rb"\*(\d+)\r\n\$10\r\n([BC]F)\.RESERVE\r\n", log)
    assert arrays == [(b"7", b"BF"), (b"7", b"BF"), (b"11", b"CF")]
