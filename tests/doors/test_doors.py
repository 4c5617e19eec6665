"""Every door gives the same answer: matrix.py has the filters and the keys, doors.py the doors."""

import ctypes
import os
import pathlib
import subprocess
import sys
import types

import pytest

sys.path.append(str(pathlib.Path(__file__).resolve().parent))

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import doors  # noqa: E402
import matrix  # noqa: E402
from matrix import BUILD, MEMBERS, bloomset  # noqa: E402
from unread_formats import FILES  # noqa: E402

TABLE = {}


@pytest.fixture(scope="module")
def filters():
    return matrix.cases()[0]


@pytest.fixture(params=doors.DOORS, ids=lambda door: door.name)
def door(request):
    door = request.param()
    yield door
    door.close()


def test_every_door_gives_the_same_answers(door, filters):
    cells = matrix.check(door, filters)
    wrong = {cell: counts for cell, counts in cells.items() if counts != (0, 0)}
    TABLE[door.name] = cells
    assert not wrong
    asked = [case for case in filters if door.refusal(case) is None]
    assert len(cells) == len(asked) * len(door.types)


def test_nothing_is_left_out():
    """The kinds are those of the registry, and a variant is missing only where the kind refuses it."""
    made, refused = matrix.cases()
    assert {case.kind for case in made} == set(bloomset.kinds()) == set(bloomset.KINDS)
    for variant in ("seed 0", "seed 77", "secret key"):
        assert [case.kind for case in made if case.variant == variant] == list(bloomset.kinds())
    assert {kind for kind, _ in refused}.isdisjoint(case.kind for case in made if case.variant == "128 bits")
    for case in made:  # the answers to compare with have no member missing, and are no constant
        assert all(all(found[:MEMBERS]) and not all(found) for found in case.answers.values()), case


def test_the_server_answers_as_its_dump():
    server = doors.Server()
    try:
        for form, variant, file, key, answers in server.cases():
            filter = bloomset.from_bytes(file, key=key)
            cells = TABLE.setdefault(server.name, {})
            for name, found in answers.items():
                lost, expected = found[:MEMBERS].count(False), filter.contains(matrix.KEYS[name]).tolist()
                cells[form, variant, name] = (lost, sum(a != b for a, b in zip(found, expected)))
                assert cells[form, variant, name] == (0, 0), (form, variant, name)
    finally:
        server.close()


class CError(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("status", ctypes.c_int), ("message", ctypes.c_char * 500)]


def opened_by_c(path):
    """The filter of bloomset_open(), or its sentence."""
    library = doors.C().library
    filter, error = ctypes.c_void_p(), CError(struct_size=ctypes.sizeof(CError))
    if library.bloomset_open(os.fsencode(path), ctypes.byref(filter), ctypes.byref(error)) == 0:
        return library, filter
    return error.message.decode()


def sentences(path):
    """What each door that opens files, or the bytes of one, says about this one."""
    said = {}
    done = subprocess.run([BUILD / "bloomset", "check", path.name], cwd=path.parent, input="a\n", capture_output=True, text=True)
    said["command line"] = done.stderr
    (path.parent / "no keys").write_bytes(b"")
    done = subprocess.run([BUILD / "tests" / "bloomset_cpp_door", path.name, "no keys"], cwd=path.parent, capture_output=True, text=True)
    said["C++"] = done.stderr
    said["C"] = opened_by_c(path)
    for name, open_it in (("Python", lambda: bloomset.open(path)), ("Python, bytes", lambda: bloomset.from_bytes(path.read_bytes()))):
        with pytest.raises(ValueError) as caught:
            open_it()
        said[name] = str(caught.value)
    return said


#: Formats without a sign in their bytes: one is known by the file's name, and one by a plausible number, which is
#: recognised after the formats that are read, so by the command line alone.
BY_NAME, BY_A_NUMBER = "fltr00000.dat", "seen.rbloom"


@pytest.mark.parametrize("name", [name for name in FILES if name != BY_A_NUMBER])
def test_files_that_are_not_read_have_one_name_at_every_door(tmp_path, name):
    content, what = FILES[name]
    (tmp_path / name).write_bytes(content)
    for door, sentence in sentences(tmp_path / name).items():
        if name == BY_NAME and door == "Python, bytes":
            continue
        assert f"this is {what}, which is not read; " in sentence, (door, sentence)


@pytest.mark.parametrize("engine", [doors.SQLite, doors.DuckDB, doors.PostgreSQL], ids=lambda engine: engine.name)
def test_sql_names_bytes_that_are_not_read(engine):
    door = engine()
    try:
        for name, (content, what) in FILES.items():
            if name in (BY_NAME, BY_A_NUMBER):
                continue
            sentence = door.error_of(types.SimpleNamespace(bytes=content))
            assert f"this is {what}, which is not read; " in sentence, (name, sentence)
    finally:
        door.close()


def test_a_published_folder_is_one_filter_at_every_door(tmp_path):
    """A base with layers and removed keys: the folder answers as the file that `fetch` makes of it."""
    keys = [b"%d" % n for n in range(6000)]

    def run(*args, **more):
        return subprocess.run([BUILD / "bloomset", *args], cwd=tmp_path, check=more.pop("check", True), capture_output=True, **more).stdout

    run("build", "-q", "-o", "f", "--kind", "ribbon", "--fpr", "5%", input=b"\n".join(keys[:4000]))
    run("publish", "-q", "pub", "f")
    run("publish", "-q", "pub", "--layer", "-", input=b"\n".join(keys[4000:4200]))
    run("publish", "-q", "pub", "--removed", "-", input=b"\n".join(keys[3900:4050]))
    run("fetch", "-q", "pub", "-o", "mine")
    expected = [key in bloomset.open(tmp_path / "mine") for key in keys]
    assert all(expected[:3900] + expected[4050:4200]) and not any(expected[3900:4050])
    passed = set(run("check", "pub", input=b"\n".join(keys), check=False).split())
    assert [key in passed for key in keys] == expected
    buffer = b"".join(len(key).to_bytes(8, "little") + key for key in keys)
    (tmp_path / "keys").write_bytes(buffer)
    single = subprocess.run([BUILD / "tests" / "bloomset_cpp_door", "pub", "keys"], cwd=tmp_path, check=True, capture_output=True,
                            text=True).stdout.split()[0]
    assert [answer == "1" for answer in single] == expected
    for mmap in (True, False):
        assert bloomset.open(tmp_path / "pub", mmap=mmap).contains(keys).tolist() == expected
    assert bloomset.info(tmp_path / "pub") == bloomset.info(tmp_path / "mine")
    assert bloomset.info(tmp_path / "pub")["layers"] == 1
    library, filter = opened_by_c(tmp_path / "pub")
    assert [bool(library.bloomset_may_contain(filter, key, ctypes.c_size_t(len(key))) & 1) for key in keys] == expected
    library.bloomset_close(filter)


def print_table():
    status = pytest.main(["-q", "-p", "no:cacheprovider", __file__])
    import test_doors as run  # the module that pytest filled

    for name, cells in run.TABLE.items():
        print(f"\n{name}")
        for kind, variant in dict.fromkeys(cell[:2] for cell in cells):
            counts = ", ".join(f"{cell[2]} {lost} lost, {different} different" for cell, (lost, different) in cells.items()
                               if cell[:2] == (kind, variant))
            print(f"  {kind + ', ' + variant:40} {counts}")
    return status


if __name__ == "__main__":
    assert sys.argv[1:] == ["--table"], "usage: test_doors.py --table"
    sys.exit(print_table())
