"""Filters of the keys that readers make of lines, for tests of the command line."""

import hashlib

import pytest

WIDE = ("--capacity", "1000", "--fpr", "1e-9")


@pytest.fixture
def build(run):
    """build(reader, lines) -> a filter of their keys, so wide that no non-member of these tests passes."""

    def make(reader, lines, *more, name="f.bloom"):
        run("build", "--force", "-o", name, "--keys", reader, *WIDE, *more, input=lines).ok()
        return name

    return make


def sha1(text):
    """As Pwned Passwords writes it."""
    return hashlib.sha1(text).hexdigest().upper().encode()
