"""Help, parse errors, completion in three shells and the man page. All are generated from the
parser's tree. The tests compare them with it and with the real shells."""

import functools
import os
import re
import shlex
import shutil
import subprocess

import pytest

from conftest import BLOOMSET

SHELLS = ("bash", "zsh", "fish")


def tool(name):
    """The path of a program that these tests need. Where it is missing they fail: a skipped test
    would say nothing."""
    path = shutil.which(name)
    assert path, f"{name} is not installed; apt-get install {name}"
    return path


@pytest.fixture
def verbs():
    text = help_of().split("\nVerbs:\n")[1].split("\n\n")[0]
    return re.findall(r"^  (\S+)", text, re.M)


@functools.cache
def help_of(*words):
    return subprocess.run([BLOOMSET, *words, "--help"], capture_output=True, check=True, text=True).stdout


def options_of(verb):
    """The long options that a verb's help lists."""
    return [option for _, options in option_lists_of(verb) for option in options]


def option_lists_of(verb):
    """(heading, long options) of each list in a verb's help."""
    text = help_of(verb).split("\nExamples:")[0]
    lists = re.findall(r"^(\S[^\n]*):\n((?: [^\n]*\n)+)", text + "\n", re.M)
    return [(heading, re.findall(r"^ {2,6}(?:-\w, )?(--[\w-]+)", rows, re.M))
            for heading, rows in lists if heading != "Arguments"]


def test_alone_it_prints_help_and_has_done_nothing(run):
    """As a script sees it that forgot the verb, or whose variable for it was empty."""
    alone = run()
    assert (alone.code, alone.out) == (2, b"")
    assert alone.err.startswith(b"Small filters") and b"\nUsage: bloomset VERB" in alone.err
    assert run("--help").ok().out == run("-h").ok().out == run("help").ok().out == alone.err


def test_the_version(run):
    assert re.fullmatch(rb"bloomset \d+\.\d+\.\d+\n", run("--version").ok().out)
    assert run("-V").ok().out == run("--version").ok().out


def test_every_verb_has_help_with_sorted_options_and_examples_of_it(run, verbs):
    assert {"plan", "info", "verify", "merge", "intersect"} <= set(verbs)
    for verb in verbs:
        text = help_of(verb)
        assert run("help", verb).ok().out.decode() == text
        assert f"\nUsage: bloomset {verb}" in text
        examples = text.split("\nExamples:\n")[1].split("\n\n")[0].splitlines()
        assert examples and all(line.startswith("  ") for line in examples)
        assert any(f"bloomset {verb}" in line for line in examples), verb
        for heading, options in option_lists_of(verb):
            options = [o for o in options if o != "--help"]
            assert options == sorted(options), (verb, heading)
        assert max(len(line) for line in text.splitlines()) <= 100, verb


def test_many_options_are_shown_under_headings(verbs):
    """A reader finds an option of `build` by its purpose. A short list needs no headings."""
    for verb in verbs:
        headings = [heading for heading, _ in option_lists_of(verb)]
        longest = max(len(options) for _, options in option_lists_of(verb))
        assert longest <= 16 and (len(options_of(verb)) > 16) == (headings != ["Options"]), verb
    lists = dict(option_lists_of("build"))
    assert list(lists) == ["Input", "Size", "Kind and hash", "Output", "Limits", "Other"]
    assert "--keys" in lists["Input"] and "--memory-limit" in lists["Limits"] and lists["Other"] == ["--help"]
    assert "Size; give two of three: --capacity, --fpr, and --bits or --memory" in dict(option_lists_of("plan"))


def test_options_name_their_units():
    text = help_of("plan")
    for row in (r"--capacity N .*10M", r"--fpr P .*1%, 0.01, 1/1000", r"--memory SIZE .*bytes.*GiB",
                r"--bits M .*bits", r"--kind KIND .*bloom", r"--hashes K ", r"--hash NAME  "):
        assert re.search(row, text), row


@pytest.mark.parametrize("args,sentence", [
    (("plna",), "bloomset: there is no verb 'plna' (did you mean 'plan'?); see 'bloomset --help'"),
    (("PLAN",), "bloomset: there is no verb 'PLAN'"),
    (("mrege", "-o", "x", "a", "b"), "there is no verb 'mrege' (did you mean 'merge'?)"),
    (("zzzzzz",), "bloomset: there is no verb 'zzzzzz'; see"),
    *[((word,), f"there is no verb '{word}' (did you mean '{verb}'?)") for word, verb in (
        ("create", "build"), ("insert", "add"), ("delete", "remove"), ("union", "merge"), ("stats", "info"),
        ("uniq", "dedup"), ("query", "check"))],
    (("help", "plam"), "there is no verb 'plam' (did you mean 'plan'?)"),
    (("plan", "--capcity", "5"), "no option '--capcity' (did you mean '--capacity'?); see 'bloomset plan"),
    (("plan", "--capcity=5"), "no option '--capcity' (did you mean '--capacity'?)"),
    (("plan", "--memroy", "5"), "did you mean '--memory'?"),
    (("plan", "--xyzzy"), "there is no option '--xyzzy'; see 'bloomset plan --help'"),
    (("plan", "-Q"), "there is no option '-Q'"),
    (("--versoin",), "there is no option '--versoin' (did you mean '--version'?)"),
    (("plan", "extra"), "'extra' is one argument too many"),
    (("plan", "--capacity"), "--capacity: its value is missing"),
    (("merge", "a", "--output"), "--output: its value is missing"),
    (("explain", "--cuckoo", "--slots", "x"), "--slots: 'x' is not a valid number"),
    (("info",), "FILE is missing"),
    (("completion",), "SHELL is missing"),
    (("completion", "tcsh"), "tcsh not in {bash,zsh,fish}"),
    (("plan", "--seed", "-3"), "--seed: '-3' is not a seed"),
    (("plan", "--seed", "18446744073709551616"), "is not a seed"),
])
def test_what_cannot_be_parsed_is_one_sentence_with_a_hint(run, args, sentence):
    run(*args).refused(sentence)


# Completion -----------------------------------------------------------------------------------


@pytest.fixture
def script(run, tmp_path):
    """script("bash") -> the path of that shell's completions."""

    def make(shell):
        path = tmp_path / f"completion.{shell}"
        path.write_bytes(run("completion", shell).ok().out)
        return path

    return make


@pytest.mark.parametrize("shell", SHELLS)
def test_the_shell_can_read_its_completions(script, shell):
    done = subprocess.run([tool(shell), "-n", script(shell)], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("shell", SHELLS)
def test_the_completions_know_every_verb_and_option(script, verbs, shell):
    text = script(shell).read_text()
    for verb in verbs:
        for option in options_of(verb):
            spelling = f"-l {option[2:]} " if shell == "fish" else option
            assert spelling in text, (verb, option)


@pytest.fixture(params=("bash", "fish"))
def complete(request, script, bloomset, tmp_path):
    """complete("plan --ki") -> what the shell offers at the end of that line."""
    path = script(request.param)

    def in_bash(line):
        # What readline passes: the words, of which = is one, and the place of the last.
        words = [w for w in re.split(r"\s+|(=)", "bloomset " + line) if w is not None]
        words = [w for i, w in enumerate(words) if w or i == len(words) - 1]
        commands = (f"source {shlex.quote(str(path))}; "
                    f"COMP_WORDS=({' '.join(map(shlex.quote, words))}); "
                    f"COMP_CWORD={len(words) - 1}; "
                    "function=$(complete -p bloomset | sed 's/.*-F \\([^ ]*\\).*/\\1/'); "
                    "$function; printf '%s\\n' \"${COMPREPLY[@]}\"")
        done = subprocess.run([tool("bash"), "--norc", "-c", commands], capture_output=True,
                              text=True, cwd=tmp_path, timeout=30)
        assert (done.returncode, done.stderr) == (0, "")
        return [each for each in done.stdout.splitlines() if each]

    def in_fish(line):
        commands = f"source {shlex.quote(str(path))}; complete -C {shlex.quote('bloomset ' + line)}"
        done = subprocess.run([tool("fish"), "--no-config", "-c", commands], capture_output=True,
                              text=True, cwd=tmp_path, timeout=30,
                              env={**os.environ, "HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / ".d"),
                                   "XDG_CONFIG_HOME": str(tmp_path / ".c")})
        assert (done.returncode, done.stderr) == (0, "")
        # Each is followed by a tab and its description; --kind=x is offered with the option.
        return [each.split("\t")[0].removeprefix("--kind=") for each in done.stdout.splitlines()]

    return in_bash if request.param == "bash" else in_fish


def kinds_of():
    text = help_of("plan")
    return re.search(r"--kind KIND +kind of filter: (.*(?:\n {20,}.*)*)", text).group(1).replace(",", " ").split()


def test_verbs_are_completed(complete, verbs):
    assert complete("pl") == ["plan"]
    assert set(complete("in")) == {"index", "info", "intersect"}
    assert set(verbs) <= set(complete(""))


def test_options_are_completed(complete):
    # fish 4 also offers names that have these letters among others.
    assert complete("plan --kin") == ["--kind"]
    assert set(complete("plan --")) == set(options_of("plan"))
    assert complete("merge --forc") == ["--force"]
    assert complete("info --force") == []


def test_kinds_are_completed_from_the_registry(complete):
    kinds = kinds_of()
    assert "bloom" in kinds
    assert sorted(complete("plan --kind ")) == sorted(kinds)
    assert sorted(complete("plan --kind=")) == sorted(kinds)
    assert complete("plan --kind bloo") == ["bloom"]
    assert complete("plan --kind=bloo") == ["bloom"]


def test_files_are_completed_where_a_file_is_meant(complete, tmp_path):
    (tmp_path / "my members.bloom").write_bytes(b"")
    for line in ("info my", "merge -o my", "merge --output my", "verify a.bloom my"):
        assert [each.replace("\\ ", " ") for each in complete(line)] == ["my members.bloom"], line
    assert complete("plan --capacity my") == []
    assert complete("plan my") == []


def test_other_lists_are_completed(complete, verbs):
    assert set(complete("completion ")) == set(SHELLS)
    assert complete("completion f") == ["fish"]
    assert complete("help ver") == ["verify"]
    assert set(verbs) <= set(complete("help "))


def test_zsh_binds_its_completion_however_it_is_loaded(script, tmp_path):
    path = script("zsh")
    (tmp_path / "functions").mkdir()
    shutil.copy(path, tmp_path / "functions" / "_bloomset")
    load = "autoload -Uz compinit && compinit -u -D"
    for commands in (f"{load}; source {path}; print -r -- $_comps[bloomset]",
                     f"fpath=({tmp_path}/functions $fpath); {load}; print -r -- $_comps[bloomset]"):
        done = subprocess.run([tool("zsh"), "-f", "-c", commands], capture_output=True, text=True,
                              cwd=tmp_path, timeout=60)
        assert (done.returncode, done.stdout, done.stderr) == (0, "_bloomset\n", "")


def test_zsh_completes(script, bloomset, tmp_path):
    """A real zsh on a terminal of its own: a line, a tab, and what is in the line then."""
    driver = r'''
zmodload zsh/zpty
zpty shell zsh -f
zpty -w shell "PS1=; unsetopt beep; autoload -Uz compinit; compinit -u -D; source $1"
zpty -w shell 'show() { print -r -- "<<${BUFFER}>>"; BUFFER=; }; zle -N show; bindkey "^X" show; print ready'"''go"
zpty -r -m shell seen "*readygo*"
for line in "bloomset pl" "bloomset plan --kind bloo" "bloomset verify --he" "bloomset info mem"; do
  zpty -w -n shell "$line"$'\t'$'\x18'
  zpty -r -m shell seen "*<<*>>*"
  print -r -- ${${seen##*<<}%%>>*}
done
zpty -d shell
'''
    (tmp_path / "members.txt").write_bytes(b"")
    done = subprocess.run([tool("zsh"), "-f", "-c", driver, "zsh", script("zsh")],
                          capture_output=True, text=True, cwd=tmp_path, timeout=60)
    assert done.stdout.splitlines() == ["bloomset plan ", "bloomset plan --kind bloom ",
                                        "bloomset verify --help ", "bloomset info members.txt "]


# The man page ---------------------------------------------------------------------------------


def test_the_man_page_is_clean_roff_and_has_every_verb_option_and_example(run, verbs, tmp_path):
    page = tmp_path / "bloomset.1"
    page.write_bytes(run("man").ok().out)
    done = subprocess.run([tool("groff"), "-man", "-ww", "-Tascii", "-P-c", "-P-b", "-P-u", "-rLL=200n", page],
                          capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    shown = done.stdout
    for heading in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "VERBS", "EXIT STATUS"):
        assert re.search(rf"^{heading}$", shown, re.M), heading
    for verb in verbs:
        section = shown.split(f"\n   {verb}\n")[1]
        for option in options_of(verb):
            assert option in section, (verb, option)
        examples = help_of(verb).split("\nExamples:\n")[1]
        for line in examples.splitlines():
            assert line.strip() in section, line
    for kind in kinds_of():
        assert re.search(rf"^       {kind}\b", shown, re.M), kind


def test_the_build_leaves_the_same_texts_beside_the_program(run, bloomset):
    folder = os.path.dirname(bloomset)
    for name, args in (("bloomset.1", ("man",)), ("completions/bloomset", ("completion", "bash")),
                       ("completions/_bloomset", ("completion", "zsh")),
                       ("completions/bloomset.fish", ("completion", "fish"))):
        with open(os.path.join(folder, name), "rb") as made:
            assert made.read() == run(*args).ok().out, name
