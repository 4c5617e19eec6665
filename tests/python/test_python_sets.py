"""Filters as sets: operations of every kind, and operations of kinds with an ability."""

import array
import collections.abc
import copy
import pickle
import re

import bloomset
import pytest
from conftest import INSERTABLE, ONE_SET, STATIC, every_kind, having

ABILITIES = {"insert": "add", "erase": "discard", "count": "count", "merge": "__ior__",
             "intersect": "__iand__", "fold": "fold"}
MEMBERS = [f"member {i}" for i in range(500)]
NON_MEMBERS = [f"non-member {i}" for i in range(500)]


def of(classes):
    return pytest.mark.parametrize("cls", classes, ids=lambda cls: cls.kind)


def test_every_kind_of_the_library_has_a_class_with_its_abilities():
    assert list(bloomset.KINDS) and set(bloomset.KINDS) == set(bloomset.kinds())
    for name, known in bloomset.kinds().items():
        cls = bloomset.KINDS[name]
        assert cls.kind == name
        for ability, method in ABILITIES.items():
            assert hasattr(cls, method) == known["can"][ability], (name, method)
        assert issubclass(cls, bloomset.Static) == known["built_once"], name
        assert issubclass(cls, bloomset.OfTwoSets) == known["of_two_sets"], name
        assert getattr(bloomset, cls.__name__) is cls


@every_kind
def test_members_are_found_and_most_non_members_are_not(cls):
    f = cls.build(MEMBERS, fpr=0.01)
    assert all(key in f for key in MEMBERS)
    # 500 non-members at 1%: 30 or more have a chance below 1e-12.
    assert sum(key in f for key in NON_MEMBERS) < 30
    assert 450 < f.approx_len() < 550
    assert f.capacity == 500 and f.nbytes > 0 and bool(f)
    assert 0 < f.current_fpr() < 0.02


@of(INSERTABLE)
def test_add_says_what_was_new(cls):
    f = cls(1000, 0.01)
    assert not f and f.approx_len() == 0
    assert f.add("ann") is True
    assert f.add("ann") is False
    assert "ann" in f and "bob" not in f
    assert f.update(["ann", "bob", "cid"]) == 2
    assert f


@of(INSERTABLE)
def test_clear_leaves_the_empty_filter(cls):
    f = cls.build(MEMBERS, capacity=1000)
    f.clear()
    assert f == cls(1000) and not f and "member 1" not in f


@of(STATIC)
def test_static_kinds_are_built_once(cls):
    for arguments in [(1000,), ()]:
        with pytest.raises(TypeError, match=rf"{cls.__name__} is built once .*{cls.__name__}\.build\(keys"):
            cls(*arguments)
    with pytest.raises(TypeError, match=r"build\(keys"):
        cls(capacity=1000, fpr=0.01)
    assert not hasattr(cls, "add") and not hasattr(cls, "clear")
    assert cls.build([]).nbytes < 1000 and "a" not in cls.build([])
    assert cls.build(["a", "a", "b"]) == cls.build(["b", "a"])


@of(having(bloomset.Deletable))
def test_what_is_discarded_is_gone(cls):
    f = cls.build(["ann", "bob"], capacity=1000, fpr=1e-4)
    assert f.discard("ann") is True and f.discard("ann") is False
    f.remove("bob")
    with pytest.raises(KeyError, match="bob"):
        f.remove("bob")
    assert not f
    f.update(MEMBERS)
    assert f.difference_update(MEMBERS[:300] + NON_MEMBERS[:1]) == 300
    assert not any(key in f for key in MEMBERS[:300]) and all(key in f for key in MEMBERS[300:])


@of(having(bloomset.Countable))
def test_counts(cls):
    f = cls.build(["ann", "bob", "ann"], capacity=1000, fpr=1e-4)
    assert (f.count("ann"), f.count("bob"), f.count("cid")) == (2, 1, 0)
    assert list(f.counts(["cid", "ann", "bob"])) == [0, 2, 1]


@of(having(bloomset.Mergeable))
def test_unions(cls):
    a, b = cls.build(MEMBERS[:300], capacity=3000), cls.build(MEMBERS[200:], capacity=3000)
    before = a.copy()
    both = a | b
    assert type(both) is cls and a == before
    assert all(key in both for key in MEMBERS)
    same = a
    a |= b
    assert a is same and a == both
    a |= a
    assert all(key in a for key in MEMBERS)
    with pytest.raises(ValueError):
        a |= cls(3000, seed=5)
    with pytest.raises(ValueError, match="different kinds"):
        a | next(other for other in INSERTABLE if other is not cls)(1000)
    with pytest.raises(TypeError):
        a | {"ann"}


@of(having(bloomset.Foldable))
def test_unions_of_different_sizes(cls):
    large = cls.build(MEMBERS[:300], capacity=100_000, foldable="yes")
    small = cls.build(MEMBERS[300:], capacity=100_000, foldable="yes").fold(factor=4)
    whole = cls.build(MEMBERS, capacity=100_000, foldable="yes").fold(factor=4)
    for both in (large | small, small | large):
        assert both.nbytes == small.nbytes == whole.nbytes
        assert all(key in both for key in MEMBERS)
        assert both.approx_len() == whole.approx_len()
    before = small.copy()
    with pytest.raises(ValueError, match="largest size that divides both"):
        small |= cls.build(MEMBERS, capacity=70_001)
    assert small == before


@of(having(bloomset.Intersectable))
def test_intersections(cls):
    a, b = cls.build(MEMBERS[:300], capacity=1000), cls.build(MEMBERS[200:], capacity=1000)
    both = a & b
    assert all(key in both for key in MEMBERS[200:300])
    assert sum(key in both for key in MEMBERS[:200]) < 20
    a &= a
    assert a == cls.build(MEMBERS[:300], capacity=1000)
    a &= b
    assert a == both
    with pytest.raises(TypeError):
        a & {"ann"}


@of(having(bloomset.Foldable))
def test_folds(cls):
    f = cls.build(MEMBERS, capacity="1M", foldable="yes")
    small = f.fold()
    assert type(small) is cls and all(key in small for key in MEMBERS)
    assert small.current_fpr() <= f.info()["planned_fpr"] and small.nbytes < 900
    assert f.fold("20%").nbytes < small.nbytes and f.fold(factor=2).nbytes <= f.nbytes // 2 + 1
    with pytest.raises(bloomset.FullError, match="already above"):
        small.fold(1e-30)
    for wrong in ({"factor": 10**9 + 7}, {"factor": 0}, {"fpr": 0.1, "factor": 2}, {"fpr": 2}):
        with pytest.raises(ValueError):
            f.fold(**wrong)


@every_kind
def test_copies_are_equal_and_apart(cls):
    f = cls.build(MEMBERS)
    for other in (f.copy(), copy.copy(f), copy.deepcopy(f), pickle.loads(pickle.dumps(f)),
                  cls.from_bytes(f.to_bytes()), bloomset.from_bytes(f.to_bytes())):
        assert type(other) is cls and other == f and other is not f
    if issubclass(cls, bloomset.Insertable):
        other = f.copy()
        other.update(NON_MEMBERS[:10])
        assert other != f and f == cls.build(MEMBERS)
    assert f != cls.build(NON_MEMBERS) and f != "f" and f != set(MEMBERS)


@pytest.mark.parametrize("cls", [bloomset.Filter, bloomset.Insertable, bloomset.Deletable,
                                 bloomset.Static, bloomset.Mergeable], ids=lambda cls: cls.__name__)
def test_an_ability_is_no_kind_of_filter(cls):
    for make in (lambda: cls(1000), *([lambda: cls.build(["ann"])] if hasattr(cls, "build") else [])):
        with pytest.raises(TypeError, match=f"{cls.__name__} is not a kind .*BlockedBloom"):
            make()


def subclass_of(cls):
    """A user's class with an attribute and a slot of its own, where pickle finds it."""
    class Named(cls):
        __slots__ = ("colour", "__dict__")

    Named.__qualname__ = Named.__name__ = f"Named{cls.__name__}"
    globals()[Named.__name__] = Named
    return Named


SUBCLASSES = [subclass_of(cls) for cls in ONE_SET.values()]


@of(SUBCLASSES)
def test_subclasses_survive(cls, tmp_path):
    f = cls.build(MEMBERS)
    assert type(f) is cls and repr(f).startswith(f"<{cls.__name__}: ")
    f.name, f.colour = ["monday"], "red"
    copies = [f.copy(), copy.copy(f), copy.deepcopy(f),
              *(pickle.loads(pickle.dumps(f, protocol)) for protocol in range(2, 6))]
    if issubclass(cls, bloomset.Mergeable):
        copies.append(f | cls.__base__(capacity=len(MEMBERS)))
    if issubclass(cls, bloomset.Intersectable):
        copies.append(f & f)
    for other in copies:
        assert type(other) is cls and other is not f
        assert all(key in other for key in MEMBERS)
        assert (other.name, other.colour) == (["monday"], "red")
    assert copies[0].name is f.name and copies[2].name is not f.name  # shallow and deep
    assert type(cls.from_bytes(f.to_bytes())) is cls
    assert type(bloomset.from_bytes(f.to_bytes())) is cls.__base__
    f.save(tmp_path / "f.bloom")
    assert type(bloomset.open(tmp_path / "f.bloom")) is cls.__base__
    other_kind = next(kind for kind in bloomset.KINDS.values() if kind is not cls.__base__)
    with pytest.raises(ValueError, match=f"kind {cls.kind}, not {other_kind.__name__}"):
        other_kind.from_bytes(f.to_bytes())


def test_a_subclass_that_says_itself_what_is_pickled():
    class Counted(bloomset.Bloom):
        def __init__(self, *args, **options):
            super().__init__(*args, **options)
            self.calls = 0

        def __getstate__(self):
            return 7

        def __setstate__(self, state):
            self.calls = state

    f = Counted.build(["ann"])
    assert f.calls == 0 and copy.copy(f).calls == f.copy().calls == 7


@of(INSERTABLE)
def test_update_unions_several_batches(cls):
    f = cls(1000, 1e-6)
    assert f.update() == 0
    assert f.update(["ann", "bob"], ("cid",), {"dan"}, (w for w in ["eve", "ann"])) == 5
    assert f.contains(["ann", "bob", "cid", "dan", "eve"]).all()
    if issubclass(cls, bloomset.Deletable):
        assert f.difference_update(["ann"], ["bob", "cid"]) == 3
        assert "bob" not in f and "dan" in f


def test_offsets_are_given_by_name_and_belong_to_one_batch():
    f = bloomset.VectorQuotient(1000)
    ends = array.array("q", [0, 3, 6])
    for use in (f.contains, f.counts, bloomset.VectorQuotient.build, bloomset.Ribbon.build):
        with pytest.raises(TypeError, match="positional"):
            use(b"annbob", ends)
    for use in (f.update, f.difference_update):
        for batches in [(), (b"annbob", b"cid")]:
            with pytest.raises(TypeError, match=f"offsets .* one batch, and there are {len(batches)}"):
                use(*batches, offsets=ends)
    assert not f and f.update(b"annbob", offsets=ends) == 2


@every_kind
def test_what_a_filter_is_not(cls):
    f = cls.build(["ann"])
    with pytest.raises(TypeError, match=f"'{cls.__name__}' object is not iterable"):
        iter(f)
    assert not isinstance(f, collections.abc.Iterable)
    assert isinstance(f, collections.abc.Container)
    with pytest.raises(TypeError):
        len(f)
    with pytest.raises(TypeError):
        hash(f)
    with pytest.raises(AttributeError):
        f.colour = "red"
    assert re.fullmatch(rf"<bloomset\.{cls.__name__}: 1 key of \d+, [\d,]+ bytes>", repr(f))


def test_repeated_keys_have_room():
    keys = 2 * [f"k{i}" for i in range(20_000)]
    for cls in bloomset.Cuckoo, bloomset.VectorQuotient, bloomset.CountingBloom:
        assert cls.build(keys).contains(keys).all()
    with pytest.raises(bloomset.FullError, match="as many copies") as caught:
        bloomset.Cuckoo.build(["x"] * 100)
    assert caught.value.reason == "too_many_copies"


class Once:
    """Keys that can be read once, and say how many they are, as progress bars do."""

    def __init__(self, keys):
        self.keys = iter(keys)
        self.size = len(keys)

    def __len__(self):
        return self.size

    def __iter__(self):
        return self.keys


def test_keys_that_can_be_read_once_are_kept_for_another_build():
    keys = 2 * [f"k{i}" for i in range(20_000)]
    sized = bloomset.Cuckoo.build(keys)
    assert sized.capacity > len(keys)  # so it was built more than once
    assert bloomset.Cuckoo.build(Once(keys)) == bloomset.Cuckoo.build(iter(keys)) == sized


def test_a_full_filter_says_how_far_it_came():
    f = bloomset.Cuckoo(100)
    with pytest.raises(bloomset.FullError, match="no room") as caught:
        f.update(range(10_000))
    assert isinstance(caught.value, ValueError)
    assert 100 <= caught.value.contained < 200
    assert f.contains(range(caught.value.contained)).all()
    several = bloomset.Cuckoo(100)
    with pytest.raises(bloomset.FullError) as caught_later:
        several.update(range(50), range(50, 10_000))
    assert several == f and caught_later.value.contained == caught.value.contained
    before = f.copy()
    with pytest.raises(bloomset.FullError) as caught:
        f |= f
    assert caught.value.contained == 0 and f == before
    with pytest.raises(bloomset.FullError):
        for i in range(10_000, 20_000):
            f.add(i)


def test_a_filter_too_full_to_tell_says_so():
    f = bloomset.Bloom(capacity=10, fpr=0.1)
    f.update(range(10_000))
    with pytest.raises(ValueError, match="too full"):
        f.approx_len()
    assert f.current_fpr() == 1


def test_options_and_wrong_ones():
    assert bloomset.CountingBloom(100, counter_bits=8).nbytes == 2 * bloomset.CountingBloom(100).nbytes
    for wrong, sentence in [
        (dict(capacity=100, counters=8), "has no option 'counters'"),
        (dict(), "capacity"),
        (dict(capacity=0), "capacity: 0 is not a whole number from 1"),
        (dict(capacity=-1), "capacity: -1 is not"),
        (dict(capacity=1.5), "capacity: 1.5 is not"),
        (dict(capacity="10X"), "capacity: '10X'"),
        (dict(capacity=2**64), "capacity"),
        (dict(capacity=10, fpr=1.0), "fpr: 1.0 is not a rate"),
        (dict(capacity=10, fpr="2"), "fpr: "),
        (dict(capacity=10, fpr=float("nan")), "fpr: nan is not a rate"),
        (dict(capacity=10, memory="1MB", bits=8), "memory: bits already give the size"),
        (dict(capacity=10, hashes=65), "hashes: 65 is not"),
        (dict(capacity=10, seed=-1), "seed: -1 is not"),
    ]:
        with pytest.raises(ValueError, match=re.escape(sentence)):
            bloomset.CountingBloom(**wrong)
    for wrong in [dict(capacity=True), dict(capacity=[]), dict(capacity=10, fpr=[])]:
        with pytest.raises(TypeError, match="capacity: |fpr: "):
            bloomset.CountingBloom(**wrong)


def test_an_object_that_was_never_made_is_refused():
    with pytest.raises(TypeError):
        bloomset.Filter()
    for use in (lambda f: "a" in f, repr, bool, lambda f: f.contains(["a"]), pickle.dumps,
                lambda f: f == bloomset.Bloom(1)):
        with pytest.raises((TypeError, ValueError)):
            use(bloomset.Bloom.__new__(bloomset.Bloom))
