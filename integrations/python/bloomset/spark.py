"""Filters of columns in Spark, built and asked by its executors. Needs PySpark 4.1 or later, and Bloomset
in the workers' Python (``PYSPARK_PYTHON``) on every machine.

``known = bloomset.spark.build(users, "name")`` is a filter of a column, and
``visits.filter(bloomset.spark.contains("name", known))`` has the rows whose names may be in it.
"""

from __future__ import annotations

import os
import pickle
from typing import TYPE_CHECKING, Any, Callable, Iterator, Optional, Set, Tuple, Union

import pyarrow
from pyspark import Broadcast, SparkContext
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.functions import arrow_udf

from ._capacity import with_room
from ._filter import Filter, Insertable
from ._parts import FilterOrPath, check_kind, counted, filled, is_sized, opened, united, without_error
from ._plan import plan

if TYPE_CHECKING:
    from ._filter import Count, Rate

__all__ = ["build", "contains"]

#: The applications whose workers have this package, each with its workers' Python.
_checked: Set[Tuple[str, str]] = set()
#: How many filters one task unites.
_TOGETHER = 8
#: The largest array of Java, less some room for headers.
_LARGEST = 2**31 - 2**16
#: How often the driver has a filter in memory while it gets one.
_COPIES = 6


def build(frame: DataFrame, column: Union[str, Column], *, kind: str = "blocked_bloom",
          fpr: Optional[Rate] = None, capacity: Optional[Count] = None, parts: Optional[int] = None,
          **options: Any) -> Insertable:
    """The filter of the keys in a column, without the nulls.

    Each of ``parts`` tasks, by default one per core, fills a filter for all keys. Further tasks unite 8 of
    them at a time, until the driver gets one filter. No task gets the keys of another. Without a capacity,
    or a rate with ``memory`` or ``bits``, the keys are counted first: the frame is computed twice, unless
    it is cached.

    ``kind`` is one whose filters can be merged. ``fpr`` and the options are those of its class. A Bloom,
    BlockedBloom or CountingBloom has the bytes that ``bloomset build`` gives for these keys.
    """
    check_kind(kind)
    _check_workers(frame.sparkSession.sparkContext)
    options.update(fpr=fpr, capacity=capacity)
    keys = frame.select(column)
    # A type whose values are no keys is an error here, not in every task.
    counted([pyarrow.array([], keys.limit(0).toArrow().schema.types[0])], options)
    parts = parts or frame.sparkSession.sparkContext.defaultParallelism
    keys = keys.coalesce(parts)
    counts = not is_sized(options)
    if counts:
        counter = _united(keys, parts, lambda batches: counted(batches, options))
        capacity = counter.capacity(kind)

    def made(capacity: Optional[Count]) -> Insertable:
        given = {**options, "capacity": capacity}
        planned = {name: value for name, value in given.items() if name != "strict"}
        _check_size(plan(kind=kind, **planned).bytes, frame.sparkSession.sparkContext)
        return without_error(_united(keys, parts, lambda batches: filled(batches, kind, given)))

    return with_room(made, capacity, counted=counts)


def contains(column: Union[str, Column], filter: FilterOrPath) -> Column:
    """Whether each value of a column may be a member, as a column of bool. Nulls are never members.

    A filter is broadcast: each Python worker has a copy. ``filter`` may also be the path of its file, if
    the file has this path on every machine. The workers of a machine then share one mapping, and the
    filter is not sent.
    """
    context = SparkSession.active().sparkContext
    _check_workers(context)
    if isinstance(filter, Filter):
        shared: Any = context.broadcast(filter)
    else:
        shared = os.path.abspath(filter)

    @arrow_udf("boolean")  # type: ignore[misc]
    def may_contain(batches: Iterator[pyarrow.Array]) -> Iterator[pyarrow.Array]:
        members = opened(shared.value if isinstance(shared, Broadcast) else shared)
        for batch in batches:
            yield pyarrow.array(members.contains(batch))

    return may_contain(column)


def _check_workers(context: SparkContext) -> None:
    """Raises ModuleNotFoundError if a worker lacks this package. Otherwise each task would fail, with the trace of
    a worker that cannot read its function. Asks one worker of each application, once."""
    application = (context.applicationId, context.pythonExec)
    if application in _checked:
        return

    def python_without_package(_: int) -> Optional[str]:  # sent by value, so it needs no package
        import importlib.util
        import sys

        return sys.executable if importlib.util.find_spec("bloomset") is None else None

    python = context.parallelize([0], 1).map(python_without_package).first()
    if python is not None:
        raise ModuleNotFoundError(f"Spark's workers run {python}, which has no package bloomset; set PYSPARK_PYTHON to a "
                                  "Python that has it, or install it there", name="bloomset")
    _checked.add(application)


def _check_size(size: int, context: SparkContext) -> None:
    if size > _LARGEST:
        raise ValueError(f"a filter of {size:,} bytes is too large for a value of Spark, at most 2 GiB; build "
                         "several filters, each of a part of the keys")
    # A driver without room for its result waits for ever.
    heap = context._jvm.java.lang.Runtime.getRuntime().maxMemory()  # type: ignore[union-attr]
    if size * _COPIES > heap:
        raise ValueError(f"a filter of {size:,} bytes needs a driver with {_COPIES} times as much memory, and "
                         f"this one has {heap:,} bytes; raise spark.driver.memory")


def _united(keys: DataFrame, parts: int, make: Callable[[Iterator[Any]], Any]) -> Any:
    """The union of what ``make`` makes of each partition's batches."""

    def one(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        yield _as_row(make(batches))

    def several(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        rows = (pickle.loads(row.as_buffer()) for batch in batches for row in batch.column(0))
        whole = united(rows, in_first=True)
        if whole is not None:
            yield _as_row(whole)

    made = keys.mapInArrow(one, "part binary")
    while parts > 1:
        parts = (parts + _TOGETHER - 1) // _TOGETHER
        made = made.repartition(parts).mapInArrow(several, "part binary")
    # Not collect(): where the driver has too little memory for the rows, it gives none.
    rows = made.toArrow().column(0)
    if len(rows) == 0 and not keys.isEmpty():
        raise RuntimeError("Spark lost the filter on its way to the driver; raise spark.driver.memory")
    return pickle.loads(rows[0].as_buffer()) if len(rows) != 0 else make(iter(()))


def _as_row(part: Any) -> pyarrow.RecordBatch:
    return pyarrow.record_batch({"part": pyarrow.array([pickle.dumps(part)], pyarrow.binary())})
