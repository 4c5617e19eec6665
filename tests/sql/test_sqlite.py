"""The extension of SQLite: filters are BLOBs with the bytes of filter files."""

import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import threading

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.path.abspath(os.environ.get("BLOOMSET", ROOT / "build" / "bloomset"))
EXTENSION = os.path.abspath(os.environ.get("BLOOMSET_SQLITE", ROOT / "build" / "bloomset_sqlite.so"))

sys.path.append(str(ROOT / "tests" / "support"))
from kinds import kinds_that  # noqa: E402
from unlabelled import unlabelled  # noqa: E402


def connect(file=":memory:"):
    db = sqlite3.connect(file, check_same_thread=False)
    db.enable_load_extension(True)
    db.load_extension(EXTENSION)
    return db


@pytest.fixture
def db():
    db = connect()
    db.execute("create table users (id integer, name text, raw blob)")
    db.executemany("insert into users values (?, ?, ?)",
                   [(i, f"user{i}", b"\0%d" % i) for i in range(1000)] + [(None, None, None)])
    return db


def one(db, query, *parameters):
    return db.execute(query, parameters).fetchone()[0]


def run(folder, *arguments, input=b"", code=0):
    done = subprocess.run([PROGRAM, *map(str, arguments)], cwd=folder, input=input, capture_output=True)
    assert done.returncode == code, done.stderr
    return done.stdout


@pytest.mark.parametrize("column", ["id", "name", "raw"])
def test_a_column_becomes_a_filter_that_has_its_values(db, column):
    f = one(db, f"select bloomset_agg({column}) from users")
    assert one(db, f"select sum(bloomset_contains(?, {column})) from users", f) == 1000
    passed = one(db, "select sum(bloomset_contains(?, 'other' || id)) from users", f)
    assert passed < 50
    assert one(db, "select bloomset_contains(?, null)", f) is None
    assert one(db, "select bloomset_contains(null, 'a')") is None


@pytest.mark.parametrize("kind", kinds_that(any_order=True))
def test_it_is_the_file_of_the_command_line(db, kind, tmp_path):
    names = "".join(f"user{i}\n" for i in range(1000)).encode()
    run(tmp_path, "build", "-q", "-o", "f.bloom", "--kind", kind, "--fpr", "0.1%", input=names)
    for rate in (0.001, "0.1%"):
        assert one(db, "select bloomset_agg(name, ?, ?) from users", rate, kind) == \
            (tmp_path / "f.bloom").read_bytes()
    numbers = "".join(i.to_bytes(8, "little").hex() + "\n" for i in range(1000)).encode()
    run(tmp_path, "build", "-q", "-o", "n.bloom", "--kind", kind, "--keys", "hex", input=numbers)
    assert one(db, "select bloomset_agg(id, null, ?) from users", kind) == \
        unlabelled((tmp_path / "n.bloom").read_bytes())


def test_a_filter_of_another_program_is_asked(db, tmp_path):
    run(tmp_path, "build", "-q", "-o", "f.bloom", "--fpr", "1e-6", input=b"user7\nuser8\n")
    f = (tmp_path / "f.bloom").read_bytes()
    assert [row[0] for row in db.execute("select id from users where bloomset_contains(?, name)", [f])] == [7, 8]


def test_exceptions_of_the_command_line_are_no_members(db, tmp_path):
    names = "".join(f"user{i}\n" for i in range(0, 1000, 2)).encode()
    run(tmp_path, "build", "-q", "-o", "f.bloom", "--fpr", "20%", input=names)
    found = "select id from users where id % 2 and bloomset_contains(?, name)"
    mistaken = [row[0] for row in db.execute(found, [(tmp_path / "f.bloom").read_bytes()])]
    assert len(mistaken) > 20
    run(tmp_path, "except", "-q", "f.bloom", input="".join(f"user{i}\n" for i in mistaken).encode())
    f = (tmp_path / "f.bloom").read_bytes()
    assert db.execute(found, [f]).fetchall() == []
    assert one(db, "select sum(bloomset_contains(?, name)) from users where id % 2 = 0", f) == 500


def test_filters_of_groups_are_one_value_each_and_merge(db):
    db.execute("create table filters as select id % 4 as part, bloomset_agg(name, 1e-6) as f from users "
               "where id is not null group by part")
    assert one(db, "select count(*) from filters") == 4
    found = db.execute("select part, sum(bloomset_contains(f, name)) from filters, users group by part").fetchall()
    assert found == [(part, 250) for part in range(4)]
    union = one(db, "select bloomset_merge(f) from filters")
    assert one(db, "select sum(bloomset_contains(?, name)) from users", union) == 1000
    assert one(db, "select bloomset_merge(f) from filters where part > 9") is None
    assert one(db, "select bloomset_agg(name) from users where id > 5000") is None


def test_parts_merge_to_one_file_in_any_order(db):
    for i in range(3):
        db.execute("create table if not exists halves (f blob)")
        db.execute("insert into halves select bloomset_agg(name, 0.01, 'bloom') from users where id between ? and ?",
                   [300 * i, 300 * i + 299])
    unions = {one(db, f"select bloomset_merge(f) from (select f from halves order by rowid {order})")
              for order in ("asc", "desc")}
    assert len(unions) == 1


def test_parts_of_one_capacity_merge_to_the_filter_of_all(db):
    parts = "select bloomset_agg(name, 0.01, null, 1000) as f from users group by id % 3"
    whole = one(db, "select bloomset_agg(name, 0.01, null, 1000) from users")
    assert one(db, f"select bloomset_merge(f) from ({parts})") == whole


def test_a_column_without_values_is_an_empty_filter(db):
    f = one(db, "select bloomset_agg(name) from users where id is null")
    assert one(db, "select sum(bloomset_contains(?, name)) from users", f) == 0


def test_info_is_json_with_the_names_of_the_command_line(db, tmp_path):
    f = one(db, "select bloomset_agg(name) from users")
    (tmp_path / "f.bloom").write_bytes(f)
    theirs = json.loads(run(tmp_path, "info", "--json", "f.bloom"))
    ours = json.loads(one(db, "select bloomset_info(?)", f))
    assert {"file": "f.bloom", **ours} == theirs
    assert one(db, "select json_extract(bloomset_info(?), '$.kind')", f) == "blocked_bloom"


def test_functions_are_deterministic_so_they_may_stand_in_indexes(db):
    db.execute("create table filters (f blob)")
    db.execute("insert into filters select bloomset_agg(name) from users")
    db.execute("create index kinds on filters (json_extract(bloomset_info(f), '$.capacity'))")
    plan = db.execute("explain query plan select 1 from filters where "
                      "json_extract(bloomset_info(f), '$.capacity') = 1000").fetchall()
    assert "USING INDEX kinds" in plan[0][3] or "COVERING INDEX kinds" in plan[0][3]


@pytest.mark.parametrize("query, sentence", [
    ("select bloomset_agg(id * 1.5) from users", "a floating-point number is not a key.*cast[(]value as text[)]"),
    ("select bloomset_contains(bloomset_agg(name), 1.5) from users", "a floating-point number is not a key.*cast[(]value as text[)]"),
    ("select bloomset_agg(name, 2) from users", "rate"),
    ("select bloomset_agg(name, 'often') from users", "often"),
    ("select bloomset_agg(name, 0.01, 'bloo') from users", "bloo"),
    ("select bloomset_agg(name, 0.01, 'bloom', 0) from users", "the capacity 0 is not positive"),
    ("select bloomset_agg(name, 0.01, 'bloom', 100) from users", "capacity of 100 keys is too small for 1000 distinct"),
    ("select bloomset_agg(name, 0.01, null, 1e10) from users", "a value has at most 1000000000"),
    ("select bloomset_agg(name, 0.01, 'vector_quotient', 3000000000) from users", "a value has at most 1000000000"),
    ("select bloomset_contains('no filter', name) from users", "the filter"),
    ("select bloomset_info(x'00')", "the filter"),
    ("select bloomset_merge(name) from users", "the filter")])
def test_errors_are_one_sentence(db, query, sentence):
    with pytest.raises(sqlite3.OperationalError, match=sentence) as caught:
        db.execute(query).fetchall()
    assert str(caught.value).startswith("bloomset: ")


def test_damaged_filters_are_errors(db):
    f = one(db, "select bloomset_agg(name) from users")
    for at in [*range(0, len(f), 37), *range(192)]:
        for damaged in (f[:at], f[:at] + bytes([f[at] ^ 1]) + f[at + 1:]):
            for query in ("select bloomset_contains(?, 'a')", "select bloomset_info(?)", "select bloomset_merge(?)"):
                with pytest.raises(sqlite3.OperationalError, match="^bloomset: the filter"):
                    db.execute(query, [damaged]).fetchall()


def test_a_damaged_copy_of_the_filter_asked_before_is_an_error(db):
    f = one(db, "select bloomset_agg(name) from users")
    damaged = f[:-1] + bytes([f[-1] ^ 1])
    db.execute("create table copies (number integer, f blob)")
    db.executemany("insert into copies values (?, ?)", [(n, damaged if n == 2 else f) for n in range(4)])
    asked = "select sum(bloomset_contains(f, name)) from copies, users where number"
    assert one(db, f"{asked} <> 2") == 3000
    assert one(db, "select bloomset_contains(?, 'user7')", f)
    for query, parameters in ((f"{asked} < 9", []), ("select bloomset_contains(f, 'user7') from copies", []),
                              ("select bloomset_contains(?, 'user7')", [damaged])):
        with pytest.raises(sqlite3.OperationalError, match="^bloomset: the filter"):
            db.execute(query, parameters).fetchall()


def test_a_statement_that_runs_again_asks_the_filter_of_its_new_parameter(db):
    fs = [one(db, "select bloomset_agg(name, 1e-9) from users where id % 2 = ?", n) for n in (0, 1)]
    for n in (0, 1, 1, 0):  # the module of Python keeps the statement
        assert one(db, "select sum(bloomset_contains(?, name)) from users where id % 2 = 0", fs[n]) == (0 if n else 500)


def test_filters_of_different_kinds_do_not_merge(db):
    with pytest.raises(sqlite3.OperationalError, match="^bloomset: "):
        db.execute("select bloomset_merge(f) from (select bloomset_agg(name) as f from users union all "
                   "select bloomset_agg(name, 0.01, 'bloom') from users)").fetchall()


def test_an_interrupted_statement_ends_and_the_next_one_runs(db):
    f = one(db, "select bloomset_agg(name) from users")

    def name_of_last_row(name):
        db.interrupt()
        return name

    db.create_function("interrupting", 1, name_of_last_row)
    for kind in (None, "fuse", "expandable"):
        with pytest.raises(sqlite3.OperationalError, match="interrupted"):
            one(db, "select bloomset_agg(case id when 999 then interrupting(name) else name end, 0.01, ?) from users", kind)
    assert one(db, "select bloomset_agg(name) from users") == f


def test_a_filter_larger_than_the_limit_of_the_connection_is_refused(db):
    db.execute("create table names as with recursive n(id) as (select 0 union all select id + 1 from n where id < 19999) "
               "select 'user' || id as name from n")
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 10_000)
    for arguments in ("", ", 0.01, null, 20000", ", 0.01, 'fuse'", ", 0.01, 'cuckoo'"):
        with pytest.raises(sqlite3.OperationalError, match="^bloomset: the filter would have .* a value has at most 10000;"):
            db.execute(f"select bloomset_agg(name{arguments}) from names").fetchall()


def test_threads_with_connections_of_their_own(tmp_path):
    file = tmp_path / "t.db"
    db = connect(file)
    db.execute("create table users as with recursive n(id) as (select 0 union all select id + 1 from n "
               "where id < 4999) select 'user' || id as name from n")
    db.commit()
    found = []

    def work():
        own = connect(file)
        f = one(own, "select bloomset_agg(name) from users")
        found.append((f, one(own, "select sum(bloomset_contains(?, name)) from users", f)))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4 and len({f for f, _ in found}) == 1 and {n for _, n in found} == {5000}


def test_the_shell_loads_it(tmp_path):
    script = f".load {EXTENSION.removesuffix('.so')}\nselect bloomset_contains(bloomset_agg(value), 'b') " \
             "from json_each('[\"a\", \"b\"]');\n"
    done = subprocess.run(["sqlite3"], input=script, cwd=tmp_path, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("1\n", "")


@pytest.mark.parametrize("encoding", ["UTF-8", "UTF-16", "UTF-16be"])
def test_a_text_is_its_utf_8_in_a_database_of_any_encoding(tmp_path, encoding):
    (tmp_path / "names").write_text("user7\nZoë\n", encoding="utf-8")
    run(tmp_path, "build", "-q", "-o", "f", "--fpr", "1e-6", "names")
    db = connect()
    db.execute(f"pragma encoding = '{encoding}'")
    db.execute("create table users (name text)")
    db.executemany("insert into users values (?)", [("user7",), ("Zoë",), ("other",)])
    rows = db.execute("select bloomset_contains(?, name) from users", ((tmp_path / "f").read_bytes(),)).fetchall()
    assert rows == [(1,), (1,), (0,)]
    made = one(db, "select bloomset_agg(name, '0.0001%', 'bloom', '10M') from users")
    assert json.loads(one(db, "select bloomset_info(?)", made))["capacity"] == 10_000_000
    (tmp_path / "g").write_bytes(made)
    assert run(tmp_path, "check", "g", "names") == (tmp_path / "names").read_bytes()
    with pytest.raises(sqlite3.OperationalError, match="a capacity is a number of keys"):
        db.execute("select bloomset_agg(name, 0.01, 'bloom', x'00') from users")
