"""Keys are hashed as the command line and C++ hash them, one by one and in batches of any form."""

import array
import decimal
import fractions
import uuid

import bloomset
import numpy
import pytest
from conftest import every_kind, having

WORDS = ["ann", "Zoë", "", "名前", "\U0001f600", "a\nb", "x" * 1000]
NUMBERS = [0, 1, -1, 255, -128, 2**31, -2**31, 2**63 - 1, -2**63, 2**64 - 1]


def word(number):
    """The eight bytes that stand for a number."""
    return (number % 2**64).to_bytes(8, "little")


@every_kind
@pytest.mark.parametrize("here", ["built here", "built there"])
def test_files_are_shared_with_the_command_line(cls, here, run, tmp_path):
    lines = [w for w in WORDS if w and "\n" not in w]  # an empty line has no key
    path = tmp_path / "f.bloom"
    (tmp_path / "lines").write_text("".join(w + "\n" for w in lines))
    if here == "built here":
        cls.build(lines, fpr=1e-6).save(path)
    else:
        run("build", "-o", path, "--kind", cls.kind, "--fpr", "1e-6", "lines")
    opened = bloomset.open(path)
    assert type(opened) is cls
    assert opened.contains(lines).all()
    assert not opened.contains([w + "!" for w in lines]).any()
    assert run("check", "-c", path, "lines") == f"{len(lines)}\n"
    assert run("check", "-c", path, input="ann!\n") == "0\n"
    if issubclass(cls, bloomset.Insertable):
        again = cls.build(lines, capacity=len(lines), fpr=1e-6)
        assert again == opened


def test_numbers_are_the_command_lines_hexadecimal_words(run, tmp_path):
    f = bloomset.BlockedBloom.build(NUMBERS, fpr=1e-6)
    f.save(tmp_path / "f.bloom")
    lines = "".join(word(n).hex() + "\n" for n in NUMBERS)
    assert run("check", "f.bloom", "--keys", "hex", input=lines) == lines
    run("build", "-o", "g.bloom", "--keys", "hex", "--fpr", "1e-6", input=lines)
    g = bloomset.open(tmp_path / "g.bloom")
    assert all(n in g and word(n) in g for n in NUMBERS)
    # The digits are another key, and so is a line of them.
    assert "1" not in g and b"255" not in g
    assert run("check", "-c", "f.bloom", input="1\n255\n") == "0\n"


def test_one_key_in_all_its_forms():
    f = bloomset.Bloom(1000, 1e-9)
    f.add("Zoë")
    raw = "Zoë".encode()
    for same in (raw, bytearray(raw), memoryview(raw), numpy.str_("Zoë"), numpy.bytes_(raw)):
        assert same in f
    f.add(-2)
    for same in (word(-2), numpy.int8(-2), numpy.int64(-2), 2**64 - 2, numpy.uint64(2**64 - 2)):
        assert same in f
    assert "zoë" not in f and -3 not in f
    number = uuid.UUID("12345678-9abc-def0-0fed-cba987654321")
    f.add(number)
    assert number in f and number.bytes in f and bytes.fromhex("123456789abcdef00fedcba987654321") in f
    assert str(number) not in f and number.bytes_le not in f
    assert f.contains([number, uuid.UUID(int=5)]).tolist() == [True, False]
    assert f.contains(numpy.array([number], object)).all()


@pytest.mark.parametrize("wrong", [None, True, 1.0, 2.5, [1], ("a",), {}, numpy.float64(1),
                                   numpy.bool_(True), numpy.array([1, 2]), decimal.Decimal(1),
                                   fractions.Fraction(1, 2), object()], ids=repr)
def test_what_is_no_key(wrong):
    f = bloomset.Cuckoo(100)
    for use in (f.__contains__, f.add, f.discard, f.count, lambda key: f.update([key]),
                lambda key: f.contains([key])):
        with pytest.raises(TypeError, match="a key is str, bytes, int or UUID, not"):
            use(wrong)
    assert not f


@pytest.mark.parametrize("wrong", [2**64, -2**63 - 1, 10**100, "\ud800"], ids=ascii)
def test_keys_out_of_range(wrong):
    f = bloomset.Bloom(100)
    for use in (f.__contains__, f.add, lambda key: f.update([key]), lambda key: f.contains([key])):
        with pytest.raises(ValueError):
            use(wrong)


def forms():
    """Batches in all forms, and the keys that they are, one by one."""
    codes = "bBhHiIlLqQ"
    for code in codes:
        least, most = (0, 100) if code.isupper() else (-100, 100)
        yield f"array {code}", array.array(code, range(least, most)), range(least, most)
    for kind in ("i1", "u1", "<i2", ">i2", "<u4", ">i4", "<i8", ">i8", "<u8", ">u8"):
        info = numpy.iinfo(kind)
        values = [int(n) for n in (info.min, info.max, 0, 1, 100)]
        yield f"numpy {kind}", numpy.array(values, kind), values
    numbers = numpy.arange(-5000, 15000)
    yield "many", numbers, numbers.tolist()
    yield "strided", numbers[::3], numbers[::3].tolist()
    yield "backwards", numbers[::-7], numbers[::-7].tolist()
    yield "a column", numbers.reshape(100, 200)[:, 3], numbers.reshape(100, 200)[:, 3].tolist()
    yield "read-only", numpy.frombuffer(numbers.tobytes(), "i8"), numbers.tolist()
    for kind in ("i8", "f8", "?", "c16", "S1", "U1", "V4", object):
        yield f"no elements of {kind}", numpy.array([], kind), []
    yield "empty, as NumPy makes it of a list", numpy.array([]), []
    yield "no numbers of array.array", array.array("d"), []
    texts = [w for w in WORDS]
    yield "U", numpy.array(texts), texts
    yield "big-endian U", numpy.array(texts).astype(">U1000"), texts
    yield "strided U", numpy.array(texts)[::-2], texts[::-2]
    yield "many U", numpy.array([f"{i} ö" for i in range(10_000)]), [f"{i} ö" for i in range(10_000)]
    encoded = [t.encode() for t in texts] + [b"\xff\x00\x01"]
    yield "S", numpy.array(encoded), encoded
    yield "S, padded", numpy.array(encoded, "S2000"), encoded
    mixed = ["ann", b"bob", 7, numpy.int32(-7), bytearray(b"cid"), memoryview(b"dan")]
    yield "objects", numpy.array(mixed, object), mixed
    yield "list", mixed, mixed
    yield "tuple", tuple(texts), texts
    yield "set", {"a", "b"}, ["a", "b"]
    yield "dict", {"a": 1, "b": 2}, ["a", "b"]
    yield "generator", (str(i) for i in range(9000)), [str(i) for i in range(9000)]
    yield "range", range(9000), list(range(9000))
    yield "empty", [], []


@pytest.mark.parametrize("name, batch, keys", forms(), ids=lambda value: value if isinstance(value, str) else "")
def test_batches_are_their_keys(name, batch, keys):
    one_by_one, at_once = bloomset.Bloom(20_000, 1e-9), bloomset.Bloom(20_000, 1e-9)
    fresh = sum(one_by_one.add(key) for key in keys)
    if name == "generator":
        batch = list(batch)
        assert at_once.update(key for key in batch) == fresh
        assert at_once.contains(key for key in batch).all()
    else:
        assert at_once.update(batch) == fresh
    assert at_once == one_by_one and at_once.info()["count"] == fresh
    answers = at_once.contains(batch)
    assert answers.dtype == bool and answers.shape == (len(keys),) and answers.all()
    assert not bloomset.Bloom(1).contains(batch).any()
    answers[:] = False  # the caller's own


@pytest.mark.parametrize("cls", having(bloomset.Countable), ids=lambda cls: cls.kind)
def test_batches_of_all_operations(cls):
    keys = numpy.arange(3000)
    f = cls.build(numpy.concatenate([keys, keys[:1000]]), capacity=8000, fpr=1e-6)
    counts = f.counts(keys)
    assert counts.dtype == numpy.uint64 and counts.tolist() == [2] * 1000 + [1] * 2000
    assert f.difference_update(keys) == 3000
    assert f.counts(keys).tolist() == [1] * 1000 + [0] * 2000
    assert f.difference_update(keys[:1000]) == 1000 and not f


@pytest.mark.parametrize("code", "iIqQ")
def test_arrows_offsets(code):
    data = "".join(WORDS).encode()
    ends = [0]
    for w in WORDS:
        ends.append(ends[-1] + len(w.encode()))
    f = bloomset.Bloom(100, 1e-9)
    assert f.update(data, offsets=array.array(code, ends)) == len(WORDS)
    assert f == bloomset.Bloom.build(WORDS, capacity=100, fpr=1e-9)
    assert f.contains(numpy.frombuffer(data, "u1"), offsets=numpy.array(ends, "i4")).all()
    # A slice of Arrow's array begins further on in the same data.
    assert f.contains(data, offsets=numpy.array(ends[2:5], "i8")).all()
    assert len(f.contains(data, offsets=array.array(code, [3]))) == 0
    assert f.contains(data, offsets=numpy.array(ends, "i4")[::2]).tolist() == [
        "".join(WORDS[i:i + 2]) in f for i in range(0, len(WORDS) - 1, 2)]
    g = bloomset.Ribbon.build(data, offsets=array.array(code, ends), fpr=1e-6)
    assert all(w in g for w in WORDS)


@pytest.mark.parametrize("wrong", [
    numpy.ma.array([1, 2, 3], mask=[0, 1, 0]), numpy.ma.array([1, 2, 3]),
    numpy.ma.array(["ann", "bob"], mask=[0, 1]), numpy.ma.array([1, "a"], dtype=object),
], ids=repr)
def test_masked_arrays_are_refused(wrong):
    f = bloomset.VectorQuotient(100)
    uses = [f.contains, f.update, f.difference_update, f.counts, bloomset.Bloom.build, bloomset.Ribbon.build,
            lambda keys: f.update(b"abc", offsets=keys), lambda data: f.update(data, offsets=numpy.array([0, 1]))]
    for use in uses:
        with pytest.raises(TypeError, match=r"masked .* array.compressed\(\)"):
            use(wrong)
    assert not f
    with pytest.raises(TypeError):
        f.add(numpy.ma.masked)
    with pytest.raises(TypeError):
        f.add(numpy.ma.array(5, mask=True))
    assert f.update(wrong.compressed()) == len(wrong.compressed())


@pytest.mark.parametrize("offsets, sentence", [
    ([0, 4, 3], r"offsets\[2\] is 3"),
    ([0, 11], r"offsets\[1\] is 11: .* 10 bytes"),
    ([-1, 3], r"offsets\[0\] is -1"),
    ([], "one more than there are keys"),
])
def test_wrong_offsets(offsets, sentence):
    f = bloomset.Bloom(100)
    with pytest.raises(ValueError, match=sentence):
        f.update(b"0123456789", offsets=array.array("q", offsets))
    assert not f


@pytest.mark.parametrize("wrong, sentence", [
    ("ann", "str is one key"),
    (b"ann", "bytes is one key"),
    (bytearray(b"ann"), "bytearray is one key"),
    (5, "not iterable"),
    (None, "not iterable"),
    (numpy.array([1.5]), "an array of float64 has no keys"),
    (numpy.array([1.5], ">f4"), "an array of float32 has no keys"),
    (numpy.array([True]), "an array of bool has no keys"),
    (numpy.array([1j]), "an array of complex128 has no keys"),
    (numpy.zeros((2, 2), int), "2 dimensions"),
    (numpy.array(5), "one element without a dimension"),
    (numpy.array(["2026-01-01"], "M8[D]"), "cannot be read as keys"),
    (numpy.zeros(2, [("a", int), ("b", int)]), "format"),
], ids=str)
def test_what_is_no_batch(wrong, sentence):
    f = bloomset.Bloom(100)
    for use in (f.update, f.contains):
        with pytest.raises(TypeError, match=sentence):
            use(wrong)


def test_text_that_is_none():
    lone = numpy.array([0xD800], "u4").view("U1")
    beyond = numpy.array([0x110000], "u4").view("U1")
    for wrong in (lone, beyond):
        with pytest.raises(ValueError, match="element 0 is not text"):
            bloomset.Bloom(100).update(wrong)


def test_an_iterable_that_fails_is_not_swallowed():
    def failing():
        yield "ann"
        raise LookupError("no more")

    with pytest.raises(LookupError, match="no more"):
        bloomset.Bloom(100).update(failing())
