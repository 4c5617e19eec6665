"""`bloomset bench`: its output except the times, which no test can predict, and its chart."""

import json
import math
import os
import subprocess
import xml.etree.ElementTree as tree

import pytest

from conftest import BLOOMSET, all_of

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """(what it printed, its lines on a terminal, the picture), of one run with every kind."""
    folder = tmp_path_factory.mktemp("bench")
    ours, theirs = os.openpty()
    done = subprocess.Popen([BLOOMSET, "bench", "--capacity", "200k", "--fpr", "1%", "--static", "--json",
                             "--plot", folder / "b.svg"], stdout=subprocess.PIPE, stderr=theirs,
                            env={**os.environ, "TERM": "xterm"})
    os.close(theirs)
    shown = all_of(ours)
    out = done.stdout.read()
    assert done.wait() == 0
    return json.loads(out), shown, tree.parse(folder / "b.svg").getroot()


def test_it_measures_what_plan_plans(plan, measured):
    said, _, _ = measured
    found = plan("--capacity", "200k", "--fpr", "1%", "--static")
    assert [k["kind"] for k in said["kinds"]] == [k["kind"] for k in found["kinds"]]
    assert said["marked"] == found["kind"]
    for mine, planned in zip(said["kinds"], found["kinds"]):
        assert {name: mine[name] for name in ("capacity", "bytes", "planned_fpr")} \
            == {name: planned[name] for name in ("capacity", "bytes", "planned_fpr")}
        # Growing kinds leave gaps, and chance decides how large a ribbon becomes.
        assert math.isclose(mine["measured_bits_per_key"], planned["bits_per_key"], rel_tol=0.05)


def test_rates_are_those_that_were_planned(measured):
    said, _, _ = measured
    for kind in said["kinds"]:
        rate, n = kind["planned_fpr"], kind["non_members"]
        # The keys are fixed, so the outcome is. A right filter stays below: six deviations of the
        # non-members, and two hundredths for which keys came, are exceeded with a chance below 1e-8.
        assert kind["measured_fpr"] <= rate * 1.02 + 6 * math.sqrt(rate / n), kind["kind"]
    exact = {k["kind"]: k for k in said["kinds"]}
    for name in ("bloom", "blocked_bloom", "ribbon"):
        kind = exact[name]
        assert kind["measured_fpr"] >= kind["planned_fpr"] * 0.97 - 6 * math.sqrt(kind["planned_fpr"] / kind["non_members"])


def test_times_are_there_for_what_a_kind_can(measured):
    said, _, _ = measured
    for kind in said["kinds"]:
        times = {**kind["ns"]}
        single = times["insert"].pop("single")
        assert (single is None) == (kind["kind"] in ("fuse", "ribbon"))
        assert all(ns > 0 for pair in times.values() for ns in pair.values())


def test_it_draws_progress_on_a_terminal_only(run, measured):
    _, shown, _ = measured
    assert b"% [" in shown and shown.endswith(b"\x1b[K")
    done = run("bench", "--capacity", "1000", "--kind", "bloom").ok()
    assert done.err == b""


def test_the_picture_has_every_kind_and_marks_one(measured):
    said, _, root = measured
    texts = [t.text or "" for t in root.iter(SVG + "text")]
    assert texts[0] == root.find(SVG + "title").text == "Nanoseconds per key over bits per key"
    assert "size (bits per key)" in texts and "time (ns per key)" in texts
    lines = {line.find(SVG + "title").text: line for line in root.iter(SVG + "polyline")}
    assert set(lines) == {k["kind"] for k in said["kinds"]}
    circles = list(root.iter(SVG + "circle"))
    assert len(circles) == 2 * len(lines) + 1
    # Where the axes say: x from two labels of the axis below, y from two decades.
    below = sorted((float(t.text), float(t.get("x"))) for t in root.iter(SVG + "text")
                   if t.get("text-anchor") == "middle" and (t.text or "x")[0].isdigit())
    left = sorted((float(t.text), float(t.get("y")) - 4) for t in root.iter(SVG + "text")
                  if t.get("text-anchor") == "end" and (t.text or "x")[0].isdigit())
    (v0, x0), (v1, x1) = below[0], below[-1]
    (r0, y0), (r1, y1) = left[0], left[-1]
    for kind in said["kinds"]:
        for name, place in (("absent", 0), ("insert", 1)):
            x, y = map(float, lines[kind["kind"]].get("points").split()[place].split(","))
            assert math.isclose(x, x0 + (kind["measured_bits_per_key"] - v0) / (v1 - v0) * (x1 - x0), abs_tol=0.2)
            share = math.log(kind["ns"][name]["batch"] / r0) / math.log(r1 / r0)
            assert math.isclose(y, y0 + share * (y1 - y0), abs_tol=0.2)
    mark = [float(v) for v in lines[said["marked"]].get("points").split()[0].split(",")]
    assert [float(circles[-1].get("cx")), float(circles[-1].get("cy"))] == mark


def test_one_kind_alone(run):
    out = run("bench", "--kind", "fuse", "--capacity", "1000", "--fpr", "0.4%").ok().out.decode()
    rows = [line for line in out.splitlines() if line.startswith("* ")]
    assert len(rows) == 1 and rows[0].split()[1] == "fuse"
    assert out.startswith("1,000 keys of 16 bytes")


def test_keys_of_another_length(run):
    out = run("bench", "--kind", "bloom", "--capacity", "1000", "--key-bytes", "300", "--json").ok().out
    assert json.loads(out)["key_bytes"] == 300


def test_kinds_that_do_not_fit_say_why(run):
    out = run("bench", "--capacity", "1000", "--deletable").ok().out.decode()
    assert "bloom            - a filter of kind bloom cannot erase" in out
    assert "* cuckoo" in out or "* vector_quotient" in out


@pytest.mark.parametrize("args, sentence", [
    (("--kind", "blom"), "blom"),
    (("--fpr", "2"), "--fpr: '2' is not a rate"),
    (("--capacity", "1M", "--fpr", "1%", "--memory", "1kB"), "leave one of capacity, rate and memory out"),
    (("--kind", "bloom", "--deletable"), "a filter of kind bloom cannot erase"),
    (("--key-bytes", "15"), "--key-bytes: '15' is not a number of bytes; give 16 to 65536"),
    (("--key-bytes", "1M"), "'1M' is not a number of bytes"),
    (("--key-bytes", ""), "--key-bytes"),
    (("--plot", "no/such/folder.svg"), "no/such/folder.svg"),
])
def test_what_cannot_be_measured_is_one_sentence(run, args, sentence):
    run("bench", *args).refused(sentence)
