"""Hash functions and secret keys of native filters."""

import struct

import pytest

from conftest import FIXED_HASH, wait_for_replica
from test_storage import transfer
from xxh3 import xxh3_64

KEY = FIXED_HASH[1]
NON_MEMBERS = [f"other{i}" for i in range(20_000)]
RESERVE = {"BF": ["BF.RESERVE", "f", "0.01", "1000"], "CF": ["CF.RESERVE", "f", "1000"]}


@pytest.fixture
def keyed(server):
    server.call("CONFIG", "SET", "bf.hash", "siphash")
    yield server
    server.call("CONFIG", "SET", "bf.hash", "xxh3")


def hash_of(server, family, key):
    stats = server.call(family + ".STATS", key)
    return dict(zip(stats[::2], stats[1::2]))[b"Hash"]


def passing(server, family, key):
    return server.call(family + ".MEXISTS", key, *NON_MEMBERS)


def test_the_default_is_a_key(start):
    """Without the argument that all other tests give."""
    server = start(module_arguments=None)
    assert server.client.config_get("bf.hash") == {"bf.hash": "siphash"}
    server.call("BF.ADD", "f", "a")
    assert hash_of(server, "BF", "f") == b"siphash"


def fill(server, family, *reserve):
    """Reserves the filter f anew and fills it. Returns the answers for NON_MEMBERS."""
    server.call("DEL", "f")
    server.call(*RESERVE[family], *reserve)
    server.call(family + ".INSERT", "f", "ITEMS", *range(1000))
    return passing(server, family, "f")


@pytest.mark.parametrize("family", ["BF", "CF"])
def test_each_filter_has_a_key_of_its_own(keyed, family):
    server = keyed
    first = fill(server, family)
    assert hash_of(server, family, "f") == b"siphash"
    # 200 and 200 of 20,000 keys pass: in the same places with a probability below 10^-400.
    assert fill(server, family) != first
    with_key = fill(server, family, *FIXED_HASH)
    assert hash_of(server, family, "f") == b"siphash"
    assert fill(server, family, "hash", KEY.upper()) == with_key
    without = fill(server, family, "HASH", "xxh3")
    assert hash_of(server, family, "f") == b"xxh3"
    assert fill(server, family, "HASH", "XXH3") == without != with_key


def test_commands_that_create_a_missing_filter_draw_a_key(keyed):
    server = keyed
    server.call("BF.ADD", "added", "a")
    server.call("CF.ADD", "added too", "a")
    server.call("BF.INSERT", "inserted", "HASH", "XXH3", "ITEMS", "a")
    assert hash_of(server, "BF", "added") == hash_of(server, "CF", "added too") == b"siphash"
    assert hash_of(server, "BF", "inserted") == b"xxh3"
    server.call("BF.INSERT", "window", "WINDOW", "3600", *FIXED_HASH, "ITEMS", "a")
    assert hash_of(server, "BF", "window") == b"siphash"
    assert server.call("BF.EXISTS", "window", "a") == 1


def test_a_setting_chooses_the_hash_function(start):
    server = start(module_arguments=["hash", "siphash"])
    server.call("BF.ADD", "f", "a")
    assert hash_of(server, "BF", "f") == b"siphash"
    server.call("CONFIG", "SET", "bf.hash", "xxh3")
    server.call("CF.ADD", "c", "a")
    assert hash_of(server, "CF", "c") == b"xxh3"
    server.call("CONFIG", "SET", "bf.engine", "compatible")
    server.call("BF.ADD", "compatible", "a")
    assert b"Hash" not in server.call("BF.STATS", "compatible")
    # An option that compatible filters do not have makes a filter native.
    server.call("BF.RESERVE", "native", "0.01", "100", "HASH", "SIPHASH")
    assert hash_of(server, "BF", "native") == b"siphash"


@pytest.mark.parametrize("words", [["HASH"], ["HASH", "md5"], ["HASH", KEY[:-1]], ["HASH", KEY[:-1] + "g"]],
                         ids=" ".join)
def test_other_hash_functions_are_refused(server, words):
    why = "ERR HASH is SIPHASH, XXH3 or a key of 32 hexadecimal digits"
    assert server.error(*RESERVE["BF"], *words) == why
    if len(words) == 2:
        assert server.error(*RESERVE["CF"], *words) == why
        assert server.error("BF.INSERT", "f", *words, "ITEMS", "a") == why
    assert "no such option" in server.error(*RESERVE["BF"], "HASH", "XXH3", "COMPATIBLE")
    assert server.call("EXISTS", "f") == 0


@pytest.mark.parametrize("family, size", [("BF", []), ("BF", ["DELETABLE"]), ("CF", [])])
def test_filters_of_one_key_are_merged(server, family, size):
    for key in ("a", "b", "other"):
        server.call(RESERVE[family][0], key, *RESERVE[family][2:], *size,
                    *(FIXED_HASH if key != "other" else []))
        server.call(family + ".INSERT", key, "ITEMS", *(f"{key}{i}" for i in range(200)))
    assert server.call(family + ".MERGE", "a", "b") == b"OK"
    assert server.call(family + ".MEXISTS", "a", *(f"b{i}" for i in range(200))) == [1] * 200
    assert server.error(family + ".MERGE", "a", "other") == (
        "ERR key 2 of this command cannot be merged: its hash function or secret key differs; reserve "
        "filters to merge with HASH XXH3, or with HASH and the same key")


def test_a_dump_whose_key_was_changed_is_refused(server):
    server.call("BF.RESERVE", "f", "0.01", "1000", *FIXED_HASH)
    header = server.call("BF.SCANDUMP", "f", 0)[1]
    prefix, key, rest = header[:64], header[64:88], header[88:]
    assert key == bytes.fromhex(KEY) + struct.pack("<Q", xxh3_64(bytes.fromhex(KEY)))
    assert server.error("BF.LOADCHUNK", "g", 1, prefix + bytes(24) + rest) == "ERR received bad data"
    assert server.error("BF.LOADCHUNK", "g", 1, prefix + rest) == "ERR received bad data"
    payload = server.call("BF.SCANDUMP", "f", 1)
    other = bytes(15) + b"x"
    server.call("BF.LOADCHUNK", "g", 1, prefix + other + struct.pack("<Q", xxh3_64(other)) + rest)
    assert server.error("BF.LOADCHUNK", "g", *payload) == "ERR received bad data"
    server.call("BF.LOADCHUNK", "h", 1, header)
    server.call("BF.LOADCHUNK", "h", *payload)
    assert server.call("DUMP", "h") == server.call("DUMP", "f")


OTHER_KEY = "ffeeddccbbaa99887766554433221100"
MISTYPED = KEY[:-1] + "g"
SECRETS = (KEY, KEY.upper(), OTHER_KEY, MISTYPED)


def commands_until(monitor, last):
    for command in monitor.listen():
        yield command["command"]
        if command["command"] == last:
            return


@pytest.mark.parametrize("command", [
    ["BF.RESERVE", "f", "often", "1000", "HASH", KEY], ["BF.RESERVE", "f", "0.01", "0", "HASH", KEY],
    ["BF.RESERVE", "f", "0.01", "1000", "HASH", KEY, "HASH", OTHER_KEY],
    ["BF.RESERVE", "f", "0.01", "1000", "HASH", "HASH", KEY], ["BF.RESERVE", "f", "0.01", "1000", "HASH", MISTYPED],
    ["BF.RESERVE", "f", "0.01", "1000", "HSAH", KEY.upper()], ["BF.RESERVE", "f", "0.01", "1000", "HASH=" + KEY],
    ["BF.RESERVE", "f", *(["NONSCALING"] * 20), "HASH", KEY], ["BF.RESERVE", "text", "0.01", "1000", "HASH", KEY],
    ["CF.RESERVE", "f", "1", "HASH", KEY], ["CF.RESERVE", "f", "1000", "HASH", KEY, "NATIVE"],
    ["CF.RESERVE", "f", "1000", "HASH", KEY, "ENGINE", "COMPATIBLE"],
    ["BF.INSERT", "f", "CAPACITY", "items", "HASH", KEY, "ITEMS", "a"],
    ["BF.INSERT", "f", "HASH", OTHER_KEY, "HASH", KEY, "ITEMS", "a"], ["BF.INSERT", "f", "HASH", KEY],
    ["BF.INSERT", "f", "SIZE", "HASH", KEY, "ITEMS", "a"], ["BF.INSERT", "text", "HASH", KEY, "ITEMS", "a"],
    ["BF.INSERT", "f", "COMPATIBLE", "HASH", KEY, "ITEMS", "a"], ["CF.INSERT", "f", "HASH", KEY, "ITEMS", "a"],
    ["CF.INSERTNX", "f", "NOCREATE", "HASH", KEY, "ITEMS", "a"]], ids=" ".join)
def test_a_key_is_in_no_log_of_a_command_that_fails_or_names_two(server, command):
    server.call("SET", "text", "x")
    server.call("RPUSH", "words", *command)
    server.call("CONFIG", "SET", "slowlog-log-slower-than", "0")
    server.call("SLOWLOG", "RESET")
    with server.client.monitor() as monitor:
        replies = [server.raw(2, *command)]
        replies += server.call("EVAL", "return {redis.pcall(unpack(redis.call('LRANGE', 'words', 0, -1)))}", 0)
        with server.client.pipeline(transaction=True) as pipe:
            pipe.execute_command(*command)
            pipe.execute_command("SET", "plain", "value")
            replies.append(pipe.execute(raise_on_error=False))
        server.call("ECHO", "end")
        seen = list(commands_until(monitor, "ECHO end"))
    server.call("CONFIG", "SET", "slowlog-log-slower-than", "10000")
    assert sum("(redacted)" in line for line in seen) == 3
    assert "SET plain value" in seen
    texts = [*seen, str(replies), str(server.call("SLOWLOG", "GET", -1)), str(server.call("ACL", "LOG")),
             str(server.client.client_list()), str(server.client.info("everything")), server.log()]
    assert not [text for text in texts for secret in SECRETS if secret in text]


def test_items_and_names_of_hash_functions_are_shown(server):
    with server.client.monitor() as monitor:
        server.call("BF.RESERVE", "HASH", "0.01", "100", "HASH", "xxh3")
        server.call("BF.INSERT", "g", "HASH", "SIPHASH", "NATIVE", "ITEMS", KEY, "HASH", "a")
        server.call("BF.MADD", "g", "HASH", "b")
        server.call("ECHO", "end")
        seen = list(commands_until(monitor, "ECHO end"))
    assert seen[:3] == ["BF.RESERVE HASH 0.01 100 HASH xxh3",
                        f"BF.INSERT g HASH SIPHASH NATIVE ITEMS {KEY} HASH a", "BF.MADD g HASH b"]


def test_a_dumps_key_is_in_no_log_although_the_dump_is_refused(server):
    server.call("SET", "text", "x")
    server.call("BF.RESERVE", "f", "0.01", "1000", *FIXED_HASH)
    header = server.call("BF.SCANDUMP", "f", 0)[1]
    with server.client.monitor() as monitor:
        for command in (["BF.LOADCHUNK", "g", 1, header[:-1]], ["BF.LOADCHUNK", "g", 1, b"x" + header],
                        ["BF.LOADCHUNK", "g", 2, header], ["BF.LOADCHUNK", "g", "one", header],
                        ["BF.LOADCHUNK", "f", 1, header], ["BF.LOADCHUNK", "text", 1, header],
                        ["CF.LOADCHUNK", "g", 1, header]):
            server.error(*command)
        server.call("ECHO", "end")
        seen = list(commands_until(monitor, "ECHO end"))
    assert sum("(redacted)" in line for line in seen) == 7
    assert not [line for line in seen if repr(bytes.fromhex(KEY))[2:-1] in line]


def test_a_key_is_in_no_log(start):
    primary = start("--repl-diskless-sync-delay", "0", "--slowlog-log-slower-than", "0", "--slowlog-max-len", "1000")
    replica = start("--replicaof", "127.0.0.1", str(primary.port), "--slowlog-log-slower-than", "0")
    wait_for_replica(replica)
    secret = bytes.fromhex(KEY)
    with primary.client.monitor() as at_primary, replica.client.monitor() as at_replica:
        primary.call("BF.RESERVE", "f", "0.01", "1000", *FIXED_HASH)
        primary.call("BF.INSERT", "g", *FIXED_HASH, "ITEMS", "a")
        primary.call("CF.RESERVE", "c", "1000", *FIXED_HASH)
        transfer(primary, "f", "copy")
        assert primary.call("WAIT", 1, 30_000) == 1
        primary.call("ECHO", "end")
        replica.call("ECHO", "end")
        seen = []
        for monitor in (at_primary, at_replica):
            for command in monitor.listen():
                seen.append(command["command"])
                if command["command"].endswith("end"):
                    break
    assert sum("(redacted)" in line for line in seen) >= 8
    logged = [str(entry) for server in (primary, replica) for entry in server.call("SLOWLOG", "GET", -1)]
    texts = [*seen, *logged, primary.log(), replica.log(), str(primary.client.info("everything"))]
    for text in texts:
        assert KEY not in text and repr(secret)[2:-1] not in text
    assert replica.call("BF.MEXISTS", "g", "a") == [1]
    assert replica.call("DEBUG", "DIGEST") == primary.call("DEBUG", "DIGEST")
