"""Servers that answer wrongly, slowly or not at all: one sentence, and no wrong answer."""

import pytest
from web_servers import surroundings, wrong_server  # noqa: F401

KEYS = 40


@pytest.fixture
def file(run, lines, tmp_path):
    run("build", "-o", "f.bloom", "--fpr", "1%", input=lines(200_000)).ok()
    return (tmp_path / "f.bloom").read_bytes()


@pytest.fixture
def ask(run, lines, file, wrong_server):
    """ask(change): checks KEYS members against a server whose answers `change` changes."""

    def start(change, *options, only_from=0, keys=KEYS):
        def changed(number, first, last, answer):
            if number >= only_from:
                change(number, first, last, answer)

        server = wrong_server(file, changed)
        done = run("check", "-c", server.url, *options, input=lines(keys), timeout=60)
        done.server = server
        return done

    return start


def test_a_server_that_sends_the_first_range_alone(ask):
    """It ignores the other ranges of a request, as some do. The ranges are then requested one by one."""
    assert ask(lambda *_: None).ok().out == b"%d\n" % KEYS


@pytest.mark.parametrize("only_from", [0, 1, 2])
def test_a_truncated_answer(ask, only_from):
    def change(number, first, last, answer):
        answer.body = answer.body[:-1]

    ask(change, only_from=only_from).refused("fewer bytes than it had announced")


@pytest.mark.parametrize("only_from", [0, 2])
def test_a_connection_that_closes_within_an_answer(ask, only_from):
    """It is tried again, from the byte where it ended."""

    def change(number, first, last, answer):
        answer.length = len(answer.body)
        answer.body = answer.body[:len(answer.body) // 2]

    ask(change, only_from=only_from).refused("the transfer failed", "tried 4 times")

    def change_once(number, first, last, answer):
        if number == only_from:
            change(number, first, last, answer)

    done = ask(change_once)
    assert done.ok().out == b"%d\n" % KEYS


@pytest.mark.parametrize("wrong", ["bytes 1-{last}/{size}", "bytes 0-{last}/", "bytes {first}-{last}/*", "bytes 5-4/{size}",
                                   "items {first}-{last}/{size}", "bytes {first}-{after}/{size}", "bytes {first}-{first}/{size}",
                                   "bytes 0-99999999999999999999999/{size}", ""])
@pytest.mark.parametrize("only_from", [0, 2])
def test_a_wrong_content_range(ask, file, wrong, only_from):
    def change(number, first, last, answer):
        text = wrong.format(first=first, last=last, after=last + 1, size=len(file))
        if text:
            answer.headers["Content-Range"] = text
        else:
            del answer.headers["Content-Range"]

    ask(change, only_from=only_from).refused("http://")


def test_more_bytes_than_were_requested(ask, file):
    def change(number, first, last, answer):
        answer.body = file * 3

    for only_from in (0, 2):
        ask(change, only_from=only_from).refused("more bytes than it had announced")


def test_a_file_that_changes_meanwhile(ask, file):
    def etag(number, first, last, answer):
        answer.headers["ETag"] = '"two"'

    ask(etag, only_from=2).refused("the file on the server has changed meanwhile; run the command again")

    def size(number, first, last, answer):
        del answer.headers["ETag"]
        answer.headers["Content-Range"] = f"bytes {first}-{last}/{len(file) + 1}"

    ask(size, only_from=2).refused("has changed meanwhile")

    def time(number, first, last, answer):
        del answer.headers["ETag"]
        answer.headers["Last-Modified"] = f"Sat, 28 Nov 2026 19:00:0{min(number, 2)} GMT"

    ask(time).refused("has changed meanwhile")


def test_the_whole_file_where_a_part_was_requested(ask, file):
    def change(number, first, last, answer):
        answer.status, answer.body = 200, file
        del answer.headers["Content-Range"]

    ask(change, only_from=2).refused("the whole file later")
    # From the beginning on, it is a server without ranges.
    assert ask(change).ok().out == b"%d\n" % KEYS


def test_transient_failures_are_tried_again(ask):
    def change(number, first, last, answer):
        if number in (0, 1, 3):
            answer.status, answer.body, answer.headers = 503, b"busy", {}
        if number == 4:
            answer.close = True

    assert ask(change).ok().out == b"%d\n" % KEYS

    def always(number, first, last, answer):
        answer.status, answer.body, answer.headers = 503, b"busy", {}

    done = ask(always)
    done.refused("the server answers with status 503", "(tried 4 times)")
    assert done.server.asked == 4


def test_a_slow_server(ask):
    def change(number, first, last, answer):
        answer.delay = 2.5

    ask(change, "--timeout", "1", only_from=1, keys=1).refused("does not answer within 1 s, or too slowly", "--timeout")

    def pause(number, first, last, answer):
        answer.pause = 3

    ask(pause, "--timeout", "1", keys=1).refused("does not answer within 1 s")


def test_a_packed_file(ask):
    def change(number, first, last, answer):
        answer.headers["Content-Encoding"] = "gzip"

    ask(change).refused("sends the file packed as gzip")


@pytest.mark.parametrize("body", [b"", b"--x", b"--x\r\n", b"--x\r\nContent-Range: bytes 0-9/10\r\n\r\n0123456789",
                                  b"--x\r\n\r\n0123\r\n--x--", b"--y\r\n", b"--x--",
                                  b"--x\r\nContent-Range: bytes 0-99999999/200000000\r\n\r\n01\r\n--x--"])
def test_malformed_parts(ask, body):
    def change(number, first, last, answer):
        answer.headers = {"Content-Type": "multipart/byteranges; boundary=x", "ETag": '"one"'}
        answer.body = body

    ask(change, only_from=1).refused("http://")


def test_parts_of_another_place(ask, file):
    """Parts with bytes that were not requested do not count as those that were."""

    def change(number, first, last, answer):
        answer.headers = {"Content-Type": 'multipart/byteranges; boundary="x y"', "ETag": '"one"'}
        answer.body = b"".join(b"--x y\r\nContent-Range: bytes %d-%d/%d\r\n\r\n\0\0\0\0\r\n" % (i, i + 3, len(file))
                               for i in range(0, 400, 4)) + b"--x y--\r\n"

    ask(change, only_from=1).refused("an answer lacks the bytes")
