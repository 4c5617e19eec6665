"""Every door gives the same answer: matrix.py has the filters and the keys, doors.py the doors."""

import os
import pathlib
import sys

import pytest

sys.path.append(str(pathlib.Path(__file__).resolve().parent))

import doors  # noqa: E402
import matrix  # noqa: E402
from matrix import MEMBERS, bloomset  # noqa: E402

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
