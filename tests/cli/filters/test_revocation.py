"""Filters of revoked certificates on the command line, with Mozilla's crates as the other side in both directions.
Without cargo or its registry these tests are skipped, and with BLOOMSET_NEEDS_CRATES they fail."""

import os
import pathlib
import shutil
import subprocess

import pytest
from conftest import LIMITED, few_bytes

PEER = pathlib.Path(__file__).with_name("revocation_peer")
VECTORS = pathlib.Path(__file__).parents[2] / "dialects" / "revocation"
LOG = "01" * 32
HASHES = {"murmur3": "1", "sha256": "2", "sha256ctr": "3"}
# Issuers: certificates and how many of them are revoked.
ISSUERS = {"11": (1, 0), "22": (1, 1), "33": (2, 1), "44": (300, 0), "55": (300, 300), "66": (20000, 200),
           "77": (5000, 2400), "88": (3000, 2900), "99": (10000, 1)}


@pytest.fixture(scope="module")
def peer():
    def missing(why, details=""):
        if os.environ.get("BLOOMSET_NEEDS_CRATES"):
            pytest.fail(f"{why}\n{details}", pytrace=False)
        pytest.skip(why)

    if not LIMITED:
        pytest.skip("the crates read what a build without sanitizers writes")
    if shutil.which("cargo") is None:
        missing("cargo is not installed")
    folder = pathlib.Path(__file__).parents[3] / "build" / "revocation_peer"  # for all builds
    done = subprocess.run(["cargo", "build", "--quiet", "--release", "--locked", "--manifest-path",
                           PEER / "Cargo.toml", "--target-dir", folder], capture_output=True, text=True)
    if done.returncode != 0:
        missing("cargo cannot build the crates: is their registry reachable?", done.stderr)

    def run(*args, keys=""):
        done = subprocess.run([folder / "release" / "revocation_peer", *map(str, args)], input=keys,
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture
def certificates(tmp_path):
    """Files of the revoked and the other certificates, as the texts in them."""
    sides = ["", ""]
    for issuer, (count, revoked) in ISSUERS.items():
        for j in range(count):
            sides[j >= revoked] += f"{issuer * 32}:{j:06x}\n"
    (tmp_path / "revoked").write_text(sides[0])
    (tmp_path / "good").write_text(sides[1])
    (tmp_path / "all").write_text(sides[0] + sides[1])
    return sides


@pytest.fixture
def addons(tmp_path):
    sides = ["".join(f"{side}{i}@x:{i % 7}\n" for i in range(n)) for side, n in (("in", 500), ("out", 20000))]
    (tmp_path / "in").write_text(sides[0])
    (tmp_path / "out").write_text(sides[1])
    (tmp_path / "all").write_text(sides[0] + sides[1])
    return sides


# The crates ------------------------------------------------------------------------------------


@pytest.mark.parametrize("hash", HASHES)
def test_rust_cascade_and_we_read_each_other(peer, run, tmp_path, addons, hash):
    salt = "" if hash == "murmur3" else "000102030405060708090a0b0c0d0e0f"
    peer("write-cascade", tmp_path / "theirs", HASHES[hash], salt, tmp_path / "in", tmp_path / "out")
    options = ["--with", f"salt={salt}"] if salt else []
    run("build", "-o", "ours", "--format", "cascade", "--with", f"hash={hash}", *options, "--universe", "all",
        "in").ok()
    for file in ("theirs", "ours"):
        assert run("check", file, "all").ok().out.decode() == addons[0]
        assert peer("read-cascade", tmp_path / file, keys="".join(addons)) == addons[0]
    # The same hash functions and sizes leave nothing to choose.
    assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()


def test_rust_cascade_reads_our_inverted_cascades(peer, run, tmp_path, addons):
    run("build", "-o", "ours", "--format", "cascade", "--universe", "all", "out").ok()
    assert peer("read-cascade", tmp_path / "ours", keys="".join(addons)) == addons[1]


@pytest.mark.parametrize("version", ["3", "4"])
def test_the_clubcard_crates_and_we_read_each_other(peer, run, tmp_path, certificates, version):
    peer("write-clubcard", tmp_path / "theirs", version, tmp_path / "revoked", tmp_path / "good")
    run("build", "-o", "ours", "--format", "clubcard", "--with", f"version={version}", "--with",
        f"coverage={LOG}@1000-2000000000000", "--universe", "all", "revoked").ok()
    keys = "".join(certificates)
    counts = [side.count("\n") for side in certificates]
    for file in ("theirs", "ours"):
        assert run("check", file, "all").ok().out.decode() == certificates[0]
        assert run("check", "-v", file, "all").ok().out.decode() == certificates[1]
        assert peer("read-clubcard", tmp_path / file, 1000, keys=keys) == \
            "Revoked\n" * counts[0] + "Good\n" * counts[1]
        assert peer("read-clubcard", tmp_path / file, 999, keys="11" * 32 + ":00\n") == "NotCovered\n"
        assert peer("read-clubcard", tmp_path / file, 1000, keys="aa" * 32 + ":00\n") == "NotEnrolled\n"
        # What we convert they read too.
        other = "4" if version == "3" else "3"
        run("convert", "-o", f"{file}.other", "--to-with", f"version={other}", file).ok()
        assert peer("read-clubcard", tmp_path / f"{file}.other", 1000, keys=keys).count("Revoked") == counts[0]
    # Builds are random there and not here, but the sizes are the same up to single words.
    ours, theirs = ((tmp_path / file).stat().st_size for file in ("ours", "theirs"))
    assert abs(ours - theirs) < 0.02 * theirs


# The command -----------------------------------------------------------------------------------


def test_three_answers(run, tmp_path):
    (tmp_path / "all").write_text("".join(f"{'aa' * 32}:{j:04x}\n" for j in range(50)))
    (tmp_path / "revoked").write_text("".join(f"{'aa' * 32}:{j:04x}\n" for j in range(5)))
    run("build", "-o", "card", "--format", "clubcard", "--universe", "all", "revoked").ok()
    revoked, good, unknown = (f"{issuer * 32}:{serial}\n".encode()
                              for issuer, serial in (("aa", "0003"), ("aa", "0013"), ("bb", "0003")))
    keys = revoked + good + unknown
    some = run("check", "card", input=keys).ok()
    assert some.out == revoked
    assert b"1 line has no answer, because a filter does not cover the key; --unknown prints it" in some.err
    assert run("check", "-v", "card", input=keys).ok().out == good
    only = run("check", "--unknown", "card", input=keys).ok()
    assert (only.out, only.err) == (unknown, b"")
    assert b'"maybe":null' in run("check", "--unknown", "--json", "card", input=keys).ok().out
    none = run("check", "--unknown", "-c", "card", "all")
    assert (none.code, none.out) == (1, b"0\n")
    run("check", "--unknown", "-v", "card", "all").refused("give one of them")


def test_the_index_asks_its_filters(run):
    key = f"{'aa' * 32}:008303"  # an exception of the second filter, revoked in the first
    full = f"{key}:{LOG}@1500000000000\n".encode()
    assert run("check", VECTORS / "index.bin", input=full).ok().out == full
    run("check", VECTORS / "index.bin", input=key.encode()).refused("stdin:1: ", "ISSUER:SERIAL:LOG@TIME")


def test_a_merge_of_clubcards_is_their_index(run, tmp_path):
    for name in ("two.v4.clubcard", "five.v4.clubcard"):
        shutil.copy(VECTORS / name, tmp_path)
    run("merge", "-o", "index.bin", "two.v4.clubcard", tmp_path / "five.v4.clubcard").ok()
    assert (tmp_path / "index.bin").read_bytes() == (VECTORS / "index.bin").read_bytes()
    run("merge", "-o", "x", "two.v4.clubcard", VECTORS / "five.v4.clubcard").refused(
        "an index names the filters of its own folder, and they are in two")


def test_coverage_that_names_nothing_is_refused(run, tmp_path):
    (tmp_path / "all").write_text("".join(f"{'aa' * 32}:{i:04x}\n" for i in range(40)))
    (tmp_path / "revoked").write_text(f"{'aa' * 32}:0007\n")
    build = ("build", "-q", "--force", "--format", "clubcard", "--universe", "all")
    run(*build, "-o", "x", "--with", f"coverage={LOG}@2000-1000", "revoked").refused(
        "--with coverage: a period is from 2000 to 1000; give the earlier time first")
    run(*build, "-o", "x", "--with", f"coverage={LOG}@1-2,{LOG}@3-4", "revoked").refused(
        "--with coverage: a log is named twice; give one period for each log")
    run(*build, "-o", "covers", "--with", f"coverage={LOG}@1000-2000", "revoked").ok()
    run(*build, "-o", "none", "revoked").ok()
    for names in (("covers", "none"), ("none", "covers")):
        run("merge", "-o", "index", *names).refused("one of these covers none; build it with 'coverage'")


def test_what_is_no_certificate_is_an_error_with_its_place(run, tmp_path):
    (tmp_path / "lines").write_text(f"{'aa' * 32}:0000\nexample.com\n")
    wrong = "lines:2: 'example.com' is not a certificate"
    checked = run("check", VECTORS / "two.v4.clubcard", "lines")
    assert checked.code == 2 and wrong.encode() in checked.err
    run("build", "-o", "x", "--format", "clubcard", "--universe", "lines", "lines").refused(wrong)
    assert run("check", "-c", "--skip-bad", VECTORS / "two.v4.clubcard", "lines").ok().out == b"1\n"


@pytest.mark.parametrize("args,says", [
    (["--format", "cascade"], "give a file of all keys that will be queried with --universe"),
    (["--format", "dcso", "--universe", "keys"], "made of its members only; leave it out"),
    (["--universe", "keys"], "has no use for other keys; give --kind exact, or --format cascade or clubcard"),
    (["--format", "cascade", "--universe", "keys", "--fpr", "1%"], "not sized by a rate of false positives"),
    (["--format", "cascade", "--universe", "keys", "--capacity", "5"], "not sized by a capacity"),
    (["--format", "cascade", "--universe", "-", "-"], "stdin cannot have both the members and the universe"),
])
def test_builds_that_make_no_sense_are_refused(run, tmp_path, args, says):
    (tmp_path / "keys").write_text("a\nb\n")
    files = [] if args[-1] == "-" else ["keys"]
    run("build", "-o", "x", *args, *files).refused(says)
    assert not (tmp_path / "x").exists()


@pytest.fixture
def large(tmp_path):
    """Files of a million certificates, 10,000 of them revoked."""
    with open(tmp_path / "all", "wb") as file:
        subprocess.run(["seq", "-f", "a" * 64 + ":%08.0f", "1000000"], stdout=file, check=True)
    with open(tmp_path / "revoked", "wb") as file:
        subprocess.run(["awk", "NR % 100 == 7", "all"], stdout=file, cwd=tmp_path, check=True)


@pytest.mark.skipif(not LIMITED, reason="a build of this size needs minutes under the sanitizers")
def test_the_universe_of_a_clubcard_is_not_kept(run, tmp_path, large):
    build = ["build", "--format", "clubcard", "revoked", "-o"]
    run(*build, "file.clubcard", "--universe", "all", preexec_fn=few_bytes).ok()
    with open(tmp_path / "all", "rb") as stream:
        run(*build, "stream.clubcard", "--universe", "-", stdin=stream).ok()
    assert (tmp_path / "stream.clubcard").read_bytes() == (tmp_path / "file.clubcard").read_bytes()
    assert run("check", "file.clubcard", "all").ok().out == (tmp_path / "revoked").read_bytes()


def test_static_filters_do_not_change(run, tmp_path):
    (tmp_path / "keys").write_text("a\nb\n")
    run("build", "-o", "x", "--format", "cascade", "--universe", "keys", "keys").ok()
    run("merge", "-o", "y", "x", "x").refused("no filter of format cascade can be merged")
    run("add", "x", "keys").refused("only Bloomset filters")
