"""What a request for a filter comes to. This file is imported with the first plan, because dataclasses takes
longer to import than the rest of the package."""

from __future__ import annotations

import dataclasses
import html
from typing import Any, Dict, Optional, Tuple


def shown_rate(rate: float) -> str:
    return f"{rate:.3%}" if rate >= 1e-4 else f"{rate:.2g}"


@dataclasses.dataclass(frozen=True)
class Plan:
    """What a request comes to."""

    #: Of the filter: ``bloomset.KINDS[plan.kind]`` is its class.
    kind: str
    capacity: int
    bits: int
    #: Its size.
    bytes: int
    #: The number of hash functions, of kinds that have one.
    hashes: Optional[int]
    bits_per_key: float
    #: The rate of false positives at capacity.
    planned_fpr: float
    #: The rate that 95 of 100 such filters do not exceed.
    fpr_95: float
    #: 64, or 128 for rates that 64-bit hashes cannot give.
    hash_bits: int
    #: Figures that only this kind has.
    extras: Dict[str, Any]
    #: The bits per key that any filter of this rate needs at least.
    information_bound: float
    #: Why this kind is recommended, where all were compared.
    reason: str = ""
    #: All kinds that fit, the best first.
    ranked: Tuple["Plan", ...] = ()
    #: The other kinds, and why they do not fit.
    refused: Dict[str, str] = dataclasses.field(default_factory=dict)

    def _repr_html_(self) -> str:
        """The plan as a table, in a notebook."""
        heads = ("kind", "keys", "bytes", "bits per key", "rate")
        rows = [(plan.kind, f"{plan.capacity:,}", f"{plan.bytes:,}", f"{plan.bits_per_key:.2f}",
                 shown_rate(plan.planned_fpr)) for plan in self.ranked or (self,)]
        right = ' style="text-align: right"'
        table = ["<table>", "<tr>" + "".join(f"<th>{head}</th>" for head in heads) + "</tr>"]
        for first, *figures in rows:
            table.append(f"<tr><td>{html.escape(first)}</td>"
                         + "".join(f"<td{right}>{figure}</td>" for figure in figures) + "</tr>")
        for kind, why in self.refused.items():
            table.append(f'<tr><td>{html.escape(kind)}</td><td colspan="4">{html.escape(why)}</td></tr>')
        table.append("</table>")
        if self.reason:
            table.insert(0, f"<p><b>{html.escape(self.kind)}</b>: {html.escape(self.reason)}</p>")
        return "\n".join(table)
