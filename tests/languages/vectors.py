"""The vectors that the tests of all languages share: keys, filter files, and the answers of the command line.

    python3 tests/languages/vectors.py PROGRAM > tests/languages/vectors.json

`PROGRAM` is the command line, which opens the golden files and builds other filters. docs/reference/module.md has the
fields. tests/languages/test_vectors.py checks that the file is current.
"""

import base64
import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden"
sys.path.insert(0, str(ROOT / "tests" / "support"))

from xxh3 import xxh3_64  # noqa: E402

SECRET = bytes(range(16))
# Larger golden files would make most of the JSON.
MAX_BYTES = 8192

MEMBERS = ([f"member-{i}".encode() for i in range(38)] + [bytes([digit]) + bytes(7) for digit in range(10)]
           + [b"", b"x" * 1000])
OTHERS = ([f"non-member-{i}".encode() for i in range(300)] + [f"mistaken-{i}".encode() for i in range(100)]
          + ["Zoë".encode(), b"\x00\xff", bytes([255] * 8), b"y" * 300])
KEYS = MEMBERS + OTHERS
# Keys of filters with partitions (hashes 6 and 7), as in support/golden_recipes.hpp; the last two have no answer.
KEYS_IN_PARTITIONS = [b"partition-%d\t%b" % (i % 3, key) for i, key in enumerate(KEYS)] + [b"partition-9\tmember-0", b"member-0"]

# Filters that every language builds from the keys user0 to user999, each twice: options of the command line.
BUILT_KEYS = [f"user{i}" for i in range(1000)] * 2
BUILDS = [
    {"kind": "blocked_bloom"},
    {"kind": "blocked_bloom", "fpr": "0.1%", "seed": 7},
    {"kind": "blocked_bloom", "capacity": 5000, "layout": "parquet"},
    {"kind": "bloom", "fpr": "1/1000"},
    {"kind": "bloom", "memory": "4KiB"},
    {"kind": "counting_bloom", "counter_bits": 8},
    {"kind": "cuckoo"},
    {"kind": "vector_quotient"},
    {"kind": "scalable_bloom", "capacity": 100},
    {"kind": "expandable"},
    {"kind": "fuse", "fpr": "0.4%"},
    {"kind": "ribbon"},
    {"kind": "ribbon", "fpr": 1e-12},
]
COMMON = ("kind", "fpr", "seed", "capacity", "memory")


def options_of(request):
    for name, value in request.items():
        yield from (f"--{name}", str(value)) if name in COMMON else ("--with", f"{name}={value}")


def vectors(program):
    def run(*words, keys=""):
        done = subprocess.run([program, *map(str, words)], input=keys, capture_output=True, text=True, check=False)
        assert done.returncode in (0, 1), (words, done.stderr)
        return done.stdout

    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        secret = folder / "secret"
        secret.write_text(SECRET.hex() + "\n")

        def lines_of(path, keys, is_keyed, *words):
            if is_keyed:
                words = (*words, "--key-file", secret)
            return set(run("check", path, "--keys", "hex", *words, keys="".join(f"{key.hex()}\n" for key in keys)).splitlines())

        filters, with_partitions = [], []
        for path in sorted(GOLDEN.glob("*.bloom")):
            content = path.read_bytes()
            if len(content) > MAX_BYTES:
                continue
            has_partitions, is_keyed = content[14] in (6, 7), content[14] in (3, 5, 7)
            keys = KEYS_IN_PARTITIONS if has_partitions else KEYS
            found = lines_of(path, keys, is_keyed)
            # An empty line is no key, but the empty key is a member of each golden file (support/golden_recipes.hpp).
            found.add("")
            unknown = lines_of(path, keys, is_keyed, "--unknown") if has_partitions else set()
            info = json.loads(run("info", "--json", path))
            (with_partitions if has_partitions else filters).append({
                "name": path.name, "kind": info["kind"], "capacity": info["capacity"], "count": info["count"],
                "hash": info["hash"], "seed": str(info["seed"]), "labels": info["labels"], "secret": is_keyed,
                "bytes": base64.b64encode(content).decode(),
                "answers": "".join("?" if key.hex() in unknown else "01"[key.hex() in found] for key in keys)})

        builds = []
        for request in BUILDS:
            made = folder / "made.bloom"
            run("build", "--quiet", "--force", "-o", made, *options_of(request), keys="".join(f"{key}\n" for key in BUILT_KEYS))
            content = made.read_bytes()
            builds.append({"request": request, "size": len(content), "sha256": hashlib.sha256(content).hexdigest()})

        refused = []
        good = (GOLDEN / "bloom-double.bloom").read_bytes()
        for name, content in {"empty": b"", "text": b"a text that is no filter\n", "truncated": good[:-1], "header only": good[:64],
                              "flipped bit": good[:150] + bytes([good[150] ^ 1]) + good[151:],
                              "index": (GOLDEN / "file_index-1.which").read_bytes()}.items():
            damaged = folder / "damaged"
            damaged.write_bytes(content)
            done = subprocess.run([program, "check", damaged], input="a\n", capture_output=True, text=True, check=False)
            assert done.returncode == 2, name
            refused.append({"name": name, "bytes": base64.b64encode(content).decode()})

    return {"secret": SECRET.hex(), "keys": [key.hex() for key in KEYS],
            "hashes": {"seed": "0", "values": [str(xxh3_64(key)) for key in KEYS]},
            "filters": filters, "keys_in_partitions": [key.hex() for key in KEYS_IN_PARTITIONS],
            "filters_with_partitions": with_partitions, "built_keys": {"prefix": "user", "count": 1000, "times": 2}, "builds": builds, "refused": refused}


def text_of(program):
    """The JSON, with a line for each filter."""
    parts = []
    for name, value in vectors(program).items():
        rows = value if isinstance(value, list) and isinstance(value[0], dict) else None
        lines = "[\n" + ",\n".join("  " + json.dumps(row) for row in rows) + "\n ]" if rows else json.dumps(value)
        parts.append(f" {json.dumps(name)}: {lines}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


if __name__ == "__main__":
    sys.stdout.write(text_of(sys.argv[1]))
