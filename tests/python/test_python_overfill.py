"""Filters with more keys than they were planned for say so."""

import copy
import pickle
import warnings

import bloomset
import numpy
import pytest
from conftest import INSERTABLE, having

#: Kinds that take any number of keys, at a rising rate.
RISING = [bloomset.BlockedBloom, bloomset.Bloom, bloomset.CountingBloom]
rising = pytest.mark.parametrize("cls", RISING, ids=lambda cls: cls.kind)


@pytest.fixture(autouse=True)
def every_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        yield


@rising
@pytest.mark.parametrize("how", ["one by one", "a batch", "batches"])
def test_a_filter_warns_once(cls, how):
    f = cls(1000)
    with pytest.warns(bloomset.OverfilledWarning, match="planned for 1,000 keys, and its rate is") as caught:
        if how == "one by one":
            for i in range(5000):
                f.add(i)
        else:
            for keys in [range(5000)] if how == "a batch" else numpy.arange(5000).reshape(50, -1):
                f.update(keys)
    assert len(caught) == 1 and caught[0].filename == __file__
    assert f.info()["overfilled"] and repr(f).endswith(" bytes, overfilled>")
    assert f.contains(range(5000)).all()


@rising
def test_it_warns_soon(cls):
    f = cls(1000, fpr="20%")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert f.update(range(900)) and not f.info()["overfilled"]
        with pytest.raises(bloomset.OverfilledWarning):
            for i in range(1000, 1600):
                f.add(i)
    assert i in f and "overfilled" in repr(f)


@pytest.mark.parametrize("cls", INSERTABLE, ids=lambda cls: cls.kind)
def test_no_filter_within_its_capacity_warns(cls):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for n in (1, 7, 300, 20_000):
            f = cls.build(range(n))
            f.update(list(range(n)) * 3 if not issubclass(cls, bloomset.Countable) else [])
            f = cls(n)
            for i in range(min(n, 300)):
                f.add(i)
            assert not f.info()["overfilled"] and "overfilled" not in repr(f)


@pytest.mark.parametrize("cls", [bloomset.ScalableBloom, bloomset.Expandable], ids=lambda cls: cls.kind)
def test_filters_that_grow_are_never_overfilled(cls):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        f = cls(100, strict=True)
        f.update(range(100_000))
        assert not f.info()["overfilled"]


@pytest.mark.parametrize("make", [
    lambda: bloomset.Bloom.build(range(9000), capacity=1000), lambda: half(0) | half(1),
    lambda: half(0).__ior__(half(1))], ids=["build", "union", "in place"])
def test_the_warning_names_the_callers_line(make):
    with pytest.warns(bloomset.OverfilledWarning) as caught:
        f = make()
    assert [w.filename for w in caught] == [__file__] and f.info()["overfilled"]


def half(i):
    return bloomset.Bloom.build(range(1000 * i, 1000 * i + 1000), capacity=1000)


def test_an_opened_filter_shows_it_and_warns_when_it_gets_more(tmp_path, run):
    run("build", "-q", "-o", "f.bloom", "--capacity", "1000", input="".join(f"{i}\n" for i in range(9000)))
    assert bloomset.info(tmp_path / "f.bloom")["overfilled"]
    f = bloomset.open(tmp_path / "f.bloom", mmap=False)
    assert "overfilled" in repr(f) and "overfilled" in repr(bloomset.open(tmp_path / "f.bloom"))
    with pytest.warns(bloomset.OverfilledWarning):
        f.update(range(1000))


@rising
@pytest.mark.parametrize("how", ["one by one", "a list", "an array"])
def test_a_strict_filter_refuses(cls, how):
    f = cls(1000, strict=True)
    with pytest.raises(bloomset.FullError, match="overfilled: it was planned for 1,000 keys") as caught:
        if how == "one by one":
            for i in range(5000):
                f.add(i)
        else:
            f.update(list(range(5000)) if how == "a list" else numpy.arange(5000))
    contained = i + 1 if how == "one by one" else caught.value.contained
    assert 1000 <= contained < 1300 and f.contains(range(contained)).all()
    assert f.current_fpr() < 0.08
    before = f.copy()
    for more in (lambda: f.add("more"), lambda: f.update(["more"])):
        with pytest.raises(bloomset.FullError, match="overfilled") as caught:
            more()
        assert caught.value.contained == 0
    assert f == before
    f.clear()
    assert f.update(range(900)) > 880


def test_a_strict_build_is_refused_and_not_made_larger():
    with pytest.raises(bloomset.FullError, match="it was planned for 53 keys") as caught:
        bloomset.BlockedBloom.build(range(53), seed=2, strict=True)
    assert caught.value.reason == "overfilled"
    with pytest.raises(bloomset.FullError) as caught:
        bloomset.Cuckoo(100).update(range(10_000))
    assert caught.value.reason == "full"
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.args, again.contained, again.reason) == (caught.value.args, caught.value.contained, "full")


def test_a_strict_filter_takes_keys_again_after_some_were_discarded():
    f = bloomset.CountingBloom(1000, strict=True)
    with pytest.raises(bloomset.FullError) as caught:
        f.update(range(5000))
    f.difference_update(range(500))
    assert f.update(range(10_000, 10_200)) > 190
    assert caught.value.contained > 1000


def test_a_strict_union_is_refused_as_a_whole():
    f, g = half(0), half(1)
    f.strict = True
    before = f.copy()
    for unite in (lambda: f | g, lambda: f.__ior__(g)):
        with pytest.raises(bloomset.FullError, match="overfilled") as caught:
            unite()
        assert caught.value.contained == 0 and f == before
    f |= bloomset.Bloom.build(range(100), capacity=1000)
    assert f == before


def test_strict_is_kept_by_copies_and_pickle_and_not_in_files():
    f = bloomset.BlockedBloom.build(range(100), capacity=1000, foldable="yes", strict=True)
    for other in (f.copy(), copy.copy(f), copy.deepcopy(f), pickle.loads(pickle.dumps(f)), f | f, f & f, f.fold()):
        assert other.strict
    assert not bloomset.from_bytes(f.to_bytes()).strict and not bloomset.Bloom(1).strict
    f.strict = False
    assert not f.copy().strict


@pytest.mark.parametrize("cls", having(bloomset.Deletable), ids=lambda cls: cls.kind)
def test_keys_that_come_and_go_do_not_warn(cls):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        f = cls.build(range(950), capacity=1000)
        for i in range(2000):
            assert f.discard(i)
            f.add(i + 950)
