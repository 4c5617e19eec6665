#!/usr/bin/env python3
"""Prints the sentences that users may read when something fails, in one list: FILE:LINE, a tab, the sentence.

    scripts/error-sentences.py > sentences.txt
    scripts/error-sentences.py keys dialects

They are the string literals of C++ and Python sources with three words or more, in statements that
fail, refuse or warn. Adjacent literals are joined, so each sentence stands whole. Read the list
from time to time: a sentence says what was wrong, where, and what to do. The habits that a program
can find are checked by tests/source/test_sentences.py.
"""

import argparse
import bisect
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[1]
FOLDERS = ["cli", "src", "include", "dialects", "keys", "teach", "integrations"]
LITERAL = r'(?:(?<![\w\'])"(?:[^"\\\n]|\\.)*")'
# Comments and characters are matched so that a quote in one does not begin a literal.
TOKEN = re.compile(rf"(?P<skip>//[^\n]*|/\*.*?\*/|'(?:[^'\\\n]|\\.)+'|R\"(?P<mark>\w*)\(.*?\)(?P=mark)\")"
                   rf"|(?P<text>{LITERAL}(?:\s*{LITERAL})*)", re.S)
PYTHON_LITERAL = r'(?:(?<!\w)f?"(?:[^"\\\n]|\\.)*")'
PYTHON_TOKEN = re.compile(rf'(?P<skip>#[^\n]*|"""(?:.|\n)*?""")|(?P<text>{PYTHON_LITERAL}(?:\s*{PYTHON_LITERAL})*)', re.S)
STATEMENT_END = re.compile(r"[;{}]\s*\n|^\s*#include.*\n", re.M)
# Texts of help, and rows of tables: they are shown when nothing failed.
DESCRIPTION = re.compile(r"\b(option|flag|add_option|add_flag|meaning|under|def|def_property\w*|summary|strengths)\b[^;]*$"
                         r"|return \{\s*$|return \{\s*\"[a-z]+\",[^;]*$")
PROSE = re.compile(r"[a-z]{2,}.* .*[a-z]{2,}.* .*[a-z]{2,}", re.I)
FAILS = re.compile(r"fail|refus|err|throw|raise|reject|corrupt|damage|wrong|no_memory|no_room|warn|note|notice|say\(|reply|why|"
                   r"return|check|require", re.I)


def literals(path):
    """(position, text) of each literal in a source."""
    source = path.read_text()
    token, literal = (PYTHON_TOKEN, PYTHON_LITERAL) if path.suffix == ".py" else (TOKEN, LITERAL)
    for match in token.finditer(source):
        if match["text"]:
            parts = re.findall(literal, match["text"])
            yield match.start(), "".join(part[part.index('"') + 1:-1] for part in parts).replace('\\"', '"'), source


def sentences(folders=FOLDERS):
    """(file, line, sentence) of each sentence about a failure."""
    files = sorted(path for folder in folders for path in (ROOT / folder).rglob("*")
                   if path.suffix in (".cpp", ".hpp", ".inl", ".h", ".c", ".py"))
    for path in files:
        lines = None
        for start, text, source in literals(path):
            if lines is None:
                lines = [m.start() for m in re.finditer("\n", source)]
                ends = [m.end() for m in STATEMENT_END.finditer(source)]
            if not PROSE.search(text) or text.startswith("  "):
                continue
            boundaries = lines if path.suffix == ".py" else ends
            place = bisect.bisect_right(boundaries, start)
            statement = source[boundaries[place - 1] if place else 0:start]
            if FAILS.search(statement) and not DESCRIPTION.search(statement):
                yield path.relative_to(ROOT), bisect.bisect_left(lines, start) + 1, text


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("folder", nargs="*", default=FOLDERS, help="default: " + " ".join(FOLDERS))
    for file, line, text in sentences(arguments.parse_args().folder):
        print(f"{file}:{line}\t{text}")
