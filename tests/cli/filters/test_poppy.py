"""Poppy's filters, version 2, with CIRCL's wheel poppy-py on the other side. pip installs it into a folder beside the
build, once. Without pip or its index these tests are skipped, and with BLOOMSET_NEEDS_ENGINES they fail."""

import gzip
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

BUILD = pathlib.Path(__file__).parents[3] / "build"
MODES = ["none", "space", "speed", "best"]
PEER = """
import sys, poppy
verb, path, *args = sys.argv[1:]
keys = sys.stdin.buffer.read().split(b"\\n")[:-1]
if verb == "write":
    capacity, fpr, mode = int(args[0]), float(args[1]), int(args[2])
    f = poppy.BloomFilter.with_params(2, capacity, fpr, mode)
    for key in keys:
        f.insert_bytes(key)
    f.save(path)
elif verb == "union":
    f = poppy.load(path)
    f.union_merge(poppy.load(args[0]))
    f.save(args[1])
else:
    f = poppy.load(path)
    for key in keys:
        if f.contains_bytes(key):
            sys.stdout.buffer.write(key + b"\\n")
"""


@pytest.fixture(scope="module")
def peer():
    folder = BUILD / "poppy-py"
    if not folder.is_dir():
        partial = folder.with_suffix(".partial")
        shutil.rmtree(partial, ignore_errors=True)
        done = subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                               "--target", partial, "poppy-py==0.2.1"], capture_output=True, text=True)
        if done.returncode != 0 and os.environ.get("BLOOMSET_NEEDS_ENGINES"):
            pytest.fail(f"pip cannot install poppy-py: is its index reachable?\n{done.stderr}", pytrace=False)
        if done.returncode != 0:
            pytest.skip("pip cannot install poppy-py")
        partial.rename(folder)

    def run(*args, keys=b""):
        done = subprocess.run([sys.executable, "-c", PEER, *map(str, args)], input=keys, capture_output=True,
                              env={**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"})
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout

    return run


def lines_of(name, count):
    """Keys of 1 to 40 bytes, so that every length of the hash's last piece occurs."""
    return b"".join((b"%s%d-" % (name, i) * 9)[:1 + i % 40] + b"-%d\n" % i for i in range(count))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("capacity,fpr", [(1, 0.1), (3, 1e-9), (100, 0.001), (3000, 0.01), (20000, 1e-6)])
def test_the_wheel_writes_the_same_bytes(peer, run, tmp_path, mode, capacity, fpr):
    keys = lines_of(b"key", min(capacity, 4000))
    peer("write", tmp_path / "theirs", capacity, fpr, MODES.index(mode), keys=keys)
    run("build", "-q", "-o", "ours", "--format", "poppy", "--with", f"optimise={mode}", "--capacity", capacity, "--fpr",
        fpr, input=keys).ok()
    assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()


@pytest.mark.parametrize("mode", MODES)
def test_both_give_the_same_answers(peer, run, tmp_path, mode):
    keys, others = lines_of(b"key", 5000), lines_of(b"other", 100_000)
    run("build", "-q", "-o", "f", "--format", "poppy", "--with", f"optimise={mode}", "--capacity", 5000, "--fpr", "0.1%",
        input=keys).ok()
    assert run("check", "f", input=keys).ok().out == keys
    assert peer("read", tmp_path / "f", keys=keys) == keys
    passed = run("check", "f", input=others)
    assert passed.code == 0 and passed.out.count(b"\n") < 300  # about 100 of them
    assert peer("read", tmp_path / "f", keys=others) == passed.out


@pytest.mark.parametrize("mode", MODES)
def test_the_wheel_unites_as_we_merge(peer, run, tmp_path, mode):
    for name in ("a", "b"):
        run("build", "-q", "-o", name, "--format", "poppy", "--with", f"optimise={mode}", "--capacity", 6000,
            input=lines_of(name.encode(), 2500)).ok()
    run("merge", "-o", "ours", "a", "b").ok()
    peer("union", tmp_path / "a", tmp_path / "b", tmp_path / "theirs")
    assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()


def test_what_differs_is_not_merged(run):
    for name, options in (("a", ()), ("b", ("--fpr", "2%")), ("c", ("--with", "optimise=speed"))):
        run("build", "-q", "-o", name, "--format", "poppy", "--capacity", 50, *options, input=b"x\n").ok()
    for other in ("b", "c"):
        run("merge", "-o", "m", "a", other).refused("they were planned for different capacities, rates or modes")


def test_a_compressed_filter_is_to_be_unpacked(run, tmp_path):
    """DCSO's filters may be compressed, and begin like it, so the two must be told apart."""
    run("build", "-q", "-o", "f", "--format", "poppy", "--capacity", 5, input=b"x\n").ok()
    (tmp_path / "f.gz").write_bytes(gzip.compress((tmp_path / "f").read_bytes()))
    for verb in (("info", "f.gz"), ("check", "f.gz")):
        run(*verb, input=b"x\n").refused("f.gz: this is gzip-compressed, not a filter; unpack it with 'gzip -dc'")


def test_info_shows_the_mode(run, info):
    run("build", "-q", "-o", "f", "--format", "poppy", "--with", "optimise=best", "--capacity", 500,
        input=lines_of(b"key", 400)).ok()
    said = info("f")
    assert said["variant"] == "version 2, mode best"
    assert (said["count"], said["capacity"]) == (400, 500)
    assert (said["extras"]["buckets"], said["extras"]["cache_bits"]) == (1, 512)
    run("build", "-o", "g", "--format", "poppy", "--with", "optimise=size", "--capacity", 5, input=b"x\n").refused(
        "--with optimise=size: give none, space, speed or best")
