"""bloomset fetch URL: a folder of `publish` behind nginx is followed for the bytes that changed."""

import json

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
