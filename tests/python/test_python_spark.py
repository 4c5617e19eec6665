"""Filters of columns in Spark, by executors that are processes, are the files of the command line. Spark's own Bloom
filters and Bloomset's, of format spark, are the same bytes in both directions."""

import datetime
import decimal
import json
import os
import sys

import bloomset
import engines
import pytest
from conftest import ROOT, hexadecimal

engines.need_spark()

# The executors' Python finds the same packages.
os.environ["PYTHONPATH"] = os.pathsep.join(sys.path)
os.environ["PYSPARK_PYTHON"] = sys.executable

import pyarrow  # noqa: E402
from pyspark.sql import SparkSession  # noqa: E402
from pyspark.sql import functions as sf  # noqa: E402

import bloomset.spark  # noqa: E402

N = 70_000
NAMES = [f"user{i}" for i in range(N)]
SMALL = NAMES[:3000]


@pytest.fixture(scope="module")
def spark():
    # The tests are over before a better compiler pays, of Java's or of Spark's plans.
    quick = ("-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:+UnlockDiagnosticVMOptions "
             "-XX:-BytecodeVerificationRemote")
    session = (SparkSession.builder.master("local-cluster[1,2,1024]")
               .config("spark.driver.extraJavaOptions", quick)
               .config("spark.executor.extraJavaOptions", quick)
               .config("spark.shuffle.io.maxRetries", "1")
               .config("spark.shuffle.io.retryWait", "100ms")
               .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
               .config("spark.sql.codegen.wholeStage", "false")
               .config("spark.ui.enabled", "false")
               .config("spark.driver.memory", "512m")
               .config("spark.sql.shuffle.partitions", "2")
               .config("spark.sql.autoBroadcastJoinThreshold", "-1")
               .getOrCreate())
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


def names(spark, n, partitions):
    return spark.range(0, n, 1, partitions).selectExpr("'user' || id as name")


def test_text_with_repetitions_and_nulls(spark, file_of):
    frame = names(spark, N, 9).union(names(spark, 1000, 1)).union(spark.sql("select cast(null as string)"))
    known = bloomset.spark.build(frame, "name", fpr="0.1%", parts=9)
    assert known.to_bytes() == file_of(NAMES + NAMES[:1000], "--fpr", "0.1%")
    found = frame.filter(bloomset.spark.contains(sf.upper("name"), known)).count()
    assert found < N * 0.002  # 71 are expected


def test_a_capacity_and_kinds(spark, file_of):
    frame = names(spark, 3000, 3).cache()
    counting = bloomset.spark.build(frame, frame.name, kind="counting_bloom")
    assert counting.to_bytes() == file_of(SMALL, "--kind", "counting_bloom")
    sized = bloomset.spark.build(frame, "name", kind="bloom", capacity="10k", seed=9, parts=1)
    assert sized.to_bytes() == file_of(SMALL, "--kind", "bloom", "--capacity", 10_000, "--seed", 9)


def test_copies_of_counted_keys_have_room(spark):
    frame = names(spark, 20_000, 2).union(names(spark, 20_000, 2)).cache()
    known = bloomset.spark.build(frame, "name", kind="cuckoo", parts=2)
    assert known.capacity > 40_000 and known.contains(NAMES[:20_000]).all()
    with pytest.raises(bloomset.FullError, match="do not all fit"):
        bloomset.spark.build(frame, "name", kind="cuckoo", capacity=30_000)


def test_types_of_columns(spark, file_of):
    frame = spark.range(0, 1000, 1, 2).selectExpr(
        "id", "cast(id as int) as small", "date_add(date'1969-12-01', cast(id as int)) as day",
        "cast(id / 4 as decimal(10, 2)) as price", "encode('user' || id, 'utf-8') as raw")
    keys = {
        "small": hexadecimal(range(1000)),
        "day": hexadecimal(range(-31, 969)),
        "price": [f"{n / 4:.2f}".encode().hex() for n in range(1000)],
        "raw": [name.encode().hex() for name in NAMES[:1000]],
    }
    for column, expected in keys.items():
        known = bloomset.spark.build(frame, column, capacity=1000)
        assert known.to_bytes() == file_of(expected, "--keys", "hex", "--capacity", 1000), column
    first = bloomset.Bloom.build([datetime.date(1970, 1, n).toordinal() - 719163 for n in (1, 2, 3)], fpr=1e-9)
    assert frame.filter(bloomset.spark.contains("day", first)).count() == 3
    prices = bloomset.Bloom.build([str(decimal.Decimal("1.50"))], fpr=1e-9)
    assert [row.id for row in frame.filter(bloomset.spark.contains("price", prices)).collect()] == [6]


def test_a_filter_or_its_file_is_asked(spark, tmp_path):
    few = bloomset.BlockedBloom.build(NAMES[:10], fpr=1e-9)
    few.save(tmp_path / "few.bloom")
    frame = names(spark, 3000, 3).union(spark.sql("select cast(null as string)"))
    for filter in (few, str(tmp_path / "few.bloom")):
        found = frame.select("name", bloomset.spark.contains("name", filter).alias("known"))
        assert [row.name for row in found.filter("known").collect()] == NAMES[:10]
        assert found.filter("not known").count() == 2991


def killed_once(marker, what):
    """Kills the Python worker or its executor, once, when others have filled parts already."""

    def work(batches):
        import os
        import signal

        import pyspark

        for batch in batches:
            if pyspark.TaskContext.get().partitionId() == 3:
                try:
                    os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
                except FileExistsError:
                    pass
                else:
                    victim = os.getpid()
                    if what == "executor":
                        while os.path.basename(os.readlink(f"/proc/{victim}/exe")) != "java":
                            with open(f"/proc/{victim}/stat") as status:
                                victim = int(status.read().rpartition(")")[2].split()[1])
                    os.kill(victim, signal.SIGKILL)
            yield batch

    return work


@pytest.mark.parametrize("what", ("worker", "executor"))
def test_killed_in_the_middle(spark, file_of, tmp_path, what):
    marker = tmp_path / "killed"
    frame = names(spark, 3000, 4).mapInArrow(killed_once(str(marker), what), "name string")
    known = bloomset.spark.build(frame, "name", capacity=3000, parts=4)
    assert marker.exists()
    assert known.to_bytes() == file_of(SMALL, "--capacity", 3000)


def shuffled(spark, action):
    """The records and bytes that the stages of an action write to shuffles and read from them."""
    context = spark.sparkContext._jsc.sc()
    context.listenerBus().waitUntilEmpty()
    jvm = spark.sparkContext._jvm

    def sums():
        stages = context.statusStore().stageList(None, False, False, spark.sparkContext._gateway.new_array(
            jvm.double, 0), jvm.java.util.ArrayList())
        stages = [stages.apply(i) for i in range(stages.size())]
        return [sum(getattr(stage, name)() for stage in stages) for name in
                ("shuffleWriteRecords", "shuffleWriteBytes", "shuffleReadRecords", "shuffleReadBytes")]

    before = sums()
    answer = action()
    context.listenerBus().waitUntilEmpty()
    return answer, [after - old for after, old in zip(sums(), before)]


def test_a_join_shuffles_less(spark):
    visits = spark.range(0, N, 1, 2).selectExpr("'user' || id as name", "id % 7 as page")
    buyers = names(spark, 700, 1).withColumn("bought", sf.lit(True))
    known = bloomset.spark.build(buyers, "name")
    plain, before = shuffled(spark, lambda: visits.join(buyers, "name").count())
    early = visits.filter(bloomset.spark.contains("name", known))
    same, after = shuffled(spark, lambda: early.join(buyers, "name").count())
    assert plain == same == 700
    # The 70,000 visits, of which 700 and about 1% of the others pass.
    assert before[0] == before[2] > N
    assert after[0] == after[2] < N * 0.03 + 700
    assert after[1] < before[1] / 10 and after[3] < before[3] / 10


def rows_read(frame):
    """How many rows Spark took from files, after their row groups were chosen."""
    frame.collect()
    leaves = frame._jdf.queryExecution().executedPlan().collectLeaves()
    return leaves.apply(0).metrics().get("numOutputRows").get().value()


def test_parquet_files_get_the_filters_that_spark_writes_and_uses(spark, run, tmp_path):
    frame = spark.range(0, 20_000, 1, 1).selectExpr("id * 7919 as id", "'user' || id * 31 % 20000 as name",
                                                    "array(id % 5, id % 7 + 1000) as list")
    # The two versions of pages have other encodings.
    frame.write.option("parquet.writer.version", "v2").parquet(str(tmp_path / "none"))
    own = frame.write.option("parquet.writer.version", "v1")
    for column in ("id", "name"):
        own.option(f"parquet.bloom.filter.enabled#{column}", "true")
        own.option(f"parquet.bloom.filter.expected.ndv#{column}", 20_000)
    own.option("parquet.bloom.filter.fpp", "0.01").parquet(str(tmp_path / "own"))
    file, given = (next((tmp_path / name).glob("*.parquet")) for name in ("none", "own"))

    def bare(path, column):
        run("convert", "-o", "bare", "--force", "--column", column, path)
        return (tmp_path / "bare").read_bytes()

    columns = ["--column", "id", "--column", "name", "--column", "list.list.element"]
    with pytest.raises(AssertionError, match="Spark would refuse the new one"):
        run("parquet", "attach", file, *columns)
    file.with_name(f".{file.name}.crc").unlink()
    run("parquet", "attach", "-q", file, *columns)
    assert [bare(file, c) for c in ("id", "name")] == [bare(given, c) for c in ("id", "name")]
    attached = spark.read.parquet(str(tmp_path / "none"))
    sums = ("count(*)", "bit_xor(xxhash64(id, name, list))")
    assert attached.selectExpr(*sums).collect() == frame.selectExpr(*sums).collect()
    # Values between the least and the greatest, which statistics do not exclude.
    assert rows_read(attached.filter("id = 7919 * 5")) == 20_000
    assert rows_read(attached.filter("id = 7919 * 5 + 1")) == 0
    assert rows_read(attached.filter("name = 'user5x'")) == 0


def test_no_rows_and_no_partitions(spark, file_of):
    nothing = names(spark, 0, 2)
    assert bloomset.spark.build(nothing, "name").to_bytes() == file_of([])
    assert bloomset.spark.build(nothing.filter("false"), "name", parts=1).to_bytes() == file_of([])


def test_a_filter_that_nearly_fills_the_driver(spark):
    known = bloomset.spark.build(names(spark, 3000, 2), "name", fpr="1%", memory="80MB")
    assert known.contains(SMALL).all()


def test_what_cannot_be(spark):
    frame = names(spark, 10, 1)
    with pytest.raises(ValueError, match="kind ribbon cannot be merged; kinds that can: blocked_bloom, "):
        bloomset.spark.build(frame, "name", kind="ribbon")
    with pytest.raises(TypeError, match="has no keys; cast it to integers, text"):
        bloomset.spark.build(frame.selectExpr("cast(1 as double) as x"), "x")
    with pytest.raises(ValueError, match="a filter of .* bytes is too large for a value of Spark"):
        bloomset.spark.build(frame, "name", capacity="10G")
    with pytest.raises(ValueError, match="needs a driver with 6 times as much memory.*raise spark.driver.memory"):
        bloomset.spark.build(frame, "name", capacity="100M")  # the driver has 512 MB
    with pytest.raises(Exception, match="No such file"):
        frame.filter(bloomset.spark.contains("name", "/nonexistent/f.bloom")).count()


def test_examples(spark, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    engines.run_examples("use/distributed.md", "Spark", spark=spark)


# Spark's own filters ---------------------------------------------------------------------------------------------

STRINGS = ["a", "né", "Zoë", "名前", "é", "ÿþ"] + [f"user{i}@example.com"[i % 7:] for i in range(200)]
LONGS = [0, 1, -1, 2**31, -2**63, 2**63 - 1] + [i * 7919 for i in range(200)]
KEYS = {"string": STRINGS, "long": LONGS}
OTHERS = {"string": [f"other{i}" for i in range(500)], "long": range(10**6, 10**6 + 500)}


class Sketches:
    """Spark's class, by way of Python."""

    def __init__(self, spark):
        self.jvm = spark._jvm
        self.filter = self.jvm.org.apache.spark.util.sketch.BloomFilter

    def make(self, version, capacity, fpr, seed):
        versions = self.jvm.java.lang.Class.forName("org.apache.spark.util.sketch.BloomFilter$Version")
        bits = self.filter.optimalNumOfBits(capacity, fpr)
        return self.filter.create(versions.getEnumConstants()[version - 1], capacity, bits, seed)

    def read(self, data):
        return self.filter.readFrom(data)

    def bytes(self, made):
        out = self.jvm.java.io.ByteArrayOutputStream()
        made.writeTo(out)
        return out.toByteArray()


@pytest.fixture(scope="module")
def sketches(spark):
    return Sketches(spark)


def text(keys):
    return "".join(f"{key}\n" for key in keys)


@pytest.mark.parametrize("version,seed", [(1, 0), (2, 0), (2, -5)])
@pytest.mark.parametrize("type", ["string", "long"])
def test_both_write_the_same_bytes_and_read_each_other(run, tmp_path, sketches, version, seed, type):
    keys, others = KEYS[type], OTHERS[type]
    theirs = sketches.make(version, 300, 0.02, seed)
    for key in keys:
        (theirs.putString if type == "string" else theirs.putLong)(key)
    (tmp_path / "theirs").write_bytes(sketches.bytes(theirs))
    run("build", "--format", "spark", "--with", f"type={type}", "--with", f"version={version}", "--capacity", 300,
        "--fpr", "2%", "--seed", seed % 2**32, "-o", "ours", input=text(keys))
    ours = (tmp_path / "ours").read_bytes()
    assert ours == (tmp_path / "theirs").read_bytes()
    again = sketches.read(ours)
    has = again.mightContainString if type == "string" else again.mightContainLong
    assert all(has(key) for key in keys)
    assert run("check", "theirs", "--with", f"type={type}", input=text(keys)) == text(keys)
    assert run("check", "theirs", "--with", f"type={type}", input=text(others)) == text(k for k in others if has(k))
    assert json.loads(run("info", "--json", "theirs"))["variant"] == f"version {version}"


def test_a_merge_is_sparks(run, tmp_path, sketches):
    made = []
    for name, keys in (("a", STRINGS[:120]), ("b", STRINGS[80:])):
        run("build", "--format", "spark", "--with", "type=string", "--capacity", 500, "-o", name, input=text(keys))
        made.append(sketches.read((tmp_path / name).read_bytes()))
    run("merge", "-o", "both", "a", "b")
    assert (tmp_path / "both").read_bytes() == sketches.bytes(made[0].mergeInPlace(made[1]))


@pytest.mark.parametrize("type", ["string", "long"])
@pytest.mark.parametrize("size", ["fpr", "bits"])
def test_a_column_becomes_the_same_filter(run, tmp_path, spark, sketches, type, size):
    keys = KEYS[type]
    column = spark.createDataFrame([(key,) for key in [*keys, None]], f"key {type}").repartition(2)
    value, option = (0.01, "1%") if size == "fpr" else (4096, "4096")
    theirs = sketches.bytes(column._jdf.stat().bloomFilter("key", 300, value))
    run("build", "--format", "spark", "--with", f"type={type}", "--capacity", 300, f"--{size}", option, "-o", "ours",
        input=text(keys))
    assert (tmp_path / "ours").read_bytes() == theirs


def test_workers_without_the_package_are_one_sentence(spark, tmp_path, monkeypatch):
    package = os.path.dirname(os.path.dirname(bloomset.__file__))
    others = os.pathsep.join(path for path in sys.path if path and os.path.realpath(path) != os.path.realpath(package))
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\nPYTHONPATH='{others}' exec {sys.executable} \"$@\"\n")
    python.chmod(0o755)
    monkeypatch.setattr(spark.sparkContext, "pythonExec", str(python))
    frame = names(spark, 10, 1)
    for call in (lambda: bloomset.spark.build(frame, "name"), lambda: bloomset.spark.contains("name", bloomset.Bloom(10))):
        with pytest.raises(ModuleNotFoundError, match="^Spark's workers run .*python.*, which has no package bloomset; "
                                                      "set PYSPARK_PYTHON "):
            call()


def test_every_filter_gives_the_same_answers(spark):
    """The matrix of tests/doors. A filter is asked for one type of keys, and the next filter for the next type, since Spark
    runs a worker for each question."""
    sys.path.append(str(ROOT / "tests" / "doors"))
    import matrix
    from doors import Arrow

    filters = matrix.cases()[0]
    type_of = {id(case): [*matrix.TYPES][n % len(matrix.TYPES)] for n, case in enumerate(filters)}

    class Spark(matrix.Door):
        name = "Spark"

        def types_of(self, case):
            return [type_of[id(case)]]

        def answers(self, filters):
            rows = pyarrow.table({"number": range(len(matrix.ROWS)), **Arrow().arrays})
            frame = spark.createDataFrame(rows).coalesce(1).cache()
            answers = {}
            for first in range(0, len(filters), 10):  # Java's stack has no room for the plan of all questions
                some = filters[first:first + 10]
                asked = [bloomset.spark.contains(type_of[id(case)], case.filter).alias(str(n)) for n, case in enumerate(some)]
                found = frame.select("number", *asked).toArrow().sort_by("number")
                answers.update({(case.kind, case.variant): {type_of[id(case)]: found.column(str(n)).to_pylist()}
                                for n, case in enumerate(some)})
            return answers

    cells = matrix.check(Spark(), filters)
    assert len(cells) == len(filters) and set(cells.values()) == {(0, 0)}
