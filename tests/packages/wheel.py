"""Builds, queries, saves and opens a filter of each kind, and prints a digest of all their bytes.

    wheel.py VERSION CPU     those of this interpreter
"""

import hashlib
import pathlib
import platform
import sys
import tempfile

import bloomset

version, cpu = sys.argv[1:]
assert "%d.%d" % sys.version_info[:2] == version, sys.version
assert platform.machine() == cpu, platform.machine()

members = [f"key {i}" for i in range(3000)]
others = [f"other {i}" for i in range(3000)]
digest = hashlib.sha256()
with tempfile.TemporaryDirectory() as folder:
    for kind in bloomset.KINDS.values():
        path = pathlib.Path(folder) / "saved"
        sets = (members, others) if issubclass(kind, bloomset.OfTwoSets) else (members,)
        kind.build(*sets).save(path)
        digest.update(path.read_bytes())
        seen = bloomset.open(path)
        assert all(seen.contains(members)), kind
        assert sum(seen.contains(others)) < 150, kind
        assert members[0] in seen
try:
    bloomset.open("no such file")
except OSError as error:
    assert "no such file" in str(error)
else:
    raise AssertionError("a file that does not exist was opened")
print(digest.hexdigest()[:16])
