"""The number of distinct keys, before there is a filter."""

from __future__ import annotations

from . import _native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Optional

    from ._filter import Keys


class KeyCounter:
    """Counts the distinct keys of any number of batches in 64 KiB to 576 KiB, to plan a filter for them.

    ``capacity`` is the one that ``bloomset build`` plans for without ``--capacity``: the exact number up to
    65,536 distinct keys, and for more an estimate that is too low in 3 of 100,000 cases. Counters of parts
    are added with ``|=`` and can be pickled. ``seed`` and ``key`` are those of the filter.

    >>> keys = [str(i % 1000) for i in range(5000)]
    >>> first, second = bloomset.KeyCounter(), bloomset.KeyCounter()
    >>> first.update(keys[:600])
    >>> second.update(keys[500:])
    >>> first |= second
    >>> first.capacity("blocked_bloom")
    1000

    A kind that keeps every copy of a key is planned for all of them. ``bloomset build`` plans a
    vector_quotient for at most 3 copies of each key.

    >>> first.capacity("counting_bloom")
    5100
    """

    __slots__ = ("_counter", "_settings")

    def __init__(self, *, seed: Optional[int] = None, key: Optional[bytes] = None) -> None:
        self._settings = (seed, key)
        wanted = _native.Request(None, None, None, None, None, seed, key, None, {})
        self._counter = _native.KeyCounter(wanted)

    def update(self, *keys: Keys, offsets: Optional[Any] = None) -> None:
        """Counts many keys, as ``contains`` of a filter takes them."""
        self._counter._update(keys, offsets)

    def __ior__(self, other: "KeyCounter") -> "KeyCounter":
        if not isinstance(other, KeyCounter):
            return NotImplemented
        if other._settings != self._settings:
            raise ValueError("the counters have different seeds or keys")
        self._counter._merge(other._counter._state())
        return self

    def capacity(self, kind: str) -> int:
        """The number of keys to plan a filter of this kind for, at least 1."""
        return self._counter._capacity(kind)

    def copy(self) -> "KeyCounter":
        """A counter with the same keys."""
        other = KeyCounter(seed=self._settings[0], key=self._settings[1])
        other |= self
        return other

    def __getstate__(self) -> Any:
        return self._settings, self._counter._state()

    def __setstate__(self, state: Any) -> None:
        (seed, key), counted = state
        self.__init__(seed=seed, key=key)  # type: ignore[misc]
        self._counter._merge(counted)
