"""passwdqc's filters of leaked passwords, with pwqfilter, pwqcheck and PAM itself on the other side. Without Debian's
passwdqc these tests are skipped, and with BLOOMSET_NEEDS_PASSWDQC they fail."""

import ctypes
import os
import pathlib
import shutil
import subprocess

import pytest

VECTORS = pathlib.Path(__file__).parents[2] / "dialects" / "passwdqc"
FORMS = {"md4": "--hash-md4", "ntlm": "--hash-ntlm-cp1252"}
# Bytes that are ASCII, UTF-8 of Latin letters and of others, and none of both.
ODD = ["naïve".encode(), "пароль".encode(), "€uro".encode(), b"caf\xe9", b"\x80\x81\x8d\x8f\x90\x9d\x9f\xff",
       b" spaces inside and around ", b"16 bytes of text", b"p" * 300]


@pytest.fixture(scope="module")
def passwdqc():
    """Runs one of the programs of the package."""
    missing = [name for name in ("pwqfilter", "pwqcheck") if shutil.which(name) is None]
    if missing and os.environ.get("BLOOMSET_NEEDS_PASSWDQC"):
        pytest.fail(f"{missing} of Debian's passwdqc are not installed", pytrace=False)
    if missing:
        pytest.skip("Debian's passwdqc is not installed")

    def run(program, *args, input=b"", cwd=None):
        return subprocess.run([program, *map(str, args)], input=input, cwd=cwd, capture_output=True)

    return run


@pytest.fixture(scope="module")
def words():
    return [b"pw%d" % i for i in range(3000)] + ODD


def text(lines):
    return b"".join(line + b"\n" for line in lines)


# The programs ----------------------------------------------------------------------------------


@pytest.mark.parametrize("hash", FORMS)
def test_pwqfilter_and_we_read_each_other(passwdqc, run, tmp_path, words, hash):
    others = [b"other %d" % i for i in range(100_000)] + [b"na\xc3\xafv", b"caf\xe8", b"\x80"]
    made = passwdqc("pwqfilter", FORMS[hash], "--create=3300", "-o", tmp_path / "theirs.pwq", input=text(words))
    assert made.returncode == 0, made.stderr
    run("build", "-o", "ours.pwq", "--format", "passwdqc", "--with", f"hash={hash}", "--capacity", 3300,
        input=text(words)).ok()
    for file in ("theirs.pwq", "ours.pwq"):
        assert run("check", file, input=text(words)).ok().out == text(words)
        assert run("check", "-c", file, input=text(others)).out == b"0\n"
        assert passwdqc("pwqfilter", "-f", tmp_path / file, input=text(words)).stdout == text(words)
        assert passwdqc("pwqfilter", "-c", "-f", tmp_path / file, input=text(others)).stdout == b"0\n"


def test_pwqfilter_inserts_into_ours(passwdqc, run, tmp_path):
    first, more = ([b"%s %d" % (side, i) for i in range(400)] for side in (b"first", b"more"))
    run("build", "-o", "ours.pwq", "--format", "passwdqc", "--with", "hash=md4", "--capacity", 900,
        input=text(first)).ok()
    done = passwdqc("pwqfilter", "--insert", "-f", tmp_path / "ours.pwq", "-o", tmp_path / "both.pwq",
                    input=text(more))
    assert done.returncode == 0, done.stderr
    assert run("check", "both.pwq", input=text(first + more)).ok().out == text(first + more)
    status = passwdqc("pwqfilter", "--status", "-f", tmp_path / "both.pwq").stdout
    assert b"800" in status


@pytest.mark.parametrize("load", [30, 60, 80, 97])
def test_both_read_filters_of_every_load(passwdqc, run, tmp_path, load):
    keys = [b"%d" % i for i in range(100 * load)]
    others = [b"x%d" % i for i in range(10_000)]
    for name, option in (("fast.pwq", "--optimize-fp-rate"), ("full.pwq", "--optimize-fp-rate-at-high-load")):
        made = passwdqc("pwqfilter", "--create=10000", option, "-o", tmp_path / name, input=text(keys))
        assert made.returncode == 0, made.stderr
        assert run("check", "-c", name, input=text(keys)).ok().out == b"%d\n" % len(keys)
        assert run("check", "-c", name, input=text(others)).out == b"0\n"
    # Ours with that share of the keys for which it was planned.
    run("build", "-o", "ours.pwq", "--format", "passwdqc", "--with", "hash=md4", "--capacity", 10_000,
        input=text(keys)).ok()
    assert passwdqc("pwqfilter", "-c", "-f", tmp_path / "ours.pwq", input=text(keys)).stdout == b"%d\n" % len(keys)
    assert passwdqc("pwqfilter", "-c", "-f", tmp_path / "ours.pwq", input=text(others)).stdout == b"0\n"


LEAKED = [b"Tr0ub4dor&3-horse", b"glib-Mercury42"]  # good passwords but for the filter
FRESH = [b"Tr0ub4dor&4-horse", b"glib-Mercury43"]


@pytest.fixture
def leaked(run, tmp_path):
    run("build", "-o", "leaked.pwq", "--format", "passwdqc", "--with", "hash=ntlm", "--capacity", 2,
        input=text(LEAKED)).ok()
    return tmp_path / "leaked.pwq"


def test_pwqcheck_refuses_what_our_filter_has(passwdqc, leaked):
    said = passwdqc("pwqcheck", "-1", "--multi", f"filter={leaked}", input=text(LEAKED + FRESH)).stdout
    assert said == b"".join(b"Bad passphrase (appears to be in a database): %s\n" % word for word in LEAKED) + \
        b"".join(b"OK: %s\n" % word for word in FRESH)


class Message(ctypes.Structure):
    _fields_ = [("style", ctypes.c_int), ("text", ctypes.c_char_p)]


class Response(ctypes.Structure):
    _fields_ = [("text", ctypes.c_void_p), ("zero", ctypes.c_int)]


CONVERSATION = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.POINTER(ctypes.POINTER(Message)),
                                ctypes.POINTER(ctypes.POINTER(Response)), ctypes.c_void_p)


class Conversation(ctypes.Structure):
    _fields_ = [("function", CONVERSATION), ("data", ctypes.c_void_p)]


def pam(folder, service, user, answer, call):
    """Runs a PAM call for a service file of that folder, where each prompt gets the answer. Returns its code and what
    it said."""
    lib, libc = ctypes.CDLL("libpam.so.0"), ctypes.CDLL(None)
    libc.calloc.restype = libc.strdup.restype = ctypes.c_void_p
    lib.pam_start_confdir.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.POINTER(Conversation), ctypes.c_char_p,
                                      ctypes.POINTER(ctypes.c_void_p)]
    said = []

    @CONVERSATION
    def converse(count, messages, responses, _):
        made = ctypes.cast(libc.calloc(count, ctypes.sizeof(Response)), ctypes.POINTER(Response))
        for i in range(count):
            if messages[i].contents.style in (1, 2):  # prompts, without and with echo
                made[i].text = libc.strdup(answer)
            else:
                said.append(messages[i].contents.text.decode())
        responses[0] = made
        return 0

    conversation, handle = Conversation(converse, None), ctypes.c_void_p()
    assert lib.pam_start_confdir(service, user, conversation, os.fsencode(folder), ctypes.byref(handle)) == 0
    code = getattr(lib, call)(handle, 0)
    lib.pam_end(handle, code)
    return code, " ".join(said)


def test_pam_refuses_a_leaked_password(passwdqc, leaked, tmp_path):
    root = pathlib.Path(__file__).parents[3]
    module = subprocess.run([root / "scripts" / "get-pam-passwdqc.sh", root / "build" / "pam-passwdqc"],
                            capture_output=True, text=True)
    if module.returncode != 0 and not os.environ.get("BLOOMSET_NEEDS_PASSWDQC"):
        pytest.skip("PAM's module of passwdqc could not be fetched")
    assert module.returncode == 0, module.stderr
    (tmp_path / "pam").mkdir()
    (tmp_path / "pam" / "change").write_text(
        f"password required {module.stdout.strip()} filter={leaked} enforce=everyone retry=1 non-unix\n")
    refused, accepted = (pam(tmp_path / "pam", b"change", b"root", word, "pam_chauthtok")
                         for word in (LEAKED[0], FRESH[0]))
    assert refused[0] != 0 and "appears to be in a database" in refused[1], refused
    assert accepted[0] == 0, accepted


def test_pam_exec_refuses_a_login_with_a_leaked_password(run, bloomset, tmp_path):
    """The script of docs/use/login-passwords.md, with the paths of this test."""
    if not any(pathlib.Path(folder).glob("*/security/pam_exec.so") for folder in ("/lib", "/usr/lib")):
        pytest.skip("there is no pam_exec")
    run("build", "-q", "-o", "leaked.pwq", "--format", "passwdqc", "--with", "hash=ntlm", "--capacity", 2,
        input=b"hunter2\n").ok()
    script = tmp_path / "not-leaked"
    script.write_text(f"#!/bin/sh\n! {bloomset} check -q --keys password:ntlm-cp1252 {tmp_path}/leaked.pwq\n")
    script.chmod(0o755)
    (tmp_path / "pam").mkdir()
    (tmp_path / "pam" / "login").write_text(f"auth required pam_exec.so expose_authtok quiet {script}\nauth required pam_permit.so\n")
    (tmp_path / "pam" / "change").write_text(f"password required pam_exec.so expose_authtok quiet {script}\n"
                                             "password required pam_permit.so\n")
    leaked, fresh = (pam(tmp_path / "pam", b"login", b"root", word, "pam_authenticate")[0] for word in (b"hunter2", b"correct horse"))
    assert leaked != 0 and fresh == 0
    # When a password is changed, some versions of PAM give the script the new one, and others nothing.
    listener = tmp_path / "listener"
    listener.write_text(f"#!/bin/sh\ncat > {tmp_path}/heard\n")
    listener.chmod(0o755)
    (tmp_path / "pam" / "listen").write_text(f"password required pam_exec.so expose_authtok quiet {listener}\n")
    pam(tmp_path / "pam", b"listen", b"root", b"hunter2", "pam_chauthtok")
    heard = (tmp_path / "heard").read_bytes().strip(b"\0")
    assert heard in (b"hunter2", b"")
    assert (pam(tmp_path / "pam", b"change", b"root", b"hunter2", "pam_chauthtok")[0] != 0) == (heard == b"hunter2")
    (tmp_path / "leaked.pwq").unlink()
    assert pam(tmp_path / "pam", b"login", b"root", b"hunter2", "pam_authenticate")[0] == 0


# The command -----------------------------------------------------------------------------------


def test_files_of_pwqfilter_are_read(run):
    small = (VECTORS / "small.txt").read_bytes()
    for name in ("md4-64.pwq", "ntlm.pwq"):
        assert run("check", VECTORS / name, input=small + b"other\n").ok().out == small
    load89 = text(b"pw%d" % i for i in range(1, 101))
    assert run("check", VECTORS / "load89.pwq", input=load89 + b"pw0\npw101\n").ok().out == load89
    hashes = b"8846F7EAEE8FB117AD06BDD830B7586C\n32ed87bdb5fdc5e9cba88547376818d4\n"
    assert run("check", VECTORS / "opaque.pwq", input=hashes + b"00" * 16 + b"\n").ok().out == hashes
    assert run("check", VECTORS / "ntlm.pwq", "--keys", "hex", input=hashes).ok().out == hashes
    assert run("check", VECTORS / "ntlm.pwq", "--keys", "password:ntlm", input=b"other\npassword\n").ok().out == \
        b"stdin:2\n"


def test_the_download_becomes_a_filter(passwdqc, run, tmp_path):
    folder = tmp_path / "pwnedpasswords"
    folder.mkdir()
    (folder / "8846F.txt").write_bytes(b"7EAEE8FB117AD06BDD830B7586C:9659365\r\n" + b"0" * 27 + b":0\r\n")
    (folder / "32ED8.txt").write_bytes(b"7BDB5FDC5E9CBA88547376818D4:42542807\r\n")
    built = run("build", "-o", "pwned.pwq", "--format", "passwdqc", "--with", "hash=ntlm", "--keys", "pwned",
                "pwnedpasswords").ok()
    assert b"pwned.pwq: 2 keys, format passwdqc" in built.err
    assert run("check", "pwned.pwq", input=b"password\n123456\n1234567\n").ok().out == b"password\n123456\n"
    assert passwdqc("pwqfilter", "-f", tmp_path / "pwned.pwq", input=b"password\n123456\n1234567\n").stdout == \
        b"password\n123456\n"


def test_what_cannot_be_a_hash_is_an_error(run, tmp_path):
    sha1 = b"5BAA61E4C9B93F3F0682250B6CF8331B7EE68FD8:3\n"
    run("check", VECTORS / "ntlm.pwq", "--keys", "pwned", input=sha1).refused(
        "stdin:1: a key of 20 bytes is not a hash of 16 bytes")
    run("build", "-o", "x", "--format", "passwdqc", "--with", "hash=ntlm", "--capacity", 5, "--keys", "pwned",
        input=sha1).refused("stdin:1: a key of 20 bytes")
    assert not (tmp_path / "x").exists()
    run("build", "-o", "x", "--format", "passwdqc", "--capacity", 5, input=b"a\n").refused("--with hash: give", "md4")
    run("build", "-o", "x", "--format", "passwdqc", "--with", "hash=sha1", "--capacity", 5, input=b"a\n").refused(
        "--with hash=sha1: give")


def test_readers_of_other_hashes_are_warned_of(run):
    said = run("check", VECTORS / "md4-64.pwq", "--keys", "ntlm", input=b"password\n")
    assert (said.code, said.out) == (1, b"") and b"made by --keys md4, so another reader may find none" in said.err
    run("check", "--strict", VECTORS / "md4-64.pwq", "--keys", "lines", input=b"16 bytes of text\n").refused(
        "made by --keys md4", "(--strict)")
    for reader, line, stored in (("password:ntlm", b"password\n", "md4"), ("password:ntlm-cp1252", b"password\n", "md4"),
                                 ("password:md4", b"password\n", "ntlm"),
                                 ("pwned", b"8846F7EAEE8FB117AD06BDD830B7586C:3\n", "md4")):
        said = run("check", VECTORS / {"md4": "md4-64.pwq", "ntlm": "ntlm.pwq"}[stored], "--keys", reader, input=line)
        assert said.code == 1 and b"made by --keys %s" % stored.encode() in said.err, reader
    said = run("build", "-o", "x", "--format", "passwdqc", "--with", "hash=md4", "--capacity", 5, "--keys", "pwned",
               input=b"8846F7EAEE8FB117AD06BDD830B7586C:3\n").ok()
    assert b"warning: the keys of x were made by --keys md4" in said.err
    assert run("check", VECTORS / "ntlm.pwq", "--keys", "ntlm", input=b"password\n").ok().err == b""


def test_hashes_that_are_read_as_passwords_are_warned_of(run):
    hashes = b"8846F7EAEE8FB117AD06BDD830B7586C:3\n32ED87BDB5FDC5E9CBA88547376818D4:2\n"
    said = run("build", "-o", "x", "--format", "passwdqc", "--with", "hash=ntlm", "--capacity", 5, input=hashes).ok()
    assert b"warning: all lines of stdin begin with a digest already" in said.err and b"--keys pwned" in said.err
    said = run("check", VECTORS / "ntlm.pwq", input=hashes)
    assert said.code == 1 and b"and --keys ntlm:cp1252 makes another digest of each" in said.err
    assert run("check", "-c", VECTORS / "ntlm.pwq", "--keys", "pwned", input=hashes).err == b""


def test_a_full_filter_names_the_capacity(run):
    run("build", "-o", "x", "--format", "poppy", "--capacity", 5, input=b"".join(b"key %d\n" % i for i in range(9))).refused(
        "stdin:6: the filter is full and cannot store this key; give a larger --capacity")


def test_filters_are_not_merged(run):
    run("merge", "-o", "x", VECTORS / "md4-64.pwq", VECTORS / "load89.pwq").refused("cannot be merged")
    run("convert", "-o", "x", VECTORS / "md4-64.pwq").refused("one container only")


def test_verify_reads_large_filters(run, tmp_path):
    """The buckets of a filter above 64 MiB are read only if the user says so."""
    with open(tmp_path / "large.pwq", "wb") as file:
        buckets = 5 << 20
        file.write(b"PWQ0\2\2\1\0\1\2\3\4\5\6\7\x08" + bytes(8) + (4 * buckets).to_bytes(8, "little") + bytes(32))
        file.truncate(64 + 16 * buckets)
    assert run("check", "--verify", "large.pwq", input=b"password\n").code == 1
    with open(tmp_path / "large.pwq", "r+b") as file:
        file.seek(64 + 16 * 4_000_000)
        file.write(b"\2")
    assert run("check", "large.pwq", input=b"password\n").code == 1
    run("check", "--verify", "large.pwq", input=b"password\n").refused("its bucket 4000000, at byte 64000064,")
