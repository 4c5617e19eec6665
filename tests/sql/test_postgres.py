"""The extension of PostgreSQL: a filter is a value with the bytes of a filter file. The server is real."""

import json
import os
import pathlib
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time

import postgres_server
import pytest

postgres_server.require()

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.path.abspath(os.environ.get("BLOOMSET", ROOT / "build" / "bloomset"))
SQLITE = os.path.abspath(os.environ.get("BLOOMSET_SQLITE", ROOT / "build" / "bloomset_sqlite.so"))
ROWS = 20_000

sys.path.append(str(ROOT / "tests" / "support"))
from kinds import kinds_that  # noqa: E402
from unlabelled import unlabelled  # noqa: E402

PARALLEL = """
set parallel_setup_cost = 0; set parallel_tuple_cost = 0; set min_parallel_table_scan_size = 0;
set max_parallel_workers_per_gather = 2; set parallel_leader_participation = off;
"""
SERIAL = "set max_parallel_workers_per_gather = 0;\n"


@pytest.fixture(scope="module")
def server():
    server = postgres_server.Server()
    server.ask(f"""
        create extension bloomset;
        create table users (id integer, name text, raw bytea);
        insert into users select n, 'user' || n, decode(lpad(to_hex(n), 8, '0'), 'hex') from generate_series(1, {ROWS}) n;
        insert into users values (null, null, null);
        analyze users;
        create table parts as select id % 4 as part, bloomset_agg(name, 0.001, null, 5000) as f
            from users where id is not null group by part;
        alter table parts set (parallel_workers = 2);
        create table large as select kind, bloomset_agg(n, 1e-6, kind) as f from generate_series(1, 200000) n,
            (values ('blocked_bloom'), ('fuse')) as kinds (kind) group by kind;
        -- A filter of any bytes, which nothing has checked.
        create function unchecked(bytea) returns bloomset as 'byteasend' language internal immutable strict;
    """)
    yield server
    server.close()


def bytes_of(server, filter, before=""):
    return bytes.fromhex(server.ask(f"{before} select encode(({filter})::bytea, 'hex')"))


def run(folder, *arguments, input=b""):
    done = subprocess.run([PROGRAM, *map(str, arguments)], cwd=folder, input=input, capture_output=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def file_of(folder, keys, *arguments):
    """The command line's file of these keys, without labels."""
    lines = "".join(key.hex() + "\n" for key in keys).encode()
    run(folder, "build", "-q", "--force", "-o", "f.bloom", "--keys", "hex", *arguments, input=lines)
    return unlabelled((folder / "f.bloom").read_bytes())


KEYS = {
    "name": [f"user{n}".encode() for n in range(1, ROWS + 1)],
    "raw": [n.to_bytes(4, "big") for n in range(1, ROWS + 1)],
    "id": [n.to_bytes(8, "little") for n in range(1, ROWS + 1)],
}


@pytest.mark.parametrize("column", KEYS)
def test_a_column_becomes_a_filter_that_has_its_values(server, column, tmp_path):
    assert bytes_of(server, f"select bloomset_agg({column}) from users", SERIAL) == file_of(tmp_path, KEYS[column])
    other = {"name": "'other' || id", "raw": "raw || raw", "id": "-id"}[column]
    found = server.ask(f"""
        with f as materialized (select bloomset_agg({column}) as f from users)
        select count(*), count(*) filter (where may_contain(f, {column})), count(may_contain(f, {column})),
               count(*) filter (where f @> ({other})) < {ROWS // 50} from f, users""")
    assert found == f"{ROWS + 1}|{ROWS}|{ROWS}|t"  # null asks nothing


# The first have the same file in any order of the rows. The entries of the others have their places in
# the order of the inserts.
ANY_ORDER = [(kind, (0.01, 0.001)[i % 2]) for i, kind in enumerate(kinds_that(any_order=True))]
SAME_ORDER = [(kind, 0.01) for kind in kinds_that(any_order=False)]


def test_a_decimal_in_the_scale_of_its_conversion(server, tmp_path):
    query = "select bloomset_agg(p::numeric(10,2)::text) from (values (-0.05), (1.5), (1.50), (12)) as v(p)"
    assert bytes_of(server, query, SERIAL) == file_of(tmp_path, [b"-0.05", b"1.50", b"1.50", b"12.00"])


def arguments_of(kind, rate):
    return "--kind", kind, "--fpr", f"{rate:.10f}"


@pytest.mark.parametrize("kind, rate", ANY_ORDER + SAME_ORDER)
def test_it_is_the_file_of_the_command_line(server, kind, rate, tmp_path):
    expected = file_of(tmp_path, KEYS["name"], *arguments_of(kind, rate))
    assert bytes_of(server, f"select bloomset_agg(name, {rate}, '{kind}') from users", SERIAL) == expected


@pytest.mark.parametrize("kind, rate", ANY_ORDER)
def test_parallel_workers_make_the_same_file(server, kind, rate, tmp_path):
    query = f"select bloomset_agg(name, {rate}, '{kind}') from users"
    assert bytes_of(server, query, PARALLEL) == file_of(tmp_path, KEYS["name"], *arguments_of(kind, rate))


@pytest.mark.parametrize("aggregate", ["bloomset_agg(id)", "bloomset_merge(f)"])
def test_explain_shows_the_parallel_plan(server, aggregate):
    table = "users" if "id" in aggregate else "parts"
    plan = server.ask(f"{PARALLEL} explain (analyze, costs off, timing off) select {aggregate} from {table}")
    assert re.search("Finalize Aggregate.*Gather.*Workers Launched: [12].*Partial Aggregate.*Parallel Seq Scan", plan, re.S)


@pytest.mark.skipif(not os.path.exists(SQLITE), reason="the extension of SQLite is not built (BLOOMSET_SQLITE)")
@pytest.mark.parametrize("kind", ["blocked_bloom", "fuse"])
def test_it_is_the_value_of_sqlite(server, kind):
    db = sqlite3.connect(":memory:")
    db.enable_load_extension(True)
    db.load_extension(SQLITE)
    db.execute("create table users (id integer, name text)")
    db.executemany("insert into users values (?, ?)", [(n, f"user{n}") for n in range(1, ROWS + 1)])
    for column in ("id", "name"):
        theirs = db.execute(f"select bloomset_agg({column}, 0.001, ?) from users", [kind]).fetchone()[0]
        assert bytes_of(server, f"select bloomset_agg({column}, 0.001, '{kind}') from users", SERIAL) == theirs


def test_groups_have_filters_of_their_own_that_merge(server, tmp_path):
    assert server.ask("""
        create temporary table own as select id % 4 as part, bloomset_agg(name, 1e-6, 'blocked_bloom', 5000) as f
            from users where id is not null group by part;
        select part, count(*) from own join users on may_contain(f, name) group by part order by part;
        select count(*) from users, (select bloomset_merge(f) as f from own) as everything where f @> name;
        select bloomset_merge(f) is null from own where part > 9;
        select bloomset_agg(name) is null from users where id > 9999999;
        select bloomset_agg(name) @> '' from users where id is null;
    """).split() == [*(f"{part}|{ROWS // 4}" for part in range(4)), str(ROWS), "t", "t", "f"]


def test_parts_of_equal_capacity_merge_to_the_whole(server):
    whole = bytes_of(server, f"select bloomset_agg(name, 0.001, 'bloom', {ROWS}) from users")
    merged = bytes_of(server, f"select bloomset_merge(f) from (select bloomset_agg(name, 0.001, 'bloom', {ROWS}) as f "
                              "from users group by id % 3) as parts")
    assert whole == merged


def test_duplicates_are_one_key(server, tmp_path):
    assert bytes_of(server, "select bloomset_agg(name, 0.01, 'fuse') from users, generate_series(1, 3)", SERIAL) == \
        file_of(tmp_path, KEYS["name"], "--kind", "fuse")


def test_a_text_is_the_same_key_in_every_encoding(server, tmp_path):
    server.ask("create database latin encoding 'LATIN1' template template0")
    query = "select bloomset_agg('Zo' || chr(235)) @> ('Zo' || chr(235)), bloomset_agg('Zo' || chr(235))::bytea"
    assert server.ask("create extension bloomset;" + query, database="latin") == server.ask(query)
    run(tmp_path, "build", "-q", "-o", "f.bloom", input="Zoë\n".encode())
    assert bytes_of(server, "select bloomset_agg('Zo' || chr(235))") == (tmp_path / "f.bloom").read_bytes()
    # So are the labels of a filter.
    run(tmp_path, "build", "-q", "-o", "g.bloom", "--label", "source=Zoë", input=b"x\n")
    value = (tmp_path / "g.bloom").read_bytes().hex()
    query = f"select bloomset_info('\\x{value}'::bloomset)->'labels'->>'source' = 'Zo' || chr(235)"
    assert server.ask(query, database="latin") == server.ask(query) == "t"


def test_a_constant_without_a_type_is_a_text(server):
    query = "select f @> '2026-11-25', f @> date '2026-11-25' from (select bloomset_agg(date '2026-11-25') as f) one"
    assert server.ask(query) == "f|t"


def test_info_is_json_with_the_names_of_the_command_line(server, tmp_path):
    (tmp_path / "f.bloom").write_bytes(bytes_of(server, "select bloomset_agg(name) from users", SERIAL))
    theirs = json.loads(run(tmp_path, "info", "--json", "f.bloom"))
    ours = json.loads(server.ask(SERIAL + "select bloomset_info(bloomset_agg(name)) from users"))
    assert {"file": "f.bloom", **ours} == theirs
    server.ask("create index kinds on parts ((bloomset_info(f)->>'kind'))")


def test_text_and_binary_forms(server, tmp_path):
    file = server.folder / "filters.copy"
    script = f"""
        create temporary table a as select part, f from parts; create temporary table b (like a);
        copy a to '{file}' (format %s); copy b from '{file}' (format %s); select count(*) from a join b using (part)
        where a.f::text = b.f::text and a.f::bytea = b.f::bytea and a.f::text = a.f::bytea::text
        and a.f::bytea::bloomset::text = a.f::text"""
    assert [server.ask(script % (form, form)) for form in ("text", "binary")] == ["4", "4"]


# Which filter is asked
# ----------------------------------------------------------------------------------


def test_a_query_of_many_filters_asks_each(server):
    """Large and small, in memory, in the row and out of line, in pieces and whole, in mixed order."""
    server.ask(f"""
        create table mixed (number integer, f bloomset);
        insert into mixed select n % 40, bloomset_agg(id, 1e-9, (array['blocked_bloom', 'fuse', 'bloom'])[n % 3 + 1])
            from users cross join lateral (select id % 40 as n) as part
            where id is not null and (n > 5 or id < 1000) group by n;
        insert into mixed select 40 + n, bloomset_agg(id, 1e-9, (array['blocked_bloom', 'fuse', 'bloom'])[n % 3 + 1])
            from users, generate_series(0, 5) as n where id % 6 = n group by n;
        insert into mixed select 46, bloomset_agg(id, 0.5, 'blocked_bloom') from users;
        create function is_member(number integer, id integer) returns boolean language sql immutable as
            'select case when number < 6 then id % 40 = number and id < 1000 when number < 40 then id % 40 = number
                         when number < 46 then id % 6 = number - 40 end';
    """)
    wrong = """select count(*), count(*) filter (where may_contain(f, id) <> is_member(number, id)) from
               (select * from {filters} as f, users where id % 21 = 0 order by {order}) as pairs where number < 46"""
    pairs = str(46 * len([n for n in range(1, ROWS + 1) if n % 21 == 0]))
    for order in ("number", "id, number", "hashint4(id * 50 + number)"):
        for filters in ("mixed", "(select number, f::bytea::bloomset as f from mixed offset 0)"):
            if "bytea" in filters and order != "number":
                continue  # each row would copy a filter
            assert server.ask("set work_mem = '64MB';" + wrong.format(filters=filters, order=order)) == f"{pairs}|0"
    assert server.ask("select count(*) from mixed, users where number = 46 and f @> id") == str(ROWS)


def test_a_filter_that_changes_within_a_transaction_is_asked_anew(server):
    assert server.ask("""
        create temporary table one (f bloomset);
        insert into one select bloomset_agg(id) from users;
        do $$
        declare wrong integer := 0;
        begin
          for n in 1..50 loop
            update one set f = (select bloomset_agg(u.id, 1e-9) from users u where u.id % 50 = n - 1);
            wrong := wrong + (select count(*) from one where not may_contain(f, n + 49) or may_contain(f, n));
          end loop;
          raise exception 'wrong: %', wrong;
        exception when raise_exception then
          create temporary table said as select sqlerrm as said;
        end $$;
        select said from said;
    """) == "wrong: 0"


def buffers_of(server, query):
    plan = json.loads(server.ask(f"{SERIAL} explain (analyze, buffers, timing off, format json) {query}"))[0]["Plan"]
    return plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]


def test_a_query_reads_only_the_block_of_its_key(server):
    query = "select f @> 77 from large where kind = '{}'"
    assert buffers_of(server, query.format("blocked_bloom")) < 50 < buffers_of(server, query.format("fuse"))
    assert server.ask("select count(*) from large, generate_series(1, 200000) n where f @> n") == "400000"


@pytest.mark.parametrize("options", [("--seed", 77), ("--hash", "xxh3-2x64"), ("--seed", 77, "--with", "layout=parquet")])
def test_a_large_stored_filter_of_the_command_line_has_its_members(server, options, tmp_path):
    f = file_of(tmp_path, KEYS["name"], "--kind", "blocked_bloom", "--capacity", 400_000, *options)
    assert len(f) > 300_000
    server.ask(f"create table stored as select '\\x{f.hex()}'::bloomset as f")
    members = "select count(*) from stored, users where f @> name and id % 100 = 7"
    try:
        assert server.ask(members) == str(ROWS // 100)
        assert server.ask("select f @> 'user7' from stored") == "t"
    finally:
        server.ask("drop table stored")


def test_exceptions_of_a_large_stored_filter_are_no_members(server, tmp_path):
    members, others = ("".join(f"{i}\n" for i in each).encode() for each in (range(400_000), range(400_000, 420_000)))
    run(tmp_path, "build", "-q", "-o", "f.bloom", "--fpr", "5%", input=members)
    mistaken = run(tmp_path, "check", "f.bloom", input=others)
    run(tmp_path, "except", "-q", "f.bloom", input=mistaken)
    server.ask(f"create table stored as select '\\x{(tmp_path / 'f.bloom').read_bytes().hex()}'::bloomset as f")
    try:
        asked = "select count(*) from stored, generate_series({}, {}) n where f @> n::text"
        assert mistaken.count(b"\n") > 500 and server.ask(asked.format(400_000, 419_999)) == "0"
        assert server.ask(asked.format(0, 9_999)) == "10000"
    finally:
        server.ask("drop table stored")


def test_a_damaged_copy_of_the_filter_asked_before_is_an_error(server):
    script = """
        create temporary table copies as select n, f::bytea as f from generate_series(1, 3) n,
            (select bloomset_agg(id) as f from users) as one;
        {change};
        select count(*) from (select f from copies order by n) as copies, users where may_contain(unchecked(f), id);"""
    assert server.ask(script.format(change="")) == str(3 * ROWS)
    damage = "update copies set f = set_byte(f, length(f) - 1, get_byte(f, length(f) - 1) # 1) where n = 3"
    assert re.match("ERROR:  bloomset: the filter", server.psql(script.format(change=damage)).stderr)


def test_rates_and_uuids_are_those_of_the_other_engines(server, tmp_path):
    for rate in ("'1%'", "0.01", "'0.01'", "0.01::real", "1e-2::float8", "null"):
        assert bytes_of(server, f"select bloomset_agg(name, {rate}) from users", SERIAL) == file_of(tmp_path, KEYS["name"])
    uuids = [bytes([n % 256, n // 256]) * 8 for n in range(1000)]
    server.ask("create temporary table a (id uuid)")
    rows = ", ".join(f"('{uuid.hex()}'::uuid)" for uuid in uuids)
    assert bytes_of(server, f"select bloomset_agg(id) from (values {rows}) as v(id)") == file_of(tmp_path, uuids)
    assert server.ask(f"select count(*) from (values {rows}) as v(id), (select bloomset_agg(id) as f from (values {rows}) "
                      "as v(id)) as one where f @> id and bloomset_contains(f, id)") == "1000"


def test_users_see_the_functions_that_they_call(server):
    listed = {line.split("|")[1] for line in server.ask("\\df").split("\n")} - {"is_member", "unchecked"}
    assert listed == {"bloomset", "bloomset_agg", "bloomset_contains", "bloomset_info", "bloomset_merge", "bloomset_union",
                      "may_contain"}
    assert server.ask("create role guest; grant select on users to guest; set role guest;" + PARALLEL +
                      "select bloomset_agg(name) @> 'user7' from users") == "t"


# Errors
# ----------------------------------------------------------------------------------


@pytest.mark.parametrize("query, state, sentence", [
    ("select bloomset_agg(name, 2) from users", "22023", "rate"),
    ("select bloomset_agg(name, 'nan') from users", "22023", "rate"),
    ("select bloomset_agg(name, -1) from users", "22023", "rate"),
    ("select bloomset_agg(name, 'often') from users", "22023", "often"),
    ("select bloomset_agg(name, now()) from users", "22023", "rate"),
    ("select bloomset_agg(name, 1e-18) from users", "0A000|22023", ""),
    ("select bloomset_agg(name, 0.01, 'bloo') from users", "22023", "bloo"),
    ("select bloomset_agg(name, 0.01, repeat('é', 2000)) from users", "22023", "éé"),
    ("select bloomset_agg(name, 0.01, null, 0) from users", "22023", "the capacity 0 is not positive"),
    ("select bloomset_agg(name, 0.01, null, 1000000000000000) from users", "54000", "at most 1073741819"),
    ("select bloomset_agg(id, 0.01, 'bloom', 100) from users", "54000", "capacity of 100 keys is too small for 2[0-9]* distinct"),
    ("select bloomset_agg(name, 0.01, 'cuckoo', 10) from users", "54000", "no room"),
    ("select bloomset_merge(f) from (select bloomset_agg(id) f from users union all "
     "select bloomset_agg(id, 0.01, 'fuse') from users) x", "0A000", "")])
def test_errors_are_one_sentence(server, query, state, sentence):
    done = server.psql("\\set VERBOSITY verbose\n" + query)
    assert re.match(f"ERROR:  ({state}): bloomset: [^\n]*{sentence}", done.stderr), done.stderr


@pytest.mark.parametrize("query", ["select bloomset_agg(id * 1.5) from users", "select bloomset_agg(now())",
                                   "select bloomset_internal.deserialize('', null)", "select bloomset_internal.build(null)"])
def test_wrong_types_and_states_are_errors_of_the_server(server, query):
    assert server.psql(query).stderr.startswith("ERROR:")


def test_a_filter_with_a_secret_key_is_refused(server, tmp_path):
    (tmp_path / "key").write_text("000102030405060708090a0b0c0d0e0f\n")
    run(tmp_path, "build", "-q", "-o", "f.bloom", "--hash", "siphash", "--key-file", "key", input=b"a\n")
    done = server.psql(f"select '\\x{(tmp_path / 'f.bloom').read_bytes().hex()}'::bloomset")
    assert "secret key" in done.stderr


def test_other_bytes_are_refused(server):
    for text in ("", "abc", "\\x", "\\x00", "\\xzz", "\\x" + "00" * 64, "\\x89424c4f4f4d0d0a"):
        assert server.psql(f"select '{text}'::bloomset").stderr.startswith("ERROR:"), text


HOSTILE = """
do $$
declare
  whole bytea := (select bloomset_agg(name, 0.01, '{kind}')::bytea from users where id < 3000);
  damaged bytea;
  refused integer := 0;
  asked integer := 0;
  at integer;
begin
  for at in select n from generate_series(0, length(whole) - 1) n where n < 192 or n % 61 = 0 loop
    foreach damaged in array array[set_byte(whole, at, get_byte(whole, at) # 1), set_byte(whole, at, 255 - get_byte(whole, at)),
                                   substr(whole, 1, at)] loop
      foreach asked in array array[1, 2, 3, 4, 5, 6] loop
        begin
          case asked
            when 1 then perform damaged::bloomset;
            when 2 then perform ('\\x' || encode(damaged, 'hex'))::bloomset;
            when 3 then perform may_contain(unchecked(damaged), 'user7');
            when 4 then perform bloomset_info(unchecked(damaged));
            when 5 then perform bloomset_union(unchecked(damaged), whole::bloomset);
            when 6 then perform bloomset_merge(f) from (values (unchecked(damaged))) as one (f);
          end case;
          raise warning 'accepted: byte %, way %', at, asked;
        exception when invalid_binary_representation or feature_not_supported then
          if sqlerrm not like 'bloomset: the filter%' then raise warning '%', sqlerrm; end if;
          refused := refused + 1;
        end;
      end loop;
    end loop;
  end loop;
  raise notice 'refused %', refused;
end $$;
"""


@pytest.mark.parametrize("kind", ["blocked_bloom", "fuse"])
def test_damaged_filters_are_errors(server, kind):
    done = server.psql(HOSTILE.format(kind=kind))
    assert re.fullmatch(r"NOTICE:  refused \d{4}\n", done.stderr), done.stderr[:2000]


def test_damaged_stored_filters_do_not_stop_the_server(server):
    """Large filters whose bytes were damaged on disk, read in pieces. The header is always checked."""
    done = server.psql("""
        create temporary table damaged (at integer, f bloomset);
        insert into damaged select at, unchecked(set_byte(whole, at, 255 - get_byte(whole, at))) from
            (select f::bytea as whole from large where kind = 'blocked_bloom') x, generate_series(0, 129) at;
        insert into damaged select 1000 + at, unchecked(substr(whole, 1, at)) from
            (select f::bytea as whole from large where kind = 'blocked_bloom') x, (values (40000), (100000)) y (at);
        do $$
        declare
          place integer;
          refused integer := 0;
        begin
          for place in select at from damaged loop
            begin
              perform count(*) from damaged, generate_series(1, 100) n where at = place and f @> n;
            exception when invalid_binary_representation or feature_not_supported then
              refused := refused + 1;
            end;
          end loop;
          raise notice 'refused %', refused;
        end $$;
    """)
    assert done.stderr == "NOTICE:  refused 130\n", done.stderr[:2000]


# The server's own care
# ----------------------------------------------------------------------------------


def test_memory_of_groups_is_the_servers(server):
    """The server knows the size of the collected keys: beyond work_mem groups go to disk."""
    plan = server.ask(SERIAL + "set work_mem = '256kB'; set hash_mem_multiplier = 1; set enable_sort = off;"
                      "explain (analyze, costs off, timing off) select id % 500, bloomset_agg(name) from users group by 1")
    assert re.search("HashAggregate.*Batches: [0-9]+.*Disk Usage", plan, re.S), plan


def test_a_session_without_memory_gets_an_error(server):
    """A backend with a limit of its address space fails, and goes on."""
    script = """
        select pg_backend_pid() as pid \\gset
        \\setenv PID :pid
        \\! grep VmSize /proc/$PID/status | awk '{print ($2 + 20000) * 1024}' | xargs -I{} %s --pid $PID --as={}
        select bloomset_agg(n, 0.01, 'bloom', 800000000) from generate_series(1, 10) n;
        select bloomset_agg(n) from generate_series(1, 3000000) n;
        select bloomset_agg(n) @> 1 from generate_series(1, 10) n;
    """ % " ".join([*server.as_user, "prlimit"])
    done = subprocess.run(["psql", "-XqAt"], input=script, env=server.env, capture_output=True, text=True, timeout=60)
    assert re.search("ERROR:  bloomset: [^\n]*memory.*ERROR:  out of memory", done.stderr, re.S), done.stderr
    assert done.stdout.endswith("t\n")


def test_sessions_at_once(server):
    found = []

    def work():
        found.append(server.ask(PARALLEL + "create temporary table own as select bloomset_agg(name, 1e-9) as f from users;"
                                "select md5(f::bytea) from own; select count(*) from own, users where f @> name"))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4 and len(set(found)) == 1 and found[0].endswith(f"\n{ROWS}")


def test_dump_and_restore(server):
    server.ask("create database restored")
    dump = subprocess.run(["pg_dump", "-t", "parts", "-t", "large", "-e", "bloomset", "postgres"], env=server.env,
                          capture_output=True, text=True, check=True).stdout
    query = "select md5(string_agg(md5(f::bytea), '' order by part)) from parts"
    server.ask(dump, database="restored")
    assert server.ask(query, database="restored") == server.ask(query)


@pytest.mark.parametrize("form", ["text", "binary"])
def test_replication_carries_filters(server, form):
    query = "select md5(string_agg(md5(f::bytea), '' order by part)) from sent"
    server.ask(f"create database replica_{form}")
    server.ask("create extension bloomset; create table sent (part integer, f bloomset)", database=f"replica_{form}")
    server.ask(f"""
        create table sent as select * from parts where part < 2;
        create publication filters for table sent;
        select pg_create_logical_replication_slot('{form}', 'pgoutput')""")
    server.ask(f"create subscription filters connection 'host={server.folder} dbname=postgres' publication filters "
               f"with (create_slot = false, slot_name = '{form}', binary = {str(form == 'binary').lower()})",
               database=f"replica_{form}")
    server.ask("insert into sent select * from parts where part >= 2")
    expected = server.ask(query)
    deadline = time.monotonic() + 60
    while server.ask(query, database=f"replica_{form}") != expected and time.monotonic() < deadline:
        time.sleep(0.05)
    assert server.ask(query, database=f"replica_{form}") == expected
    server.ask("alter subscription filters disable; alter subscription filters set (slot_name = none); "
               "drop subscription filters", database=f"replica_{form}")
    server.ask(f"drop publication filters; drop table sent; select pg_terminate_backend(active_pid) from "
               f"pg_replication_slots where active; ")
    while server.psql(f"select pg_drop_replication_slot('{form}')").returncode != 0:
        time.sleep(0.05)


def test_a_crash_loses_nothing(server):
    query = "select md5(string_agg(md5(f::bytea), '' order by part)) from parts"
    before = server.ask("create table logged as select * from parts;" + query)
    pid = server.ask("select pid from pg_stat_activity where backend_type = 'checkpointer'")
    os.kill(int(pid), signal.SIGKILL)  # the server restarts by itself, from its log
    deadline = time.monotonic() + 60
    while server.psql("select 1").returncode != 0 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert server.ask(query.replace("parts", "logged")) == before
    server.stop(signal.SIGQUIT)
    server.start()
    assert server.ask(query.replace("parts", "logged")) == before


def test_the_extension_can_be_removed(server):
    server.ask("create database other")
    assert server.ask("create extension bloomset; drop extension bloomset; create schema s;"
                      "create extension bloomset schema s; select s.bloomset_agg(1) operator(s.@>) 1",
                      database="other") == "t"


def test_regression(server):
    """In the style of pg_regress: statements, and the output of psql."""
    folder = ROOT / "tests" / "sql" / "postgres"
    server.ask("create database regression")
    done = subprocess.run(["psql", "-X", "-a", "-q", "-d", "regression"], input=(folder / "sql/bloomset.sql").read_text(),
                          env=server.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.stdout == (folder / "expected/bloomset.out").read_text()
