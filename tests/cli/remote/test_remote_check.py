"""`bloomset check https://...`: the filter stays on the server, and only the bytes that the keys need are read."""

import pytest
from kinds import KINDS
from web_servers import nginx, secure_nginx, served, surroundings  # noqa: F401

MEMBERS = 200_000
ASKED = 200

# The most ranges of a key that docs/reference/format.md promises, for a filter of the default options. Those of a bloom
# filter are its hash functions. A ribbon filter has one more level for every twentieth key.
RANGES = {"blocked_bloom": 1, "cuckoo": 2, "vector_quotient": 2, "fuse": 3, "ribbon": 4, "bloom": 7, "counting_bloom": 7,
          "expandable": 2, "scalable_bloom": 40}
BUILT_OF_ONE_SET = [kind for kind, can in KINDS.items() if not can["of_two_sets"]]


@pytest.fixture
def made(run, lines, served):
    """made(kind, ...): a filter of MEMBERS keys that nginx serves as f.bloom."""

    def make(kind, *options, members=MEMBERS):
        run("build", "-o", served / "f.bloom", "--kind", kind, "--fpr", "1%", "--force", *options,
            input=lines(members)).ok()
        return served / "f.bloom"

    return make


@pytest.fixture
def asked(lines):
    """Members and others in one text."""
    return lines(ASKED // 2) + lines(ASKED // 2, "guest")


@pytest.mark.parametrize("kind", BUILT_OF_ONE_SET)
def test_the_answers_are_those_of_the_file(run, made, nginx, asked, kind):
    local = run("check", made(kind), input=asked).ok()
    remote = run("check", f"{nginx.url}/f.bloom", input=asked).ok()
    assert (remote.out, remote.err) == (local.out, b"")


@pytest.mark.parametrize("kind", BUILT_OF_ONE_SET)
def test_a_key_needs_few_bytes(run, made, nginx, lines, kind):
    size = made(kind).stat().st_size
    for key in (lines(1, start=77), lines(1, "guest", start=5)):
        run("check", "-c", f"{nginx.url}/f.bloom", input=key)
        first, *others = nginx.requests()
        assert first.status == 206 and first.ranges == [(0, 4095)]
        ranges = [each for request in others for each in request.ranges]
        # Besides those of the key, a range for the directory or the stash.
        assert 1 <= len(ranges) <= RANGES[kind] + 1
        assert all(last - begin < 4096 for begin, last in ranges)
        assert sum(request.sent for request in others) < 8192 < size
        assert all(request.status == 206 for request in others)


def test_keys_of_a_batch_share_requests(run, made, nginx, asked):
    made("blocked_bloom", members=1_000_000)
    run("check", f"{nginx.url}/f.bloom", input=asked).ok()
    requests = nginx.requests()
    # One for the header, and one for each 64 of the 200 keys.
    assert len(requests) == 5
    ranges = [each for request in requests[1:] for each in request.ranges]
    assert len(ranges) <= ASKED
    # 64 bytes of a block and the headers of a part.
    assert sum(request.sent for request in requests[1:]) < 200 * len(ranges)


def test_a_server_of_one_range_at_a_time(run, made, nginx, asked):
    local = run("check", made("blocked_bloom", members=1_000_000), input=asked).ok()
    remote = run("check", f"{nginx.url}/single/f.bloom", input=asked).ok()
    assert remote.out == local.out
    requests = nginx.requests()
    assert [request.status for request in requests[:2]] == [206, 200]
    assert all(request.status == 206 and len(request.ranges) == 1 for request in requests[2:])


def test_many_keys_read_the_file_once(run, made, nginx, lines):
    """No more is read than twice the file."""
    file = made("blocked_bloom")
    keys = lines(100_000) + lines(100_000, "guest")
    local = run("check", "-c", file, input=keys).ok()
    assert run("check", "-c", f"{nginx.url}/f.bloom", input=keys).ok().out == local.out
    requests = nginx.requests()
    assert sum(request.sent for request in requests) < 2 * file.stat().st_size
    assert len(requests) < 60


def test_labels_name_the_reader(run, nginx, served, tmp_path):
    (tmp_path / "mail").write_text("Alice@Example.com\n")
    run("build", "-o", served / "f.bloom", "--keys", "email", "mail").ok()
    asked = b"Alice@EXAMPLE.com\n"
    assert run("check", served / "f.bloom", input=asked).ok().out == asked
    assert run("check", f"{nginx.url}/f.bloom", input=asked).ok().out == asked
    assert run("check", f"{nginx.url}/f.bloom", "--keys", "lines", input=asked).code == 1


def test_a_secret_key_and_halves_and_exceptions(run, nginx, served, lines, secret):
    members = lines(50_000)
    for options in (["--key-file", secret], ["--hash", "xxh3-2x64", "--kind", "ribbon"]):
        run("build", "-o", served / "f.bloom", "--force", "--fpr", "1%", *options, input=members).ok()
        key = options if "--key-file" in options else []
        assert run("check", "-c", *key, f"{nginx.url}/f.bloom", input=lines(500)).ok().out == b"500\n"
    run("build", "-o", served / "f.bloom", "--force", "--fpr", "10%", input=members).ok()
    passing = run("check", served / "f.bloom", input=lines(500, "guest")).ok().out
    run("except", served / "f.bloom", input=passing).ok()
    assert run("check", f"{nginx.url}/f.bloom", input=lines(500, "guest")).code == 1


def test_several_filters_here_and_there(run, nginx, served, lines, tmp_path):
    run("build", "-o", served / "one.bloom", input=lines(100_000)).ok()
    run("build", "-o", "two.bloom", input=lines(100_000, "guest")).ok()
    shown = run("check", f"{nginx.url}/one.bloom", "--filter", "two.bloom", input=b"user5@example.com\nguest5@example.com\n")
    assert shown.ok().out == f"{nginx.url}/one.bloom\tuser5@example.com\ntwo.bloom\tguest5@example.com\n".encode()


def test_redirects_are_followed(run, made, nginx, lines):
    made("blocked_bloom")
    assert run("check", "-c", f"{nginx.url}/moved/f.bloom", input=lines(10)).ok().out == b"10\n"
    # Later requests go where the first was sent to.
    assert [request.status for request in nginx.requests()] == [302, 206, 206]
    run("check", f"{nginx.url}/loop", input=b"a\n").refused("the transfer failed", "redirects")


def test_https_needs_a_trusted_certificate(run, made, secure_nginx, lines):
    made("blocked_bloom")
    url = f"{secure_nginx.url}/f.bloom"
    run("check", url, input=b"a\n").refused("the transfer failed", "certificate")
    for variable in ("SSL_CERT_FILE", "CURL_CA_BUNDLE"):
        trusted = run("check", "-c", url, input=lines(300), env={variable: str(secure_nginx.certificate)})
        assert trusted.ok().out == b"300\n"


def test_a_server_without_ranges_sends_the_whole_file(run, made, nginx, asked):
    file = made("blocked_bloom")
    url = f"{nginx.url}/whole/f.bloom"
    assert run("check", url, input=asked).ok().out == run("check", file, input=asked).ok().out
    assert [(request.status, request.sent) for request in nginx.requests()] == [(200, file.stat().st_size)]
    run("check", url, "--max-bytes", "10kB", input=asked).refused(
        f"{url}: the server sends only the whole file, which has more than the", "--max-bytes")


def test_a_filter_with_partitions_is_read_whole(run, served, nginx):
    (served / "all").write_bytes(b"".join(b"a%d.example\t%d\n" % (i % 20, i) for i in range(20_000)))
    run("build", "-o", served / "f.bloom", "--kind", "exact", "--universe", served / "all", "--partition", "fields:1",
        "--keys", "fields:2", input=b"a7.example\t7\n").ok()
    file = served / "f.bloom"
    asked = b"a7.example\t7\na7.example\t27\nb.example\t1\n"
    remote = run("check", "--json", f"{nginx.url}/f.bloom", input=asked).ok()
    local = run("check", "--json", file, input=asked).ok()
    assert remote.out == local.out.replace(str(file).encode(), f"{nginx.url}/f.bloom".encode())
    assert sum(request.sent for request in nginx.requests()) == file.stat().st_size


def test_max_bytes_is_never_exceeded(run, made, nginx, lines):
    made("blocked_bloom", members=1_000_000)
    run("check", "-c", f"{nginx.url}/f.bloom", "--max-bytes", "20kB", input=lines(1000)).refused("--max-bytes")
    assert sum(request.sent for request in nginx.requests()) <= 20_000


def test_verify_reads_the_whole_file(run, made, nginx, lines):
    file = made("blocked_bloom")
    bytes_of_file = bytearray(file.read_bytes())
    assert run("check", "-c", "--verify", f"{nginx.url}/f.bloom", input=lines(10)).ok().out == b"10\n"
    bytes_of_file[-1] ^= 1
    file.write_bytes(bytes_of_file)
    url = f"{nginx.url}/f.bloom"
    run("check", "--verify", url, input=lines(10)).refused(f"{url}: the payload's checksum does not match")
    # A query of other bytes does not find the damage. Damage to the header is always found.
    assert run("check", "-c", url, input=lines(10)).ok().out == b"10\n"
    bytes_of_file[40] ^= 1
    file.write_bytes(bytes_of_file)
    run("check", url, input=lines(10)).refused(f"{url}: the header's checksum does not match")


def test_a_filter_of_another_program_is_read_whole(run, nginx, served, lines):
    run("build", "-o", served / "f.bf", "--format", "dcso", "--capacity", "1000", input=lines(1000)).ok()
    assert run("check", "-c", f"{nginx.url}/f.bf", input=lines(100)).ok().out == b"100\n"


def test_refusals_are_one_sentence(run, made, nginx, served, lines, tmp_path):
    made("blocked_bloom")
    url = nginx.url
    run("check", f"{url}/absent.bloom", input=b"a\n").refused(f"{url}/absent.bloom: the server has no such file (status 404)")
    run("check", f"{url}/secret/f", input=b"a\n").refused("refuses access (status 403)")
    (served / "text").write_text("x" * 10_000)
    run("check", f"{url}/text", input=b"a\n").refused(f"{url}/text: this is not a Bloomset filter")
    (served / "empty").write_bytes(b"")
    run("check", f"{url}/empty", input=b"a\n").refused(f"{url}/empty: ")
    (served / "short").write_bytes((served / "f.bloom").read_bytes()[:100])
    run("check", f"{url}/short", input=b"a\n").refused(f"{url}/short: ", "damaged")
    (tmp_path / "a.log").write_bytes(lines(100))
    run("index", "-o", served / "logs.index", "a.log").ok()
    run("check", f"{url}/logs.index", input=b"a\n").refused("this is an index of files")
    run("check", "http://127.0.0.1:1/f.bloom", input=b"a\n", timeout=30).refused(
        "http://127.0.0.1:1/f.bloom: the transfer failed", "tried 4 times")
    run("check", f"{url}/f.bloom", "--timeout", "3601", input=b"a\n").refused("--timeout: 3601 s is out of range")
    run("check", f"{url}/f.bloom", "--keys", "password", input=b"a\n").refused("show it which secret is queried")
    run("info", f"{url}/f.bloom").refused("only 'bloomset check' reads a filter from a URL")


def test_without_libcurl_a_url_is_refused(run, tmp_path):
    (tmp_path / "libcurl.so.4").write_bytes(b"")
    run("check", "http://127.0.0.1:1/f.bloom", input=b"a\n", env={"LD_LIBRARY_PATH": str(tmp_path)}).refused(
        "http://127.0.0.1:1/f.bloom: reading from a URL needs libcurl.so.4, which could not be loaded; install libcurl")


def test_a_password_of_the_url_is_not_shown(run, nginx):
    url = nginx.url.replace("http://", "http://me:hidden@")
    said = run("check", f"{url}/absent.bloom", input=b"a\n").refused("no such file")
    assert "hidden" not in said and "me:" not in said
