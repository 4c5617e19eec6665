"""Sizes of filters, and which kind suits."""

from __future__ import annotations

from . import _native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Optional

    from ._filter import Count, Rate
    from ._planned import Plan


def kinds() -> Dict[str, Dict[str, Any]]:
    """What is known of each kind by its name: a summary, strengths, abilities and options.

    >>> bloomset.kinds()["counting_bloom"]["options"]["counter_bits"]
    'the width of a counter, which sticks at 15, 255 or 65535: 4, 8 or 16 (default 4)'
    """
    return _native.kinds()


def plan(capacity: Optional[Count] = None, fpr: Optional[Rate] = None, *,
         memory: Optional[Count] = None, bits: Optional[Count] = None,
         hashes: Optional[int] = None, kind: Optional[str] = None, deletable: bool = False,
         counting: bool = False, growing: bool = False, static: bool = False,
         seed: Optional[int] = None, key: Optional[bytes] = None, hash: Optional[str] = None,
         **options: Any) -> Plan:
    """Plans a filter without making it, with the numbers of ``bloomset plan``: any sufficient two of
    capacity, rate, size and number of hash functions give the rest. Without a kind, all kinds that
    have what is needed are compared.

    >>> best = bloomset.plan("1M", "1%", deletable=True)
    >>> best.kind, round(best.bits_per_key, 2)
    ('vector_quotient', 9.95)
    >>> bloomset.plan(1e9, memory="1GB", kind="bloom").planned_fpr < 0.022
    True
    >>> bloomset.plan(fpr="1%", kind="bloom")
    Traceback (most recent call last):
    ValueError: ...
    """
    from ._planned import Plan

    wanted = _native.Request(capacity, fpr, memory, bits, hashes, seed, key, hash, options)
    made = _native.plan(kind, wanted, deletable, counting, growing, static)
    made["ranked"] = tuple(Plan(**each) for each in made.get("ranked", ()))
    return Plan(**made)
