"""The doors of the matrix, except Dask and Spark: tests/python has those, with the sessions of their tests."""

import ctypes
import importlib.util
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

import matrix  # also finds the packages of the engines
from matrix import BUILD, KEY, KEYS, MEMBERS, OTHERS, ROOT, ROWS, TYPES, VALUES, Door, SqlDoor, split

import numpy
import pyarrow

sys.path.append(str(ROOT / "tests" / "sql"))

ALL_KEYS = [key for name in TYPES for key in KEYS[name]]


def by_type(answers):
    """The answers for ALL_KEYS, by type."""
    rows = MEMBERS + OTHERS
    return {name: answers[i * rows:(i + 1) * rows] for i, name in enumerate(TYPES)}


class CommandLine(Door):
    name = "command line"

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.lines = [key.hex() for key in ALL_KEYS]
        (self.path / "lines").write_text("".join(f"{line}\n" for line in self.lines))
        (self.path / "key").write_text(KEY.hex() + "\n")
        (self.path / "key").chmod(0o600)

    @property
    def path(self):
        return pathlib.Path(self.folder.name)

    def answers(self, filters):
        return {(case.kind, case.variant): self.ask_all(case) for case in filters}

    def ask_all(self, case):
        (self.path / "f.bloom").write_bytes(case.bytes)
        done = subprocess.run([BUILD / "bloomset", "check", "--keys", "hex", "f.bloom", "lines",
                               *(["--key-file", "key"] if case.key else [])], cwd=self.path, capture_output=True, text=True)
        assert done.returncode in (0, 1) and not done.stderr, done.stderr
        passed = set(done.stdout.split())
        return by_type([line in passed for line in self.lines])

    def close(self):
        self.folder.cleanup()


class Cpp(Door):
    """A program of a user of the library."""

    name = "C++"

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)
        (self.path / "keys").write_bytes(b"".join(len(key).to_bytes(8, "little") + key for key in ALL_KEYS))

    def answers(self, filters):
        return {(case.kind, case.variant): self.ask_all(case) for case in filters}

    def ask_all(self, case):
        (self.path / "f.bloom").write_bytes(case.bytes)
        secret = [case.key.hex()] if case.key else []
        single, batch = subprocess.run([BUILD / "tests" / "bloomset_cpp_door", "f.bloom", "keys", *secret], cwd=self.path,
                                       check=True, capture_output=True, text=True).stdout.split()
        assert single == batch, case
        return by_type([answer == "1" for answer in single])

    def close(self):
        self.folder.cleanup()


class C(Door):
    """The shared library of the C interface."""

    name = "C"

    def __init__(self):
        self.library = ctypes.CDLL(str(BUILD / "integrations" / "c" / "libbloomset-c.so"))
        self.buffer = b"".join(ALL_KEYS)
        sizes = numpy.array([len(key) for key in ALL_KEYS], "u8")
        begins = numpy.concatenate([[0], numpy.cumsum(sizes)[:-1]]).astype("u8")
        start = ctypes.cast(ctypes.c_char_p(self.buffer), ctypes.c_void_p).value
        self.keys = numpy.ascontiguousarray(numpy.stack([begins + numpy.uint64(start), sizes], axis=1))

    def answers(self, filters):
        return {(case.kind, case.variant): self.ask_all(case) for case in filters}

    def ask_all(self, case):
        filter = ctypes.c_void_p()
        size = ctypes.c_size_t(len(case.bytes))
        status = self.library.bloomset_from_bytes_keyed(case.bytes, size, case.key, ctypes.byref(filter), None)
        assert status == 0, case
        found = numpy.zeros(len(ALL_KEYS), "?")
        status = self.library.bloomset_may_contain_batch(filter, self.keys.ctypes.data_as(ctypes.c_void_p),
                                                         ctypes.c_size_t(len(ALL_KEYS)),
                                                         found.ctypes.data_as(ctypes.c_void_p), None)
        self.library.bloomset_close(filter)
        assert status == 0, case
        return by_type(found.tolist())


class PythonLists(Door):
    name = "Python, lists"
    types = ("text", "bytes", "integer")

    def ask(self, case, name):
        return case.filter.contains(VALUES[name]).tolist()


class PythonOne(PythonLists):
    name = "Python, one by one"

    def ask(self, case, name):
        return [value in case.filter for value in VALUES[name]]


class NumPy(PythonLists):
    name = "NumPy"

    def __init__(self):
        self.arrays = {name: numpy.array(VALUES[name]) for name in self.types}

    def ask(self, case, name):
        return case.filter.contains(self.arrays[name]).tolist()


class Arrow(NumPy):
    name = "Arrow"
    types = tuple(TYPES)

    def __init__(self):
        scales = {"decimal": pyarrow.decimal128(20, 2)}
        self.arrays = {name: pyarrow.array(VALUES[name], scales.get(name)) for name in self.types}


class SQLite(SqlDoor):
    name = "SQLite"
    types = ("text", "bytes", "integer")

    def __init__(self):
        self.db = sqlite3.connect(":memory:")
        self.db.enable_load_extension(True)
        self.db.load_extension(str(os.environ.get("BLOOMSET_SQLITE", BUILD / "bloomset_sqlite.so")))
        self.db.execute("create table keys (text text, bytes blob, integer integer)")
        self.db.executemany("insert into keys values (?, ?, ?)", [row[:3] for row in ROWS])

    def answers(self, filters):
        query = "select " + " || ".join(f"bloomset_contains(?1, {name})" for name in self.types) + " from keys order by rowid"
        return {(case.kind, case.variant): split([row[0] for row in self.db.execute(query, [case.bytes])], self.types)
                for case in filters}

    def error_of(self, case):
        try:
            self.db.execute("select bloomset_contains(?, 'a')", [case.bytes]).fetchall()
        except sqlite3.Error as error:
            return str(error)
        return ""


class DuckDB(SqlDoor):
    name = "DuckDB"

    def __init__(self):
        import duckdb

        self.db = duckdb.connect(config={"allow_unsigned_extensions": True})
        self.db.execute(f"load '{os.environ.get('BLOOMSET_DUCKDB_EXTENSION', BUILD / 'bloomset.duckdb_extension')}'")
        keys = Arrow().arrays
        rows = pyarrow.table({"number": range(len(ROWS)), **keys})  # noqa: F841, which DuckDB finds by its name
        self.db.execute("create table keys as select * from rows")

    def answers(self, filters):
        query = "select " + ", ".join(f"bloomset_contains($1, {name}) as {name}" for name in self.types) + \
            " from keys order by number"
        return {(case.kind, case.variant):
                {name: found.tolist() for name, found in self.db.execute(query, [case.bytes]).fetchnumpy().items()}
                for case in filters}

    def error_of(self, case):
        import duckdb

        try:
            self.db.execute("select bloomset_contains(?, 'a')", [case.bytes]).fetchall()
        except duckdb.Error as error:
            return str(error)
        return ""


class PostgreSQL(SqlDoor):
    """A decimal is a key through its text, as docs/reference/postgresql.md says."""

    name = "PostgreSQL"

    def __init__(self):
        import postgres_server

        postgres_server.require()
        self.server = postgres_server.Server()
        rows = "".join(f"{n}\t{text}\t\\\\x{raw.hex()}\t{integer}\t{date}\t{price}\n"
                       for n, (text, raw, integer, date, price) in enumerate(ROWS))
        self.server.ask("create extension bloomset; create table keys (number integer, text text, bytes bytea, "
                        "integer bigint, date date, decimal numeric);\n"
                        f"copy keys from stdin;\n{rows}\\.\n")

    def answers(self, filters):
        asked = [{"decimal": "decimal::numeric(20, 2)::text"}.get(name, name) for name in self.types]
        bits = " || ".join(f"bloomset_contains(f, {key})::integer::text" for key in asked)
        values = ", ".join(f"({n}, '\\x{case.bytes.hex()}'::bloomset)" for n, case in enumerate(filters))
        lines = self.server.ask(f"create temporary table filters (filter integer, f bloomset);"
                                f"insert into filters values {values};"
                                f"select {bits} from filters, keys order by filter, number").split("\n")
        return {(case.kind, case.variant): split(lines[n * len(ROWS):(n + 1) * len(ROWS)], self.types)
                for n, case in enumerate(filters)}

    def error_of(self, case):
        return self.server.psql(f"select bloomset_contains('\\x{case.bytes.hex()}'::bloomset, 'a')").stderr

    def close(self):
        self.server.close()


class Server:
    """The module. It makes its filters itself, and a part of its dump is a filter file: so its answers are compared with
    those that Python gives for this file."""

    name = "server"
    types = ("text", "bytes")
    filters = {"blocked": ("BF", "NONSCALING"), "deletable": ("BF", "DELETABLE"), "growing": ("BF",), "cuckoo": ("CF",)}
    hashes = {"seed 0": ("XXH3", None), "secret key": (KEY.hex(), KEY)}

    def __init__(self):
        path = ROOT / "tests" / "redis" / "conftest.py"
        spec = importlib.util.spec_from_file_location("module_conftest", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        self.folder = tempfile.TemporaryDirectory()
        self.server = module.Server(pathlib.Path(self.folder.name))

    def cases(self):
        """Kind, variant, the filter's file, its key, and the server's answers for each type."""
        members = [key for name in self.types for key in KEYS[name][:MEMBERS]]
        for form, (family, *options) in self.filters.items():
            for variant, (name, key) in self.hashes.items():
                size = [matrix.RATE, len(members)] if family == "BF" else [len(members), "ERROR", matrix.RATE]
                self.server.call(f"{family}.RESERVE", f"{form} {variant}", *size, *options, "HASH", name)
                self.server.call(f"{family}.INSERT", f"{form} {variant}", "ITEMS", *members)
                dump = b"".join(data for _, data in self.server.pieces(family, f"{form} {variant}"))
                answers = {name: [bool(found) for found in self.server.each(
                    f"{family}.MEXISTS", f"{form} {variant}", items=KEYS[name])] for name in self.types}
                yield form, variant, dump[64 + (24 if key else 0):], key, answers

    def close(self):
        self.server.kill()
        self.folder.cleanup()


DOORS = [CommandLine, Cpp, C, PythonLists, PythonOne, NumPy, Arrow, SQLite, DuckDB, PostgreSQL]
