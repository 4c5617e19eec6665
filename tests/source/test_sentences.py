"""Error sentences have no habit that makes a reader stop. scripts/error-sentences.py collects them."""

import importlib.util
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "error-sentences.py"


def collected():
    spec = importlib.util.spec_from_file_location("error_sentences", SCRIPT)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return list(script.sentences())


SENTENCES = collected()

HABITS = {
    r"\w\(\)": "a name of the program's code",
    r"\bhal(f|ves)\b(?! of)": "a part of the implementation",
    r"(?<!there )\b(is|are) no (?!longer\b|more\b)\w": "write: is not a ...",
    r"\bis not one\b(?! of)": "name the thing",
    r"\bcould not be had\b": "write: could not be allocated",
    r"\bby itself\b": "write: on its own, or automatically",
    r"\bwhat (stands|follows|comes)\b": "name the subject",
    r"\basked?\b(?! for a key)": "write: query, give or request",
}
# Functions that the reader of the sentence calls.
CALLED = re.compile(r"\b(new_key|add|contains|update|ravel|compressed|sizeof|isin|epoch_us|isfinite|decimal)\(|\.\w+\(")


@pytest.mark.parametrize("habit", HABITS)
def test_sentences_have_no_such_habit(habit):
    found = [f"{file}:{line}: {text}" for file, line, text in SENTENCES if re.search(habit, CALLED.sub("", text))]
    assert not found, HABITS[habit]


def test_the_script_finds_the_sentences():
    """A sentence of each layer, of which one is broken over several literals."""
    assert len(SENTENCES) > 500
    texts = [text for _, _, text in SENTENCES]
    for known in ("the filter is full and cannot store this key", "the payload's checksum does not match",
                  "two of capacity, rate and memory", "is not a kind of filter; the kinds are", "the rate must lie between 0 and 1",
                  "has an odd number of digits", "give the 16 bytes of new_key()",
                  "only filters with equal counters can be combined"):
        assert any(known in text for text in texts), known
