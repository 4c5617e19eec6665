"""The packages of other languages, as the build leaves them in its folder `languages`, and their toolchains.

A test whose toolchain or registry is missing is skipped with a reason. With BLOOMSET_NEEDS_LANGUAGES it fails.
"""

import os
import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOOMSET = pathlib.Path(os.path.abspath(os.environ.get("BLOOMSET", ROOT / "build" / "bloomset")))
PACKAGES = BLOOMSET.parent / "languages"
VECTORS = ROOT / "tests" / "languages" / "vectors.json"


def missing(why, details=""):
    if os.environ.get("BLOOMSET_NEEDS_LANGUAGES"):
        pytest.fail(f"{why}\n{details}", pytrace=False)
    pytest.skip(why)


@pytest.fixture
def package():
    """The folder of a language's package."""

    def find(language, *programs):
        for program in programs:
            if shutil.which(program) is None:
                missing(f"{program} is not installed, so the package for {language} is not tried here")
        if not (PACKAGES / language).is_dir():
            missing(f"the package for {language} was not built: its WebAssembly modules need clang and wasm32 libraries")
        return PACKAGES / language

    return find


@pytest.fixture
def run():
    """Runs a program in a folder, with the vectors; its output."""

    def start(*words, cwd, timeout=600, **variables):
        done = subprocess.run([*map(str, words)], cwd=cwd, capture_output=True, text=True, timeout=timeout, check=False,
                              env={**os.environ, "BLOOMSET_VECTORS": str(VECTORS), **variables})
        assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-8000:]
        return done.stdout

    return start
