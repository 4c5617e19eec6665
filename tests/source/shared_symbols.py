"""Shared libraries show what their public headers declare, and nothing else.

    shared_symbols.py LIBRARY HEADER_FOLDER [LIBRARY HEADER_FOLDER ...]

The name of each exported function or object has to be a word in some public header.
"""

import pathlib
import re
import subprocess
import sys

NAME = re.compile(r"(?:(?:vtable|typeinfo|typeinfo name|VTT) for )?(bloomset::.*)")


def name_of(symbol):
    """"may_contain" of "bloomset::basic_bloom<...>::may_contain"; None if it is not ours. Not every
    c++filt knows names with constraints; of those the words before the first template argument
    are read."""
    if symbol.startswith("_ZN8bloomset"):
        return innermost(symbol.removeprefix("_ZN"))
    match = NAME.fullmatch(symbol)
    if not match:
        return None
    text = match[1]
    while (shorter := re.sub(r"<[^<>]*>|\([^()]*\)|\[[^\[\]]*\]", "", text)) != text:
        text = shorter
    return re.findall(r"\w+", text)[-1]


def innermost(mangled):
    """"bits" of "8bloomset4bitsI...": each word stands behind its length."""
    name = None
    while length := re.match(r"\d+", mangled):
        end = length.end() + int(length[0])
        name, mangled = mangled[length.end():end], mangled[end:]
    return name


def shown_by(library):
    """Names without parameters and results."""
    table = subprocess.run(["nm", "-D", "--defined-only", library], check=True,
                           stdout=subprocess.PIPE, text=True).stdout
    mangled = "".join(line.split()[2] + "\n" for line in table.splitlines())
    return subprocess.run(["c++filt", "-p"], input=mangled, check=True, stdout=subprocess.PIPE,
                          text=True).stdout.splitlines()


def main(arguments):
    wrong = []
    for library, headers in zip(arguments[::2], arguments[1::2]):
        words = set()
        for header in pathlib.Path(headers).rglob("*.*"):
            words |= set(re.findall(r"\w+", header.read_text()))
        symbols = shown_by(library)
        assert symbols, f"{library} shows nothing"
        for symbol in symbols:
            name = name_of(symbol)
            if name is None or name not in words:
                wrong.append(f"{pathlib.Path(library).name} shows {symbol}")
        print(f"{pathlib.Path(library).name}: {len(symbols)} symbols")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
