"""Columns of Arrow, pandas, polars and DuckDB are keys, without a copy, and nulls are never members."""

import datetime
import decimal
import re
import threading
import uuid

import bloomset
import engines
import pytest
from conftest import every_kind
from signals import interrupt

engines.need(*engines.ARROW)

import duckdb  # noqa: E402
import numpy  # noqa: E402
import pandas  # noqa: E402
import polars  # noqa: E402
import pyarrow as pa  # noqa: E402
import pyarrow.compute  # noqa: E402
import pyarrow.parquet  # noqa: E402

TEXTS = ["ann", None, "Zoë", "", "a name of more than twelve bytes", "名前", None, "x" * 1000]
NUMBERS = [0, None, 1, 127, -128, 5, None]
DAYS = [datetime.date(1970, 1, 1), None, datetime.date(1969, 12, 31), datetime.date(2026, 11, 25)]
MONEY = [decimal.Decimal(t) for t in ("0.00", "12.50", "-0.05", "-1234567.89", "0.10")]


def keys_of(values):
    return [v for v in values if v is not None]


def filter_of(keys):
    return bloomset.BlockedBloom.build(keys, capacity=100_000, fpr=1e-9)


def are_keys(column, expected):
    """The rows of the column are these keys, None for null: in a filter from single keys, and the other
    way round."""
    single = filter_of(keys_of(expected))
    assert single.contains(column).tolist() == [e is not None for e in expected]
    batch = filter_of(column)
    assert batch == single
    assert not filter_of(["another"]).contains(column).any()
    # Slices have offsets, in whole bytes of the null bits and not.
    for first in (1, 3):
        part = column[first:] if isinstance(column, polars.Series) else column.slice(first)
        assert single.contains(part).tolist() == [e is not None for e in expected[first:]]


@pytest.mark.parametrize("type", [pa.string(), pa.large_string(), pa.string_view()], ids=str)
def test_text(type):
    are_keys(pa.array(TEXTS, type), TEXTS)
    are_keys(pa.array(TEXTS * 50, type), TEXTS * 50)


@pytest.mark.parametrize("type", [pa.binary(), pa.large_binary(), pa.binary_view()], ids=str)
def test_bytes(type):
    values = [None if t is None else t.encode() for t in TEXTS] + [b"\0", b"\0\0"]
    are_keys(pa.array(values, type), values)


def test_bytes_of_a_fixed_width():
    values = [b"abcd", None, b"ab\0\0", b"\0\0\0\0", b"wxyz"]
    are_keys(pa.array(values, pa.binary(4)), values)
    are_keys(pa.array([b"", None, b"", b""], pa.binary(0)), [b"", None, b"", b""])


@pytest.mark.parametrize("type", [pa.int8(), pa.int16(), pa.int32(), pa.int64()], ids=str)
def test_numbers(type):
    are_keys(pa.array(NUMBERS, type), NUMBERS)


@pytest.mark.parametrize("type", [pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()], ids=str)
def test_numbers_without_a_sign(type):
    most = 2 ** (8 * type.byte_width if hasattr(type, "byte_width") else type.bit_width) - 1
    values = [0, None, 7, most]
    are_keys(pa.array(values, type), values)


@pytest.mark.parametrize("type", [pa.date32(), pa.date64()], ids=str)
def test_a_date_is_its_number_of_days(type):
    days = [None if d is None else (d - datetime.date(1970, 1, 1)).days for d in DAYS]
    assert days[2] == -1
    are_keys(pa.array(DAYS, type), days)


@pytest.mark.parametrize("type", [pa.decimal32(9, 2), pa.decimal64(18, 2), pa.decimal128(38, 2),
                                  pa.decimal256(76, 2)], ids=str)
def test_a_decimal_is_its_text(type):
    are_keys(pa.array([*MONEY, None], type), [str(m) for m in MONEY] + [None])


def test_decimals_of_other_scales():
    are_keys(pa.array([7, -7, 0, None], pa.decimal128(5, 0)), ["7", "-7", "0", None])
    least = "-0." + "0" * 75 + "1"
    with decimal.localcontext() as context:
        context.prec = 80
        are_keys(pa.array([decimal.Decimal(least), decimal.Decimal("0." + "9" * 76)], pa.decimal256(76, 76)),
                 [least, "0." + "9" * 76])
    are_keys(pa.array([decimal.Decimal("1200"), decimal.Decimal("-300"), decimal.Decimal(0)],
                      pa.decimal128(5, -2)), ["1200", "-300", "0"])


def test_uuids_are_their_16_bytes():
    """As uuid.UUID of Python, whatever the column's type says."""
    numbers = [uuid.UUID(int=i << 64 | 5) for i in range(3)]
    column = pa.array([number.bytes for number in numbers] + [None], pa.uuid())
    for expected in (numbers, [number.bytes for number in numbers]):
        are_keys(column, [*expected, None])
    are_keys(column.storage, [*numbers, None])
    assert filter_of(numbers).contains(pandas.Series(numbers)).all()


def test_uuids_of_duckdb_are_the_same_keys_or_refused():
    """DuckDB exports their text by default, which is another key."""
    f = filter_of([uuid.UUID(int=5)])
    session = duckdb.connect()
    query = "select '00000000-0000-0000-0000-000000000005'::uuid as u"
    with pytest.raises(TypeError, match="DuckDB gives UUIDs as text.*; run SET arrow_lossless_conversion = true"):
        f.contains(session.sql(query))
    assert not f.contains(session.sql(f"select u::varchar from ({query})")).any()
    session.sql("set arrow_lossless_conversion = true")
    assert f.contains(session.sql(query)).all()
    with pytest.raises(TypeError, match="type extension<arrow.opaque> has no keys"):
        f.contains(session.sql("select 5::hugeint"))


def test_numbers_that_would_be_other_keys_are_refused():
    f = filter_of([3])
    with pytest.raises(TypeError, match="DuckDB gives a HUGEINT as a decimal"):
        f.contains(duckdb.sql("select sum(i) from range(3) t(i)"))
    assert f.contains(duckdb.sql("select sum(i)::bigint from range(3) t(i)")).all()
    assert not f.contains(duckdb.sql("select 3::decimal(38, 0)")).any()
    column = pandas.Series([decimal.Decimal("1.5"), decimal.Decimal("2.25")])
    for given in column, column.astype("category"), pandas.DataFrame({"p": column}):
        with pytest.raises(TypeError, match="Decimal"):
            f.contains(given)
    with pytest.raises(TypeError):
        f.contains(pandas.Series(pandas.period_range("2026-01", periods=3, freq="M")))


def test_polars_objects_have_no_keys():
    column = polars.Series("c", [("ann", 1), ("bob", 2)], dtype=polars.Object)
    for given in (column, column.to_frame()):
        with pytest.raises(TypeError, match="a column of Python objects has no keys in Arrow"):
            filter_of([]).update(given)
    are_keys(pa.array([b"8 bytes!", b"in a row"], pa.binary(8)), [b"8 bytes!", b"in a row"])


def test_a_frame_of_an_index_alone_has_its_keys():
    decimals = pandas.array([decimal.Decimal("1.50"), decimal.Decimal("0.25")], pandas.ArrowDtype(pa.decimal128(9, 2)))
    index = pandas.DataFrame(index=pandas.Index(decimals, name="amount"))
    assert filter_of(["1.50", "0.25"]).contains(index).all()


def test_numpys_array_of_text_without_a_width():
    texts = numpy.array(["ann", "Zoë", "", "x" * 1000], numpy.dtypes.StringDType())
    f = filter_of(["ann", "Zoë", "", "x" * 1000])
    assert f.contains(texts).all() and filter_of(texts) == f
    assert f.contains(texts[::-2]).all() and len(f.contains(texts[:0])) == 0
    assert bloomset.Bloom.build(texts) == bloomset.Bloom.build(texts.tolist())
    with pytest.raises(TypeError, match="a key is"):
        f.contains(texts.reshape(2, 2))
    with pytest.raises(TypeError, match="a key is"):
        f.contains(numpy.array(["ann", None], numpy.dtypes.StringDType(na_object=None)))


@pytest.mark.parametrize("index", [pa.int8(), pa.uint16(), pa.int32(), pa.int64()], ids=str)
def test_dictionaries(index):
    words = pa.array(["ann", None, "bob", "name " * 9])
    indices = pa.array([3, 1, None, 0, 0, 2], index)
    are_keys(pa.DictionaryArray.from_arrays(indices, words), ["name " * 9, None, None, "ann", "ann", "bob"])
    days = pa.DictionaryArray.from_arrays(pa.array([1, 0], index), pa.array([5, 6], pa.date32()))
    are_keys(days, [6, 5])


def test_an_array_of_nulls_has_no_members():
    are_keys(pa.nulls(5), [None] * 5)
    for type in (pa.string(), pa.string_view(), pa.int64(), pa.date32(), pa.binary(3)):
        are_keys(pa.nulls(4, type), [None] * 4)
        assert len(filter_of([]).contains(pa.array([], type))) == 0


def test_the_hashes_of_the_format():
    """A Bloom filter of one key has the places of its hash; equal bytes, equal hash."""
    for column, key in ((pa.array(["Zoë"]), "Zoë".encode()), (pa.array([b"\0\xff"]), b"\0\xff"),
                        (pa.array([-1]), b"\xff" * 8), (pa.array([decimal.Decimal("-0.05")]), b"-0.05"),
                        (pa.array([datetime.date(2026, 11, 25)]), (20782).to_bytes(8, "little"))):
        assert filter_of(column) == filter_of([key])


def test_chunks_batches_and_tables():
    chunks = pa.chunked_array([TEXTS, [], TEXTS[2:], [None]], pa.string())
    are_keys(chunks, TEXTS + TEXTS[2:] + [None])
    table = pa.table({"name": chunks, "length": [0] * len(chunks)})
    f = filter_of(keys_of(TEXTS))
    assert f.contains(table.select(["name"])).sum() == len(keys_of(TEXTS + TEXTS[2:]))
    batch = pa.record_batch({"name": pa.array(TEXTS)})
    assert f.contains(batch.slice(2)).tolist() == [t is not None for t in TEXTS[2:]]
    fields = pa.StructArray.from_arrays([pa.array(TEXTS)], ["name"])
    assert f.contains(fields.slice(2)).tolist() == [t is not None for t in TEXTS[2:]]
    with pytest.raises(TypeError, match="the Arrow data have 2 columns, but keys are one column; choose it"):
        f.contains(table)
    with pytest.raises(TypeError, match="a structure that is null"):
        f.contains(pa.StructArray.from_arrays([pa.array(["a"])], ["name"], mask=pa.array([True])))


@pytest.mark.parametrize("column, name", [
    (pa.array([1.5]), "float64"), (pa.array([1.5], pa.float32()), "float32"), (pa.array([1.5], pa.float16()), "float16"),
    (pa.array([True]), "bool"), (pa.array([0], pa.timestamp("us")), "timestamp[us]"),
    (pa.array([0], pa.timestamp("s", "Europe/Berlin")), "timestamp[s, Europe/Berlin]"),
    (pa.array([0], pa.time32("ms")), "time32[ms]"), (pa.array([0], pa.duration("ns")), "duration[ns]"),
    (pa.array([[1]]), "list"), (pa.array([[1]], pa.list_(pa.int8(), 1)), "fixed_size_list"),
    (pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int8())), "map"),
    (pa.ExtensionArray.from_storage(pa.bool8(), pa.array([1], pa.int8())), "extension<arrow.bool8>")], ids=str)
def test_other_types_are_refused_by_name(column, name):
    f = filter_of([])
    for use in (f.contains, f.update, bloomset.Fuse.build):
        with pytest.raises(TypeError, match=re.escape(f"an Arrow column of type {name} has no keys; cast it")):
            use(column)


def test_damaged_arrays_are_refused():
    f = filter_of(["a"])
    numbers = pa.array([0, 2, 1], pa.int32()).buffers()[1]
    falling = pa.Array.from_buffers(pa.string(), 2, [None, numbers, pa.py_buffer(b"abc")])
    with pytest.raises(ValueError, match="offset 2 is less than"):
        f.contains(falling)
    outside = pa.DictionaryArray.from_arrays(pa.array([0, 7]), ["a"], safe=False)
    with pytest.raises(ValueError, match="index 7 is not one of the 1 values"):
        f.contains(outside)
    below = pa.DictionaryArray.from_arrays(pa.array([0, -1]), ["a"], safe=False)
    with pytest.raises(ValueError, match="index -1 is not one of the 1 values"):
        f.update(below)
    view = numpy.array([20, 0, 3, 0], "i4").tobytes()
    claimed = pa.Array.from_buffers(pa.string_view(), 1, [pa.py_buffer(b"\0"), pa.py_buffer(view)], null_count=0)
    with pytest.raises(ValueError, match="view 0 is not within its buffer"):
        f.contains(claimed)
    beyond = pa.Array.from_buffers(pa.string_view(), 1, [None, pa.py_buffer(view), pa.py_buffer(b"x" * 20)])
    with pytest.raises(ValueError, match="view 0 is not within its buffer"):
        f.contains(beyond)


def test_a_stream_without_a_length_takes_a_capacity():
    def reader():
        return pa.RecordBatchReader.from_batches(pa.schema({"a": pa.int64()}), [pa.record_batch({"a": [1, 2]})])

    with pytest.raises(TypeError, match="the number of keys in a stream is not known .*; give capacity"):
        bloomset.Bloom.build(reader())
    assert bloomset.Bloom.build(reader(), capacity=10) == bloomset.Bloom.build([1, 2], capacity=10)
    assert bloomset.Ribbon.build(reader()) == bloomset.Ribbon.build([1, 2])


def test_a_stream_may_wait_for_another_thread_of_python():
    asked, ready = threading.Event(), threading.Event()

    def batches():
        asked.set()
        assert ready.wait(30)
        yield pa.record_batch({"a": [1, 2]})

    helper = threading.Thread(target=lambda: asked.wait(30) and ready.set())
    helper.start()
    f = filter_of([])
    f.update(pa.RecordBatchReader.from_batches(pa.schema({"a": pa.int64()}), batches()))
    helper.join()
    assert 1 in f and 2 in f


def test_the_right_call_is_told_where_an_answer_would_be_wrong():
    f, numbers = filter_of(range(3)), numpy.arange(3)
    for use in (lambda: numpy.isin(numbers, f), lambda: numpy.isin(numbers, [f]), lambda: numpy.setdiff1d(numbers, f),
                lambda: numpy.asarray(f), lambda: numpy.array([f, f])):
        with pytest.raises(TypeError, match=r"filter\.contains\(array\) in place of numpy\.isin"):
            use()
    for use in (lambda: pandas.Series(numbers).isin(f), lambda: pandas.Index(numbers).isin(f),
                lambda: polars.Series(numbers).is_in(f), lambda: polars.select(polars.lit(1).is_in(f)),
                lambda: pa.compute.is_in(pa.array(numbers), value_set=f), lambda: {1} & f, lambda: list(f)):
        with pytest.raises(TypeError):
            use()
    # An element of an array of objects is no such use.
    assert numpy.array([f, f], object)[1] is f and pandas.Series([f, f])[1] is f


def test_a_signal_reaches_a_column():
    column = pa.chunked_array([pa.array([b"x" * 1000] * 1000)] * 1_000_000)
    f = filter_of([])
    while not f:  # the signal may arrive before the first chunk
        interrupt(lambda: f.update(column))


def test_the_producers_errors_are_told():
    def batches():
        yield pa.record_batch({"a": [1, 2]})
        raise OSError("the disk is gone")

    reader = pa.RecordBatchReader.from_batches(pa.schema({"a": pa.int64()}), batches())
    with pytest.raises(RuntimeError, match="the disk is gone"):
        filter_of([]).update(reader)


@every_kind
def test_every_kind_takes_columns(cls):
    column = pa.array([*map(str, range(500)), None])
    f = cls.build(column, fpr=1e-4)
    assert f.contains(column).tolist() == [True] * 500 + [False]
    if issubclass(cls, bloomset.Countable):
        f.update(column.slice(0, 10))
        assert f.counts(column)[:10].min() >= 2 and f.counts(column)[-1] == 0
        f.difference_update(column.slice(0, 10))


def test_pandas_and_polars_and_duckdb(tmp_path):
    f = filter_of(range(0, 1000, 2))
    data = {"id": list(range(1000)) + [None], "name": [f"user{i}" for i in range(1001)]}
    frame = polars.DataFrame(data)
    assert frame.filter(f.contains(frame["id"]))["id"].to_list() == list(range(0, 1000, 2))
    lazy = frame.lazy().filter(polars.col("id").map_batches(
        lambda column: polars.Series(f.contains(column)), return_dtype=polars.Boolean))
    assert lazy.collect()["id"].to_list() == list(range(0, 1000, 2))
    are_keys(frame["name"].head(20), data["name"][:20])
    are_keys(polars.Series(DAYS), [None if d is None else (d - datetime.date(1970, 1, 1)).days for d in DAYS])
    are_keys(polars.Series(MONEY, dtype=polars.Decimal(20, 2)), [str(m) for m in MONEY])
    are_keys(polars.Series(["a", "b", None, "a"], dtype=polars.Categorical), ["a", "b", None, "a"])

    table = pandas.DataFrame({"id": pandas.array(data["id"], "Int64"), "name": data["name"]})
    assert table[f.contains(table["id"])]["id"].tolist() == list(range(0, 1000, 2))
    assert f.update(table["name"]) == 1001

    pyarrow.parquet.write_table(pa.table(data), tmp_path / "t.parquet")
    relation = duckdb.sql(f"select id from '{tmp_path}/t.parquet' where id >= 500 order by id")
    assert f.contains(relation).tolist() == [i % 2 == 0 for i in range(500, 1000)]
    views = duckdb.sql("select '2026-11-25'::date + i::int as day from range(3) t(i)")
    assert filter_of([20782, 20784]).contains(views).tolist() == [True, False, True]


SETTINGS = [dict(seed=77), dict(key=bytes(range(16))), dict(hash="xxh3-2x64"), dict(hash="siphash-2x64", key=bytes(range(16)))]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@every_kind
def test_every_form_is_the_same_keys(cls, settings):
    """For each kind, seed, secret key and size of hashes."""
    n = 300
    forms = {"numbers": [list(range(n)), numpy.arange(n), pa.array(range(n)), polars.Series(range(n))]}
    texts = [f"user{i}" for i in range(n)]
    forms["texts"] = [texts, numpy.array(texts), numpy.array(texts, "S"), numpy.array(texts, numpy.dtypes.StringDType()),
                      pa.array(texts), pandas.Series(texts)]
    forms["uuids"] = [[uuid.UUID(int=i) for i in range(n)], pa.array([uuid.UUID(int=i).bytes for i in range(n)], pa.uuid())]
    others = {"numbers": numpy.arange(-10_000, 0), "texts": [f"other{i}" for i in range(10_000)],
              "uuids": [uuid.UUID(int=-i % 2**128) for i in range(1, 10_000)]}
    for name, batches in forms.items():
        try:
            filters = [cls.build(batch, fpr=1e-3, **settings) for batch in batches]
        except ValueError as refused:  # not of this kind
            assert re.search("hash|probe", str(refused))
            return
        first = filters[0]
        assert all(f == first for f in filters)
        answers = first.contains(others[name])
        assert answers.tolist() == [key in first for key in others[name]]
        for batch in batches:
            assert first.contains(batch).all()
        assert all(key in first for key in batches[0])
