"""Filters of Dask's collections, built and asked by its workers.

>>> import bloomset.dask, dask.bag
>>> users = dask.bag.from_sequence([f"user{i}" for i in range(1000)], npartitions=4)
>>> known = bloomset.dask.build(users, fpr="0.1%")
>>> known
<bloomset.BlockedBloom: 1,001 keys of 1,000, 1,984 bytes>
>>> bloomset.dask.contains(dask.bag.from_sequence(["user7", "nobody"]), known).compute()
[True, False]
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, List, Optional

import dask

from ._capacity import with_room
from ._count import KeyCounter
from ._filter import Filter, Insertable
from ._parts import FilterOrPath, check_kind, counted, filled, is_sized, opened, united, without_error

if TYPE_CHECKING:
    from ._filter import Count, Rate

__all__ = ["build", "contains"]


def build(keys: Any, *, kind: str = "blocked_bloom", fpr: Optional[Rate] = None,
          capacity: Optional[Count] = None, **options: Any) -> Insertable:
    """The filter of the keys in a bag, an array, or a series, such as a column of a data frame.

    Each partition becomes a filter for all keys, and a tree of unions leads to one. No worker gets the
    keys of another. Without a capacity, or a rate with ``memory`` or ``bits``, the keys are counted first:
    they are computed twice, unless they are persisted.

    ``kind`` is one whose filters can be merged. ``fpr`` and the options are those of its class. A Bloom,
    BlockedBloom or CountingBloom has the bytes that ``bloomset build`` gives for these keys.
    """
    check_kind(kind)
    options.update(fpr=fpr, capacity=capacity)
    parts = _partitions(keys)
    counts = not is_sized(options)
    if counts:
        count = dask.delayed(_counted, pure=True)
        counter = _united([count(part, options) for part in parts])
        capacity = counter.capacity(kind)
    fill = dask.delayed(_filled, pure=True)

    def made(capacity: Optional[Count]) -> Insertable:
        planned = {**options, "capacity": capacity}
        return without_error(_united([fill(part, kind, planned) for part in parts]))

    return with_room(made, capacity, counted=counts)


def contains(keys: Any, filter: FilterOrPath) -> Any:
    """Whether each key may be a member: a bag, an array or a series of bool with the same partitions.
    Nulls are never members.

    ``filter`` may also be the path of its file, if the file has this path on every machine. The workers
    of a machine then share one mapping, and the filter is not sent.

    >>> import bloomset.dask, dask.array
    >>> small = bloomset.Bloom.build(range(10), fpr=1e-6)
    >>> numbers = dask.array.arange(100, chunks=25)
    >>> numbers[bloomset.dask.contains(numbers, small)].compute()
    array([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    """
    _check_column(keys)
    shared: Any = dask.delayed(filter) if isinstance(filter, Filter) else os.path.abspath(filter)
    if hasattr(keys, "map_blocks"):
        return keys.map_blocks(_answers, filter=shared, dtype=bool)
    if hasattr(keys, "pluck"):
        return keys.map_partitions(_answers, filter=shared)
    return keys.map_partitions(_answers, filter=shared, meta=(keys.name, bool))


def _check_column(keys: Any) -> None:
    if hasattr(keys, "columns") and keys.ndim == 2:
        raise TypeError("the keys are a data frame; give one of its columns, such as frame['id']")


def _partitions(keys: Any) -> List[Any]:
    _check_column(keys)
    parts = keys.to_delayed()
    return [*parts.ravel()] if hasattr(parts, "ravel") else [*parts]


def _keys(part: Any) -> Any:
    """A partition as a batch: NumPy's array, Arrow's column of a series, or what can be iterated over."""
    if hasattr(part, "iloc"):
        import pyarrow

        column = pyarrow.array(part, from_pandas=True)
        values = column.type.value_type if pyarrow.types.is_dictionary(column.type) else column.type
        dtype = part.dtype.categories.dtype if hasattr(part.dtype, "categories") else part.dtype
        if dtype == object and pyarrow.types.is_decimal(values):
            raise TypeError("a Decimal object is not a key, because equal numbers can have different digits; convert "
                            "the column to text, or to a decimal type of Arrow")
        return column
    return part.ravel() if hasattr(part, "ravel") else part


def _counted(part: Any, options: Any) -> KeyCounter:
    return counted([_keys(part)], options)


def _filled(part: Any, kind: str, options: Any) -> Any:
    return filled([_keys(part)], kind, options)


def _united(parts: List[Any]) -> Any:
    # Pairs, because each filter that waits for its union needs memory.
    unite = dask.delayed(united, pure=True)
    while len(parts) > 1:
        parts = [unite(parts[i:i + 2], in_first=False) for i in range(0, len(parts), 2)]
    return parts[0].compute()


def _answers(part: Any, filter: FilterOrPath) -> Any:
    answers = opened(filter).contains(_keys(part))
    if hasattr(part, "iloc"):
        import pandas

        return pandas.Series(answers, index=part.index, name=part.name)
    return answers.reshape(part.shape) if hasattr(part, "shape") else answers.tolist()
