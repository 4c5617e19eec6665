"""Spark's own Bloom filters and Bloomery's, of format spark, are the same bytes in both directions."""

import json

import engines
import pytest

from conftest import PROGRAM  # noqa: F401  the package's path, before that of Spark

engines.need_spark()

from pyspark.sql import SparkSession  # noqa: E402

STRINGS = ["", "a", "né", "Zoë", "名前", "é", "ÿþ"] + [f"user{i}@example.com"[i % 7:] for i in range(200)]
LONGS = [0, 1, -1, 2**31, -2**63, 2**63 - 1] + [i * 7919 for i in range(200)]
KEYS = {"string": STRINGS, "long": LONGS}
OTHERS = {"string": [f"other{i}" for i in range(1000)], "long": range(10**6, 10**6 + 1000)}


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    settings = {"spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", "spark.sql.shuffle.partitions": "2",
                "spark.log.level": "ERROR", "spark.sql.warehouse.dir": tmp_path_factory.mktemp("warehouse"),
                "spark.sql.codegen.wholeStage": "false", "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1"}
    builder = SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, str(value))
    with builder.getOrCreate() as session:
        yield session


class Sketches:
    """Spark's class, by way of Python."""

    def __init__(self, session):
        self.jvm = session._jvm
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
def sketches(session):
    return Sketches(session)


def text(keys):
    return "".join(f"{key}\n" for key in keys)


@pytest.mark.parametrize("version,seed", [(1, 0), (2, 0), (2, 77), (2, -5)])
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
def test_a_column_becomes_the_same_filter(run, tmp_path, session, sketches, type, size):
    keys = KEYS[type]
    column = session.createDataFrame([(key,) for key in [*keys, None]], f"key {type}").repartition(2)
    value, option = (0.01, "1%") if size == "fpr" else (4096, "4096")
    theirs = sketches.bytes(column._jdf.stat().bloomFilter("key", 300, value))
    run("build", "--format", "spark", "--with", f"type={type}", "--capacity", 300, f"--{size}", option, "-o", "ours",
        input=text(keys))
    assert (tmp_path / "ours").read_bytes() == theirs
