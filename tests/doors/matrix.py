"""The matrix of doors: every door gives the same answer for every filter and every key.

A *door* is a way to query a filter: the command line, C, Python, an SQL engine, the server. The *filters* are those
of each kind of `bloomset.kinds()`, with each seed, key and width of hash that the kind has. The *key types* are
those of docs/reference/format.md. A door says what it cannot do, and the tests check that it refuses just that.

`python3 tests/doors/test_doors.py --table` prints the matrix."""

import dataclasses
import datetime
import decimal
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests" / "python"))

import engines  # noqa: E402

engines.need(*engines.ARROW)

import bloomset  # noqa: E402

BUILD = pathlib.Path(os.path.abspath(os.environ.get("BLOOMSET", ROOT / "build" / "bloomset"))).parent
KEY = bytes(range(16))
MEMBERS, OTHERS = 200, 10_000  # of each type
RATE = 0.1  # so that many of the others pass, and different answers show

# Key types
# --------------------------------------------------------------------------------------------------

#: The value of a number from 0 to MEMBERS + OTHERS - 1, and its key as docs/reference/format.md has it.
TYPES = {
    "text": (lambda n: f"Zoë {n}", lambda value: value.encode()),
    "bytes": (lambda n: b"\0\xff%d" % n, lambda value: value),
    "integer": (lambda n: (-1) ** n * n ** 4, lambda value: value.to_bytes(8, "little", signed=True)),
    "date": (lambda n: datetime.date(1968, 1, 1) + datetime.timedelta(n),
             lambda value: (value - datetime.date(1970, 1, 1)).days.to_bytes(8, "little", signed=True)),
    "decimal": (lambda n: decimal.Decimal((-1) ** n * (5 * n + 1)).scaleb(-2), lambda value: f"{value:.2f}".encode()),
}
VALUES = {name: [value(n) for n in range(MEMBERS + OTHERS)] for name, (value, _) in TYPES.items()}
KEYS = {name: [key(value) for value in VALUES[name]] for name, (_, key) in TYPES.items()}
ROWS = list(zip(*VALUES.values()))
MEMBER_KEYS = [key for name in TYPES for key in KEYS[name][:MEMBERS]]

# Filters
# --------------------------------------------------------------------------------------------------

VARIANTS = {
    "seed 0": {"seed": 0},
    "seed 77": {"seed": 77},
    "secret key": {"key": KEY},
    "128 bits": {"hash": "xxh3-2x64"},
    "128 bits, seed 77": {"hash": "xxh3-2x64", "seed": 77},
    "128 bits, secret key": {"hash": "siphash-2x64", "key": KEY},
}


@dataclasses.dataclass
class Case:
    kind: str
    variant: str
    filter: object
    key: bytes = None

    def __post_init__(self):
        self.bytes = self.filter.to_bytes()
        self.answers = {name: self.filter.contains(KEYS[name]).tolist() for name in TYPES}

    def __repr__(self):
        return f"{self.kind}, {self.variant}"


def cases():
    made, refused = [], []
    kinds = bloomset.kinds()
    for kind in kinds:
        for variant, options in VARIANTS.items():
            try:
                filter = (bloomset.KINDS[kind].build(MEMBER_KEYS, range(10**9, 10**9 + 100 * len(MEMBER_KEYS)), **options)
                          if kinds[kind]["of_two_sets"]
                          else bloomset.KINDS[kind].build(MEMBER_KEYS, fpr=RATE, **options))
            except ValueError as error:
                assert "cannot use hashes of 128 bits" in str(error) or "cannot be seeded" in str(error), error
                refused.append((kind, variant))
            else:
                made.append(Case(kind, variant, filter, options.get("key")))
    return made, refused


# The check
# --------------------------------------------------------------------------------------------------


def check(door, filters):
    """Compares the answers of a door with those that Python gives for the bytes of the keys. The cells of the
    table: how many members were lost, and how many of the others have another answer."""
    cells = {}
    answers = door.answers([case for case in filters if door.refusal(case) is None])
    for case in filters:
        if door.refusal(case) is not None:
            assert re.search(door.refusal(case), door.error_of(case)), (door.name, case, door.error_of(case))
            continue
        assert set(answers[case.kind, case.variant]) == set(door.types_of(case)), (door.name, case)
        for name, found in answers[case.kind, case.variant].items():
            assert len(found) == MEMBERS + OTHERS, (door.name, case, name)
            lost = found[:MEMBERS].count(False)
            different = sum(a != b for a, b in zip(found, case.answers[name]))
            cells[case.kind, case.variant, name] = (lost, different)
    return cells


class Door:
    """A way to query a filter."""

    name = ""
    types = tuple(TYPES)

    def refusal(self, case):
        """The pattern of the error for a filter that it does not query, or None."""
        return None

    def types_of(self, case):
        """The key types that this filter is asked for."""
        return self.types

    def answers(self, filters):
        """By kind and variant: the answers for each type."""
        return {(case.kind, case.variant): {name: self.ask(case, name) for name in self.types} for case in filters}

    def close(self):
        pass


class SqlDoor(Door):
    def refusal(self, case):
        return "secret key" if case.key else None


def split(bits, types):
    """The answers of rows, each a text such as `10010` with one character per type."""
    return {name: [row[i] == "1" for row in bits] for i, name in enumerate(types)}
