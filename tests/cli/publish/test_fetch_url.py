"""bloomset fetch URL: a folder of `publish` behind nginx is followed for the bytes that changed."""

import json
import signal
import subprocess
import time

from web_servers import nginx, secure_nginx, served, surroundings  # noqa: F401


def publish(run, lines, served, *, more=0):
    """The folder pub of a filter of 100,000 keys; with `more`, its next publication."""
    if more:
        run("add", "-q", "f", input=lines(more, "new")).ok()
    else:
        run("build", "-q", "-o", "f", "--kind", "bloom", "--capacity", 120_000, input=lines(100_000)).ok()
    run("publish", "-q", served / "pub", "f").ok()


def test_a_follower_reads_what_it_lacks(run, lines, tmp_path, nginx, served):
    publish(run, lines, served)
    said = run("fetch", f"{nginx.url}/pub/", "-o", "mine").ok()
    assert b"by the whole filter" in said.err
    assert (tmp_path / "mine").read_bytes() == (tmp_path / "f").read_bytes()
    assert len(nginx.requests()) == 2
    publish(run, lines, served, more=100)
    said = run("fetch", f"{nginx.url}/pub", "-o", "mine").ok()
    assert b"by 1 patch" in said.err
    assert (tmp_path / "mine").read_bytes() == (tmp_path / "f").read_bytes()
    sizes = [request.sent for request in nginx.requests()[-2:]]
    assert sizes[0] == (served / "pub" / "manifest.json").stat().st_size and sizes[1] < 2500
    said = run("fetch", f"{nginx.url}/pub", "-o", "mine").ok()
    assert b"which was here already" in said.err


def test_a_folder_over_tls_is_followed(run, lines, tmp_path, secure_nginx, served):
    publish(run, lines, served)
    run("fetch", f"{secure_nginx.url}/pub", "-o", "mine").refused("certificate")
    run("fetch", "-q", f"{secure_nginx.url}/pub", "-o", "mine", env={"SSL_CERT_FILE": str(secure_nginx.certificate)}).ok()
    assert (tmp_path / "mine").read_bytes() == (tmp_path / "f").read_bytes()


def test_what_is_missing_or_too_large_is_refused(run, lines, tmp_path, nginx, served):
    run("fetch", f"{nginx.url}/nowhere", "-o", "mine").refused(f"{nginx.url}/nowhere/manifest.json: ", "404")
    publish(run, lines, served)
    run("fetch", f"{nginx.url}/pub", "-o", "mine", "--max-bytes", "10kB").refused("would exceed --max-bytes; give a larger one")
    assert not (tmp_path / "mine").exists()
    base = json.loads((served / "pub" / "manifest.json").read_text())["base"]["file"]
    # A file that goes on behind the size of the manifest is cut there, and a shorter one is another one.
    whole = (served / "pub" / base).read_bytes()
    (served / "pub" / base).write_bytes(whole + b"x" * 1_000_000)
    run("fetch", "-q", f"{nginx.url}/pub", "-o", "mine").ok()
    (served / "pub" / base).write_bytes(whole[:-1])
    run("fetch", f"{nginx.url}/pub", "-o", "other").refused(f"{base}: the file is not the one that the manifest names")
    (served / "pub" / "manifest.json").write_bytes(b"{" * 3_000_000)
    run("fetch", f"{nginx.url}/pub", "-o", "mine").refused("manifest.json: ")
    assert (tmp_path / "mine").read_bytes() == (tmp_path / "f").read_bytes()


def slow_fetch(bloomset, tmp_path, url, *, end_at):
    """A fetch that is killed when that many bytes of the base have arrived. The file that keeps them."""
    process = subprocess.Popen([bloomset, "fetch", "-q", url, "-o", "mine"], cwd=tmp_path, stderr=subprocess.DEVNULL)
    for _ in range(1000):
        kept = list(tmp_path.glob("mine.*.part"))
        if kept and kept[0].stat().st_size >= end_at:
            break
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL and not (tmp_path / "mine").exists()
    return kept[0]


def publish_large(run, lines, served, stem="user"):
    run("build", "-q", "--force", "-o", "f", "--kind", "bloom", "--capacity", "2M", "--fpr", "1%", input=lines(1000, stem)).ok()
    run("publish", "-q", served / "pub", "f").ok()


def test_a_killed_fetch_continues_where_it_ended(run, lines, tmp_path, nginx, served, bloomset):
    publish_large(run, lines, served)
    size = (tmp_path / "f").stat().st_size
    kept = slow_fetch(bloomset, tmp_path, f"{nginx.url}/slow/pub", end_at=300_000)
    once = kept.stat().st_size
    slow_fetch(bloomset, tmp_path, f"{nginx.url}/slow/pub", end_at=once + 300_000)
    twice = kept.stat().st_size
    assert 600_000 <= twice < size
    nginx.requests()
    said = run("fetch", f"{nginx.url}/pub", "-o", "mine").ok()
    assert (tmp_path / "mine").read_bytes() == (tmp_path / "f").read_bytes()
    last = nginx.requests()[-1]
    assert (last.status, last.sent) == (206, size - twice)
    assert b"by the whole filter; read " in said.err
    assert list(tmp_path.glob("mine.*.part")) == []


def test_kept_bytes_of_another_file_are_read_again(run, lines, tmp_path, nginx, served, bloomset):
    publish_large(run, lines, served)
    kept = slow_fetch(bloomset, tmp_path, f"{nginx.url}/slow/pub", end_at=200_000)
    whole = kept.read_bytes()
    size = (tmp_path / "f").stat().st_size
    for damaged in (b"x" + whole[1:], b"x" * size, b"x" * (size + 5)):
        kept.write_bytes(damaged)
        (tmp_path / "mine").unlink(missing_ok=True)
        run("fetch", "-q", f"{nginx.url}/pub", "-o", "mine").ok()
        assert (tmp_path / "mine").read_bytes() == (tmp_path / "f").read_bytes()
    # Another base has another file of kept bytes, and the old one goes.
    kept.write_bytes(whole)
    (tmp_path / "mine").unlink()
    publish_large(run, lines, served, "others")
    run("fetch", "-q", f"{nginx.url}/pub", "-o", "mine").ok()
    assert (tmp_path / "mine").read_bytes() == (tmp_path / "f").read_bytes()
    assert list(tmp_path.glob("mine.*.part")) == []
    # A server without ranges sends all, and the bytes that are there are skipped.
    base = json.loads((served / "pub" / "manifest.json").read_text())["base"]
    (tmp_path / f"mine.{base['sha256'][:16]}.part").write_bytes((tmp_path / "f").read_bytes()[:100_000])
    (tmp_path / "mine").unlink()
    run("fetch", "-q", f"{nginx.url}/whole/pub", "-o", "mine").ok()
    assert (tmp_path / "mine").read_bytes() == (tmp_path / "f").read_bytes()


def test_a_wrong_file_of_the_server_is_not_kept(run, lines, tmp_path, nginx, served):
    publish_large(run, lines, served)
    base = json.loads((served / "pub" / "manifest.json").read_text())["base"]["file"]
    whole = (served / "pub" / base).read_bytes()
    (served / "pub" / base).write_bytes(b"x" * len(whole))
    run("fetch", f"{nginx.url}/pub", "-o", "mine").refused(f"{base}: the file is not the one that the manifest names")
    (served / "pub" / base).write_bytes(whole)
    run("fetch", "-q", f"{nginx.url}/pub", "-o", "mine").ok()
    assert (tmp_path / "mine").read_bytes() == (tmp_path / "f").read_bytes()
