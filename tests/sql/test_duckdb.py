"""The extension of DuckDB: filters are BLOBs with the bytes of filter files."""

import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import threading

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "tests" / "python"), str(ROOT / "tests" / "support")]

import engines  # noqa: E402

engines.need(*engines.ARROW)

import bloomset  # noqa: E402
import duckdb  # noqa: E402
from kinds import kinds_that  # noqa: E402
from unlabelled import unlabelled  # noqa: E402

PROGRAM = os.path.abspath(os.environ.get("BLOOMSET", ROOT / "build" / "bloomset"))
EXTENSION = os.path.abspath(os.environ.get("BLOOMSET_DUCKDB_EXTENSION", ROOT / "build" / "bloomset.duckdb_extension"))
SQLITE = os.environ.get("BLOOMSET_SQLITE", ROOT / "build" / "bloomset_sqlite.so")


def connect(file=":memory:"):
    db = duckdb.connect(str(file), config={"allow_unsigned_extensions": True})
    db.execute(f"load '{EXTENSION}'")
    return db


@pytest.fixture
def db():
    with connect() as db:
        db.execute("create table users as select i as id, 'user' || i as name, encode('raw' || i) as raw, "
                   "date '1969-12-01' + i::int as day, (i / 8 - 3)::decimal(30, 4) as price from range(1000) r(i)")
        db.execute("insert into users values (null, null, null, null, null)")
        yield db


def one(db, query, *parameters):
    return db.execute(query, parameters).fetchall()[0][0]


def run(folder, *arguments, input=b""):
    done = subprocess.run([PROGRAM, *map(str, arguments)], cwd=folder, input=input, capture_output=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("column", ["id", "name", "raw", "day", "price"])
def test_a_column_becomes_a_filter_that_has_its_values(db, column):
    f = one(db, f"select bloomset_agg({column}, 1e-9) from users")
    assert one(db, f"select count(*) from users where bloomset_contains(?, {column})", f) == 1000
    assert one(db, "select count(*) from users where bloomset_contains(?, id + 5000)", f) == 0
    assert one(db, "select bloomset_contains(?, null)", f) is None
    assert one(db, f"select count(*) from users where bloomset_contains(?, {column}) is null", f) == 1
    assert one(db, "select bloomset_contains(null, 'a')") is None
    assert one(db, f"select count(*) from users where bloomset_contains(?, {column}) is null", None) == 1001
    # Python reads the same keys from the column as Arrow, and DuckDB from Python's filter.
    values = db.sql(f"select {column} from users").to_arrow_table().column(0)
    assert bloomset.from_bytes(f).contains(values).tolist() == [True] * 1000 + [False]
    theirs = bloomset.BlockedBloom.build(values, capacity=1000, fpr=1e-9).to_bytes()
    assert one(db, f"select count(*) from users where bloomset_contains(?, {column})", theirs) == 1000


def test_exceptions_of_the_command_line_are_no_members(db, tmp_path):
    names = "".join(f"user{i}\n" for i in range(0, 1000, 2)).encode()
    run(tmp_path, "build", "-q", "-o", "f.bloom", "--fpr", "20%", input=names)
    found = "select id from users where id % 2 = 1 and bloomset_contains(?, name)"
    mistaken = [row[0] for row in db.execute(found, [(tmp_path / "f.bloom").read_bytes()]).fetchall()]
    assert len(mistaken) > 20
    run(tmp_path, "except", "-q", "f.bloom", input="".join(f"user{i}\n" for i in mistaken).encode())
    f = (tmp_path / "f.bloom").read_bytes()
    assert db.execute(found, [f]).fetchall() == []
    assert one(db, "select count(*) from users where id % 2 = 0 and bloomset_contains(?, name)", f) == 500


def test_a_uuid_is_its_bytes_in_the_order_of_its_text(db):
    for uuid in ("00112233-4455-6677-8899-aabbccddeeff", "ffeeddcc-bbaa-9988-7766-554433221100"):
        f = one(db, "select bloomset_agg(?::uuid, 1e-9)", uuid)
        assert f == one(db, "select bloomset_agg(?::blob, 1e-9)", bytes.fromhex(uuid.replace("-", "")))
        assert one(db, "select bloomset_contains(?, ?::uuid)", f, uuid)
        assert not one(db, "select bloomset_contains(?, ?)", f, uuid)


def test_integers_are_the_same_key_in_every_width(db):
    f = one(db, "select bloomset_agg(i, 1e-9) from (values (-1::bigint), (200)) v(i)")
    same = ["-1::tinyint", "-1::smallint", "-1::integer", "200::utinyint", "200::usmallint", "200::uinteger",
            "18446744073709551615::ubigint", "date '1969-12-31'"]
    for value in same:
        assert one(db, f"select bloomset_contains(?, {value})", f), value
    assert not one(db, "select bloomset_contains(?, -56::tinyint)", f)


@pytest.mark.parametrize("value, key", [
    ("-0.05::decimal(4, 2)", "-0.05"), ("0::decimal(4, 2)", "0.00"), ("123.4::decimal(9, 1)", "123.4"),
    ("-7::decimal(4, 0)", "-7"), ("12345678901.5::decimal(18, 3)", "12345678901.500"),
    ("-99999999999999999999999999999999999999::decimal(38, 0)", "-" + "9" * 38),
    ("0.00000000000000000000000000000000000001::decimal(38, 38)", "0." + "0" * 37 + "1")])
def test_decimals_are_their_text(db, value, key):
    f = one(db, "select bloomset_agg(?, 1e-9)", key)
    assert one(db, f"select bloomset_contains(?, {value})", f)


@pytest.mark.parametrize("kind", kinds_that(any_order=True))
def test_it_is_the_file_of_the_command_line_and_of_sqlite(db, kind, tmp_path):
    names = "".join(f"user{i}\n" for i in range(1000)).encode()
    run(tmp_path, "build", "-q", "-o", "f.bloom", "--kind", kind, "--fpr", "0.1%", input=names)
    made = (tmp_path / "f.bloom").read_bytes()
    for rate in ("0.001", "'0.1%'", "0.001::float", "1e-3"):
        assert one(db, f"select bloomset_agg(name, {rate}, ?) from users", kind) == made
    numbers = "".join(i.to_bytes(8, "little").hex() + "\n" for i in range(1000)).encode()
    run(tmp_path, "build", "-q", "-o", "n.bloom", "--kind", kind, "--keys", "hex", input=numbers)
    assert one(db, "select bloomset_agg(id, null, ?) from users", kind) == \
        unlabelled((tmp_path / "n.bloom").read_bytes())
    if os.path.exists(SQLITE):
        other = sqlite3.connect(":memory:")
        other.enable_load_extension(True)
        other.load_extension(str(SQLITE))
        rows = "with recursive n(id) as (select 0 union all select id + 1 from n where id < 999)"
        assert other.execute(f"{rows} select bloomset_agg('user' || id, 0.001, ?) from n", [kind]).fetchone()[0] == made


def test_a_filter_of_another_program_is_asked(db, tmp_path):
    run(tmp_path, "build", "-q", "-o", "f.bloom", "--fpr", "1e-6", input=b"user7\nuser8\n")
    query = "select id from users, read_blob(?) where bloomset_contains(content, name)"
    assert db.execute(query, [str(tmp_path / "f.bloom")]).fetchall() == [(7,), (8,)]


@pytest.mark.parametrize("kind", kinds_that(any_order=True))
def test_threads_build_the_same_bytes(db, kind):
    db.execute("create table many as select i, i % 5 as part from range(300_000) r(i)")
    made = set()
    for threads in (1, 4):
        db.execute(f"set threads = {threads}")
        parts = db.execute("select part, bloomset_agg(i, 0.01, ?) from many group by part order by part", [kind])
        made.add((one(db, "select bloomset_agg(i, 0.01, ?) from many", kind), *parts.fetchall()))
    assert len(made) == 1
    f = next(iter(made))[0]
    assert one(db, "select count(*) from many where bloomset_contains(?, i)", f) == 300_000
    assert one(db, "select count(*) from many where bloomset_contains(?, -1 - i)", f) < 6_000


def test_filters_of_groups_are_one_value_each_and_merge(db):
    db.execute("create table filters as select id % 8 as part, bloomset_agg(name, 1e-6, null, 1000) as f from users "
               "where id is not null group by part")
    assert one(db, "select count(*) from filters") == 8
    found = db.execute("select part, count(*) from filters, users where bloomset_contains(f, name) group by part order by part")
    assert found.fetchall() == [(part, 125) for part in range(8)]
    union = one(db, "select bloomset_merge(f) from filters")
    assert union == one(db, "select bloomset_agg(name, 1e-6, null, 1000) from users")
    assert one(db, "select bloomset_merge(f) from filters where part > 9") is None
    assert one(db, "select bloomset_merge(null)") is None
    assert one(db, "select bloomset_agg(name) from users where id > 5000") is None


def test_threads_merge_many_filters(db):
    db.execute("create table filters as select f from range(125), range(1000), "
               "(select bloomset_agg(i, 0.01, 'bloom', 100) as f from range(100) r(i) group by i % 2)")
    unions = set()
    for threads in (1, 4):
        db.execute(f"set threads = {threads}")
        unions.add(one(db, "select bloomset_merge(f) from filters"))
    assert unions == {one(db, "select bloomset_agg(i, 0.01, 'bloom', 100) from range(100) r(i)")}


def test_a_window_of_rows_has_its_own_filter(db):
    query = ("select id, bloomset_agg(name, 1e-6, null, 100) over (order by id rows between 9 preceding and current row) as f, "
             "bloomset_merge(f0) over (order by id rows between 9 preceding and current row) as u from "
             "(select id, name, bloomset_agg(name, 1e-6, null, 100) as f0 from users where id < 200 group by id, name)")
    db.execute(f"create table windows as {query}")
    for column in ("f", "u"):
        assert one(db, f"select count(*) from windows w, users u where u.id < 200 and bloomset_contains({column}, name)") == \
            sum(min(i, 9) + 1 for i in range(200))


def test_a_column_without_values_is_an_empty_filter(db):
    f = one(db, "select bloomset_agg(name) from users where id is null")
    assert one(db, "select count(*) from users where bloomset_contains(?, name)", f) == 0


def test_info_is_json_with_the_names_of_the_command_line(db, tmp_path):
    f = one(db, "select bloomset_agg(name) from users")
    (tmp_path / "f.bloom").write_bytes(f)
    theirs = json.loads(run(tmp_path, "info", "--json", "f.bloom"))
    ours = json.loads(one(db, "select bloomset_info(?)", f))
    assert {"file": "f.bloom", **ours} == theirs
    assert one(db, "select bloomset_info(null)") is None


@pytest.mark.parametrize("query, sentence", [
    ("bloomset_agg(id / 1.5)", "a floating-point number is not a key.*value::varchar"),
    ("bloomset_contains(bloomset_agg(name), 1.5::float)", "a floating-point number is not a key.*value::varchar"),
    ("bloomset_agg([id])", "keys are texts, blobs, integers of up to 64 bits, dates, decimals and UUIDs; cast"),
    ("bloomset_agg(id::hugeint)", "keys are texts"),
    ("bloomset_agg(day::timestamp)", "a timestamp is not a key.*epoch_us"),
    ("bloomset_agg(day::timestamptz)", "a timestamp is not a key.*epoch_us"),
    ("bloomset_agg(id = 1)", "keys are texts"),
    ("bloomset_agg(name, 2)", "a rate is a number such as 0.01"),
    ("bloomset_agg(name, 1.5)", "rate"),
    ("bloomset_agg(name, 'often')", "often"),
    ("bloomset_agg(name, 0.01, 'bloo')", "bloo"),
    ("bloomset_agg(name, 0.01, null, 0)", "the capacity 0 is not positive"),
    ("bloomset_agg(name, 0.01, null, 9223372036854775807)", ""),
    ("bloomset_agg(name, 0.01, null, 10000000000)", "a value has at most 1073741824"),
    ("bloomset_agg(name, 0.01, 'vector_quotient', 3000000000)", "a value has at most 1073741824"),
    ("bloomset_agg(name, 0.01, 'bloom', 100)", "capacity of 100 keys is too small for 1000 distinct"),
    ("bloomset_contains('no filter'::blob, name)", "the filter"),
    ("bloomset_info('\\x00'::blob)", "the filter"),
    ("bloomset_merge(raw)", "the filter")])
def test_errors_are_one_sentence(db, query, sentence):
    with pytest.raises(duckdb.Error, match=f"^[A-Za-z ]*: bloomset: .*{sentence}") as caught:
        db.execute(f"select {query} from users").fetchall()
    assert "\n" not in str(caught.value)
    assert one(db, "select count(*) from users") == 1001


def test_damaged_filters_are_errors(db):
    f = one(db, "select bloomset_agg(name) from users")
    for at in [*range(0, len(f), 37), *range(192)]:
        for damaged in (f[:at], f[:at] + bytes([f[at] ^ 1]) + f[at + 1:]):
            for query in ("select bloomset_contains(?, 'a')", "select bloomset_info(?)", "select bloomset_merge(?)"):
                with pytest.raises(duckdb.Error, match="bloomset: the filter"):
                    db.execute(query, [damaged]).fetchall()


def test_a_damaged_copy_of_the_filter_asked_before_is_an_error(db):
    f = one(db, "select bloomset_agg(name) from users")
    damaged = f[:-1] + bytes([f[-1] ^ 1])
    db.execute("create table copies (number integer, f blob)")
    db.executemany("insert into copies values (?, ?)", [(n, damaged if n == 2 else f) for n in range(4)])
    asked = "select count(*) from copies, users where bloomset_contains(f, name) and number"
    assert one(db, f"{asked} <> 2") == 3000
    assert one(db, "select bloomset_contains(?, 'user7')", f)
    for query, parameters in ((f"{asked} < 9", []), ("select bloomset_contains(?, 'user7')", [damaged])):
        with pytest.raises(duckdb.Error, match="bloomset: the filter"):
            db.execute(query, parameters).fetchall()


def test_filters_of_different_kinds_do_not_merge(db):
    with pytest.raises(duckdb.Error, match=": bloomset: "):
        db.execute("select bloomset_merge(f) from (select bloomset_agg(name) as f from users union all "
                   "select bloomset_agg(name, 0.01, 'bloom') from users)").fetchall()


def test_a_filter_with_a_secret_key_is_refused(db, tmp_path):
    run(tmp_path, "key", "new", "k.key")
    run(tmp_path, "build", "-q", "-o", "f.bloom", "--key-file", "k.key", input=b"a\n")
    with pytest.raises(duckdb.Error, match=": bloomset: the filter: .*key"):
        one(db, "select bloomset_contains(?, 'a')", (tmp_path / "f.bloom").read_bytes())


def test_a_stored_filter_is_asked_by_several_threads(tmp_path):
    with connect(tmp_path / "t.db") as db:
        db.execute("create table filters as select bloomset_agg('user' || i, 1e-6) as f from range(5000) r(i)")
    with connect(tmp_path / "t.db") as db:
        found = []

        def ask(name):
            cursor = db.cursor()
            for _ in range(20):
                found.append(one(cursor, "select count(*) from filters, range(5000) r(i) where bloomset_contains(f, ? || i)", name))

        threads = [threading.Thread(target=ask, args=[name]) for name in ("user", "user", "user")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [5000] * 60
