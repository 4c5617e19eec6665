"""Exact filters with partitions, from lines of keys to the three answers: yes, no, and unknown."""

import gzip
import json
import os

import pytest

BUILD = ("build", "-o", "f.bloom", "--kind", "exact", "--universe", "all.tsv")
COLUMNS = ("--partition", "fields:1", "--keys", "fields:2")


def certificates(issuers, serials):
    """Serials of an issuer are numbers, so that issuers have equal ones."""
    return [b"issuer-%d\t%d\n" % (issuer, serial) for issuer in issuers for serial in serials]


REVOKED = certificates(range(50), range(0, 400, 40))
ALL = certificates(range(50), range(400)) + certificates([60], range(10))


@pytest.fixture(autouse=True)
def files(tmp_path):
    (tmp_path / "revoked.tsv").write_bytes(b"".join(REVOKED))
    (tmp_path / "all.tsv").write_bytes(b"".join(ALL))


def test_every_key_is_answered_and_unknown_partitions_are_not(run, info):
    built = run(*BUILD, *COLUMNS, "revoked.tsv").ok()
    assert built.err.startswith(b"f.bloom: 500 members of a universe of 20,010 keys, "), built.err
    assert run("check", "f.bloom", "all.tsv").ok().out == b"".join(REVOKED)
    unknown = b"issuer-70\t1\nissuer-71\t40\n"
    asked = unknown + b"issuer-3\t40\nissuer-3\t41\nissuer-60\t1\n"
    members = run("check", "f.bloom", input=asked).ok()
    assert members.out == b"issuer-3\t40\n"
    assert members.err == (b"bloomset check: warning: 2 lines have no answer, because a filter does not cover the key; "
                           b"--unknown prints them\n")
    assert run("check", "-v", "f.bloom", input=asked).ok().out == b"issuer-3\t41\nissuer-60\t1\n"
    assert run("check", "--unknown", "f.bloom", input=asked).ok().out == unknown
    assert json.loads(run("check", "--json", "f.bloom", input=b"issuer-3\t40\n").ok().out)["keys"] == ["issuer-3\t40"]
    found = info("f.bloom")
    assert found["count"] == 500 and found["hash"] == "xxh3-partitioned"
    assert found["extras"]["partitions"] == 51
    assert "a key of another partition has no answer" in found["extras"]["meaning"]
    assert found["labels"] == {"keys": "fields:2", "partition": "fields:1"}
    assert run("verify", "f.bloom").ok().out == b"f.bloom: ok\n"


def test_the_whole_line_may_be_the_key(run, tmp_path):
    run(*BUILD, "--partition", "fields:1", "revoked.tsv").ok()
    assert run("check", "f.bloom", "all.tsv").ok().out == b"".join(REVOKED)
    assert run("check", "--unknown", "f.bloom", input=b"issuer-99\t40\n").ok().out == b"issuer-99\t40\n"


def test_other_readers_find_both(run, tmp_path):
    def csv(lines):
        return b"serial,issuer\n" + b"".join(b"%s,%s\n" % tuple(line.split()[::-1]) for line in lines)

    (tmp_path / "all.tsv").write_bytes(csv(ALL))
    run(*BUILD, "--partition", "csv:issuer", "--keys", "csv:serial", input=csv(REVOKED)).ok()
    assert run("check", "f.bloom", "all.tsv").ok().out == csv(REVOKED).split(b"\n", 1)[1]
    (tmp_path / "all.tsv").write_bytes(b"".join(b'{"n":%d,"zone":"z%d"}\n' % (i, i % 7) for i in range(700)))
    run(*BUILD, "--force", "--partition", "json:/zone", "--keys", "json:/n", input=b'{"n":5,"zone":"z5"}\n').ok()
    assert run("check", "f.bloom", "all.tsv").ok().out == b'{"n":5,"zone":"z5"}\n'


def test_order_repetitions_packing_and_memory_do_not_matter(run, tmp_path):
    run(*BUILD, *COLUMNS, "revoked.tsv").ok()
    first = (tmp_path / "f.bloom").read_bytes()
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"".join(ALL[:9000:-1]) * 3))
    (tmp_path / "b.tsv").write_bytes(b"".join(ALL[:9500]))
    run("build", "--force", "-o", "f.bloom", "--kind", "exact", "--universe", "a.gz", "--universe", "b.tsv", *COLUMNS,
        "--memory-limit", "64MB", input=b"".join(REVOKED[::-1]) * 2).ok()
    assert (tmp_path / "f.bloom").read_bytes() == first


def test_a_secret_key_hashes_partitions_too(run, tmp_path):
    run("key", "new", "secret.key").ok()
    run(*BUILD, *COLUMNS, "--key-file", "secret.key", "revoked.tsv").ok()
    assert run("check", "--key-file", "secret.key", "f.bloom", "all.tsv").ok().out == b"".join(REVOKED)
    run("check", "f.bloom", "all.tsv").refused("secret key")


def test_what_does_not_fit_together_is_refused(run, tmp_path):
    run("build", "-o", "f.bloom", "--partition", "fields:1", "revoked.tsv").refused(
        "--partition: filters of kind blocked_bloom have no partitions; give --kind exact")
    run("build", "-o", "f.bloom", "--kind", "exact", "--partition", "fields:1", "revoked.tsv").refused("with --universe")
    run("build", "-o", "f.bloom", "--format", "dcso", "--partition", "fields:1", "revoked.tsv").refused("leave them out with --format")
    run("build", "-o", "f.bloom", "--kind", "exact", "--universe", "-", *COLUMNS, "revoked.tsv",
        input=b"").refused("--partition: the universe is read twice, so it cannot be stdin or a pipe; give files")
    run(*BUILD, "--partition", "issuer", "revoked.tsv").refused("--partition: there is no reader")
    run(*BUILD, "--partition", "password", "revoked.tsv").refused("a secret is not a partition")
    run(*BUILD, "--partition", "fields:3", "revoked.tsv").refused(
        "revoked.tsv:1: --partition: the line has 2 fields and no field 3")
    run(*BUILD, "--partition", "fields:1", input=b"\t7\n").refused("stdin:1: the line has 0 partitions, and --partition needs one")
    run(*BUILD, "--partition", "csv:1", input=b'"a\tb",7\n').refused("stdin:1: the line's partition has a tab")
    run(*BUILD, "--partition", "fields:1", "--label", "partition=x", "revoked.tsv").refused("is set by --partition")
    assert sorted(os.listdir(tmp_path)) == ["all.tsv", "revoked.tsv"]


def test_filters_of_different_partitions_are_not_queried_together(run, tmp_path):
    run(*BUILD, *COLUMNS, "revoked.tsv").ok()
    run("build", "-q", "-o", "g.bloom", "--keys", "fields:2", "revoked.tsv").ok()
    run("check", "f.bloom", "--filter", "g.bloom", "all.tsv").refused("have different partitions")
    run("build", "-q", "-o", "h.bloom", "--kind", "exact", "--universe", "revoked.tsv", *COLUMNS, "revoked.tsv").ok()
    both = run("check", "f.bloom", "--filter", "h.bloom", "revoked.tsv").ok()
    assert both.out.startswith(b"f.bloom,h.bloom\tissuer-0\t0\n")


def test_an_unknown_key_that_passes_becomes_an_exception(run, tmp_path):
    run(*BUILD, *COLUMNS, "revoked.tsv").ok()
    passing = run("check", "f.bloom", input=b"".join(certificates(range(50), range(1000, 1100)))).ok().out
    (tmp_path / "passing.tsv").write_bytes(passing)
    run("except", "f.bloom", "passing.tsv").ok()
    assert run("check", "f.bloom", "passing.tsv").code == 1
    assert run("check", "f.bloom", "all.tsv").ok().out == b"".join(REVOKED)


def test_a_plan_knows_the_directory(run):
    asked = ("plan", "--json", "--kind", "exact", "--capacity", "1M", "--universe", "101M")
    whole = json.loads(run(*asked).ok().out)
    parted = json.loads(run(*asked, "--partitions", "1000").ok().out)
    assert parted["bytes"] == whole["bytes"] + 9000
    assert (parted.get("extras") or parted)["partitions"] == 1000
    run(*asked, "--partitions", "102M").refused("102,000,000 partitions", "would be empty")
