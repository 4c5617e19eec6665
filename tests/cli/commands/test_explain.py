"""bloomset explain: the lecture's facts, the textbook families, and refused arguments."""

import os
import pty
import re

import pytest

from conftest import ROOT, all_of

PAGE = ROOT / "explorer" / "src"
# Those of the explorer page, of which the first is no family of words.
FAMILIES = re.search(r"FAMILIES = \['formulas', '(.*)'\]", (PAGE / "watch-array.js").read_text())[1].split("', '")

LECTURE = ["--bits", "10", "--hash", "(x+3)%10", "--hash", "(3*x+1)%10", "--hash", "(x^2+2)%10"]


@pytest.fixture
def explain(run):
    """Runs the verb and returns what it prints as {heading: text}, steps in their order. Every
    line has to fit a terminal, and nothing is coloured in a pipe."""

    def tell(*args):
        out = run("explain", *args).ok().out.decode()
        assert "\x1b" not in out
        assert [line for line in out.splitlines() if len(line) > 80 or line != line.rstrip()] == []
        parts = {}
        for part in out.split("\n\n"):
            heading, _, text = part.partition("\n")
            while heading in parts:
                heading += "'"
            parts[heading] = text
        return parts

    return tell


def row(text):
    """The cells of a short array: the line under its first ruler."""
    lines = text.splitlines()
    ruler = next(i for i, line in enumerate(lines) if re.match(r"  (bit|counter) ", line))
    return lines[ruler + 1].split()


def places(text):
    """Where the functions of a step lead."""
    text = re.sub(r"\n {6}", " ", text)  # a long line's remark stands on the next
    return [int(n) for n in re.findall(r"^  h\d+\(.*: (?:bit|counter) (\d+) ", text, re.M)]


def test_the_lectures_walk(explain):
    told = explain(*LECTURE, "--insert", "2,4,9", "--check", "4,7,12")
    assert "h1(2) = (2+3)%10 = 5: bit 5 from 0 to 1" in told["insert 2"]
    assert places(told["insert 2"]) == [5, 7, 6]
    assert places(told["insert 4"]) == [7, 3, 8]
    assert places(told["insert 9"]) == [2, 8, 3]
    assert "h1(4) = (4+3)%10 = 7: bit 7 is 1 already" in told["insert 4"]
    assert row(told["insert 2"]) == list("0000011100")
    assert row(told["insert 4"]) == list("0001011110")
    assert row(told["insert 9"]) == list("0011011110")

    assert places(told["check 4"]) == [7, 3, 8]
    assert "maybe, and it is: 4 was inserted" in told["check 4"]

    assert places(told["check 7"]) == [0, 2, 1]
    assert "certainly not: bit 0 is 0" in told["check 7"]

    assert places(told["check 12"]) == [5, 7, 6]
    assert "maybe, but a false positive: 12 was never inserted" in told["check 12"]
    for fact in ("bit 5 was set by 2\n", "bit 7 was set by 2 and 4\n", "bit 6 was set by 2"):
        assert fact in told["check 12"]

    end = told["in the end"]
    assert "bits set: 2 3 5 6 7 8\n" in end
    assert "fill: 6 of 10 = 60.0%" in end
    assert "fill^k = 0.6^3 = 21.6%" in end
    # 1 - e^(-9/10) = 0.5934, cubed
    assert "(1 - e^(-kn/m))^k = 20.9%" in end
    assert "1 maybe and a member, 1 certainly not, 1 false positive" in end


def test_steps_keep_the_order_of_the_command_line(explain):
    told = explain(*LECTURE, "--check", "2", "--insert", "2", "--check", "2", "--insert", "4")
    assert list(told)[2:] == ["check 2", "insert 2", "check 2'", "insert 4", "in the end"]
    assert "certainly not" in told["check 2"]
    assert "maybe, and it is" in told["check 2'"]


def test_an_insert_that_sets_nothing_is_not_called_new(explain):
    told = explain(*LECTURE, "--insert", "2,2,12")
    assert "\n  new: " in told["insert 2"]
    assert "perhaps not new: no bit was 0, and indeed it was inserted before" in told["insert 2'"]
    assert "though 12 was never inserted" in told["insert 12"]


def test_values_are_reduced_to_the_array_and_never_negative(explain):
    told = explain("--bits", "10", "--hash", "x-7", "--hash", "x^100", "--insert", "3,-3", "--check", "1000000")
    assert "h1(3) = 3-7 = -4, modulo 10 = 6" in told["insert 3"]
    assert "h2(3) = 3^100, modulo 10 = 1" in told["insert 3"]
    assert "h1(-3) = (-3)-7 = -10, modulo 10 = 0" in told["insert -3"]
    assert places(told["check 1000000"]) == [3, 0]


def test_the_tutorials_fnv_and_murmur(explain):
    told = explain("--family", "fnv-murmur", "--bits", "15", "--hashes", "2", "--insert", "hello,world")
    assert places(told["insert hello"]) == [6, 0]
    assert places(told["insert world"]) == [7, 1]
    assert "bits set: 0 1 6 7" in told["in the end"]


def test_md5_shows_the_bytes_that_it_takes(explain):
    told = explain("--family", "md5", "--bits", "15", "--hashes", "2", "--insert", "hello")
    head = list(told)[0] + told[list(told)[0]]
    assert "of its 16 bytes the first 8, read big-endian" in head
    # md5sum of hello0 and hello1
    assert 'MD5("hello0"): 0x4f6d054536d6613a % 15 = 10' in told["insert hello"]
    assert 'MD5("hello1"): 0x203ad5ffa1d7c650 % 15 = 12' in told["insert hello"]
    assert places(told["insert hello"]) == [0x4F6D054536D6613A % 15, 0x203AD5FFA1D7C650 % 15]


def test_a_retelling_whose_hash_is_unknown(explain):
    told = explain(
        "--bits", "10", "--place", "hello=6,0", "--place", "world=7,6", "--place", "you=0,7",
        "--insert", "hello,world", "--check", "you",
    )
    assert "bits set: 0 6 7" in told["in the end"]
    assert "bit 6 is 1 already" in told["insert world"]
    assert "bit 0 was set by hello\n    bit 7 was set by world" in told["check you"]


def test_every_family_is_on_the_explorer_page(run):
    *others, last = FAMILIES
    run("explain", "--family", "none", "--insert", "ant").refused(f"give {', '.join(others)} or {last}")
    for words in ("words-en.js", "words-de.js"):
        text = (PAGE / words).read_text()
        assert [name for name in FAMILIES if not re.search(rf"\bfamily_{name}'?: ", text)] == [], words


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_finds_what_it_inserted(explain, family):
    words = ["w%d" % i for i in range(20)]
    told = explain("--family", family, "--bits", "300", "--hashes", "4",
                   "--insert", ",".join(words), "--check", ",".join(words))
    assert all("maybe, and it is" in told["check " + word] for word in words)
    assert all(len(set(places(told["insert " + w]))) in range(1, 5) for w in words)
    assert "20 lookups: 20 maybe and a member, 0 certainly not, 0 false positives" in told["in the end"]


def test_words_are_hashed_by_the_librarys_own_rule_when_nothing_is_said(explain):
    told = explain("--bits", "64", "--insert", "ant,bee,cat,dog")
    head = list(told)[0]
    # 16 bits a key: 16 ln 2 = 11.1 functions, and one less by the exact rate of so small an array.
    assert head == "a Bloom filter of 64 bits and 10 hash functions"
    assert explain("--bits", "64", "--family", "double", "--insert", "ant,bee,cat,dog") == told


def test_counters(explain):
    told = explain("--counting", *LECTURE, "--insert", "2,4,9", "--erase", "4", "--check", "4,9",
                   "--erase", "7")
    assert row(told["insert 9"]) == list("0012011220")
    assert row(told["erase 4"]) == list("0011011110")
    assert "counter 7 from 2 to 1" in told["erase 4"]
    assert "false positive: 4 is no longer in" in told["check 4"]
    assert "maybe, and it is: 9 was inserted" in told["check 9"]
    assert "nothing to erase: counter 0 is 0" in told["erase 7"]
    assert row(told["in the end"]) == row(told["erase 4"])


def test_erasing_what_was_never_in_harms_others(explain):
    told = explain("--counting", *LECTURE, "--insert", "2", "--erase", "12", "--check", "2")
    assert "erased, but should not have been: 12 was never inserted" in told["erase 12"]
    assert "certainly not, says the filter, and is wrong" in told["check 2"]
    assert "1 false" in told["in the end"]
    wrong = "says the filter, and is wrong: "
    told = explain("--counting", *LECTURE, "--insert", "2", "--erase", "12,2")
    assert "nothing to erase, " + wrong in told["erase 2"]
    told = explain("--cuckoo", "--buckets", "2", "--slots", "2", "--fingerprint-bits", "4", "--erase", "a")
    assert "nothing to erase: no " in told["erase a"]


def test_erasing_what_only_sticks_harms_nobody(explain):
    threes = ",".join(["3"] * 15)
    told = explain("--counting", "--bits", "4", "--hash", "x%4", "--hash", "(x+1)%4", "--insert", threes,
                   "--erase", threes, "--check", "3", "--erase", "3")
    assert "false positive: 3 is no longer in" in told["check 3"]
    last = [text for heading, text in told.items() if heading.startswith("erase 3")][-1]
    assert "3 is no longer in; its counters stick, so nothing was changed" in " ".join(last.split())


@pytest.mark.parametrize("bits, most", [(4, 15), (8, 255)])
def test_a_counter_sticks_at_its_maximum(explain, bits, most):
    ones = ",".join(["1"] * (most + 1))
    told = explain("--counting", "--counter-bits", bits, "--bits", "4", "--hash", "x",
                   "--insert", ones, "--erase", "1", "--erase", ones.replace(",1", "", 1), "--check", "1")
    assert f"counter 1 from {most - 1} to {most}, its most: from now on it sticks" in told["insert 1" + "'" * (most - 1)]
    assert f"counter 1 sticks at {most}" in told["insert 1" + "'" * most]
    assert f"counter 1 sticks at {most}" in told["erase 1"]
    assert row(told["in the end"]) == ["0", str(most), "0", "0"]
    assert f"counter 1 was set by none that is still in: it sticks" in told["check 1"]
    assert f"counters at {most}, which stick: 1" in told["in the end"]


def test_wide_arrays_are_wrapped_and_only_changes_are_drawn_between(explain):
    told = explain("--bits", "4096", "--hash", "x", "--insert", "0,4095", "--check", "60")
    assert told["insert 4095"].count("\n  0    ") == 0
    assert re.search(r"^  4080 0{10} 0{5}1$", told["insert 4095"], re.M)
    assert "(68 of 69 rows, without a change here, are left out)" in told["insert 4095"]
    assert len(re.findall(r"^  \d+ +[01 ]+$", told["in the end"], re.M)) == 69
    assert told["in the end"].count("left out") == 0


def test_a_single_bit(explain):
    told = explain("--bits", "1", "--hashes", "1", "--insert", "a", "--check", "b")
    assert "false positive" in told["check b"]


def test_text_from_outside_does_not_steer_the_terminal(run):
    out = run("explain", "--insert", "a\x1b[31mb", "--hashes", "1").ok().out
    assert b"\x1b" not in out and b"a\\x1b[31mb" in out
    run("explain", "--hash", "\x1b[31m", "--insert", "1").refused("'\\x1b' in column 1")


@pytest.mark.parametrize(
    "args, sentence",
    [
        (["--bits", "0", "--insert", "2"], "--bits"),
        (["--bits", "ten", "--insert", "2"], "--bits"),
        (["--bits", "4097", "--insert", "2"], "at most 4,096"),
        (["--bits", "99999999999999999999", "--insert", "2"], "--bits"),
        ([], "no steps are given"),
        (["--insert", "2,,4"], "--insert: element 2 of '2,,4' is empty"),
        (["--insert", ","], "element 1"),
        (["--insert", ",".join("a" * 1001)], "1001 steps are too many"),
        (["--insert", "a" * 201], "201 bytes is too long"),
        (["--hash", "x%10", "--insert", "hello"], "'hello' is not a whole number"),
        (["--hash", "x%10", "--insert", "2.5"], "'2.5' is not a whole number"),
        (["--hash", "x%10", "--insert", "2,99999999999999999999"], "is not a whole number"),
        (["--hash", "(x+3", "--insert", "2"], "column 5, where an operator (+ - * % ^) or ')' was expected"),
        (["--hash", "x", "--hash", "3x", "--insert", "2"], "the formula '3x' has 'x' in column 2"),
        (["--hash", "x%0", "--insert", "2"], "'x%0' has no value for x = 2: it divides by zero"),
        (["--hash", "5%(x-4)", "--insert", "5", "--check", "4"], "no value for x = 4"),
        (["--hash", "(" * 200 + "x" + ")" * 200, "--insert", "2"], "nests deeper than 50"),
        (["--hash", "(" * 100000, "--insert", "2"], "at most 500"),
        (["--hash", "x"] * 65 + ["--insert", "2"], "65 formulas are too many"),
        (["--hash", "x", "--hashes", "2", "--insert", "2"], "--hash and --hashes exclude"),
        (["--family", "sha", "--insert", "a"], "'sha' is not a family"),
        (["--hashes", "0", "--insert", "a"], "a filter cannot have 0 functions"),
        (["--hashes", "65", "--insert", "a"], "a filter cannot have 65 functions"),
        (["--hashes", "29", "--insert", "a"], "29 hash functions need at least 4096 bits"),
        (["--place", "hello", "--insert", "hello"], "hello=6,0"),
        (["--place", "hello=6,32", "--insert", "hello"], "'32' is not a place among 32"),
        (["--place", "a=1,2", "--place", "b=1", "--insert", "a"], "give every word the same number"),
        (["--place", "a=1", "--place", "a=2", "--insert", "a"], "given before"),
        (["--place", "a=1", "--insert", "b"], "'b' has no places"),
        (["--insert", "a", "--erase", "a"], "add --counting"),
        (["--counter-bits", "4", "--insert", "a"], "--counting"),
        (["--counting", "--counter-bits", "5", "--insert", "a"], "4, 8 or 16"),
        (["--counting", "--counter-bits", "0", "--insert", "a"], "4, 8 or 16"),
        (["--counting", "--counter-bits", "4294967295", "--insert", "a"], "4, 8 or 16"),
    ],
)
def test_what_is_wrong_is_one_sentence(run, args, sentence):
    run("explain", *args).refused(sentence)


def in_a_terminal(program, args, env):
    pid, fd = pty.fork()
    if pid == 0:
        os.execve(program, [program, *args], env)
    out = all_of(fd)
    assert os.waitpid(pid, 0)[1] == 0
    return out


def test_colours_only_on_a_terminal_and_without_no_color(bloomset):
    env = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
    args = ["explain", *LECTURE, "--insert", "2", "--check", "7"]
    coloured = in_a_terminal(bloomset, args, env)
    plain = in_a_terminal(bloomset, args, {**env, "NO_COLOR": "1"})
    assert b"\x1b[" in coloured and b"\x1b" not in plain
    assert re.sub(rb"\x1b\[[0-9;]*m", b"", coloured) == plain


def test_help_has_the_lectures_example(run):
    out = run("explain", "--help").ok().out.decode()
    assert "Examples:" in out and "'(x^2+2)%10'" in out


def table(text, stage=-1):
    """The table of a cuckoo walk's step, the last one or another: {bucket: fingerprints}."""
    pictures = text.split("  bucket\n")[1:]
    rows = {}
    for line in pictures[stage].splitlines():
        found = re.match(r"[ >]{2} +(\d+) (.*)$", line)
        if not found:
            break
        rows[int(found[1])] = re.findall(r"[0-9a-f]+|\.+", found[2])
    return rows


def stash(text):
    found = re.findall(r"^  stash (.*)$", text, re.M)
    return found[-1].split() if found else []


def contents(text):
    return sorted([f for row in table(text).values() for f in row if "." not in f] + stash(text))


WORDS = [f"w{i}" for i in range(30)]


def test_cuckoo_puts_each_fingerprint_into_one_of_its_buckets(explain):
    told = explain("--cuckoo", "--buckets", "5", "--slots", "4", "--insert", ",".join(WORDS[:16]),
                   "--check", ",".join(WORDS[:16]))
    for word in WORDS[:16]:
        step = told["check " + word]
        fingerprint = re.search(r"fingerprint ([0-9a-f]+),", step)[1]
        mine = [int(n) for n in re.findall(r"\d+", re.search(r"buckets? (.*?)(,|\n)", step)[1])]
        assert any(fingerprint in table(step)[bucket] for bucket in mine)
        assert f"^{fingerprint}" in step
        assert "maybe, and it is" in step
    assert "16 elements in, 16 of 20 slots taken = a load of 80.0%" in told["in the end"]


def test_cuckoo_shows_every_move_of_a_chain(explain):
    words = [f"w{i}" for i in range(48)]
    told = explain("--cuckoo", "--buckets", "24", "--slots", "2", "--insert", ",".join(words))
    state = {bucket: [".."] * 2 for bucket in range(24)}
    longest = 0
    for word in words:
        step = told["insert " + word]
        if "waits in the stash" in step or "\n  full: " in step:
            assert table(step) == state
            continue
        move = r"([0-9a-f]{2}) \(.*?\) moves from bucket (\d+), slot (\d) to bucket (\d+), slot (\d)"
        moves = re.findall(move, step)
        for stage, (fingerprint, *slots) in enumerate(moves):
            bucket, slot, other, to = map(int, slots)
            assert state[bucket][slot] == fingerprint and state[other][to] == ".."
            state[bucket][slot], state[other][to] = "..", fingerprint
            assert state == table(step, stage)
        new = re.search(r"([0-9a-f]{2}) goes to bucket (\d+), slot (\d)", step)
        assert state[int(new[2])][int(new[3])] == ".."
        state[int(new[2])][int(new[3])] = new[1]
        assert state == table(step)
        longest = max(longest, len(moves))
    assert longest >= 2
    # What was told led to the table of the library's own filter.
    assert state == table(told["in the end"])


def test_cuckoo_that_is_full_loses_nothing(explain):
    told = explain("--cuckoo", "--buckets", "2", "--slots", "2", "--fingerprint-bits", "16",
                   "--insert", ",".join(WORDS[:12]))
    full = [w for w in WORDS[:12] if "\n  full: " in told["insert " + w]]
    kept = [w for w in WORDS[:12] if w not in full]
    assert full and 4 < len(kept) <= 8  # four slots and four stash entries
    assert len(stash(told["in the end"])) == len(kept) - 4
    fingerprints = [re.search(r"fingerprint ([0-9a-f]{4})", told["insert " + w])[1] for w in kept]
    assert contents(told["in the end"]) == sorted(fingerprints)


def test_cuckoo_erases_and_counts_copies(explain):
    told = explain("--cuckoo", "--slots", "2", "--insert", "a,a,b", "--erase", "a", "--check", "a",
                   "--erase", "a,a", "--check", "a,b")
    assert "perhaps not new: its fingerprint was there, and indeed" in told["insert a'"]
    assert "erased: a is still in, 1 time" in told["erase a"]
    assert "maybe, and it is" in told["check a"]
    assert "nothing to erase" in told["erase a''"]
    assert re.search(r"certainly not: no \w\w in bucket \d or \d, and inserting a would have put it\s+there",
                     told["check a'"])
    assert "maybe, and it is" in told["check b"]


def test_cuckoo_takes_only_so_many_copies(explain):
    told = explain("--cuckoo", "--slots", "2", "--insert", "a,a,a,a,a")
    assert "too many copies: its slots hold 4 and no more" in told["insert a''''"]


def test_a_cuckoo_false_positive_names_the_twin(explain):
    # 300 non-members against 4-bit fingerprints in one bucket: some look like a member.
    non_members = [f"s{i}" for i in range(300)]
    told = explain("--cuckoo", "--buckets", "1", "--fingerprint-bits", "4", "--insert", "a,b",
                   "--check", ",".join(non_members))
    wrong = [s for s in non_members if "false positive" in told["check " + s]]
    # Each passes with chance 2/15: 40 expected, and 10 to 80 with all but 1e-8 (binomial tails).
    assert 10 <= len(wrong) <= 80
    for s in wrong:
        assert re.search(r"^    (a|b) has the same fingerprint and buckets$", told["check " + s], re.M)


@pytest.mark.parametrize("slots, bits", [(2, 4), (4, 12), (8, 32)])
def test_cuckoo_tables_fit_the_terminal(explain, slots, bits):
    told = explain("--cuckoo", "--buckets", "512", "--slots", slots, "--fingerprint-bits", bits,
                   "--insert", "a,b")
    assert "buckets, not touched here, are left out)" in told["insert b"]
    assert len(table(told["in the end"])) == 512


@pytest.mark.parametrize(
    "args, sentence",
    [
        (["--buckets", "0"], "--buckets"),
        (["--buckets", "513"], "at most 512"),
        (["--slots", "3"], "2, 4 or 8 slots"),
        (["--slots", "0"], "2, 4 or 8 slots"),
        (["--slots", "4294967295"], "2, 4 or 8 slots"),
        (["--fingerprint-bits", "3"], "4 to 32 bits"),
        (["--fingerprint-bits", "33"], "4 to 32 bits"),
        (["--hash", "x"], "--cuckoo"),
        (["--bits", "9"], "--cuckoo"),
        (["--counting"], "--cuckoo"),
    ],
)
def test_what_is_wrong_with_a_table_is_one_sentence(run, args, sentence):
    run("explain", "--cuckoo", *args, "--insert", "a").refused(sentence)


def exact_equation(line):
    """The word, the slots and the bit of a row such as `ant  s0 ^ s1 ^ s3 = 0   passes`, and the verdict."""
    word, slots, bit, verdict = re.fullmatch(r"  (\S+) +(s\d+(?: \^ s\d+)*) += ([01])(?:   (passes|-))?", line).groups()
    return word, [int(slot[1:]) for slot in slots.split(" ^ ")], int(bit), verdict


def test_an_exact_filter_is_solved_and_answers_its_universe(explain):
    members, others = ["ant", "bee", "cat", "cow"], ["dog", "eel", "fox", "owl", "yak", "emu", "hen", "pig"]
    parts = explain("--exact", "--insert", ",".join(members), "--others", ",".join(others), "--check",
                    ",".join([*members, *others, "stranger"]))
    solution = [int(bit) for bit in re.search(r"slots: ([01 ]+)", parts["the free slots"])[1].split()]
    assert len(solution) == len(members) + 2

    def holds(slots, bit):
        return sum(solution[slot] for slot in slots) % 2 == bit

    rows = [exact_equation(line) for line in parts["the equations of the members hold"].splitlines()]
    assert [row[0] for row in rows] == members and all(len(row[1]) == 3 and holds(*row[1:3]) for row in rows)
    rows = [exact_equation(line) for line in parts["the equations of the others"].splitlines()]
    assert [row[0] for row in rows] == others
    assert all((row[3] == "passes") == holds(*row[1:3]) for row in rows)
    passing = [row[0] for row in rows if row[3] == "passes"]
    # Two free slots, so four choices, of which none lets fewer pass.
    choices = [int(count) for count in re.findall(r"^     [ 01]+   (\d+)(?:  <)?$", parts["the free slots"], re.M)]
    assert len(choices) == 4 and min(choices) == len(passing)
    bits = parts["the last section"].replace("\n    ", " ").split(": ")[1].strip()
    assert bits == ", ".join([f"{word} 1" for word in members] + [f"{word} 0" for word in passing])
    for word in members:
        assert "  yes: " in parts[f"check {word}"]
    for word in others:
        assert "  no: " in parts[f"check {word}"]


@pytest.mark.parametrize("args, why", [
    (("--exact", "--insert", "a"), "--others"),
    (("--exact", "--insert", "a,b", "--others", "b"), "b is a member and one of the others"),
    (("--exact", "--check", "a", "--others", "b"), "there are no members"),
    (("--exact", "--insert", "a", "--others", "b", "--bits", "30"), "30 slots cannot be shown; give 4 to 24"),
    (("--exact", "--insert", "a", "--others", "b", "--bits", "20"), "20 slots leave more than 8 free"),
    (("--exact", "--insert", "a,b,c,d,e,f", "--others", "x", "--bits", "5"), "contradict each other; give more slots"),
    (("--exact", "--insert", "a", "--others", "b", "--erase", "a"), "--erase: an exact filter cannot erase"),
    (("--exact", "--cuckoo", "--insert", "a", "--others", "b"), "--cuckoo"),
])
def test_exact_filters_that_cannot_be_shown_are_refused(run, args, why):
    run("explain", *args).refused(why)
