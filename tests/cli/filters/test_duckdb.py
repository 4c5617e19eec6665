"""DuckDB writes a Parquet file. Its filters are found, queried and rebuilt bit for bit.

DuckDB comes from npm into a folder beside the build, once; without npm or its registry these tests
are skipped.
"""

import json
import os
import pathlib
import shutil
import subprocess

import pytest

from conftest import BLOOMSET

HERE = pathlib.Path(__file__).parent
PACKAGE = "@duckdb/node-api@1.5.6-r.1"
FOLDER = pathlib.Path(os.environ.get("BLOOMSET_DUCKDB", pathlib.Path(BLOOMSET).parent / "duckdb"))


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
def test_its_filters_are_rebuilt_bit_for_bit(run, info, tmp_path, written, column):
    file, said = written
    whole = file.read_bytes()
    chunks = [c for c in said["chunks"] if c["path"] == column]
    # DuckDB cuts row groups at whole vectors of 2048 rows; a chunk's values are those of its rows.
    groups = info(file, "--column", column)
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
    run("check", file, input=b"x\n").refused("name one with --column", "'s'", "'n.inner'")
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


def test_a_filter_of_a_lower_rate_folds_to_that_of_a_higher_one(run, tmp_path, written):
    sizes = []
    for name in ("coarse", "fine"):
        run("convert", "-o", name, "--column", "w", f"{written[0]}.{name}").ok()
        sizes.append((tmp_path / name).stat().st_size)
    factor = round(sizes[1] / sizes[0])
    assert factor > 1
    run("fold", "-q", "-o", "folded", "--factor", factor, "fine").ok()
    assert (tmp_path / "folded").read_bytes() == (tmp_path / "coarse").read_bytes()


# Keys of five seconds, days or hundredths, and keys of the same type that are not there.
@pytest.mark.parametrize("column,there,not_there", [
    ("u4", "4000000005", "4000000010"),
    ("u8", "18446744073709550005", "18446744073709550010"),
    ("dec4", "0.05", "0.10"),
    ("dec8", "-2.95", "-2.9"),
    ("day", "2020-01-05", "2020-01-11"),
    ("day", "18266", "18272"),
    ("ts", "1577836805000000", "1577836810000000"),
    ("tm", "5000000", "10000000"),
    ("id", "00000000-0000-4000-8000-000000000005", "00000000-0000-4000-8000-00000000000a"),
])
def test_values_are_asked_for_as_their_logical_type_writes_them(run, written, column, there,
                                                                not_there):
    found = run("check", f"{written[0]}.typed", "--column", column, input=as_lines([there])).ok()
    assert found.out == as_lines([there])
    none = run("check", f"{written[0]}.typed", "--column", column, input=as_lines([not_there]))
    assert (none.code, none.out, none.err) == (1, b"", b"")


@pytest.mark.parametrize("column,key,sentence", [
    ("u4", "-1", "a whole number of 32 bits without a sign"),
    ("dec4", "0.055", "no more than 2 digits"),
    ("day", "05.01.2020", "YYYY-MM-DD"),
    ("ts", "2020-01-01T00:00:05", "column 'ts' is a TIMESTAMP in microseconds since 1970; give "
     "that integer"),
    ("tm", "00:00:05", "column 'tm' is a TIME in microseconds since midnight"),
])
def test_a_key_that_a_column_cannot_hold_is_an_error_with_its_line(run, written, column, key,
                                                                   sentence):
    file = f"{written[0]}.typed"
    run("check", file, "--column", column, input=as_lines([key])).refused("stdin:1: ", sentence)
    done = run("check", "--skip-bad", file, "--column", column, "-c", input=as_lines([key]))
    assert done.code == 1 and b"1 line was skipped; the first is stdin:1: " in done.err


def test_of_many_lines_those_that_are_wrong_are_passed_over(run, tmp_path, written):
    # More than the four MiB from which on every core takes part.
    (tmp_path / "keys").write_bytes(b"4000000005\nnone\n4000000099\n" * 200000)
    args = ("check", f"{written[0]}.typed", "--column", "u4", "keys")
    done = run(*args, "--skip-bad").ok()
    assert done.out == b"4000000005\n" * 200000 and b"200,000 lines were skipped" in done.err
    done = run(*args, "--skip-bad", "-v").ok()
    assert done.out == b"4000000099\n" * 200000
    assert b"keys:2: column 'u4' holds numbers" in run(*args).err


def test_a_column_and_another_programs_filter_are_asked_together(run, tmp_path, written):
    run("build", "-o", "f.dcso", "--format", "dcso", "--capacity", 10, input=b"word1\nx\n").ok()
    run("build", "-o", "own", input=b"word2\n").ok()
    (tmp_path / "t").symlink_to(written[0])
    said = run("check", "t", "--column", "s", "--filter", "f.dcso", "--filter", "own",
               input=b"word1\nword2\nx\ny\n").ok()
    assert said.out == b"t,f.dcso\tword1\nt,own\tword2\nf.dcso\tx\n"


def test_json_has_the_key_of_a_typed_column(run, written):
    said = run("check", "--json", f"{written[0]}.typed", "--column", "day", input=b"2020-01-05\n").ok()
    assert json.loads(said.out)["key"] == "2020-01-05"


def test_what_no_text_can_ask_for_is_refused_before_a_line_is_read(run, written):
    run("check", f"{written[0]}.typed", "--column", "iv").refused("column 'iv' is an INTERVAL")


def test_a_file_without_rows_has_no_members(run, info, tmp_path, written):
    file = f"{written[0]}.empty"
    none = run("check", file, "--column", "i", input=b"1\n2\n")
    assert (none.code, none.out, none.err) == (1, b"", b"")
    run("check", file, "--column", "i", input=b"x\n").refused("stdin:1: ")
    run("check", file, "--column", "n", input=b"x\n").refused("there is no column 'n'")
    assert info(file, "--column", "s")["bits"] == 0
    run("convert", "-o", "bare", "--column", "s", file).refused("has no rows")
