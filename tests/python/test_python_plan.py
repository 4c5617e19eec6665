"""Plans equal those of the command line, to the last digit."""

import dataclasses
import html.parser
import json

import bloomset
import pytest
from conftest import ONE_SET

FIGURES = ["kind", "capacity", "bits", "bytes", "bits_per_key", "planned_fpr", "extras"]


@pytest.mark.parametrize("options", [
    dict(capacity="1M", fpr="1%"),
    dict(capacity=100_000_000),
    dict(capacity=1e9, memory="1GB"),
    dict(memory="64MiB", fpr="1/1000", deletable=True),
    dict(fpr=0.001, growing=True),
    dict(capacity="1M", fpr=0.01, static=True),
    dict(capacity=1000, bits=8000, kind="bloom"),
    dict(capacity=1000, bits=8000, hashes=3, kind="bloom"),
    dict(capacity=1000, fpr=0.01, kind="counting_bloom", counter_bits=8),
    dict(capacity=1000, fpr=0.01, kind="ribbon"),
    dict(capacity=1000, fpr=0.01, counting=True, seed=5),
], ids=str)
def test_the_same_numbers(options, run):
    arguments = []
    for name, value in options.items():
        if value is True:
            arguments += [f"--{name}"]
        elif name == "counter_bits":
            arguments += ["--with", f"{name}={value}"]
        else:
            arguments += [f"--{name}", f"{value:.0f}" if value == 1e9 else str(value)]
    theirs = json.loads(run("plan", "--json", *arguments))
    ours = bloomset.plan(**options)
    assert {name: getattr(ours, name) for name in FIGURES} == {name: theirs[name] for name in FIGURES}
    assert ours.hashes == theirs.get("hashes")
    assert ours.reason == theirs.get("reason", "")
    kinds = theirs.get("kinds", [])
    assert [plan.kind for plan in ours.ranked] == [k["kind"] for k in kinds if "refused" not in k]
    assert ours.refused == {k["kind"]: k["refused"] for k in kinds if "refused" in k}
    for plan, same in zip(ours.ranked, kinds):
        assert (plan.bits, plan.planned_fpr) == (same["bits"], same["planned_fpr"])


def test_a_plan_is_what_is_made():
    for kind, cls in ONE_SET.items():
        plan = bloomset.plan(10_000, 0.01, kind=kind)
        assert plan.kind == kind
        if issubclass(cls, bloomset.Insertable):
            assert cls(10_000, 0.01).nbytes == plan.bytes, kind


def test_information_is_the_command_lines(run, tmp_path):
    for kind, cls in ONE_SET.items():
        f = cls.build([f"key {i}" for i in range(1000)], fpr=0.01, seed=3)
        f.save(tmp_path / f"{kind}.bloom")
        theirs = json.loads(run("info", "--json", f"{kind}.bloom"))
        ours = f.info()
        assert {"file": f"{kind}.bloom", **ours} == theirs
        assert (f.capacity, f.nbytes) == (theirs["capacity"], theirs["bytes"])
        assert f.current_fpr() == theirs["current_fpr"]


class Texts(html.parser.HTMLParser):
    """The cells of a page's tables."""

    def __init__(self, page):
        super().__init__()
        self.rows, self.open = [], []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1].append(data)


def test_a_notebook_shows_a_table():
    best = bloomset.plan("1M", "1%", deletable=True)
    heads, *rows = Texts(best._repr_html_()).rows
    assert heads == ["kind", "keys", "bytes", "bits per key", "rate"]
    assert [row[0] for row in rows] == [plan.kind for plan in best.ranked] + list(best.refused)
    assert rows[0] == [best.kind, "1,000,000", f"{best.bytes:,}", f"{best.bits_per_key:.2f}", f"{best.planned_fpr:.3%}"]
    assert rows[-1][1] == list(best.refused.values())[-1]
    one = bloomset.plan(1000, 1e-7, kind="bloom")
    assert Texts(one._repr_html_()).rows[1][-1] == f"{one.planned_fpr:.2g}"
    strange = dataclasses.replace(one, kind="<b>", refused={"&": "a < b"}, reason="<i>")
    assert [row[0] for row in Texts(strange._repr_html_()).rows] == ["kind", "<b>", "&"]


@pytest.mark.parametrize("options, sentence", [
    (dict(fpr=0.01), "capacity|two of"),
    (dict(capacity="x"), "capacity: 'x'"),
    (dict(capacity=10, kind="blom"), "blom"),
    (dict(capacity=10, kind="bloom", deletable=True), "erase"),
    (dict(capacity=10, kind="bloom", slots=3), "no option 'slots'"),
    (dict(capacity=10, memory="1EB"), "memory: "),
], ids=str)
def test_wrong_requests(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        bloomset.plan(**options)
