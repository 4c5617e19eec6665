"""One filter over a whole cluster: shard s of the filter `name` is the key `name:{s}`.

    seen = ShardedFilter(["10.0.0.1:7000", "10.0.0.2:7000"], "seen", shards=16)
    seen.reserve(0.01, 1_000_000)        # once, or each time that a program starts
    seen.add(["alice", "bob"])           # waits until a replica has them
    seen.contains(["alice", "carol"])    # [True, False]

An item's shard is the CRC-32 of its bytes (zlib's) modulo the number of shards, so that every
client in any language finds it; sharded_filter.mjs has the same in JavaScript. What is in the
braces decides the hash slot, so that shards spread over all nodes. The number of shards is for ever;
16 for each node that the cluster may ever have keeps the nodes' loads alike.
"""

import concurrent.futures
import math
import time
import zlib

import redis
from redis.crc import key_slot

WORDS = {"AskError": "ASK", "MovedError": "MOVED", "TryAgainError": "TRYAGAIN",
         "ClusterDownError": "CLUSTERDOWN", "BusyLoadingError": "LOADING",
         "ReadOnlyError": "READONLY"}
# What a node answers that is not the one to ask, or not now.
ELSEWHERE = {"ASK", "MOVED", "TRYAGAIN", "CLUSTERDOWN", "LOADING", "READONLY"}


def word_of(why):
    """The first word of an error. Some versions of redis-py have classes for these and cut it off."""
    return WORDS.get(type(why).__name__, (str(why).split() or [""])[0])


def shard_of(item, shards):
    return zlib.crc32(item.encode() if isinstance(item, str) else item) % shards


def address(text, same_host="127.0.0.1"):
    """(host, port) of "host:port", or of a port: a node names itself so that does not know its
    host, which is then the one that was asked."""
    host, _, port = str(text).rpartition(":")
    return host.strip("[]") or same_host, int(port)


class Refused(redis.ResponseError):
    """A shard, or several, did not take all of its items; the message tells the first one and why.
    `answers` has True or False for each item as ever, and None for each that was not added: add
    those again when there is room (`bf.max-filter-size`, `bf.max-memory`, `maxmemory`)."""

    def __init__(self, why, answers):
        super().__init__(why)
        self.answers = answers


class ShardedFilter:
    """Follows the cluster: moved slots, slots on their way, and primaries that were replaced.
    `nodes` are some of the cluster's, "host:port" each; a port is one of 127.0.0.1."""

    def __init__(self, nodes, name, shards=16, patience=30):
        self.nodes, self.name = [address(node) for node in nodes], name
        self.shards, self.patience = shards, patience
        self.links = {}   # by node; WAIT follows its writes on their connection
        self.owners = []  # (first slot, last slot, node)

    def add(self, items, replicas=1):
        """True for each item that was new. Returns when as many replicas have them all; until then
        it writes again, since adding twice changes nothing, but what is written again may be
        answered False. Raises Refused if some were not added; what was added stays. After any
        other exception some may have been: add all again."""
        return self._each_shard(items, "BF.MADD", replicas)

    def contains(self, items):
        return self._each_shard(items, "BF.MEXISTS", 0)

    def reserve(self, rate, capacity):
        """`capacity` items in all; a shard has room for a few more than its share. May be called
        again: shards that are there stay as they are, and are an error only if they have another
        rate or less room. (They have more when they have grown.)"""
        share = capacity // self.shards
        room = share + math.isqrt(36 * share) + 1
        keys = [self._key(shard) for shard in range(self.shards)]
        there = []
        for key, reply in zip(keys, self._call_all([("BF.RESERVE", key, rate, room) for key in keys])):
            if isinstance(reply, redis.ResponseError):
                if "item exists" not in str(reply):
                    raise reply
                there.append(key)
        # BF.STATS alone tells the rate; it counts the bits too, some 2 ms a megabyte.
        facts = self._call_all([(command, key) for key in there for command in ("BF.INFO", "BF.STATS")])
        for key, info, stats in zip(there, facts[::2], facts[1::2]):
            for reply in (info, stats):
                if isinstance(reply, redis.ResponseError):
                    raise reply
            its = dict(zip((info + stats)[::2], (info + stats)[1::2]))
            has_rate, has_room = float(its[b"Error rate requested"]), its[b"Capacity"]
            if has_rate != min(rate, 0.25) or has_room < room:  # 0.25 is the server's highest
                raise redis.ResponseError(f"{key} exists, of rate {has_rate} for {has_room} items, "
                                          f"not of rate {rate} for {room}")

    def _key(self, shard):
        return f"{self.name}:{{{shard}}}"

    def _each_shard(self, items, command, replicas):
        places = {}
        for at, item in enumerate(items):
            places.setdefault(self._key(shard_of(item, self.shards)), []).append(at)
        answers, refusal = [None] * len(items), None
        calls = [(command, key, *(items[at] for at in its)) for key, its in places.items()]
        for (key, its), replies in zip(places.items(), self._call_all(calls, replicas)):
            if isinstance(replies, redis.ResponseError):
                replies = [replies]
            for at, reply in zip(its, replies):
                if isinstance(reply, redis.ResponseError):  # the last reply; all else is refused too
                    refusal = refusal or f"{key} refused {items[at]!r}: {reply}"
                    break
                answers[at] = bool(reply)
        if refusal:
            raise Refused(f"{refusal}; {answers.count(None)} of {len(items)} items have no answer",
                          answers)
        return answers

    def _call_all(self, calls, replicas=0):
        """The replies to commands, (name, key, word...) each, an error being a reply too. All nodes
        are asked at once. Commands that a node redirects or does not confirm follow one by one."""
        by_node, replies = {}, [None] * len(calls)
        for at, (_, key, *_) in enumerate(calls):
            try:
                by_node.setdefault(self._owner(key), []).append(at)
            except redis.ConnectionError:
                continue

        def ask(node):
            its = by_node[node]
            pipe = self._link(node).pipeline(transaction=False)
            for at in its:
                pipe.execute_command(*calls[at])
            if replicas:
                pipe.execute_command("WAIT", replicas, 1000)
            try:
                got = pipe.execute(raise_on_error=False)
            except (redis.ConnectionError, redis.TimeoutError):
                return
            if replicas and (isinstance(got[-1], redis.ResponseError) or got[-1] < replicas):
                return
            for at, reply in zip(its, got):
                if not isinstance(reply, redis.ResponseError) or word_of(reply) not in ELSEWHERE:
                    replies[at] = reply

        if by_node:
            with concurrent.futures.ThreadPoolExecutor(len(by_node)) as pool:
                list(pool.map(ask, by_node))
        for at, reply in enumerate(replies):
            if reply is None:
                try:
                    replies[at] = self._call(calls[at], replicas)
                except redis.ResponseError as why:
                    replies[at] = why
        return replies

    def _call(self, call, replicas):
        key = call[1]
        until = time.monotonic() + self.patience
        told, asking = None, False  # the node that a redirection named; whether for this once
        while True:
            node = None
            try:
                node, told = told or self._owner(key), None
                link = self._link(node)
                if asking:
                    link.execute_command("ASKING")
                asking = False
                reply = link.execute_command(*call)
                if replicas == 0 or link.execute_command("WAIT", replicas, 1000) >= replicas:
                    return reply
            except (redis.ConnectionError, redis.TimeoutError) as why:
                self.links.pop(node, None)
                asking, last = False, why
            except redis.ResponseError as why:
                word = word_of(why)
                if word in ("ASK", "MOVED"):
                    told = address(str(why).split()[-1], node[0])
                asking = word == "ASK"  # the slot is on its way there
                if asking:
                    continue
                if word not in ELSEWHERE:
                    raise
                last = why
            else:
                last = f"no replica confirmed {call[0]}"
            self.owners = []
            if time.monotonic() > until:
                raise redis.ConnectionError(f"{key}: {last}")
            time.sleep(0.02)

    def _link(self, node):
        if node not in self.links:
            self.links[node] = redis.Redis(*node, socket_timeout=5, single_connection_client=True)
        return self.links[node]

    def _owner(self, key):
        slot = key_slot(key.encode())
        if not self.owners:
            self._ask_for_owners()
        for first, last, node in self.owners:
            if first <= slot <= last:
                return node
        self.owners = []
        raise redis.ConnectionError(f"no node answers for slot {slot}")

    def _ask_for_owners(self):
        for node in self.nodes:
            try:
                slots = redis.Redis(*node, socket_timeout=2).execute_command("CLUSTER SLOTS")
            except redis.RedisError:
                continue
            self.owners = [(first, last, ((primary[0] or b"").decode() or node[0], primary[1]))
                           for first, last, primary, *_ in slots]
            return
        raise redis.ConnectionError("no node of the cluster answers")
