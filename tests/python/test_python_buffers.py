"""Objects that lend their memory by the buffer protocol, in every form that PEP 3118 allows."""

import array
import ctypes

import bloomset
import numpy
import pytest

PYTHON = ctypes.pythonapi
Shape = ctypes.POINTER(ctypes.c_ssize_t)


class View(ctypes.Structure):
    """Py_buffer."""
    _fields_ = [("buf", ctypes.c_void_p), ("obj", ctypes.py_object), ("len", ctypes.c_ssize_t),
                ("itemsize", ctypes.c_ssize_t), ("readonly", ctypes.c_int), ("ndim", ctypes.c_int),
                ("format", ctypes.c_char_p), ("shape", Shape), ("strides", Shape), ("suboffsets", Shape),
                ("internal", ctypes.c_void_p)]


class Slot(ctypes.Structure):
    _fields_ = [("slot", ctypes.c_int), ("function", ctypes.c_void_p)]


class Spec(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("basicsize", ctypes.c_int), ("itemsize", ctypes.c_int),
                ("flags", ctypes.c_uint), ("slots", ctypes.POINTER(Slot))]


kept = []


def lender(data=b"", **fields):
    """An object that lends this memory with these fields of Py_buffer, whatever they say."""
    memory = ctypes.create_string_buffer(data, max(1, len(data)))

    def numbers(name):
        given = fields.get(name)
        return None if given is None else (ctypes.c_ssize_t * len(given))(*given)

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(View), ctypes.c_int)
    def lend(self, view, flags):
        view = view.contents
        view.buf = None if fields.get("null") else ctypes.addressof(memory)
        PYTHON.Py_IncRef(ctypes.py_object(self))
        ctypes.cast(ctypes.byref(view, View.obj.offset), ctypes.POINTER(ctypes.c_void_p))[0] = id(self)
        view.len, view.itemsize = fields.get("len", len(data)), fields.get("itemsize", 1)
        view.readonly, view.ndim, view.format = 1, fields.get("ndim", 1), fields.get("format")
        for name in ("shape", "strides", "suboffsets"):
            setattr(view, name, ctypes.cast(arrays[name], Shape))
        return 0

    arrays = {name: numbers(name) for name in ("shape", "strides", "suboffsets")}
    slots = (Slot * 2)(Slot(1, ctypes.cast(lend, ctypes.c_void_p)), Slot(0, None))  # Py_bf_getbuffer
    make = PYTHON.PyType_FromSpec
    make.restype = ctypes.py_object
    made = make(ctypes.byref(Spec(b"tests.Lender", object.__basicsize__, 0, 0, slots)))()
    kept.append((memory, lend, arrays, slots))
    return made


WORDS = array.array("i", [1, -2, 3]).tobytes()


@pytest.fixture(params=["contains", "counts", "update", "difference_update", "build", "ribbon", "counter", "offsets"])
def use(request):
    """Each call that takes many keys."""
    f = bloomset.VectorQuotient.build([1, -2, 3], capacity=100, fpr=1e-6)
    return {"contains": f.contains, "counts": f.counts, "update": f.update, "difference_update": f.difference_update,
            "build": lambda keys: bloomset.Bloom.build(keys, capacity=10),
            "ribbon": bloomset.Ribbon.build, "counter": bloomset.KeyCounter().update,
            "offsets": lambda keys: f.contains(b"0123456789", offsets=keys)}[request.param]


@pytest.mark.parametrize("batch, keys", [
    ((ctypes.c_int * 3)(1, 2, 3), [1, 2, 3]),
    ((ctypes.c_ubyte * 3)(1, 2, 255), [1, 2, 255]),
    ((ctypes.c_int8 * 2)(-1, 1), [-1, 1]),
    ((ctypes.c_long * 2)(-1, 2**40), [-1, 2**40]),
    ((ctypes.c_uint64 * 1)(2**64 - 1), [2**64 - 1]),
    ((ctypes.c_short * 2)(-3, 4), [-3, 4]),
    ((ctypes.c_int * 0)(), []),
    ((ctypes.c_int.__ctype_be__ * 2)(1, -2), [1, -2]),
    ((ctypes.py_object * 2)("ann", 7), ["ann", 7]),
    (memoryview((ctypes.c_int * 3)(1, 2, 3)), [1, 2, 3]),
    (memoryview(b"\x01\x02\x03")[::-2], [3, 1]),
    (memoryview(array.array("h", [1, 2, 3, 4]))[1::2], [2, 4]),
    (memoryview(array.array("h")), []),
    (numpy.arange(10, dtype=">i2")[::-3], [9, 6, 3, 0]),
    (numpy.broadcast_to(numpy.int32(5), 4), [5, 5, 5, 5]),
    (numpy.zeros(3, "S0"), [b"", b"", b""]),
    (numpy.frombuffer(WORDS, "i4"), [1, -2, 3]),
    (numpy.frombuffer(b"\0" + WORDS, "u1")[1:].view("i4"), [1, -2, 3]),
    (lender(WORDS, format=b"i", itemsize=4, shape=[3], strides=[4]), [1, -2, 3]),
    (lender(WORDS, format=b"@i", itemsize=4, shape=[3]), [1, -2, 3]),
    (lender(WORDS, format=b"=l", itemsize=4), [1, -2, 3]),
    (lender(b"\x01\x02"), [1, 2]),
    (lender(b"annbob", format=b"3s", itemsize=3), ["ann", "bob"]),
    (lender("añ".encode("utf-32-le"), format=b"<w", itemsize=4), ["a", "ñ"]),
    (lender(null=True, shape=[0]), []),
], ids=str)
def test_arrays_of_every_form(batch, keys):
    f = bloomset.Bloom(1000, 1e-9)
    assert f.update(batch) == len(set(keys))
    assert f == bloomset.Bloom.build(keys, capacity=1000, fpr=1e-9)
    assert f.contains(batch).tolist() == [True] * len(keys)


@pytest.mark.parametrize("wrong", [
    ctypes.c_int(5), (ctypes.c_int * 2 * 2)(), (ctypes.c_double * 2)(), (ctypes.c_bool * 2)(), (ctypes.c_char * 2)(),
    (ctypes.c_wchar * 2)(), (ctypes.c_void_p * 2)(), numpy.array(5), numpy.zeros((2, 2), int), numpy.zeros(2, "f8"),
    type("Pair", (ctypes.Structure,), {"_fields_": [("a", ctypes.c_int), ("b", ctypes.c_int)]})(),
    lender(WORDS, ndim=0), lender(WORDS, ndim=2, shape=[3, 4], strides=[4, 1]),
    lender(WORDS, itemsize=4, shape=[3]),
    lender(WORDS, format=b"q", itemsize=4, shape=[3]),
    lender(WORDS, format=b"=l", itemsize=12, shape=[1]),
    lender(WORDS, format=b"3i", itemsize=12, shape=[1]),
    lender(WORDS + WORDS[:4], format=b"2i", itemsize=8, shape=[2]),
    lender(WORDS, format=b"6s", itemsize=4, shape=[3]),
    lender(WORDS, format=b"99999999999999999999s", itemsize=4, shape=[3]),
    lender(WORDS, format=b"w", itemsize=3, shape=[4]),
    lender(WORDS, format=b"", itemsize=4, shape=[3]),
    lender(WORDS, format=b"i", itemsize=4, shape=[3], strides=[4], suboffsets=[0]),
    lender(WORDS, format=b"i", itemsize=4, shape=[-3]),
    lender(WORDS, format=b"i", itemsize=4, shape=[2**61]),
    lender(WORDS, format=b"i", itemsize=4, shape=[300]),
    lender(WORDS, format=b"i", itemsize=-4, shape=[-3]),
    lender(WORDS, format=b"i", itemsize=0),
    lender(WORDS, format=b"i", itemsize=4, null=True),
], ids=str)
def test_memory_that_has_no_keys_is_refused(use, wrong):
    with pytest.raises((TypeError, ValueError)) as caught:
        use(wrong)
    assert len(str(caught.value)) > 20


def test_what_offsets_and_their_data_are():
    f = bloomset.Bloom.build(["ab", "c"])
    assert f.contains(b"abc", offsets=(ctypes.c_int * 3)(0, 2, 3)).all()
    assert f.contains((ctypes.c_char * 3)(*b"abc"), offsets=array.array("i", [0, 2, 3])).all()
    for data in ("abc", numpy.zeros(6, "u1")[::2], 5):
        with pytest.raises(TypeError, match="contiguous bytes"):
            f.contains(data, offsets=array.array("i", [0, 1]))
    with pytest.raises(TypeError, match="offsets are an array"):
        f.contains(b"abc", offsets=[0, 2, 3])


def test_filters_and_single_keys_in_lent_memory():
    f = bloomset.Bloom.build([1, 2, 3])
    data = f.to_bytes()
    assert bloomset.from_bytes((ctypes.c_char * len(data)).from_buffer_copy(data)) == f
    assert bloomset.from_bytes(numpy.frombuffer(data + data, "u1").reshape(2, -1)[0]) == f
    assert memoryview((ctypes.c_int64 * 1)(2)) in f
    for wrong in (ctypes.c_int(5), (ctypes.c_int * 1)(5), lender(b"ann")):
        with pytest.raises(TypeError, match="a key is"):
            f.add(wrong)
