"""Common parts of the tests of the Python package. The package is on PYTHONPATH, or in
build/integrations/python; the command line is $BLOOMSET, or build/bloomset."""

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.path.abspath(os.environ.get("BLOOMSET", ROOT / "build" / "bloomset"))

try:
    import bloomset
except ImportError:
    sys.path.insert(0, str(ROOT / "build" / "integrations" / "python"))
    import bloomset

sys.path.append(str(ROOT / "tests" / "support"))
from kinds import kinds_that  # noqa: E402, F401
from unlabelled import unlabelled  # noqa: E402

INSERTABLE = [cls for cls in bloomset.KINDS.values() if issubclass(cls, bloomset.Insertable)]
STATIC = [cls for cls in bloomset.KINDS.values() if issubclass(cls, bloomset.Static)]
#: Kinds of one set of keys. Those of two sets have tests of their own (test_python_two_sets.py).
ONE_SET = {kind: cls for kind, cls in bloomset.KINDS.items() if not issubclass(cls, bloomset.OfTwoSets)}
every_kind = pytest.mark.parametrize("cls", ONE_SET.values(), ids=ONE_SET)

#: For other programs of Python, which find the same package.
WITH_PACKAGE = {**os.environ, "PYTHONPATH": str(pathlib.Path(bloomset.__file__).parents[1])}


def having(ability):
    return [cls for cls in bloomset.KINDS.values() if issubclass(cls, ability)]


@pytest.fixture
def run(tmp_path):
    """Runs the command line in tmp_path: run("check", "f.bloom", input="ann\\n") -> its output."""

    def run(*args, input="", codes=(0, 1)):
        done = subprocess.run([PROGRAM, *map(str, args)], cwd=tmp_path, input=input.encode(),
                              capture_output=True, timeout=60)
        assert done.returncode in codes, done.stderr.decode()
        return done.stdout.decode()

    return run


@pytest.fixture
def file_of(run, tmp_path):
    """file_of(keys, "--kind", ...) -> the bytes of the command line's file of these keys, without labels."""

    def make(keys, *options):
        run("build", "-q", "--force", "-o", "lines.bloom", *options, input="".join(f"{key}\n" for key in keys))
        return unlabelled((tmp_path / "lines.bloom").read_bytes())

    return make


def hexadecimal(numbers):
    """The words that stand for numbers, as lines of `--keys hex`."""
    return [int(n).to_bytes(8, "little", signed=True).hex() for n in numbers]
