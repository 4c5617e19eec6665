"""Filters when servers save, load, copy, replicate and are killed."""

import random
import signal
import threading

import pytest
import redis

from conftest import FIXED_HASH, TOO_LARGE_BY_DEFAULT, wait_for_replica, wait_until
from xxh3 import xxh3_64

FILTERS = [["BF.RESERVE", "fixed", "0.001", "3000", "NONSCALING", *FIXED_HASH],
           ["BF.RESERVE", "growing", "0.01", "50", *FIXED_HASH],
           ["BF.RESERVE", "precise", "1e-10", "500", "NONSCALING"],
           ["BF.RESERVE", "beyond 64 bits", "1e-17", "500", "NONSCALING"],
           ["BF.RESERVE", "empty", "0.02", "100", "EXPANSION", "4"],
           ["BF.RESERVE", "two parts", "0.01", "10000"],
           ["BF.RESERVE", "deletable", "0.01", "1000", "DELETABLE"],
           ["BF.RESERVE", "deletable in two parts", "0.01", "2000", "DELETABLE"],
           ["BF.RESERVE", "window", "0.01", "2000", "WINDOW", "3600", "GENERATIONS", "4", *FIXED_HASH],
           ["BF.RESERVE", "window without items", "0.01", "2000", "WINDOW", "3600"],
           ["CF.RESERVE", "cuckoo", "3000"],
           ["CF.RESERVE", "cuckoo that grows", "1000"],
           ["CF.RESERVE", "cuckoo in two parts", "1100", "BUCKETSIZE", "4", *FIXED_HASH],
           ["CF.RESERVE", "cuckoo that stays", "2600", "EXPANSION", "0"]]
MEMBERS = [f"member{i}" for i in range(2500)]
OTHERS = [f"other{i}" for i in range(10_500)]


def family(key):
    return "CF" if key.startswith("cuckoo") else "BF"


def fill(server, *keys):
    """Makes all filters, or those of these keys."""
    now = 1000 * int(server.client.time()[0])
    for command in FILTERS:
        key = command[1]
        if keys and key not in keys:
            continue
        server.call(*command)
        if key in ("fixed", "growing"):
            server.call("BF.MADD", key, *MEMBERS)
        elif key in ("precise", "beyond 64 bits"):
            server.call("BF.MADD", key, *MEMBERS[:400])
        elif key == "two parts":
            server.call("BF.MADD", key, *OTHERS)
            assert server.call("BF.INFO", key, "FILTERS") == [2]
        elif key.startswith("deletable"):
            server.call("BF.MADD", key, *MEMBERS, *MEMBERS[:5])
            assert server.call("BF.DEL", key, MEMBERS[2]) == 1
        elif key == "window":
            for age in (3500, 2000, 10):
                server.call("BF.INSERT", key, "AT", now - 1000 * age, "ITEMS", *MEMBERS[age // 2:])
        elif family(key) == "CF":
            server.call("CF.INSERT", key, "ITEMS", *MEMBERS)
            server.call("CF.INSERT", key, "ITEMS", *MEMBERS[:20] * 3)
            server.call("CF.DEL", key, MEMBERS[0])


def dumps(server):
    return {key: server.call("DUMP", key) for key in sorted(server.call("KEYS", "*"))}


def transfer(server, source, target):
    """SCANDUMP into LOADCHUNK. Returns the number of pieces."""
    pieces = server.pieces(family(source), source)
    for piece in pieces:
        server.call(family(source) + ".LOADCHUNK", target, *piece)
    return len(pieces)


# Saved and loaded --------------------------------------------------------------------------------

def test_a_saved_data_set_is_the_same_after_a_restart(start):
    server = start("--dbfilename", "data.rdb")
    fill(server)
    before, digest = dumps(server), server.call("DEBUG", "DIGEST")
    server.call("SAVE")
    server.restart()
    assert dumps(server) == before
    assert server.call("DEBUG", "DIGEST") == digest
    assert server.call("BF.MEXISTS", "growing", *MEMBERS) == [1] * len(MEMBERS)
    for key in ("cuckoo", "cuckoo that grows", "cuckoo in two parts", "cuckoo that stays"):
        assert server.call("CF.MEXISTS", key, *MEMBERS) == [1] * len(MEMBERS)
        assert server.call("CF.COUNT", key, MEMBERS[1]) >= 4
    # The loaded filter behaves as the original would.
    assert server.call("BF.CARD", "empty") == 0
    server.call("BF.MADD", "empty", *MEMBERS)
    assert server.call("BF.MEXISTS", "empty", *MEMBERS) == [1] * len(MEMBERS)


@pytest.mark.parametrize("preamble", ["yes", "no"])
def test_the_append_only_file_holds_them_also_rewritten(start, preamble):
    server = start("--appendonly", "yes", "--aof-use-rdb-preamble", preamble)
    fill(server)
    transfer(server, "growing", "transferred")
    transfer(server, "cuckoo in two parts", "transferred too")
    before = dumps(server)
    server.restart()
    assert dumps(server) == before
    server.rewrite_append_only_file()
    server.restart()
    assert dumps(server) == before


def test_kill_9_loses_nothing_that_was_acknowledged(start):
    server = start("--appendonly", "yes", "--appendfsync", "always")
    acknowledged = []
    stop = threading.Event()

    def write(worker):
        client = redis.Redis(port=server.port)
        i = 0
        try:
            while not stop.is_set():
                items = [f"{worker}:{i + k}" for k in range(3)]
                client.execute_command("BF.MADD", "f", *items)
                client.execute_command("BF.ADD", f"of{worker}", items[0])
                client.execute_command("CF.INSERT", "c", "ITEMS", *items)
                client.execute_command("CF.DEL", "c", items[1])
                acknowledged.append((worker, items))
                i += 3
        except (redis.RedisError, OSError):
            pass

    for _ in range(2):
        writers = [threading.Thread(target=write, args=(w,)) for w in range(4)]
        for each in writers:
            each.start()
        enough = len(acknowledged) + 100
        wait_until(lambda: len(acknowledged) > enough)
        server.kill(signal.SIGKILL)
        stop.set()
        for each in writers:
            each.join()
        stop.clear()
        server.start()
        for worker, (first, second, third) in acknowledged:
            assert server.call_all([["BF.MEXISTS", "f", first, second, third], ["BF.EXISTS", f"of{worker}", first],
                                    ["CF.MEXISTS", "c", first, third]]) == [[1, 1, 1], 1, [1, 1]]


# Copied ------------------------------------------------------------------------------------------

def test_dump_restore_copy_and_rename_give_the_same_filter(server):
    fill(server)
    for key in [command[1] for command in FILTERS]:
        payload = server.call("DUMP", key)
        server.call("RESTORE", "restored", "0", payload)
        server.call("COPY", key, "copied")
        server.call("RENAME", "restored", "renamed")
        for other in ("copied", "renamed"):
            assert server.call("DUMP", other) == payload
            assert server.call("DEBUG", "DIGEST-VALUE", other) == \
                server.call("DEBUG", "DIGEST-VALUE", key)
        # The copy is independent.
        if key != "fixed":
            server.call(family(key) + ".ADD", "copied", "only in the copy")
            assert server.call(family(key) + ".EXISTS", "copied", "only in the copy") == 1
            assert server.call("DUMP", key) == payload
            assert server.call("DEBUG", "DIGEST-VALUE", "copied") != \
                server.call("DEBUG", "DIGEST-VALUE", key)
        server.call("DEL", "copied", "renamed")


def test_a_large_filter_goes_through_scandump_in_pieces(server):
    server.call("BF.RESERVE", "f", "0.01", "3000000", "NONSCALING")
    server.call("BF.MADD", "f", *MEMBERS)
    assert transfer(server, "f", "again") >= 4
    assert server.call("DUMP", "again") == server.call("DUMP", "f")
    assert server.call("UNLINK", "f", "again") == 2


# While a dump arrives ----------------------------------------------------------------------------

def pieces_of(server, key, size):
    """The dump in pieces of a chosen size, each with its iterator."""
    (_, header), *rest = server.pieces(family(key), key)
    payload = b"".join(data for _, data in rest)
    ends = [min(at + size, len(payload)) for at in range(0, len(payload), size)]
    return [(1, header)] + [(end + 1, payload[max(0, at - size):end])
                            for at, end in zip(range(size, len(payload) + size, size), ends)]


def test_an_incomplete_dump_answers_nothing_and_survives_saving(start):
    server = start("--dbfilename", "data.rdb")
    fill(server)
    pieces = pieces_of(server, "growing", 500)
    assert len(pieces) > 5
    for iterator, data in pieces[:3]:
        server.call("BF.LOADCHUNK", "f", iterator, data)
    loading = "ERR the filter is being loaded; send its remaining chunks"
    for command in (["BF.EXISTS", "f", "a"], ["BF.MEXISTS", "f", "a"], ["BF.ADD", "f", "a"],
                    ["BF.MADD", "f", "a"], ["BF.CARD", "f"], ["BF.INFO", "f"],
                    ["BF.INSERT", "f", "ITEMS", "a"], ["BF.SCANDUMP", "f", "0"]):
        assert server.error(*command) == loading
    assert server.error("BF.RESERVE", "f", "0.1", "10") == "ERR item exists"
    # A repeated piece and a gap are refused.
    assert server.error("BF.LOADCHUNK", "f", *pieces[1]) == "ERR invalid offset - no link found"
    assert server.error("BF.LOADCHUNK", "f", *pieces[4]) == "ERR invalid offset - no link found"
    server.call("SAVE")
    server.restart()
    server.call("COPY", "f", "g")
    for iterator, data in pieces[3:]:
        server.call("BF.LOADCHUNK", "f", iterator, data)
        server.call("BF.LOADCHUNK", "g", iterator, data)
    assert server.call("DUMP", "f") == server.call("DUMP", "growing") == server.call("DUMP", "g")
    # Sending the header again restarts the load.
    for iterator, data in pieces[:2] + pieces:
        server.call("BF.LOADCHUNK", "h", iterator, data)
    assert server.call("DUMP", "h") == server.call("DUMP", "growing")


# Hostile bytes -----------------------------------------------------------------------------------

def sealed(header):
    """The header with the right checksum of its prefix."""
    return bytes(header[:56]) + xxh3_64(bytes(header[:56])).to_bytes(8, "little") + bytes(header[64:])


def use(server, key):
    """A hostile filter answers or is refused, and the server stays alive."""
    server.call_all([["BF.INFO", key], ["BF.EXISTS", key, "a"], ["BF.MADD", key, "a", "b"], ["BF.CARD", key],
                     ["BF.SCANDUMP", key, 0], ["CF.INFO", key], ["CF.EXISTS", key, "a"],
                     ["CF.INSERT", key, "ITEMS", "a", "b"], ["CF.DEL", key, "a"], ["CF.COUNT", key, "a"],
                     ["CF.SCANDUMP", key, 0], ["DUMP", key], ["DEL", key]])


@pytest.mark.parametrize("key", ["fixed", "growing", "empty", "two parts", "cuckoo in two parts",
                                 "window", "window without items"])
def test_no_changed_byte_of_a_payload_is_taken_for_a_filter(server, key):
    # Uncompressed: a changed byte of compressed data may decompress to the same bytes.
    server.call("CONFIG", "SET", "rdbcompression", "no")
    fill(server, "growing", key)
    payload = server.call("DUMP", key)
    chosen = random.Random(7)
    places = sorted(set(range(0, min(400, len(payload) - 10)))
                    | {chosen.randrange(len(payload) - 10) for _ in range(150)})
    for at in places:
        changed = bytearray(payload)
        changed[at] ^= 1 << chosen.randrange(8)
        with pytest.raises(redis.ResponseError):
            server.call("RESTORE", "hostile", "0", bytes(changed))
    for end in [*range(0, min(300, len(payload) - 11), 7), len(payload) - 11]:
        with pytest.raises(redis.ResponseError):
            server.call("RESTORE", "hostile", "0", payload[:end] + payload[-10:])
    server.call("CONFIG", "SET", "rdbcompression", "yes")
    assert server.call("BF.MEXISTS", "growing", *MEMBERS) == [1] * len(MEMBERS)


@pytest.mark.parametrize("key", ["fixed", "growing", "cuckoo in two parts", "window"])
def test_no_changed_byte_of_a_chunk_is_taken_for_a_filter(server, key):
    fill(server, key)
    pieces = pieces_of(server, key, 3000)
    assert len(pieces) > 2
    chosen = random.Random(11)
    header = pieces[0][1]
    for at in range(len(header)):
        changed = bytearray(header)
        changed[at] ^= 1 << chosen.randrange(8)
        try:
            for iterator, data in [(1, bytes(changed))] + pieces[1:]:
                server.call(family(key) + ".LOADCHUNK", "hostile", iterator, data)
            raise AssertionError(f"byte {at} of the header")
        except redis.ResponseError:
            pass
        use(server, "hostile")
    for number in range(1, len(pieces)):
        changed = bytearray(pieces[number][1])
        changed[chosen.randrange(len(changed))] ^= 1 << chosen.randrange(8)
        with pytest.raises(redis.ResponseError, match="received bad data|Couldn't load chunk"):
            for i, (iterator, data) in enumerate(pieces):
                server.call(family(key) + ".LOADCHUNK", "hostile", iterator,
                            bytes(changed) if i == number else data)
        use(server, "hostile")
    for iterator in (-1, 0, 1, 2, 3, 1 << 62, -(1 << 63), (1 << 63) - 1):
        for data in (b"", b"x", header, header[:60], b"x" * 3000):
            try:
                server.call(family(key) + ".LOADCHUNK", "hostile", iterator, data)
            except redis.ResponseError:
                pass
    use(server, "hostile")


@pytest.mark.parametrize("key", ["two parts", "cuckoo in two parts", "window"])
def test_a_sealed_header_may_say_anything(server, key):
    """Each byte of the prefix changed, with a right checksum: refused, or a filter."""
    fill(server, key)
    (_, header), *payload = pieces_of(server, key, 1 << 20)
    chosen = random.Random(13)
    outcomes = set()
    for at in [*range(8, 56)] * 2:
        changed = bytearray(header)
        changed[at] = chosen.choice([0, 1, 255, changed[at] ^ 1 << chosen.randrange(8)])
        try:
            for piece in [(1, sealed(changed))] + payload:
                server.call(family(key) + ".LOADCHUNK", "hostile", *piece)
            outcomes.add("taken")
            server.call(family(key) + (".MADD" if family(key) == "BF" else ".INSERT"), "hostile",
                        *(["ITEMS"] if family(key) == "CF" else []), *OTHERS[:1000])
        except redis.ResponseError:
            outcomes.add("refused")
        use(server, "hostile")
    assert outcomes == {"taken", "refused"}


@pytest.mark.parametrize("reserve, version", [
    (["BF.RESERVE", "f", "0.01", "100"], 1), (["CF.RESERVE", "f", "100"], 1),
    (["BF.RESERVE", "f", "0.01", "100", "ENGINE", "COMPATIBLE"], 4),
    (["CF.RESERVE", "f", "100", "ENGINE", "COMPATIBLE"], 4)], ids=lambda v: " ".join(v) if isinstance(v, list) else "")
def test_a_value_of_a_newer_version_is_told_in_the_log(server, reserve, version):
    server.call(*reserve)
    payload = bytearray(server.call("DUMP", "f"))
    # The id of its type: nine characters of six bits, and ten bits of version.
    assert payload[9] == version
    payload[9] = version + 1
    with pytest.raises(redis.ResponseError):
        server.call("RESTORE", "g", 0, bytes(payload))
    assert (f"a stored filter has version {version + 1} of its type, and this module reads versions up to "
            f"{version}") in server.log()


def test_a_dump_of_a_newer_version_is_told_apart_from_a_damaged_one(server):
    server.call("CONFIG", "SET", "rdbcompression", "no")
    server.call("BF.RESERVE", "f", "0.01", "100")
    header = server.call("BF.SCANDUMP", "f", 0)[1]
    payload = server.call("DUMP", "f")
    assert header in payload
    newer = sealed(header[:8] + (3).to_bytes(4, "little") + header[12:])
    assert server.error("BF.LOADCHUNK", "g", 1, newer) == \
        "ERR the dump has a newer version than this module reads; load it with a newer module"
    with pytest.raises(redis.ResponseError):
        server.call("RESTORE", "g", 0, payload.replace(header, newer))
    assert "a stored filter has a newer version than this module reads" in server.log()


def test_a_header_that_promises_too_much_takes_no_memory(server):
    server.call("BF.ADD", "f", "a")
    header = bytearray(server.call("BF.SCANDUMP", "f", 0)[1])
    used = server.client.info("memory")["used_memory"]
    for size, error in ((1 << 29, None), (1 << 40, TOO_LARGE_BY_DEFAULT.removeprefix("ERR ")),
                        ((1 << 64) - 1, "received bad data"), (0, "received bad data")):
        # The filter file's header begins after 64 bytes; its checksum is corrected.
        header[64 + 40:64 + 48] = size.to_bytes(8, "little")
        seal = xxh3_64(bytes(header[64:64 + 56] + header[64 + 64:]))
        header[64 + 56:64 + 64] = seal.to_bytes(8, "little")
        if error is None:
            server.call("BF.LOADCHUNK", "g", 1, bytes(header))
        else:
            assert server.error("BF.LOADCHUNK", "h", 1, bytes(header)) == "ERR " + error
    assert server.client.info("memory")["used_memory"] < used + (1 << 20)


# Replicas ----------------------------------------------------------------------------------------

def test_a_replica_with_other_settings_holds_the_same_bytes(start):
    primary = start("--repl-diskless-sync-delay", "0")
    fill(primary)
    replica = start("--replicaof", f"127.0.0.1 {primary.port}",
                    module_arguments=["ERROR_RATE", "0.2", "INITIAL_SIZE", "7", "EXPANSION", "0",
                                      "max-filter-size", "65536", "cf-initial-size", "50",
                                      "cf-error-rate", "0.2", "cf-expansion-factor", "0"])
    wait_for_replica(replica)
    pieces = pieces_of(primary, "growing", 900)
    for iterator, data in pieces[:2]:
        primary.call("BF.LOADCHUNK", "arriving", iterator, data)
    # Created by each command that can create one, and grown beyond the replica's limit.
    primary.call("BF.ADD", "added", "a")
    primary.call("BF.MADD", "madded", *MEMBERS)
    primary.call("BF.INSERT", "inserted", "ERROR", "0.25", "ITEMS", *MEMBERS)
    primary.call("BF.RESERVE", "reserved", "0.3", "100")
    primary.call("BF.MADD", "growing", *(f"more{i}" for i in range(60_000)))
    primary.call("BF.RESERVE", "full", "0.01", "2", "NONSCALING")
    primary.call("BF.INSERT", "deletable too", "DELETABLE", "ITEMS", *MEMBERS[:9], MEMBERS[1])
    primary.call("BF.MADD", "deletable", *OTHERS[:100])
    for item in MEMBERS[:50]:
        primary.call("BF.DEL", "deletable", item)
    primary.call("BF.MADD", "full", "a", "b", "c", "d")
    primary.call("BF.ADD", "window", "of a client")
    primary.call("BF.MADD", "window without items", *MEMBERS)
    primary.call("BF.INSERT", "window inserted", "WINDOW", "100", "ITEMS", *MEMBERS)
    # Options for a filter that is there, which other settings refuse.
    primary.call("BF.INSERT", "inserted", "ERROR", "1%", "ITEMS", "by options")
    primary.call("CONFIG", "SET", "bf.engine", "valkey")
    primary.call("BF.RESERVE", "of valkey", "0.01", "1000")
    primary.call("CONFIG", "SET", "bf.engine", "native")
    primary.call("BF.INSERT", "of valkey", "CAP", "100", "ITEMS", "by options")
    primary.call("CF.ADD", "cuckoo added", "a")
    primary.call("CF.INSERT", "cuckoo inserted", "ITEMS", *MEMBERS)
    primary.call("CF.INSERTNX", "cuckoo inserted", "ITEMS", *MEMBERS[1000:], *OTHERS[:100])
    primary.call("CF.RESERVE", "cuckoo full", "4", "EXPANSION", "0")
    assert -1 in primary.call("CF.INSERT", "cuckoo full", "ITEMS", *MEMBERS[:200])
    for item in MEMBERS[:50]:
        primary.call("CF.DEL", "cuckoo in two parts", item)
        primary.call("CF.DEL", "cuckoo inserted", item)
    primary.call("CF.ADDNX", "cuckoo in two parts", "one more")
    transfer(primary, "growing", "transferred")
    with primary.client.pipeline(transaction=True) as pipe:
        pipe.execute_command("BF.ADD", "in a transaction", "a")
        pipe.execute_command("BF.ADD", "in a transaction", "b")
        pipe.execute()
    primary.call("EVAL", "return redis.call('BF.MADD', KEYS[1], 'a', 'b')", 1, "in a script")
    assert primary.call("WAIT", 1, 20_000) == 1
    assert dumps(replica) == dumps(primary)
    for key in ("inserted", "of valkey"):
        assert replica.call("BF.EXISTS", key, "by options") == 1, key
    assert b"in a script" in dumps(primary)
    assert replica.call("DEBUG", "DIGEST") == primary.call("DEBUG", "DIGEST")
    assert replica.error("BF.ADD", "added", "b").startswith("READONLY")
    # Adding members replicates nothing.
    offset = primary.client.info("replication")["master_repl_offset"]
    primary.call("BF.MADD", "madded", *MEMBERS)
    assert primary.client.info("replication")["master_repl_offset"] - offset < 1000
    # The replica accepts writes after its promotion.
    replica.call("REPLICAOF", "NO", "ONE")
    assert replica.call("BF.EXISTS", "added", "a") == 1
    for iterator, data in pieces[2:]:
        replica.call("BF.LOADCHUNK", "arriving", iterator, data)
    assert replica.call("BF.MEXISTS", "arriving", *MEMBERS) == [1] * len(MEMBERS)


@pytest.mark.parametrize("options, expansion", [(["NONSCALING"], 2), ([], 0)], ids=["fixed", "growing"])
def test_a_part_that_does_not_fit_the_expansion_is_refused(server, options, expansion):
    """A filter with a fixed front could not grow: small filters consist of one part that grows itself."""
    server.call("BF.RESERVE", "f", "0.01", "100", *options)
    pieces = pieces_of(server, "f", 1500)
    header = bytearray(pieces[0][1])
    header[16:20] = expansion.to_bytes(4, "little")
    server.call("BF.LOADCHUNK", "hostile", 1, sealed(header))
    assert server.error("BF.LOADCHUNK", "hostile", *pieces[1]) == "ERR received bad data"
