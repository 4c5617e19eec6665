"""One filter over a whole cluster: shard s of the filter `name` is the key `name:{s}`.

    seen = ShardedFilter([7000, 7001], "seen", shards=16)
    seen.add(["alice", "bob"])           # waits until a replica has them
    seen.contains(["alice", "carol"])    # [True, False]

An item's shard is the CRC-32 of its bytes (zlib's) modulo the number of shards, so that every
client in any language finds it; sharded_filter.mjs has the same in JavaScript. What is in the
braces decides the hash slot, so that shards spread over all nodes. The number of shards is for ever;
16 for each node that the cluster may ever have keeps the nodes' loads alike.
"""

import time
import zlib

import redis
from redis.crc import key_slot

WORDS = {"AskError": "ASK", "MovedError": "MOVED", "TryAgainError": "TRYAGAIN",
         "ClusterDownError": "CLUSTERDOWN", "BusyLoadingError": "LOADING",
         "ReadOnlyError": "READONLY"}


def shard_of(item, shards):
    return zlib.crc32(item.encode() if isinstance(item, str) else item) % shards


class ShardedFilter:
    """Follows the cluster: moved slots, slots on their way, and primaries that were replaced."""

    def __init__(self, ports, name, shards=16, patience=30):
        self.ports, self.name, self.shards, self.patience = list(ports), name, shards, patience
        self.links = {}   # one connection a node, so that WAIT is about the write before it
        self.owners = []  # (first slot, last slot, port)

    def add(self, items, replicas=1):
        """True for each item that was new. Returns when as many replicas have them all; until then
        it writes again, since adding twice changes nothing."""
        return self._each_shard(items, "BF.MADD", replicas)

    def contains(self, items):
        return self._each_shard(items, "BF.MEXISTS", 0)

    def reserve(self, rate, capacity):
        """`capacity` items in all; a shard has room for a few more than its share."""
        share = capacity // self.shards
        room = int(share + 6 * share ** 0.5) + 1
        for shard in range(self.shards):
            self._call(f"{self.name}:{{{shard}}}", 0, "BF.RESERVE", rate, room)

    def _each_shard(self, items, command, replicas):
        places = {}
        for at, item in enumerate(items):
            places.setdefault(shard_of(item, self.shards), []).append(at)
        answers = [None] * len(items)
        for shard, its in places.items():
            replies = self._call(f"{self.name}:{{{shard}}}", replicas, command,
                                 *(items[at] for at in its))
            for at, reply in zip(its, replies):
                answers[at] = bool(reply)
        return answers

    def _call(self, key, replicas, command, *words):
        until = time.monotonic() + self.patience
        asking = port = None
        while True:
            try:
                port = asking or self._owner(key)
                link = self._link(port)
                if asking:
                    link.execute_command("ASKING")
                asking = None
                reply = link.execute_command(command, key, *words)
                if replicas == 0 or link.execute_command("WAIT", replicas, 1000) >= replicas:
                    return reply
            except (redis.ConnectionError, redis.TimeoutError) as why:
                self.links.pop(port, None)
                last = why
            except redis.ResponseError as why:
                # Some versions of redis-py have classes for these and cut the word off.
                word, *rest = str(why).split()
                word = WORDS.get(type(why).__name__, word)
                if word == "ASK":  # the slot is on its way there
                    asking = int(rest[-1].rpartition(":")[2])
                    continue
                if word not in ("MOVED", "TRYAGAIN", "CLUSTERDOWN", "LOADING", "READONLY"):
                    raise
                last = why
            else:
                last = f"no replica confirmed {command}"
            self.owners = []
            if time.monotonic() > until:
                raise redis.ConnectionError(f"{key}: {last}")
            time.sleep(0.02)

    def _link(self, port):
        if port not in self.links:
            self.links[port] = redis.Redis(port=port, socket_timeout=5, single_connection_client=True)
        return self.links[port]

    def _owner(self, key):
        slot = key_slot(key.encode())
        if not self.owners:
            self._ask_for_owners()
        for first, last, port in self.owners:
            if first <= slot <= last:
                return port
        self.owners = []
        raise redis.ConnectionError(f"no node answers for slot {slot}")

    def _ask_for_owners(self):
        for port in self.ports:
            try:
                slots = redis.Redis(port=port, socket_timeout=2).execute_command("CLUSTER SLOTS")
            except redis.RedisError:
                continue
            self.owners = [(first, last, primary[1]) for first, last, primary, *_ in slots]
            return
        raise redis.ConnectionError("no node of the cluster answers")
