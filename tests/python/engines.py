"""Packages of other engines, which pip installs into a folder beside the build, once. Without pip or its
index the tests are skipped, and with BLOOMSET_NEEDS_ENGINES they fail."""

import doctest
import fcntl
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from conftest import PROGRAM, ROOT

FOLDER = pathlib.Path(os.environ.get("BLOOMSET_ENGINES", pathlib.Path(PROGRAM).parent / "engines"))
ARROW = ("arrow", "pyarrow==26.0.1", "pandas==3.1.1", "polars==2.1.0", "duckdb==2.0.1")


def missing(why, details=""):
    """Skips the tests of this file, or fails with BLOOMSET_NEEDS_ENGINES."""
    if os.environ.get("BLOOMSET_NEEDS_ENGINES"):
        pytest.fail(f"{why}\n{details}", pytrace=False)
    pytest.skip(why, allow_module_level=True)


def need(name, *packages):
    """Puts a folder with these packages on sys.path, before those of the distribution."""
    folder = FOLDER / name
    FOLDER.mkdir(parents=True, exist_ok=True)
    with open(FOLDER / f"{name}.lock", "w") as lock:  # two files of tests may need the same folder
        fcntl.flock(lock, fcntl.LOCK_EX)
        install(folder, packages)
    sys.path.insert(0, str(folder))
    # The bytecode is kept, since several processes read the same packages: beside them, and not beside sources.
    sys.pycache_prefix = os.environ["PYTHONPYCACHEPREFIX"] = str(FOLDER / "bytecode")
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def install(folder, packages):
    if not folder.is_dir():
        partial = folder.with_name(folder.name + ".partial")
        shutil.rmtree(partial, ignore_errors=True)
        # pip makes a wheel of PySpark, which need not be compressed.
        options = folder.with_suffix(".cfg")
        options.write_text("[bdist_wheel]\ncompression = stored\n")
        done = subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                               "--no-compile", "--target", partial, *packages], capture_output=True, text=True,
                              env={**os.environ, "DIST_EXTRA_CONFIG": str(options)})
        if done.returncode != 0:
            shutil.rmtree(partial, ignore_errors=True)
            missing(f"pip cannot install {' '.join(packages)}: is its index reachable?", done.stderr)
        partial.rename(folder)


def need_spark():
    """Finds Java, and installs PySpark. Spark listens on the loopback address: it would ask for the address of
    the machine's name, which not every machine can tell."""
    if shutil.which("java") is None:
        missing("Spark needs Java; install default-jre-headless")
    need(*ARROW)
    need("spark", "pyspark==4.3.0", "pandas==2.3.3")
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"


def run_examples(page, chapter, **names):
    """Runs the Python examples in a chapter of a page, in the current folder."""
    text = (ROOT / "docs" / page).read_text().split(f"\n## {chapter}\n")[1].split("\n## ")[0]
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)
    shown = doctest.DocTestParser().get_doctest("\n".join(blocks), names, page, page, 0)
    assert doctest.DocTestRunner().run(shown).failed == 0 and shown.examples
