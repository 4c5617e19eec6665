#!/usr/bin/env python3
"""Doxygen's input filter (docs/maintain/api/Doxyfile): filter.py HEADER prints the header with Doxygen's marks.

The comments of the headers are plain text, laid out to be read in the source:

    /// Query       O(1)...      a label in a column      becomes a titled paragraph
    ///     indented             code, a table, a formula  is shown as it is

The lines keep their numbers, so that warnings name the right ones.
"""

import itertools
import re
import sys

CODE = re.compile(r"[;{}]\s*(//.*)?$")
LABEL = re.compile(r"(\w[\w ]*?)( {2,})(?=\S)")


def doxygen_comment(lines):
    """A comment's lines, without their `///`, with Doxygen's marks and in as many lines."""
    out = []
    column = 0  # of the text of the label that we are in
    in_block = False
    for number, line in enumerate(lines):
        text = line.removeprefix(" ")
        indent = len(text) - len(text.lstrip())
        if not text.strip():
            # A blank line in the middle of a block belongs to it.
            if not (in_block and lines[number + 1:] and lines[number + 1].startswith(" " * (column + 5))):
                column = 0
        elif indent >= column + 4 and not in_block:
            block = itertools.takewhile(lambda later: later.startswith(" " * (column + 5)), lines[number:])
            begin = "@code{.cpp}" if any(map(CODE.search, block)) else "@code{.unparsed}"
            if out:
                out[-1] += " " + begin
            else:
                text = begin + " " + text
            in_block = True
        elif indent < column + 4:
            if in_block:
                out[-1] += " @endcode"
                in_block = False
            label = LABEL.match(text)
            if label:
                column = label.end()
                text = f"@label{{{label[1]}}} {text[column:]}"
            text = re.sub(r"\b([A-Z]\.)( |$)", r"\1\\ ", text)  # an initial ends no sentence
            text = re.sub(r"(?<=[ (])::(?=\w)", r"\\::", text)  # an address, not a name
        out.append(" " + text)
    if in_block:
        out[-1] += " @endcode"
    return out


def from_c(text):
    """A C header, with `/* */` as Doxygen's comments."""
    text = re.sub(r"^/\* (.*) -{9,} \*/$", "", text, flags=re.M)  # a heading
    text = re.sub(r"([;,\w]) +/\* ", r"\1 /**< ", text)

    def comment(found):
        lines = found[1].split("\n")
        lines = [lines[0], *(line.removeprefix(" *") for line in lines[1:])]
        return "\n".join("///" + line.rstrip() for line in doxygen_comment(lines))

    return re.sub(r"^/\*( .*?)\*/$", comment, text, flags=re.M | re.S)


def from_cpp(text):
    def comment(found):
        lines = found[0].rstrip("\n").split("\n")
        begin = lines[0][:lines[0].index("///") + 3]
        return "".join(f"{begin}{line}\n" for line in doxygen_comment([each.strip()[3:] for each in lines]))

    text = re.sub(r"^ *using overloads::\w+;$", "", text, flags=re.M)  # Doxygen shows what is inherited
    return re.sub(r"(^ *///(?!<).*\n)+", comment, text, flags=re.M)


def main():
    path = sys.argv[1]
    with open(path, encoding="utf-8") as header:
        text = header.read()
    # Details in a public header are not shown; nor is what extends another library.
    text = re.sub(r"^namespace detail \{\n.*?^\}  // namespace detail$",
                  lambda found: "\n" * found[0].count("\n"), text, flags=re.M | re.S)
    text = re.sub(r"^/// .*\ntemplate <class T>\nstruct tl::.*$", "\n\n", text, flags=re.M)
    text = from_c(text) if path.endswith(".h") else from_cpp(text)
    # The first comment is the file's.
    print(re.sub(r"\n\n(?=///)", "\n/// @file\n", text, count=1), end="")


if __name__ == "__main__":
    main()
