"""Filters of other programs that are cut, damaged or packed in an odd way: each is refused by name, or read."""

import gzip
import os
import resource
import zlib

import pytest

# The formats that can be told from a file's beginning, with what else `build` asks for.
FOREIGN = {"squid": [], "dcso": [], "bip37": [], "guava": ["--with", "funnel=utf8"], "spark": ["--with", "type=string"],
           "cassandra": ["--with", "version=mc", "--with", "type=text"], "parquet": ["--with", "type=bytes"]}


@pytest.mark.parametrize("format", FOREIGN)
def test_a_truncated_file_is_refused_by_name(run, tmp_path, lines, format):
    more = FOREIGN[format]
    run("build", "--format", format, *more, "--capacity", 100, "-o", "f", input=lines(100)).ok()
    whole = (tmp_path / "f").read_bytes()
    assert run("check", "-c", "f", *more, input=lines(100)).ok().out == b"100\n"
    (tmp_path / "f").write_bytes(whole[:-1])
    for verb in ("check", "info", "convert", "merge"):
        args = {"convert": ["-o", "x", "f"], "merge": ["-o", "x", "f", "f"]}.get(verb, ["f"])
        run(verb, *args, "--format", format, *more).refused("f: ")


def make_foreign(run, lines, format):
    run("build", "-o", f"f.{format}", "--format", format, *FOREIGN[format], "--capacity", 1000, input=lines(1000)).ok()


@pytest.mark.parametrize("format,sentence", [
    ("squid", "its header says 625 bytes of mask, but 472 follow"),
    ("dcso", "its header says m = 9585 bits, but 552 bytes follow"),
    ("bip37", "its length says 1198 bytes of filter"),
    ("guava", "its header says 115 words of 8 bytes, but 594 bytes follow"),
    ("spark", "its header says 115 words of 8 bytes, but 584 bytes follow"),
    ("cassandra", "its header says 157 words of 8 bytes, but 592 bytes follow"),
    ("parquet", "header says 2048 bytes of blocks of 32, but 584 follow"),
])
def test_a_cut_file_is_told_by_its_beginning(run, tmp_path, lines, format, sentence):
    make_foreign(run, lines, format)
    (tmp_path / "cut").write_bytes((tmp_path / f"f.{format}").read_bytes()[:600])
    for verb in ("info", "check"):
        run(verb, "cut").refused("cut: ", sentence, f"read as format {format}")
    for verb in ("add", "count", "remove", "verify"):
        run(verb, "cut").refused(f"cut: this looks like a filter of format {format}")


@pytest.mark.parametrize("format,at,byte,sentence", [
    ("squid", 21, 9, "9 hash functions; a digest has 4"),
    ("squid", 1, 2, "its header says version 2, readable from version 3 on"),
    ("dcso", 0, 3, "its version (low byte of the flags) is 3"),
    ("dcso", 23, 0xff, "its header's rate (p) is -"),
    ("dcso", 25, 1, "number of hash functions (k) is 263"),
    ("parquet", 4, 0x2c, "is not made of uncompressed split blocks"),
    ("bip37", -7, 1, "it says 65542 hash functions"),
])
def test_a_damaged_field_is_named(run, tmp_path, lines, format, at, byte, sentence):
    make_foreign(run, lines, format)
    whole = bytearray((tmp_path / f"f.{format}").read_bytes())
    whole[at] = byte
    (tmp_path / "damaged").write_bytes(whole)
    run("info", "damaged").refused("damaged: ", sentence)


def test_damage_within_gzip_is_named(run, tmp_path, lines):
    make_foreign(run, lines, "dcso")
    whole = bytearray((tmp_path / "f.dcso").read_bytes())
    whole[8:16] = bytes(8)
    (tmp_path / "f.gz").write_bytes(gzip.compress(whole))
    run("info", "f.gz").refused("f.gz: its header's capacity (n) is 0")
    (tmp_path / "other.gz").write_bytes(gzip.compress(b"some text\n" * 20))
    run("info", "other.gz").refused("other.gz: this is gzip-compressed, not a filter")


def test_parquets_magic_tells_and_so_does_a_column(run, tmp_path):
    (tmp_path / "cut").write_bytes(b"PAR1" + bytes(600))
    run("info", "cut").refused("cut: a Parquet file begins and ends with PAR1")
    (tmp_path / "locked").write_bytes(b"PARE" + bytes(600) + b"PARE")
    run("info", "locked").refused("locked: the Parquet file's footer is encrypted")
    (tmp_path / "text").write_bytes(b"some text\n" * 20)
    run("info", "text").refused("text: this is not a Bloomset filter but text")
    run("check", "text", "--column", "s").refused("text: ", "Parquet")


@pytest.mark.parametrize("format", FOREIGN)
def test_verbs_that_take_our_own_filters_name_the_others(run, tmp_path, lines, format):
    make_foreign(run, lines, format)
    before = (tmp_path / f"f.{format}").read_bytes()
    for verb in ("add", "remove", "count", "verify"):
        run(verb, f"f.{format}").refused(
            f"f.{format}: this is a filter of format {format}, and '{verb}' accepts only")
        assert (tmp_path / f"f.{format}").read_bytes() == before


def test_impossible_plans_name_the_format_and_the_figures(run):
    run("build", "-o", "f", "--format", "dcso", "--capacity", 1, "--fpr", "1e-300").refused(
        "format dcso's formulas give m = 1437", "k = 997 functions")


def test_gzip_may_have_several_members_and_zeros_between_them(run, tmp_path, lines):
    run("build", "--format", "dcso", "--capacity", 100, "-o", "f", input=lines(50)).ok()
    whole = (tmp_path / "f").read_bytes()
    members = [gzip.compress(piece) for piece in (whole[:20], b"", whole[20:100], whole[100:])]
    for name, packed in (("joined", b"".join(members)), ("padded", (bytes(512)).join(members) + bytes(3000))):
        (tmp_path / name).write_bytes(packed)
        assert run("check", "-c", name, input=lines(50)).ok().out == b"50\n"
        run("convert", "-o", f"plain.{name}", "--to-with", "gzip=no", name).ok()
        assert (tmp_path / f"plain.{name}").read_bytes() == whole
        (tmp_path / name).write_bytes(packed + b"x")
        run("info", name).refused(f"{name}: its gzip data is damaged, incomplete or followed by something else")


def little_memory():
    resource.setrlimit(resource.RLIMIT_AS, (200 << 20, 200 << 20))


def test_gzip_is_unpacked_as_far_as_its_filter_needs(run, tmp_path, lines):
    run("build", "--format", "dcso", "--capacity", 100, "-o", "f", input=lines(50)).ok()
    whole = (tmp_path / "f").read_bytes()
    packer = zlib.compressobj(1, wbits=31)
    begin = packer.compress(whole) + packer.flush(zlib.Z_FULL_FLUSH)
    mebibyte = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)  # can be repeated
    (tmp_path / "bomb.gz").write_bytes(begin + 300 * mebibyte)
    run("info", "bomb.gz", preexec_fn=little_memory).refused(
        "bomb.gz: more than 16 MiB of data")
    data = bytes(range(256)) * (16 << 12)  # 16 MiB
    (tmp_path / "full.gz").write_bytes(gzip.compress(whole + data, 1))
    assert run("check", "-c", "full.gz", input=lines(50)).ok().out == b"50\n"
    run("convert", "-o", "plain", "--to-with", "gzip=no", "full.gz").ok()
    assert (tmp_path / "plain").read_bytes() == whole + data
    (tmp_path / "more").write_bytes(whole + data + b"x")
    assert run("check", "-c", "more", input=lines(50)).ok().out == b"50\n"
    run("convert", "-o", "x", "--to-with", "gzip=yes", "more").refused("x: ", "gzip=no")


def test_a_packed_header_that_promises_too_much_is_refused(run, tmp_path, lines):
    run("build", "--format", "dcso", "--capacity", 100, "-o", "f", input=lines(50)).ok()
    whole = bytearray((tmp_path / "f").read_bytes())
    whole[32:40] = (1 << 43).to_bytes(8, "little")  # 1 TiB
    (tmp_path / "more.gz").write_bytes(gzip.compress(whole))
    run("info", "more.gz").refused("more.gz: its header says m = 8796093022208 bits, more than")
    whole[32:40] = (1 << 32).to_bytes(8, "little")  # 512 MiB
    (tmp_path / "much.gz").write_bytes(gzip.compress(bytes(whole) + os.urandom(600_000)))
    run("info", "much.gz").refused("much.gz: its header says m = 4294967296 bits, but 600")
    run("info", "much.gz", preexec_fn=little_memory).refused("much.gz: ", "memory")
    (tmp_path / "less.gz").write_bytes(gzip.compress(bytes(whole)[:47]))
    run("info", "--format", "dcso", "less.gz").refused("less.gz: it ends within the header of 48")
