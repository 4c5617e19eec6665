#!/usr/bin/env python3
"""How long the server takes for commands of the module, by its own account (INFO commandstats), when
redis-benchmark sends them, and what filters take in memory. Prints a table in Markdown.

    bench/jobs/server.py [--items 1000000] [--server redis-server] [--module build/bloomset.so]

Every command is measured with one request at a time (P=1) and fifty (P=50) of ten clients. Batches
are of 100 items. "grown" filters began with room for 100 items (BF) or 1024 (CF) and go on
growing. Items are added to reserved filters that were empty before, no more than they have room
for. Filters hash with SipHash and a secret key, or with XXH3 where the row says so.
"""

import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

import redis_server

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Bench:
    def __init__(self, options, folder):
        self.items = options.items
        self.process, self.port, self.client = redis_server.start(options.server, options.module, folder)

    def fill(self, command, key, *words):
        pipe = self.client.pipeline(transaction=False)
        for first in range(0, self.items, 100):
            last = min(first + 100, self.items)
            pipe.execute_command(command, key, *words,
                                 *(f"{i:012d}" for i in range(first, last)))
            if first % 50_000 == 0:
                pipe.execute()
        pipe.execute()

    def time_of(self, pipelined, calls, *command):
        """Microseconds per call, as the server counts them. __rand_int__ is a number of twelve digits
        below twice the items, so that every other question is about a member."""
        self.client.config_resetstat()
        subprocess.run(["redis-benchmark", "-p", str(self.port), "-c", "10", "-P", str(pipelined),
                        "-n", str(calls), "-r", str(2 * self.items), "-q", *command],
                       stdout=subprocess.DEVNULL, check=True)
        stats = self.client.info("commandstats")
        return stats[f"cmdstat_{command[0]}"]["usec_per_call"]

    def rate(self, family, key):
        passed, non_members = 0, min(100_000, 10 * self.items)
        for first in range(0, non_members, 1000):
            passed += sum(self.client.execute_command(
                family + ".MEXISTS", key, *(f"non-member{i}" for i in range(first, first + 1000))))
        return passed / non_members


def measure_missing(bench):
    """What a batch costs where there is no filter: reading a hundred strings and writing a hundred replies."""
    for command in "BF.MEXISTS", "CF.MEXISTS":
        one, fifty = (bench.time_of(p, min(10_000, bench.items // 100), command, "missing", *["__rand_int__"] * 100)
                      for p in (1, 50))
        print(f"| missing key | {command} of 100 | {one:.2f} | {fifty:.2f} | | |", flush=True)


def measure(bench, name, reserve, family):
    bench.client.flushall()
    bench.client.execute_command(*reserve)
    bench.fill(*(["BF.MADD", "f"] if family == "BF" else ["CF.INSERT", "f", "ITEMS"]))
    size = (bench.client.execute_command("BF.INFO", "f", "SIZE")[0] if family == "BF"
            else bench.client.cf().info("f").size)
    rate = bench.rate(family, "f")
    hundred = ["__rand_int__"] * 100
    asks = [[family + ".EXISTS", "f", "__rand_int__"], [family + ".MEXISTS", "f", *hundred]]
    adds = ([["BF.ADD", "f", "__rand_int__"], ["BF.MADD", "f", *hundred]] if family == "BF"
            else [["CF.DEL", "f", "__rand_int__"], ["CF.ADD", "f", "__rand_int__"]])

    def time_of(pipelined, command):
        of = len(command) - 2
        if "ADD" in command[0] and "reserved" in name:
            bench.client.delete("f")
            bench.client.execute_command(*reserve)
        return bench.time_of(pipelined, min(100_000 if of == 1 else 10_000, bench.items // of),
                             *command)

    for command in asks + adds:
        one, fifty = (time_of(p, command) for p in (1, 50))
        of = " of 100" if len(command) > 3 else ""
        print(f"| {name} | {command[0]}{of} | {one:.2f} | {fifty:.2f} | {8 * size / bench.items:.2f} "
              f"| {rate:.3%} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--items", type=int, default=1_000_000)
    parser.add_argument("--server", default="redis-server")
    parser.add_argument("--module", default=ROOT / "build" / "bloomset.so")
    options = parser.parse_args()
    for program in (options.server, "redis-benchmark"):
        if shutil.which(program) is None:
            sys.exit(f"server.py: {program} is not installed; scripts/install-packages.sh test "
                     "installs redis-server, which brings redis-benchmark along")
    print("| filter | command | us, P=1 | us, P=50 | bits per item | rate |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options, folder)
        try:
            n = options.items
            measure_missing(bench)
            measure(bench, "BF reserved", ["BF.RESERVE", "f", "0.01", n], "BF")
            measure(bench, "BF reserved, XXH3", ["BF.RESERVE", "f", "0.01", n, "HASH", "XXH3"], "BF")
            measure(bench, "BF grown", ["BF.RESERVE", "f", "0.01", 100], "BF")
            measure(bench, "BF grown, XXH3", ["BF.RESERVE", "f", "0.01", 100, "HASH", "XXH3"], "BF")
            measure(bench, "CF reserved", ["CF.RESERVE", "f", n], "CF")
            measure(bench, "CF grown", ["CF.RESERVE", "f", 1024], "CF")
        finally:
            bench.process.terminate()
            bench.process.wait()


if __name__ == "__main__":
    main()
