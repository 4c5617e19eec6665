"""DuckDB writes a Parquet file; the filters in it are found, asked and rebuilt bit for bit.

DuckDB comes from npm into a folder beside the build, once; without npm or its registry these tests
are skipped.
"""

import json
import os
import pathlib
import shutil
import subprocess

import pytest

from conftest import BLOOMERY

HERE = pathlib.Path(__file__).parent
PACKAGE = "@duckdb/node-api@1.5.6-r.1"
FOLDER = pathlib.Path(os.environ.get("BLOOMERY_DUCKDB", pathlib.Path(BLOOMERY).parent / "duckdb"))


def install():
    """Makes FOLDER, whole or not at all; skips the tests if npm's registry does not answer."""
    partial = FOLDER.with_name(FOLDER.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        done = subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--no-save",
                               "--fetch-retries=1", "--fetch-timeout=30000", "--prefix",
                               str(partial), PACKAGE], capture_output=True, timeout=180)
        installed = done.returncode == 0
    except subprocess.TimeoutExpired:
        installed = False
    if not installed:
        shutil.rmtree(partial, ignore_errors=True)
        pytest.skip(f"npm cannot install {PACKAGE}: is its registry reachable?")
    shutil.rmtree(FOLDER, ignore_errors=True)
    partial.rename(FOLDER)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """(the file, what DuckDB says of it)"""
    if not (shutil.which("node") and shutil.which("npm")):
        pytest.skip("node and npm are not installed, so DuckDB does not write Parquet files here")
    if not (FOLDER / "node_modules").is_dir():
        install()
    file = tmp_path_factory.mktemp("duckdb") / "t.parquet"
    said = subprocess.run(["node", HERE / "duckdb_files.mjs", FOLDER, file], capture_output=True,
                          text=True, timeout=120)
    assert said.returncode == 0, said.stderr
    return file, json.loads(said.stdout)


def values():
    return [range_ % 1000 if range_ < 40000 else 5000 + range_ % 6000 for range_ in range(60000)]


KEY_OF = {"s": lambda v: f"word{v}", "i": lambda v: v - 100, "l": lambda v: v * 1000000007,
          "d": lambda v: v / 8, "f": lambda v: v / 4, "t": lambda v: 18262 + v,
          "n.inner": lambda v: f"in{v}"}
TYPE_OF = {"s": "bytes", "i": "int32", "l": "int64", "d": "double", "f": "float", "t": "int32",
           "n.inner": "bytes"}


def as_lines(keys):
    return "".join(f"{key}\n" for key in keys).encode()


@pytest.mark.parametrize("column", KEY_OF)
def test_every_value_is_found(run, written, column):
    keys = as_lines(KEY_OF[column](v) for v in sorted(set(values())))
    found = run("check", written[0], "--column", column, input=keys).ok()
    assert found.out == keys


def test_answers_are_duckdbs_own(run, written):
    file, said = written
    excluded = 0
    for column in {probe["column"] for probe in said["probes"]}:
        probes = [p for p in said["probes"] if p["column"] == column]
        out = run("check", file, "--column", column, input=as_lines(p["key"] for p in probes)).out
        passed = set(out.decode().splitlines())
        for probe in probes:
            assert (probe["key"] not in passed) == probe["excluded"], probe
        excluded += sum(p["excluded"] for p in probes)
    assert excluded > 500  # of 930: the answers are not all "maybe"


@pytest.mark.parametrize("column", KEY_OF)
def test_its_filters_are_rebuilt_bit_for_bit(run, tmp_path, written, column):
    file, said = written
    whole = file.read_bytes()
    chunks = [c for c in said["chunks"] if c["path"] == column]
    # DuckDB cuts row groups at whole vectors of 2048 rows; a chunk's values are those of its rows.
    groups = json.loads(run("info", "--json", file, "--column", column).ok().out)
    assert groups["extras"]["row_groups"] == len(chunks) == 3
    assert groups["bits"] == sum(c["length"] - 16 for c in chunks) // 32 * 256
    ends = [20480, 40960, 60000]
    for chunk, start, end in zip(chunks, [0, *ends], ends):
        stored = whole[chunk["offset"]:chunk["offset"] + chunk["length"]]
        blocks = (chunk["length"] - 15) // 32
        keys = as_lines(KEY_OF[column](v) for v in sorted(set(values()[start:end])))
        run("build", "--force", "-o", "built", "--format", "parquet", "--with",
            f"type={TYPE_OF[column]}", "--with", f"blocks={blocks}", input=keys).ok()
        assert (tmp_path / "built").read_bytes() == stored


def test_a_column_must_be_named_and_have_a_filter(run, written):
    file, _ = written
    run("check", file, input=b"x\n").refused("name the column", "'s'", "'n.inner'")
    run("check", file, "--column", "nosuch", input=b"x\n").refused("there is no column 'nosuch'")


def test_row_groups_of_one_size_become_one_filter(run, tmp_path, written):
    file, said = written
    run("convert", "-o", "constant.filter", "--column", "constant", file).ok()
    chunk = [c for c in said["chunks"] if c["path"] == "constant"][0]
    stored = file.read_bytes()[chunk["offset"]:chunk["offset"] + chunk["length"]]
    assert (tmp_path / "constant.filter").read_bytes() == stored
    found = run("check", "constant.filter", "--with", "type=bytes", input=b"plain\nother\n").ok()
    assert found.out == b"plain\n"
    run("convert", "-o", "s.filter", "--column", "s", file).refused("filters of one size")
    assert not (tmp_path / "s.filter").exists()
