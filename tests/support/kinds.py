"""The kinds of the registry, by their properties.

    kinds_that("erase", "count")          the names of those that can do both
    kinds_that("insert", any_order=False)
    kinds_that(of_two_sets=True)          the kinds of two sets, which are left out otherwise

The properties are the fields of `abilities` and kind_info (kind_list.cpp), from $BLOOMSET_KINDS, or build/tests/kinds.json.
"""

import json
import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
KINDS = json.loads(pathlib.Path(os.environ.get("BLOOMSET_KINDS", ROOT / "build" / "tests" / "kinds.json")).read_text())


def kinds_that(*can, **properties):
    wanted = {"of_two_sets": False, **dict.fromkeys(can, True), **properties}
    found = [name for name, has in KINDS.items() if all(has[key] == value for key, value in wanted.items())]
    assert found, f"no kind has {wanted}"
    return found
