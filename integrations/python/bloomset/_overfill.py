"""What is said when a filter gets more keys than it was planned for."""

from __future__ import annotations

import sys


class OverfilledWarning(UserWarning):
    """A filter has more keys than it was planned for, so that its rate is above the planned one. Each filter
    warns once. It keeps all its keys, and takes more."""


def warn(text: str) -> None:
    """Warns in the first caller outside this package."""
    import warnings  # which few programs need

    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "bloomset":
        level, frame = level + 1, frame.f_back
    warnings.warn(text, OverfilledWarning, stacklevel=level)
