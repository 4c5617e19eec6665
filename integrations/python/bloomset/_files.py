"""Opening what was stored."""

from __future__ import annotations

from . import _native
from ._filter import Filter, adopt

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from typing import Any, Dict, Optional, Union


def open(path: Union[str, bytes, "os.PathLike[Any]"], *, mmap: bool = True,
         verify: Optional[bool] = None, key: Optional[bytes] = None) -> Filter:
    """Opens a filter file of any kind, of the command line or of C++ too. A folder that
    ``bloomset publish`` wrote is one filter, of its base and layers.

    With ``mmap`` nothing is read or copied and nothing can be changed: the file is mapped, shared by
    all processes that have it open, and answers at once at any size. With ``mmap=False`` it is read
    into memory, to be changed.

    The header is always checked, and the bits of files up to 64 MiB; ``verify=True`` checks all of
    any file, ``verify=False`` the header only. A damaged file raises ValueError, one that cannot be
    read OSError. ``key`` is the secret key of a filter that was made with one; without it, or with
    another, ValueError is raised.

    >>> bloomset.Bloom.build(["ann"]).save("ann.bloom")
    >>> "ann" in bloomset.open("ann.bloom")
    True
    >>> bloomset.open("ann.bloom").add("bob")
    Traceback (most recent call last):
    TypeError: a filter of kind bloom, opened read-only, cannot insert; open it with mmap=False
    """
    return adopt(_native.open(path, mmap, verify, key))


def info(path: Union[str, bytes, "os.PathLike[Any]"]) -> Dict[str, Any]:
    """The ``info()`` of the filter in a file. It needs no secret key: ``seed`` is then the key's
    identifier. Raises as ``open`` does.

    >>> bloomset.Bloom.build(["ann"], key=bloomset.new_key()).save("ann.bloom")
    >>> bloomset.info("ann.bloom")["hash"]
    'siphash'
    """
    return _native.info(path)


def from_bytes(data: Union[bytes, bytearray, memoryview], key: Optional[bytes] = None) -> Filter:
    """The filter of any kind in the bytes that ``to_bytes`` gave, or that a file has."""
    return Filter.from_bytes(data, key)


def new_key() -> bytes:
    """A secret key of 16 random bytes, for filters whose false positives nobody may choose.

    >>> secret = bloomset.new_key()
    >>> bloomset.Bloom.build(["ann"], key=secret).save("secret.bloom")
    >>> "ann" in bloomset.open("secret.bloom", key=secret)
    True
    >>> bloomset.open("secret.bloom")
    Traceback (most recent call last):
    ValueError: ...
    """
    return _native.new_key()
