#!/usr/bin/env python3
"""Builds the filter of the same texts in each engine, asks it, and compares with the engine's own way. All
filters must have the same bytes.

    cmake --build build && ctest --test-dir build -R engines
    /usr/bin/python3 bench/jobs/engines.py [--keys 10M] [--no-own] [ENGINE ...]

The tests install the packages of engines into build/engines. Engines that are not installed are left out. Each
engine runs in a process of its own. Memory is what the engine's processes need in addition while a statement
runs, without pages that they share with others.
"""

import argparse
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("BLOOMSET", ROOT / "build" / "bloomset")).resolve()
BUILD = PROGRAM.parent
sys.path[:0] = [str(BUILD / "integrations" / "python"), str(ROOT / "tests" / "sql")]
RATE = 0.01
CORES = os.cpu_count()


def private_bytes(root):
    """Memory of a process and its descendants that no file or other process shares."""
    children = {}
    resident = {}
    for folder in pathlib.Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            pages = (folder / "statm").read_text().split()
        except (OSError, IndexError):
            continue
        children.setdefault(parent, []).append(int(folder.name))
        resident[int(folder.name)] = (int(pages[1]) - int(pages[2])) * os.sysconf("SC_PAGE_SIZE")
    found, waiting = 0, [root]
    while waiting:
        process = waiting.pop()
        found += resident.get(process, 0)
        waiting += children.get(process, [])
    return found


def measured(work, root):
    """Seconds, additional bytes, and the result."""
    before = peak = private_bytes(root)
    done = threading.Event()

    def watch():
        nonlocal peak
        while not done.wait(0.02):
            peak = max(peak, private_bytes(root))

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    start = time.perf_counter()
    result = work()
    seconds = time.perf_counter() - start
    done.set()
    watcher.join()
    return seconds, peak - before, result


def key(i):
    return f"user{i}@example.com"


class Engine:
    """An engine with the table `members` of keys 0 to n - 1, and `asked`, as many keys of which half are
    members."""

    root = None  # the process whose descendants are the engine; this one if None
    packages = None  # the folder of its packages in build/engines

    def __init__(self, n, folder):
        self.n = n
        self.folder = folder

    def rehearse(self):
        """Similar work on few keys, for engines that load code at first use."""

    def build(self):
        """The bytes of the filter's file."""
        raise NotImplementedError

    def ask(self):
        """The number of keys in `asked` that the filter passes."""
        raise NotImplementedError

    #: The engine's own ways to count the members in `asked`, and other work, by name.
    own = {}
    #: Those with another result.
    other = ("bloom index: make", "build of a given capacity", "stat.bloomFilter", "semi join with 1% of the members", "the same after a filter")


class Shell(Engine):
    name = "command line"

    def __init__(self, n, folder):
        super().__init__(n, folder)
        for name, first in (("members", 0), ("asked", n // 2)):
            with open(folder / name, "w", encoding="ascii") as file:
                file.writelines(key(i) + "\n" for i in range(first, first + n))
        self.own = {"sort, comm": self.sort_and_compare}

    def run(self, command):
        return subprocess.check_output(["bash", "-c", command], cwd=self.folder, env={**os.environ, "LC_ALL": "C"})

    def build(self):
        self.run(f"{PROGRAM} build -q --force -o filter --fpr {RATE} members")
        return (self.folder / "filter").read_bytes()

    def ask(self):
        return int(self.run(f"{PROGRAM} check -c filter asked"))

    def sort_and_compare(self):
        return int(self.run("comm -12 <(sort members) <(sort asked) | wc -l"))


class Python(Engine):
    name = "Python, Arrow"
    packages = "arrow"

    def __init__(self, n, folder):
        import bloomset
        import pyarrow

        super().__init__(n, folder)
        self.bloomset = bloomset
        self.members, self.asked = (pyarrow.array([key(i) for i in range(first, first + n)]) for first in (0, n // 2))
        self.own = {"pyarrow is_in": self.is_in}

    def build(self):
        self.filter = self.bloomset.BlockedBloom.build(self.members, fpr=RATE)
        self.filter.settle_count()
        return self.filter.to_bytes()

    def ask(self):
        return int(self.filter.contains(self.asked).sum())

    def is_in(self):
        import pyarrow.compute as pc

        return pc.is_in(self.asked, value_set=self.members).true_count


class Database(Engine):
    """Its connection is `db`."""

    def one(self, query, *values):
        return self.db.execute(query, values).fetchone()[0]

    def build(self):
        self.filter = self.one("select bloomset_agg(k, ?) from members", RATE)
        return self.filter

    def ask(self):
        return self.one("select count(*) from asked where bloomset_contains(?, k)", self.filter)


class Sqlite(Database):
    name = "SQLite"

    def __init__(self, n, folder):
        import sqlite3

        super().__init__(n, folder)
        self.db = sqlite3.connect(folder / "db")
        self.db.enable_load_extension(True)
        self.db.load_extension(str(BUILD / "bloomset_sqlite.so"))
        self.db.execute("pragma journal_mode = off")
        for name, first in (("members", 0), ("asked", n // 2)):
            self.db.execute(f"create table {name} (k text)")
            self.db.executemany(f"insert into {name} values (?)", ((key(i),) for i in range(first, first + n)))
        self.db.commit()
        self.own = {"k in (select k ...)": lambda: self.one("select count(*) from asked where k in (select k from members)")}


class Postgres(Engine):
    name = "PostgreSQL"

    def __init__(self, n, folder):
        import postgres_server

        super().__init__(n, folder)
        self.server = postgres_server.Server(shared_buffers="1GB", work_mem="1GB")
        self.root = self.server.process.pid
        self.server.ask(f"""
            create extension bloomset; create extension bloom;
            create table members as select 'user' || i || '@example.com' as k from generate_series(0, {n - 1}) i;
            create table asked as select 'user' || i || '@example.com' as k from generate_series({n // 2}, {n // 2 + n - 1}) i;
            create table filters (f bloomset);
            vacuum analyze members; vacuum analyze asked;""")
        few = min(n, 200)
        self.own = {
            "hash semi-join": lambda: int(self.ask_server("select count(*) from asked a where exists "
                                                          "(select from members m where m.k = a.k)")),
            "bloom index: make": lambda: self.ask_server("create index on members using bloom (k)") and 0,
            f"bloom index: {few} lookups": lambda: sum(map(int, self.ask_server("set enable_seqscan = off" + "".join(
                f"; select count(*) from members where k = '{key(i * n // few + n // 2)}'" for i in range(few))).split()))
                * n // few,
        }

    def ask_server(self, query):
        done = self.server.psql(f"set max_parallel_workers_per_gather = {CORES}; {query}")
        if done.returncode != 0:
            raise RuntimeError(done.stderr)
        return done.stdout.strip()

    def build(self):
        self.ask_server(f"truncate filters; insert into filters select bloomset_agg(k, {RATE}) from members")
        return bytes.fromhex(self.ask_server("select encode(f::bytea, 'hex') from filters"))

    def ask(self):
        return int(self.ask_server("select count(*) from asked where may_contain((select f from filters), k)"))

    def close(self):
        self.server.close()


class Duckdb(Database):
    name = "DuckDB"
    packages = "arrow"

    def __init__(self, n, folder):
        import duckdb

        super().__init__(n, folder)
        self.db = duckdb.connect(str(folder / "db"), config={"allow_unsigned_extensions": True})
        self.db.execute(f"load '{BUILD / 'bloomset.duckdb_extension'}'")
        for name, first in (("members", 0), ("asked", n // 2)):
            self.db.execute(f"create table {name} as select 'user' || i || '@example.com' as k from range({first}, {first + n}) t(i)")
        self.own = {"semi join": lambda: self.one("select count(*) from asked semi join members using (k)")}


class Dask(Engine):
    name = "Dask"
    packages = "dask"

    def __init__(self, n, folder):
        import dask.dataframe
        import distributed
        import pandas

        super().__init__(n, folder)
        self.cluster = distributed.LocalCluster(n_workers=CORES, threads_per_worker=1, dashboard_address=None)
        self.client = distributed.Client(self.cluster)
        for name, first in (("members", 0), ("asked", n // 2)):
            (folder / name).mkdir()
            for part in range(0, n, 1_000_000):
                end = min(n, part + 1_000_000)
                frame = pandas.DataFrame({"k": [key(first + i) for i in range(part, end)]})
                frame.to_parquet(folder / name / f"{part:012}.parquet")
        self.members, self.asked = (dask.dataframe.read_parquet(folder / name) for name in ("members", "asked"))
        self.own = {"inner join": lambda: len(self.asked.merge(self.members, on="k"))}

    def rehearse(self):
        import bloomset.dask

        few = self.members.partitions[:1].head(1000, compute=False)
        bloomset.dask.contains(few.k, bloomset.dask.build(few.k)).sum().compute()
        len(few.merge(few, on="k"))

    def build(self):
        import bloomset.dask

        self.filter = bloomset.dask.build(self.members.k, fpr=RATE)
        return self.filter.to_bytes()

    def ask(self):
        import bloomset.dask

        return int(bloomset.dask.contains(self.asked.k, self.filter).sum().compute())

    def close(self):
        self.client.close()
        self.cluster.close()


class Spark(Engine):
    name = "Spark"
    packages = "spark"

    def __init__(self, n, folder):
        from pyspark.sql import SparkSession

        super().__init__(n, folder)
        os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
        self.spark = (SparkSession.builder.master(f"local-cluster[{CORES},1,2048]").config("spark.ui.enabled", "false")
                      .config("spark.ui.showConsoleProgress", "false")
                      .config("spark.executorEnv.PYTHONPATH", os.pathsep.join(sys.path))
                      .config("spark.sql.autoBroadcastJoinThreshold", "-1").config("spark.executor.memory", "2g")
                      .config("spark.sql.shuffle.partitions", "8").getOrCreate())
        self.spark.sparkContext.setLogLevel("ERROR")
        for name, first in (("members", 0), ("asked", n // 2)):
            (self.spark.range(first, first + n).selectExpr("concat('user', id, '@example.com') as k")
             .write.parquet(str(folder / name)))
        self.members, self.asked = (self.spark.read.parquet(str(folder / name)) for name in ("members", "asked"))
        # One key in a hundred, spread over all.
        self.few = self.members.filter("hash(k) % 100 = 0")
        self.own = {"build of a given capacity": lambda: self.build_sized() and 0,
                    "left semi join": lambda: self.asked.join(self.members, "k", "left_semi").count(),
                    "stat.bloomFilter": lambda: self.members._jdf.stat().bloomFilter("k", n, RATE) and 0,
                    "semi join with 1% of the members": lambda: self.asked.join(self.few, "k", "left_semi").count(),
                    "the same after a filter": self.filter_and_join}

    def rehearse(self):
        import bloomset.spark

        few = self.members.limit(1000)
        few.filter(bloomset.spark.contains("k", bloomset.spark.build(few, "k"))).join(few, "k", "left_semi").count()

    def build(self):
        import bloomset.spark

        self.filter = bloomset.spark.build(self.members, "k", fpr=RATE)
        return self.filter.to_bytes()

    def build_sized(self):
        import bloomset.spark

        return bloomset.spark.build(self.members, "k", fpr=RATE, capacity=self.n)

    def ask(self):
        import bloomset.spark

        return self.asked.filter(bloomset.spark.contains("k", self.filter)).count()

    def filter_and_join(self):
        """With the time to build the filter."""
        import bloomset.spark

        early = self.asked.filter(bloomset.spark.contains("k", bloomset.spark.build(self.few, "k", fpr=RATE)))
        return early.join(self.few, "k", "left_semi").count()

    def close(self):
        self.spark.stop()


ENGINES = {cls.name: cls for cls in (Shell, Python, Sqlite, Postgres, Duckdb, Dask, Spark)}


def run(name, n, with_own):
    """Prints the engine's records, one JSON object."""
    cls = ENGINES[name]
    if cls.packages:
        sys.path.insert(0, str(BUILD / "engines" / cls.packages))
    os.environ["PYTHONPATH"] = os.pathsep.join(sys.path)
    with tempfile.TemporaryDirectory() as folder:
        engine = cls(n, pathlib.Path(folder))
        try:
            root = engine.root or os.getpid()
            engine.rehearse()
            rows = []
            for what, work in (("build", engine.build), ("ask", engine.ask), *(engine.own.items() if with_own else ())):
                seconds, memory, result = measured(work, root)
                rows.append({"what": what, "seconds": seconds, "memory": memory})
                if what == "build":
                    rows[-1]["sha256"] = hashlib.sha256(result).hexdigest()
                elif what not in engine.other and not n // 2 <= result <= n // 2 * 1.02 + 20:
                    raise SystemExit(f"{name}, {what}: {result} of {n} found, {n // 2} are members")
            print(json.dumps(rows))
        finally:
            getattr(engine, "close", lambda: None)()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--keys", default="10M")
    parser.add_argument("--no-own", action="store_true", help="without the engines' own ways")
    parser.add_argument("--one", action="store_true", help="in this process, and print JSON")
    parser.add_argument("engines", nargs="*", metavar="ENGINE", help=", ".join(ENGINES))
    given = parser.parse_args()
    import bloomset

    n = bloomset.plan(given.keys, RATE, kind="bloom").capacity
    names = given.engines or list(ENGINES)
    if given.one:
        run(names[0], n, not given.no_own)
        return
    sums = set()
    print(f"{n:,} texts as user7@example.com at {RATE:.0%}, {CORES} cores\n")
    print("| engine | what | seconds | M rows/s | memory |\n|---|---|---:|---:|---:|")
    for name in names:
        words = [sys.executable, __file__, "--one", "--keys", str(n), *(["--no-own"] if given.no_own else []), name]
        done = subprocess.run(words, stdout=subprocess.PIPE, text=True)
        if done.returncode != 0:
            print(f"| {name} | left out: see above | | | |", flush=True)
            continue
        for row in json.loads(done.stdout):
            sums.add(row.get("sha256"))
            print(f"| {name} | {row['what']} | {row['seconds']:.2f} | {n / row['seconds'] / 1e6:.2f} "
                  f"| {row['memory'] / 1e6:.0f} MB |", flush=True)
    sums.discard(None)
    print(f"\nThe filters have {'the same bytes' if len(sums) == 1 else 'different bytes'}.")
    sys.exit(len(sums) != 1)


if __name__ == "__main__":
    main()
