"""A class for each kind of filter. The classes that it derives from say what it can do; a test holds
them to what the library says."""

from __future__ import annotations

from ._filter import (CLASSES, Countable, Deletable, Filter, Foldable, Insertable, Intersectable,
                      Mergeable, OfTwoSets, Static)
from ._plan import kinds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Tuple, Type


class BlockedBloom(Insertable, Mergeable, Intersectable, Foldable):
    """The default: one cache line per key, the fastest to query and to fill.

    >>> monday = bloomset.BlockedBloom(1000)
    >>> monday.update(["ann", "bob"])
    2
    >>> tuesday = bloomset.BlockedBloom(1000)
    >>> tuesday.update(["bob", "cid"])
    2
    >>> both, either = monday & tuesday, monday | tuesday
    >>> "bob" in both, "ann" in both, "cid" in either
    (True, False, True)
    """

    __slots__ = ()
    kind = "blocked_bloom"


class Bloom(Insertable, Mergeable, Intersectable, Foldable):
    """The classic; the least memory of those that take keys at any time.

    >>> bloomset.Bloom(capacity="1M", memory="1MB").info()["hashes"]
    6
    """

    __slots__ = ()
    kind = "bloom"


class CountingBloom(Deletable, Countable, Mergeable):
    """The classic filter with counters in place of bits.

    >>> f = bloomset.CountingBloom(1000)
    >>> f.update(["ann", "ann"])
    1
    >>> f.remove("ann")
    >>> f.count("ann")
    1
    """

    __slots__ = ()
    kind = "counting_bloom"


class ScalableBloom(Insertable):
    """A chain of filters that grows with its keys at a promised rate.

    >>> f = bloomset.ScalableBloom(100, fpr=0.01)
    >>> f.update(range(10_000)) > 9800
    True
    >>> f.current_fpr() < 0.012
    True
    """

    __slots__ = ()
    kind = "scalable_bloom"


class Cuckoo(Deletable, Countable, Mergeable):
    """Fingerprints in two buckets: takes keys back, and says when it is full.

    >>> f = bloomset.Cuckoo(8)
    >>> f.update(range(1000))
    Traceback (most recent call last):
    bloomset.FullError: ...
    """

    __slots__ = ()
    kind = "cuckoo"


class VectorQuotient(Deletable, Countable, Mergeable):
    """For sets whose keys come and go: deletes, exact counts, full speed to the last key.

    >>> f = bloomset.VectorQuotient.build(["ann", "bob", "ann"])
    >>> f.difference_update(["ann", "bob"])
    2
    >>> "ann" in f, "bob" in f
    (True, False)
    """

    __slots__ = ()
    kind = "vector_quotient"


class Expandable(Deletable, Countable, Mergeable):
    """For sets of unknown size: one table that grows a segment at a time, at the promised rate.
    Filters of any two sizes and rates merge, as long as the first one's rate can be kept.

    >>> f = bloomset.Expandable(fpr="0.1%")
    >>> f.update(range(50_000)) > 49_900
    True
    >>> f.current_fpr() < 0.0011
    True
    """

    __slots__ = ()
    kind = "expandable"


class Fuse(Static):
    """Built once from all its keys: three memory accesses, 7.9 bits per key at 0.78%.

    >>> f = bloomset.Fuse.build(["ann", "bob"], fpr="0.4%")
    >>> "ann" in f, "cid" in f
    (True, False)
    """

    __slots__ = ()
    kind = "fuse"


class Ribbon(Static):
    """Built once from all its keys: the smallest, at any rate.

    >>> f = bloomset.Ribbon.build(["ann", "bob"])
    >>> "ann" in f, "cid" in f
    (True, False)
    """

    __slots__ = ()
    kind = "ribbon"


class Exact(OfTwoSets):
    """Built once from members and all other keys of a universe: no errors among them.

    >>> revoked, valid = range(0, 100_000, 100), range(100_000)
    >>> f = bloomset.Exact.build(revoked, valid)
    >>> [key for key in range(1000) if key in f]
    [0, 100, 200, 300, 400, 500, 600, 700, 800, 900]
    """

    __slots__ = ()
    kind = "exact"


_ALL: Tuple[Type[Filter], ...] = (BlockedBloom, Bloom, CountingBloom, VectorQuotient, Cuckoo,
                                  Expandable, ScalableBloom, Fuse, Ribbon, Exact)
CLASSES.update((each.kind, each) for each in _ALL)


def _class_of(name: str, row: Dict[str, Any]) -> Type[Filter]:
    """The class of a kind that was compiled in from outside, from its row in the registry."""
    can = row["can"]
    first = OfTwoSets if row["of_two_sets"] else Static if row["built_once"] else Deletable if can["erase"] else Insertable
    others = {"count": Countable, "merge": Mergeable, "intersect": Intersectable, "fold": Foldable}
    bases = (first, *(base for ability, base in others.items() if can[ability]))
    title = "".join(word.capitalize() for word in name.split("_"))
    return type(title, bases, {"__slots__": (), "__doc__": row["summary"], "kind": name,
                               "__module__": "bloomset"})


CLASSES.update((name, _class_of(name, row)) for name, row in kinds().items() if name not in CLASSES)

#: The class of each kind, by the kind's name.
KINDS: Dict[str, Type[Filter]] = CLASSES
