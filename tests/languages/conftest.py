"""The packages of other languages, as the build leaves them in its folder `languages`, and their toolchains.

A test whose toolchain or registry is missing is skipped with a reason. With BLOOMSET_NEEDS_LANGUAGES it fails.
"""

import fcntl
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOOMSET = pathlib.Path(os.path.abspath(os.environ.get("BLOOMSET", ROOT / "build" / "bloomset")))
PACKAGES = BLOOMSET.parent / "languages"
VECTORS = ROOT / "tests" / "languages" / "vectors.json"
sys.path.append(str(ROOT / "tests" / "support"))

# The packages that verify signatures, in the oldest and the newest versions that the package allows.
OLDEST_NOBLE = ("@noble/ed25519@2.3.0", "@noble/hashes@1.8.0")
NEWEST_NOBLE = ("@noble/ed25519@3.2.0", "@noble/hashes@2.4.0")
# No network, no services of the browser's own.
CHROMIUM = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
            "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage")


def missing(why, details=""):
    if os.environ.get("BLOOMSET_NEEDS_LANGUAGES"):
        pytest.fail(f"{why}\n{details}", pytrace=False)
    pytest.skip(why)


def from_npm(what, folder, *packages):
    """The folder beside the packages in which npm has installed others, once."""
    if shutil.which("npm") is None:
        missing(f"npm is not installed, so {what} cannot be tried here")
    tools = PACKAGES / folder
    tools.mkdir(exist_ok=True)
    with (tools / "lock").open("w") as lock:  # against another test that needs them
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (tools / "node_modules" / ".package-lock.json").is_file():  # which npm writes last
            (tools / "package.json").write_text('{"type": "module"}')
            done = subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--fetch-retries=1", *packages],
                                  cwd=tools, capture_output=True, text=True, timeout=300, check=False)
            if done.returncode != 0:
                missing(f"npm cannot install {what}: is its registry reachable?", done.stderr)
    return tools


def noble(packages):
    """The folder of @noble in node_modules, which has one of the two pairs of versions above."""
    name = "-".join(["noble", *(each.rpartition("@")[2] for each in packages)])
    return from_npm("@noble/ed25519 and @noble/hashes", name, *packages) / "node_modules" / "@noble"


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


@pytest.fixture
def browser(tmp_path):
    """Chromium without a window."""
    if not (shutil.which("chromium") and shutil.which("chromedriver")):
        missing("chromium and chromium-driver are not installed, so no browser is tried here")
    try:
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service
    except ImportError:
        missing("python3-selenium is not installed, so no browser is tried here")
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for argument in CHROMIUM:
        options.add_argument(argument)
    options.add_argument(f"--user-data-dir={tmp_path / 'chromium'}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)
    yield driver
    driver.quit()
