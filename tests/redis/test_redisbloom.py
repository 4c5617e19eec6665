"""RedisBloom's bytes are written and read as by RedisBloom, and refused if damaged."""

import random
import struct

import pytest
import redis

from conftest import NO_ROOM, TOO_LARGE, wait_for_replica
from redisbloom import FOOTER, NEW, OLD, VECTORS, family, found, members, named
from test_storage import use

# The same bytes and answers as RedisBloom ---------------------------------------------------------


@named(NEW)
def test_the_same_commands_make_the_same_bytes(compatible, vector):
    for command in vector["commands"]:
        compatible.call(*command)
    assert compatible.call("DUMP", "k")[:-FOOTER] == vector["dump"][:-FOOTER]
    info = compatible.call(family(vector) + ".INFO", "k")[1::2]
    assert " ".join("nil" if x is None else str(x) for x in info) == vector["info"]
    pieces = compatible.pieces(family(vector), "k")
    assert pieces[0][1] == vector["header"]
    assert [iterator for iterator, _ in pieces] == [int(i) for i in vector["iterators"].split()]
    assert found(compatible, vector, "k") == list(members(vector["found"]))
    if "copies" in vector:
        assert [compatible.call("CF.COUNT", "k", f"m{i}") for i in range(60)] == \
            [int(n) for n in vector["copies"].split()]


@named(VECTORS)
def test_what_redisbloom_dumped_answers_as_before(server, vector):
    """Also if the setting is native, and for every version of the format."""
    server.call("CONFIG", "SET", "rdbcompression", "no")
    server.call("RESTORE", "k", 0, vector["dump"])
    assert found(server, vector, "k") == list(members(vector["found"]))
    again = server.call("DUMP", "k")
    if vector in NEW:
        assert again[:-FOOTER] == vector["dump"][:-FOOTER]
    server.call("RESTORE", "once more", 0, again)
    assert server.call("DUMP", "once more") == again
    assert found(server, vector, "once more") == list(members(vector["found"]))
    # SCANDUMP returns the same header, with two exceptions: older chains get a newer one, and older
    # cuckoo filters did not save the number of deletes.
    pieces = server.pieces(family(vector), "k")
    if vector in NEW:
        assert pieces[0][1] == vector["header"]
    elif family(vector) == "CF":
        assert pieces[0][1] == vector["header"][:16] + b"\0" * 8 + vector["header"][24:]
    for iterator, data in pieces:
        server.call(family(vector) + ".LOADCHUNK", "loaded", iterator, data)
    assert server.call("DUMP", "loaded") == again
    # The filter accepts items, finds them, and loses none.
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
    payload = server.pieces(family(vector), "k")[1:]
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
            server.call("RESTORE", "hostile", 0, bytes(changed))
            outcomes.add("taken")
        except redis.ResponseError:
            outcomes.add("refused")
        use(server, "hostile")
    for end in range(10, len(payload) - FOOTER - 1, 7):
        with pytest.raises(redis.ResponseError):
            server.call("RESTORE", "hostile", 0, payload[:end] + payload[-FOOTER:])
    assert outcomes == {"taken", "refused"}


@named(VECTORS)
def test_changed_headers_are_refused_or_filters(server, vector):
    server.call("RESTORE", "k", 0, vector["dump"])
    pieces = server.pieces(family(vector), "k")
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
    server.call("CONFIG", "SET", "bf.max-filter-size", "1gb")
    assert server.error("CF.LOADCHUNK", "hostile", 1, cuckoo(1 << 31, 1, 1)) == TOO_LARGE
    server.call("CONFIG", "SET", "bf.max-filter-size", "0")
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
    assert server.error("BF.LOADCHUNK", "hostile", 1, large) == NO_ROOM
    assert server.client.info("memory")["used_memory"] < used + (1 << 19)
    assert server.call("EXISTS", "hostile") == 0


def test_compatible_filters_keep_to_the_limits(start):
    server = start("--rdbcompression", "no",
                   module_arguments=["engine", "compatible", "max-filter-size", "300000"])
    for command in (["BF.RESERVE", "f", "0.01", "1000000"],
                    ["BF.INSERT", "f", "CAPACITY", "1073741824", "ITEMS", "a"],
                    ["CF.RESERVE", "f", "1073741824"], ["CF.RESERVE", "f", "400000"]):
        assert server.error(*command) == TOO_LARGE
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


# What RedisBloom repaired in 2026 ------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["native", "compatible"])
def test_pieces_of_cuckoo_filters_reach_replicas_and_the_append_only_file(start, engine):
    """RedisBloom before 8.10 sends the header only (#1014): its replicas have an empty filter."""
    primary = start("--appendonly", "yes", "--aof-use-rdb-preamble", "no", module_arguments=["engine", engine])
    replica = start()
    replica.call("REPLICAOF", "127.0.0.1", primary.port)
    wait_for_replica(replica)
    items = [f"m{i}" for i in range(1000)]
    primary.call("CF.INSERT", "source", "ITEMS", *items)
    for iterator, data in primary.pieces("CF", "source"):
        primary.call("CF.LOADCHUNK", "loaded", iterator, data)
    primary.call("WAIT", 1, 60_000)
    assert replica.call("CF.MEXISTS", "loaded", *items) == [1] * len(items)
    assert replica.call("DUMP", "loaded") == primary.call("DUMP", "loaded")
    primary.restart()
    assert primary.call("CF.MEXISTS", "loaded", *items) == [1] * len(items)


@pytest.mark.parametrize("engine", ["native", "compatible"])
def test_append_only_files_may_have_larger_numbers_than_clients_may_give(start, engine):
    """Those of other versions of RedisBloom, which do not limit them."""
    server = start("--appendonly", "yes", "--aof-use-rdb-preamble", "no", module_arguments=["engine", engine])
    server.call("BF.RESERVE", "present", "0.01", "100")
    commands = [("BF.INSERT", "present", "CAPACITY", "5000000000", "ITEMS", "a"),
                ("BF.INSERT", "wide", "EXPANSION", "100000", "ITEMS", "a"),
                ("BF.RESERVE", "reserved", "0.01", "100", "EXPANSION", "100000"), ("BF.ADD", "reserved", "a"),
                ("CF.RESERVE", "cuckoo", "100", "EXPANSION", "40000"), ("CF.ADD", "cuckoo", "a"),
                ("BF.RESERVE", "large", "0.9", "1073741825"), ("BF.ADD", "large", "a")]
    for command in commands:
        if len(command) > 3:
            assert "range" in server.error(*command) or "Bad" in server.error(*command), command
    file, = (server.folder / "appendonlydir").glob("*.incr.aof")
    with open(file, "ab") as log:
        for command in commands:
            log.write(b"*%d\r\n" % len(command) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word.encode()) for word in command))
    for _ in range(2):
        server.restart()
        for key in ("present", "wide", "reserved", "large"):
            assert server.call("BF.EXISTS", key, "a") == 1, key
        assert server.call("CF.EXISTS", "cuckoo", "a") == 1
        server.rewrite_append_only_file()
    server.call("CONFIG", "SET", "aof-use-rdb-preamble", "yes")
    server.rewrite_append_only_file()
    server.restart()
    assert server.call("BF.EXISTS", "large", "a") == 1 and server.call("CF.EXISTS", "cuckoo", "a") == 1


def test_forged_numbers_of_parts_are_refused(server):
    """RedisBloom before 8.10 allocates for as many links as a payload claims (#1027), or reads beyond its bits (#1038)."""
    for vector in NEW:
        dump = vector["dump"]
        for at in range(10, len(dump) - FOOTER - 1):
            # A number of up to six bits, behind its opcode, becomes 2^64 - 1.
            if dump[at] == 2 and dump[at + 1] < 64:
                forged = dump[:at + 1] + b"\x81" + b"\xff" * 8 + dump[at + 2:]
                try:
                    server.call("RESTORE", "k", 0, forged, "REPLACE")
                except redis.ResponseError:
                    continue
                server.call_all([[family(vector) + ".INFO", "k"], [family(vector) + ".ADD", "k", "more"]])
    assert server.call("PING")
