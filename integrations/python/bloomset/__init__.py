"""Approximate sets: Bloom filters and their kin.

A filter answers "is x in the set?" in a few bits per key: "no" is certain, "yes" is wrong at a rate
that you choose.

>>> import bloomset
>>> seen = bloomset.BlockedBloom(capacity=1_000_000, fpr=0.01)
>>> seen.add("alice@example.com")
True
>>> "alice@example.com" in seen, "bob@example.com" in seen
(True, False)

Keys are ``str`` (their UTF-8 bytes), ``bytes`` and ``int`` (the eight little-endian bytes of the value,
as in C++), so that files are shared with the command line and with C++. A filter may be used by
several threads at once: readers run side by side, a writer alone, and batches without the GIL.
"""

from ._count import KeyCounter
from ._files import from_bytes, info, new_key, open
from ._filter import (Countable, Deletable, Filter, Foldable, Insertable, Intersectable, Mergeable,
                      OfTwoSets, Static)
from ._kinds import (KINDS, BlockedBloom, Bloom, CountingBloom, Cuckoo, Exact, Expandable, Fuse,
                     Ribbon, ScalableBloom, VectorQuotient)
from ._native import FullError, version as __version__
from ._overfill import OverfilledWarning
from ._plan import kinds, plan
from ._which import Which

__all__ = [
    "KINDS", "BlockedBloom", "Bloom", "Countable", "CountingBloom", "Cuckoo", "Deletable",
    "Exact", "Expandable", "Filter", "Foldable", "FullError", "Fuse", "Insertable", "Intersectable",
    "KeyCounter", "Mergeable", "OfTwoSets", "OverfilledWarning", "Plan", "Ribbon", "ScalableBloom", "Static", "VectorQuotient", "Which", "__version__",
    "from_bytes", "info", "kinds", "new_key", "open", "plan",
]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._planned import Plan
else:
    def __getattr__(name):  # Plan is made when it is first used (_planned.py)
        if name != "Plan":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        global Plan
        from ._planned import Plan
        return Plan

    def __dir__():
        return sorted({*globals(), *__all__})

# Kinds of one's own, compiled in from outside the tree (docs/maintain/adding-a-kind.md).
globals().update((each.__name__, each) for each in KINDS.values())
