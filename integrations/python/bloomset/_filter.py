"""What filters can do, an ability a class. A kind has the classes of its abilities (_kinds.py), and
what it cannot do does not exist on it."""

from __future__ import annotations

from . import _native

# In place of typing's constant: typing takes more than twice as long to import as this package. So
# annotations are for type checkers only, and modules that few programs need are imported on first use.
TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    import uuid
    from typing import Any, ClassVar, Dict, Iterable, Literal, Mapping, Optional, Protocol, TypeVar, Union

    import numpy
    from numpy.typing import NDArray

    class ArrowStream(Protocol):
        """What exports Arrow data, one array after the other."""
        def __arrow_c_stream__(self, requested_schema: Optional[object] = None) -> object: ...

    class ArrowArray(Protocol):
        """What exports one array of Arrow data."""
        def __arrow_c_array__(self, requested_schema: Optional[object] = None) -> object: ...

    #: One key.
    Key = Union[str, bytes, bytearray, memoryview, int, uuid.UUID]
    #: Many: an array of integers, bytes, text or objects, a column of Arrow data, or anything that can be
    #: iterated over.
    Keys = Union[Iterable[Key], NDArray[Any], ArrowStream, ArrowArray]
    #: A count, also as text: 1_000_000, 1e6, "10M".
    Count = Union[int, float, str]
    #: A rate, also as text: 0.01, "1%", "1/1000".
    Rate = Union[float, str]

    Self = TypeVar("Self", bound="Filter")
    OfMergeable = TypeVar("OfMergeable", bound="Mergeable")
    OfFoldable = TypeVar("OfFoldable", bound="Foldable")
    OfIntersectable = TypeVar("OfIntersectable", bound="Intersectable")
    OfInsertable = TypeVar("OfInsertable", bound="Insertable")
    OfStatic = TypeVar("OfStatic", bound="Static")
    OfTwo = TypeVar("OfTwo", bound="OfTwoSets")

#: The class of each kind by its name, which _kinds.py fills.
CLASSES: Dict[str, "type[Filter]"] = {}


def adopt(made: _native.Made, cls: "Optional[type[Filter]]" = None) -> Filter:
    """The object of what the extension made, of the class of its kind, or of `cls`, a subclass of
    that. ``__init__`` is not called."""
    filter = Filter.__new__(cls or CLASSES[made.kind])
    _native.Filter.__init__(filter, made)
    return filter


def kind_of(cls: "type[Filter]") -> str:
    """The kind of filter that the class is of, or TypeError."""
    if not hasattr(cls, "kind"):
        raise TypeError(f"{cls.__name__} is not a kind of filter; make one of a kind's class, such as "
                        "bloomset.BlockedBloom, or open a file with bloomset.open")
    return cls.kind


def state_of(filter: Filter) -> Any:
    """What a subclass's object has besides the filter, as pickle keeps it: its ``__getstate__``, or its
    attributes and slots."""
    if hasattr(filter, "__getstate__"):  # every object has it from Python 3.11 on
        return filter.__getstate__()
    import copyreg

    attributes = getattr(filter, "__dict__", None)
    slots = {name: getattr(filter, name) for name in copyreg._slotnames(type(filter))  # type: ignore[attr-defined]
             if hasattr(filter, name)}
    return (attributes, slots) if slots else attributes


def restore_state(filter: Filter, state: Any) -> None:
    """Gives that to another object of the class, as pickle does."""
    if hasattr(filter, "__setstate__"):
        if state is not None:
            filter.__setstate__(state)
        return
    attributes, slots = state if isinstance(state, tuple) else (state, None)
    if attributes:
        filter.__dict__.update(attributes)
    for name, value in (slots or {}).items():
        setattr(filter, name, value)


def restored(cls: "type[Filter]", data: bytes, key: Optional[bytes], strict: bool) -> Filter:
    """The filter in a pickle."""
    filter = cls.from_bytes(data) if key is None else cls.from_bytes(data, key)
    if strict:
        filter._set_strict(True)
    return filter


def listed(keys: Iterable[Key]) -> "list[Key]":
    """The list of the keys. Unlike ``list`` it can be interrupted, whatever the keys come from."""
    import itertools

    some = iter(keys)
    everything: "list[Key]" = []
    while part := list(itertools.islice(some, 65_536)):
        everything += part
    return everything


def as_array(answers: bytearray, dtype: str, code: "Literal['?', 'Q']") -> Any:
    """The answers as an array of NumPy, or where that is not installed as a memory view."""
    try:
        import numpy
    except ImportError:
        return memoryview(answers).cast(code)
    return numpy.frombuffer(answers, dtype=dtype)


class Filter(_native.Filter):
    """Every filter. Made by its kind's class, by ``bloomset.open`` or by ``from_bytes``.

    ``key in filter`` is never False for a key that was added and not discarded since.

    Subclasses of a kind's class are kept: by copies, unions, intersections and pickle with their
    attributes, by ``build``, which calls their ``__init__`` as the kind's own, and by ``from_bytes``,
    which does not call it.
    """

    __slots__ = ()

    #: The kind's name in files and on the command line.
    kind: ClassVar[str]

    def __init__(self, *_: Any, **__: Any) -> None:
        kind_of(type(self))
        raise TypeError(f"{type(self).__name__} cannot be made empty")

    def contains(self, keys: Keys, *, offsets: Optional[Any] = None) -> "NDArray[numpy.bool_]":
        """Whether each of many keys may be a member, as a NumPy array of bool (a memoryview of bool
        where NumPy is not installed). Much faster than one by one, and without the GIL.

        ``keys`` is an array of integers, of bytes (S), of text (U) or of objects, a column of Arrow
        data (pyarrow, polars, DuckDB), or anything that can be iterated over. Nulls of a column are
        never members. With ``offsets``, key i is ``keys[offsets[i]:offsets[i + 1]]`` of bytes,
        as in Arrow's arrays of strings.

        >>> f = bloomset.Bloom.build(["ann", "bob"])
        >>> [bool(a) for a in f.contains(["ann", "bob", "cid"])]
        [True, True, False]
        >>> import array
        >>> [bool(a) for a in f.contains(b"annbobcid", offsets=array.array("i", [0, 3, 6, 9]))]
        [True, True, False]
        """
        answers: "NDArray[numpy.bool_]" = as_array(self._ask_many(keys, offsets), "bool", "?")
        return answers

    def copy(self: Self) -> Self:
        """A copy in memory of its own, which can be changed, even if this one is mapped."""
        other: Self = adopt(self._copy(), type(self))  # type: ignore[assignment]
        restore_state(other, state_of(self))
        return other

    __copy__ = copy

    def __deepcopy__(self: Self, memo: Dict[int, Any]) -> Self:
        import copy

        other: Self = adopt(self._copy(), type(self))  # type: ignore[assignment]
        memo[id(self)] = other
        restore_state(other, copy.deepcopy(state_of(self), memo))
        return other

    def to_bytes(self) -> bytes:
        """The bytes that a file would have.

        >>> f = bloomset.Cuckoo.build([1, 2, 3])
        >>> bloomset.Cuckoo.from_bytes(f.to_bytes()) == f
        True
        """
        return self._to_bytes()

    @classmethod
    def from_bytes(cls: "type[Self]", data: Union[bytes, bytearray, memoryview],
                   key: Optional[bytes] = None) -> Self:
        """The filter of such bytes, in memory of its own. Damaged bytes raise ValueError, and so do
        those of another kind than the class. ``key`` is the secret key of the filter, if it has one."""
        made = _native.from_bytes(data, key)
        kind_class = CLASSES[made.kind]
        if not issubclass(kind_class, cls) and not issubclass(cls, kind_class):
            raise ValueError(f"the bytes hold a filter of kind {made.kind}, not {cls.__name__}")
        return adopt(made, cls if issubclass(cls, kind_class) else None)  # type: ignore[return-value]

    def __reduce__(self) -> "tuple[Any, ...]":
        # A pickle holds the secret key, where there is one: it must answer where it is read.
        return restored, (type(self), self.to_bytes(), self._secret_key(), self._strict()), state_of(self)

    def save(self, path: Union[str, bytes, "os.PathLike[Any]"], *, replace: bool = True) -> None:
        """Writes a file, to be opened here, by C++ or by the command line. At every moment the path
        holds the old file or the new one, whole. With ``replace=False`` a file that is there already
        raises FileExistsError."""
        self._save(path, replace)

    @property
    def capacity(self) -> int:
        """The number of keys that the filter was planned for."""
        return self._capacity()

    @property
    def labels(self) -> Dict[str, str]:
        """Facts that go with the filter into its file, such as the source of its keys. The command
        line keeps the reader of ``--keys`` there. To change them, set the whole dictionary.

        >>> f = bloomset.Bloom(100)
        >>> f.labels = {"source": "example.org", "licence": "CC0"}
        >>> bloomset.Bloom.from_bytes(f.to_bytes()).labels
        {'licence': 'CC0', 'source': 'example.org'}
        """
        return dict(self._labels())

    @labels.setter
    def labels(self, labels: Mapping[str, str]) -> None:
        self._set_labels(dict(labels))

    def add_exceptions(self, *keys: Keys, offsets: Optional[Any] = None) -> int:
        """Makes the answer "no" for keys that are not members but pass as members; returns how many are
        new exceptions. At most 4096 go with the filter into its file. A member among the keys is denied
        from then on. Adding a key ends its exception.

        >>> f = bloomset.Bloom.build(range(1000), fpr="1%")
        >>> mistaken = [n for n in range(1000, 2000) if n in f]
        >>> f.add_exceptions(mistaken) == len(mistaken), any(n in f for n in mistaken)
        (True, False)
        """
        return self._except_many(keys, offsets, False)

    def remove_exceptions(self, *keys: Keys, offsets: Optional[Any] = None) -> int:
        """Ends the exceptions of these keys; returns how many were exceptions."""
        return self._except_many(keys, offsets, True)

    @property
    def nbytes(self) -> int:
        """The size of its bits in bytes."""
        return self._nbytes()

    def current_fpr(self) -> float:
        """The rate of false positives of the bits as they stand, also past the capacity. Takes time
        in proportion to the size."""
        return self._current_fpr()

    def approx_len(self) -> int:
        """About how many distinct keys there are, from the bits. ValueError when they are too full
        to tell, or those of an intersection's intersection. Takes time in proportion to the size; there is no exact ``len``.

        >>> bloomset.Bloom.build(range(1000)).approx_len()
        1004
        """
        return self._approx_len()

    def info(self) -> Dict[str, Any]:
        """The filter's account of itself, with the names of ``bloomset info --json``.

        >>> info = bloomset.Bloom(capacity=1000, fpr="1%", seed=7).info()
        >>> info["kind"], info["hashes"], info["seed"], info["count"]
        ('bloom', 7, 7, 0)
        """
        return self._info()

    def __bool__(self) -> bool:
        """Whether any key was added.

        >>> bool(bloomset.Bloom(10)), bool(bloomset.Bloom.build(["a key"]))
        (False, True)
        """
        return self._size() != 0

    def __eq__(self, other: object) -> bool:
        """Whether both are of one kind, with the same parameters and the same bits: then they answer
        every question alike."""
        if not isinstance(other, Filter):
            return NotImplemented
        return self._same(other)

    __hash__ = None  # type: ignore[assignment]

    # A filter does not keep its keys, so they cannot be listed.
    __iter__ = None

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> Any:
        # NumPy would take the filter for an array of one object, so that numpy.isin(array, filter) is False
        # for all members. As an element of an array of objects a filter is right.
        if dtype is None or dtype != object:
            raise TypeError(f"a {type(self).__name__} is not an array, because it does not store its keys; "
                            "use filter.contains(array) in place of numpy.isin(array, filter)")
        import numpy

        element = numpy.empty((), dtype=object)
        element[()] = self
        return element

    def __repr__(self) -> str:
        name = type(self).__qualname__
        own = type(self) is CLASSES.get(self.kind)
        reader = self.labels.get("keys")
        keys = self._size()
        return (f"<{'bloomset.' if own else ''}{name}: {keys:,} key{'' if keys == 1 else 's'} of {self.capacity:,}, "
                f"{self.nbytes:,} bytes{', overfilled' if self._overfilled() else ''}"
                f"{f', made by --keys {reader}' if reader else ''}>")


@_native.with_direct_methods
class Insertable(Filter):
    """Filters that take keys at any time.

    Two of ``capacity`` (keys to plan for), ``fpr`` (the rate of false positives at capacity, 1% if
    nothing else is said) and ``memory`` (in bytes) or ``bits`` give the third. Counts, rates and sizes
    may be text as on the command line: "10M", "1%", "64MiB". ``seed`` varies the hash function.
    ``key``, 16 bytes of ``bloomset.new_key()``, makes it a secret one, SipHash-1-3: whoever does not
    know the key cannot choose false positives. ``hash``, "xxh3-2x64" or "siphash-2x64", gives hashes
    of 128 bits, which rates below those of 64-bit hashes get by themselves. Further options are the
    kind's own (``bloomset.kinds()``).

    A filter that gets more keys than it was planned for takes them, at a higher rate: ``info`` and
    ``repr`` say that it is overfilled, and it warns once, with ``bloomset.OverfilledWarning``. With
    ``strict=True`` it raises FullError instead.

    >>> f = bloomset.Bloom(1000, strict=True)
    >>> f.update(range(5000))
    Traceback (most recent call last):
    bloomset.FullError: the filter is overfilled: ...
    """

    __slots__ = ()

    def __init__(self, capacity: Optional[Count] = None, fpr: Optional[Rate] = None, *,
                 memory: Optional[Count] = None, bits: Optional[Count] = None,
                 hashes: Optional[int] = None, seed: Optional[int] = None,
                 key: Optional[bytes] = None, hash: Optional[str] = None, strict: bool = False,
                 **options: Any) -> None:
        _native.Filter.__init__(self, _native.create(kind_of(type(self)), _native.Request(
            capacity, fpr, memory, bits, hashes, seed, key, hash, options)))
        if strict:
            self._set_strict(True)

    @property
    def strict(self) -> bool:
        """Whether it raises FullError where others warn that they are overfilled. It then takes more keys
        only after ``clear``, or after ``discard`` of a sixteenth of its keys. It can be set, is kept by
        copies, unions and pickle, and is not in files."""
        return self._strict()

    @strict.setter
    def strict(self, strict: bool) -> None:
        self._set_strict(strict)

    @classmethod
    def build(cls: "type[OfInsertable]", keys: Keys, *, offsets: Optional[Any] = None,
              capacity: Optional[Count] = None, fpr: Optional[Rate] = None,
              memory: Optional[Count] = None, bits: Optional[Count] = None,
              hashes: Optional[int] = None, seed: Optional[int] = None,
              key: Optional[bytes] = None, hash: Optional[str] = None, strict: bool = False,
              **options: Any) -> OfInsertable:
        """A filter of these keys, as ``contains`` takes them; without a capacity and a size, for as
        many as there are.

        >>> bloomset.BlockedBloom.build(range(100), fpr="1/1000")
        <bloomset.BlockedBloom: 100 keys of 100, 256 bytes>
        """
        from ._capacity import can_be_read_again, with_room

        counted = capacity is None and memory is None and bits is None
        if counted:
            if offsets is None and not (hasattr(keys, "__len__") and can_be_read_again(keys)):
                if hasattr(keys, "__arrow_c_stream__"):
                    raise TypeError("the number of keys in a stream is not known before it is read; give "
                                    "capacity")
                keys = listed(keys)  # type: ignore[arg-type]
            capacity = max(1, len(keys) if offsets is None else len(offsets) - 1)  # type: ignore
        if strict:  # a subclass need not know it
            options["strict"] = True

        def made(capacity: Any) -> OfInsertable:
            filter = cls(capacity, fpr, memory=memory, bits=bits, hashes=hashes, seed=seed, key=key,
                         hash=hash, **options)
            filter.update(keys, offsets=offsets)
            return filter

        return with_room(made, capacity, counted=counted)

    def add(self, key: Key) -> bool:
        """Adds a key; True if it certainly was not there before. FullError, in kinds that can be
        full, changes nothing.

        >>> f = bloomset.Bloom(1000)
        >>> f.add("ann"), f.add("ann")
        (True, False)
        """
        return self._add(key)

    def update(self, *keys: Keys, offsets: Optional[Any] = None) -> int:
        """Adds many keys, as ``contains`` takes them, in order; of several batches the union, as of
        ``set``. Returns how many were certainly new. FullError has how many are contained now, counted
        from the first.

        >>> f = bloomset.Bloom(1000)
        >>> f.update(["ann", "bob", "ann"])
        2
        >>> f.update(["bob", "cid"], ("dan",))
        2
        """
        return self._add_many(keys, offsets)

    def clear(self) -> None:
        """Removes all keys; the plan stays."""
        self._clear()

    def settle_count(self) -> None:
        """Replaces the number of keys in ``info()`` and in files by the one that the bits show. Equal keys
        in a Bloom, BlockedBloom or CountingBloom of equal capacity then give equal files, in any order,
        also merged from parts. The command line always does this before it writes a file.

        >>> f = bloomset.Bloom.build(range(1000))
        >>> f.info()["count"]
        1000
        >>> f.settle_count()
        >>> f.info()["count"]
        1004
        """
        self._settle_count()


class Static(Filter):
    """Filters that are built once from all their keys, and are the smaller for it."""

    __slots__ = ()

    def __init__(self, *_: Any, **__: Any) -> None:
        kind_of(type(self))
        name = type(self).__name__
        raise TypeError(f"a {name} is built once from all its keys; use {name}.build(keys, fpr=...)")

    @classmethod
    def build(cls: "type[OfStatic]", keys: Keys, *, offsets: Optional[Any] = None,
              capacity: Optional[Count] = None, fpr: Optional[Rate] = None,
              memory: Optional[Count] = None, bits: Optional[Count] = None,
              seed: Optional[int] = None, key: Optional[bytes] = None, hash: Optional[str] = None,
              **options: Any) -> OfStatic:
        """The filter of these keys, as ``contains`` takes them; repetitions do no harm.

        >>> f = bloomset.Ribbon.build(range(100_000), fpr=0.01)
        >>> f.nbytes * 8 / 100_000 < 6.8
        True
        """
        made = _native.build(kind_of(cls), _native.Request(
            capacity, fpr, memory, bits, None, seed, key, hash, options), keys, offsets)
        return adopt(made, cls)  # type: ignore[return-value]


class OfTwoSets(Filter):
    """Filters that are built once from their members and from all other keys that are ever queried."""

    __slots__ = ()

    def __init__(self, *_: Any, **__: Any) -> None:
        kind_of(type(self))
        name = type(self).__name__
        raise TypeError(f"an {name} is built once from two sets; use {name}.build(members, others)")

    @classmethod
    def build(cls: "type[OfTwo]", members: Keys, others: Keys, *, partitioned: bool = False,
              seed: Optional[int] = None, key: Optional[bytes] = None, hash: Optional[str] = None,
              **options: Any) -> OfTwo:
        """The filter of these members, which answers the other keys without errors, too. Both are keys
        as ``contains`` takes them; repetitions do no harm. A key of both sets is a member.

        >>> f = bloomset.Exact.build(["ann"], ["bob", "cid"])
        >>> "ann" in f, "bob" in f, "cid" in f
        (True, False, False)

        If ``partitioned``, each key is a text with a tab after its partition, such as the issuer of a
        certificate. Thousands of partitions cost little more than one large set. Keys of partitions
        that are in neither set have no answer, see ``covers``.

        >>> revoked, valid = ["Good CA\\t7", "New CA\\t9"], ["Good CA\\t9", "New CA\\t7"]
        >>> f = bloomset.Exact.build(revoked, valid, partitioned=True)
        >>> "New CA\\t9" in f, "New CA\\t7" in f
        (True, False)
        """
        made = _native.build_of_two_sets(kind_of(cls), _native.Request(
            None, None, None, None, None, seed, key, hash, options), members, others, partitioned)
        return adopt(made, cls)  # type: ignore[return-value]

    def covers(self, keys: Keys, *, offsets: Optional[Any] = None) -> "NDArray[numpy.bool_]":
        """Whether the filter has an answer for each of many keys, which are given as to ``contains``. It
        has one for all of them unless it has partitions, and the key's partition is not among them.
        ``contains`` is then False and means nothing.

        >>> f = bloomset.Exact.build(["Good CA\\t7"], ["Good CA\\t9"], partitioned=True)
        >>> [bool(a) for a in f.covers(["Good CA\\t9", "Old CA\\t9"])]
        [True, False]
        """
        answers: "NDArray[numpy.bool_]" = as_array(self._cover_many(keys, offsets), "bool", "?")
        return answers


@_native.with_direct_methods
class Deletable(Insertable):
    """Filters that take keys back. Discard only what was added: a non-member that passes as a member
    would take a member along."""

    __slots__ = ()

    def discard(self, key: Key) -> bool:
        """Takes back one add of a key; False, and nothing changes, if it certainly is not a member.

        >>> f = bloomset.Cuckoo.build(["ann"])
        >>> f.discard("ann"), f.discard("ann")
        (True, False)
        """
        return self._discard(key)

    def remove(self, key: Key) -> None:
        """As ``discard``; KeyError if the key certainly is not a member."""
        if not self._discard(key):
            raise KeyError(key)

    def difference_update(self, *keys: Keys, offsets: Optional[Any] = None) -> int:
        """Discards many keys, as ``contains`` takes them, of one batch or several; returns how many
        were there."""
        return self._discard_many(keys, offsets)


@_native.with_direct_methods
class Countable(Filter):
    """Filters that know how often a key was added."""

    __slots__ = ()

    def count(self, key: Key) -> int:
        """How often the key was added and not discarded: never too low, up to what the kind can
        count.

        >>> bloomset.VectorQuotient.build(["ann", "bob", "ann"]).count("ann")
        2
        """
        return self._count(key)

    def counts(self, keys: Keys, *, offsets: Optional[Any] = None) -> "NDArray[numpy.uint64]":
        """The same of many keys, as ``contains`` takes them: an array of uint64."""
        counts: "NDArray[numpy.uint64]" = as_array(self._count_many(keys, offsets), "uint64", "Q")
        return counts


class Mergeable(Filter):
    """Filters that can be united with others of the same kind and plan, an Expandable with any other
    of its seed; others raise ValueError. Those that count add their counts. A Bloom or BlockedBloom
    may have another size: both are folded to the largest size that divides both, and ValueError is
    raised if the rate of the union would be above both planned rates."""

    __slots__ = ()

    def __or__(self: OfMergeable, other: Filter) -> OfMergeable:
        if not isinstance(other, Filter):
            return NotImplemented
        both = self.copy()
        both._merge(other)
        return both

    def __ior__(self: OfMergeable, other: Filter) -> OfMergeable:
        if not isinstance(other, Filter):
            return NotImplemented
        if other is self:
            other = self.copy()
        self._merge(other)
        return self


class Intersectable(Filter):
    """Filters whose bits can be intersected with those of others of the same kind and plan: every
    common key is a member of the result, at a rate of at most that of either."""

    __slots__ = ()

    def __and__(self: OfIntersectable, other: Filter) -> OfIntersectable:
        if not isinstance(other, Filter):
            return NotImplemented
        both = self.copy()
        both._intersect(other)
        return both

    def __iand__(self: OfIntersectable, other: Filter) -> OfIntersectable:
        if not isinstance(other, Filter):
            return NotImplemented
        if other is not self:
            self._intersect(other)
        return self


class Foldable(Filter):
    """Filters that can be made smaller once their keys are known."""

    __slots__ = ()

    def fold(self: OfFoldable, fpr: Optional[Rate] = None, *, factor: Optional[int] = None) -> OfFoldable:
        """A smaller filter of the same keys, as if it had been made with its size: the smallest whose
        rate is at most ``fpr`` (by default the rate that this filter was planned for), or with
        ``factor`` the one that is so many times smaller. The factor must divide the size; a filter
        made with ``foldable="yes"`` has many divisors. Raises ValueError for other factors, and FullError
        if the rate is above ``fpr`` already.

        >>> f = bloomset.BlockedBloom(1_000_000, fpr=0.01, foldable="yes")
        >>> f.update(range(1000))
        1000
        >>> f.nbytes, f.fold().nbytes
        (1267200, 1408)
        """
        if factor is not None and (fpr is not None or factor < 1):
            raise ValueError("fold takes a rate, or a factor of at least 1")
        folded = self._fold(factor or 0, fpr)
        other: OfFoldable = adopt(folded, type(self))  # type: ignore[assignment]
        restore_state(other, state_of(self))
        return other
