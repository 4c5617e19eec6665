"""Files of other programs that are recognised but not read: one sentence names them, whichever verb they are given to."""

import math
import pickle
import struct
import subprocess

import pytest


def pybloom(rate=0.01, slices=7, slice_bits=1370):
    return struct.pack("<dQQQQ", rate, slices, slice_bits, 1000, 0) + bytes((slices * slice_bits + 7) // 8)


def pyprobables(keys=1000, rate=0.01):
    rate = struct.unpack("f", struct.pack("f", rate))[0]
    bits = math.ceil(-keys * math.log(rate) / math.log(2) ** 2)
    return bytes([0x55]) * math.ceil(bits / 8) + struct.pack("<QQf", keys, 3, rate)


FILES = {
    "000005.ldb": (bytes(100) + bytes.fromhex("57fb808b247547db"), "a LevelDB table (SSTable)"),
    "000007.sst": (bytes(100) + bytes.fromhex("f7cff485b741e288"), "a RocksDB table (SSTable)"),
    "data.orc": (b"ORC\x0a\x0b\0\1\2" + bytes(60) + b"ORC\x17", "an ORC file"),
    "seen.pickle": (b"\x80\x04\x95\x40\0\0\0\0\0\0\0\x8c\x14pybloom_live.pybloom\x94\x8c\x0bBloomFilter\x94\x93.",
                    "a pickle of pybloom"),
    "list.pickle": (pickle.dumps(["a", "b"], protocol=4), "a pickle of Python"),
    "seen.pybloom": (pybloom(), "a filter of pybloom"),
    "seen.scalable": (struct.pack("<idQdlQ", 2, 0.9, 100, 0.001, 1, len(pybloom())) + pybloom(),
                      "a scalable filter of pybloom"),
    "seen.blm": (pyprobables(), "a filter of pyprobables"),
    "ids.roaring": (struct.pack("<IIHHI", 12346, 1, 0, 2, 16) + struct.pack("<HHH", 1, 5, 9), "a Roaring bitmap"),
    "commit-graph": (b"CGPH\1\1\4\0" + bytes(60), "a commit-graph of git"),
    "fltr00000.dat": (bytes(range(1, 200)), "a file of BIP 158's block filters"),
    "seen.rbloom": (struct.pack("<Q", 7) + bytes([0x5a]) * 1200, "perhaps a filter of rbloom"),
}


@pytest.mark.parametrize("name", FILES)
def test_it_is_refused_by_name(run, tmp_path, name):
    content, what = FILES[name]
    (tmp_path / name).write_bytes(content)
    for verb in (("check", name), ("info", name), ("merge", "-o", "x", name, name), ("convert", "-o", "x", name)):
        run(*verb, input=b"key\n").refused(f"{name}: this is {what}")
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("name", [name for name in FILES if name != "seen.rbloom"])
def test_verbs_for_our_own_filters_name_it_too(run, tmp_path, name):
    content, what = FILES[name]
    (tmp_path / name).write_bytes(content)
    run("add", name, input=b"key\n").refused(f"{name}: this is {what}")


def test_git_writes_such_a_file(run, tmp_path):
    git = ["git", "-C", tmp_path, "-c", "user.name=x", "-c", "user.email=x@example.org"]
    for args in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "x"],
                 ["commit-graph", "write", "--reachable", "--changed-paths"]):
        subprocess.run([*git, *args], check=True, capture_output=True)
    run("info", ".git/objects/info/commit-graph").refused("a commit-graph of git", "git log -- PATH")
    run("build", "-o", "x", ".git/objects/info/commit-graph").refused("this is a commit-graph of git, and keys are read")


def test_our_own_and_texts_are_none_of_them(run, tmp_path):
    (tmp_path / "words").write_text("alpha\nbeta\n" * 100)
    run("info", "words").refused("this is not a Bloomset filter")
    run("add", "words", input=b"x\n").refused("this is not a Bloomset filter")
    run("build", "-q", "-o", "f", "words").ok()
    run("info", "f").ok()
