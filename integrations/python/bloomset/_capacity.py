"""How builds with a counted capacity find one that has room."""

from __future__ import annotations

from collections.abc import Set

from ._native import FullError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, TypeVar

    T = TypeVar("T")


def with_room(make: Callable[[Any], T], capacity: Any, *, counted: bool) -> T:
    """What ``make`` makes of the capacity or, if that was counted, of one up to about twice as large.

    Copies of a key share their buckets, so they can fill a cuckoo filter before its capacity. As in all
    builds, it is then made again with a capacity one tenth larger, at most 8 times. ``make`` must be able to
    read its keys again.
    """
    tried = capacity
    for _ in range(8 if counted else 0):
        try:
            return make(tried)
        except FullError as full:
            if full.reason != "full":
                raise
            tried += (tried + 9) // 10
    return make(tried)


def can_be_read_again(keys: Any) -> bool:
    """Whether keys of a known number can be iterated twice. An iterator that knows its length cannot."""
    return (isinstance(keys, Set) or hasattr(keys, "__getitem__") or hasattr(keys, "__arrow_c_stream__")
            or hasattr(keys, "__arrow_c_array__"))
