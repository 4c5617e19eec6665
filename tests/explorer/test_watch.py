"""Watching small filters step by step: what is drawn, and what the page says of it."""

import math
import re

import pytest

from conftest import LECTURE, last_frame

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
    page.until(lambda: "at=2" in page.driver.current_url)
    page.load(page.driver.current_url)
    assert page.bits() == [5, 7]
    page.one("#player-reset").click()
    assert page.bits() == []


def test_play_goes_to_the_end_by_itself_and_stops(page):
    page.open(steps="+2", at="0")
    page.one("#player-play").click()
    page.until(lambda: page.all("#verdict"))
    assert page.bits() == [5, 6, 7]
    page.until(lambda: page.one("#player-play").get_attribute("aria-label") == "Play")


def test_words_and_formulas_are_typed_by_the_user(page, bloomset):
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
    said = bloomset("explain", "--family", "md5", "--bits", "20", "--hashes", "2", "--insert", "3,30").decode()
    bits = [int(b) for b in said.split("bits set:")[1].split("\n")[0].split()]
    assert page.bits() == bits


@pytest.mark.parametrize("family", ["double", "salted", "fnv-murmur"])
def test_the_librarys_functions_are_those_of_the_command_line(page, bloomset, family):
    page.open(family=family, m="97", k="5", steps="+hello,+w\u00f6rld")
    last_frame(page)
    said = bloomset("explain", "--family", family, "--bits", "97", "--hashes", "5", "--insert", "hello,w\u00f6rld").decode()
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
    ("+1,-5,-1", "nothing_left", "1 is in the set, but the erase of another element removed its trace."),
    ("+1,-5,+1", "lost", "1 was in the set, but the erase of another element had removed its trace."),
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
              ",".join(f"+b{i}" for i in range(25, 33)) + ",?a0")
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
    {"kind": "scalable_bloom", "steps": ",".join(f"+word{i}" for i in range(20))},
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


def test_a_cuckoo_filter_moves_others_to_make_room(page, bloomset):
    words = "ant,bee,cat,dog,eel,fox,gnu"
    page.open(kind="cuckoo", steps=",".join("+" + w for w in words.split(",")))
    last_frame(page)
    said = bloomset("explain", "--cuckoo", "--buckets", "4", "--slots", "2", "--insert", words).decode()
    table = [line.split() for line in said.split("\n")]
    rows = [r for r in table if len(r) == 3 and r[0] in "0123"][-4:]
    expected = [cell.strip(".") for row in rows for cell in row[1:]]
    assert page.attributes(".slot", "data-value") == expected
    told = ""
    for i, button in enumerate(page.all("#steps li > button:first-child")):
        button.click()
        told += page.text("#telling")
    assert ("moves from bucket" in told) == ("moves from bucket" in said)


def test_an_exact_filter_shows_both_levels_as_explain_does(page, bloomset):
    members, others = "ant,bee,cat,dog", "fox,hen,owl,pig,rat,sow,yak,eel"
    page.open(kind="exact", exactSlots="6", others=others, steps="+" + members.replace(",", ",+") + ",?ant,?fox,?gnu")
    said = bloomset("explain", "--exact", "--bits", "6", "--insert", members, "--others", others).decode()
    rows = [line.split() for line in said.splitlines() if " = " in line and line.split()[0] in (members + "," + others).split(",")]
    passing = {row[0] for row in rows if row[-1] == "passes"}
    bits = dict(zip(page.attributes(".word", "data-word"), page.attributes(".word", "data-bit")))
    assert bits == {**dict.fromkeys(members.split(","), "1"),
                    **{word: "0" if word in passing else "–" for word in others.split(",")},
                    **({"gnu": bits["gnu"]} if "gnu" in bits else {})}
    equations = dict(zip(page.attributes(".word", "data-word"), page.attributes(".word", "data-equation")))
    for word, *equation in rows:
        end = equation.index("=") + 2
        assert " ".join(equation[:end]).replace("^", "⊕") == equations[word]
    assert len(page.all(".slot")) == 6
    verdicts = []
    for button in page.all("#steps li > button:first-child"):
        button.click()
        assert len(page.all(".slot.possible")) == 3
        verdicts.append(page.verdict())
    assert verdicts[:5] == ["exact_held"] * 4 + ["exact_yes"]
    assert verdicts[5] in ("exact_no_equation", "exact_no_bit") and verdicts[6] in ("exact_no_equation", "exact_unknown")
    page.open(kind="exact", steps="?ant", lang="de")
    assert "Es gibt keine Mitglieder" in page.text("#problem")


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
    # docs/reference/format.md, "expandable": this key's hash; 32 cells are chosen by its lowest five bits.
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


def test_copies_beside_the_table_are_no_entries(page):
    page.open(kind="expandable", steps=",".join(["+ant"] * 5 + ["-ant"] * 3))
    told = []
    for button in page.all("#steps li > button:first-child"):
        button.click()
        told.append(page.text("#telling"))
    assert all("remainder: 3." in each for each in told[3:7])
    assert ["counted beside the table" in each for each in told] == [False, False, False, True, True, True, True, False]
    assert ["The longest of the matching entries" in each for each in told] == [False] * 7 + [True]


def test_a_chain_of_many_bits_is_told_by_its_figures(page):
    page.open(kind="scalable_bloom", capacity="64", rate="0.0001", steps=",".join(f"+w{i}" for i in range(70)))
    last_frame(page)
    strips = page.all("svg.chain .strip")
    assert len(strips) == 2
    drawn = [len(strip.find_elements("css selector", "rect")) for strip in strips]
    assert drawn[0] > 0 and drawn[1] == 0


def test_an_expandable_filter_splits_one_segment_and_looks_into_one(page):
    page.open(kind="expandable", crowd="24574", rate="1%", steps="+ant,+bee,+cat,?17")
    entries = lambda: [int(n) for n in page.attributes(".segment[data-segment]", "data-entries")]
    page.one("#player-reset").click()
    assert page.one("#telling h3").text == "The filter with 24,574 elements"
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


def test_a_refused_step_leaves_the_picture_of_the_last_one_that_was_not(page):
    page.open(steps="+cat,+dog")
    assert "'dog' is not a whole number" in page.text("#telling") and page.all("svg .cell")
    page.open(steps="+2")
    last_frame(page)
    taken = page.bits()
    page.open(steps="+2,+cat,+dog")
    last_frame(page)
    assert "'dog' is not a whole number" in page.text("#telling")
    assert page.bits() == taken != []


def test_a_refused_step_leaves_the_folded_filter(page):
    page.open(kind="bloom", m="16", family="double", k="2", fold="2", steps="+ant,-ant,+bee")
    last_frame(page)
    after, = [page.one("svg .folded").get_attribute("data-set")]
    for shown in page.all("#steps li > button:first-child")[:2]:
        shown.click()
        sets = page.one("svg .folded").get_attribute("data-set").split()
        assert 0 < len(sets) <= 2 and set(sets) <= set(after.split())
    assert "0%" not in page.text("#telling").split()


@pytest.mark.parametrize("kind", ["bloom", "scalable_bloom", "blocked_bloom", "exact"])
def test_kinds_that_cannot_erase_say_so_each_time(page, kind):
    family = {"family": "double", "k": "3"} if kind == "bloom" else {}
    page.open(kind=kind, **family, steps="+ant,-ant,-ant,?ant")
    last_frame(page)
    assert page.verdict() in ("member", "exact_yes")
    for button in page.all("#steps li > button:first-child")[1:3]:
        button.click()
        assert "cannot erase" in page.text("#telling .verdict.bad")


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
def test_functions_are_numbered_from_1_here_and_on_the_command_line(page, bloomset, family):
    page.open(family=family, k="3", steps="+5", m="10")
    assert [e.text for e in page.all(".function text")] == ["h1", "h2", "h3"]
    told = [line.split("(")[0] for line in page.text(".workings").split("\n")]
    assert told == ["h1", "h2", "h3"]
    functions = ["--hash", "x%10", "--hash", "(x+1)%10", "--hash", "(x+2)%10"] if family == "formulas" \
        else ["--family", family, "--hashes", "3"]
    said = bloomset("explain", "--bits", "10", *functions, "--insert", "5").decode()
    assert re.findall(r"^  (h\d+)\(5\)", said, re.M) == ["h1", "h2", "h3"]


@pytest.mark.parametrize("family,union", [("double", lambda p, c, m: p // c), ("salted", lambda p, c, m: p // c),
                                          ("md5", lambda p, c, m: p % m), ("fnv-murmur", lambda p, c, m: p % m)])
def test_a_fold_is_the_union_of_bits(page, family, union):
    # Only these two need more than one size: the others fold as one of them does.
    for m, c in ((32, 2), (48, 3), (1024, 8)) if family in ("double", "md5") else ((48, 3),):
        page.open(kind="bloom", m=m, family=family, k=3, fold=c, steps="+ant,+bee,+cat,?bee,?yak")
        folded = [int(p) for p in page.one("svg .folded").get_attribute("data-set").split()]
        assert folded == sorted({union(p, c, m // c) for p in page.bits()})
        assert str(m // c) in page.text("#fold")
        # The same bits as those of a filter made at that size.
        page.open(kind="bloom", m=m // c, family=family, k=3, steps="+ant,+bee,+cat,?bee,?yak")
        assert page.bits() == folded
        assert not page.all("svg .folded")
    page.open(kind="bloom", m=32, family=family, k=3, fold=5, steps="+ant")
    assert "cannot be folded by 5" in page.text("#problem")
