"""A user's own kind, examples/own-kind/bitmap, on the command line and in Python, each reading the
other's files."""

import os
import pickle
import subprocess

import bloomset
import pytest

KEYS = [f"key {i}" for i in range(1000)]


def run(*arguments, **options):
    done = subprocess.run([os.environ["BLOOMSET"], *arguments], capture_output=True, text=True, **options)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def test_its_row_is_in_the_lists():
    assert "bitmap" in run("plan", "--help")
    assert "99,500 bits" in run("plan", "--kind", "bitmap", "--capacity", "1000", "--fpr", "1%")
    assert bloomset.kinds()["bitmap"]["summary"] == "one bit per key, by one hash function"
    assert issubclass(bloomset.Bitmap, bloomset.Insertable) and not issubclass(bloomset.Bitmap, bloomset.Deletable)


def test_a_file_goes_from_the_command_line_to_python_and_back(tmp_path):
    file = tmp_path / "members.bloom"
    run("build", "-o", str(file), "--kind", "bitmap", "--fpr", "1%", input="\n".join(KEYS) + "\n")
    assert "bitmap" in run("info", str(file))
    members = bloomset.open(file)
    assert type(members) is bloomset.Bitmap and all(members.contains(KEYS))
    non_members = sum(f"non-member {i}" in members for i in range(20_000))
    assert 100 < non_members < 300  # 200 expected; outside with a chance below 1e-9
    own = pickle.loads(pickle.dumps(bloomset.Bitmap.build(KEYS, fpr="1%")))
    own.save(tmp_path / "own.bloom")
    assert run("check", str(tmp_path / "own.bloom"), input="\n".join(KEYS) + "\n").splitlines() == KEYS


def test_what_it_cannot_do_is_refused(tmp_path):
    file = tmp_path / "members.bloom"
    run("build", "-o", str(file), "--kind", "bitmap", "--capacity", "10", input="a\n")
    done = subprocess.run([os.environ["BLOOMSET"], "remove", str(file)], input="a\n", capture_output=True, text=True)
    assert done.returncode == 2 and "a filter of kind bitmap cannot remove keys" in done.stderr
    with pytest.raises(ValueError, match="size is not determined"):
        bloomset.Bitmap()


def test_a_damaged_file_is_found(tmp_path):
    data = bytearray(bloomset.Bitmap.build(KEYS).to_bytes())
    data[70] ^= 1
    with pytest.raises(ValueError):
        bloomset.from_bytes(bytes(data))
