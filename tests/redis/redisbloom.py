"""Common parts of the tests of RedisBloom's filters: filters and answers recorded from RedisBloom
(vectors/redisbloom.txt says how)."""

import pathlib
import re

import pytest

FOOTER = 10  # of DUMP's payload: the RDB's version and a checksum


def members(words):
    """`m0..m2 x` as m0 m1 m2 x."""
    for word in words.split():
        found = re.fullmatch(r"([a-z])(\d+)\.\.\1(\d+)", word)
        if found:
            yield from (found[1] + str(i) for i in range(int(found[2]), int(found[3]) + 1))
        else:
            yield word


def read_vectors():
    vectors = []
    text = (pathlib.Path(__file__).parent / "vectors/redisbloom.txt").read_text()
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        field, _, value = line.partition(": ")
        if field == "filter":
            vectors.append({"filter": value, "commands": []})
        elif field == "command":
            vectors[-1]["commands"].append(list(members(value)))
        elif field == "each":
            command, key, *items = members(value)
            vectors[-1]["commands"] += [[command, key, item] for item in items]
        elif field in ("dump", "header"):
            vectors[-1][field] = bytes.fromhex(value)
        else:
            vectors[-1][field] = value
    return vectors


VECTORS = read_vectors()
NEW = [v for v in VECTORS if v["by"] == "RedisBloom 8.9"]
OLD = [v for v in VECTORS if v not in NEW]
PROBES = [f"{letter}{i}" for letter in "mq" for i in range(300)]


def family(vector):
    return vector["commands"][0][0][:2]


def found(server, vector, key):
    answers = server.call(family(vector) + ".MEXISTS", key, *PROBES)
    return [probe for probe, answer in zip(PROBES, answers) if answer]


def named(vectors):
    return pytest.mark.parametrize("vector", vectors, ids=[v["filter"] for v in vectors])
