#!/usr/bin/env python3
"""What happens to the rate of each kind as a filter gets more keys than planned: measures, and draws the chart of
docs/start/choose.md.

    PYTHONPATH=build/integrations/python bench/reports/beyond_capacity.py docs/start/beyond-capacity.svg

Each kind makes one filter for 10,000 keys at 1%, whose keys arrive a part at a time. After each part, a million
non-members are queried. Keys and seed are fixed, so each run measures the same. It takes some seconds. Prints the
rates as a table, which is that of the page.
"""

import argparse
import array
import pathlib
import warnings

import bloomset
from drawing import lines, percent, table

PLANNED, RATE, NON_MEMBERS = 10_000, 0.01, 1_000_000
# Ten steps per factor of ten, so that equal steps of the chart are equal factors.
LOADS = (0.5, 0.63, 0.8, 1, 1.25, 1.6, 2, 2.5, 3.2, 4, 5, 6.3, 8, 10)
NAMED = (0.5, 1, 2, 5, 10)
KINDS = ("bloom", "counting_bloom", "blocked_bloom", "scalable_bloom", "expandable", "cuckoo", "vector_quotient")


def numbers(first, end):
    return array.array("Q", range(first, end))


def measured(kind, non_members):
    """(load, rate) after each part, and the load at which the filter was full, or None."""
    filter = bloomset.KINDS[kind](PLANNED, RATE)
    points, held = [], 0
    for load in LOADS:
        keys = numbers(held, round(PLANNED * load))
        try:
            filter.update(keys)
        except bloomset.FullError as full:
            return points, (held + full.contained) / PLANNED
        held += len(keys)
        points.append((load, sum(filter.contains(non_members).tolist()) / NON_MEMBERS))
    return points, None


def by_curve():
    """(names, points, full) of each curve: kinds with the same rates share one."""
    curves = []
    non_members = numbers(1 << 40, (1 << 40) + NON_MEMBERS)
    for kind in KINDS:
        points, full = measured(kind, non_members)
        same = next((names for names, known, _ in curves if known == points), None)
        if same:
            same.append(kind)
        else:
            curves.append(([kind], points, full))
    return curves


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("chart", type=pathlib.Path, help="the SVG to write")
    chart = arguments.parse_args().chart
    warnings.simplefilter("ignore", bloomset.OverfilledWarning)
    curves = by_curve()

    def ending(full):
        return f": full at {full:.2f}x" if full else ""

    chart.write_text(lines(
        f"Rate of false positives, planned for {PLANNED:,} keys at {percent(RATE)}",
        "keys in the filter, relative to the planned number",
        [(", ".join(names) + ending(full), points) for names, points, full in curves],
        [(f"planned rate: {percent(RATE)}", RATE)], NAMED, label=lambda load: f"{load:g}x", tick=percent))
    print(table(["kind"] + [f"{load:g}x" for load in NAMED],
                [[", ".join(f"`{name}`" for name in names)]
                 + [percent(dict(points)[load]) if load in dict(points) else "full" for load in NAMED]
                 for names, points, _ in curves]))


if __name__ == "__main__":
    main()
