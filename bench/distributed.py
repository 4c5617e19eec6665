#!/usr/bin/env python3
"""Builds and asks filters with Dask and Spark on two workers, beside Spark's own Bloom filter and its joins.

    cmake --build build --target bloomery_python
    PYTHONPATH=build/bindings/python /usr/bin/python3 bench/distributed.py [--keys 10M] [--only spark]

The keys are 64-bit integers in Parquet files. Each line is measured in processes of its own, after the same
work on 1% of the keys. The time leaves out their start. The memory is the peak of all processes together
(proportional set size), and "at rest" what they had before. The engines are those of the tests, in
build/engines (tests/python/engines.py).
"""

import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import zlib

import bloomery

FPR = 0.01
FILES = 16
ENGINES = pathlib.Path(bloomery.__file__).parents[3] / "engines"


def memory():
    """The bytes of this process and all that descend from it."""
    parents = {}
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            parents[int(process.name)] = int((process / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            pass  # it has ended meanwhile
    ours = {os.getpid()}
    while more := {p for p, parent in parents.items() if parent in ours} - ours:
        ours |= more
    total = 0
    for process in ours:
        try:
            lines = pathlib.Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
    return total


def measured(work):
    """What the work returns, its seconds, and the memory before and at its peak."""
    rest = peak = memory()
    over = threading.Event()

    def watch():
        nonlocal peak
        while not over.wait(0.2):
            peak = max(peak, memory())

    watcher = threading.Thread(target=watch)
    watcher.start()
    start = time.perf_counter()
    answer = work()
    seconds = time.perf_counter() - start
    over.set()
    watcher.join()
    return answer, seconds, rest, peak


def write_keys(folder, n):
    """n different integers in no order, of which one in a hundred is a member of the small table."""
    import numpy
    import pyarrow
    import pyarrow.parquet

    members = []
    folder.mkdir()
    for file in range(FILES):
        ids = numpy.arange(n * file // FILES, n * (file + 1) // FILES, dtype=numpy.uint64)
        ids = (ids * numpy.uint64(0x9E3779B97F4A7C15)).view(numpy.int64)
        members.append(ids[::100])
        pyarrow.parquet.write_table(pyarrow.table({"id": ids}), folder / f"{file}.parquet")
    (folder / "members").mkdir()
    pyarrow.parquet.write_table(pyarrow.table({"id": numpy.concatenate(members)}), folder / "members" / "0.parquet")


class Dask:
    def __init__(self):
        import dask.dataframe
        import dask.distributed

        import bloomery.dask

        self.cluster = dask.distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
        self.client = dask.distributed.Client(self.cluster)
        self.read = lambda folder: dask.dataframe.read_parquet([str(f) for f in sorted(folder.glob("*.parquet"))])["id"]

    def build(self, folder, n):
        return bloomery.dask.build(self.read(folder), fpr=FPR, capacity=n)

    def count_and_build(self, folder, n):
        return bloomery.dask.build(self.read(folder), fpr=FPR)

    def ask(self, folder, n):
        members = bloomery.dask.build(self.read(folder / "members"), fpr=FPR)
        return lambda: int(bloomery.dask.contains(self.read(folder), members).sum().compute())

    def close(self):
        self.client.close()
        self.cluster.close()


class Spark:
    def __init__(self):
        os.environ.update(PYTHONPATH=os.pathsep.join(sys.path), PYSPARK_PYTHON=sys.executable)
        from pyspark.sql import SparkSession

        import bloomery.spark

        self.session = (SparkSession.builder.master("local-cluster[2,1,4096]")
                        .config("spark.executor.memory", "4g").config("spark.driver.memory", "2g")
                        .config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "8")
                        .config("spark.sql.autoBroadcastJoinThreshold", "-1").getOrCreate())
        self.session.sparkContext.setLogLevel("OFF")
        self.read = lambda folder: self.session.read.schema("id long").parquet(str(folder / "*.parquet"))

    def build(self, folder, n):
        return bloomery.spark.build(self.read(folder), "id", fpr=FPR, capacity=n)

    def count_and_build(self, folder, n):
        return bloomery.spark.build(self.read(folder), "id", fpr=FPR)

    def own_filter(self, folder, n):
        return self.read(folder)._jdf.stat().bloomFilter("id", n, FPR)

    def ask(self, folder, n):
        members = bloomery.spark.build(self.read(folder / "members"), "id", fpr=FPR)
        return lambda: self.read(folder).filter(bloomery.spark.contains("id", members)).count()

    def own_semi_join(self, folder, n):
        return self.read(folder).join(self.read(folder / "members"), "id", "left_semi").count()

    def filter_and_semi_join(self, folder, n):
        """The same with the time to build the filter."""
        small = self.read(folder / "members")
        early = self.read(folder).filter(bloomery.spark.contains("id", bloomery.spark.build(small, "id", fpr=FPR)))
        return early.join(small, "id", "left_semi").count()

    def own_broadcast_join(self, folder, n):
        from pyspark.sql.functions import broadcast

        return self.read(folder).join(broadcast(self.read(folder / "members")), "id", "left_semi").count()

    def close(self):
        self.session.stop()


class Local:
    """One process, one thread of Python, without an engine."""

    def build(self, folder, n):
        import pyarrow.parquet

        known = bloomery.BlockedBloom(n, FPR)
        for file in sorted(folder.glob("*.parquet")):
            known.update(pyarrow.parquet.read_table(file)["id"])
        known.settle_count()
        return known

    def close(self):
        pass


ENGINE = {"local": Local, "dask": Dask, "spark": Spark}
LINES = [
    ("local.build", "one process of Python, capacity given"),
    ("dask.build", "Dask, capacity given"),
    ("dask.count_and_build", "Dask, capacity counted"),
    ("spark.build", "Spark, capacity given"),
    ("spark.count_and_build", "Spark, capacity counted"),
    ("spark.own_filter", "Spark's df.stat.bloomFilter"),
    ("dask.ask", "Dask, each row asked"),
    ("spark.ask", "Spark, each row asked"),
    ("spark.own_semi_join", "Spark's semi-join by a shuffle"),
    ("spark.filter_and_semi_join", "the same after a filter"),
    ("spark.own_broadcast_join", "Spark's semi-join by a broadcast"),
]


def run(name, folder, n):
    """One line, in this process."""
    engine, what = name.split(".")
    sys.path.insert(0, str(ENGINES / ("dask" if engine == "dask" else "spark")))
    subject = ENGINE[engine]()

    work = getattr(subject, what)
    if what == "ask":  # it gives the question, for a filter that is there already
        work(folder / "few", n // 100)()
        question = work(folder / "all", n)
    else:
        work(folder / "few", n // 100)
        question = lambda: work(folder / "all", n)
    answer, seconds, rest, peak = measured(question)
    if isinstance(answer, bloomery.Filter):
        answer = f"{zlib.crc32(answer.to_bytes()):08x}"  # of equal files
    elif not isinstance(answer, int):
        answer = None
    subject.close()
    print(json.dumps({"seconds": seconds, "rest": rest, "peak": peak, "answer": answer}))


def compare(n, only, folder):
    for part, keys in (("all", n), ("few", n // 100)):
        subprocess.run([sys.executable, __file__, "--write", folder / part, "--keys", str(keys)], check=True)
    print(f"{n:,} keys at 1% on {len(os.sched_getaffinity(0))} cores\n")
    print(f"| {'':<38} | seconds | M rows/s | memory at rest | at the peak | answer |\n|---|---:|---:|---:|---:|---|")
    for name, title in LINES:
        if only and not any(name.startswith(each) for each in only):
            continue
        done = subprocess.run([sys.executable, __file__, "--line", name, "--folder", folder, "--keys", str(n)],
                              capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"{name}: {done.stderr[-3000:]}")
        line = json.loads(done.stdout.splitlines()[-1])
        print(f"| {title:<38} | {line['seconds']:.1f} | {n / line['seconds'] / 1e6:.2f} | {line['rest'] / 1e6:,.0f} MB "
              f"| {line['peak'] / 1e6:,.0f} MB | {line['answer'] or '–'} |", flush=True)


def number(text):
    factor = {"k": 10**3, "M": 10**6, "G": 10**9}.get(text[-1], 1)
    return math.ceil(float(text.rstrip("kMG")) * factor)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keys", type=number, default=10**7)
    parser.add_argument("--only", nargs="*", help="lines whose names begin so, as spark or dask.build")
    parser.add_argument("--line", help=argparse.SUPPRESS)
    parser.add_argument("--write", type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=pathlib.Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.write:
        sys.path.insert(0, str(ENGINES / "dask"))
        write_keys(asked.write, asked.keys)
    elif asked.line:
        run(asked.line, asked.folder, asked.keys)
    else:
        with tempfile.TemporaryDirectory() as temporary:
            compare(asked.keys, asked.only, pathlib.Path(temporary))
