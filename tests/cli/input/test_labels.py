"""Labels of filter files: the reader that made the keys, and what a user says of them."""

import hashlib
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from xxh3 import xxh3_64  # noqa: E402

SHA1 = hashlib.sha1(b"password").hexdigest().upper().encode()


@pytest.fixture
def labels(info):
    return lambda file: info(file)["labels"]


@pytest.mark.parametrize("reader, line, same", [
    ("email:lower", b"Ann@x.example\n", b"ANN@X.example\n"),
    ("fields:2,;", b"7;ann;x\n", b"8;ann\n"),
    ("sha1", b"password\n", b"password\n"),
    ("pwned", SHA1 + b":3\n", SHA1.lower() + b"\n"),
    ("pwned:min=2", SHA1 + b":3\n", SHA1 + b":2\n"),
    ("json:/user", b'{"user":"ann"}\n', b'{"x":1,"user":"ann"}\n'),
])
def test_verbs_read_keys_as_build_did(run, labels, reader, line, same):
    run("build", "-o", "f", "--kind", "counting_bloom", "--capacity", 9, "--keys", reader, input=line).ok()
    assert labels("f")["keys"] == reader
    assert run("check", "f", input=same).ok().out == same
    assert run("check", "--strict", "--keys", reader, "f", input=same).ok().out == same
    assert run("count", "f", input=same).ok().out == b"1\t" + same
    run("add", "f", input=same).ok()
    assert run("count", "f", input=same).ok().out == b"2\t" + same
    run("remove", "f", input=same).ok()
    assert run("count", "f", input=same).ok().out == b"1\t" + same
    assert labels("f")["keys"] == reader


@pytest.mark.parametrize("verb", ["check", "count", "add", "remove"])
def test_another_reader_is_said_and_strictly_refused(run, tmp_path, verb):
    run("build", "-o", "f", "--kind", "counting_bloom", "--capacity", 9, "--keys", "email", input=b"ann@x.example\n").ok()
    before = (tmp_path / "f").read_bytes()
    run(verb, "--strict", "--keys", "url", "f", input=b"x.example\n").refused("f were made by --keys email")
    assert (tmp_path / "f").read_bytes() == before
    said = run(verb, "--keys", "url", "f", input=b"x.example\n").err
    assert said.startswith(b"bloomset %s: warning: the keys of f were made by --keys email" % verb.encode())


def test_forms_of_one_list_ask_the_same_filter(run):
    run("build", "-o", "f", "--keys", "safe-browsing:hosts,8", input=b"0.0.0.0 evil.example\n").ok()
    for reader in ("safe-browsing:8", "safe-browsing:8,adblock"):
        done = run("check", "-c", "--strict", "--keys", reader, "f", input=b"http://evil.example/x\n").ok()
        assert (done.out, done.err) == (b"1\n", b"")
    run("check", "--strict", "--keys", "safe-browsing", "f", input=b"http://evil.example/x\n").refused("another reader")


def test_hashes_without_counts_ask_a_filter_of_frequent_passwords(run):
    run("build", "-o", "f", "--keys", "pwned:min=2", input=SHA1 + b":3\n").ok()
    assert run("check", "f", input=SHA1 + b"\n").ok().out == SHA1 + b"\n"


def test_readers_of_digests_may_ask_the_same_filter(run, labels):
    run("build", "-o", "f", "--keys", "pwned", input=SHA1 + b":3\n").ok()
    assert labels("f") == {"key-bytes": "20", "keys": "pwned"}
    for reader, line in (("password", b"password\n"), ("sha1", b"password\n"), ("hex", SHA1 + b"\n")):
        assert run("check", "-c", "--strict", "--keys", reader, "f", input=line).ok().err == b"", reader


@pytest.mark.parametrize("reader, line", [("password:ntlm", b"password\n"), ("sha256", b"password\n"), ("hex", b"00ff\n")])
def test_keys_of_another_size_than_the_filters_are_said(run, reader, line):
    run("build", "-o", "f", "--keys", "pwned", input=SHA1 + b":3\n").ok()
    done = run("check", "f", "--keys", reader, input=line)
    assert done.code == 1 and b"f: the queried key does not have 20 bytes" in done.err
    done = run("check", "f", "--keys", reader, input=2 * line)
    assert done.code == 1 and b"none of the 2 queried keys has 20 bytes" in done.err and done.err.count(b"\n") == 1


@pytest.mark.parametrize("name", ["md4", "md5", "ntlm", "sha1", "sha256"])
def test_digests_of_digests_are_warned_of(run, name):
    size = {"sha1": 40, "sha256": 64}.get(name, 32)
    for end in ("", "  a file", ":12", "\r"):
        lines = "".join(f"{i:0{size}x}{end}\n" for i in range(3)).encode()
        said = run("build", "--force", "-o", "f", "--keys", name, input=lines).ok()
        assert b"all lines of stdin begin with a digest already, and --keys %s makes another" % name.encode() in said.err
    said = run("build", "--force", "-o", "f", "--keys", name, input=lines + b"a\n").ok()
    assert b"most lines of stdin begin with" in said.err
    for other in (f"{7:0{size - 1}x}\n", f"{7:0{size + 1}x}\n", "password\n", "g" * size + "\n"):
        assert b"warning" not in run("build", "--force", "-o", "f", "--keys", name, input=other.encode()).ok().err


def test_plain_lines_and_filters_of_other_programs_have_no_label(run, labels, tmp_path):
    run("build", "-o", "a", input=b"ann\n").ok()
    run("build", "-o", "b", "--keys", "lines", input=b"ann\n").ok()
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert labels("a") == {}
    run("build", "-o", "c", "--format", "dcso", "--label", "a=b", input=b"ann\n").refused("--label", "--format")


def test_the_same_keys_and_reader_give_the_same_file(run, tmp_path):
    keys = [b"user%d@x.example\n" % i for i in range(500)]
    run("build", "-o", "a", "--keys", "email", input=b"".join(keys)).ok()
    run("build", "-o", "b", "--keys", "email", input=b"".join(reversed(keys))).ok()
    for part in range(1, 9):
        run("build", "-o", f"p{part}", "--keys", "email", "--part", f"{part}/8", "--capacity", 500,
            input=b"".join(keys)).ok()
    run("build", "-o", "c", "--keys", "email", "--capacity", 500, input=b"".join(keys)).ok()
    run("merge", "-o", "m", *(f"p{part}" for part in range(1, 9))).ok()
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert (tmp_path / "c").read_bytes() == (tmp_path / "m").read_bytes()


def test_labels_of_a_user(run, labels):
    run("build", "-o", "f", "--label", "source=https://x.example/?a=b", "--label", "licence=CC0", "--keys", "sha1",
        input=b"a\n").ok()
    assert labels("f") == {"key-bytes": "20", "keys": "sha1", "licence": "CC0", "source": "https://x.example/?a=b"}
    assert "licence" in run("info", "f").ok().out.decode()
    run("fold", "-o", "small", "--fpr", "50%", "f").ok()
    assert labels("small") == labels("f")
    for text, sentence in (("keys=sha1", "set by --keys"), ("key-bytes=4", "set by --keys"), ("a", "not NAME=VALUE"),
                           ("A=b", "the name of a label"), ("a=", "is empty"), ("a=\x1b[1m", "control character"),
                           ("a=" + "x" * 4092, "at most 4092")):
        run("build", "-o", "g", "--label", text, input=b"a\n").refused("--label", sentence)
    run("build", "-o", "g", "--label", "a=b", "--label", "a=c", input=b"a\n").refused("given twice")


def test_a_union_has_the_labels_of_all(run, labels):
    for name, reader, date in (("a", "email", "1"), ("b", "email", "2"), ("c", "url", "2")):
        run("build", "-o", name, "--capacity", 9, "--keys", reader, "--label", "source=x", "--label", f"date={date}",
            input=b"ann@x.example\n").ok()
    assert run("merge", "-o", "ab", "a", "b").ok().err == b""
    assert labels("ab") == {"keys": "email", "source": "x"}
    said = run("merge", "-o", "bc", "b", "c").ok().err.decode()
    assert "the keys of b were made by --keys email, those of c by --keys url" in said
    assert labels("bc") == {"date": "2", "source": "x"}


def test_filters_of_different_readers_are_not_asked_by_one(run):
    run("build", "-o", "a", "--keys", "email", input=b"ann@x.example\n").ok()
    run("build", "-o", "b", input=b"ann@x.example\n").ok()
    run("check", "a", "--filter", "b", input=b"ann@x.example\n").refused("reader email", "reader lines", "give --keys")
    assert run("check", "-c", "a", "--filter", "b", "--keys", "email", input=b"ann@x.example\n").ok().out == b"1\n"


def test_keys_that_are_added_may_end_their_common_size(run, labels):
    run("build", "-o", "f", "--capacity", 9, "--keys", "hex", input=b"00\n").ok()
    run("add", "f", input=b"01\n").ok()
    assert labels("f") == {"key-bytes": "1", "keys": "hex"}
    run("add", "f", input=b"0101\n").ok()
    assert labels("f") == {"keys": "hex"}
    run("build", "-o", "g", "--capacity", 9, input=b"").ok()
    run("add", "g", "--keys", "hex", input=b"00\n").ok()
    assert labels("g") == {"key-bytes": "1", "keys": "hex"}


def test_lines_without_a_key_for_the_filters_reader_are_said(run):
    run("build", "-o", "f", "--keys", "json:/user", input=b'{"user":"ann"}\n').ok()
    done = run("check", "f", input=b'{"name":"ann"}\n')
    assert done.code == 1 and b"the filter's reader, json:/user, found no key in any line" in done.err
    run("check", "f", input=b"ann\n").refused("--keys json:/user is the filter's own reader")


@pytest.mark.parametrize("reader", ["newer:5", "password", "fields:0"])
def test_a_label_that_names_no_reader_is_not_followed(run, tmp_path, reader):
    """As in a file of a newer version, or in a forged one."""
    run("build", "-o", "f", "--label", "keyz=" + reader, input=b"ann\n").ok()
    data = bytearray((tmp_path / "f").read_bytes().replace(b"keyz=", b"keys="))
    (tmp_path / "f").write_bytes(resealed(data))
    run("check", "f", input=b"ann\n").refused("f: its keys were made by the reader '" + reader, "give --keys")
    assert run("check", "-c", "--keys", "lines", "f", input=b"ann\n").ok().out == b"1\n"


def resealed(data):
    size = int.from_bytes(data[20:24], "little")
    data[56:64] = xxh3_64(bytes(data[:56] + data[64:64 + size])).to_bytes(8, "little")
    return bytes(data)


def test_a_union_with_a_filter_of_lines_is_warned_of(run):
    run("build", "-q", "-o", "a", "--capacity", 100, "--keys", "email:lower", input=b"Ann@X.org\n").ok()
    run("build", "-q", "-o", "b", "--capacity", 100, input=b"bob@x.org\n").ok()
    for inputs in (("a", "b"), ("b", "a")):
        said = run("merge", "--force", "-o", "u", *inputs).ok()
        assert b"give --keys email:lower to 'bloomset check'" in said.err


def test_the_first_keys_name_their_reader_beside_other_labels(run, labels):
    run("build", "-q", "-o", "f", "--capacity", 1000, "--label", "source=x", input=b"").ok()
    run("add", "-q", "f", "--keys", "hex", input=b"00ff\n").ok()
    assert labels("f") == {"keys": "hex", "key-bytes": "2", "source": "x"}
    assert run("check", "f", input=b"00ff\n").ok().out == b"00ff\n"


def test_a_tab_as_separator_is_stored_as_its_escape(run, labels):
    run("build", "-q", "-o", "f", "--keys", "csv:2,\t", input=b"1\tann\n").ok()
    assert labels("f") == {"keys": "csv:2,\\t"}
    assert run("check", "f", input=b"1\tann\n").ok().out == b"1\tann\n"
    # A tab separates fields without being named.
    run("build", "-q", "-o", "g", "--keys", "fields:2,\t", input=b"1\tann\n").ok()
    assert labels("g") == {"keys": "fields:2"}
    assert run("check", "g", input=b"1\tann\n").ok().out == b"1\tann\n"
