"""What engines of several workers share: each counts and fills a part of the keys, and parts are united."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Dict, Iterable, Union

from ._count import KeyCounter
from ._files import open
from ._filter import CLASSES, Filter, Insertable, Mergeable

if TYPE_CHECKING:
    from ._filter import Keys

#: A filter, or the path of its file on every machine.
FilterOrPath = Union[Filter, str, "os.PathLike[str]"]


def check_kind(kind: str) -> None:
    """ValueError for a kind whose filters cannot be united."""
    if kind not in CLASSES or not issubclass(CLASSES[kind], Mergeable):
        ours = ", ".join(name for name, cls in CLASSES.items() if issubclass(cls, Mergeable))
        raise ValueError(f"parts of a filter of kind {kind} cannot be merged; kinds that can: {ours}")


def is_sized(options: Dict[str, Any]) -> bool:
    """Whether there can be a filter before the keys are counted."""
    given = {name for name, value in options.items() if value is not None}
    return "capacity" in given or ("fpr" in given and not given.isdisjoint({"memory", "bits"}))


def counted(batches: Iterable[Keys], options: Dict[str, Any]) -> KeyCounter:
    counter = KeyCounter(seed=options.get("seed"), key=options.get("key"))
    for batch in batches:
        counter.update(batch)
    return counter


def filled(batches: Iterable[Keys], kind: str, options: Dict[str, Any]) -> Insertable:
    filter: Insertable = CLASSES[kind](**options)  # type: ignore[assignment]
    for batch in batches:
        filter.update(batch)
    return filter


def united(parts: Iterable[Any]) -> Any:
    """The union of filters or of counters, which stay as they are."""
    first, *others = parts
    whole = first.copy()
    for part in others:
        whole |= part
    return whole


def opened(filter: FilterOrPath) -> Filter:
    return filter if isinstance(filter, Filter) else open(filter)
