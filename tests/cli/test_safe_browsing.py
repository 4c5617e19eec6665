"""--keys url and safe-browsing: URLs in any spelling, and lists of harmful ones."""

import hashlib
import json
import math

LIST = b"""evil.com/
http://user@Bad.example.org:80/a/../malware.exe?x#top
ba7816bf
sha256:af30010e4c011fc77e1ab03ef898ab2f8dec17c0bd178a875ad0cd9b7a6e5973
"""
# The last line but one is foo.com/, by its hash.
URLS = b"""http://www.evil.com/x/y?z
https://bad.example.org/malware.exe?x
https://bad.example.org/
http://good.com/evil.com/
http://foo.com/abc
EVIL.com
"""


def build(run, name, *options, input=LIST):
    return run("build", "--keys", "safe-browsing", "--fpr", "1e-7", "-o", name, *options, input=input)


def test_a_url_is_printed_if_any_of_its_expressions_is_listed(run):
    build(run, "bad.bloom").ok()
    found = run("check", "--keys", "safe-browsing", "bad.bloom", input=URLS).ok()
    urls = URLS.splitlines(keepends=True)
    assert found.out == b"".join(urls[i] for i in (0, 1, 4, 5))
    passed = run("check", "-v", "--keys", "safe-browsing", "bad.bloom", input=URLS).ok()
    assert passed.out == urls[2] + urls[3]
    assert run("check", "--keys", "safe-browsing", "bad.bloom", input=urls[3]).code == 1


def test_json_names_the_expression(run):
    build(run, "bad.bloom").ok()
    found = run("check", "--json", "--keys", "safe-browsing", "bad.bloom", input=URLS).ok()
    told = [json.loads(line) for line in found.out.splitlines()]
    assert [(one["line"], one["keys"]) for one in told] == [
        (1, ["evil.com/"]), (2, ["bad.example.org/malware.exe?x"]), (5, ["foo.com/"]),
        (6, ["evil.com/"])]


def test_what_is_no_url_is_an_error_with_its_place(run, tmp_path):
    build(run, "bad.bloom").ok()
    (tmp_path / "urls.txt").write_bytes(b"http://a.com/\nmailto:x@evil.com\nhttp://evil.com/\n")
    sentence = run("check", "-c", "--keys", "safe-browsing", "bad.bloom", "urls.txt")
    assert sentence.code == 2 and b"urls.txt:2: not a URL: " in sentence.err
    skipped = run("check", "--skip-bad", "--keys", "safe-browsing", "bad.bloom", "urls.txt").ok()
    assert skipped.out == b"http://evil.com/\n"
    build(run, "no.bloom", input=b"evil.com/\nhttp://\n").refused("stdin:2: not a URL: it has no host")
    build(run, "no.bloom", input=b"abcdef123\n").refused("stdin:1: ", "no hash prefix")


def test_a_list_of_prefixes_is_the_same_filter_as_the_list_of_their_expressions(run, tmp_path):
    names = [b"site%d.example/a?%d" % (i, i) for i in range(1000)]
    hashes = [hashlib.sha256(name).hexdigest() for name in names]
    lists = {
        "names": b"\n".join(names),
        "urls": b"\n".join(b"ftp://u:p@" + name.replace(b"/", b".:21//./", 1) for name in names),
        "prefixes": "\n".join(h[:8] for h in hashes).encode(),
        "hashes": "\n".join(hashes).upper().encode(),
    }
    for name, content in lists.items():
        build(run, name, "--kind", "fuse", input=content).ok()
    assert len({(tmp_path / name).read_bytes() for name in lists}) == 1
    for name in ("names", "hashes"):
        run("build", "--keys", "safe-browsing:32", "--kind", "fuse", "-o", name + "32",
            input=lists[name]).ok()
    assert (tmp_path / "names32").read_bytes() == (tmp_path / "hashes32").read_bytes()
    run("build", "--keys", "safe-browsing:32", "-o", "short", input=lists["prefixes"]).refused(
        "stdin:1: ", "4 bytes", "safe-browsing:4")


def test_the_rate_of_a_url_is_that_of_a_key_times_its_expressions(run, info):
    listed, asked = 20_000, 40_000
    run("build", "--keys", "safe-browsing", "--kind", "bloom", "--fpr", "0.5%", "-o", "bad.bloom",
        input=b"".join(b"site%d.example/\n" % i for i in range(listed))).ok()
    rate = info("bad.bloom")["current_fpr"]
    # Two hosts and five paths: ten expressions, none of them another URL's.
    urls = b"".join(b"http://www.shop%d.test/a/b/c.html?q\n" % i for i in range(asked))
    found = int(run("check", "-c", "--keys", "safe-browsing", "bad.bloom", input=urls).out)
    expected = 1 - (1 - rate - listed / 2**32) ** 10
    # Binomial: beyond 6 deviations has a chance below 1e-8.
    assert abs(found - asked * expected) < 6 * math.sqrt(asked * expected)


def test_spellings_of_one_url_are_one_key(run):
    spellings = b"""http://Example.com:80/a/%7Eb/../c?x#y
example.com/a/c?x
http://u:p@example.com./a//c?x
http://example.com/a/c?X
"""
    found = run("dedup", "--keys", "url", input=spellings).ok()
    assert found.out == b"".join(spellings.splitlines(keepends=True)[i] for i in (0, 3))
    run("build", "--keys", "url", "--fpr", "1e-7", "-o", "f.bloom",
        input=b"http://xn--mnchen-3ya.de/\n").ok()
    asked = "http://M\u00dcNCHEN.de\nhttps://m\u00fcnchen.de/\n".encode()
    assert run("check", "--keys", "url", "f.bloom", input=asked).out == asked.splitlines(keepends=True)[0]
