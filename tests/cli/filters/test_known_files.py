"""`check --files`: files whose contents' digests are in a filter."""

import hashlib
import json
import os

import pytest

CONTENTS = {"a.txt": b"alpha\n", "sub/b.bin": bytes(range(256)) * 5000, "sub/deep/c": b"", "z": b"unknown\n"}


@pytest.fixture
def tree(tmp_path):
    """A folder with four files, of which all but z are in the filters."""
    for name, content in CONTENTS.items():
        path = tmp_path / "tree" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return tmp_path / "tree"


def digests(name, upper=False):
    lines = [hashlib.new(name, content).hexdigest() for file, content in CONTENTS.items() if file != "z"]
    return "".join((line.upper() if upper else line) + "\n" for line in lines).encode()


KNOWN = b"tree/a.txt\ntree/sub/b.bin\ntree/sub/deep/c\n"


@pytest.mark.parametrize("name", ["md5", "sha1", "sha256"])
def test_files_are_known_by_their_digests(run, tree, name):
    """As sha1sum computes them, for a filter of digests in digits, whose labels tell the digest."""
    run("build", "-q", "-o", "known.bloom", "--keys", "hex", input=digests(name)).ok()
    known = run("check", "known.bloom", "--files", "tree").ok()
    assert (known.out, known.err) == (KNOWN, b"4 files: 3 known, 1 unknown\n")
    unknown = run("check", "-v", "known.bloom", "--files", "tree").ok()
    assert (unknown.out, unknown.err) == (b"tree/z\n", b"4 files: 3 known, 1 unknown\n")
    assert run("check", "-c", "known.bloom", "--files", "tree").ok().out == b"3\n"
    assert run("check", "-q", "known.bloom", "--files", "tree/z").code == 1
    assert run("check", "-q", "known.bloom", "--files", "tree/z", "--files", "tree/sub").code == 0


@pytest.mark.parametrize("format", ["dcso", "poppy"])
def test_hashlookups_filters_have_digits_in_upper_case(run, tree, format):
    run("build", "-q", "-o", "known", "--format", format, "--capacity", 100, input=digests("sha1", upper=True)).ok()
    assert run("check", "known", "--files", "tree", "--keys", "sha1:upper").ok().out == KNOWN
    assert run("check", "known", "--files", "tree", "--keys", "sha1:lower").code == 1
    run("check", "known", "--files", "tree").refused("known: the filter does not name the digest of its keys",
                                                     "sha1:upper")


@pytest.mark.parametrize("given,right", [("sha1", "sha1:upper"), ("sha1:lower", "sha1:upper")])
def test_another_form_of_the_digest_is_named(run, tree, given, right):
    run("build", "-q", "-o", "known", "--format", "dcso", "--capacity", 100, input=digests("sha1", upper=True)).ok()
    for select in ((), ("-v",), ("-c",), ("--json", "-v")):
        said = run("check", *select, "known", "--files", "tree", "--keys", given)
        assert said.err.endswith(b"check: warning: no file is known by this form of the digest, but 3 by --keys "
                                 + right.encode() + b"\n"), said.err
        assert b'"filters":["' not in said.out
    assert b"warning" not in run("check", "known", "--files", "tree", "--keys", right).ok().err
    assert b"warning" not in run("check", "known", "--files", "tree/z", "--keys", given).err
    run("build", "-q", "-o", "plain", input=digests("sha1")).ok()
    assert b"but 3 by --keys sha1:lower\n" in run("check", "plain", "--files", "tree", "--keys", "sha1").err


def test_json(run, tree):
    for name in ("one", "two"):
        run("build", "-q", "-o", name, "--keys", "hex", input=digests("sha1")).ok()
    said = run("check", "--json", "one", "--filter", "two", "--files", "tree").ok().out.decode().splitlines()
    assert [json.loads(line) for line in said][0] == {
        "file": "tree/a.txt", "size": 6, "digest": "sha1", "key": hashlib.sha1(b"alpha\n").hexdigest(), "maybe": True,
        "filters": ["one", "two"]}
    assert len(said) == 3
    said = json.loads(run("check", "--json", "-v", "one", "--files", "tree/z").ok().out)
    assert (said["maybe"], said["filters"]) == (False, [])
    assert run("check", "one", "--filter", "two", "--files", "tree/a.txt").ok().out == b"one,two\ttree/a.txt\n"


def test_many_files_are_printed_in_their_order(run, tmp_path):
    names = [f"d{i % 7}/f{i:04}" for i in range(700)]
    for name in names:
        (tmp_path / "many" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "many" / name).write_bytes(name.encode() * (1 + len(name) * (int(name[-2:]) % 9) * 100))
    keys = "".join(hashlib.sha1((tmp_path / "many" / name).read_bytes()).hexdigest() + "\n" for name in names[::2])
    run("build", "-q", "-o", "half", "--fpr", "1e-9", "--keys", "hex", input=keys.encode()).ok()
    said = run("check", "half", "--files", "many").ok()
    assert said.out.decode().splitlines() == sorted(f"many/{name}" for name in names[::2])
    assert said.err == b"700 files: 350 known, 350 unknown\n"


def test_links_are_not_followed_and_what_is_unread_is_said(run, tree):
    run("build", "-q", "-o", "known", "--keys", "hex", input=digests("sha1")).ok()
    (tree / "loop").symlink_to(tree)
    os.mkfifo(tree / "pipe")
    said = run("check", "known", "--files", "tree").ok()
    assert (said.out, said.err) == (KNOWN, b"4 files: 3 known, 1 unknown; 2 links, devices or pipes were left out\n")
    (tree / "loop").unlink()
    (tree / "z").unlink()
    (tree / "z").mkdir()
    said = run("check", "known", "--files", "tree", "--files", "tree/a.txt").ok()
    assert said.out == KNOWN + b"tree/a.txt\n"
    # A root may be a link.
    (tree / "link").symlink_to(tree / "a.txt")
    assert run("check", "known", "--files", "tree/link").ok().out == b"tree/link\n"
    run("check", "known", "--files", "none").refused("--files none: there is no such file or folder")


@pytest.mark.skipif(os.geteuid() == 0 and not os.path.exists("/proc/self/mem"), reason="no file that cannot be read")
def test_an_unreadable_file_is_an_error_after_the_others(run, tree):
    run("build", "-q", "-o", "known", "--keys", "hex", input=digests("sha1")).ok()
    said = run("check", "known", "--files", "tree", "--files", "/proc/self/mem")
    assert (said.code, said.out) == (2, KNOWN)
    assert b"/proc/self/mem: cannot read: Input/output error\n4 files: 3 known, 1 unknown\n" in said.err


@pytest.mark.parametrize("args,sentence", [
    (("--files", "tree", "tree/a.txt"), "not lines of other inputs; leave INPUT out"),
    (("--files", "tree", "-n"), "are for lines; leave them out"),
    (("--files", "tree", "--keys", "email"), "this reader does not make a digest of whole contents"),
    (("--files", "tree", "--keys", "sha256"), "each key in the filter has 20 bytes, and a key by --keys sha256 has 32"),
])
def test_what_has_no_meaning_for_files_is_refused(run, tree, args, sentence):
    run("build", "-q", "-o", "known", "--keys", "hex", input=digests("sha1")).ok()
    run("check", "known", *args).refused(sentence)


def test_another_digest_than_the_filters_is_said(run, tree):
    run("build", "-q", "-o", "known", "--keys", "sha1:upper", input=b"alpha\n").ok()
    assert b"warning: the keys of known were made by --keys sha1:upper" in run("check", "known", "--files", "tree", "--keys", "sha1").err
    run("check", "--strict", "known", "--files", "tree", "--keys", "sha1").refused("--strict")
