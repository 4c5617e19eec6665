"""The page as a student and an engineer see it."""

import base64
import math
import re

import pytest

from conftest import ROOT

LECTURE = {"steps": "+2,+4,+9,?4,?7,?12"}


def last_frame(page):
    from selenium.webdriver.common.keys import Keys
    page.one("h1").click()
    page.press(Keys.END)


def test_the_lectures_example_sets_its_bits_and_calls_12_a_false_positive(page):
    page.open(at="0")
    assert page.bits() == []
    last_frame(page)
    assert page.bits() == [2, 3, 5, 6, 7, 8]
    assert page.verdict() == "false_positive"
    assert "12" in page.text("#verdict")
    # 12 looks at bits 5, 7 and 6, which 2 set, and 4 one of them: that is drawn.
    workings = page.text(".workings")
    assert "(12+3)%10 = 15" in workings or "(12+3)%10 = 5" in workings
    culprits = {e.text for e in page.all(".culprit text")}
    assert culprits == {"2", "4"}


def test_the_page_opens_on_a_false_positive_and_says_what_a_filter_is(page):
    page.open()
    assert page.verdict() == "false_positive"
    assert page.text("#telling h3") == "Look up 12"
    said = page.text("#tagline")
    assert "Bloom filter" in said and said.count(".") == 1
    # Nothing plays by itself; the page offers the whole story, and the next places to go.
    assert page.one("#player-play").get_attribute("aria-label") == "Play"
    page.one("#next-play").click()
    page.until(lambda: page.one("#player-play").get_attribute("aria-label") == "Pause")
    assert page.text("#telling h3") in ("The empty filter", "Insert 2")
    page.one("#next-type").click()
    assert page.driver.switch_to.active_element.get_attribute("id") == "element"
    page.one("#next-plan").click()
    assert page.all("#plan-table")
    page.open()
    page.one("#next-plots").click()
    assert page.all("#chart")


def test_each_lookup_of_the_lecture_has_its_verdict(page):
    page.open(**LECTURE)
    seen = []
    for button in page.all("#steps li > button:first-child"):
        button.click()
        seen.append(page.verdict())
    assert seen == ["new", "new", "new", "member", "absent", "false_positive"]


def test_steps_go_forward_and_back_and_the_address_keeps_the_moment(page):
    from selenium.webdriver.common.keys import Keys
    page.open(**LECTURE, at="0")
    page.one("h1").click()
    for expected in ([5], [5, 7], [5, 6, 7], [5, 6, 7]):
        page.press(Keys.ARROW_RIGHT)
        assert page.bits() == expected
    page.press(Keys.ARROW_LEFT, Keys.ARROW_LEFT)
    assert page.bits() == [5, 7]
    address = page.driver.current_url
    assert "at=2" in address
    page.load(address)
    assert page.bits() == [5, 7]
    page.one("#player-reset").click()
    assert page.bits() == []


def test_play_goes_to_the_end_by_itself_and_stops(page):
    page.open(steps="+2", at="0")
    page.one("#player-play").click()
    page.until(lambda: page.all("#verdict"))
    assert page.bits() == [5, 6, 7]
    page.until(lambda: page.one("#player-play").get_attribute("aria-label") == "Play")


def test_words_and_formulas_are_typed_by_the_user(page, bloomery):
    from selenium.webdriver.common.keys import Keys
    page.open(steps="")
    page.type("#m", "20" + Keys.TAB)
    page.type("#formulas", "x%20\n(x+7)%20" + Keys.TAB)
    page.type("#element", "3, 30" + Keys.ENTER)
    last_frame(page)
    assert page.bits() == [3, 10, 17]
    page.choose("#family", "md5")
    page.type("#k", "2" + Keys.TAB)
    last_frame(page)
    said = bloomery("explain", "--family", "md5", "--bits", "20", "--hashes", "2", "--insert", "3,30").decode()
    bits = [int(b) for b in said.split("bits set:")[1].split("\n")[0].split()]
    assert page.bits() == bits


@pytest.mark.parametrize("family", ["double", "salted", "fnv-murmur"])
def test_the_librarys_functions_are_those_of_the_command_line(page, bloomery, family):
    page.open(family=family, m="97", k="5", steps="+hello,+w\u00f6rld")
    last_frame(page)
    said = bloomery("explain", "--family", family, "--bits", "97", "--hashes", "5", "--insert", "hello,w\u00f6rld").decode()
    tail = said.split("bits set:")[1].split("n =")[0]
    assert page.bits() == [int(b) for b in tail.split()]


def test_counters_count_erase_and_stick(page):
    page.open(kind="counting_bloom", m="4", formulas="x%4;(x+1)%4", steps=",".join(["+1"] * 17 + ["-1"]))
    last_frame(page)
    assert set(page.attributes(".cell.set", "data-value")) == {"15"}
    assert len(page.all(".cell.stuck")) == 2
    page.open(kind="counting_bloom", m="12", family="double", k="3", steps="+ant,+bee,-ant,?ant")
    last_frame(page)
    assert page.verdict() == "absent"


PAIR = {"kind": "counting_bloom", "m": "4", "formulas": "x%4;(x+1)%4"}
OWN_STUCK = ",".join(["+3"] * 15 + ["-3"] * 15)  # the counters 3 and 0 stick; nothing is in


@pytest.mark.parametrize("steps, verdict, says", [
    (OWN_STUCK + ",?3", "false_positive", "3 was erased, but all its counters"),
    (OWN_STUCK + ",+3", "collides", "3 was erased before, but all its counters"),
    (OWN_STUCK + ",-3", "wrongly_erased", "3 was not in the set any more. All its counters stick, so nothing was changed."),
    (OWN_STUCK + ",?7", "false_positive", "7 was never inserted, but other elements have set all its counters."),
    (OWN_STUCK + ",+4,-4,+5,?4", "false_positive", "4 was erased, but some of its counters stick"),
    (OWN_STUCK + ",+4,-4,+5,-4", "wrongly_erased", "4 was not in the set any more. Its other counters"),
    ("+1,+0,+2,-1,?1", "false_positive", "1 was erased, but other elements left the same trace."),
    ("+1,+0,+2,-1,+1", "collides", "1 was erased before, but other elements left the same trace."),
    ("+1,+0,+2,-1,-1", "wrongly_erased", "1 was not in the set any more. The erase removed the trace of another"),
    ("+1,-1,?1", "absent", "At least one counter of 1 is 0."),
], ids=lambda value: value.replace(OWN_STUCK, "stuck") if value.startswith("+") else "")
def test_what_an_erased_element_leaves_is_told_as_it_is(page, steps, verdict, says):
    page.open(**PAIR, steps=steps)
    last_frame(page)
    assert page.verdict() == verdict
    assert says in page.text("#verdict")
    if steps == OWN_STUCK + ",?3":
        assert page.text(".workings").count("stuck although its elements were erased") == 2


def test_an_erased_element_of_a_cuckoo_filter_was_not_never_inserted(page):
    page.open(kind="cuckoo", buckets="1", slots="8", fingerprint="4", steps="+a0,-a0," +
              ",".join(f"+b{i}" for i in range(21, 29)) + ",?a0")
    last_frame(page)
    assert page.verdict() == "false_positive"
    assert "a0 was erased, but other elements left the same trace." in page.text("#verdict")


def test_a_typed_element_is_shown_at_once_and_play_repeats_it_alone(page):
    from selenium.webdriver.common.keys import Keys
    page.open()
    page.type("#element", "1" + Keys.ENTER)
    assert page.text("#telling h3") == "Insert 1"
    assert page.verdict() == "new"
    assert page.one("#position").get_attribute("value") == page.one("#position").get_attribute("max")
    assert page.one("#player-play").get_attribute("aria-label") == "Play"
    page.one("#player-play").click()
    seen = set()
    page.until(lambda: seen.add(page.text("#telling h3")) or page.all("#verdict"))
    assert seen == {"Insert 1"}


def test_a_word_typed_into_the_lecture_gets_functions_for_words(page):
    from selenium.webdriver.common.keys import Keys
    page.open()
    page.type("#element", "hello" + Keys.SHIFT + Keys.ENTER)
    assert page.text("#telling h3") == "Look up hello"
    assert page.verdict() in ("absent", "false_positive")
    assert "only numbers" in page.text("#note") and "32 bits" in page.text("#note")
    assert page.one("#family").get_attribute("value") == "double"
    page.type("#element", "17" + Keys.ENTER)
    assert not page.all("#note")


@pytest.mark.parametrize("width", [1200, 390])
@pytest.mark.parametrize("example", [
    LECTURE, {"kind": "counting_bloom", "m": "12", "family": "double", "k": "3", "steps": "+ant,+bee,+ant,-ant,?ant"},
    {"kind": "cuckoo", "steps": "+ant,+bee,+cat,+dog,+eel,+fox,+gnu,?ant,-ant,?ant"},
    {"kind": "scalable_bloom", "steps": ",".join(f"+word{i}" for i in range(40))},
    {"kind": "expandable", "crowd": "62", "steps": "+ant,+bee,+cat,?bee"},
])
def test_no_button_moves_and_the_stage_keeps_its_height_while_stepping(page, example, width):
    page.width(width, 700)
    page.open(**example, at="0")
    # Also what is below the picture, since it keeps its height. Only the list of steps may scroll.
    seen = page.run("""const frames = Math.min(40, document.getElementById('position').max);
        return Array.from({length: frames}, () => {
          document.getElementById('player-step').click();
          document.getElementById('steps').scrollTop = 0;
          return [...document.querySelectorAll(`.actions button, .actions input, .player button, .player input, #stage,
              .side button, .side input`)].filter((e) => e.offsetParent).map((e) => {
            const {x, y, width, height} = e.getBoundingClientRect(); return [e.id || e.textContent, x, y, width, height]; });
        });""")
    assert len(seen) > 8 and len(seen[0]) > 8
    for now in seen:
        assert now == seen[0]


def test_a_click_on_a_step_in_sight_leaves_the_list_as_it_is(page):
    page.open(steps=",".join(f"+{i}" for i in range(200)))
    page.run("document.getElementById('steps').scrollTop = 100")
    for i in (0, 70):  # above and below what is in sight
        page.run("document.querySelectorAll('#steps li > button:first-child')[arguments[0]].click()", i)
        inside = page.run("""const list = document.getElementById('steps').getBoundingClientRect();
            const item = document.querySelector('#steps .now').getBoundingClientRect();
            return item.top >= list.top - 1 && item.bottom <= list.bottom + 1""")
        assert inside
    before = page.run("return document.getElementById('steps').scrollTop")
    page.run("""const list = document.getElementById('steps').getBoundingClientRect();
        [...document.querySelectorAll('#steps li')].find((e) => e.getBoundingClientRect().top >= list.top)
        .firstChild.click()""")
    assert page.run("return document.getElementById('steps').scrollTop") == before


def test_a_cuckoo_filter_moves_others_to_make_room(page, bloomery):
    words = "ant,bee,cat,dog,eel,fox,gnu"
    page.open(kind="cuckoo", steps=",".join("+" + w for w in words.split(",")))
    last_frame(page)
    said = bloomery("explain", "--cuckoo", "--buckets", "4", "--slots", "2", "--insert", words).decode()
    table = [line.split() for line in said.split("\n")]
    rows = [r for r in table if len(r) == 3 and r[0] in "0123"][-4:]
    expected = [cell.strip(".") for row in rows for cell in row[1:]]
    assert page.attributes(".slot", "data-value") == expected
    told = ""
    for i, button in enumerate(page.all("#steps li > button:first-child")):
        button.click()
        told += page.text("#telling")
    assert ("moves from bucket" in told) == ("moves from bucket" in said)


def test_a_vector_quotient_filter_puts_a_key_into_one_of_two_blocks_and_takes_it_back(page):
    page.open(kind="vector_quotient", steps="+ant,+bee,+ant,-ant,?ant,-ant,?ant")
    taken = []
    for button in page.all("#steps li > button:first-child"):
        button.click()
        assert 1 <= len(page.all(".vq.possible")) <= 2
        taken.append(sum(map(int, page.attributes(".vq", "data-taken"))))
    assert taken == [1, 2, 3, 2, 2, 1, 1]
    assert page.verdict() == "absent"


def test_a_scalable_filter_grows(page):
    page.open(kind="scalable_bloom", at="0", steps=",".join(f"+word{i}" for i in range(20)) + ",?word3")
    assert page.one("svg.chain").get_attribute("data-members") == "1"
    last_frame(page)
    assert int(page.one("svg.chain").get_attribute("data-members")) > 2
    assert page.verdict() == "member"


def cells_of(page):
    """The cells that are drawn, each with its entries' bits."""
    return {int(cell): entries.split() for cell, entries
            in zip(page.attributes(".qcell", "data-cell"), page.attributes(".qcell", "data-entries"))}


def test_an_expandable_filter_reads_a_hash_as_its_format_says(page):
    # docs/format.md, "expandable": this key's hash; 32 cells are chosen by its lowest five bits.
    page.open(kind="expandable", steps="+alice@example.com")
    last_frame(page)
    hash_ = 0x76eb895512bf35ff
    entry, = cells_of(page)[hash_ % 32]
    assert entry == "".join(str(hash_ >> 5 + i & 1) for i in range(len(entry)))
    assert sum(map(len, cells_of(page).values())) == 1
    assert page.verdict() == "new"


def test_an_expandable_filters_entries_give_a_bit_when_its_cells_double(page):
    from selenium.webdriver.common.keys import Keys
    page.open(kind="expandable", crowd="62", steps="+ant,+bee,+cat,?bee,-bee,?bee")
    cells = lambda: page.one("svg.segments").get_attribute("data-cells")
    page.all("#steps li > button:first-child")[2].click()
    after = cells_of(page)
    assert cells() == "64" and len(after) == 64
    page.press(Keys.ARROW_LEFT)
    before = cells_of(page)
    assert cells() == "32" and sum(map(len, before.values())) == 65
    moved = {cell: [] for cell in range(64)}
    for cell, entries in before.items():
        for entry in entries:
            moved[cell + 32 * int(entry[0])].append(entry[1:])
    assert {c: sorted(e) for c, e in after.items()} == {c: sorted(e) for c, e in moved.items()}
    seen = []
    for button in page.all("#steps li > button:first-child")[3:]:
        button.click()
        seen.append(page.verdict())
    assert seen == ["member", "erased", "absent"]


def test_an_expandable_filter_splits_one_segment_and_looks_into_one(page):
    page.open(kind="expandable", crowd="24574", rate="1%", steps="+ant,+bee,+cat,?17")
    entries = lambda: [int(n) for n in page.attributes(".segment[data-segment]", "data-entries")]
    page.all("#steps li > button:first-child")[1].click()
    before = entries()
    last_frame(page)
    after = entries()
    assert (len(before), len(after)) == (2, 3)
    # The first gives about half of its entries to the new one, and the few that have no bits left
    # are in both; the other stays as it was, but for the key that came.
    assert sum(before) + 1 <= sum(after) <= sum(before) + 100
    assert abs(after[0] - after[2]) < 6 * before[0] ** 0.5
    assert after[1] - before[1] in (0, 1)
    assert len(page.all(".segment.chosen")) == 1
    assert page.verdict() == "member"
    page.open(kind="expandable", crowd="99999")
    assert "50000" in page.text("#problem")


def test_a_blocked_filter_touches_one_line_where_the_classic_one_touches_more(page):
    page.open(kind="blocked_bloom", steps="+ant,+bee,?ant")
    last_frame(page)
    assert len(page.all(".blocked .line.touched")) == 1
    assert len(page.all(".classic .line.touched")) > 1


def test_wrong_input_gets_a_sentence_and_the_page_lives(page):
    from selenium.webdriver.common.keys import Keys
    page.open(formulas="(x+")
    assert "ends at column" in page.text("#problem")
    page.type("#formulas", "x%10" + Keys.TAB)
    assert page.text("#problem") == ""
    page.open(steps="+cat")
    assert "whole number" in page.text("#telling") and "--hash" not in page.text("#telling")
    page.open(m="99999")
    assert "4096" in page.text("#problem")


@pytest.mark.parametrize("asked", [
    {"n": "1M", "fpr": "1%"}, {"n": "100M", "fpr": "0.001"}, {"n": "1e6", "fpr": "", "memory": "1MiB"},
    {"n": "", "fpr": "1/1000", "memory": "64MiB", "needs": "deletable"},
    {"n": "1M", "fpr": "", "memory": "10MB"},
])
def test_plans_are_those_of_the_command_line(page, bloomery, asked):
    page.open(tab="plan", **asked)
    flags = {"n": "--capacity", "fpr": "--fpr", "memory": "--memory"}
    args = [part for name, flag in flags.items() if asked.get(name) for part in (flag, asked[name])]
    said = bloomery.json("plan", "--json", *args, *(["--deletable"] if "needs" in asked else []))
    assert page.text("#plan-reason").startswith("Recommended: " + said["reason"])
    fit = [k for k in said["kinds"] if "refused" not in k]
    table = lambda column, name: page.attributes(f"#plan-table tbody {column}", name)
    assert table("tr", "data-kind") == [k["kind"] for k in fit]
    assert [int(n) for n in table(".size", "data-bytes")] == [k["bytes"] for k in fit]
    assert [float(n) for n in table(".bits", "data-bits-per-key")] == [k["bits_per_key"] for k in fit]
    # To the last digit, though another compiler and C library made the page's program.
    assert [float(r) for r in table(".rate", "data-rate")] == [k["planned_fpr"] for k in fit]


def test_rates_are_written_as_the_command_line_writes_them(page, bloomery):
    page.open(tab="plan", n="1M", fpr="1%", needs="deletable")
    table = bloomery("plan", "--capacity", "1M", "--fpr", "1%", "--deletable").decode()
    for row in page.all("#plan-table tbody tr"):
        kind, rate = row.get_attribute("data-kind"), row.find_element("css selector", "[data-rate]").text
        assert re.search(rf"^{kind} .* {re.escape(rate)} ", table, re.M), (kind, rate)
    page.one("#language").click()
    assert page.text("tr[data-kind=cuckoo] [data-rate]") == "0,740 %"
    assert page.text("tr[data-kind=cuckoo] [data-bytes]") == "1,32 MB"
    assert "1,24 MB" in page.text("#plan-reason")


@pytest.mark.parametrize("fpr", ["1%", "0.1%"])
def test_the_plan_names_the_librarys_default(page, bloomery, fpr):
    page.open(tab="plan", n="1M", fpr=fpr)
    default = page.one("#plan-default").get_attribute("data-default")
    assert f"(default {default})" in bloomery("build", "--help").decode()
    first = page.one("#plan-table tbody tr").get_attribute("data-kind")
    said = page.text("#plan-default")
    assert ("is also the default" in said) == (first == default)
    assert ("the default: Blocked Bloom" in said) == (first != default)


def test_a_plans_lines_are_those_of_the_command_line(page, bloomery):
    page.open(tab="plan", n="1000", fpr="1%")
    said = bloomery("plan", "--capacity", "1000", "--fpr", "1%").decode()
    lines = [e.text for e in page.all("#plan-detail code")]
    assert len(lines) >= 2
    for line in lines[:2]:
        assert line in said


@pytest.mark.parametrize("asked, line", [
    ({"n": "1M", "fpr": "0.1%"}, "CF.RESERVE members 1000000 ERROR 0.001"),
    ({"n": "1M", "fpr": "", "memory": "2MB"}, None),
])
def test_the_copied_redis_line_has_the_plans_rate(page, bloomery, asked, line):
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
    server = bloomery.json("plan", "--json", "--capacity", words[2], "--fpr", words[4], "--kind", "cuckoo")
    assert server["planned_fpr"] <= planned * 1.0001
    assert server["bytes"] <= size


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
    for axis, grid, side in (("x-axis tick label", "x-grid", "x"), ("y-axis tick label", "y-grid", "y")):
        middles = page.run("""const [label, side] = arguments;
            return [...document.querySelector(`[aria-label="${label}"]`).children].map((e) => {
              const r = e.getBoundingClientRect(); return side === 'x' ? (r.left + r.right) / 2 : (r.top + r.bottom) / 2; })""", axis, side)
        drawn = page.run("""const [label, side] = arguments;
            return [...document.querySelector(`[aria-label="${label}"]`).children].map((e) => {
              const r = e.getBoundingClientRect(); return side === 'x' ? (r.left + r.right) / 2 : (r.top + r.bottom) / 2; })""", grid, side)
        assert len(middles) == len(drawn) >= 3
        assert all(abs(a - b) < 3 for a, b in zip(sorted(middles), sorted(drawn)))


@pytest.mark.parametrize("width", [1200, 390])
def test_an_array_that_wraps_has_16_cells_in_a_row(page, width):
    page.width(width)
    for m, columns in ((12, 12), (16, 16), (20, 16), (32, 16), (64, 16)):
        page.open(m=str(m), family="double", k="3", steps="+ant")
        assert page.one("svg.array").get_attribute("data-columns") == str(columns)
        tops = page.run("return [...document.querySelectorAll('.cell rect')].map((e) => e.getBoundingClientRect().top)")
        assert len({round(top) for top in tops}) == math.ceil(m / columns)
    page.open(m="1024", family="double", k="3", steps="+ant")
    assert int(page.one("svg.array").get_attribute("data-columns")) % 16 == 0


@pytest.mark.parametrize("family", ["formulas", "md5", "fnv-murmur"])
def test_functions_are_numbered_from_1_here_and_on_the_command_line(page, bloomery, family):
    page.open(family=family, k="3", steps="+5", m="10")
    assert [e.text for e in page.all(".function text")] == ["h1", "h2", "h3"]
    told = [line.split("(")[0] for line in page.text(".workings").split("\n")]
    assert told == ["h1", "h2", "h3"]
    functions = ["--hash", "x%10", "--hash", "(x+1)%10", "--hash", "(x+2)%10"] if family == "formulas" \
        else ["--family", family, "--hashes", "3"]
    said = bloomery("explain", "--bits", "10", *functions, "--insert", "5").decode()
    assert re.findall(r"^  (h\d+)\(5\)", said, re.M) == ["h1", "h2", "h3"]


def test_the_librarys_sample_is_the_file_that_the_command_line_makes(page, bloomery, tmp_path):
    page.driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    page.open(tab="inspect")
    page.one("#sample").click()
    assert page.text("#inspect-out h2") == "sample.bloom"
    assert page.text("#ins_capacity") == "1,000 keys"
    # A member, a non-member, and a non-member that passes.
    assert page.attributes("#answers li", "data-found") == ["true", "false", "true"]
    page.one("#save").click()
    page.until(lambda: (tmp_path / "sample.bloom").is_file())
    keys = "".join(f"user{i}@example.com\n" for i in range(1, 1001)).encode()
    bloomery("build", "-o", "own.bloom", "--fpr", "1%", input=keys)
    assert (tmp_path / "sample.bloom").read_bytes() == (tmp_path / "own.bloom").read_bytes()


def test_links_lead_to_documents_of_this_project_and_to_papers(page):
    home = re.search(r'HOMEPAGE_URL "([^"]+)"', (ROOT / "CMakeLists.txt").read_text())[1]
    page.open()
    links = [e.get_attribute("href") for e in page.all("a[href^=http]")]
    documents = [link.removeprefix(f"{home}/blob/HEAD/") for link in links if link.startswith(home)]
    assert len(documents) >= 4 and all((ROOT / path).is_file() for path in documents)
    papers = {link for link in links if not link.startswith(home)}
    assert len(papers) == 9 and all(link.startswith("https://doi.org/10.") for link in papers)
    assert page.one("#source a").get_attribute("href") == "https://doi.org/10.1145/362686.362692"


def test_a_file_of_the_command_line_is_inspected_and_asked(page, bloomery, tmp_path):
    keys = "".join(f"user{i}\n" for i in range(5000)).encode()
    file = tmp_path / "members.bloom"
    bloomery("build", "-o", file, "--fpr", "1%", "--kind", "bloom", input=keys)
    info = bloomery.json("info", "--json", file)
    page.open(tab="inspect")
    page.one("#file").send_keys(str(file))
    page.until(lambda: page.all("#ins_count"))
    assert page.text("#ins_count") == f"{info['count']:,} keys"
    assert page.text("#ins_k") == str(info["hashes"])
    shown = float(page.text("#ins_current").removesuffix("%"))
    assert math.isclose(shown, 100 * info["current_fpr"], rel_tol=0.01)
    page.one("#ask-keys").send_keys("user17\nnobody at all\nuser4999")
    found = page.attributes("#answers li", "data-found")
    assert found == ["true", "false", "true"]


def test_every_kinds_golden_file_says_in_german_what_it_says_to_the_command_line(page, bloomery):
    page.open(tab="inspect", lang="de")
    for file in sorted((ROOT / "tests" / "golden").glob("*.bloom")):
        info = bloomery.json("info", "--json", file)
        count, current = page.driver.execute_async_script("""const [name, bytes, done] = arguments;
            const data = new DataTransfer();
            data.items.add(new File([Uint8Array.from(atob(bytes), (c) => c.charCodeAt(0))], name));
            document.getElementById('drop').dispatchEvent(new DragEvent('drop', {bubbles: true, cancelable: true, dataTransfer: data}));
            const look = () => document.querySelector('#inspect-out h2')?.textContent === name
              ? done(['ins_count', 'ins_current'].map((id) => document.getElementById(id).textContent)) : setTimeout(look);
            look();""", file.name, base64.b64encode(file.read_bytes()).decode())
        assert count == f"{info['count']:,} Schlüssel".replace(",", "."), file.name
        value = float(current.removesuffix("\u00a0%").replace(",", ".")) / 100
        assert math.isclose(value, info["current_fpr"], rel_tol=0.01), file.name
        assert english_left(page) == []


def test_a_damaged_file_is_refused_with_a_sentence(page, bloomery, tmp_path):
    file = tmp_path / "f.bloom"
    bloomery("build", "-o", file, "--fpr", "1%", input=b"a\nb\n")
    bytes_ = bytearray(file.read_bytes())
    bytes_[-1] ^= 1
    file.write_bytes(bytes_)
    page.open(tab="inspect")
    page.one("#file").send_keys(str(file))
    page.until(lambda: page.all("#inspect-problem"))
    assert "checksum does not match" in page.text("#inspect-problem")


def test_a_file_that_cannot_be_read_is_told(page, bloomery, tmp_path):
    file = tmp_path / "f.bloom"
    bloomery("build", "-o", file, "--fpr", "1%", input=b"a\nb\n")
    page.open(tab="inspect")
    # As the browser answers for a folder, and for a file that is gone or may not be read.
    page.run("""window.whole = File.prototype.arrayBuffer;
        File.prototype.arrayBuffer = () => Promise.reject(new DOMException('no permission', 'NotReadableError'))""")
    page.one("#file").send_keys(str(file))
    page.until(lambda: page.all("#inspect-problem"))
    said = page.text("#inspect-problem")
    assert said.startswith("f.bloom cannot be read") and "no permission" in said
    page.run("File.prototype.arrayBuffer = window.whole")
    page.one("#file").send_keys(str(file))  # the same name again
    page.until(lambda: page.all("#ins_count"))
    page.run("""const drop = new DragEvent('drop', {bubbles: true, cancelable: true, dataTransfer: new DataTransfer()});
        document.getElementById('drop').dispatchEvent(drop)""")
    assert "no file" in page.text("#inspect-problem")


def test_german_dark_and_by_keyboard(page):
    from selenium.webdriver.common.keys import Keys
    page.open(**LECTURE)
    page.one("#language").click()
    assert page.one("html").get_attribute("lang") == "de"
    last_frame(page)
    assert "falsch positiv" in page.text("#verdict")
    ground = lambda: page.run("return getComputedStyle(document.body).backgroundColor")
    light = ground()
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark"}]})
    page.until(lambda: ground() != light)
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    page.until(lambda: ground() == light)
    page.one("#theme").click()
    assert ground() != light
    page.one("#tab-watch").send_keys(Keys.ARROW_RIGHT)
    assert page.driver.switch_to.active_element.get_attribute("id") == "tab-plan"
    assert page.all("#plan-table")


def english_left(page):
    """What the German page shows in English: the library's rarer sentences are marked so."""
    return [e.get_attribute("textContent") for e in page.all("#view [lang=en]")]


@pytest.mark.parametrize("asked", [
    {"n": "1M", "fpr": "1%"}, {"n": "1M", "fpr": "1%", "needs": "unchanging"}, {"n": "1000", "fpr": "", "memory": "1kB"},
    {"n": "1000", "fpr": "", "hashes": "7"}, {"n": "", "fpr": "1%", "needs": "growing"}, {"n": "1M", "fpr": "1%", "needs": "deletable,growing"},
    {"n": "x", "fpr": "1%"}, {"n": "1M", "fpr": "1%", "memory": "1kB"}, {"n": "", "fpr": "1%"},
])
def test_plans_are_told_in_german(page, asked):
    page.open(tab="plan", lang="de", **asked)
    said = page.text("#plan-out")
    assert english_left(page) == []
    assert not any(word in said for word in (" the ", " kind ", " give ", " a key", " and ")), said


@pytest.mark.parametrize("asked", [
    {"formulas": "(x+"}, {"formulas": "2x"}, {"kind": "expandable", "rate": "x"}, {"kind": "expandable", "crowd": "99999"},
    {"steps": "+cat", "at": "1"}, {"kind": "scalable_bloom", "steps": "-a", "at": "1"},
])
def test_errors_are_told_in_german(page, asked):
    page.open(lang="de", **asked)
    assert page.text("#problem") or page.text("#telling .verdict.bad")
    assert english_left(page) == []


@pytest.mark.parametrize("tab", ["watch", "plan", "plots", "inspect"])
def test_a_phone_shows_all_of_it_in_its_width(page, tab):
    page.width(390, mobile=True)
    page.open(tab=tab, plotN="500", at="24", lang="de")  # the longer words
    assert page.run("return document.documentElement.scrollWidth") <= 390
    # Without scrolling sideways each rate; without any scrolling the input, and the best plan's rate below its head.
    seen = {"watch": "#element", "plan": "#plan-table .rate", "plots": "#plot-n", "inspect": "#sample"}[tab]
    places = page.run("""return [...document.querySelectorAll(arguments[0])].map((e) => {
            const r = e.getBoundingClientRect(); return [r.left, r.right, r.bottom]; })""", seen)
    assert all(0 <= left < right <= 390 for left, right, _ in places)
    assert all(bottom <= 844 for _, _, bottom in places[:2])
    # Every control has a name for those who do not see it.
    nameless = page.run("""return [...document.querySelectorAll('button, input, select, textarea')]
        .filter((e) => !(e.getAttribute('aria-label') || e.textContent.trim() || e.labels?.length))
        .map((e) => e.outerHTML)""")
    assert nameless == []
