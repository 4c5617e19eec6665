"""Files of other programs that are recognised but not read: one sentence names them, whichever verb they are given to."""

import subprocess

import pytest
from unread_formats import FILES


@pytest.mark.parametrize("name", FILES)
def test_it_is_refused_by_name(run, tmp_path, name):
    content, what = FILES[name]
    (tmp_path / name).write_bytes(content)
    for verb in (("check", name), ("info", name), ("merge", "-o", "x", name, name), ("convert", "-o", "x", name)):
        run(*verb, input=b"key\n").refused(f"{name}: this is {what}")
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("name", [name for name in FILES if name != "seen.rbloom"])
def test_verbs_for_our_own_filters_name_it_too(run, tmp_path, name):
    content, what = FILES[name]
    (tmp_path / name).write_bytes(content)
    run("add", name, input=b"key\n").refused(f"{name}: this is {what}")


def test_git_writes_such_a_file(run, tmp_path):
    git = ["git", "-C", tmp_path, "-c", "user.name=x", "-c", "user.email=x@example.org"]
    for args in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "x"],
                 ["commit-graph", "write", "--reachable", "--changed-paths"]):
        subprocess.run([*git, *args], check=True, capture_output=True)
    run("info", ".git/objects/info/commit-graph").refused("a commit-graph of git", "git log -- PATH")
    run("build", "-o", "x", ".git/objects/info/commit-graph").refused("this is a commit-graph of git, and keys are read")


def test_our_own_and_texts_are_none_of_them(run, tmp_path):
    (tmp_path / "words").write_text("alpha\nbeta\n" * 100)
    for verb in ("info", "check"):
        run(verb, "words", input=b"x\n").refused("words: this is not a Bloomset filter but text; if its lines are keys, "
                                                 "make a filter of them with 'bloomset build'")
    run("add", "words", input=b"x\n").refused("this is not a Bloomset filter")
    run("build", "-q", "-o", "f", "words").ok()
    run("info", "f").ok()
