"""examples/valkey-cluster: six nodes, slots that move and a primary that is killed under writes; and
its client on small clusters: shards that refuse items or exist already, nodes on several hosts."""

import shutil
import socketserver
import subprocess
import sys
import threading

import pytest

from conftest import MODULE, PROGRAM, ROOT, options_of_node, redis, wait_for_cluster

EXAMPLE = ROOT / "examples" / "valkey-cluster"
sys.path.insert(0, str(EXAMPLE))
from sharded_filter import Refused, ShardedFilter, shard_of  # noqa: E402


@pytest.mark.skipif(shutil.which("redis-cli") is None, reason="redis-cli is not installed")
def test_what_a_replica_confirmed_survives_resharding_and_failover():
    done = subprocess.run([sys.executable, EXAMPLE / "run", "--seconds", "1", "--server", PROGRAM],
                          env={"PATH": "/usr/bin:/bin", "BLOOMSET_MODULE": MODULE},
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "was killed and replaced" in done.stdout and "lost: 0;" in done.stdout


def test_a_python_without_the_package_is_told_its_name(tmp_path):
    (tmp_path / "redis.py").write_text("raise ModuleNotFoundError(\"No module named 'redis'\")\n")
    done = subprocess.run([sys.executable, EXAMPLE / "run"], env={"PYTHONPATH": str(tmp_path)},
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr == ("run: this Python has no package redis; 'apt-get install python3-redis' brings "
                           "it to /usr/bin/python3, and 'pip install redis' to others\n")


class MeetingNode(socketserver.ThreadingTCPServer):
    """A node that answers a filter command only when the other nodes have received one, too."""
    daemon_threads = True

    def __init__(self, others):
        self.others = others  # barrier of the nodes
        self.slots = ""
        super().__init__(("127.0.0.1", 0), MeetingNode.Client)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    class Client(socketserver.StreamRequestHandler):
        def handle(self):
            met = False
            while line := self.rfile.readline():
                words = []
                for _ in range(int(line[1:])):
                    words.append(self.rfile.read(int(self.rfile.readline()[1:]) + 2)[:-2].decode())
                if words[0] == "CLUSTER" or words[0] == "CLUSTER SLOTS":
                    self.wfile.write(self.server.slots.encode())
                elif words[0].startswith("BF."):
                    if not met:
                        try:
                            self.server.others.wait()
                        except threading.BrokenBarrierError:
                            return
                    met = True
                    reply = "+OK\r\n" if words[0] == "BF.RESERVE" else f"*{len(words) - 2}\r\n"
                    self.wfile.write((reply + ":1\r\n" * (reply[0] == "*") * (len(words) - 2)).encode())
                else:
                    self.wfile.write(b":1\r\n")


def test_all_nodes_are_asked_at_once():
    """A client that waits for a node before it asks the next would wait for ever."""
    meeting = threading.Barrier(3, timeout=20)
    nodes = [MeetingNode(meeting) for _ in range(3)]
    ports = [node.server_address[1] for node in nodes]
    for node in nodes:
        node.slots = "*3\r\n" + "".join(
            f"*3\r\n:{first}\r\n:{last}\r\n*2\r\n$9\r\n127.0.0.1\r\n:{port}\r\n"
            for (first, last), port in zip([(0, 5460), (5461, 10922), (10923, 16383)], ports))
    try:
        items = [f"item{i}" for i in range(100)]
        for ask in (lambda seen: seen.reserve(0.01, 1000), lambda seen: seen.add(items),
                    lambda seen: seen.contains(items)):
            assert ask(ShardedFilter(ports, "seen", shards=16, patience=0)) in (None, [True] * 100)
    finally:
        for node in nodes:
            node.shutdown()
            node.server_close()


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_the_recipe_in_javascript_asks_all_shards_at_once():
    script = f"""
        import {{ShardedFilter}} from '{EXAMPLE / "sharded_filter.mjs"}';
        let waiting = [];
        const send = (command, key, ...words) => new Promise((answer) => {{
          waiting.push(() => answer(command === 'BF.RESERVE' ? 'OK' : words.map(() => 1)));
          if (waiting.length === 4) {{
            for (const each of waiting) each();
            waiting = [];
          }}
        }});
        const seen = new ShardedFilter(send, 'seen', 4);
        await seen.reserve(0.01, 1000);
        const items = Array.from({{length: 100}}, (_, i) => `item${{i}}`);
        console.log((await seen.add(items)).length, (await seen.contains(items)).length);"""
    done = subprocess.run(["node", "--input-type=module", "-e", script], capture_output=True, text=True,
                          timeout=60)
    assert (done.stdout, done.returncode) == ("100 100\n", 0), done.stderr


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_both_recipes_find_the_same_shards():
    items = ["alice", "bob", "", "Zo\u00eb", "\u6f22\u5b57", *(f"item{i}" for i in range(300))]
    for shards in (1, 16, 1000):
        shown = subprocess.run(["node", EXAMPLE / "sharded_filter.mjs", "seen", str(shards), *items],
                               capture_output=True, text=True, check=True).stdout.splitlines()
        assert shown == [f"seen:{{{shard_of(item, shards)}}}" for item in items]
    assert len({shard_of(item, 16) for item in items}) == 16


def test_items_that_a_shard_refuses_are_not_said_to_be_added(one_node_cluster):
    seen = ShardedFilter([one_node_cluster.port], "seen", shards=2)
    seen.reserve(0.01, 1000)
    one_node_cluster.call("CONFIG", "SET", "bf.max-filter-size", 65536)
    with pytest.raises(Refused) as caught:
        for first in range(0, 200_000, 9000):
            items = [f"item{i}" for i in range(first, first + 9000)]
            answers = seen.add(items, replicas=0)
            assert None not in answers and all(seen.contains(items))
    answers = caught.value.answers
    left = [item for item, answer in zip(items, answers) if answer is None]
    assert 0 < len(left) < 9000
    shard = shard_of(items[0], 2)  # asked first
    item = next(item for item in left if shard_of(item, 2) == shard)
    assert str(caught.value) == (
        f"seen:{{{shard}}} refused {item!r}: problem inserting into filter: it has reached "
        f"bf.max-filter-size; {len(left)} of 9000 items have no answer")
    assert all(seen.contains([item for item, answer in zip(items, answers) if answer is not None]))
    # With room again, the refused items are new.
    one_node_cluster.call("CONFIG", "SET", "bf.max-filter-size", "1mb")
    assert seen.add(left, replicas=0).count(True) > len(left) * 0.9
    assert all(seen.contains(items))


def test_a_shard_that_refuses_a_command_keeps_no_other_from_its_items(one_node_cluster):
    one_node_cluster.call("SET", "seen:{0}", "a string")
    seen = ShardedFilter([one_node_cluster.port], "seen", shards=2)
    items = ["alice", "bob", "carol", "dave", "erin", "frank"]
    with pytest.raises(Refused, match=r"^seen:\{0\} refused .*: WRONGTYPE ") as caught:
        seen.add(items, replicas=0)
    assert caught.value.answers == [None if shard_of(item, 2) == 0 else True for item in items]


def test_a_filter_may_be_reserved_again_alike(one_node_cluster):
    seen = ShardedFilter([one_node_cluster.port], "seen", shards=4)
    seen.reserve(0.001, 10_000)
    seen.add(["alice"], replicas=0)
    missing = f"seen:{{{(shard_of('alice', 4) + 1) % 4}}}"
    one_node_cluster.call("DEL", missing)  # as if the first call had failed halfway
    seen.reserve(0.001, 10_000)
    assert one_node_cluster.call("EXISTS", missing) == 1
    seen.add([f"item{i}" for i in range(20_000)], replicas=0)
    seen.reserve(0.001, 10_000)  # now it has grown
    assert seen.contains(["alice"]) == [True]
    for rate, capacity in ((0.01, 10_000), (0.001, 1_000_000)):
        with pytest.raises(redis.ResponseError, match=r"^seen:\{0\} exists, of rate 0.001 for "):
            seen.reserve(rate, capacity)
    coarse = ShardedFilter([one_node_cluster.port], "coarse", shards=4)
    coarse.reserve(0.5, 100)
    coarse.reserve(0.5, 100)


def test_nodes_are_found_on_their_hosts(start):
    """Two nodes on hosts other than the default one; then a slot on its way, and moved."""
    old, new = (start(*options_of_node(host), host=host) for host in ("127.0.0.2", "127.0.0.3"))
    old.call("CLUSTER", "ADDSLOTSRANGE", 0, 8191)
    new.call("CLUSTER", "ADDSLOTSRANGE", 8192, 16383)
    bus = new.client.config_get("cluster-port")["cluster-port"]
    old.call("CLUSTER", "MEET", new.host, new.port, bus)
    wait_for_cluster(old, new)
    seen = ShardedFilter([f"{new.host}:{new.port}"], "seen", shards=16)
    seen.reserve(0.01, 1000)
    items = [f"item{i}" for i in range(100)]
    assert seen.add(items, replicas=0).count(True) > 90
    assert all(seen.contains(items))
    assert {node.call("DBSIZE") for node in (old, new)} != {0, 16}

    key = next(f"seen:{{{s}}}" for s in range(16) if f"seen:{{{s}}}".encode() in old.call("KEYS", "*"))
    slot = old.call("CLUSTER", "KEYSLOT", key)
    ids = {node: node.call("CLUSTER", "MYID").decode() for node in (old, new)}
    new.call("CLUSTER", "SETSLOT", slot, "IMPORTING", ids[old])
    old.call("CLUSTER", "SETSLOT", slot, "MIGRATING", ids[new])
    old.call("MIGRATE", new.host, new.port, key, 0, 5000)
    assert all(seen.contains(items))  # by ASK
    for node in (new, old):
        node.call("CLUSTER", "SETSLOT", slot, "NODE", ids[new])
    assert all(seen.contains(items))  # by MOVED
