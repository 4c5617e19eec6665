"""Plans and plots: the figures of the command line, and lines that carry their names."""

import importlib.util
import math
import os
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("asked", [
    {"n": "1M", "fpr": "1%"}, {"n": "100M", "fpr": "0.001"}, {"n": "1e6", "fpr": "", "memory": "1MiB"},
    {"n": "", "fpr": "1/1000", "memory": "64MiB", "needs": "deletable"},
    {"n": "1M", "fpr": "", "memory": "10MB"},
])
def test_plans_are_those_of_the_command_line(page, bloomset, asked):
    page.open(tab="plan", **asked)
    flags = {"n": "--capacity", "fpr": "--fpr", "memory": "--memory"}
    args = [part for name, flag in flags.items() if asked.get(name) for part in (flag, asked[name])]
    said = bloomset.json("plan", "--json", *args, *(["--deletable"] if "needs" in asked else []))
    assert page.text("#plan-reason").startswith("Recommended: " + said["reason"])
    fit = [k for k in said["kinds"] if "refused" not in k]
    table = lambda column, name: page.attributes(f"#plan-table tbody {column}", name)
    assert table("tr", "data-kind") == [k["kind"] for k in fit]
    assert [int(n) for n in table(".size", "data-bytes")] == [k["bytes"] for k in fit]
    assert [float(n) for n in table(".bits", "data-bits-per-key")] == [k["bits_per_key"] for k in fit]
    # To the last digit, though another compiler and C library made the page's program.
    assert [float(r) for r in table(".rate", "data-rate")] == [k["planned_fpr"] for k in fit]


def test_rates_are_written_as_the_command_line_writes_them(page, bloomset):
    page.open(tab="plan", n="1M", fpr="1%", needs="deletable")
    table = bloomset("plan", "--capacity", "1M", "--fpr", "1%", "--deletable").decode()
    for row in page.all("#plan-table tbody tr"):
        kind, rate = row.get_attribute("data-kind"), row.find_element("css selector", "[data-rate]").text
        assert re.search(rf"^{kind} .* {re.escape(rate)} ", table, re.M), (kind, rate)
    page.one("#language").click()
    assert page.text("tr[data-kind=cuckoo] [data-rate]") == "0,740 %"
    assert page.text("tr[data-kind=cuckoo] [data-bytes]") == "1,32 MB"
    assert "1,24 MB" in page.text("#plan-reason")


@pytest.mark.parametrize("fpr", ["1%", "0.1%"])
def test_the_plan_names_the_librarys_default(page, bloomset, fpr):
    page.open(tab="plan", n="1M", fpr=fpr)
    default = page.one("#plan-default").get_attribute("data-default")
    assert f"(default {default})" in bloomset("build", "--help").decode()
    first = page.one("#plan-table tbody tr").get_attribute("data-kind")
    said = page.text("#plan-default")
    assert ("is also the default" in said) == (first == default)
    assert ("the default: Blocked Bloom" in said) == (first != default)


def test_a_plans_lines_are_those_of_the_command_line(page, bloomset):
    page.open(tab="plan", n="1000", fpr="1%")
    said = bloomset("plan", "--capacity", "1000", "--fpr", "1%").decode()
    lines = [e.text for e in page.all("#plan-detail code")]
    assert len(lines) >= 2
    for line in lines[:2]:
        assert line in said


def offered_lines(page):
    """The server's commands of all kinds of the plan that is shown."""
    found = []
    for kind in ("bloom", "scalable_bloom", "cuckoo"):
        for row in page.all(f"tr[data-kind={kind}]"):
            row.click()
            found += [e.text for e in page.all("#plan-detail code") if ".RESERVE" in e.text]
    return found


@pytest.mark.parametrize("asked, line", [
    ({"n": "1M", "fpr": "0.1%"}, "CF.RESERVE members 1000000 ERROR 0.001"),
    ({"n": "1M", "fpr": "", "memory": "2MB"}, None),
])
def test_the_copied_redis_line_has_the_plans_rate(page, bloomset, asked, line):
    page.open(tab="plan", needs="deletable", **asked)
    page.one("tr[data-kind=cuckoo]").click()
    said = page.all("#plan-detail code")[-1].text
    if line:
        assert said == line
    words = said.split()
    assert words[:2] + words[3:4] == ["CF.RESERVE", "members", "ERROR"]
    planned = float(page.one("tr[data-kind=cuckoo] [data-rate]").get_attribute("data-rate"))
    size = int(page.one("tr[data-kind=cuckoo] [data-bytes]").get_attribute("data-bytes"))
    # The server plans by the library: by this line, no larger a filter of no higher a rate.
    server = bloomset.json("plan", "--json", "--capacity", words[2], "--fpr", words[4], "--kind", "cuckoo")
    assert server["planned_fpr"] <= planned * 1.0001
    assert server["bytes"] <= size


def test_the_server_takes_every_line_that_is_offered(page, tmp_path):
    """From one item to more than a server has, and from rates that all pass to rates below what hashes give."""
    spec = importlib.util.spec_from_file_location("module_conftest", ROOT / "tests" / "redis" / "conftest.py")
    servers = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(servers)
    if not (servers.PROGRAM and os.path.exists(servers.MODULE)):
        pytest.skip("no server or no module is here")
    server = servers.Server(tmp_path)
    offered = {}
    try:
        for n in ("1", "3", "1000", "9999", "10000", "1M", "100M", "1G", "1073741824", "1073741825", "1T"):
            for fpr in ("90%", "26%", "1%", "1e-4", "1e-6", "1e-9", "1e-11", "1e-14", "1e-17", "1e-25", "1e-40"):
                page.open(tab="plan", n=n, fpr=fpr)
                for line in offered_lines(page):
                    offered.setdefault(line.split()[0], []).append(line)
                    assert server.call(*line.split()) == b"OK", line
                    server.call("FLUSHALL", "SYNC")
        for n, memory in (("1M", "1"), ("1M", "1kB"), ("1", "1GB"), ("10", "1MB"), ("1M", "2GiB")):
            page.open(tab="plan", n=n, fpr="", memory=memory)
            for line in offered_lines(page):
                assert server.call(*line.split()) == b"OK", line
                server.call("FLUSHALL", "SYNC")
    finally:
        server.stop()
    assert len(offered["BF.RESERVE"]) > 60 and len(offered["CF.RESERVE"]) > 30


def test_measured_dots_lie_on_the_theorys_line(page):
    page.open(tab="plots", plot="hashes", plotN="2000")
    page.until(lambda: page.one("#measured").get_attribute("data-done") == "true", 60)
    dots = page.run("return [...document.querySelectorAll('[data-dot]')].map((e) => "
                    "[e.dataset.theory, e.dataset.measured, e.dataset.others].map(Number))")
    assert len(dots) > 10
    for theory, measured, others in dots:
        # The keys are fixed, so the outcome is; a right filter leaves six deviations of non-members
        # and bits with a chance below 1e-8 a dot. Bits: 0.46 sqrt(k/n), k <= 24, n = 2000.
        deviation = math.sqrt(theory * (1 - theory) / others) + theory * 0.46 * math.sqrt(24 / 2000)
        assert abs(measured - theory) <= 6 * deviation
    assert len(page.all("#chart svg")) >= 1


@pytest.mark.parametrize("width", [1200, 390])
@pytest.mark.parametrize("plot, lines", [("space", 10), ("hashes", 2), ("keys", 4)])
def test_each_line_of_a_plot_has_its_name_at_its_end(page, plot, lines, width):
    page.width(width)
    page.open(tab="plots", plot=plot, plotN="500")
    page.until(lambda: page.one("#measured").get_attribute("data-done") == "true", 60)
    names = page.run("""return [...document.querySelectorAll('.names text')].map((e) => {
        const {left, right, top, bottom} = e.getBoundingClientRect(); return [left, right, top, bottom]; })""")
    assert len(names) == lines
    card = page.run("const {left, right} = document.querySelector('.card').getBoundingClientRect(); return [left, right]")
    for left, right, _, _ in names:
        assert card[0] <= left and right <= card[1]
    for i, (l1, r1, t1, b1) in enumerate(names):
        for l2, r2, t2, b2 in names[:i]:
            # Letters may stand as close as lines of a text do.
            assert r1 <= l2 or r2 <= l1 or b1 - 4 <= t2 or b2 - 4 <= t1
    # A gridline for each number of an axis, and none between.
    for side in "xy":
        middles, drawn = (page.run("""const [label, side] = arguments;
            return [...document.querySelector(`[aria-label="${label}"]`).children].map((e) => {
              const r = e.getBoundingClientRect(); return side === 'x' ? (r.left + r.right) / 2 : (r.top + r.bottom) / 2; })""",
            label, side) for label in (f"{side}-axis tick label", f"{side}-grid"))
        assert len(middles) == len(drawn) >= 3
        assert all(abs(a - b) < 3 for a, b in zip(sorted(middles), sorted(drawn)))
