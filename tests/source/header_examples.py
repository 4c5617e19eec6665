#!/usr/bin/env python3
"""Writes a program from the examples in the comments of headers. The build compiles and runs it.

    header_examples.py OUTPUT FOLDER...      the headers in these folders

An example is a block of a header's comment that is indented by four more spaces, contains
`bloomset` and has a statement. It may use the names of tests/source/header_examples.hpp, but no other
example's. Other indented blocks are tables and formulas. A block among them that looks like code is
an error.
"""

import pathlib
import re
import sys

# What an example's line begins with: in C++ `///`, in C the ` *` of a long comment.
INDENTED = re.compile(r"\s*(?:///| \*)     (.*)")
LOOKS_LIKE_CODE = re.compile(r"\w\(.*\);|\{$")
STATEMENT = re.compile(r"[;{}]\s*(//.*)?$")


def blocks(text):
    """(number of the first line, lines) of each indented block."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        indented = INDENTED.match(line)
        if not indented:
            continue
        if found and found[-1][0] + len(found[-1][1]) == number:
            found[-1][1].append(indented[1])
        else:
            found.append((number, [indented[1]]))
    return found


def main():
    output, folders = pathlib.Path(sys.argv[1]), map(pathlib.Path, sys.argv[2:])
    includes, functions, calls = [], [], []
    for folder in folders:
        root = folder if folder.name == "include" else folder.parent
        for header in sorted(p for p in folder.rglob("*.h*") if "detail" not in p.parts):
            for line, code in blocks(header.read_text()):
                text = "\n".join(code)
                if "bloomset" not in text:
                    if any(LOOKS_LIKE_CODE.search(each) for each in code):
                        sys.exit(f"{header}:{line}: an example that names nothing of bloomset's")
                    continue
                if not any(STATEMENT.search(each) for each in code):
                    continue  # the second line of a label
                includes.append(f"#include <{header.relative_to(root)}>")
                calls.append(f"  example_{len(calls)}();")
                functions.append(f"void example_{len(functions)}() {{\n#line {line} \"{header}\"\n{text}\n}}\n")
    if not functions:
        sys.exit("no example was found: the headers are elsewhere")
    output.write_text("\n".join([*dict.fromkeys(includes), '#include "tests/source/header_examples.hpp"', "",
                                 "namespace {", *functions, "}  // namespace", "", "int main() {",
                                 *calls, "}", ""]))


if __name__ == "__main__":
    main()
