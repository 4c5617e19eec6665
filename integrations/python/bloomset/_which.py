"""Which of many files has a key?"""

from __future__ import annotations

from . import _native

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from typing import Any, Dict, Iterable, List, Mapping, Optional, Union

    Path = Union[str, bytes, "os.PathLike[Any]"]


class Which:
    """An index of the keys of many files: ``which[key]`` is the list of the files that have the key.

    A key of the files gets exactly its files. Any other key gets an empty list, or with probability
    ``fpr`` some file that does not have it. ``bloomset index`` and ``bloomset which`` use the same files.

    >>> which = bloomset.Which.build({"mon.log": ["ann", "bob"], "tue.log": ["bob", "carol"]}, fpr=1e-6)
    >>> which["bob"], which["carol"], which["mallory"]
    (['mon.log', 'tue.log'], ['tue.log'], [])
    >>> which.get_many(["ann", "mallory"])
    [['mon.log'], []]
    >>> which.save("days.which")
    >>> "ann" in bloomset.Which.open("days.which")
    True
    """

    __slots__ = ("_index",)
    _index: "_native.FileIndex"

    def __init__(self) -> None:
        raise TypeError("make an index by Which.build(...) or Which.open(...)")

    @classmethod
    def _of(cls, index: "_native.FileIndex") -> "Which":
        self = object.__new__(cls)
        self._index = index
        return self

    @classmethod
    def build(cls, keys: Mapping[Path, Any], *, fpr: Optional[Union[float, str]] = None,
              seed: Optional[int] = None, key: Optional[bytes] = None) -> "Which":
        """The index of a mapping from the name of each file to its keys, as ``Filter.build`` takes them."""
        return cls._of(_native.FileIndex._build(dict(keys), fpr, seed, key))

    @classmethod
    def open(cls, path: Path, *, verify: Optional[bool] = None, key: Optional[bytes] = None) -> "Which":
        """Maps an index in a file. Arguments and exceptions are those of ``bloomset.open``."""
        return cls._of(_native.FileIndex._open(path, verify, key))

    def __getitem__(self, key: Union[str, bytes, int]) -> List[str]:
        return self._index._files_of(key)

    def get_many(self, keys: Iterable[Any]) -> List[List[str]]:
        """``[which[key] for key in keys]`` in a fraction of the time. Takes arrays and columns too."""
        return self._index._files_of_many(keys)

    def __contains__(self, key: object) -> bool:
        """Whether some file may have the key. False is certain."""
        return bool(self._index._files_of(key))

    def __len__(self) -> int:
        """The number of distinct keys."""
        return self._index._size()

    # The keys are not in the index.
    __iter__ = None

    @property
    def files(self) -> List[str]:
        """The names of all files, in the order in which they were given."""
        return self._index._names()

    def info(self) -> Dict[str, Any]:
        """Its figures, named as in ``bloomset info --json``."""
        return self._index._info()

    def save(self, path: Path, *, replace: bool = True) -> None:
        """Writes the index to a file, in one step, as ``Filter.save`` does."""
        self._index._save(path, replace)

    def __repr__(self) -> str:
        return f"<bloomset.Which of {len(self)} keys in {len(self.files)} files>"
