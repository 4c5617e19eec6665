"""What engines of several workers share: each counts and fills a part of the keys, and parts are united."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Dict, Iterable, Union

from ._count import KeyCounter
from ._files import open
from ._filter import CLASSES, Filter, Insertable, Mergeable
from ._native import FullError

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


def filled(batches: Iterable[Keys], kind: str, options: Dict[str, Any]) -> "Union[Insertable, FullError]":
    """A full filter's error is its part: raised by a worker, it would be tried again or lose its class."""
    filter: Insertable = CLASSES[kind](**options)  # type: ignore[assignment]
    try:
        for batch in batches:
            filter.update(batch)
    except FullError as full:
        return full
    return filter


def united(parts: Iterable[Any], *, in_first: bool) -> Any:
    """The union of filters or of counters, made in the first of them or in a copy, or a part's error; None
    without parts."""
    whole = None
    for part in parts:
        if isinstance(part, FullError):
            return part
        if whole is None:
            whole = part if in_first else part.copy()
            continue
        try:
            whole |= part
        except FullError as full:
            return full
    return whole


def without_error(whole: "Union[Insertable, FullError]") -> Insertable:
    """The filter that has all parts, looked at as one; raises the error of a part."""
    if isinstance(whole, FullError):
        raise whole
    whole._look()
    whole.settle_count()
    return whole


def opened(filter: FilterOrPath) -> Filter:
    return filter if isinstance(filter, Filter) else open(filter)
