"""examples/squid-siblings: two real Squids; one receives a digest that bloomset made."""

import json
import os
import subprocess

import pytest

from conftest import BLOOMSET, ROOT

OBJECTS = 300


@pytest.fixture(scope="module")
def figures():
    done = subprocess.run([ROOT / "examples" / "squid-siblings" / "run", "--bloomset", BLOOMSET,
                           "--objects", str(OBJECTS), "--json"],
                          capture_output=True, text=True, timeout=300)
    # Who has installed Squid for it wants to hear if that is not there.
    missing = "BLOOMSET_NEEDS_SQUID" in os.environ and "is not installed" in done.stderr
    if done.returncode == 77 and not missing:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_squids_own_digest_misses_none_of_its_urls(figures):
    assert figures["objects"] == OBJECTS
    assert figures["taken"]["format"] == "squid"
    # Squid counts what it adds anew when it rebuilds, so it is at least that.
    assert figures["taken"]["count"] >= OBJECTS


def test_every_url_that_the_made_digest_promises_is_asked_of_the_sibling(figures):
    assert figures["sibling_hits"] == OBJECTS
    # What bloomset calls a false positive is what the second Squid asks for in vain: to the URL.
    assert figures["in_vain"] == figures["made_wrong"]


def test_the_origin_sees_only_what_no_proxy_holds(figures):
    assert figures["requests"] == 2 * OBJECTS
    assert figures["at_origin"] == OBJECTS
