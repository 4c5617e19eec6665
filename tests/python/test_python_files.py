"""Files and bytes: saved, mapped, loaded, damaged."""

import os
import pathlib
import pickle
import re

import bloomery
import pytest

MEMBERS = [f"member {i}" for i in range(500)]
every_kind = pytest.mark.parametrize("cls", bloomery.KINDS.values(), ids=bloomery.KINDS)


@every_kind
def test_saved_and_opened(cls, tmp_path):
    f = cls.build(MEMBERS)
    for path in (tmp_path / "f.bloom", str(tmp_path / "g.bloom"), os.fsencode(tmp_path / "ü.bloom")):
        f.save(path)
        for opened in (bloomery.open(path), bloomery.open(path, mmap=False),
                       bloomery.open(path, verify=True), bloomery.open(path, verify=False)):
            assert type(opened) is cls and opened == f
            assert opened.contains(MEMBERS).all()
            assert opened.info() == {**f.info(), "can": opened.info()["can"]}
        assert pathlib.Path(os.fsdecode(path)).read_bytes() == f.to_bytes()


@every_kind
def test_a_mapped_filter_is_not_changed_but_its_copy_is(cls, tmp_path):
    path = tmp_path / "f.bloom"
    f = cls.build(MEMBERS, capacity=2000)
    f.save(path)
    mapped = bloomery.open(path)
    if not issubclass(cls, bloomery.Insertable):
        return
    changes = [lambda g: g.add("x"), lambda g: g.update(["x"]), lambda g: g.clear()]
    if issubclass(cls, bloomery.Deletable):
        changes += [lambda g: g.discard("member 1"), lambda g: g.difference_update(MEMBERS)]
    if issubclass(cls, bloomery.Mergeable):
        changes += [lambda g: g.__ior__(f)]
    if issubclass(cls, bloomery.Intersectable):
        changes += [lambda g: g.__iand__(f)]
    for change in changes:
        with pytest.raises(TypeError, match=f"kind {cls.kind}, opened read-only, .*mmap=False"):
            change(mapped)
        for writable in (mapped.copy(), bloomery.open(path, mmap=False)):
            change(writable)
    assert mapped == f and bloomery.open(path, verify=True) == f
    assert pickle.loads(pickle.dumps(mapped)) == f
    if issubclass(cls, bloomery.Mergeable):
        assert type(mapped | mapped) is cls


def test_a_mapped_filter_outlives_its_file(tmp_path):
    path = tmp_path / "f.bloom"
    bloomery.Bloom.build(MEMBERS).save(path)
    mapped = bloomery.open(path)
    bloomery.Bloom.build(["other"]).save(path)  # replaced, not written into
    assert mapped.contains(MEMBERS).all()
    path.unlink()
    assert mapped.contains(MEMBERS).all()


def test_files_that_are_not_there_or_not_to_be_replaced(tmp_path):
    f = bloomery.Bloom.build(MEMBERS)
    with pytest.raises(FileNotFoundError, match="no.bloom"):
        bloomery.open(tmp_path / "no.bloom")
    f.save(tmp_path / "f.bloom")
    with pytest.raises(FileExistsError, match="f.bloom"):
        bloomery.Bloom(1).save(tmp_path / "f.bloom", replace=False)
    assert bloomery.open(tmp_path / "f.bloom") == f
    with pytest.raises(OSError):
        f.save(tmp_path / "no folder" / "f.bloom")
    with pytest.raises(OSError):
        bloomery.open(tmp_path)
    for wrong in (None, 5, ["f"]):
        with pytest.raises(TypeError):
            bloomery.open(wrong)
    with pytest.raises(ValueError):
        bloomery.open("a\0b")


@every_kind
def test_damaged_bytes_are_refused(cls, tmp_path):
    good = cls.build(MEMBERS).to_bytes()
    path = tmp_path / "f.bloom"
    every = range(0, len(good), max(1, len(good) // 60))
    for bad in [b"", good[:63], good[:-1], good + b"\0", b"x" * 200,
                *(good[:at] + bytes([good[at] ^ 4]) + good[at + 1:] for at in every)]:
        with pytest.raises(ValueError) as caught:
            bloomery.from_bytes(bad)
        path.write_bytes(bad)
        for mmap in (True, False):
            with pytest.raises(ValueError, match=re.escape(str(path))):
                bloomery.open(path, mmap=mmap)
        assert 20 < len(str(caught.value)) < 300


def test_bytes_of_another_kind_or_of_none():
    data = bloomery.Cuckoo.build(MEMBERS).to_bytes()
    assert bloomery.Cuckoo.from_bytes(bytearray(data)) == bloomery.Filter.from_bytes(memoryview(data))
    assert type(bloomery.Deletable.from_bytes(data)) is bloomery.Cuckoo
    with pytest.raises(ValueError, match="kind cuckoo, not Bloom"):
        bloomery.Bloom.from_bytes(data)
    for wrong in ("text", None, 5):
        with pytest.raises(TypeError):
            bloomery.from_bytes(wrong)
