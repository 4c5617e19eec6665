#!/usr/bin/env python3
"""How long commands of the module hold the server: a second client, a process of its own, sends PING
after PING while a first one runs them, and the longest that it waited is told. Beside it stands how long
the server's main thread worked for a call by the kernel's account, which other programs on the
machine do not lengthen. Prints a table in Markdown; "no command" is what this machine does by itself.

    bench/jobs/server_stalls.py [--megabytes 100] [--server redis-server] [--module build/bloomset.so]

Filters have the size that is given, at 1%. Where many calls are made the longest wait of all of
them is told; the PINGs between them count as their work.
"""

import argparse
import multiprocessing
import pathlib
import shutil
import socket
import sys
import tempfile
import time

import redis_server

ROOT = pathlib.Path(__file__).resolve().parents[2]
BITS_AN_ITEM = 10.1
MOST_GROWN = 10_000_000  # so that this takes a minute


def ping(port, longest, stopping):
    """PING after PING; keeps the longest wait, in seconds."""
    with socket.create_connection(("127.0.0.1", port)) as link:
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while not stopping.is_set():
            begin = time.perf_counter()
            link.sendall(b"PING\r\n")
            if not link.recv(16):
                return
            waited = time.perf_counter() - begin
            with longest.get_lock():
                longest.value = max(longest.value, waited)


class Bench:
    def __init__(self, options, folder):
        self.megabytes = options.megabytes
        self.items = int(options.megabytes * 8e6 / BITS_AN_ITEM)
        self.pause = min(0.1, options.megabytes / 100)  # seconds between two measurements
        self.process, port, self.client = redis_server.start(options.server, options.module, folder,
                                                             "--enable-debug-command", "yes")
        pid = self.process.pid
        self.accounts = pathlib.Path(f"/proc/{pid}/task/{pid}/schedstat")
        self.longest = multiprocessing.Value("d", 0)
        self.stopping = multiprocessing.Event()
        self.pings = multiprocessing.Process(target=ping, args=(port, self.longest, self.stopping),
                                             daemon=True)
        self.pings.start()

    def end(self):
        self.stopping.set()
        self.pings.join(timeout=10)
        self.process.terminate()
        self.process.wait()

    def call(self, *command):
        return self.client.execute_command(*command)

    def worked(self):
        """Seconds that the main thread has run."""
        return int(self.accounts.read_text().split()[0]) / 1e9

    def told(self, name, run, calls=1):
        """A row of the table, of what `run` does in so many calls."""
        time.sleep(self.pause)
        with self.longest.get_lock():
            self.longest.value = 0
        before = self.worked()
        result = run()
        worked = (self.worked() - before) / calls
        time.sleep(self.pause / 2)  # for the PING that is under way
        print(f"| {name} | {1000 * worked:.1f} | {1000 * self.longest.value:.1f} |", flush=True)
        return result

    def add(self, key, first, last, step, words=("BF.MADD",)):
        for at in range(first, last, step):
            self.call(words[0], key, *words[1:],
                      *(b"%012d" % i for i in range(at, min(at + step, last))))


def dump_of(bench, key):
    iterator, pieces = 0, []
    while True:
        iterator, data = bench.call("BF.SCANDUMP", key, iterator)
        if iterator == 0:
            return pieces
        pieces.append((iterator, data))


def load(bench, key, pieces):
    for piece in pieces:
        bench.call("BF.LOADCHUNK", key, *piece)


# Filters are merged if they have the same key.
SAME_KEY = ["HASH", "00112233445566778899aabbccddeeff"]


def measure(bench):
    n, batch = bench.items, min(100_000, bench.items // 3)
    bench.told("no command", lambda: time.sleep(10 * bench.pause))
    fixed = ["0.01", n, "NONSCALING", *SAME_KEY]
    bench.told("BF.RESERVE", lambda: bench.call("BF.RESERVE", "a", *fixed))
    memory = f"{int(1e6 * bench.megabytes)}"
    for key, what, words in (("for", "for the capacity", ["0.01", "MEMORY", memory]),
                             ("at", "for the rate", ["MEMORY", memory, n // 2]),
                             ("low", "of a growing filter at a rate of 10^-9",
                              ["1e-9", n // 4])):
        bench.told(f"BF.RESERVE {what}", lambda: bench.call("BF.RESERVE", key, *words))
        bench.call("DEL", key)
    bench.call("BF.RESERVE", "b", *fixed)
    bench.told(f"BF.MADD of {batch} items", lambda: bench.add("a", 0, batch, batch))
    bench.told(f"BF.MEXISTS of {batch} items",
               lambda: bench.add("a", 0, batch, batch, ["BF.MEXISTS"]))
    bench.told("BF.MADD of 1000 items", lambda: bench.add("b", batch, 2 * batch, 1000),
               -(-batch // 1000))
    bench.call("BF.RESERVE", "merged", *fixed)
    bench.told("BF.MERGE into a missing key", lambda: bench.call("BF.MERGE", "new", "a", "b"))
    bench.told("BF.MERGE into a filter", lambda: bench.call("BF.MERGE", "merged", "a"))
    bench.told("COPY", lambda: bench.call("COPY", "a", "copied"))
    bench.told("BF.STATS", lambda: bench.call("BF.STATS", "a"))
    bench.told("BF.SCANDUMP, iterator 0", lambda: bench.call("BF.SCANDUMP", "a", 0))
    pieces = dump_of(bench, "a")
    bench.told("BF.SCANDUMP, a piece of 1 MiB", lambda: dump_of(bench, "a"), len(pieces) + 1)
    bench.told("BF.LOADCHUNK, a piece of 1 MiB", lambda: load(bench, "loaded", pieces[:-1]),
               len(pieces) - 1)
    bench.told("BF.LOADCHUNK, the last piece", lambda: load(bench, "loaded", pieces[-1:]))
    payload = bench.told("DUMP", lambda: bench.call("DUMP", "a"))
    bench.told("RESTORE", lambda: bench.call("RESTORE", "restored", 0, payload))
    bench.told("DEBUG DIGEST-VALUE", lambda: bench.call("DEBUG", "DIGEST-VALUE", "a"))
    bench.told("UNLINK", lambda: bench.call("UNLINK", "a"))
    bench.told("DEL", lambda: bench.call("DEL", "b"))
    bench.client.flushall()

    for key in ("c", "d"):
        bench.call("CF.RESERVE", key, n, "EXPANSION", "0", *SAME_KEY)
    bench.told(f"CF.INSERT of {batch} items",
               lambda: bench.add("c", 0, batch, batch, ["CF.INSERT", "ITEMS"]))
    bench.told("CF.MERGE into a filter", lambda: bench.call("CF.MERGE", "d", "c"))
    bench.client.flushall()

    # Items that come a fourth time are counted beside the slots, in a table that doubles.
    many = min(n, MOST_GROWN) // 10
    bench.call("CF.RESERVE", "copies", many, "EXPANSION", "0")
    for _ in range(3):
        bench.add("copies", 0, many, 10_000, ["CF.INSERT", "ITEMS"])
    bench.told(f"CF.INSERT of 1000 fourth copies, of {many} items",
               lambda: bench.add("copies", 0, many, 1000, ["CF.INSERT", "ITEMS"]), many // 1000)
    bench.client.flushall()

    # A front that is full, and the first items behind it.
    n = min(n, MOST_GROWN)
    bench.call("BF.RESERVE", "front", "0.01", n)
    bench.add("front", 0, n, 20_000)
    bench.told(f"BF.MADD of 1000 items, as a filter reserved for {n} begins to grow",
               lambda: bench.add("front", n, n + 20_000, 1000), 20)
    bench.client.flushall()
    some, more = n // 2, 1000 * min(200, -(-n // 1000))  # of twice the bits, from room for 100
    bench.call("BF.RESERVE", "grown", "0.01", "100", *SAME_KEY)
    bench.add("grown", 0, some, 20_000)
    bench.told(f"BF.MADD of 1000 items, a filter that has grown to {some} items",
               lambda: bench.add("grown", some, some + more, 1000), more // 1000)
    bench.call("BF.RESERVE", "twice", "0.02", "100", *SAME_KEY)
    for times in ("once", "twice"):
        bench.told(f"BF.MERGE of that into another, {times}",
                   lambda: bench.call("BF.MERGE", "twice", "grown"))
    bench.told("UNLINK of that", lambda: bench.call("UNLINK", "grown"))

    # A window's generation that goes, and the next.
    bench.call("BF.RESERVE", "window", "0.01", n, "WINDOW", "1000", "GENERATIONS", "1")
    now = int(1000 * time.time())
    bench.call("BF.INSERT", "window", "AT", now - 5_000_000, "ITEMS", *range(1000))
    bench.told("BF.ADD, as a window's generation is forgotten",
               lambda: bench.call("BF.ADD", "window", "x"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--megabytes", type=float, default=100)
    parser.add_argument("--server", default="redis-server")
    parser.add_argument("--module", default=ROOT / "build" / "bloomset.so")
    options = parser.parse_args()
    if shutil.which(options.server) is None:
        sys.exit(f"server_stalls.py: {options.server} is not installed; scripts/install-packages.sh "
                 "test installs redis-server")
    print(f"| of a filter of {options.megabytes:g} MB | works, ms | longest wait, ms |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options, folder)
        try:
            measure(bench)
        finally:
            bench.end()


if __name__ == "__main__":
    main()
