"""bloomset.Which: the files that have a key."""

import os
import pathlib
import subprocess

import numpy
import pytest

import bloomset

ROOT = pathlib.Path(__file__).resolve().parents[2]
DAYS = {"mon.log": ["ann", "bob"], "tue.log": ["bob", "carol", "bob"], "wed.log": [b"bob", 7]}


def test_a_key_has_its_files():
    which = bloomset.Which.build(DAYS, fpr=1e-8)
    assert which["bob"] == ["mon.log", "tue.log", "wed.log"]
    assert (which["ann"], which[7], which["mallory"]) == (["mon.log"], ["wed.log"], [])
    assert "carol" in which and "mallory" not in which
    assert len(which) == 4 and which.files == list(DAYS)
    assert repr(which) == "<bloomset.Which of 4 keys in 3 files>"
    with pytest.raises(TypeError):
        iter(which)
    with pytest.raises(TypeError):
        bloomset.Which()


def test_many_keys_are_answered_as_one_by_one():
    which = bloomset.Which.build({f"{i}": numpy.arange(i * 1000, i * 1000 + 1500) for i in range(20)}, fpr=0.3)
    asked = numpy.arange(-5000, 25000)
    many = which.get_many(asked)
    assert many == [which[int(key)] for key in asked]
    assert many[5000 + 1200] == ["0", "1"]
    info = which.info()
    assert (info["kind"], info["files"], info["keys"]) == ("file_index", 20, 20500)


def test_files_are_those_of_the_command_line(tmp_path, monkeypatch):
    program = os.path.abspath(os.environ.get("BLOOMSET", ROOT / "build" / "bloomset"))
    monkeypatch.chdir(tmp_path)
    for name, keys in {"a": "ann\nbob\n", "b": "bob\n"}.items():
        (tmp_path / name).write_text(keys)
    subprocess.run([program, "index", "-q", "-o", "line.which", "a", "b"], check=True)
    bloomset.Which.build({"a": ["ann", "bob"], "b": ["bob"]}).save(tmp_path / "python.which")
    assert (tmp_path / "line.which").read_bytes() == (tmp_path / "python.which").read_bytes()
    assert bloomset.Which.open("line.which", verify=True)["bob"] == ["a", "b"]


def test_a_secret_key_is_needed_again(tmp_path):
    secret = bloomset.new_key()
    bloomset.Which.build(DAYS, key=secret).save(tmp_path / "days.which")
    assert bloomset.Which.open(tmp_path / "days.which", key=secret)["ann"] == ["mon.log"]
    with pytest.raises(ValueError, match="secret key"):
        bloomset.Which.open(tmp_path / "days.which")


def test_wrong_requests_are_refused(tmp_path):
    with pytest.raises(ValueError, match="at least one file"):
        bloomset.Which.build({})
    with pytest.raises(ValueError, match="out of range"):
        bloomset.Which.build(DAYS, fpr=0.9)
    with pytest.raises(TypeError):
        bloomset.Which.build({"a": "one key"})
    with pytest.raises(FileNotFoundError):
        bloomset.Which.open(tmp_path / "missing")
    bloomset.Bloom.build(["ann"]).save(tmp_path / "f.bloom")
    with pytest.raises(ValueError, match="cannot be inverted"):
        bloomset.Which.open(tmp_path / "f.bloom")
    which = bloomset.Which.build(DAYS)
    which.save(tmp_path / "days.which")
    with pytest.raises(OSError):
        which.save(tmp_path / "days.which", replace=False)
    with pytest.raises(ValueError, match="bloomset which"):
        bloomset.open(tmp_path / "days.which")


def test_null_rows_have_no_files():
    pyarrow = pytest.importorskip("pyarrow")
    which = bloomset.Which.build(DAYS, fpr=1e-8)
    column = pyarrow.array([None, "ann", None, None, "bob", "mallory", None])
    expected = [[], ["mon.log"], [], [], ["mon.log", "tue.log", "wed.log"], [], []]
    assert which.get_many(column) == expected
    assert which.get_many(pyarrow.chunked_array([column.slice(0, 3), column.slice(3)])) == expected
    assert which.get_many(pyarrow.array([None, None], pyarrow.string())) == [[], []]
