"""Ctrl-C and other signals reach a batch of any size. Without that the calls of this file would last for minutes, or
for ever."""

import itertools
import os
import signal
import threading

import bloomset
import numpy
import pytest
from conftest import INSERTABLE, STATIC, having
from signals import interrupt

#: One key again and again, in the memory of one.
NUMBERS = numpy.broadcast_to(numpy.int64(7), 10**11)
TEXTS = numpy.broadcast_to(numpy.array(["x" * 50]), 10**10)
LONG = numpy.broadcast_to(numpy.array([b"x" * 100_000]), 10**9)


def endless():
    return itertools.repeat("ann")


BATCHES = pytest.mark.parametrize("keys", [NUMBERS, TEXTS, LONG, endless()], ids=["numbers", "texts", "long", "iterator"])


@BATCHES
@pytest.mark.parametrize("cls", [cls for cls in INSERTABLE if cls is not bloomset.Cuckoo],  # which holds 8 copies
                         ids=lambda cls: cls.kind)
def test_update(cls, keys):
    f = cls(1_000_000)
    interrupt(lambda: f.update(keys))


@pytest.mark.parametrize("use", ["contains", "counts", "difference_update"])
@pytest.mark.parametrize("cls", having(bloomset.Countable), ids=lambda cls: cls.kind)
def test_other_batches(cls, use):
    f = cls.build(["ann"])
    interrupt(lambda: getattr(f, use)(endless()))
    interrupt(lambda: getattr(f, use)(LONG[:10**7]))
    assert "ann" in f or use == "difference_update"


@pytest.mark.parametrize("keys", [NUMBERS, LONG, endless()], ids=["numbers", "long", "iterator"])
@pytest.mark.parametrize("make", [bloomset.Ribbon.build, bloomset.Fuse.build, bloomset.KeyCounter().update],
                         ids=["ribbon", "fuse", "counter"])
def test_keys_of_a_build(make, keys):
    interrupt(lambda: make(keys))


def test_keys_whose_number_is_not_known():
    interrupt(lambda: bloomset.Bloom.build(endless()))


@pytest.mark.parametrize("cls", STATIC, ids=lambda cls: cls.kind)
def test_the_build_itself(cls):
    """Handlers that raise nothing run again and again after the last key was read: without breaks, once."""
    read, calls = [], []
    before = signal.signal(signal.SIGALRM, lambda *_: calls.extend(read))

    def keys(n):
        yield from range(n)
        read.append(n)

    try:
        for n in (2_000_000 << i for i in range(5)):
            read.clear(), calls.clear()
            signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
            f = cls.build(keys(n))
            signal.setitimer(signal.ITIMER_REAL, 0)
            assert f.contains(range(1000)).all()
            if len(calls) > 2:
                break
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert len(calls) > 2


@pytest.mark.parametrize("cls", INSERTABLE, ids=lambda cls: cls.kind)
def test_keys_inserted_so_far_stay(cls):
    f = cls(3_000_000)
    while not f:  # the signal may arrive before the first batch
        interrupt(lambda: f.update(itertools.count()))
    inserted = f.info()["count"]
    assert inserted > 0 and f.contains(range(inserted)).all() and not f.info()["overfilled"]
    interrupt(lambda: f.contains(NUMBERS[:10**10]))
    assert f.info()["count"] == inserted


def test_a_handler_may_use_the_filter():
    f = bloomset.VectorQuotient(1000)
    for use in (lambda: f.contains(LONG[:10**6]), lambda: f.difference_update(LONG)):
        interrupt(use, lambda: f.add("of the handler"))
    assert f.count("of the handler") == 2


def test_ctrl_c():
    f = bloomset.BlockedBloom(1000)
    while 7 not in f:
        threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            f.update(NUMBERS)


def test_a_batch_of_another_thread_is_one_step():
    """Signals are of the main thread, so that no other needs breaks: others see all of a batch or nothing."""
    f = bloomset.BlockedBloom(10_000_000)
    keys = numpy.arange(10_000_000)
    writer = threading.Thread(target=f.update, args=[keys])
    writer.start()
    counts = set()
    while writer.is_alive():
        counts.add(f.info()["count"])
    assert counts <= {0, f.info()["count"]} and f.contains(keys).all()
