"""--keys: the keys that each reader makes of lines, through the verbs that read keys."""

import hashlib
import json

import pytest
from reader_filters import WIDE, build, sha1  # noqa: F401

# Long, so that few lines make the 4 MiB from which on every core reads.
FILLED = b"x" * 600

# Reader; lines to build from; lines to ask; those of them that are selected; their keys in JSON.
READERS = [
    ("lines", b"a\nb\n", b"b\nc\n", b"b\n", None),
    ("fields:2", b"1\tann\n2\tbob\n", b"9\tbob\tx\n9\tcid\n", b"9\tbob\tx\n", [["bob"]]),
    ("fields:1,;", b"ann;1\n", b"ann;7\nbob;1\n", b"ann;7\n", [["ann"]]),
    ("hex", b"00ff\n", b"00FF\n00fe\n", b"00FF\n", [["00ff"]]),
    ("sha1", b"password\n", b"password\nx\n", b"password\n", [[sha1(b"password").decode().lower()]]),
    ("sha256", b"abc\n", b"abd\nabc\n", b"abc\n", [[hashlib.sha256(b"abc").hexdigest()]]),
    ("pwned", sha1(b"qwerty") + b":10556095\r\n", sha1(b"qwerty").lower() + b"\n" + sha1(b"x") + b":1\n",
     sha1(b"qwerty").lower() + b"\n", [[sha1(b"qwerty").decode().lower()]]),
    ("base64", b"-_8=\n", b"+/8\nAAAA\n", b"+/8\n", [["fbff"]]),
    ("md5", b"abc\n", b"abd\nabc\n", b"abc\n", [["900150983cd24fb0d6963f7d28e17f72"]]),
    ("lines:upper", b"abc\n", b"aBC\nabd\n", b"aBC\n", [["ABC"]]),
    ("sha1:upper", b"password\n", b"password\nx\n", b"password\n", [[sha1(b"password").decode()]]),
    ("url", b"http://example.com/a/../b\n", b"EXAMPLE.com:80/b#x\nexample.com:81/b\n", b"EXAMPLE.com:80/b#x\n",
     [["http://example.com/b"]]),
    ("safe-browsing", b"evil.com/a/\naf30010e\n",
     b"http://x.evil.com/a/b?c\nhttp://evil.com/b\nhttps://foo.com/bar\n",
     b"http://x.evil.com/a/b?c\nhttps://foo.com/bar\n", [["evil.com/a/"], ["foo.com/"]]),
    ("safe-browsing:hosts,32", b"# two\n0.0.0.0 evil.com foo.com\n", b"http://x.evil.com/a\nhttp://b.com/\n",
     b"http://x.evil.com/a\n", [["evil.com/"]]),
    ("safe-browsing:adblock", b"! one\n||evil.com^\n@@||b.com^\n", b"http://evil.com/a\nhttp://b.com/\n",
     b"http://evil.com/a\n", [["evil.com/"]]),
    ("email", b"Ann@EXAMPLE.com\n", b"Ann@example.COM\nann@example.com\n", b"Ann@example.COM\n",
     [["Ann@example.com"]]),
    ("email:lower,no-tags", b"Ann+x@example.com\n", b"aNN@example.com\nbob@example.com\n",
     b"aNN@example.com\n", [["ann@example.com"]]),
    ("json:/user/id", b'{"user":{"id":7}}\n', b'{"user":{"id":"7"}}\n{"user":{"id":8}}\n',
     b'{"user":{"id":"7"}}\n', [["7"]]),
]


@pytest.mark.parametrize("reader, members, asked, selected, shown", READERS, ids=[r[0] for r in READERS])
def test_each_reader_from_build_to_check(run, build, reader, members, asked, selected, shown):
    f = build(reader, members)
    done = run("check", f, "--keys", reader, input=asked)
    assert (done.code, done.out) == (0, selected)
    rest = b"".join(line + b"\n" for line in asked.splitlines() if line + b"\n" not in selected)
    assert run("check", "-v", f, "--keys", reader, input=asked).out == rest
    found = [json.loads(line) for line in run("check", "--json", f, "--keys", reader, input=asked).out.splitlines()]
    if shown is None:
        assert [one["key"] for one in found] == selected.decode().splitlines()
        return
    assert [one["keys"] for one in found] == shown
    assert [one["record"] for one in found] == selected.decode().splitlines()


@pytest.mark.parametrize("line", ["||evil.example^", "*.evil.example", "0.0.0.0 evil.example", "127.0.0.1 e.co",
                                  "evil[.]example", "evil.example # note", '"evil.example"', "evil.example,malware"])
def test_a_line_of_another_form_of_list_is_an_error_with_its_place(run, line):
    run("build", "-o", "n", "--keys", "safe-browsing", input=f"good.example\n{line}\n".encode()).refused("stdin:2: ", line)


def test_distinct_pages_are_distinct_keys(run):
    urls = b"".join(b"http://h.example" + rest + b"\n" for rest in (
        b":8080/", b":9090/", b"/s?q=a%26b=1", b"/s?q=a&b=1", b"/s?q=a+b", b"/s?q=a%2Bb", b"/a%3Fb", b"/a?b"))
    assert run("dedup", "--keys", "url", input=urls).out == urls


def test_a_digest_in_lower_case_is_found_among_texts_in_upper_case(run):
    run("build", "-o", "f.dcso", "--format", "dcso", "--capacity", "100", input=sha1(b"abc") + b"\n").ok()
    digest = sha1(b"abc").lower() + b"\n"
    assert run("check", "f.dcso", input=digest).code == 1
    assert run("check", "f.dcso", "--keys", "lines:upper", input=digest).out == digest
    assert run("check", "f.dcso", "--keys", "sha1:upper", input=b"abc\n").out == b"abc\n"


@pytest.mark.parametrize("text", [b"Zm8= ", b"Zm8=\r", b"Zg", b"Z", b"Zh=="])
def test_base64_is_read_strictly(run, text):
    done = run("build", "-o", "n", "--keys", "base64", input=text + b"\n")
    assert done.code == (0 if text == b"Zg" else 2)


def test_a_readers_key_is_those_bytes(run, build):
    f = build("sha1", b"password\n")
    assert run("check", f, "--keys", "hex", input=sha1(b"password") + b"\n").code == 0
    f = build("fields:2,:", b"x:ann\n")
    assert run("check", f, "--keys", "lines", input=b"ann\n").code == 0


@pytest.mark.parametrize("separator, escaped", [("\x01", "\\x01"), ("\t", "\\t"), ("\t", "\\x09"), ("\x7f", "\\x7F"),
                                                (";", "\\x3b"), (" ", "\\x20"), ("\\", "\\x5c")])
@pytest.mark.parametrize("reader", ["fields:2,", "csv:2,"])
def test_a_separator_is_a_byte_or_its_escape(run, info, tmp_path, reader, separator, escaped):
    (tmp_path / "rows").write_text(f"1{separator}ann\n2{separator}bob\n")
    files = []
    for i, given in enumerate((separator, escaped)):
        run("build", "-q", "-o", f"f{i}", "--keys", reader + given, "rows").ok()
        files.append((tmp_path / f"f{i}").read_bytes())
        assert run("check", "--keys", "lines", f"f{i}", input=b"bob\n").ok().out == b"bob\n"
        # The reader that made the keys is no other reader, however it is written.
        for again in (separator, escaped):
            done = run("check", "--strict", "--keys", reader + again, f"f{i}", "rows").ok()
            assert done.out.count(b"\n") == 2 and done.err == b""
        assert run("check", "--no-progress", f"f{i}", "rows").ok().out.count(b"\n") == 2
    assert files[0] == files[1]


@pytest.mark.parametrize("reader", ["csv:na\x01me", "json:/a\tb", "csv:a\tb,;"])
def test_names_that_no_label_can_have_are_refused(run, reader):
    run("build", "-o", "f", "--keys", reader, input=b"").refused("--keys: the name of a column or field has a control character")


@pytest.mark.parametrize("reader", ["fields:2,\N{SECTION SIGN}", "fields:2,\\x1", "fields:2,\\n", "fields:2,"])
def test_what_is_no_separator_is_refused(run, reader):
    run("build", "-o", "f", "--keys", reader, input=b"a\tb\n").refused("is not a separator; give one character of ASCII")


def test_unknown_readers_and_arguments_are_refused(run):
    for verb in (["build", "-o", "f"], ["check", "f"], ["add", "f"], ["remove", "f"], ["count", "f"], ["dedup"]):
        if verb[0] in ("check", "count"):
            run("build", "--force", "-o", "f", "--kind", "counting_bloom", "--capacity", "9").ok()
        run(*verb, "--keys", "emial").refused("--keys: there is no reader 'emial'", "email", "lines")
    run("dedup", "--keys", "fields:0").refused("--keys: 'fields:0': a field's number is missing")
    run("dedup", "--keys", "hex:x").refused("takes no argument")
    run("dedup", "--min-count", "3").refused("--min-count", "pwned")
    run("dedup", "--keys", "pwned", "--min-count", "no").refused("--min-count: 'no'")
    run("dedup", "--keys", "pwned:min=4", "--min-count", 5).refused("--min-count", "give one of")


@pytest.mark.parametrize("lines", [3, 3000])
def test_a_wrong_line_ends_it_with_its_place(run, build, tmp_path, lines):
    good = b"".join(b"%d;k%d;%s\n" % (i, i, FILLED) for i in range(lines))
    (tmp_path / "a").write_bytes(good)
    (tmp_path / "b").write_bytes(good + b"oops\n" + good)
    message = f"b:{lines + 1}: the line has 1 field and no field 2; --skip-bad skips such lines"
    run("build", "-o", "n.bloom", "--keys", "fields:2,;", "a", "b").refused(message)
    assert not (tmp_path / "n.bloom").exists()
    run("build", "-o", "n.bloom", "--capacity", "1M", "--keys", "fields:2,;", "a", "b").refused(message)
    f = build("fields:2,;", b"x;k1\n")
    run("add", f, "--keys", "fields:2,;", "a", "b").refused(message)
    # What comes before it was selected and is printed, as one thread does it.
    done = run("check", f, "--keys", "fields:2,;", "a", "b")
    assert (done.code, done.out) == (2, b"1;k1;%s\n" % FILLED * 2)
    assert message in done.err.decode() and done.err.count(b"\n") == 1


@pytest.mark.parametrize("lines", [3, 4000])
def test_wrong_lines_can_be_passed_over_and_are_counted(run, build, tmp_path, lines):
    good = b"".join(b"%d;k%d;%s\n" % (i, i, FILLED) for i in range(lines))
    (tmp_path / "a").write_bytes(good + b"oops\n" + good + b"again\n")
    said = f"2 lines were skipped; the first is a:{lines + 1}: the line has 1 field"
    done = run("build", "-o", "f.bloom", "--keys", "fields:2,;", "--skip-bad", "a").ok()
    assert said in done.err.decode()
    assert f"{2 * lines:,} keys" in done.err.decode()
    done = run("check", "-c", "f.bloom", "--keys", "fields:2,;", "--skip-bad", "a")
    assert (done.code, done.out) == (0, b"%d\n" % (2 * lines))
    assert said in done.err.decode()
    done = run("check", "-vc", "f.bloom", "--keys", "fields:2,;", "--skip-bad", "a")
    assert (done.code, done.out) == (1, b"0\n"), "a line without keys is not selected, either way"


@pytest.mark.parametrize("lines", [3, 8000])
def test_check_passes_over_what_is_no_address_and_counts_it(run, build, tmp_path, lines):
    f = build("email", b"ann@a.de\n")
    asked = b"Ann <ann@a.de>\nnobody\n mailto:ann@A.DE\nx@\n" + b"%s@a.de\n" % FILLED * lines
    (tmp_path / "senders").write_bytes(asked)
    for input in ({"input": asked}, {}):
        names = () if input else ("senders",)
        place = "stdin:2" if input else "senders:2"
        done = run("check", f, "--keys", "email", *names, **input)
        assert (done.code, done.out) == (0, b"Ann <ann@a.de>\n mailto:ann@A.DE\n")
        assert done.err.decode() == f"bloomset check: 2 lines were skipped; the first is {place}: " \
                                    "'nobody' has no @\n"
        assert run("check", "-vc", f, "--keys", "email", *names, **input).out == b"%d\n" % lines
    assert run("check", f, "--keys", "email", input=b"nobody\n").code == 1
    # A list is one's own, and a wrong line in it is a mistake.
    run("build", "-o", "n", "--keys", "email", "senders").refused("senders:2: 'nobody' has no @; --skip-bad")


def test_lines_without_keys_are_no_error_and_not_selected(run, build):
    f = build("fields:2,;", b"x;ann\n\nx;;y\n")
    text = b"1;bob\n\n1;\n1;ann\n"
    assert run("check", f, "--keys", "fields:2,;", input=text).out == b"1;ann\n"
    assert run("check", "-v", f, "--keys", "fields:2,;", input=text).out == b"1;bob\n"
    assert run("check", f, "--keys", "fields:2,;", input=b"\n\n").code == 1
    assert run("dedup", "--keys", "fields:2,;", input=text + text).out == text + b"\n1;\n"


def test_any_key_of_a_line_selects_it(run, build):
    f = build("safe-browsing", b"evil.com/\n")
    g = build("safe-browsing", b"b.org/x/\n", name="g.bloom")
    urls = b"a.evil.com/y\nb.org/x/y\nc.net/\n"
    done = run("check", f, "--filter", g, "--keys", "safe-browsing", input=urls)
    assert done.out == b"f.bloom\ta.evil.com/y\ng.bloom\tb.org/x/y\n"
    assert run("check", "-v", f, "--filter", g, "--keys", "safe-browsing", input=urls).out == b"c.net/\n"
    totals = json.loads(run("check", "-c", "--json", f, "--filter", g, "--keys", "safe-browsing", input=urls).out)
    assert totals == {"lines": 3, "selected": 2,
                      "filters": [{"filter": "f.bloom", "maybe": 1}, {"filter": "g.bloom", "maybe": 1}]}
    # A list names a URL by one expression, and not all that live on its host.
    f = build("safe-browsing", b"http://evil.com/bad/page.html\n")
    assert run("check", f, "--keys", "safe-browsing", input=b"http://evil.com/\n").code == 1


def test_what_is_no_url_is_named(run, build):
    f = build("url", b"example.com/\n")
    run("check", f, "--keys", "url", input=b"x.com/\nmailto:ann\n").refused("stdin:2: ")


def test_verbs_that_change_filters_read_the_same_keys(run, tmp_path):
    run("build", "-o", "f", "--kind", "counting_bloom", *WIDE, "--keys", "email", input=b"Ann@A.de\nBob@A.de\n").ok()
    run("add", "f", "--keys", "email", input=b"Bob@a.DE\n").ok()
    counted = run("count", "f", "--keys", "email", input=b"Ann@a.DE\nBob@A.DE\n\nCid@a.de\n")
    assert counted.out == b"1\tAnn@a.DE\n2\tBob@A.DE\n0\tCid@a.de\n"
    run("remove", "f", "--keys", "email", input=b"Ann@a.de\n\n").ok()
    done = run("remove", "f", "--keys", "email", input=b"\nCid@a.de\nBob@a.de\n")
    assert done.code == 1 and b"1 of 3 lines certainly were not members" in done.err and b"stdin:2" in done.err
    assert run("count", "f", "--keys", "email", input=b"Ann@a.de\nBob@a.de\n").out == b"0\tAnn@a.de\n1\tBob@a.de\n"
    assert run("dedup", "--keys", "url", input=b"A.com\nhttp://a.com:80/\nb.com\n").out == b"A.com\nb.com\n"


def test_a_full_filter_tells_the_line_also_where_lines_have_no_key(run):
    lines = b"x;a\n\n\n" + b"x;same\n" * 100
    said = run("build", "-o", "f", "--kind", "cuckoo", "--capacity", "4", "--keys", "fields:2,;", input=lines)
    # Lines 1 to 103 were read at once, and the key is one of theirs.
    said.refused("stdin:1-103: the filter cannot store more copies")
    run("build", "-o", "f", "--kind", "cuckoo", "--capacity", "4", "--keys", "fields:2,;", input=b"x;a\n").ok()
    run("add", "f", "--keys", "fields:2,;", input=lines).refused("stdin:", "the filter cannot store more copies")


def test_other_programs_filters_take_readers(run):
    run("build", "-o", "f.dcso", "--format", "dcso", "--keys", "fields:2,;", "--capacity", "100",
        input=b"x;ann\n\nx;bob\n").ok()
    assert run("check", "f.dcso", input=b"ann\nbob\ncid\n").out == b"ann\nbob\n"
    assert run("check", "f.dcso", "--keys", "fields:1,;", input=b"ann;1\ncid;1\n").out == b"ann;1\n"


def test_nul_and_crlf_hold_for_readers_too(run, build):
    f = build("email", b"ann@a.de\n")
    assert run("check", "-0", f, "--keys", "email", input=b"ann@A.de\0bob@a.de\0").out == b"ann@A.de\0"
    assert run("check", "--crlf", f, "--keys", "email", input=b"ann@A.de\r\n").out == b"ann@A.de\r\n"
    # Around an address CR is white space, which is no part of the key and is printed with its line.
    assert run("check", f, "--keys", "email", input=b"ann@A.de\r\n").out == b"ann@A.de\r\n"


def test_all_verbs_read_large_files_as_they_read_pipes(run, tmp_path):
    # Large enough for every core; a pipe is read by one.
    rows = [b"%d;u%d;%s" % (i, i % 5000, FILLED) for i in range(8000)]
    text = b"\n".join(rows) + b"\n"
    (tmp_path / "a").write_bytes(text)
    keys = ("--keys", "fields:2,;")
    assert run("dedup", *keys, "a").out == run("dedup", *keys, input=text).out == b"\n".join(rows[:5000]) + b"\n"
    for name, of in (("a", {}), ("-", {"input": text})):
        run("build", "--force", "-o", "f", "--kind", "counting_bloom", "--capacity", "5000", input=b"").ok()
        run("add", "f", *keys, name, **of).ok()
        counted = run("count", "f", *keys, name, **of).out.splitlines()
        assert counted[0].startswith(b"2\t0;u0;") and counted[-1].startswith(b"2\t7999;u2999;")
        run("remove", "f", *keys, name, **of).ok()
        again = run("remove", "f", *keys, name, **of)
        assert f"the first is {'stdin' if name == '-' else name}:1" in again.err.decode()
        run("build", "--force", "-o", name + "d", "--format", "squid", *keys, "--capacity", "5000", name, **of).ok()
    assert (tmp_path / "ad").read_bytes()[128:] == (tmp_path / "-d").read_bytes()[128:]
    (tmp_path / "b").write_bytes(text + b"oops\n")
    done = run("dedup", *keys, "b")
    assert (done.code, done.out) == (2, b"\n".join(rows[:5000]) + b"\n") and b"b:8001: the line" in done.err


def test_blocks_and_batches_give_the_same(run, build, tmp_path):
    # Large enough for every core, which read blocks; a pipe is read in batches.
    rows = [b"%d;%s;%s" % (i, b"" if i % 5 == 0 else b"u%d" % (i % 1000), FILLED) for i in range(8000)]
    text = b"\n".join(rows)
    (tmp_path / "a").write_bytes(text)
    f = build("fields:2,;", b"".join(b";u%d\n" % i for i in range(0, 1000, 3)))
    for options in ((), ("-v",), ("-c",)):
        by_blocks = run("check", *options, f, "--keys", "fields:2,;", "a")
        by_batches = run("check", *options, f, "--keys", "fields:2,;", input=text)
        assert (by_blocks.code, by_blocks.out) == (by_batches.code, by_batches.out)
    wanted = [r for r in rows if r.split(b";")[1] and int(r.split(b";")[1][1:]) % 3 == 0]
    assert run("check", f, "--keys", "fields:2,;", "a").out.splitlines() == wanted
    run("build", "-o", "a.bloom", "--keys", "fields:2,;", "a").ok()
    run("build", "-o", "b.bloom", "--keys", "fields:2,;", input=text).ok()
    assert (tmp_path / "a.bloom").read_bytes() == (tmp_path / "b.bloom").read_bytes()


def test_a_comment_within_a_quoted_field_is_part_of_it(run):
    lines = b'id,name\n1,"a\n#",x\n2,Bob\n# note\n3,Eve\n'
    made = run("build", "-q", "-o", "f", "--keys", "csv:name", "--skip-comments", "--skip-bad", input=lines).ok()
    assert b"skipped" in made.err
    assert run("check", "f", "--keys", "lines", input=b"Bob\nEve\n").out == b"Bob\nEve\n"
