#!/usr/bin/env python3
"""Clients that add, query, delete, copy and dump at once, while the server saves, restarts and feeds
a replica. Ends with status 1 at the first lost member, at an error that is not documented, at a
replica that differs, or when memory is not given back.

    tests/redis/soak.py [--seconds 600] [--clients 50] [--pause 0] [--seed 1]

The module is $BLOOMSET_MODULE or build/bloomset.so, as for the tests.
"""

import argparse
import collections
import pathlib
import random
import signal
import sys
import tempfile
import threading
import time

import redis

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from conftest import Server, wait_for_replica  # noqa: E402

# Errors that clients may receive here (docs/reference/server/commands.md, "Full filters").
DOCUMENTED = ("non scaling filter is full", "Filter is full")
ROUND_SECONDS = 5


class Client(threading.Thread):
    """Owns items and some keys; shares other keys with all clients."""

    def __init__(self, number, server, seed, pause):
        super().__init__(daemon=True)
        self.number = number
        self.pause = pause  # seconds between two steps
        self.client = redis.Redis(port=server.port, socket_timeout=60)
        self.chosen = random.Random(seed * 1000 + number)
        self.made = 0
        self.added = collections.defaultdict(list)              # key: items, which are never deleted
        self.held = collections.defaultdict(collections.Counter)  # key: copies of each item
        self.commands = 0
        self.failure = None
        self.stopping = threading.Event()

    def new_items(self, n):
        self.made += n
        return [f"{self.number}:{i}" for i in range(self.made - n, self.made)]

    def call(self, *command):
        self.commands += 1
        return self.client.execute_command(*command)

    def some(self, items, n=20):
        return self.chosen.sample(items, min(n, len(items)))

    def check(self, key, asks, items):
        answers = self.call(asks, key, *items) if items else []
        if 0 in answers:
            raise AssertionError(f"{key} lost {items[answers.index(0)]}")

    # Steps, all equally likely -----------------------------------------------------------

    def add(self):
        key = self.chosen.choice(["shared", f"shared {self.number % 5}", f"own {self.number}"])
        items = self.new_items(self.chosen.choice([1, 3, 40]))
        self.call("BF.MADD", key, *items)
        self.added[key] += items

    def add_to_fixed(self):
        key = f"fixed {self.number}"
        items = self.new_items(5)
        answers = self.call("BF.INSERT", key, "CAPACITY", 400, "NONSCALING", "ITEMS", *items)
        taken = [a for a in answers if not isinstance(a, redis.ResponseError)]
        for each in answers[len(taken):]:
            if str(each) not in DOCUMENTED:
                raise each
        self.added[key] += items[:len(taken)]

    def ask(self):
        for key, items in list(self.added.items()):
            self.check(key, "BF.MEXISTS", self.some(items))

    def copies(self, key, adds, asks, deletes, counts):
        held = self.held[key]
        if self.chosen.random() < 0.55 or not held:
            items = self.new_items(8) + self.some(sorted(held), 2)
            self.call(*adds, *items)
            held.update(items)
        for item in self.some(sorted(held), 6):
            if self.call(counts, key, item) < held[item]:
                raise AssertionError(f"{key} counts too few {item}")
            if self.call(deletes, key, item) != 1:
                raise AssertionError(f"{key} lost {item}")
            held[item] -= 1
            if not held[item]:
                del held[item]
        self.check(key, asks, self.some(sorted(held)))

    def cuckoo(self):
        key = self.chosen.choice(["cuckoo", f"cuckoo {self.number}"])
        self.copies(key, ["CF.INSERT", key, "ITEMS"], "CF.MEXISTS", "CF.DEL", "CF.COUNT")

    def deletable(self):
        key = f"deletable {self.number}"
        self.copies(key, ["BF.INSERT", key, "CAPACITY", 2000, "DELETABLE", "ITEMS"], "BF.MEXISTS",
                    "BF.DEL", "BF.COUNT")

    def move(self):
        """Copies an own filter by COPY, DUMP and SCANDUMP, and keeps the last copy."""
        key, other = f"own {self.number}", f"moved {self.number}"
        if not self.added[key]:
            return
        how = self.chosen.choice(["copy", "dump", "scan"])
        self.call("UNLINK", other)
        if how == "copy":
            self.call("COPY", key, other)
        elif how == "dump":
            self.call("RESTORE", other, 0, self.call("DUMP", key))
        else:
            iterator = 0
            while True:
                iterator, data = self.call("BF.SCANDUMP", key, iterator)
                if iterator == 0:
                    break
                self.call("BF.LOADCHUNK", other, iterator, data)
        self.check(other, "BF.MEXISTS", self.some(self.added[key]))
        if self.chosen.random() < 0.2:
            self.call("UNLINK", key)
            self.call("RENAME", other, key)

    def run(self):
        steps = [self.add, self.add_to_fixed, self.ask, self.cuckoo, self.deletable, self.move]
        try:
            while not self.stopping.wait(self.pause):
                self.chosen.choice(steps)()
        except Exception as why:  # reported by the main thread
            self.failure = why

    def check_all(self):
        for key, items in self.added.items():
            for first in range(0, len(items), 1000):
                self.check(key, "BF.MEXISTS", items[first:first + 1000])
        for key, held in self.held.items():
            self.check(key, ("CF" if key.startswith("cuckoo") else "BF") + ".MEXISTS", sorted(held))


def run_round(clients, server, seconds):
    """All clients at once, with saves in between; their state outlives the round's threads."""
    workers = []
    for each in clients:
        worker = Client(each.number, server, each.chosen.randrange(1 << 30), each.pause)
        worker.made, worker.added, worker.held = each.made, each.added, each.held
        worker.start()
        workers.append(worker)
    until = time.monotonic() + seconds
    while time.monotonic() < until and not any(w.failure for w in workers):
        time.sleep(min(1, seconds / 3))
        try:
            server.call("BGSAVE", "SCHEDULE")  # after a rewrite of the append-only file
        except redis.ResponseError as why:
            if "in progress" not in str(why):
                raise
    for worker in workers:
        worker.stopping.set()
    for worker in workers:
        worker.join(timeout=60)
        if worker.failure:
            raise worker.failure
    return workers


def soak(folder, seconds, number_of_clients, seed, pause):
    (folder / "primary").mkdir()
    (folder / "replica").mkdir()
    primary = Server(folder / "primary", "--appendonly", "yes", "--appendfsync", "always",
                     "--repl-diskless-sync-delay", "0")
    replica = None
    try:
        at_first = primary.client.info("memory")["used_memory"]
        clients = [Client(n, primary, seed, pause) for n in range(number_of_clients)]
        end, rounds, commands = time.monotonic() + seconds, 0, 0
        while time.monotonic() < end or rounds < 2:
            if replica is None:
                replica = Server(folder / "replica", "--replicaof", f"127.0.0.1 {primary.port}",
                                 module_arguments=["ERROR_RATE", "0.2", "cf-error-rate", "0.1"])
            clients = run_round(clients, primary, min(ROUND_SECONDS, seconds / 2))
            rounds += 1
            commands += sum(each.commands for each in clients)
            wait_for_replica(replica)
            if primary.call("WAIT", 1, 30_000) != 1:
                raise AssertionError("the replica does not follow")
            if primary.call("DEBUG", "DIGEST") != replica.call("DEBUG", "DIGEST"):
                raise AssertionError("the replica holds something else")
            # The primary is killed or stopped in turn. Its port changes, and it gets another replica.
            replica.stop()
            replica = None
            primary.restart(signal.SIGKILL if rounds % 2 else signal.SIGTERM)
            for each in clients:
                each.client = primary.client
                each.check_all()
        info = primary.client.info("modules")
        print(f"{commands} commands of {number_of_clients} clients in {rounds} rounds; "
              f"{info['bf_filters']} filters of {info['bf_filter_bytes']} bytes; nothing lost")
        primary.call("FLUSHALL", "SYNC")
        left = primary.client.info("memory")["used_memory"] - at_first
        if primary.client.info("modules")["bf_filter_bytes"] != 0 or left > 4 << 20:
            raise AssertionError(f"{left} bytes were not given back")
    finally:
        for server in (primary, replica):
            if server is not None:
                server.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--pause", type=float, default=0, help="seconds between a client's steps")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        try:
            soak(pathlib.Path(folder), options.seconds, options.clients, options.seed,
                 options.pause)
        except AssertionError as why:
            sys.exit(f"soak: {why}")


if __name__ == "__main__":
    main()
