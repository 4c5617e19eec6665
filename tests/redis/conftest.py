"""Common parts of the module's tests: real servers that have loaded it.

    def test_an_item_is_found(server):
        server.call("BF.ADD", "f", "alice")
        assert server.call("BF.EXISTS", "f", "alice") == 1

`server` is one server for all tests of a file, emptied before each; `start` starts others, which
are stopped after the test. The module is $BLOOMSET_MODULE, or build/bloomset.so beside the sources.
A server is redis-server, or the one that $BLOOMSET_SERVER names (valkey-server). Without a server
the tests are skipped. $BLOOMSET_PRELOAD is a library that servers preload, for sanitizers.
"""

import contextlib
import itertools
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import time

import pytest

redis = pytest.importorskip("redis", reason="redis-py is not installed (python3-redis)")

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODULE = os.path.abspath(os.environ.get("BLOOMSET_MODULE", ROOT / "build" / "bloomset.so"))
sys.path.insert(0, str(ROOT / "tests" / "support"))  # xxh3.py
PRELOAD = os.environ.get("BLOOMSET_PRELOAD")
# Errors of a filter that is not created: by a setting, or because the server has no room.
TOO_LARGE = "ERR could not create filter: it would be larger than bf.max-filter-size"
TOO_LARGE_BY_DEFAULT = TOO_LARGE.replace("bf.max-filter-size", "1gb, the limit while bf.max-filter-size is 0")
TOO_MUCH_FOR_ALL = "ERR could not create filter: all filters together would take more than bf.max-memory"
NO_ROOM = "ERR Insufficient memory to create filter"
PROGRAM = shutil.which(os.environ.get("BLOOMSET_SERVER", "redis-server"))


def wait_until(condition, seconds=60):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)


def free_port(host):
    with socket.socket() as probe:
        probe.bind((host, 0))
        return probe.getsockname()[1]


# A secret key. Filters without it have XXH3 here, so that the same items pass in every run.
FIXED_HASH = ("HASH", "00112233445566778899aabbccddeeff")


class Server:
    """A running server of its own folder; `call` sends a command and returns the reply, raising
    redis.ResponseError for an error."""

    def __init__(self, folder, *options, module_arguments=(), host="127.0.0.1", preload=None):
        self.folder = folder
        self.host = host
        self.options = options
        self.module_arguments = [] if module_arguments is None else ["hash", "xxh3", *module_arguments]
        self.preload = preload
        self.process = None
        self.start()

    def start(self):
        """On a free port; retries if another process takes the port first."""
        for _ in range(20):
            self.port = free_port(self.host)
            sanitized = {"LD_PRELOAD": PRELOAD,
                         "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1"}
            preloaded = {"LD_PRELOAD": self.preload} if self.preload else {}
            log = open(self.folder / "log", "ab")
            self.process = subprocess.Popen(
                [PROGRAM, "--port", str(self.port), "--bind", self.host, "--dir", str(self.folder),
                 "--save", "", "--enable-debug-command", "yes", *self.options,
                 "--loadmodule", MODULE, *self.module_arguments],
                env={**os.environ, **(sanitized if PRELOAD else {}), **preloaded},
                stdout=log, stderr=subprocess.STDOUT)
            log.close()
            self.client = redis.Redis(self.host, self.port, socket_timeout=60)
            if self._answers():
                return
        raise AssertionError(self.log())

    def _answers(self):
        until = time.monotonic() + 60
        while time.monotonic() < until and self.process.poll() is None:
            with contextlib.suppress(redis.RedisError):
                if self.client.ping():
                    return True
            time.sleep(0.01)
        if self.process.poll() is None:
            self.kill()
        if "Address already in use" in self.log():
            return False
        raise AssertionError(self.log())

    def call(self, *command):
        return self.client.execute_command(*command)

    def each(self, *command, items):
        """The answers for all items, of which the command gets 1000 at a time."""
        return [answer for first in range(0, len(items), 1000)
                for answer in self.call(*command, *items[first:first + 1000])]

    def call_all(self, commands):
        """The replies to commands that are sent at once; errors are replies, too."""
        with self.client.pipeline(transaction=False) as pipe:
            for command in commands:
                pipe.execute_command(*command)
            return pipe.execute(raise_on_error=False)

    def error(self, *command):
        """The text of the error reply, which the command must have."""
        reply = self.raw(2, *command)
        assert reply.startswith(b"-"), f"{command}: {reply!r}"
        return reply[1:].rstrip(b"\r\n").decode()

    def pieces(self, family, key):
        """A filter's dump: each iterator of SCANDUMP with its data."""
        pieces, iterator = [], 0
        while True:
            iterator, data = self.call(family + ".SCANDUMP", key, iterator)
            if iterator == 0:
                return pieces
            pieces.append((iterator, data))

    def events_of(self, *commands):
        """The key and the name of each keyspace event of these commands."""
        self.call("CONFIG", "SET", "notify-keyspace-events", "K$d")
        with self.client.pubsub() as events:
            events.psubscribe("__keyspace@0__:*")
            heard = events.listen()
            next(heard)  # that it has subscribed
            for command in (*commands, ["SET", "the end", ""]):
                self.call(*command)
            told = ((event["channel"].removeprefix(b"__keyspace@0__:"), event["data"]) for event in heard)
            return list(itertools.takewhile(lambda event: event != (b"the end", b"set"), told))

    def remove(self, *keys):
        """Deletes keys and waits until they are freed, which some servers do in the background."""
        count = len(self.client.keys())
        assert self.call("DEL", *keys) == len(keys)
        wait_until(lambda: self.client.info("memory").get("lazyfree_pending_objects", 0) == 0
                   and self.client.info("modules")["bf_filters"] <= count - len(keys))

    def rewrite_append_only_file(self):
        self.call("BGREWRITEAOF")
        wait_until(lambda: not any(self.client.info("persistence")["aof_rewrite_" + state]
                                   for state in ("in_progress", "scheduled")))
        assert self.client.info("persistence")["aof_last_bgrewrite_status"] == "ok"

    def raw(self, protocol, *command):
        """The reply's bytes in RESP2 or RESP3."""
        def send(link, *words):
            parts = [w if isinstance(w, bytes) else str(w).encode() for w in words]
            link.sendall(b"*%d\r\n" % len(parts)
                         + b"".join(b"$%d\r\n%s\r\n" % (len(p), p) for p in parts))

        with socket.create_connection((self.host, self.port), timeout=10) as link:
            send(link, "HELLO", protocol)
            send(link, *command)
            send(link, "ECHO", "end of the reply")
            got = b""
            end = b"$16\r\nend of the reply\r\n"
            while not got.endswith(end):
                piece = link.recv(1 << 16)
                assert piece, f"{command}: the connection was closed after {got!r}"
                got += piece
        # The first value is HELLO's own reply.
        return self._after_value(got[:-len(end)], 0)

    @staticmethod
    def _after_value(text, at):
        def skip(i):
            line_end = text.index(b"\r\n", i)
            sort, line, i = text[i:i + 1], text[i + 1:line_end], line_end + 2
            if sort == b"$" and line != b"-1":
                return i + int(line) + 2
            if sort in b"*%~" and line != b"-1":
                for _ in range(int(line) * (2 if sort == b"%" else 1)):
                    i = skip(i)
            return i

        return text[skip(at):]

    def kill(self, how=signal.SIGKILL):
        self.process.send_signal(how)
        self.process.wait(timeout=60)

    def stop(self):
        """At once: after SIGTERM a primary may wait for its replicas."""
        if self.process.poll() is None:
            self.kill()

    def restart(self, how=signal.SIGTERM):
        self.kill(how)
        self.start()

    def log(self):
        return (self.folder / "log").read_text(errors="replace")


def assert_moves(server, helper, key):
    """redis-py's helper for a family of commands copies the filter by SCANDUMP and LOADCHUNK."""
    iterator, data = helper.scandump(key, 0)
    while iterator != 0:
        helper.loadchunk("again", iterator, data)
        iterator, data = helper.scandump(key, iterator)
    assert server.call("DUMP", "again") == server.call("DUMP", key)


@pytest.fixture(scope="session", autouse=True)
def needs_a_server():
    if PROGRAM is None:
        pytest.skip("no redis-server is installed, and $BLOOMSET_SERVER names none")


@pytest.fixture
def start(tmp_path):
    """start(*options, module_arguments=(), host="127.0.0.1", preload=None) -> Server, in a folder of
    its own."""
    servers = []

    def make(*options, **more):
        folder = tmp_path / f"server{len(servers)}"
        folder.mkdir()
        servers.append(Server(folder, *options, **more))
        return servers[-1]

    yield make
    for each in servers:
        each.stop()


def options_of_node(host):
    # The default cluster port is the port + 10000, which may be too high. A node that never met another does
    # not know its host, and Node's clients do not guess it.
    return ["--cluster-enabled", "yes", "--cluster-port", str(free_port(host)), "--cluster-announce-ip", host]


@pytest.fixture(scope="module")
def shared_node(tmp_path_factory):
    node = Server(tmp_path_factory.mktemp("node"), *options_of_node("127.0.0.1"))
    node.call("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
    wait_for_cluster(node)
    yield node
    node.stop()


@pytest.fixture
def one_node_cluster(shared_node):
    """An empty node with all slots. A cluster takes commands after two seconds, so a file's tests share it."""
    shared_node.call("FLUSHALL", "SYNC")
    shared_node.call("CONFIG", "SET", "bf.max-filter-size", 0)
    yield shared_node
    assert shared_node.process.poll() is None, shared_node.log()[-4000:]


def wait_for_replica(replica):
    wait_until(lambda: replica.client.info("replication").get("master_link_status") == "up")


def wait_for_cluster(*nodes):
    wait_until(lambda: all(node.call("CLUSTER INFO")["cluster_state"] == "ok" for node in nodes))


@pytest.fixture(scope="module")
def shared_server(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("server"))
    yield server
    server.stop()


@pytest.fixture
def server(shared_server):
    """One server for all tests of a file, empty. A crash fails the test that caused it, and the
    server is restarted for the next."""
    if shared_server.process.poll() is not None:
        shared_server.start()
    shared_server.call("FLUSHALL", "SYNC")
    # RESTORE parses changed payloads, which have a wrong checksum.
    shared_server.call("DEBUG", "SET-SKIP-CHECKSUM-VALIDATION", 1)
    yield shared_server
    assert shared_server.process.poll() is None, shared_server.log()[-4000:]


@pytest.fixture(scope="module")
def compatible_server(tmp_path_factory):
    """One server whose new filters are RedisBloom's, for all tests of a file."""
    server = Server(tmp_path_factory.mktemp("compatible"), "--rdbcompression", "no",
                    module_arguments=["engine", "compatible"])
    yield server
    server.stop()


@pytest.fixture
def compatible(compatible_server):
    compatible_server.call("FLUSHALL", "SYNC")
    yield compatible_server
    assert compatible_server.process.poll() is None, compatible_server.log()[-4000:]
