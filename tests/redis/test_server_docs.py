"""Runs the commands of docs/reference/server*.md, docs/use/moving-from-*.md and docs/start/ against a
server, and compares the replies."""

import re

import pytest

from conftest import ROOT

PAGES = [ROOT / "docs" / "reference" / "server.md", *sorted((ROOT / "docs" / "reference" / "server").glob("*.md"))]
TEXT = "".join(page.read_text() for page in PAGES)
MOVING = [path.read_text() for path in sorted((ROOT / "docs" / "use").glob("moving-from-*.md"))]
START = "".join(page.read_text() for page in sorted((ROOT / "docs" / "start").glob("*.md")))


def shown(reply):
    if reply is True:  # redis-py's answer for the OK of RENAME
        return "OK"
    if isinstance(reply, list):
        return " ".join(shown(each) for each in reply)
    return reply.decode() if isinstance(reply, bytes) else str(reply)


@pytest.mark.parametrize("text", [TEXT, *MOVING, START],
                         ids=["server", "moving-from-redisbloom", "moving-from-valkey-bloom", "start"])
def test_what_is_shown_is_what_happens(server, text):
    promised = 0
    for block in re.findall(r"^```redis\n(.*?)^```$", text, re.M | re.S):
        reply = None
        for line in block.splitlines():
            if line.startswith("# -> "):
                assert shown(reply) == line[len("# -> "):]
                promised += 1
            else:
                reply = server.call(*line.split())
    assert promised > 5


def test_the_lowest_rates_are_those_of_the_table(server):
    """Each figure, rounded to two digits: 5% more is accepted, 5% less is refused."""
    page = (ROOT / "docs" / "reference" / "server" / "operations.md").read_text()
    rows = re.findall(r"^\| ((?:BF|CF)[^|]*) \| ([0-9.e-]+) \| ([0-9.e-]+) \| ([0-9.e-]+) \|$", page, re.M)
    options = {"BF, fixed": ["NONSCALING"], "BF, growing": [], "BF with `WINDOW`, 8 generations": ["WINDOW", "60"],
               "CF, or BF with `DELETABLE`, growing": ["DELETABLE"],
               "CF, or BF with `DELETABLE`, fixed": ["DELETABLE", "NONSCALING"]}
    assert {name for name, *_ in rows} == set(options)
    for name, *rates in rows:
        for items, rate in zip((1000, 1_000_000, 100_000_000), map(float, rates)):
            for factor in (1.05, 0.95):
                reserve = [["BF.RESERVE", "f", f"{rate * factor:.6g}", items, *options[name]]]
                if name.startswith("CF"):
                    expansion = ["EXPANSION", "0"] if "fixed" in name else []
                    reserve.append(["CF.RESERVE", "c", items, "ERROR", f"{rate * factor:.6g}", *expansion])
                for reply in server.call_all(reserve):
                    is_too_low = "too low" in str(reply)
                    assert is_too_low == (factor < 1), (reserve, reply)
                server.call("FLUSHALL", "SYNC")


def test_every_command_and_setting_is_documented(server):
    commands = server.raw(2, "COMMAND", "LIST", "FILTERBY", "MODULE", "bf")
    names = set(re.findall(r"[BC]F\.[A-Z]+", commands.decode()))
    assert len(names) >= 23
    for name in names | set(server.client.config_get("bf.*")):
        assert f"`{name}" in TEXT, name


def test_a_dump_holds_a_file_that_the_command_line_reads(server, tmp_path):
    """The layout in "Dumps"; the reader was written from docs/reference/format.md."""
    from format_reader import read
    server.call("BF.RESERVE", "f", "0.01", "50")
    server.call("BF.MADD", "f", *(f"member{i}" for i in range(500)))
    whole = b"".join(data for _, data in server.pieces("BF", "f"))
    assert whole[:8] == b"BLMSTDMP"
    filter = read(whole[64:])
    assert all(filter.may_contain(f"member{i}".encode()) for i in range(500))


def test_what_the_readme_shows_is_what_happens(server):
    block = re.search(r"^```redis\n(.*?)^```$", (ROOT / "README.md").read_text(), re.M | re.S)[1]
    for command, reply in re.findall(r"(.*)\n# -> (.*)\n", block):
        assert shown(server.call(*command.split())) == reply
