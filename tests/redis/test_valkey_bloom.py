"""valkey-bloom's replies, bytes and events, and its filters in files and on replicas.

vectors/valkey-bloom.jsonl has what valkey-bloom answered and stored. With $BLOOMSET_VALKEY_BLOOM, the path
of valkey-bloom's library, the last tests run it on the other side (the server must be Valkey then).
"""

import json
import os
import pathlib
import random
import re
import shutil
import struct

import pytest
import redis

import conftest
from conftest import Server, wait_for_replica

FOOTER = 10  # of DUMP's payload: the RDB's version and a checksum
REAL = os.environ.get("BLOOMSET_VALKEY_BLOOM")
LINES = [json.loads(line) for line in
         (pathlib.Path(__file__).parent / "vectors/valkey-bloom.jsonl").read_text().splitlines()]
FILTERS = [line for line in LINES if "filter" in line]
PROBES = [f"{letter}{i}" for letter in ("item", "q") for i in range(400)]
SEED = bytes(range(32))
FIXED_SEED = bytes.fromhex("590ff522ea7811daa714d8093b3e7bd91d898a733e988887307f97cd28073383")
named = pytest.mark.parametrize("vector", FILTERS, ids=[line["filter"] for line in FILTERS])


def words(call):
    return [word.encode("latin-1") for word in call]


def found(server, key):
    return [probe for probe, answer in zip(PROBES, server.call("BF.MEXISTS", key, *PROBES)) if answer]


def state(server, key):
    return server.call("DUMP", key), found(server, key)


@pytest.fixture(scope="module")
def valkey_server(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("valkey"), "--rdbcompression", "no", module_arguments=["engine", "valkey"])
    yield server
    server.stop()


@pytest.fixture
def valkey(valkey_server):
    """One server whose new filters are valkey-bloom's, for all tests of the file."""
    if valkey_server.process.poll() is not None:
        valkey_server.start()
    valkey_server.call("FLUSHALL", "SYNC")
    valkey_server.call("DEBUG", "SET-SKIP-CHECKSUM-VALIDATION", 1)
    yield valkey_server
    assert valkey_server.process.poll() is None, valkey_server.log()[-4000:]


# Replies ------------------------------------------------------------------------------------------


# The commands that only this module has are in the category, too.
OWN = {"bf.merge", "bf.stats", "bf.debug", "bf.scandump", "bf.loadchunk", "bf.count", "bf.del"}


def with_plain_doubles(reply):
    """Redis 7.0 spells a double with 17 digits, and Valkey with as many as it needs."""
    bulk = rb"\$\d+\r\n(\d+\.?\d*(?:e-?\d+)?)\r\n|,(\S+)\r\n"
    return re.sub(bulk, lambda found: repr(float(found[1] or found[2])).encode(), reply)


def names_of_commands(reply):
    return sorted({name for name in reply.decode().split() if name.startswith("bf.")} - OWN)


@pytest.mark.parametrize("protocol", [2, 3])
def test_replies_are_those_of_valkey_bloom(start, protocol):
    server = start(module_arguments=["engine", "valkey"])
    is_valkey = "valkey_version" in server.client.info("server")
    compared = 0
    for line in LINES:
        if "call" not in line:
            continue
        call, expected = words(line["call"]), line[f"resp{protocol}"].encode("latin-1")
        if call[0] == b"COMMAND" and not is_valkey:
            continue  # Redis 7.0 has no categories of modules
        reply = server.raw(protocol, *call)
        if call[0] == b"COMMAND":
            reply, expected = names_of_commands(reply), names_of_commands(expected)
        if not is_valkey:
            reply, expected = with_plain_doubles(reply), with_plain_doubles(expected)
        assert reply == expected, call
        compared += 1
    assert compared > 500


@named
def test_the_same_commands_make_the_same_bytes(valkey, vector):
    for call in vector["calls"]:
        valkey.call(*words(call))
    assert valkey.call("DUMP", "k")[:-FOOTER].hex() == vector["dump"]
    assert found(valkey, "k") == vector["found"]


# Data of valkey-bloom -----------------------------------------------------------------------------


def payload(server, dump):
    """A payload for RESTORE: with the version of this server's payloads, and no checksum."""
    server.call("DEBUG", "SET-SKIP-CHECKSUM-VALIDATION", 1)
    server.call("SET", "version of payloads", "x")
    version = server.call("DUMP", "version of payloads")[-FOOTER:-8]
    server.call("DEL", "version of payloads")
    return bytes.fromhex(dump) + version + bytes(8)


@named
def test_what_valkey_bloom_dumped_answers_as_before(server, vector):
    """Also while the setting is native."""
    server.call("CONFIG", "SET", "rdbcompression", "no")
    server.call("RESTORE", "k", 0, payload(server, vector["dump"]))
    assert found(server, "k") == vector["found"]
    assert server.call("DUMP", "k")[:-FOOTER].hex() == vector["dump"]
    server.call("COPY", "k", "copy")
    assert server.call("DEBUG", "DIGEST-VALUE", "copy") == server.call("DEBUG", "DIGEST-VALUE", "k")
    assert state(server, "copy") == state(server, "k")
    # The filter accepts items, finds them, and loses none.
    if vector["filter"] == "that does not grow":
        assert server.error("BF.ADD", "k", "one more") == "ERR non scaling filter is full"
        return
    more = [f"more{i}" for i in range(300)]
    server.call("BF.MADD", "k", *more)
    assert server.call("BF.MEXISTS", "k", *more) == [1] * len(more)
    assert set(found(server, "k")) >= set(vector["found"])


@named
def test_append_only_files_are_those_of_valkey_bloom(start, vector):
    """Read under another engine, and rewritten with the same bytes."""
    server = start("--appendonly", "yes", "--aof-use-rdb-preamble", "no")
    data = bytes.fromhex(vector["load"])
    assert server.call("BF.LOAD", "k", data) == b"OK"
    before = state(server, "k")
    assert before[1] == vector["found"]
    server.restart()
    assert state(server, "k") == before
    server.rewrite_append_only_file()
    files = b"".join(path.read_bytes() for path in (server.folder / "appendonlydir").glob("*.aof"))
    assert b"BF.LOAD\r\n$1\r\nk\r\n$%d\r\n%s\r\n" % (len(data), data) in files
    server.restart()
    assert state(server, "k") == before


def test_load_refuses_what_is_no_filter(valkey):
    vector = next(line for line in FILTERS if line["filter"] == "of three sub-filters")
    data = bytes.fromhex(vector["load"])
    undecodable = "ERR bloom object decoding failed"
    for size in range(1, len(data)):
        assert valkey.error("BF.LOAD", "k", data[:size]) == undecodable, size
    assert valkey.error("BF.LOAD", "k", data + b"\0") == undecodable
    assert valkey.error("BF.LOAD", "k", b"\2" + data[1:]) == undecodable + ". Unsupported version"
    for offset, size, value in [(1 + 4 + 8 + 8 + 1, "<Q", 2), (1 + 4 + 8 + 8 + 1, "<Q", 1 << 62), (30, "<Q", 1 << 62),
                                (38, "<B", 2), (39, "<Q", 1), (47, "<I", 0), (47, "<I", 1 << 31), (51, "<B", 99),
                                (30 + 8 + 45 + data[39], "<Q", 9)]:
        changed = bytearray(data)
        struct.pack_into(size, changed, offset, value)
        assert valkey.error("BF.LOAD", "k", bytes(changed)) == undecodable, (offset, value)
    assert valkey.call("EXISTS", "k") == 0
    assert valkey.call("BF.LOAD", "k", data) == b"OK"
    assert valkey.error("BF.LOAD", "k", data) == "BUSYKEY Target key name already exists."
    valkey.call("SET", "text", "x")
    assert valkey.error("BF.LOAD", "text", data).startswith("WRONGTYPE")


# A filter for 20 items at 0.1%, full of item0 to item19, with its bits before its numbers: made with the crate bloomfilter
# 3.0.2 in a type of the fields that valkey-bloom had before its release.
BITS_FIRST = (
    "07816e5a2899f96dac010201020004fca9f1d24d62503f04000000000000e03f02010540510124000000000000000a0000000001020304"
    "05060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f3c49e540299be5163a7eb3f358b253dc82581c929c1b773132355fa3"
    "9833126d57a8ff1b0214021400")


def test_both_orders_of_fields_are_read_and_written(server):
    server.call("CONFIG", "SET", "rdbcompression", "no")
    of_release = next(line for line in FILTERS if line["filter"] == "that does not grow")
    try:
        server.call("CONFIG", "SET", "bf.bloom-rdb-order", "bits-first")
        server.call("RESTORE", "old", 0, payload(server, BITS_FIRST))
        assert server.call("BF.MEXISTS", "old", *(f"item{i}" for i in range(20))) == [1] * 20
        assert server.call("BF.INFO", "old", "CAPACITY") == server.call("BF.INFO", "old", "ITEMS") == [20]
        assert server.call("DUMP", "old")[:-FOOTER].hex() == BITS_FIRST
        assert "Bad data format" in server.error("RESTORE", "k", 0, payload(server, of_release["dump"]))
        assert "set bf.bloom-rdb-order to numbers-first" in server.log()
    finally:
        server.call("CONFIG", "SET", "bf.bloom-rdb-order", "numbers-first")
    assert "Bad data format" in server.error("RESTORE", "k", 0, payload(server, BITS_FIRST))
    assert "set bf.bloom-rdb-order to bits-first" in server.log()
    in_other_order, probes = server.call("DUMP", "old"), found(server, "old")
    server.call("RESTORE", "new", 0, in_other_order)
    assert found(server, "new") == probes


def test_damaged_payloads_are_refused_or_harmless(server):
    """Each byte in turn; a filter that loads must still answer, grow and be saved."""
    randomness = random.Random(20261128)
    for vector in FILTERS:
        whole = payload(server, vector["dump"])
        for at in range(10, len(whole) - FOOTER):
            changed = bytearray(whole)
            changed[at] ^= randomness.randrange(1, 256)
            try:
                server.call("RESTORE", "k", 0, bytes(changed), "REPLACE")
            except redis.ResponseError:
                continue
            server.call_all([["BF.INFO", "k"], ["BF.MEXISTS", "k", "a", "item1"], ["BF.MADD", "k", *PROBES],
                             ["BF.STATS", "k"], ["DUMP", "k"], ["COPY", "k", "copy", "REPLACE"], ["DEL", "k"]])
    assert server.call("PING")


def test_a_payload_that_promises_more_than_it_holds_is_refused(server):
    """A capacity beyond the bits would make a small payload grow to any size."""
    vector = next(line for line in FILTERS if line["filter"] == "empty")
    whole = payload(server, vector["dump"])
    # After the five fields of the filter: opcode 2, then the capacity 100 in two bytes.
    at = whole.index(b"\x02\x40\x64")
    huge = whole[:at] + b"\x02\x81" + struct.pack(">Q", 1 << 40) + whole[at + 3:]
    assert "Bad data format" in server.error("RESTORE", "k", 0, huge)


# Servers ------------------------------------------------------------------------------------------


def fill(server):
    server.call("BF.RESERVE", "reserved", "0.02", "50")
    server.call("BF.MADD", "reserved", *PROBES[:300])
    server.call("BF.ADD", "by default", "a")
    server.call("BF.INSERT", "inserted", "ERROR", "0.001", "TIGHTENING", "0.9", "EXPANSION", "3", "SEED", SEED,
                "CAPACITY", "20", "ITEMS", *PROBES[:100])
    server.call("BF.INSERT", "fixed", "NONSCALING", "CAPACITY", "30", "ITEMS", *PROBES[:20])
    server.call("BF.INSERT", "empty", "CAPACITY", "30")
    # Replicated as it is, with options that RedisBloom would refuse.
    server.call("BF.INSERT", "by default", "EXPANSION", 100_000, "CAPACITY", 5_000_000_000, "ITEMS", "b")


KEYS = ["reserved", "by default", "inserted", "fixed", "empty"]


def states(server):
    return {key: state(server, key) for key in KEYS}


def test_filters_survive_saving(start):
    server = start("--rdbcompression", "no", module_arguments=["engine", "valkey"])
    fill(server)
    before = states(server)
    server.call("CF.ADD", "cuckoo", "a")
    server.call("SAVE")
    server.restart()
    assert states(server) == before
    assert server.call("CF.EXISTS", "cuckoo", "a") == 1
    # Also in a server with another engine.
    other = start("--rdbcompression", "no")
    other.kill()
    shutil.copy(server.folder / "dump.rdb", other.folder)
    other.start()
    assert states(other) == before


def test_replicas_with_other_settings_have_the_same_bits(start):
    primary = start("--rdbcompression", "no", module_arguments=["engine", "valkey"])
    replica = start("--rdbcompression", "no", module_arguments=["initial-size", "7", "bloom-capacity", "3", "bloom-fp-rate", "0.5",
                                      "bloom-expansion", "9", "bloom-tightening-ratio", "0.1",
                                      "bloom-use-random-seed", "no", "bloom-memory-usage-limit", "1"])
    replica.call("REPLICAOF", "127.0.0.1", primary.port)
    wait_for_replica(replica)
    fill(primary)
    primary.call("BF.LOAD", "loaded", bytes.fromhex(FILTERS[2]["load"]))
    # Stops within the batch, so that the replica must get the items before.
    primary.call("CONFIG", "SET", "bf.bloom-memory-usage-limit", 3000)
    batch = primary.call("BF.INSERT", "stopped", "CAPACITY", "10", "ITEMS", *PROBES)
    assert str(batch[-1]) == "operation exceeds bloom object memory limit"
    assert str(primary.call("BF.MADD", "stopped", *PROBES[-300:])[-1]) == str(batch[-1])
    primary.call("WAIT", 1, 60_000)
    assert states(replica) == states(primary)
    for key in ("loaded", "stopped"):
        assert state(replica, key) == state(primary, key)


def test_a_filter_of_each_engine_beside_the_others(valkey):
    """Words that only this module has choose another engine, and each filter keeps its own."""
    valkey.call("BF.RESERVE", "native", "0.01", "100", "ENGINE", "NATIVE")
    valkey.call("BF.RESERVE", "deletable", "0.01", "100", "DELETABLE")
    valkey.call("BF.RESERVE", "compatible", "0.01", "100", "ENGINE", "COMPATIBLE")
    valkey.call("BF.INSERT", "windowed", "WINDOW", "60", "ITEMS", "a")
    valkey.call("BF.RESERVE", "valkey", "0.01", "100")
    types = {b"native": b"bloomsetB", b"deletable": b"bloomsetB", b"compatible": b"MBbloom--",
             b"windowed": b"bloomsetB", b"valkey": b"bloomfltr"}
    for key, type_of_key in types.items():
        assert valkey.call("TYPE", key) == type_of_key
        assert valkey.call("BF.MADD", key, "a", "b")[1] == 1
        assert valkey.call("BF.MEXISTS", key, "a", "b", "c") == [1, 1, 0]
        assert valkey.call("BF.CARD", key) == 2
    assert valkey.call("BF.DEL", "deletable", "a") == 1
    assert valkey.error("BF.DEL", "valkey", "a").startswith("ERR the filter was reserved without DELETABLE")
    assert "no SCANDUMP" in valkey.error("BF.SCANDUMP", "valkey", 0)
    assert "cannot be merged" in valkey.error("BF.MERGE", "union", "valkey", "native")
    stats = valkey.call("BF.STATS", "valkey")
    assert dict(zip(stats[::2], stats[1::2]))[b"Error rate requested"] == b"0.01"


def test_options_of_valkey_bloom_make_its_filters_under_any_engine(server):
    server.call("BF.INSERT", "k", "CAPACITY", "10", "SEED", SEED, "ITEMS", *[f"item{i}" for i in range(35)])
    server.call("CONFIG", "SET", "rdbcompression", "no")
    assert server.call("DUMP", "k")[:-FOOTER].hex() == FILTERS[2]["dump"]
    assert server.call("BF.INFO", "k", "FILTERS") == [3]
    assert server.call("TYPE", "k") == b"bloomfltr"
    # Items may be spelled like options.
    server.call("BF.INSERT", "native", "ITEMS", "SEED", "TIGHTENING")
    assert server.call("TYPE", "native") == b"bloomsetB"


def test_seeds_are_drawn_unless_they_are_fixed(valkey):
    dumps = set()
    for key in ("a", "b"):
        valkey.call("BF.ADD", key, "x")
        dumps.add(valkey.call("DUMP", key))
    assert len(dumps) == 2
    valkey.call("CONFIG", "SET", "bf.bloom-use-random-seed", "no")
    valkey.call("BF.ADD", "c", "x")
    assert FIXED_SEED in valkey.call("DUMP", "c")
    valkey.call("CONFIG", "SET", "bf.bloom-use-random-seed", "yes")


def test_events(valkey):
    """Of the class of generic events, as valkey-bloom's."""
    valkey.call("CONFIG", "SET", "notify-keyspace-events", "Kg")
    with valkey.client.pubsub() as events:
        events.psubscribe("__keyspace@0__:k")
        heard = events.listen()
        next(heard)
        valkey.call("BF.RESERVE", "k", "0.01", "10")
        valkey.call("BF.ADD", "k", "a")
        valkey.call("BF.ADD", "k", "a")
        valkey.call("BF.MADD", "k", "a", "b")
        valkey.call("DEL", "k")
        valkey.call("BF.INSERT", "k", "ITEMS", "a")
        names = [next(heard)["data"] for _ in range(6)]
    assert names == [b"bloom.reserve", b"bloom.add", b"bloom.add", b"del", b"bloom.add", b"bloom.reserve"]


def test_info_sums_up_filters(valkey):
    fill(valkey)
    infos = [dict(zip(info[::2], info[1::2])) for info in (valkey.call("BF.INFO", key) for key in KEYS)]

    def total(label):
        return sum(info[label] for info in infos)

    section = valkey.client.info("modules")
    assert section["bf_bloom_num_objects"] == len(KEYS)
    assert section["bf_bloom_total_memory_bytes"] == total(b"Size")
    assert section["bf_bloom_num_filters_across_objects"] == total(b"Number of filters")
    assert section["bf_bloom_num_items_across_objects"] == total(b"Number of items inserted")
    assert section["bf_bloom_capacity_across_objects"] == total(b"Capacity")
    valkey.call("FLUSHALL", "SYNC")
    section = valkey.client.info("modules")
    assert {name: value for name, value in section.items()
            if name.startswith("bf_bloom") and "defrag" not in name and value != 0} == {}


def test_settings_of_loadmodule_and_of_the_configuration_file(start, tmp_path):
    server = start("--bf.bloom-capacity", "7", "--bf.engine", "valkey",
                   module_arguments=["bloom-fp-rate", "0.2", "bloom-use-random-seed", "no"])
    server.call("BF.ADD", "k", "a")
    info = server.call("BF.INFO", "k")
    assert info[:2] == [b"Capacity", 7] and info[8] == b"Error rate" and float(info[9]) == 0.2
    assert FIXED_SEED in server.call("DUMP", "k")
    for name, value, reason in (("bloom-fp-rate", "1", "0 < error rate range < 1"),
                                ("bloom-use-random-seed", "perhaps", "bloom-use-random-seed is yes or no"),
                                ("engine", "other", "engine is one of native, compatible, valkey")):
        folder = tmp_path / name
        folder.mkdir()
        with pytest.raises(AssertionError, match=reason):
            Server(folder, module_arguments=[name, value])


# valkey-bloom on the other side -------------------------------------------------------------------

needs_real = pytest.mark.skipif(REAL is None, reason="$BLOOMSET_VALKEY_BLOOM names no library of valkey-bloom")
DIRECTIONS = pytest.mark.parametrize("from_real", [True, False], ids=["from valkey-bloom", "to valkey-bloom"])


def pair(start, monkeypatch, from_real, *options, engine="valkey"):
    def real():
        with monkeypatch.context() as patched:
            patched.setattr(conftest, "MODULE", REAL)
            server = start("--rdbcompression", "no", *options, module_arguments=None)
            server.module = REAL
            return server

    def ours():
        return start("--rdbcompression", "no", *options, module_arguments=["engine", engine])

    return (real(), ours()) if from_real else (ours(), real())


def move_files(source, target, monkeypatch):
    """Starts the target on the files of the source."""
    source.kill()
    target.kill()
    for path in source.folder.iterdir():
        if path.name == "dump.rdb":
            shutil.copy(path, target.folder)
        if path.name == "appendonlydir":
            shutil.copytree(path, target.folder / path.name, dirs_exist_ok=True)
    with monkeypatch.context() as patched:
        patched.setattr(conftest, "MODULE", getattr(target, "module", conftest.MODULE))
        target.start()


@needs_real
@DIRECTIONS
def test_rdb_files(start, monkeypatch, from_real):
    source, target = pair(start, monkeypatch, from_real)
    fill(source)
    before = states(source)
    source.call("SAVE")
    move_files(source, target, monkeypatch)
    assert states(target) == before
    for key in KEYS:
        assert target.call("BF.INFO", key) is not None


@needs_real
@DIRECTIONS
@pytest.mark.parametrize("is_rewritten", [True, False])
def test_append_only_files(start, monkeypatch, from_real, is_rewritten):
    source, target = pair(start, monkeypatch, from_real, "--appendonly", "yes", "--aof-use-rdb-preamble", "no",
                          "--appendfsync", "always")
    fill(source)
    before = states(source)
    if is_rewritten:
        source.rewrite_append_only_file()
    shutil.rmtree(target.folder / "appendonlydir")
    move_files(source, target, monkeypatch)
    assert states(target) == before


@needs_real
@pytest.mark.parametrize("from_real, engine", [(True, "valkey"), (True, "native"), (False, "valkey")])
def test_replication(start, monkeypatch, from_real, engine):
    primary, replica = pair(start, monkeypatch, from_real, engine=engine)
    fill(primary)
    replica.call("REPLICAOF", "127.0.0.1", primary.port)
    wait_for_replica(replica)
    assert states(replica) == states(primary)
    primary.call("FLUSHALL")
    fill(primary)
    for i in range(2000):
        primary.call("BF.ADD", "by default", f"added{i}")
    primary.call("WAIT", 1, 60_000)
    assert states(replica) == states(primary)


@needs_real
def test_replies_hold_for_any_commands(start, monkeypatch):
    """Random commands, to both servers at once."""
    real, ours = pair(start, monkeypatch, True)
    for server in (real, ours):
        server.call("CONFIG", "SET", "bf.bloom-use-random-seed", "no")
    randomness = random.Random(20261128)

    def word():
        return randomness.choice(["ERROR", "CAPACITY", "EXPANSION", "TIGHTENING", "VALIDATESCALETO", "NONSCALING",
                                  "NOCREATE", "ITEMS", "0.1", "0.5", "1e-5", "0", "1", "2", "7", "100", "a", "b", "x"])

    for _ in range(20_000):
        name = randomness.choice(["ADD", "MADD", "EXISTS", "MEXISTS", "CARD", "RESERVE", "INSERT", "INSERT", "INFO"])
        call = ["BF." + name, randomness.choice("klm"), *(word() for _ in range(randomness.randrange(8)))]
        if randomness.random() < 0.1:
            call = ["DEL", randomness.choice("klm")]
        assert ours.raw(2, *call) == real.raw(2, *call), call
