#!/usr/bin/env python3
"""Writes the last line of each page: the next page, and the page above.

    docs/maintain/site/footers.py            writes the lines that are missing or wrong
    docs/maintain/site/footers.py --check    names them, and exits with 1

The order and the short names of the pages are the nav of mkdocs.yml. Above a page is the README.md of its folder, or of
the next folder above that has one; above the pages of `server/` is `server.md`. Pages that are not in the nav, such as
the decisions, have only "Up".
"""

import os
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
# More than one is one too many.
LINE = re.compile(r"(\n+---\n\n(Next|Up): [^\n]*)+\n*\Z")


def nav():
    """(short name, path) of each page, in order."""
    entries = (HERE / "mkdocs.yml").read_text().split("\nnav:\n")[1]
    return [(name, ROOT / path) for name, path in re.findall(r"^ *- (.+): (\S+\.md)$", entries, re.M)]


def pages():
    """All pages of the documentation, whether or not they are in the nav. `api/` is Doxygen's."""
    return sorted({*(path for _, path in nav()), *(ROOT / "docs").rglob("*.md")} - set((ROOT / "docs/maintain/api").glob("*")))


def above(page):
    for folder in page.parents:
        for candidate in (folder / "README.md", folder.with_suffix(".md")):
            if candidate != page and candidate.is_file():
                return candidate
        if folder == ROOT:
            return None


def footer(page):
    order = nav()
    names = {path: name for name, path in order}

    def link(word, target):
        name = names.get(target) or target.read_text().split("\n", 1)[0].removeprefix("# ")
        return f"{word}: [{name}]({os.path.relpath(target, page.parent)})"

    paths = [path for _, path in order]
    following = paths[paths.index(page) + 1:][:1] if page in paths else []
    return " · ".join([*(link("Next", path) for path in following), *([link("Up", above(page))] if above(page) else [])])


def with_footer(page):
    return LINE.sub("\n", page.read_text()).rstrip("\n") + f"\n\n---\n\n{footer(page)}\n"


def wrong():
    """The pages whose last line is not as the nav has it."""
    return [page for page in pages() if page.read_text() != with_footer(page)]


def main():
    found = wrong()
    for page in found:
        print(page.relative_to(ROOT))
        if sys.argv[1:] != ["--check"]:
            page.write_text(with_footer(page))
    sys.exit(bool(found) and sys.argv[1:] == ["--check"])


if __name__ == "__main__":
    main()
