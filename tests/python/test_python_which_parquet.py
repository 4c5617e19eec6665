"""`bloomset index --column`: the values of a column of Parquet files are the keys that pyarrow reads from them."""

import json
import os
import random
import subprocess
import uuid

import engines
import pytest
from conftest import PROGRAM, ROOT

engines.need(*engines.ARROW)

import pyarrow as pa  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402

CODECS = ["snappy", "zstd", "gzip", "none", "lz4"]


def table(number):
    draw = random.Random(number)
    rows = range(3000)
    return pa.table({
        "id": pa.array([draw.randrange(-2**63, 2**63) for _ in rows], pa.int64()),
        "small": pa.array([None if draw.random() < 0.1 else draw.randrange(5000) for _ in rows], pa.uint32()),
        "word": pa.array([None if draw.random() < 0.1 else f"word{draw.randrange(2000)}" for _ in rows]),
        "tags": pa.array([[f"tag{draw.randrange(300)}" for _ in range(draw.randrange(4))] for _ in rows]),
        "at": pa.array([draw.randrange(2**50) for _ in rows], pa.timestamp("us")),
        "uid": pa.array([uuid.UUID(int=draw.randrange(2**128)).bytes for _ in rows], pa.uuid().storage_type).cast(pa.uuid()),
        "price": pa.array([draw.random() for _ in rows]),
    })


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    tables = [table(number) for number in range(len(CODECS))]
    for number, (each, codec) in enumerate(zip(tables, CODECS)):
        pq.write_table(each, folder / f"t{number}.parquet", row_group_size=1000, compression=codec,
                       use_dictionary=number % 2 == 0, data_page_version=["1.0", "2.0"][number % 2])
    return folder, tables


def bloomset(folder, *arguments, **options):
    return subprocess.run([PROGRAM, *arguments], cwd=folder, capture_output=True, text=True, **options)


def texts(column):
    values = column.to_pylist()
    if pa.types.is_timestamp(column.type):
        values = column.cast(pa.int64()).to_pylist()
    if pa.types.is_list(column.type):
        values = [value for each in values for value in each]
    return {str(value) for value in values if value is not None}


@pytest.mark.parametrize("column, path", [("id", "id"), ("small", "small"), ("word", "word"), ("tags", "tags.list.element"),
                                          ("at", "at"), ("uid", "uid")])
def test_each_value_has_exactly_its_files(files, column, path):
    folder, tables = files
    names = [f"t{number}.parquet" for number in range(len(tables))]
    made = bloomset(folder, "index", "--force", "-o", "x.which", "--fpr", "1e-8", "--column", path, *names)
    assert made.returncode == 0, made.stderr
    expected = {}
    for name, each in zip(names, tables):
        for value in texts(each[column]):
            expected.setdefault(value, []).append(name)
    keys = sorted(expected)
    found = bloomset(folder, "which", "--json", "x.which", input="\n".join([*keys, "absent"]) + "\n")
    assert [json.loads(line) for line in found.stdout.splitlines()] == [{"key": key, "files": expected[key]} for key in keys]
    again = bloomset(folder, "index", "--force", "--compact", "-o", "y.which", "x.which")
    assert again.returncode == 0, again.stderr
    assert (folder / "y.which").read_bytes() == (folder / "x.which").read_bytes()


def test_columns_and_lines_are_not_joined(files):
    folder, _ = files
    (folder / "lines").write_text("a\n")
    assert bloomset(folder, "index", "-q", "--force", "-o", "w.which", "--column", "word", "t0.parquet").returncode == 0
    assert bloomset(folder, "index", "-q", "--force", "-o", "l.which", "lines").returncode == 0
    refused = bloomset(folder, "index", "--compact", "-o", "z.which", "w.which", "l.which")
    assert refused.returncode == 2 and "l.which: its keys are lines; join indexes of the same keys" in refused.stderr


def test_a_fraction_is_refused(files):
    folder, _ = files
    refused = bloomset(folder, "index", "-o", "p.which", "--column", "price", "t0.parquet")
    assert refused.returncode == 2 and "t0.parquet: column 'price' has values that can be written in several ways" in refused.stderr
    assert not (folder / "p.which").exists()


def test_the_example_counts_the_same_events_in_fewer_files():
    environment = {**os.environ, "PYTHONPATH": str(engines.FOLDER / "arrow")}
    done = subprocess.run([ROOT / "examples" / "which-parquet" / "run", "--bloomset", PROGRAM, "--files", "40", "--rows", "1000",
                           "--users", "6", "--json"], capture_output=True, text=True, timeout=120, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    ways = json.loads(done.stdout)["ways"]
    assert ways["all files"]["opened"] == 6 * 40
    # Three users are in one or two files. The others are in none, but may get one or two with a chance of 1% each. The
    # files are the same in each run.
    assert 3 <= ways["bloomset which"]["opened"] <= 8
    assert ways["bloomset which"]["bytes"] < ways["all files"]["bytes"] / 10
