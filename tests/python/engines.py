"""Packages of other engines, which pip installs into a folder beside the build, once. Without pip or its
index the tests are skipped, and with BLOOMERY_NEEDS_ENGINES they fail."""

import fcntl
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

from conftest import PROGRAM

FOLDER = pathlib.Path(os.environ.get("BLOOMERY_ENGINES", pathlib.Path(PROGRAM).parent / "engines"))


def need(name, *packages):
    """Puts a folder with these packages on sys.path, before those of the distribution."""
    folder = FOLDER / name
    FOLDER.mkdir(parents=True, exist_ok=True)
    with open(FOLDER / f"{name}.lock", "w") as lock:  # two files of tests may need the same folder
        fcntl.flock(lock, fcntl.LOCK_EX)
        install(folder, packages)
    sys.path.insert(0, str(folder))


def install(folder, packages):
    if not folder.is_dir():
        partial = folder.with_name(folder.name + ".partial")
        shutil.rmtree(partial, ignore_errors=True)
        done = subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                               "--no-compile", "--target", partial, *packages], capture_output=True, text=True)
        if done.returncode != 0:
            shutil.rmtree(partial, ignore_errors=True)
            why = f"pip cannot install {' '.join(packages)}: is its index reachable?"
            if os.environ.get("BLOOMERY_NEEDS_ENGINES"):
                pytest.fail(f"{why}\n{done.stderr}", pytrace=False)
            pytest.skip(why, allow_module_level=True)
        partial.rename(folder)
