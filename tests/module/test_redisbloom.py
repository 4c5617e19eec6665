"""RedisBloom's filters: made, asked, saved and moved as RedisBloom does.

The vectors are what RedisBloom itself wrote and answered (redisbloom_vectors.txt says how they came to be).
"""

import pathlib
import random
import re
import struct

import pytest
import redis

from test_storage import sealed, use, wait_for

FOOTER = 10  # of DUMP's payload: the RDB's version and a checksum


def members(words):
    """`m0..m2 x` as m0 m1 m2 x."""
    for word in words.split():
        found = re.fullmatch(r"([a-z])(\d+)\.\.\1(\d+)", word)
        if found:
            yield from (found[1] + str(i) for i in range(int(found[2]), int(found[3]) + 1))
        else:
            yield word


def read_vectors():
    vectors = []
    text = (pathlib.Path(__file__).parent / "redisbloom_vectors.txt").read_text()
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        field, _, value = line.partition(": ")
        if field == "filter":
            vectors.append({"filter": value, "commands": []})
        elif field == "command":
            vectors[-1]["commands"].append(list(members(value)))
        elif field == "each":
            command, key, *items = members(value)
            vectors[-1]["commands"] += [[command, key, item] for item in items]
        elif field in ("dump", "header"):
            vectors[-1][field] = bytes.fromhex(value)
        else:
            vectors[-1][field] = value
    return vectors


VECTORS = read_vectors()
NEW = [v for v in VECTORS if v["by"] == "RedisBloom 8.9"]
OLD = [v for v in VECTORS if v not in NEW]
PROBES = [f"{letter}{i}" for letter in "mq" for i in range(300)]


def family(vector):
    return vector["commands"][0][0][:2]


def found(server, vector, key):
    answers = server.call(family(vector) + ".MEXISTS", key, *PROBES)
    return [probe for probe, answer in zip(PROBES, answers) if answer]


def pieces_of(server, vector, key):
    pieces, iterator = [], 0
    while True:
        iterator, data = server.call(family(vector) + ".SCANDUMP", key, iterator)
        if iterator == 0:
            return pieces
        pieces.append((iterator, data))


@pytest.fixture(scope="module")
def compatible_server(tmp_path_factory):
    from conftest import Server
    server = Server(tmp_path_factory.mktemp("compatible"), "--rdbcompression", "no",
                    module_arguments=["engine", "compatible"])
    yield server
    server.stop()


@pytest.fixture
def compatible(compatible_server):
    compatible_server.call("FLUSHALL")
    yield compatible_server
    assert compatible_server.process.poll() is None, compatible_server.log()[-4000:]


def named(vectors):
    return pytest.mark.parametrize("vector", vectors, ids=[v["filter"] for v in vectors])


# The same bytes and answers as RedisBloom ---------------------------------------------------------

@named(NEW)
def test_the_same_commands_make_the_same_bytes(compatible, vector):
    for command in vector["commands"]:
        compatible.call(*command)
    assert compatible.call("DUMP", "k")[:-FOOTER] == vector["dump"][:-FOOTER]
    info = compatible.call(family(vector) + ".INFO", "k")[1::2]
    assert " ".join("nil" if x is None else str(x) for x in info) == vector["info"]
    pieces = pieces_of(compatible, vector, "k")
    assert pieces[0][1] == vector["header"]
    assert [iterator for iterator, _ in pieces] == [int(i) for i in vector["iterators"].split()]
    assert found(compatible, vector, "k") == list(members(vector["found"]))
    if "copies" in vector:
        assert [compatible.call("CF.COUNT", "k", f"m{i}") for i in range(60)] == \
            [int(n) for n in vector["copies"].split()]


@named(VECTORS)
def test_what_redisbloom_dumped_answers_as_before(server, vector):
    """Also where the setting is native, and of every version of its format."""
    server.call("CONFIG", "SET", "rdbcompression", "no")
    server.call("RESTORE", "k", 0, vector["dump"])
    assert found(server, vector, "k") == list(members(vector["found"]))
    again = server.call("DUMP", "k")
    if vector in NEW:
        assert again[:-FOOTER] == vector["dump"][:-FOOTER]
    server.call("RESTORE", "once more", 0, again)
    assert server.call("DUMP", "once more") == again
    assert found(server, vector, "once more") == list(members(vector["found"]))
    # And through SCANDUMP, whose header it has, too: as it was, but that older chains get a newer one, and
    # that older cuckoo filters did not save the number of deletes.
    pieces = pieces_of(server, vector, "k")
    if vector in NEW:
        assert pieces[0][1] == vector["header"]
    elif family(vector) == "CF":
        assert pieces[0][1] == vector["header"][:16] + b"\0" * 8 + vector["header"][24:]
    for iterator, data in pieces:
        server.call(family(vector) + ".LOADCHUNK", "loaded", iterator, data)
    assert server.call("DUMP", "loaded") == again
    # It goes on: what is added is found, and nothing is lost.
    more = [f"more{i}" for i in range(300)]
    if vector["filter"].endswith("does not grow"):
        return
    if family(vector) == "BF":
        server.call("BF.MADD", "k", *more)
    else:
        server.call("CONFIG", "SET", "bf.cf-max-expansions", 1000)
        server.call("CF.INSERT", "k", "ITEMS", *more)
        server.call("CONFIG", "SET", "bf.cf-max-expansions", 32)
    assert server.call(family(vector) + ".MEXISTS", "k", *more) == [1] * len(more)
    assert set(found(server, vector, "k")) >= set(members(vector["found"]))


@named([v for v in OLD if v["filter"].startswith("chain")])
def test_older_headers_of_chains_are_taken(server, vector):
    """With the bits of the same filter."""
    server.call("RESTORE", "k", 0, vector["dump"])
    payload = pieces_of(server, vector, "k")[1:]
    server.call("BF.LOADCHUNK", "loaded", 1, vector["header"])
    for iterator, data in payload:
        server.call("BF.LOADCHUNK", "loaded", iterator, data)
    assert server.call("DUMP", "loaded") == server.call("DUMP", "k")


def test_a_cuckoo_filter_of_before_2_2_is_saved_as_nothing_that_redisbloom_would_misread(server):
    """Its items are where RedisBloom no longer looks, so there it must not load: a filter of no
    sub-filters is an error to it."""
    vector = next(v for v in OLD if family(v) == "CF")
    server.call("RESTORE", "k", 0, vector["dump"])
    payload = server.call("DUMP", "k")
    # Type of a value, 9 bytes of module and version, then "an integer follows": 2, and 0.
    assert payload[10:12] == bytes([2, 0])


# Which engine -------------------------------------------------------------------------------------

def is_compatible(server, key):
    return b"BLMRYDMP" not in server.call("DUMP", key)


def test_the_setting_and_the_option_choose_the_engine(start):
    server = start("--rdbcompression", "no")
    for engine in ("compatible", "native"):
        server.call("CONFIG", "SET", "bf.engine", engine)
        assert server.client.config_get("bf.engine") == {"bf.engine": engine}
        server.call("FLUSHALL")
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
        # What RedisBloom does not have is native.
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
    assert "their engine has no merge" in compatible.error("BF.MERGE", "f", "g")
    assert "its engine is native, not compatible" in compatible.error("BF.MERGE", "f", "n")
    assert "its engine is compatible, not native" in compatible.error("BF.MERGE", "n", "f")
    assert dumps(compatible) == before
    compatible.call("BF.MERGE", "copy", "f")
    assert compatible.call("DUMP", "copy") == compatible.call("DUMP", "f")


def test_a_wrong_engine_behind_loadmodule_is_refused(start):
    with pytest.raises(AssertionError, match="engine is native or compatible"):
        start(module_arguments=["engine", "other"])


def test_native_dumps_load_where_the_setting_is_compatible(server, compatible):
    for name, fill in (("BF", ["BF.MADD"]), ("CF", ["CF.INSERT"])):
        command, key = fill[0], name
        server.call(command, key, *(["ITEMS"] if name == "CF" else []),
                    *(f"m{i}" for i in range(400)))
        compatible.call("RESTORE", key, 0, server.call("DUMP", key))
        iterator = 0
        while True:
            iterator, data = server.call(name + ".SCANDUMP", key, iterator)
            if iterator == 0:
                break
            compatible.call(name + ".LOADCHUNK", "loaded", iterator, data)
        assert compatible.call("DUMP", "loaded") == compatible.call("DUMP", key)
        assert compatible.call(name + ".MEXISTS", "loaded", *(f"m{i}" for i in range(400))) == \
            [1] * 400
        compatible.call("DEL", "loaded")


# As clients see it --------------------------------------------------------------------------------

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
    assert error("CF.LOADCHUNK", "new", 1, b"\0" * 38) == "Invalid header"
    call("CF.RESERVE", "small", "4")
    with pytest.raises(redis.ResponseError, match="Maximum expansions reached"):
        for i in range(1000):
            call("CF.INSERT", "small", "ITEMS", *(f"{i}:{k}" for k in range(8)))
    assert call("CF.INFO", "small")[5] >= 32


def test_stats_are_near_the_truth(compatible):
    items = [f"m{i}" for i in range(3000)]
    compatible.call("BF.RESERVE", "f", "0.01", "100")
    compatible.call("BF.MADD", "f", *items)
    compatible.call("CF.RESERVE", "c", "4096")
    compatible.call("CF.INSERT", "c", "ITEMS", *items)
    for key, name in (("f", "BF"), ("c", "CF")):
        requested, now, estimated, bits = map(float, compatible.call(name + ".STATS", key)[1::2])
        assert abs(estimated - 3000) < 60
        strangers = compatible.call(name + ".MEXISTS", key, *(f"q{i}" for i in range(50_000)))
        # 50,000 trials at the rate: within six standard deviations (chance below 1e-8).
        assert abs(sum(strangers) - 50_000 * now) < 6 * (50_000 * now) ** 0.5
        assert now <= 1.1 * requested and bits > 8


def test_redis_py_speaks_to_it(compatible):
    bf, cf = compatible.client.bf(), compatible.client.cf()
    assert bf.create("f", 0.01, 100)
    assert bf.madd("f", "a", "b") == [1, 1]
    assert bf.info("f").insertedNum == 2 and bf.info("f").expansionRate == 2
    assert cf.create("c", 100)
    assert cf.add("c", "a") == 1 and cf.count("c", "a") == 1 and cf.delete("c", "a") == 1
    for make, name in ((bf, "f"), (cf, "c")):
        cf.add("c", "b")
        iterator = 0
        while True:
            iterator, data = make.scandump(name, iterator)
            if iterator == 0:
                break
            make.loadchunk("copy of " + name, iterator, data)
        assert compatible.call("DUMP", "copy of " + name) == compatible.call("DUMP", name)


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
    # One that is arriving: neither half of it nor the rest is lost.
    vector = NEW[0]
    pieces = pieces_of(server, vector, "BF0")
    for iterator, data in pieces[:3]:
        server.call("BF.LOADCHUNK", "arriving", iterator, data)
    before, digest = dumps(server), server.call("DEBUG", "DIGEST")
    server.restart()
    assert dumps(server) == before
    server.call("CONFIG", "SET", "bf.engine", "native")
    server.client.bgrewriteaof()
    while server.client.info("persistence")["aof_rewrite_in_progress"] or \
            server.client.info("persistence")["aof_rewrite_scheduled"]:
        pass
    assert server.client.info("persistence")["aof_last_bgrewrite_status"] == "ok"
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
    wait_for(replica)
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
    vector = NEW[0]
    for iterator, data in pieces_of(primary, vector, "BF0"):
        primary.call("BF.LOADCHUNK", "loaded", iterator, data)
    assert primary.call("WAIT", 1, 20_000) == 1
    assert dumps(replica) == dumps(primary)
    assert replica.call("DEBUG", "DIGEST") == primary.call("DEBUG", "DIGEST")


def test_what_redisbloom_can_follow(start):
    """As a replica it takes up to seven words in BF.RESERVE and an odd number in CF.RESERVE."""
    server = start("--appendonly", "yes", "--aof-use-rdb-preamble", "no",
                   module_arguments=["engine", "compatible"])
    server.call("BF.ADD", "f", "a")
    server.call("BF.RESERVE", "g", "0.01", "10", "NONSCALING")
    server.call("CF.ADD", "c", "a")
    log = b"".join(path.read_bytes() for path in (server.folder / "appendonlydir").glob("*.incr.aof"))
    arrays = re.findall(rb"\*(\d+)\r\n\$10\r\n([BC]F)\.RESERVE\r\n", log)
    assert arrays == [(b"7", b"BF"), (b"6", b"BF"), (b"11", b"CF")]


# Hostile bytes and limits -------------------------------------------------------------------------

@named(VECTORS)
def test_changed_payloads_are_refused_or_filters(server, vector):
    server.call("CONFIG", "SET", "rdbcompression", "no")
    payload = vector["dump"]
    chosen = random.Random(17)
    outcomes = set()
    for at in [*range(10, min(200, len(payload) - FOOTER))] + \
            [chosen.randrange(10, len(payload) - FOOTER) for _ in range(50)]:
        changed = bytearray(payload)
        changed[at] = chosen.choice([0, 1, 255, 0x80, 0x81, changed[at] ^ 1 << chosen.randrange(8)])
        if changed == payload:
            continue
        try:
            server.call("RESTORE", "hostile", 0, sealed(bytes(changed)))
            outcomes.add("taken")
        except redis.ResponseError:
            outcomes.add("refused")
        use(server, "hostile")
    for end in range(10, len(payload) - FOOTER - 1, 7):
        with pytest.raises(redis.ResponseError):
            server.call("RESTORE", "hostile", 0, sealed(payload[:end] + payload[-FOOTER:]))
    assert outcomes == {"taken", "refused"}


@named(VECTORS)
def test_changed_headers_are_refused_or_filters(server, vector):
    server.call("RESTORE", "k", 0, vector["dump"])
    pieces = pieces_of(server, vector, "k")
    header = pieces[0][1]
    chosen = random.Random(19)
    refused = 0
    used = server.client.info("memory")["used_memory"]
    for at in [*range(len(header))] * 2:
        changed = bytearray(header)
        changed[at] = chosen.choice([0, 1, 255, 0x7f, 0x80, changed[at] ^ 1 << chosen.randrange(8)])
        try:
            for iterator, data in [(1, bytes(changed))] + pieces[1:]:
                server.call(family(vector) + ".LOADCHUNK", "hostile", iterator, data)
        except redis.ResponseError:
            refused += 1
        use(server, "hostile")
    assert refused > 10
    assert server.client.info("memory")["used_memory"] < used + (1 << 20)
    # Pieces at any place.
    server.call(family(vector) + ".LOADCHUNK", "hostile", 1, header)
    for iterator in (-1, 0, 1, 2, 3, 1 << 62, -(1 << 63), (1 << 63) - 1):
        for data in (b"", b"x", header, b"x" * 5000):
            try:
                server.call(family(vector) + ".LOADCHUNK", "hostile", iterator, data)
            except redis.ResponseError:
                pass
    use(server, "hostile")


def test_a_short_header_cannot_promise_much(server):
    """Bounds before multiplication: sizes whose products overflow, and many sub-filters."""
    def cuckoo(buckets, filters, expansion, bucket_size=2):
        return struct.pack("<QQQQHHH", 1, buckets, 0, filters, bucket_size, 20, expansion)

    used = server.client.info("memory")["used_memory"]
    for header in (cuckoo(1 << 63, 1, 1), cuckoo(1 << 56, 2, 32768), cuckoo(0, 1, 1),
                   cuckoo(3, 1, 1), cuckoo(4, 0, 1), cuckoo(4, 2, 0), cuckoo(4, 2, 3),
                   cuckoo(4, 1 << 16, 1), cuckoo(4, (1 << 32) + 1, 1), cuckoo(4, 65535, 2),
                   cuckoo(1 << 32, 1, 1), cuckoo(4, 1, 1, 256), cuckoo(4, 1, 1, 0)):
        assert server.error("CF.LOADCHUNK", "hostile", 1, header) == "Invalid header"
    assert "Insufficient memory" in server.error("CF.LOADCHUNK", "hostile", 1, cuckoo(1 << 31, 1, 1))
    server.call("CF.LOADCHUNK", "many", 1, cuckoo(1 << 10, 65535, 1))
    server.call("BF.RESERVE", "f", "0.01", "10", "ENGINE", "COMPATIBLE")
    good = server.call("BF.SCANDUMP", "f", 0)[1]
    link = struct.unpack_from("<QQQddIQB", good, 20)

    def chain(**changes):
        names = ("size", "bits", "items", "rate", "bpe", "hashes", "capacity", "log2")
        values = {**dict(zip(names, link)), **changes}
        return good[:20] + struct.pack("<QQQddIQB", *(values[name] for name in names))

    assert chain() == good
    nan, infinity = float("nan"), float("inf")
    for header in (chain(size=1 << 61, bits=0), chain(size=1 << 60, bits=1 << 63), chain(bits=0),
                   chain(bits=1 << 63), chain(rate=nan), chain(rate=0.0), chain(rate=1.0),
                   chain(bpe=nan), chain(bpe=infinity), chain(bpe=-1.0), chain(hashes=0),
                   chain(hashes=1 << 31), chain(log2=64), chain(log2=63), chain(items=1), good[:-1],
                   good + good[20:], good[:8] + b"\0" * 4 + good[12:],
                   good[:12] + b"\xff" * 4 + good[16:]):
        assert server.error("BF.LOADCHUNK", "hostile", 1, header) == "ERR received bad data"
    large = chain(size=1 << 40, bits=1 << 43)
    assert "Insufficient memory" in server.error("BF.LOADCHUNK", "hostile", 1, large)
    assert server.client.info("memory")["used_memory"] < used + (1 << 19)
    assert server.call("EXISTS", "hostile") == 0


def test_compatible_filters_keep_to_the_limits(start):
    server = start("--rdbcompression", "no",
                   module_arguments=["engine", "compatible", "max-filter-size", "300000"])
    for command in (["BF.RESERVE", "f", "0.01", "1000000"],
                    ["BF.INSERT", "f", "CAPACITY", "1073741824", "ITEMS", "a"],
                    ["CF.RESERVE", "f", "1073741824"], ["CF.RESERVE", "f", "400000"]):
        assert server.error(*command) == "ERR Insufficient memory to create filter"
    server.call("BF.RESERVE", "f", "0.01", "10", "EXPANSION", "32768")
    with pytest.raises(redis.ResponseError, match="it has reached bf.max-filter-size"):
        for i in range(20_000):
            server.call("BF.ADD", "f", f"m{i}")
            assert i < 5000
    assert server.call("BF.EXISTS", "f", "m0") == 1
    server.call("CF.RESERVE", "c", "64", "EXPANSION", "32768")
    with pytest.raises(redis.ResponseError, match="Maximum expansions reached"):
        for i in range(1000):
            server.call("CF.ADD", "c", f"m{i}")
    assert server.call("MEMORY", "USAGE", "f") < 300_000
    assert server.call("MEMORY", "USAGE", "c") < 300_000
    # Capacities that overflow as they are multiplied.
    server.call("CONFIG", "SET", "bf.max-filter-size", str(1 << 62))
    server.call("BF.RESERVE", "g", "0.25", "1", "EXPANSION", "32768")
    with pytest.raises(redis.ResponseError, match="problem inserting into filter|Insufficient"):
        server.call("BF.ADD", "g", "a")
        header = bytearray(server.call("BF.SCANDUMP", "g", 0)[1])
        header[20 + 44:20 + 52] = struct.pack("<Q", 1 << 60)  # the link's capacity
        header[0:8] = header[36:44] = struct.pack("<Q", 1 << 60)  # and it is full
        server.call("BF.LOADCHUNK", "h", 1, bytes(header))
        server.call("BF.LOADCHUNK", "h", *server.call("BF.SCANDUMP", "g", 1))
        for i in range(50):
            server.call("BF.ADD", "h", f"m{i}")
    assert server.call("BF.EXISTS", "h", "a") == 1
