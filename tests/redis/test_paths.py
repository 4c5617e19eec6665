"""Members stay members on every way of a filter: {hash} x {kind} x {way}, and non-members are answered alike."""

import socket

import pytest

from conftest import FIXED_HASH

MEMBERS = [f"member{i}" for i in range(700)]
OTHERS = [f"other{i}" for i in range(10_000)]
HASHES = {"xxh3": ["HASH", "XXH3"], "siphash": ["HASH", "SIPHASH"], "key": list(FIXED_HASH)}
# Of 700 items, so that the growing ones have outgrown their reservation.
KINDS = {
    "fixed": ["BF.RESERVE", "0.01", "1000", "NONSCALING"],
    "classic": ["BF.RESERVE", "1e-6", "1000", "NONSCALING"],
    "of 128 bits": ["BF.RESERVE", "1e-20", "1000", "NONSCALING"],
    "growing": ["BF.RESERVE", "0.01", "100"],
    "deletable": ["BF.RESERVE", "0.01", "2000", "DELETABLE", "NONSCALING"],
    "window": ["BF.RESERVE", "0.01", "100", "WINDOW", "360000"],
    "cuckoo": ["CF.RESERVE", "100"],
    "fixed cuckoo": ["CF.RESERVE", "2000", "EXPANSION", "0"],
}


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """A server, and one whose settings and default hash are others."""
    from conftest import Server
    servers = [Server(tmp_path_factory.mktemp("one"), "--appendonly", "yes", "--aof-use-rdb-preamble", "no"),
               Server(tmp_path_factory.mktemp("other"), module_arguments=[
                   "hash", "siphash", "error-rate", "0.2", "initial-size", "7", "cf-initial-size", "50"])]
    yield servers
    for each in servers:
        each.stop()


def answers(server, family, key):
    return server.call(family + ".MEXISTS", key, *MEMBERS), server.call(family + ".MEXISTS", key, *OTHERS)


@pytest.mark.parametrize("hash", HASHES)
@pytest.mark.parametrize("kind", KINDS)
def test_members_survive_dumps_and_chunks_on_another_server(pair, kind, hash):
    one, other = pair
    command, *words = KINDS[kind]
    family = command[:2]
    for server in pair:
        server.call("FLUSHALL", "SYNC")
    one.call(command, "f", *words, *HASHES[hash])
    one.call(family + ".INSERT", "f", "ITEMS", *MEMBERS)
    expected = answers(one, family, "f")
    assert expected[0] == [1] * len(MEMBERS)
    other.call("RESTORE", "restored", 0, one.call("DUMP", "f"))
    for piece in one.pieces(family, "f"):
        other.call(family + ".LOADCHUNK", "loaded", *piece)
    other.call("COPY", "loaded", "copied")
    for key in ("restored", "loaded", "copied"):
        assert answers(other, family, key) == expected
        # It goes on as before.
        other.call(family + ".ADD", key, "later")
        assert other.call(family + ".EXISTS", key, "later") == 1
    if kind != "window":  # filters that forget are never merged
        assert other.call(family + ".MERGE", "merged", "loaded", "restored") == b"OK"
        assert other.call(family + ".MEXISTS", "merged", *MEMBERS, "later") == [1] * (len(MEMBERS) + 1)


@pytest.mark.parametrize("hash", ["xxh3", "key"])
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "window"])
def test_members_of_both_filters_survive_merging(pair, kind, hash):
    one, other = pair
    command, *words = KINDS[kind]
    family = command[:2]
    for server in pair:
        server.call("FLUSHALL", "SYNC")
        server.call(command, "f", *words, *HASHES[hash])
    one.call(family + ".INSERT", "f", "ITEMS", *MEMBERS[:300])
    other.call(family + ".INSERT", "f", "ITEMS", *MEMBERS[300:500])
    for piece in one.pieces(family, "f"):
        other.call(family + ".LOADCHUNK", "g", *piece)
    merged = other.raw(2, family + ".MERGE", "f", "g")
    if kind in ("growing", "cuckoo"):  # the union keeps the rate that was requested, or is refused
        assert merged == b"+OK\r\n" or b"cannot be merged" in merged
    else:
        assert merged == b"+OK\r\n"
    count = 500 if merged == b"+OK\r\n" else 200
    assert other.call(family + ".MEXISTS", "f", *MEMBERS[500 - count:500]) == [1] * count


def test_members_survive_the_append_only_file_and_its_rewriting(pair):
    one, _ = pair
    one.call("FLUSHALL", "SYNC")
    expected = {}
    for hash, words in HASHES.items():
        for kind, (command, *reserve) in KINDS.items():
            key = f"{kind} {hash}"
            one.call(command, key, *reserve, *words)
            one.call(command[:2] + ".INSERT", key, "ITEMS", *MEMBERS)
            expected[key] = command[:2], answers(one, command[:2], key)
    for rewrites in (False, True):
        if rewrites:
            one.rewrite_append_only_file()
        one.restart()
        for key, (family, told) in expected.items():
            assert answers(one, family, key) == told, key


def test_an_append_only_file_may_be_sent_to_another_server(pair):
    """As `redis-cli --pipe` does: the other server takes its commands as those of a client."""
    one, other = pair
    for server in pair:
        server.call("FLUSHALL", "SYNC")
    one.rewrite_append_only_file()
    expected = {}
    for kind, (command, *reserve) in {**KINDS, "compatible": ["BF.RESERVE", "0.01", "1000", "NONSCALING", "COMPATIBLE"],
                                      "compatible cuckoo": ["CF.RESERVE", "1000", "ENGINE", "COMPATIBLE"]}.items():
        one.call(command, kind, *reserve)
        one.call(command[:2] + ".INSERT", kind, "ITEMS", *MEMBERS)
        expected[kind] = command[:2], answers(one, command[:2], kind)
    for rewrites in (False, True):
        if rewrites:
            one.rewrite_append_only_file()
            other.call("FLUSHALL", "SYNC")
        one.call("ECHO", "end")
        file, = (one.folder / "appendonlydir").glob("*.base.aof" if rewrites else "*.incr.aof")
        with socket.create_connection((other.host, other.port), timeout=30) as link:
            link.sendall(file.read_bytes() + b"*2\r\n$4\r\nECHO\r\n$3\r\nend\r\n")
            replies = b""
            while not replies.endswith(b"$3\r\nend\r\n"):
                replies += link.recv(1 << 16)
        assert b"-" not in [line[:1] for line in replies.splitlines()]
        for key, (family, told) in expected.items():
            assert answers(other, family, key) == told, key


@pytest.mark.parametrize("rate, capacity", [("1e-20", 1000), ("1e-12", 100_000)])
def test_equal_reservations_have_equal_hashes_whatever_the_rate(pair, rate, capacity):
    """Of 64 or 128 bits, the answers depend on the key alone."""
    dumps = []
    for server in pair:
        server.call("FLUSHALL", "SYNC")
        server.call("BF.RESERVE", "f", rate, capacity, "NONSCALING", *FIXED_HASH)
        server.call("BF.MADD", "f", *MEMBERS)
        dumps.append(server.call("DUMP", "f"))
    assert dumps[0] == dumps[1]
