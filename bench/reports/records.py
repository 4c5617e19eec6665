"""A results file of bench/run.sh: a JSON object a line."""

import json
import pathlib
import sys


class Results:
    """The records of one file, by what they are."""

    def __init__(self, path):
        self.path = path
        lines = pathlib.Path(path).read_text().splitlines()
        self.records = [json.loads(line) for line in lines if line.strip()]
        if not self.records:
            sys.exit(f"{path}: there are no results in it; bench/run.sh writes them")

    def all(self, record, **wanted):
        return [r for r in self.records if r["record"] == record
                and all(r.get(k) == v for k, v in wanted.items())]

    def one(self, record, **wanted):
        found = self.all(record, **wanted)
        return found[-1] if found else None

    def sizes(self):
        return sorted({r["n"] for r in self.all("filter")})

    def rates(self, n):
        return sorted({r["fpr"] for r in self.all("filter", n=n)}, reverse=True)


def query(row, mode, present, threads=1):
    """Nanoseconds a key, or None."""
    if row is None:
        return None
    for cell in row["query"]:
        if (cell["mode"], cell["present"], cell["threads"]) == (mode, present, threads):
            return cell["ns"]
    return None


def built(row, threads=1):
    for cell in (row or {}).get("build", []):
        if cell["threads"] == threads:
            return cell["ns"]
    return None


def best(values):
    values = [v for v in values if v is not None]
    return min(values) if values else None


def ratio(a, b):
    return None if a is None or not b else a / b


def line_limit(results, n, fpr, threads=1):
    """The fastest of the random lines that were walked at that size: (record, ns)."""
    rows = [(query(r, "batch", 0, threads), r)
            for r in results.all("filter", n=n, fpr=fpr, group="limit")]
    rows = [r for r in rows if r[0] is not None]
    return min(rows, key=lambda r: r[0]) if rows else (None, None)
