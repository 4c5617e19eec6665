"""`bloomset verify --public-key`: detached signatures that minisign itself has made."""

import base64
import json
import pathlib
import subprocess

import pytest


def keys(folder, name):
    """A new key pair without a password: (public key's file, secret key's file)."""
    public, secret = folder / f"{name}.pub", folder / f"{name}.key"
    subprocess.run(["minisign", "-G", "-W", "-p", public, "-s", secret], check=True, capture_output=True)
    return public, secret


def sign(secret, file, *options):
    subprocess.run(["minisign", "-S", "-s", secret, "-m", file, *options], check=True, capture_output=True,
                   stdin=subprocess.DEVNULL)
    return pathlib.Path(f"{file}.minisig")


@pytest.fixture
def publisher(tmp_path):
    return keys(tmp_path, "publisher")


@pytest.fixture
def manifest(tmp_path):
    file = tmp_path / "manifest.json"
    file.write_text(json.dumps({"files": ["members.bloom"]}))
    return file


@pytest.mark.parametrize("form", [[], ["-l"]], ids=["prehashed", "legacy"])
@pytest.mark.parametrize("size", [0, 1, 128, 3_000_001])
def test_what_minisign_signed_is_signed(run, tmp_path, publisher, form, size):
    (tmp_path / "data").write_bytes(bytes(i % 251 for i in range(size)))
    sign(publisher[1], tmp_path / "data", "-t", "made for a test", *form)
    done = run("verify", "--public-key", "publisher.pub", "data").ok()
    assert (done.out, done.err) == (b"data: ok, signed: made for a test\n", b"")


def test_the_key_may_be_given_as_its_text(run, publisher, manifest):
    sign(publisher[1], manifest, "-t", "x")
    text = publisher[0].read_text().splitlines()[1]
    assert run("verify", "--public-key", text, manifest).ok().out == f"{manifest}: ok, signed: x\n".encode()


def test_indexes_are_verified_too(run, tmp_path, publisher, lines):
    (tmp_path / "a").write_bytes(lines(100))
    run("index", "-q", "-o", "a.which", "a").ok()
    sign(publisher[1], tmp_path / "a.which", "-t", "x")
    assert run("verify", "--public-key", "publisher.pub", "a.which").ok().out == b"a.which: ok, signed: x\n"
    damaged = bytearray((tmp_path / "a.which").read_bytes())
    damaged[-20] ^= 1
    (tmp_path / "a.which").write_bytes(damaged)
    sign(publisher[1], tmp_path / "a.which")
    run("verify", "--public-key", "publisher.pub", "a.which").refused("a.which: ")


def test_filters_are_verified_too(run, tmp_path, publisher, lines):
    run("build", "-o", "f.bloom", input=lines(1000)).ok()
    sign(publisher[1], tmp_path / "f.bloom", "-t", "x")
    run("verify", "--public-key", "publisher.pub", "f.bloom").ok()
    # Signed as it is, but damaged before it was signed.
    damaged = bytearray((tmp_path / "f.bloom").read_bytes())
    damaged[-1] ^= 1
    (tmp_path / "f.bloom").write_bytes(damaged)
    sign(publisher[1], tmp_path / "f.bloom")
    run("verify", "--public-key", "publisher.pub", "f.bloom").refused("f.bloom: the payload's checksum does not match")


def test_every_changed_bit_is_found(run, tmp_path, publisher, manifest):
    signature = sign(publisher[1], manifest, "-t", "trusted text")
    original, was = manifest.read_bytes(), signature.read_bytes()
    for bit in range(0, 8 * len(original), 7):
        changed = bytearray(original)
        changed[bit // 8] ^= 1 << bit % 8
        manifest.write_bytes(changed)
        run("verify", "--public-key", publisher[0], manifest).refused(
            f"{manifest}: the signature is not of this file; do not use the file")
    manifest.write_bytes(original + b"\n")
    run("verify", "--public-key", publisher[0], manifest).refused("not of this file")
    manifest.write_bytes(original)
    run("verify", "--public-key", publisher[0], manifest).ok()

    lines = was.split(b"\n")
    for line, size in ((1, 74), (3, 64)):
        decoded = base64.b64decode(lines[line])
        assert len(decoded) == size
        for at in range(0, size, 3):
            changed = bytearray(decoded)
            changed[at] ^= 1
            signature.write_bytes(b"\n".join([*lines[:line], base64.b64encode(changed), *lines[line + 1:]]))
            run("verify", "--public-key", publisher[0], manifest).refused("manifest.json")
    signature.write_bytes(was.replace(b"trusted text", b"trusted test"))
    run("verify", "--public-key", publisher[0], manifest).refused("the trusted comment is not the signed one")
    signature.write_bytes(was.replace(b"untrusted comment: ", b"untrusted comment: anything else "))
    run("verify", "--public-key", publisher[0], manifest).ok()


def test_another_key_and_another_file(run, tmp_path, publisher, manifest):
    other, _ = keys(tmp_path, "other")
    signature = sign(publisher[1], manifest)
    run("verify", "--public-key", other, manifest).refused(f"{manifest}: it is signed with the key ", "and the given key is ")
    # The same identifier with another key: the identifier alone proves nothing.
    def decoded(file):
        return base64.b64decode(file.read_text().splitlines()[1])

    forged = base64.b64encode(decoded(publisher[0])[:10] + decoded(other)[10:]).decode()
    run("verify", "--public-key", forged, manifest).refused("the signature is not of this file")
    (tmp_path / "b.json").write_text("{}")
    (tmp_path / "b.json.minisig").write_bytes(signature.read_bytes())
    run("verify", "--public-key", publisher[0], "b.json").refused("b.json: the signature is not of this file")


def test_one_bad_file_of_several(run, tmp_path, publisher):
    for name in "abc":
        (tmp_path / name).write_text(name)
        sign(publisher[1], tmp_path / name, "-t", name)
    (tmp_path / "b").write_text("B")
    done = run("verify", "--public-key", "publisher.pub", "a", "b", "c")
    assert done.code == 2
    assert done.out == b"a: ok, signed: a\nc: ok, signed: c\n"
    assert done.err.startswith(b"bloomset verify: b: the signature is not of this file")


def test_malformed_keys_and_signatures(run, tmp_path, publisher, manifest):
    text = publisher[0].read_text()
    for wrong in ("", "x", text.splitlines()[0], text + "more\n", text.replace("RW", "RX", 1), "\0" * 100_000,
                  text.splitlines()[1][:-4] + "===="):
        (tmp_path / "wrong.pub").write_text(wrong)
        run("verify", "--public-key", "wrong.pub", manifest).refused("--public-key: wrong.pub: this is not a public key of minisign")
    run("verify", "--public-key", "absent.pub", manifest).refused("--public-key: absent.pub: ")
    run("verify", "--public-key", "publisher.key", manifest).refused("this is not a public key")
    run("verify", "--public-key", publisher[0], manifest).refused("manifest.json.minisig: ")
    run("verify", "--public-key", publisher[0], "-").refused("-: a signature is beside its file")

    signature = sign(publisher[1], manifest)
    good = signature.read_text().split("\n")
    for wrong in ([], good[:3], [*good[:4], "more"], ["comment: x", *good[1:]], [good[0], "", *good[2:]],
                  [good[0], good[1][:-4], *good[2:]], [good[0], good[1][:-1] + "*", *good[2:]], [*good[:2], "x", good[3]],
                  [*good[:3], good[3][:-4]], [good[0], "A" + good[1][1:], *good[2:]], ["x" * 100_000]):
        signature.write_text("\n".join(wrong))
        run("verify", "--public-key", publisher[0], manifest).refused("manifest.json.minisig: this is not a signature of minisign")


def test_line_ends_of_another_system(run, publisher, manifest):
    signature = sign(publisher[1], manifest, "-t", "x")
    signature.write_bytes(signature.read_bytes().replace(b"\n", b"\r\n"))
    run("verify", "--public-key", publisher[0], manifest).ok()


def test_a_comment_does_not_reach_the_terminal_as_it_is(run, publisher, manifest):
    sign(publisher[1], manifest, "-t", "a\x1b[31mb")
    assert b"\x1b" not in run("verify", "--public-key", publisher[0], manifest).ok().out

