"""`bloomset plan --plot`: a chart with labels, and the plan itself as a point."""

import json
import math
import pathlib
import re
import xml.etree.ElementTree as tree

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
SVG = "{http://www.w3.org/2000/svg}"


def axis(root, unit):
    """value -> coordinate, from the labels that the axis has."""
    labels = []
    for text in root.iter(SVG + "text"):
        match = re.fullmatch(r"([\d.e-]+)" + unit, text.text or "")
        if match:
            labels.append((float(match[1]), float(text.get("x")), float(text.get("y"))))
    return labels


def test_the_plan_is_marked_where_the_axes_say(plan, tmp_path):
    said = plan("--capacity", "1M", "--fpr", "0.1%", "--kind", "cuckoo", "--plot", "p.svg")
    root = tree.parse(tmp_path / "p.svg").getroot()
    texts = [t.text or "" for t in root.iter(SVG + "text")]
    assert "size (bits per key)" in texts and "rate of false positives (%)" in texts
    assert any(t.startswith("1,000,000 keys") for t in texts)
    assert root.find(SVG + "title").text == texts[0]
    mark = root.find(SVG + "circle")
    bits = sorted({(v, x) for v, x, y in axis(root, "") if y > 500})
    (v0, x0), (v1, x1) = bits[0], bits[-1]
    at = x0 + (said["bits_per_key"] - v0) / (v1 - v0) * (x1 - x0)
    assert math.isclose(float(mark.get("cx")), at, abs_tol=0.2)
    rates = sorted((v, y - 4) for v, x, y in axis(root, "%") if x < 84)
    (r0, y0), (r1, y1) = rates[0], rates[-1]
    share = math.log(100 * said["planned_fpr"] / r0) / math.log(r1 / r0)
    assert math.isclose(float(mark.get("cy")), y0 + share * (y1 - y0), abs_tol=0.2)
    assert any(t.startswith("cuckoo: ") for t in texts)


def test_every_kind_and_the_bound_have_a_line(plan, tmp_path):
    kinds = {k["kind"] for k in plan("--capacity", "1000", "--fpr", "1%", "--plot", "p.svg")["kinds"]}
    root = tree.parse(tmp_path / "p.svg").getroot()
    lines = {line.find(SVG + "title").text: line for line in root.iter(SVG + "polyline")}
    assert kinds | {"least possible"} == set(lines)
    colours = json.loads((ROOT / "explorer" / "src" / "kind-colours.json").read_text())
    assert {kind: lines[kind].get("stroke") for kind in kinds} == {kind: colours[kind]["light"] for kind in kinds}
    # No kind is below the bound: at its rates it has more bits.
    assert all(len(line.get("points").split()) > 10 for line in lines.values())


PLOTS = [("plan", "--capacity", "1000", "--fpr", "1%"),
         ("bench", "--capacity", "1000", "--kind", "bloom", "--no-progress")]


@pytest.mark.parametrize("args", PLOTS, ids=lambda args: args[0])
def test_a_picture_replaces_a_file_only_by_force(run, tmp_path, args):
    (tmp_path / "p.svg").write_bytes(b"precious")
    run(*args, "--plot", "p.svg").refused("p.svg: the file exists; give --force")
    assert (tmp_path / "p.svg").read_bytes() == b"precious"
    run(*args, "--plot", "p.svg", "--force").ok()
    assert tree.parse(tmp_path / "p.svg").getroot().tag == SVG + "svg"


@pytest.mark.parametrize("args", PLOTS, ids=lambda args: args[0])
def test_a_picture_does_not_go_to_stdout(run, tmp_path, args):
    run(*args, "--plot", "rates.png").refused("--plot: a chart is written as SVG; name it rates.svg")
    run(*args, "--plot", "rates").refused("name it rates.svg")
    run(*args, "--plot", "-").refused("--plot: ", "give the name of a file")
    assert not (tmp_path / "-").exists()


def test_a_picture_that_cannot_be_written_is_all_that_is_said(run):
    run("plan", "--capacity", "1000", "--fpr", "1%", "--plot", "no/such/folder.svg").refused("no/such")
