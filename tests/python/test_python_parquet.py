"""`bloomset parquet attach` gives files of several writers filters: no page changes, engines read the
result, and absent values are skipped. The same filters are built from the values that pyarrow reads."""

import decimal
import json
import os
import random
import resource
import signal
import subprocess
import time

import engines
import pytest
from conftest import PROGRAM

engines.need(*engines.ARROW)

import compact  # noqa: E402
import duckdb  # noqa: E402
import numpy as np  # noqa: E402
import polars  # noqa: E402
import pyarrow as pa  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402
import pyarrow.parquet.encryption as pe  # noqa: E402

ROWS, GROUP = 6000, 2500


def table():
    draw = random.Random(1)

    def some(value):
        return [None if draw.random() < 0.1 else value() for _ in range(ROWS)]

    return pa.table({
        "id": pa.array([draw.randrange(-2**63, 2**63) for _ in range(ROWS)], pa.int64()),
        "n": pa.array(some(lambda: draw.randrange(900)), pa.int32()),
        "word": pa.array(some(lambda: f"word{draw.randrange(3000)}" * draw.randrange(1, 9))),
        "code": pa.array(some(lambda: draw.randbytes(5).replace(b"\n", b"\0")), pa.binary(5)),
        "x": pa.array(some(lambda: draw.randrange(1, 4000) / 8), pa.float32()),
        "y": pa.array(some(draw.random), pa.float64()),
        "day": pa.array(range(ROWS), pa.int32()).cast(pa.date32()),
        "money": pa.array([decimal.Decimal(draw.randrange(10**6)).scaleb(-2) for _ in range(ROWS)],
                          pa.decimal128(20, 2)),
        "none": pa.nulls(ROWS, pa.string()),
        "kind": pa.array(some(lambda: draw.choice("abc"))).dictionary_encode(),
        "tags": pa.array([None if draw.random() < 0.2 else [None if draw.random() < 0.1 else f"tag{draw.randrange(500)}"
                          for _ in range(draw.randrange(5))] for _ in range(ROWS)]),
        "deep": pa.array(some(lambda: {"in": None if draw.random() < 0.3 else f"in{draw.randrange(99)}"})),
    })


TABLE = table()
LEAVES = {"id": "int64", "n": "int32", "word": "bytes", "code": "bytes", "x": "float", "y": "double", "day": "int32",
          "none": "bytes", "kind": "bytes", "tags.list.element": "bytes", "deep.in": "bytes"}
# A DECIMAL in bytes: no bare filter has its type.
COLUMNS = [*LEAVES, "money"]


def named(columns):
    return [part for column in columns for part in ("--column", column)]


def values_of(group, column):
    """The distinct values that pyarrow reads, as the lines that `bloomset build` expects."""
    top, *rest = column.split(".")
    array = group[top].combine_chunks()
    if top == "tags":
        array = array.flatten()
    elif rest:
        array = array.field("in").filter(array.is_valid())
    if top == "day":
        array = array.cast(pa.int32())
    kept = {v for v in array.to_pylist() if v is not None}
    return [v if isinstance(v, bytes) else str(v).encode() for v in kept]


def filters_of(path):
    """{column: the filter of each row group, or None}"""
    data = path.read_bytes()
    found = {}
    for column, at, size in duckdb.sql(
            "select replace(path_in_schema, ', ', '.'), bloom_filter_offset, bloom_filter_length "
            f"from parquet_metadata('{path}') order by row_group_id").fetchall():
        found.setdefault(column, []).append(None if at is None else data[at:at + size])
    return found


def footer_of(data):
    size = int.from_bytes(data[-8:-4], "little")
    return compact.read(data[-8 - size:-8])


def chunks_of(footer):
    for group in footer.get(4)[1:]:
        yield from group.get(1)[1:]


def same_but_for_filters(old, new):
    """Both footers have the same fields, apart from bloom_filter_offset and bloom_filter_length."""
    for footer in (old, new):
        for chunk in chunks_of(footer):
            chunk.get(3).fields = [f for f in chunk.get(3).fields if f[0] not in (14, 15)]
    assert compact.write(old) == compact.write(new)


def pages_stay(old, new):
    """All bytes before the old footer, which has no filters behind the pages, stay where they were."""
    size = int.from_bytes(old[-8:-4], "little")
    assert new[:len(old) - 8 - size] == old[:len(old) - 8 - size]
    same_but_for_filters(footer_of(old), footer_of(new))


def pyarrow_file(path, data=TABLE, **how):
    pq.write_table(data, path, row_group_size=GROUP, **how)


def duckdb_file(path, **how):
    relation = duckdb.from_arrow(TABLE)
    options = ", ".join(f"{name} {value}" for name, value in how.items())
    relation.query("t", f"copy t to '{path}' (format parquet, row_group_size 2048, write_bloom_filter false"
                   f"{', ' + options if options else ''})")


def polars_file(path):
    polars.from_arrow(TABLE).write_parquet(path, row_group_size=GROUP)


PLAIN = {"id": "DELTA_BINARY_PACKED", "n": "DELTA_BINARY_PACKED", "word": "DELTA_BYTE_ARRAY",
         "code": "BYTE_STREAM_SPLIT", "x": "BYTE_STREAM_SPLIT", "y": "BYTE_STREAM_SPLIT",
         "tags.list.element": "DELTA_LENGTH_BYTE_ARRAY", "deep.in": "DELTA_LENGTH_BYTE_ARRAY"}
WRITERS = {
    "snappy": lambda p: pyarrow_file(p, compression="snappy", write_page_index=True),
    "zstd, plain, second form": lambda p: pyarrow_file(p, compression="zstd", use_dictionary=False,
                                                       data_page_version="2.0", data_page_size=4000),
    "gzip, second form, checksums": lambda p: pyarrow_file(p, compression="gzip", data_page_version="2.0",
                                                           write_page_checksum=True, data_page_size=4000),
    "lz4, plain, checksums": lambda p: pyarrow_file(p, compression="lz4", use_dictionary=False, write_page_checksum=True,
                                                    data_page_size=4000),
    "not packed, a dictionary that becomes too large": lambda p: pyarrow_file(
        p, compression="none", dictionary_pagesize_limit=2000, data_page_size=1000),
    "newer encodings": lambda p: pyarrow_file(p, compression="snappy", use_dictionary=False, column_encoding=PLAIN),
    "prefixes of one length": lambda p: pyarrow_file(p, use_dictionary=False, column_encoding={"code": "DELTA_BYTE_ARRAY"}),
    "DuckDB": duckdb_file,
    "DuckDB, version 2, zstd": lambda p: duckdb_file(p, parquet_version="v2", compression="zstd"),
    "polars": polars_file,
}


@pytest.fixture
def attach(tmp_path):
    """attach("t.parquet", "--column", "id") -> the finished process, run in tmp_path"""

    def attach(*args, **more):
        return subprocess.run([PROGRAM, "parquet", "attach", *map(str, args)], cwd=tmp_path, capture_output=True,
                              text=True, timeout=60, **more)

    return attach


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The filter that `bloomset build` makes of the values of a column in some rows. Most files have the same."""
    folder, known = tmp_path_factory.mktemp("built"), {}

    def built(rows, column, kind, blocks, first):
        key = (column, blocks, first, rows.num_rows)
        if key not in known:
            (folder / "keys").write_bytes(b"".join(v + b"\n" for v in values_of(rows, column)))
            known[key] = subprocess.run(
                [PROGRAM, "build", "-q", "-o", "-", "--format", "parquet", "--with", f"type={kind}", "--with",
                 f"blocks={blocks}", "keys"], cwd=folder, capture_output=True, check=True).stdout
        return known[key]

    return built


@pytest.mark.parametrize("writer", WRITERS)
def test_each_row_group_gets_the_filter_of_its_values(attach, built, tmp_path, writer):
    file, given = tmp_path / "t.parquet", tmp_path / "old.parquet"
    WRITERS[writer](given)
    done = attach(given, "-o", file, *named(COLUMNS))
    assert done.returncode == 0, done.stderr
    pages_stay(given.read_bytes(), file.read_bytes())
    assert pq.read_table(file).equals(pq.read_table(given))
    # DuckDB does not read every encoding of bytes of a fixed length.
    of = "select * exclude (code) from" if "encodings" in writer or "prefixes" in writer else "from"
    assert duckdb.sql(f"{of} '{given}' except all {of} '{file}'").fetchall() == []
    assert duckdb.sql(f"{of} '{file}' except all {of} '{given}'").fetchall() == []
    opened, filters = pq.ParquetFile(file), filters_of(file)
    first = 0
    for number in range(opened.num_row_groups):
        rows = opened.read_row_group(number)
        for column, kind in LEAVES.items():
            stored = filters[column][number]
            assert stored == built(rows, column, kind, (len(stored) - 15) // 32, first), (column, number)
        first += rows.num_rows


def duckdb_with_filters(path):
    """A file whose columns DuckDB stores with dictionaries, and so with filters of its own."""
    duckdb.sql(f"""copy (select range * 7919 % 900 as i, (range % 800)::integer as j, 'w' || range * 31 % 3000 as s,
                                (range % 700)::double / 4 + 1 as d, (range % 77)::float - 99 as f,
                                md5((range % 900)::varchar)::blob as b, (range * 7 % 500)::decimal(9, 2) as m,
                                date '2020-01-01' + (range % 365)::integer as t, {{'in': range % 99}} as n
                         from range(40000))
                   to '{path}' (format parquet, row_group_size 20480)""")


def test_the_filters_are_those_that_duckdb_writes_itself(attach, tmp_path):
    file = tmp_path / "t.parquet"
    duckdb_with_filters(file)
    own = filters_of(file)
    assert len(own) == 9 and all(group for groups in own.values() for group in groups)
    assert attach("-q", "t.parquet", "--replace", *named(own)).returncode == 0
    ours = filters_of(file)
    for column in own:
        assert ours[column] == own[column], column


# The files have no statistics, which would exclude some values too. The rate is 1e-6, and every run has the same
# values: no false positive is among them.
@pytest.mark.parametrize("column,absent", [("id", "1"), ("word", "'word1x'"), ("y", "0.5"), ("n", "900"),
                                           ("day", "'1999-01-01'")])
def test_duckdb_reads_no_pages_for_values_that_are_not_there(attach, tmp_path, column, absent):
    old, new = tmp_path / "old.parquet", tmp_path / "new.parquet"
    pyarrow_file(old, use_dictionary=False, write_statistics=False)
    done = attach(old, "-o", new, "--column", column, "--fpr", "1e-6")
    assert done.returncode == 0, done.stderr

    def read(file, value):
        """(rows that were found, bytes of pages that were read)"""
        query = f"from '{file}' where {column} = {value}"
        plan = json.loads(duckdb.sql(f"explain (analyze, format json) {query}").fetchall()[0][1])
        nodes = list(plan["operator"])
        for node in nodes:
            nodes += node.get("children", [])
        return duckdb.sql(query).fetchall(), sum(node.get("bytes_scanned", 0) for node in nodes)

    present = repr(next(v for v in TABLE[column].to_pylist() if v is not None))
    if column == "day":
        present = "'1970-01-01'"
    assert read(old, present)[0] == read(new, present)[0] != []
    assert 0 < read(new, present)[1] < read(old, present)[1]
    assert read(old, absent)[0] == read(new, absent)[0] == []
    assert read(new, absent)[1] == 0 < read(old, absent)[1]


FLOATS = {pa.float16(): "u2", pa.float32(): "u4", pa.float64(): "u8"}


def of_bits(bits, kind):
    """A column of floating-point numbers whose bits are these."""
    numbers = np.array(bits, FLOATS[kind]).view(FLOATS[kind].replace("u", "f"))
    return pa.table({"x": pa.Array.from_buffers(kind, len(bits), [None, pa.py_buffer(numbers)])})


def nans_of(kind):
    """A NaN with a payload and its sign set, as the engines' own NaNs are not."""
    return {2: 0xfe01, 4: 0xffc00001, 8: 0xfff8000000000001}[int(FLOATS[kind][1])]


@pytest.mark.parametrize("kind", FLOATS, ids=str)
@pytest.mark.parametrize("dictionary", [True, False], ids=["dictionary", "plain"])
def test_both_zeros_are_found(run, attach, tmp_path, kind, dictionary):
    """Engines take them for equal. DuckDB probes both; others need not."""
    sign = 1 << (8 * int(FLOATS[kind][1]) - 1)
    for zero in (0, sign):
        more = np.array([7.5], FLOATS[kind].replace("u", "f")).view(FLOATS[kind])
        pq.write_table(of_bits([zero, *more], kind), tmp_path / "t.parquet", use_dictionary=dictionary)
        assert attach("-q", "t.parquet", "--column", "x").returncode == 0
        asked = ("check", "t.parquet", "--column", "x")
        assert run(*asked, input="0\n-0.0\n7.5\n1\n") == "0\n-0.0\n7.5\n"
        assert run(*asked, "-v", input="0\n-0.0\n7.5\n1\n") == "1\n"
        assert json.loads(run(*asked, "--json", input="-0\n"))["key"] == "-0"


@pytest.mark.parametrize("kind", FLOATS, ids=str)
@pytest.mark.parametrize("dictionary", [True, False], ids=["dictionary", "plain"])
def test_all_nans_are_one(run, attach, tmp_path, kind, dictionary):
    file, asked = tmp_path / "t.parquet", ("check", "t.parquet", "--column", "x")
    pq.write_table(of_bits([nans_of(kind)], kind), file, use_dictionary=dictionary, write_statistics=False)
    assert attach("-q", "t.parquet", "--column", "x", "--fpr", "1e-5").returncode == 0
    assert run(*asked, input="nan\nNaN\n-nan\n1\n") == "nan\nNaN\n-nan\n"
    assert run(*asked, "-v", input="nan\n1\n") == "1\n"
    run("convert", "-o", "bare", "--column", "x", "t.parquet")
    name = {2: "float16", 4: "float", 8: "double"}[int(FLOATS[kind][1])]
    assert run("check", "bare", "--with", f"type={name}", input="nan\n1\n") == "nan\n"
    if name != "float16":
        assert duckdb.sql(f"select count(*) from '{file}' where x = 'nan'").fetchall() == [(1,)]
    # An engine that queries a NaN of its own finds it: the quiet ones are in the filter.
    width = int(FLOATS[kind][1])
    quiet = {2: 0x7e00, 4: 0x7fc00000, 8: 0x7ff8000000000000}[width]
    for nan in (nans_of(kind), quiet, quiet | 1 << (8 * width - 1)):
        value = nan.to_bytes(width, "little")
        assert b"\n" not in value
        found = subprocess.run([PROGRAM, "check", "-c", "bare", "--with", "type=bytes"], cwd=tmp_path, input=value + b"\n",
                               capture_output=True)
        assert found.stdout == b"1\n", (hex(nan), found.stderr)
    # A filter of nulls alone has no NaN.
    pq.write_table(pa.table({"x": pa.nulls(9, kind)}), file)
    assert attach("-q", "t.parquet", "--column", "x").returncode == 0
    assert run(*asked, input="nan\n0\n") == ""


@pytest.mark.parametrize("kind", [pa.decimal128(3, 2), pa.decimal128(9, 2), pa.decimal128(18, 2), pa.decimal128(38, 2),
                                  pa.decimal256(76, 2)], ids=str)
@pytest.mark.parametrize("integers", [False, True], ids=["bytes", "integers"])
def test_decimals_are_keys(run, attach, tmp_path, kind, integers):
    top = 10**kind.precision - 1
    values = [decimal.Decimal(n).scaleb(-2, decimal.Context(prec=80)) for n in (0, 499, -1, -128, 128, -256, top, -top)
              if abs(n) <= top]
    pq.write_table(pa.table({"d": pa.array(values, kind)}), tmp_path / "t.parquet", store_decimal_as_integer=integers)
    assert attach("-q", "t.parquet", "--column", "d", "--fpr", "1e-5").returncode == 0
    asked = ("check", "t.parquet", "--column", "d")
    lines = "".join(f"{value:f}\n" for value in values)
    assert run(*asked, input=lines) == lines
    assert run(*asked, input="4.99\n4.990\n004.99\n-0\n-.01\n4.98\n-4.99\n.01\n") == "4.99\n4.990\n004.99\n-0\n-.01\n"
    for wrong in ("4.991", "x", "1e2", "nan", "9" * 100, "-"):
        done = subprocess.run([PROGRAM, *asked], cwd=tmp_path, input=f"{wrong}\n", capture_output=True, text=True)
        assert done.returncode == 2 and "stdin:1: column 'd' is a DECIMAL of scale 2" in done.stderr, done.stderr


def test_decimals_in_byte_arrays_are_keys_in_any_length(run, attach, tmp_path):
    """No writer at hand has them: these are strings of bytes whose schema is changed."""
    file = tmp_path / "t.parquet"
    stored = {"1.00": b"\x64", "2.00": b"\0\xc8", "-0.01": b"\xff", "0.05": bytes(15) + b"\5", "-3.00": b"\xff\xff\xfe\xd4"}
    pq.write_table(pa.table({"d": pa.array(stored.values(), pa.binary())}), file, write_statistics=False)
    data = file.read_bytes()
    size = int.from_bytes(data[-8:-4], "little")
    footer = footer_of(data)
    leaf = footer.get(2)[2]
    leaf.fields += [[6, 5, 5 << 1], [7, 5, 2 << 1], [8, 5, 9 << 1]]
    new = compact.write(footer)
    file.write_bytes(data[:-8 - size] + new + len(new).to_bytes(4, "little") + b"PAR1")
    assert [str(v) for v in pq.read_table(file)["d"].to_pylist()] == list(stored)
    lines = "".join(f"{value}\n" for value in stored)
    assert attach("-q", "t.parquet", "--column", "d", "--fpr", "1e-6").returncode == 0
    assert run("check", "t.parquet", "--column", "d", input=lines + "1.01\n-1\n") == lines


def test_an_attached_column_is_replaced_without_growing(attach, tmp_path):
    file = tmp_path / "t.parquet"
    pyarrow_file(file, write_page_index=True)
    given = file.read_bytes()
    done = attach("t.parquet", "--column", "id")
    assert done.stderr == "t.parquet: column id: 3 filters for 6,000 distinct values, 10.2 kB, rate 0.352%\n"
    once = file.read_bytes()
    done = attach("t.parquet", "--column", "id")
    assert (done.returncode, file.read_bytes()) == (2, once)
    assert done.stderr == ("bloomset parquet: t.parquet: column 'id' has filters already; give --replace to replace "
                           "them\n")
    assert attach("t.parquet", "--column", "id", "--replace").returncode == 0
    assert file.read_bytes() == once
    # Another column follows; the filters that are replaced behind it leave no gap.
    assert attach("t.parquet", "--column", "word").returncode == 0
    size = file.stat().st_size
    assert attach("t.parquet", "--column", "word", "--fpr", "1e-5", "--replace").returncode == 0
    assert file.stat().st_size > size
    assert attach("t.parquet", "--column", "word", "--replace").returncode == 0
    assert file.stat().st_size == size
    pages_stay(given, file.read_bytes())
    assert pq.read_table(file).equals(TABLE)
    # Filters that are not at the end stay as unused bytes, so that nothing moves.
    assert attach("t.parquet", "--column", "id", "--replace").returncode == 0
    assert file.stat().st_size == size + len(b"".join(filters_of(file)["id"]))
    pages_stay(given, file.read_bytes())
    assert pq.read_table(file).equals(TABLE)


def test_fields_that_no_version_has_are_kept(attach, tmp_path):
    file = tmp_path / "t.parquet"
    pyarrow_file(file)
    data = file.read_bytes()
    size = int.from_bytes(data[-8:-4], "little")
    footer = footer_of(data)
    extra = [[900, 8, b"kept"], [901, 9, [12, compact.Struct([[1, 1, None], [20, 7, b"12345678"]])]], [902, 2, None],
             [903, 9, [1, b"\1", b"\0"]]]
    footer.fields += extra
    for chunk in chunks_of(footer):
        chunk.fields += extra
        # Below, between and above the numbers of the filter's place, and not in order.
        chunk.get(3).fields += [[40, 5, 7], *extra, [13, 3, b"x"]]
    new = compact.write(footer)
    given = data[:-8 - size] + new + len(new).to_bytes(4, "little") + b"PAR1"
    file.write_bytes(given)
    assert attach("t.parquet", *named(COLUMNS)).returncode == 0
    pages_stay(given, file.read_bytes())
    assert pq.read_table(file).equals(TABLE)
    assert all(None not in groups for groups in filters_of(file).values())


def refused(attach, tmp_path, sentence, *args, file="t.parquet"):
    before = (tmp_path / file).read_bytes()
    done = attach(file, *args)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith(f"bloomset parquet: {file}: ") and done.stderr.count("\n") == 1, done.stderr
    assert sentence in done.stderr
    assert (tmp_path / file).read_bytes() == before and os.listdir(tmp_path) == [file]


class Keys(pe.KmsClient):
    def wrap_key(self, key, name):
        return key.hex()

    def unwrap_key(self, key, name):
        return bytes.fromhex(key)


@pytest.mark.parametrize("plain", [False, True], ids=["footer", "columns"])
def test_encrypted_files_are_refused(attach, tmp_path, plain):
    how = pe.EncryptionConfiguration(footer_key="f", column_keys={"c": ["word"]}, plaintext_footer=plain)
    keys = pe.CryptoFactory(lambda _: Keys()).file_encryption_properties(pe.KmsConnectionConfig(), how)
    pyarrow_file(tmp_path / "t.parquet", TABLE.select(["id", "word"]), encryption_properties=keys)
    for column in ("id", "word"):
        refused(attach, tmp_path, "encrypted", "--column", column)


def test_what_has_no_filters_is_refused(attach, tmp_path):
    file = tmp_path / "t.parquet"
    data = pa.table({"yes": [True, False], "when": pa.array([1, 2], pa.timestamp("ns")), "s": ["a", "b"]})
    pq.write_table(data, file, use_deprecated_int96_timestamps=True)
    refused(attach, tmp_path, "'yes' is of type BOOLEAN", "--column", "yes")
    refused(attach, tmp_path, "'when' is of type INT96", "--column", "when")
    refused(attach, tmp_path, "there is no column 'S'", "--column", "S")
    refused(attach, tmp_path, "a column is named twice; name it once", "--column", "s", "--column", "s")
    pq.write_table(data, file, compression="brotli")
    refused(attach, tmp_path, "the codec Brotli", "--column", "s")
    file.write_bytes(b"")
    refused(attach, tmp_path, "begins and ends with PAR1", "--column", "s")
    pq.write_table(data, file, metadata_collector=(parts := []))
    parts[0].set_file_path("other.parquet")
    parts[0].write_metadata_file(file)
    refused(attach, tmp_path, "is in another file", "--column", "s")


def test_rates_and_targets_are_checked(run, attach, tmp_path):
    pq.write_table(pa.table({"s": ["a", "b"]}), tmp_path / "t.parquet")
    for rate in ("0", "1", "100%", "x", "-1"):
        done = attach("t.parquet", "--column", "s", "--fpr", rate)
        assert done.returncode == 2 and "--fpr" in done.stderr
    (tmp_path / "other").write_bytes(b"mine")
    done = attach("t.parquet", "--column", "s", "-o", "other")
    assert done.returncode == 2 and "give --force" in done.stderr and (tmp_path / "other").read_bytes() == b"mine"
    given = (tmp_path / "t.parquet").read_bytes()
    assert attach("t.parquet", "--column", "s", "-o", "other", "--force").returncode == 0
    assert (tmp_path / "t.parquet").read_bytes() == given
    assert run("check", "other", "--column", "s", input="a\nz\n") == "a\n"
    assert attach("nosuch", "--column", "s").stderr == "bloomset parquet: nosuch: cannot open: No such file or directory\n"
    assert "give -o FILE" in attach(".", "--column", "s").stderr
    piped = subprocess.run([PROGRAM, "parquet", "attach", "-q", "/dev/stdin", "-o", "-", "--column", "s"], input=given,
                           stdout=subprocess.PIPE, check=True)
    assert piped.stdout == (tmp_path / "other").read_bytes()


def test_checksums_of_hadoop_are_not_left_behind(attach, tmp_path):
    pq.write_table(pa.table({"s": ["a", "b"]}), tmp_path / "t.parquet")
    (tmp_path / ".t.parquet.crc").write_bytes(b"crc\0")
    before = (tmp_path / "t.parquet").read_bytes()
    assert attach("t.parquet", "--column", "s").stderr == (
        "bloomset parquet: t.parquet: .t.parquet.crc has checksums of the old file, so Spark would refuse the new one; "
        "remove it, or give -o FILE with another name\n")
    assert (tmp_path / "t.parquet").read_bytes() == before
    assert attach("t.parquet", "-o", "new.parquet", "--column", "s").returncode == 0


def test_truncated_files_are_refused(attach, tmp_path):
    pyarrow_file(tmp_path / "t.parquet", TABLE.slice(0, 50).select(["id", "word", "tags"]))
    data = (tmp_path / "t.parquet").read_bytes()
    for size in [*range(0, 20), *range(20, len(data), 199), len(data) - 1]:
        (tmp_path / "t.parquet").write_bytes(data[:size])
        refused(attach, tmp_path, "", "--column", "tags.list.element")


def test_pages_that_changed_are_found_by_their_checksums(attach, tmp_path):
    pyarrow_file(tmp_path / "t.parquet", TABLE.slice(0, 50).select(["id"]), write_page_checksum=True,
                 use_dictionary=False, compression="none")
    data = bytearray((tmp_path / "t.parquet").read_bytes())
    at = data.index(TABLE["id"][7].as_py().to_bytes(8, "little", signed=True))
    data[at] ^= 1
    (tmp_path / "t.parquet").write_bytes(data)
    refused(attach, tmp_path, "row group 1, column 'id': a page does not fit its checksum", "--column", "id")


def test_without_room_the_file_stays(attach, tmp_path):
    pyarrow_file(tmp_path / "t.parquet")

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    before = (tmp_path / "t.parquet").read_bytes()
    done = attach("t.parquet", "--column", "id", preexec_fn=limit)
    assert done.stderr == "bloomset parquet: t.parquet: cannot write: File too large\n"
    assert (tmp_path / "t.parquet").read_bytes() == before and os.listdir(tmp_path) == ["t.parquet"]


def test_a_killed_attach_leaves_the_old_file_or_the_new_one(attach, tmp_path):
    file = tmp_path / "t.parquet"
    pyarrow_file(file)
    old = file.read_bytes()
    start = time.monotonic()
    assert attach("-q", "t.parquet", *named(COLUMNS)).returncode == 0
    whole = time.monotonic() - start
    new = file.read_bytes()
    chance = random.Random(17)
    for _ in range(30):
        file.write_bytes(old)
        with subprocess.Popen([PROGRAM, "parquet", "attach", "-q", file, *named(COLUMNS)]) as victim:
            time.sleep(chance.uniform(0, whole * 1.2))
            victim.kill()
        assert file.read_bytes() in (old, new)
    # What a kill may leave has a hidden name, which the next writer takes.
    file.write_bytes(old)
    assert attach("-q", "t.parquet", *named(COLUMNS)).returncode == 0
    assert file.read_bytes() == new and os.listdir(tmp_path) == ["t.parquet"]
