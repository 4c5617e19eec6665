"""Files and bytes: saved, mapped, loaded, damaged."""

import copy
import errno
import os
import pathlib
import pickle
import re
import subprocess
import sys

import bloomset
import pytest
from conftest import ONE_SET, WITH_PACKAGE, every_kind

MEMBERS = [f"member {i}" for i in range(500)]


@every_kind
def test_saved_and_opened(cls, tmp_path):
    f = cls.build(MEMBERS)
    for path in (tmp_path / "f.bloom", str(tmp_path / "g.bloom"), os.fsencode(tmp_path / "ü.bloom")):
        f.save(path)
        for opened in (bloomset.open(path), bloomset.open(path, mmap=False),
                       bloomset.open(path, verify=True), bloomset.open(path, verify=False)):
            assert type(opened) is cls and opened == f
            assert opened.contains(MEMBERS).all()
            assert opened.info() == {**f.info(), "can": opened.info()["can"]}
        assert pathlib.Path(os.fsdecode(path)).read_bytes() == f.to_bytes()


@every_kind
def test_a_mapped_filter_is_not_changed_but_its_copy_is(cls, tmp_path):
    path = tmp_path / "f.bloom"
    f = cls.build(MEMBERS, capacity=2000)
    f.save(path)
    mapped = bloomset.open(path)
    if not issubclass(cls, bloomset.Insertable):
        return
    changes = [lambda g: g.add("x"), lambda g: g.update(["x"]), lambda g: g.clear()]
    if issubclass(cls, bloomset.Deletable):
        changes += [lambda g: g.discard("member 1"), lambda g: g.difference_update(MEMBERS)]
    if issubclass(cls, bloomset.Mergeable):
        changes += [lambda g: g.__ior__(f)]
    if issubclass(cls, bloomset.Intersectable):
        changes += [lambda g: g.__iand__(f)]
    for change in changes:
        with pytest.raises(TypeError, match=f"kind {cls.kind}, opened read-only, .*mmap=False"):
            change(mapped)
        for writable in (mapped.copy(), bloomset.open(path, mmap=False)):
            change(writable)
    assert mapped == f and bloomset.open(path, verify=True) == f
    assert pickle.loads(pickle.dumps(mapped)) == f
    if issubclass(cls, bloomset.Mergeable):
        assert type(mapped | mapped) is cls


def test_a_mapped_filter_outlives_its_file(tmp_path):
    path = tmp_path / "f.bloom"
    bloomset.Bloom.build(MEMBERS).save(path)
    mapped = bloomset.open(path)
    bloomset.Bloom.build(["other"]).save(path)  # replaced, not written into
    assert mapped.contains(MEMBERS).all()
    path.unlink()
    assert mapped.contains(MEMBERS).all()


def test_what_is_no_name_is_refused():
    for wrong in (None, 5, ["f"]):
        with pytest.raises(TypeError):
            bloomset.open(wrong)
    with pytest.raises(ValueError):
        bloomset.open("a\0b")


def refused(error, number, path):
    """The OSError is as Python's own open() has it: a class for its number, and the name as given."""
    assert (error.errno, error.filename) == (number, os.fspath(path))
    assert type(error) is type(OSError(number, "")), type(error)
    assert str(error) == f"[Errno {number}] {error.strerror}: {os.fspath(path)!r}"
    assert os.fsdecode(path) not in error.strerror
    return error.strerror


def test_os_errors_have_their_number_and_the_name(tmp_path):
    f = bloomset.Bloom.build(MEMBERS)
    there = tmp_path / "f.bloom"
    f.save(there)
    nowhere = tmp_path / "no folder" / "f.bloom"
    with pytest.raises(OSError) as caught:
        f.save(nowhere)
    assert refused(caught.value, errno.ENOENT, nowhere) == "cannot create the file: No such file or directory"
    for path in (str(tmp_path / "no.bloom"), tmp_path / "no.bloom", os.fsencode(tmp_path / "no.bloom"),
                 os.fsencode(tmp_path) + b"/\xff.bloom"):
        with pytest.raises(OSError) as caught:
            bloomset.open(path)
        assert refused(caught.value, errno.ENOENT, path) == "cannot open: No such file or directory"
    with pytest.raises(OSError) as caught:
        bloomset.Bloom(1).save(there, replace=False)
    assert bloomset.open(there) == f
    assert refused(caught.value, errno.EEXIST, there) == "the file exists already; give replace=True to replace it"
    for use in (bloomset.open, f.save):
        with pytest.raises(OSError) as caught:
            use(tmp_path)
        assert "this is a folder" in refused(caught.value, errno.EISDIR, tmp_path)
    with pytest.raises(OSError) as caught:
        bloomset.open("/proc/self/mem")
    assert refused(caught.value, errno.EIO, "/proc/self/mem") == "cannot read: Input/output error"
    with pytest.raises(OSError) as caught:
        f.save("/dev/full")
    assert refused(caught.value, errno.ENOSPC, "/dev/full") == "cannot write: No space left on device"
    with pytest.raises(OSError) as caught:
        bloomset.open(there / "f.bloom")
    refused(caught.value, errno.ENOTDIR, there / "f.bloom")
    with pytest.raises(ValueError, match=r"\udcff.bloom: this is not"):
        strange = os.fsencode(tmp_path) + b"/\xff.bloom"
        pathlib.Path(os.fsdecode(strange)).write_text("no filter")
        bloomset.open(strange)


def test_what_may_not_be_read_or_written_is_a_permission_error(tmp_path):
    secret, folder = tmp_path / "secret.bloom", tmp_path / "folder"
    bloomset.Bloom.build(MEMBERS).save(secret)
    secret.chmod(0)
    folder.mkdir(mode=0o500)
    program = """
import bloomset, errno, sys
for use in (bloomset.open, bloomset.Bloom(10).save):
    try:
        use(sys.argv.pop())
    except PermissionError as refused:
        assert refused.errno == errno.EACCES and refused.filename, refused
        print(refused.strerror)
"""
    # The superuser may do everything, unless it lays that right down.
    as_anyone = (["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else [])
    done = subprocess.run([*as_anyone, sys.executable, "-c", program, folder / "f.bloom", secret],
                          capture_output=True, text=True, timeout=60,
                          env=WITH_PACKAGE)
    assert done.stdout.splitlines() == ["cannot open: Permission denied",
                                        "cannot create the file: Permission denied"], done.stderr


def test_sentences_speak_pythons_words(tmp_path):
    """No option of the command line is named: neither in what is raised nor in what is listed."""
    sentences = [str(bloomset.kinds())]
    (tmp_path / "no.bloom").write_bytes(b"no filter" * 20)
    for call in (lambda: bloomset.open(tmp_path / "no.bloom"),
                 lambda: bloomset.Bloom(1).save(tmp_path / "no.bloom", replace=False),
                 *(lambda cls=cls, options=options: getattr(cls, "build", cls)([], **options)
                   for cls in ONE_SET.values()
                   for options in (dict(hashes=99), dict(hashes=3), dict(bits=1), dict(no=1), dict(memory="1X"),
                                   dict(capacity=5, fpr=1e-300), dict(capacity=2**60, bits=64),
                                   dict(arity=9), dict(foldable="x"), dict(layout="x"), dict(capacity=0))),
                 *(lambda kind=kind, options=options: bloomset.plan(kind=kind, **options)
                   for kind in [None, *bloomset.KINDS]
                   for options in (dict(), dict(capacity=5, hashes=3), dict(bits=8), dict(capacity=5, growing=True),
                                   dict(capacity=5, deletable=True, static=True)))):
        try:
            call()
        except (ValueError, TypeError, OSError) as refused:
            sentences.append(str(refused))
    assert len(sentences) > 60
    for sentence in sentences:
        assert not re.search(r"(?<!\w)--\w|'bloomset |--with", sentence), sentence


#: With room for one and a half further filters, and no more, a copy is made, and the bytes are. A mapped
#: filter is read as by open(mmap=False), which in kinds of several parts has both forms for a moment.
MEMORY = """
import bloomset, resource
for cls in bloomset.KINDS.values():
    if issubclass(cls, bloomset.Static):
        f = cls.build(range(300_000), fpr=1e-9)  # below 2 MiB
    elif issubclass(cls, bloomset.OfTwoSets):
        f = cls.build(range(300_000), range(900_000))
    elif cls is bloomset.ScalableBloom:
        f = cls(1000, 0.01, growth=10_000)  # its second part has room for 10 million keys
        f.update(range(1100))
    else:
        f = cls(capacity="10M")
    f.save("f.bloom")
    for filter in (f, bloomset.open("f.bloom")):
        for copy in (filter.copy, filter.to_bytes):
            used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
            parts = filter is not f and copy == filter.copy and cls in (bloomset.Expandable, bloomset.ScalableBloom)
            room = max(f.nbytes * (5 if parts else 3) // 2, 8 << 20)
            resource.setrlimit(resource.RLIMIT_AS, (used + room, resource.RLIM_INFINITY))
            made = copy()
            resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
            assert (made if isinstance(made, bytes) else made.to_bytes()) == f.to_bytes()
            del made
    print(cls.kind)
"""


def test_copies_and_bytes_need_the_memory_of_one_more_filter(tmp_path):
    done = subprocess.run([sys.executable, "-c", MEMORY], capture_output=True, text=True, timeout=300, cwd=tmp_path,
                          env={**WITH_PACKAGE, "MALLOC_MMAP_THRESHOLD_": "1048576", "MALLOC_ARENA_MAX": "1"})
    assert done.stdout.split() == list(bloomset.KINDS), done.stderr


@every_kind
def test_damaged_bytes_are_refused(cls, tmp_path):
    good = cls.build(MEMBERS).to_bytes()
    path = tmp_path / "f.bloom"
    every = range(0, len(good), max(1, len(good) // 60))
    for bad in [b"", good[:63], good[:-1], good + b"\0", b"x" * 200,
                *(good[:at] + bytes([good[at] ^ 4]) + good[at + 1:] for at in every)]:
        with pytest.raises(ValueError) as caught:
            bloomset.from_bytes(bad)
        path.write_bytes(bad)
        for mmap in (True, False):
            with pytest.raises(ValueError, match=re.escape(str(path))):
                bloomset.open(path, mmap=mmap)
        assert 20 < len(str(caught.value)) < 300


def test_bytes_of_another_kind_or_of_none():
    data = bloomset.Cuckoo.build(MEMBERS).to_bytes()
    assert bloomset.Cuckoo.from_bytes(bytearray(data)) == bloomset.Filter.from_bytes(memoryview(data))
    assert type(bloomset.Deletable.from_bytes(data)) is bloomset.Cuckoo
    with pytest.raises(ValueError, match="kind cuckoo, not Bloom"):
        bloomset.Bloom.from_bytes(data)
    for wrong in ("text", None, 5):
        with pytest.raises(TypeError):
            bloomset.from_bytes(wrong)


@every_kind
def test_a_secret_key_opens_and_nothing_else_does(cls, tmp_path):
    key, other = bloomset.new_key(), bloomset.new_key()
    assert len(key) == 16 and key != other
    f = cls.build(MEMBERS, key=key)
    assert f.contains(MEMBERS).all() and f.info()["hash"] == "siphash"
    f.save(tmp_path / "f.bloom")
    assert key not in f.to_bytes() and key[:8] not in f.to_bytes()
    for opened in (bloomset.open(tmp_path / "f.bloom", key=key), bloomset.from_bytes(f.to_bytes(), key),
                   pickle.loads(pickle.dumps(f)), f.copy()):
        assert opened == f and opened.contains(MEMBERS).all()
    assert bloomset.info(tmp_path / "f.bloom") == bloomset.open(tmp_path / "f.bloom", key=key).info()
    for wrong in (None, other):
        with pytest.raises(ValueError, match="secret key"):
            bloomset.open(tmp_path / "f.bloom", key=wrong)
        with pytest.raises(ValueError, match="secret key"):
            bloomset.from_bytes(f.to_bytes(), wrong)


def test_what_is_no_key_is_refused():
    for wrong, error in (("text", TypeError), (b"short", ValueError), (7, TypeError)):
        with pytest.raises(error, match="key"):
            bloomset.Bloom(10, key=wrong)
    with pytest.raises(ValueError, match="seed or a key"):
        bloomset.Bloom(10, seed=1, key=bloomset.new_key())


def test_siphash_is_the_one_of_python_itself():
    """CPython hashes bytes with SipHash-1-3, since 3.11, and PYTHONHASHSEED=0 means a key of zeros."""
    if sys.hash_info.algorithm != "siphash13":
        pytest.skip("this Python hashes with " + sys.hash_info.algorithm)
    code = "print(hash(b'bloomset hash key') % 2**64)"
    theirs = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": "0"},
                            capture_output=True, check=True)
    # The identifier of a key is its hash of these bytes.
    assert bloomset.Bloom(10, key=bytes(16)).info()["seed"] == int(theirs.stdout)


def test_labels_go_with_the_filter(tmp_path, run):
    f = bloomset.BlockedBloom(100)
    assert f.labels == {}
    f.labels = {"source": "Zoë", "keys": "email:lower"}
    f.add("ann@x.example")
    f.save(tmp_path / "f.bloom")
    for again in (bloomset.open(tmp_path / "f.bloom"), bloomset.open(tmp_path / "f.bloom", mmap=False), copy.copy(f),
                  pickle.loads(pickle.dumps(f))):
        assert again.labels == again.info()["labels"] == {"keys": "email:lower", "source": "Zoë"}
        assert "made by --keys email:lower" in repr(again)
    # The command line reads keys as the label says.
    assert run("check", tmp_path / "f.bloom", input="ANN@x.example\n") == "ANN@x.example\n"
    for wrong in ({"A": "b"}, {"a": ""}, {"a": "b\n"}, {"a": "x" * 5000}):
        with pytest.raises(ValueError, match="label"):
            f.labels = wrong
    for wrong in ({"a": 1}, {1: "a"}):
        with pytest.raises(TypeError, match="str to str"):
            f.labels = wrong
    assert f.labels == {"keys": "email:lower", "source": "Zoë"}


def test_a_file_with_layers_answers_as_one_filter():
    path = pathlib.Path(__file__).parents[1] / "golden" / "bloom-layers.bloom"
    added = [f"layer-{i}" for i in range(40)]
    for f in (bloomset.open(path), bloomset.open(path, mmap=False)):
        assert all(key in f for key in added) and "member-3" in f
        assert f.contains(added).all()
        assert sum(f"other-{i}" in f for i in range(1000)) < 60
        with pytest.raises(TypeError, match="layers") as caught:
            f.add("x")
        assert "mmap" not in str(caught.value)
    # Nor its labels, since its layers belong to a file with them.
    f = bloomset.open(path, mmap=False)
    with pytest.raises(Exception, match="layers"):
        f.labels = {"source": "x"}
    assert "layer-7" in bloomset.from_bytes(f.to_bytes())


def test_a_copy_of_a_mapped_filter_has_its_changes(tmp_path):
    f = bloomset.Bloom.build([f"m{i}" for i in range(1000)], fpr="3%")
    mistaken = next(f"x{i}" for i in range(1000) if f"x{i}" in f)
    f.add_exceptions([mistaken])
    f.save(tmp_path / "f")
    mapped = bloomset.open(tmp_path / "f")
    assert mapped == f and mistaken not in mapped
    mapped.remove_exceptions([mistaken])
    mapped.labels = {"source": "x"}
    copy = mapped.copy()
    assert mistaken in mapped and mistaken in copy and copy.labels == {"source": "x"}
    assert copy == mapped and copy != f
