"""bloomset plan: the literature's figures, requests with any sufficient two values, the advice, and
the lines to copy."""

import math
import os
import pathlib
import re
import shlex
import subprocess
import termios

import pytest

from conftest import all_of

ROOT = pathlib.Path(__file__).resolve().parents[3]


@pytest.fixture
def kinds(plan):
    return [each["kind"] for each in plan("--capacity", 1000, "--fpr", "1%")["kinds"]]


@pytest.fixture
def static_kinds(plan):
    """Those that are built once from all their keys."""
    found = plan("--capacity", 1000, "--fpr", "1%")["kinds"]
    return [each["kind"] for each in found if "built once" in each.get("refused", "")]


def test_a_thousand_keys_in_eight_thousand_bits(run, plan):
    text = run("plan", "--capacity", 1000, "--bits", 8000, "--kind", "bloom").ok().out.decode()
    for figure in ("1,000 keys", "8,000 bits, 1.00 kB", "6 (k_opt 5.55)", "8.00", "2.16%",
                   "2.14% = 0.6185^(m/n)", "log2(1/rate)"):
        assert figure in text
    found = plan("--capacity", 1000, "--bits", 8000, "--kind", "bloom")
    assert (found["bits"], found["bytes"], found["hashes"]) == (8000, 1000, 6)
    assert found["extras"]["optimal_hashes"] == pytest.approx(5.545, abs=0.001)
    assert found["planned_fpr"] == pytest.approx(0.022, abs=0.0005)


def test_a_hundred_million_at_one_percent_take_120_megabytes(run, plan):
    found = plan("--capacity", "100M", "--fpr", "1%", "--kind", "bloom")
    assert found["bytes"] == pytest.approx(120e6, rel=0.005)
    assert b"120 MB" in run("plan", "--capacity", "1e8", "--fpr", "0.01").ok().out


def test_counters_of_four_bits_take_four_times_the_memory(plan):
    one = plan("--capacity", "1M", "--fpr", "1%", "--kind", "bloom")
    four = plan("--capacity", "1M", "--fpr", "1%", "--kind", "counting_bloom")
    assert four["bits"] == 4 * one["bits"]
    assert four["bytes"] == pytest.approx(4 * one["bytes"], abs=4)


def test_any_two_give_the_others(plan):
    sized = plan("--capacity", 1000, "--fpr", "1/1000", "--kind", "bloom")
    filled = plan("--bits", sized["bits"], "--fpr", 0.001, "--kind", "bloom")
    rated = plan("--capacity", 1000, "--bits", sized["bits"], "--kind", "bloom")
    assert filled["capacity"] >= 1000
    assert rated["planned_fpr"] == pytest.approx(sized["planned_fpr"]) and rated["planned_fpr"] <= 1e-3
    by_hashes = plan("--capacity", 1000, "--hashes", 7, "--kind", "bloom")
    assert by_hashes["bits_per_key"] == pytest.approx(7 / 0.6931, rel=0.001)
    assert plan("--bits", 8000, "--hashes", 6, "--kind", "bloom")["capacity"] == 924
    assert plan("--bits", 8000, "--hashes", "010", "--kind", "bloom")["hashes"] == 10


def test_memory_is_bytes_in_both_systems_of_units(plan):
    assert plan("--capacity", "1M", "--memory", "1MB", "--kind", "bloom")["bits"] == 8_000_000
    assert plan("--capacity", "1M", "--memory", "1MiB", "--kind", "bloom")["bits"] == 8 * 2**20


def test_a_capacity_alone_is_planned_at_one_percent_and_it_says_so(run, plan):
    alone = run("plan", "--capacity", 1000).ok().out
    assert alone.startswith(b"No rate was given; 1% is assumed.\n")
    assert b"assumed" not in run("plan", "--capacity", 1000, "--fpr", "1%").ok().out
    assert plan("--capacity", 1000)["rate_assumed"] is True
    given = plan("--capacity", 1000, "--fpr", "1%")
    assert given["rate_assumed"] is False
    assert plan("--capacity", 1000)["bits"] == given["bits"]


def test_json_has_the_promised_members_for_each_kind(plan, kinds):
    assert "bloom" in kinds
    for kind in kinds:
        found = plan("--capacity", "1M", "--fpr", "1%", "--kind", kind)
        assert found["kind"] == kind
        assert found["capacity"] >= 1_000_000
        assert 0 < found["planned_fpr"] <= 0.01
        assert found["bytes"] == pytest.approx(found["bits"] / 8, rel=0.01)
        assert found["bits_per_key"] == pytest.approx(found["bits"] / found["capacity"])
        assert found["bits_per_key"] > found["information_bound"] >= 6.64
        assert isinstance(found.get("hashes", 1), int)


def test_the_table_shows_every_kind_and_recommends_one(run, plan, kinds):
    text = run("plan", "--capacity", "1M", "--fpr", "1%").ok().out.decode()
    table = text.split("\nRecommended: ")[0]
    for kind in kinds:
        assert re.search(rf"^{kind} ", table, re.M), kind
    found = plan("--capacity", "1M", "--fpr", "1%")
    assert f"\nRecommended: {found['reason']}.\n" in text
    # A tenth of memory at most for fewer cache lines per query, which the reason says.
    assert found["kind"] == "blocked_bloom"
    assert "reads 1 cache line per query" in found["reason"]
    assert found["bytes"] <= 1.1 * min(k["bytes"] for k in found["kinds"] if "bytes" in k)


def test_a_rate_beside_keys_and_memory_is_an_upper_bound_and_said_to_be(run):
    remark = "Keys, rate and memory are all given: the rate is the highest allowed.\n"
    all_three = ("plan", "--capacity", "1M", "--fpr", "1%", "--memory", "2MB")
    for kind in ((), ("--kind", "bloom")):
        text = run(*all_three, *kind).ok().out.decode()
        assert text.startswith(remark)
        # The lines to copy keep all three, and plan the same filter.
        line = next(line for line in text.splitlines() if line.startswith("  bloomset build"))
        assert "--capacity 1000000 --fpr 0.01 --bits 16000000" in line
    assert remark not in run("plan", "--capacity", "1M", "--fpr", "1%").ok().out.decode()
    run("plan", "--capacity", "1M", "--fpr", "1%", "--memory", "1MB", "--kind", "bloom").refused(
        "would give a rate of 2.16%, not 1.00%")


@pytest.mark.parametrize("option,ability", [("--deletable", "erase"), ("--counting", "count"),
                                            ("--growing", "grow")])
def test_a_need_narrows_the_advice_to_kinds_that_meet_it(run, plan, info, kinds, tmp_path, option, ability):
    able = []
    for kind in kinds:
        run("build", "-o", f"{kind}.bloom", "--kind", kind, "--capacity", 100, "--fpr", "1%",
            input=b"a\n").ok()
        if ability in info(f"{kind}.bloom")["can"]:
            able.append(kind)
    if not able:
        run("plan", "--capacity", "1M", "--fpr", "1%", option).refused(f"no kind here can {ability}")
        return
    found = plan("--capacity", "1M", "--fpr", "1%", option)
    assert found["kind"] in able
    assert {k["kind"] for k in found["kinds"] if "bytes" in k} == set(able)
    for kind in set(kinds) - set(able):
        refused = run("plan", "--capacity", "1M", "--fpr", "1%", option, "--kind", kind)
        refused.refused(f"a filter of kind {kind} cannot {ability}")


def test_growing_compares_the_ways_to_build_a_filter_of_unknown_size(run, plan):
    ways = plan("--fpr", "0.1%", "--growing")["if_unknown"]
    assert [w["way"] for w in ways] == ["count first", "fold from 10 times the keys", "expandable"]
    counted, folded, grown = ways
    exact = plan("--capacity", "1M", "--fpr", "0.1%", "--kind", "blocked_bloom")
    assert counted["bits_per_key"] == exact["bits_per_key"]
    assert counted["bits_per_key_building"] == exact["bits_per_key"] + 64
    assert folded["bits_per_key_building"] == 10 * exact["bits_per_key"]
    assert counted["bits_per_key"] < folded["bits_per_key"] < grown["bits_per_key"]
    text = run("plan", "--fpr", "0.1%", "--growing").ok().out.decode()
    assert f"expandable                   {grown['bits_per_key']:8.2f}" in text
    assert "if the number is unknown" not in run("plan", "--fpr", "1%", "--growing",
                                                 "--deletable").ok().out.decode()


def test_static_is_answered_truthfully(run, plan, static_kinds):
    found = plan("--capacity", "1M", "--fpr", "1%", "--static")
    assert found["kind"] in static_kinds
    # The least at the recommended filter's own rate, which may be lower than the one asked for.
    assert f"{-math.log2(found['planned_fpr']):.2f} bits/key" in found["reason"]
    assert found["bytes"] == min(k["bytes"] for k in found["kinds"] if "bytes" in k)
    for kind in static_kinds:
        run("plan", "--capacity", 9, "--fpr", "1%", "--kind", kind, "--deletable").refused(
            f"a filter of kind {kind} cannot erase")


@pytest.mark.parametrize("args,sentence", [
    ((), "give two of capacity, rate and memory"),
    (("--fpr", "1%"), "give two of capacity, rate and memory"),
    (("--bits", "8000"), "give two of capacity, rate and memory"),
    (("--hashes", "3"), "give two of capacity, rate and memory"),
    (("--kind", "bloom"), "give two of capacity, rate and memory"),
    (("--kind", "blom", "--capacity", "5"), "--kind: 'blom' is not a kind of filter; the kinds are blocked_bloom, bloom"),
    (("--kind", "bloom", "--capacity", "1000", "--bits", "1000", "--fpr", "1%"), "63.2%, not 1.00%"),
    (("--bits", "1000", "--memory", "1000", "--fpr", "1%"), "--memory and --bits exclude each other"),
    (("--capacity", "0", "--fpr", "1%"), "--capacity: '0' is not a count"),
    (("--capacity", "-1", "--fpr", "1%"), "--capacity: '-1' is not a count"),
    (("--capacity", "1.5", "--fpr", "1%"), "--capacity: '1.5' is not a count"),
    (("--capacity", "10 M", "--fpr", "1%"), "' M' is not a unit"),
    (("--capacity", "nan", "--fpr", "1%"), "--capacity: 'nan' is not a count"),
    (("--capacity", "9223372036854775808", "--fpr", "1%"), "too large"),
    (("--capacity", "9223372036854775807", "--fpr", "1%"), "is too large; give at most 144,115,188,075,855,872"),
    (("--capacity", "", "--fpr", "1%"), "--capacity: its value is empty"),
    (("--capacity", "1\n2", "--fpr", "1%"), "--capacity: '1\\n2' is not a count"),
    (("--capacity", "10", "--fpr", "0"), "--fpr: '0' is not a rate"),
    (("--capacity", "10", "--fpr", "101%"), "--fpr: '101%' is not a rate"),
    (("--capacity", "10", "--fpr", "1/0"), "--fpr: '1/0' is not a rate"),
    (("--capacity", "10", "--fpr", "1e-300"), "a rate of 1e-300 is too low for this kind, even with 128-bit hashes"),
    (("--capacity", "10", "--memory", "1EB"), "--memory: '1EB' is not a size"),
    (("--capacity", "10", "--memory", "9000000TB"), "is too large"),
    (("--capacity", "10", "--bits", "1KiB"), "--bits: '1KiB' is not a count"),
    (("--capacity", "10", "--hashes", "0"), "--hashes: '0' is not a number of hash functions"),
    (("--capacity", "10", "--hashes", "65"), "give 1 to 64"),
    (("--capacity", "10", "--hashes", "0x7"), "'0x7' is not a number of hash functions"),
    (("--capacity", "10", "--hashes", "seven"), "--hashes: 'seven'"),
    (("--capacity", "10", "--fpr", "1%", "--with", "slots"), "'slots' is not NAME=VALUE"),
    (("--capacity", "10", "--fpr", "1%", "--static", "--deletable"), "never changes"),
    (("--capacity", "10", "--capacity", "11"), "--capacity: it can be given only once"),
])
def test_nonsense_is_one_sentence(run, args, sentence):
    run("plan", *args).refused(sentence)
    run("plan", "--json", *args).refused(sentence)


def requests(kind):
    """Requests in every sufficient form that this kind may take."""
    yield ("--capacity", "1000", "--fpr", "1%")
    yield ("--capacity", "1000", "--memory", "4kB")
    yield ("--bits", "64000", "--fpr", "1/500", "--seed", "7")


def test_the_shown_command_builds_the_planned_filter(run, plan, info, kinds, static_kinds, tmp_path):
    (tmp_path / "members.txt").write_bytes(b"alice\nbob\n")
    for kind in set(kinds) - set(static_kinds):
        for request in requests(kind):
            text = run("plan", "--kind", kind, *request).ok().out.decode()
            line = re.search(r"^  bloomset (build .*)$", text, re.M).group(1)
            run(*shlex.split(line), "--force").ok()
            planned = plan("--kind", kind, *request)
            built = info("members.bloom")
            for figure in ("kind", "capacity", "bits", "bytes"):
                assert built[figure] == planned[figure], (kind, request, figure)
            # A kind whose parts differ in their number of functions has none of its own.
            assert built.get("hashes") in (None, planned.get("hashes")), (kind, request)
            assert built["count"] == 2


def test_the_shown_command_builds_the_planned_filter_of_just_its_keys(run, plan, info, static_kinds, lines,
                                                                      tmp_path):
    assert "fuse" in static_kinds
    for kind in static_kinds:
        for request in requests(kind):
            planned = plan("--kind", kind, *request)
            text = run("plan", "--kind", kind, *request).ok().out.decode()
            line = re.search(r"^  bloomset (build .*)$", text, re.M).group(1)
            (tmp_path / "members.txt").write_bytes(lines(planned["capacity"]))
            run(*shlex.split(line), "--force").ok()
            built = info("members.bloom")
            for figure in ("kind", "capacity"):
                assert built[figure] == planned[figure], (kind, request, figure)
            if kind == "ribbon":
                # It has any rate, and takes what room the plan leaves in the memory given.
                assert built["planned_fpr"] <= planned["planned_fpr"] * (1 + 1e-12), request
                assert built["planned_fpr"] >= planned["planned_fpr"] * 0.98, request
            else:
                assert built["planned_fpr"] == planned["planned_fpr"], (kind, request)
            # A shard that needs a second try gets a little more room.
            assert built["bytes"] == pytest.approx(planned["bytes"], rel=0.02), (kind, request)
            assert built["count"] == planned["capacity"]


def test_the_shown_cpp_lines_compile(run, kinds, tmp_path):
    lines = []
    for kind in kinds:
        for request in requests(kind):
            text = run("plan", "--kind", kind, *request).ok().out.decode()
            lines.append(re.search(r"^  ((bloomset::|auto ).*;)$", text, re.M).group(1))
    text = run("plan", "--kind", "fuse", "--capacity", 9, "--fpr", "1%", "--with", "arity=4").ok().out
    lines.append(text.decode().splitlines()[-1].strip())
    assert '{"arity", "4"}' in lines[-1]
    source = tmp_path / "lines.cpp"
    source.write_text("#include <bloomset/bloomset.hpp>\nint main() {\n"
                      "  const std::vector<std::string> keys;\n"
                      "  const std::vector<bloomset::hash64> hashes;\n"
                      + "\n".join(f"  {{ {line} (void)members.capacity(); }}" for line in lines)
                      + "\n}\n")
    done = subprocess.run(["g++", "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror",
                           "-I", ROOT / "include", source], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("columns", [80, 100, 200])
def test_a_terminal_shows_whole_words_in_its_width(bloomset, columns):
    def on_a_terminal(*args):
        ours, theirs = os.openpty()
        termios.tcsetwinsize(theirs, (24, columns))
        with subprocess.Popen([bloomset, "plan", *args], stdin=subprocess.DEVNULL, stdout=theirs) as plan:
            os.close(theirs)
            shown = all_of(ours).decode().replace("\r\n", "\n")
            assert plan.wait(timeout=20) == 0
        return shown

    args = ("--capacity", "1000", "--fpr", "1e-30")
    piped = subprocess.run([bloomset, "plan", *args], capture_output=True, text=True, check=True).stdout
    shown = on_a_terminal(*args)
    assert max(map(len, piped.splitlines())) > 100
    to_copy = [line for line in piped.splitlines() if line.startswith(("  bloomset ", "  auto "))]
    assert all(line in shown for line in to_copy)
    assert all(len(line) <= columns for line in shown.splitlines() if line not in to_copy)
    assert shown.split() == piped.split()
    # Narrow terminals have no room for the comparison.
    assert ("vs blocked_bloom" in on_a_terminal("--capacity", "1000", "--fpr", "1%")) == (columns > 100)


@pytest.mark.parametrize("kind", [(), ("--kind", "bloom")])
def test_a_rate_that_tells_nothing_is_not_recommended(run, kind):
    run("plan", "--capacity", "1M", "--memory", "10", *kind).refused(
        "would give a rate of 100%, at which a filter is nearly useless; give more memory or fewer keys")
    run("plan", "--capacity", "1M", "--fpr", "95%", *kind).ok()  # as the user wishes
