"""docs/reference/format.md against the golden files: a reader that was written from the document alone reads
them.

Its hash is first compared with published vectors, and its places with the document's table.
"""

import pathlib
import re
import struct
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import format_reader  # noqa: E402
from xxh3 import xxh3_64  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parents[1]
DOCUMENT = (HERE.parent / "docs" / "reference" / "format.md").read_text()
BLOOM = sorted((HERE / "golden").glob("bloom-*.bloom")) + sorted(
    (HERE / "golden").glob("blocked_bloom-*.bloom")
)
FUSE = sorted((HERE / "golden").glob("fuse-*.bloom"))
EXACT = sorted((HERE / "golden").glob("exact-*.bloom"))
HALVES = sorted((HERE / "golden").glob("halves-*.bloom"))

# tests/support/golden_recipes.hpp
MEMBERS = (
    [b"member-%d" % i for i in range(38)]
    + [struct.pack("<q", i) for i in range(10)]
    + [b"", b"x" * 1000]
)


def in_partitions(keys):
    return [b"partition-%d\t%b" % (i % 3, key) for i, key in enumerate(keys)]


def read(data):
    """With the secret key of the golden files that need one."""
    return format_reader.read(data, bytes(range(16)))


def test_the_hash_is_siphash():
    # CPython's hash of these bytes with PYTHONHASHSEED=0; the document has the number too.
    assert format_reader.siphash_1_3(b"abcdefgh01234", bytes(16)) == 6262391933080463020
    assert "%016x" % 6262391933080463020 in DOCUMENT


def test_a_keyed_file_is_refused_without_its_key():
    data = (HERE / "golden" / "fuse-keyed.bloom").read_bytes()
    for secret in (None, bytes(16)):
        with pytest.raises(format_reader.Refused):
            format_reader.read(data, secret)


def test_the_hash_is_xxh3():
    # From xxHash's own sanity check; see tests/core/hash_test.cpp.
    buffer, state = bytearray(), 2654435761
    for _ in range(2048):
        buffer.append(state >> 56)
        state = state * 11400714785074694797 & (1 << 64) - 1
    data = bytes(buffer)
    assert xxh3_64(b"") == 0x2D06800538D394C2
    for length, unseeded, seeded in [
        (1, 0xC44BDFF4074EECDB, 0x032BE332DD766EF8),
        (6, 0x27B56A84CD2D7325, 0x84589C116AB59AB9),
        (12, 0xA713DAF0DFBB77E7, 0xE7303E1B2336DE0E),
        (80, 0xBCDEFBBB2C47C90A, 0xC6DD0CB699532E73),
        (195, 0xCD94217EE362EC3A, 0xBA68003D370CB3D9),
        (2048, 0xDD59E2C3A5F038E0, 0x66F81670669ABABC),
    ]:
        assert xxh3_64(data[:length]) == unseeded, length
        assert xxh3_64(data[:length], 11400714785074694797) == seeded, length


def test_the_places_in_the_document_are_those_of_its_rules():
    rules = {"double": format_reader.double}
    rows = re.findall(
        r"^\| (`\w+`|\(empty\)) \| (\d+|any) \| ([\w-]+) \| (\d+), (\d+) \| ([\d ]+) \|$",
        DOCUMENT,
        re.MULTILINE,
    )
    assert {row[2] for row in rows} == set(rules)
    for key, seed, rule, k, m, places in rows:
        key = b"" if key == "(empty)" else key.strip("`").encode()
        seed = 0 if seed == "any" else int(seed)
        found = list(rules[rule](key, seed, int(k), int(m)))
        assert found == [int(place) for place in places.split()], (key, rule)


def test_each_kind_has_a_section():
    kinds = re.findall(r"^KIND(?:_OF_TWO_SETS)?\((\w+)\)", (HERE.parent / "src" / "registry" / "kinds.inc").read_text(), re.M)
    sections = re.findall(r"^## (\w+) \(kind \d+, ", DOCUMENT, re.M)
    assert kinds and sorted(sections) == sorted([*kinds, "file_index"])  # which is no filter


def test_the_values_in_the_document_are_right():
    values = re.findall(r"remix\(`?(\w+)`?\) = `(\w+)`", DOCUMENT)
    assert len(values) == 2
    for x, value in values:
        assert format_reader.remix(int(x, 16)) == int(value, 16)


@pytest.mark.parametrize("path", BLOOM, ids=lambda path: path.stem)
def test_a_golden_file_is_read(path):
    data = path.read_bytes()
    f = read(data)
    assert all(f.may_contain(key) for key in MEMBERS)
    assert f.capacity == 60 and 0 < f.fpr <= 0.02
    assert 45 <= f.count <= 50
    # 1000 non-members at a rate below 2%: 60 or more come with a chance below 1e-11 (Chernoff).
    assert sum(f.may_contain(b"non-member-%d" % i) for i in range(1000)) < 60
    # Writing the members anew gives the payload bit for bit.
    bits = bytearray(len(f.payload))
    for key in MEMBERS:
        for place in f.places(key):
            bits[place >> 3] |= 1 << (place & 7)
    assert bytes(bits) == f.payload


@pytest.mark.parametrize("path", FUSE, ids=lambda path: path.stem)
def test_a_golden_fuse_filter_is_read(path):
    f = read(path.read_bytes())
    assert all(f.may_contain(key) for key in MEMBERS)
    assert f.count == len(set(MEMBERS))
    # 2000 non-members: 4 and 6 deviations more than the expected number have a chance below 1e-7.
    expected = 2000 / 2**f.w
    passed = sum(f.may_contain(b"non-member-%d" % i) for i in range(2000))
    assert passed <= expected + 4 + 6 * expected**0.5


def test_the_golden_fuse_filters_are_of_both_arities_and_odd_widths():
    filters = [read(path.read_bytes()) for path in FUSE]
    assert {f.arity for f in filters} == {3, 4}
    assert {f.w for f in filters} == {6, 8, 13}


def test_the_fuse_places_in_the_document_are_right():
    rows = re.findall(
        r"^\| `(\S+)` \| (\d+), shard (\d+) \| (\d), (\d+), (\d+), (\d+) \| (\d+) \| ([\d ]+) \|$",
        DOCUMENT,
        re.MULTILINE,
    )
    assert {row[3] for row in rows} == {"3", "4"}
    for key, seed, shard_seed, arity, w, s, starts, fingerprint, places in rows:
        x = format_reader.remix(xxh3_64(key.encode(), int(seed)) ^ int(shard_seed))
        assert format_reader.fuse_fingerprint(x, int(w)) == int(fingerprint)
        found = format_reader.fuse_places(x, int(arity), int(s), int(starts))
        assert found == [int(place) for place in places.split()], key


@pytest.mark.parametrize("more", [0, 3000])
def test_a_golden_ribbon_is_read(more):
    f = read((HERE / "golden" / f"ribbon-{2 if more else 1}.bloom").read_bytes())
    members = MEMBERS + [b"more-%d" % i for i in range(more)]
    assert all(f.may_contain(key) for key in members)
    assert f.count == len(members) and f.fpr == 0.02
    assert len(f.levels) == (2 if more else 1)
    # 2000 non-members at a rate of 2%: 20 standard errors; a constant answer is far off.
    passing = sum(f.may_contain(b"non-member-%d" % i) for i in range(2000))
    assert 3 < passing < 100


@pytest.mark.parametrize("slots", [2, 4, 8])
def test_a_golden_cuckoo_filter_is_read(slots):
    f = read((HERE / "golden" / f"cuckoo-{slots}.bloom").read_bytes())
    assert f.b == slots
    counts = [f.copies(key) for key in MEMBERS]
    assert all(counts) and f.copies(b"member-0") >= 3
    in_use = sum(f.table >> at & 2**f.f - 1 != 0 for at in range(0, f.n * f.b * f.f, f.f))
    assert f.count == len(MEMBERS) + 2 == in_use + len(f.entries)
    # 1000 non-members at a rate below 2%: 60 or more come with a chance below 1e-11 (Chernoff).
    assert sum(f.may_contain(b"non-member-%d" % i) for i in range(1000)) < 60


@pytest.mark.parametrize("name, more", [("1", 0), ("full", 0), ("many", 3000)])
def test_a_golden_vector_quotient_filter_is_read(name, more):
    f = read((HERE / "golden" / f"vector_quotient-{name}.bloom").read_bytes())
    members = MEMBERS + [b"more-%d" % i for i in range(more)]
    counts = [f.copies(key) for key in members]
    assert all(counts) and f.count == len(members) + 2
    assert f.copies(b"member-0") >= 3
    # Each tag is in as many copies as keys were given it: a listing of all adds up to the count.
    listed = sum(len(f.tags_in(block)) for block in range(f.n))
    assert listed + sum(f.stash.values()) + sum(c for _, c in f.side) == f.count
    if name == "full":
        assert f.n == 1 and listed == f.s == 50 and len(f.side) == 4
    passing = sum(f.may_contain(b"non-member-%d" % i) for i in range(1000))
    # 1000 non-members at a rate below 2%: 60 or more come with a chance below 1e-11 (Chernoff).
    assert passing < 60


def test_the_places_of_vector_quotient_filters_in_the_document_are_right():
    rows = re.findall(
        r"^\| `(\S+)` \| (\d+) \| (\d+), (\d+), (\d+) \| (\d+), (\d+) \| (\d+) \|$",
        DOCUMENT,
        re.MULTILINE,
    )
    assert len(rows) == 2
    for key, seed, n, b, r, first, second, tag in rows:
        h = xxh3_64(key.encode(), int(seed))
        found = format_reader.vector_quotient_places(h, int(n), int(b) << int(r))
        assert found == (int(first), int(second), int(tag)), key
        assert format_reader.other_block(int(second), int(tag), int(n)) == int(first)


@pytest.mark.parametrize("path", HALVES, ids=lambda path: path.stem)
def test_a_golden_filter_with_128_bit_hashes_is_read(path):
    f = read(path.read_bytes())
    assert all(f.may_contain(key) for key in MEMBERS)
    assert 45 <= f.count <= 50
    # 1000 non-members at a rate of about 2%: 60 or more come with a chance below 1e-11 (Chernoff).
    # Each half alone lets more than that pass.
    others = [b"non-member-%d" % i for i in range(1000)]
    assert sum(f.may_contain(key) for key in others) < 60
    for half in f.halves:
        assert 60 < sum(half.may_contain(key) for key in others) < 250


def test_halves_of_two_shapes_and_wrong_lengths_are_refused():
    data = bytearray((HERE / "golden" / "halves-bloom.bloom").read_bytes())
    for at in (64, 72, 88, 128, 152):  # lengths, zeros, capacity, functions
        forged = bytearray(data)
        forged[at] ^= 16
        size = struct.unpack_from("<I", forged, 20)[0]
        struct.pack_into("<Q", forged, 56, xxh3_64(bytes(forged[:56] + forged[64 : 64 + size])))
        with pytest.raises(format_reader.Refused):
            read(bytes(forged))


EXPANDABLE = sorted((HERE / "golden").glob("expandable-*.bloom"))


@pytest.mark.parametrize("path", EXPANDABLE, ids=lambda path: path.stem)
def test_a_golden_expandable_filter_is_read(path):
    f = read(path.read_bytes())
    more = {"expandable-narrow-grown": 100, "expandable-wide-split": 17000, "expandable-fixed-split": 1400}.get(
        path.stem, 0)
    members = MEMBERS + [b"more-%d" % i for i in range(more)]
    assert all(f.may_contain(key) for key in members)
    assert f.count == len(members) + 2 and f.count_of(b"member-0") >= 3 and f.fpr == 0.02
    assert (f.d > 0) == path.stem.endswith("-split")
    # 2000 non-members at a rate below 2%: 100 or more come with a chance below 1e-13 (Chernoff).
    assert sum(f.may_contain(b"non-member-%d" % i) for i in range(2000)) < 100


def test_the_place_in_the_document_is_right():
    h = xxh3_64(b"alice@example.com")
    assert h == 0x76EB895512BF35FF
    assert format_reader.expandable_place(h, 2, 1, 5) == (3, 31, h >> 7)


@pytest.mark.parametrize("path", EXACT, ids=lambda path: path.stem)
def test_a_golden_exact_filter_answers_every_key(path):
    f = read(path.read_bytes())
    members = MEMBERS + [b"more-%d" % i for i in range(3000 if path.stem == "exact-levels" else 0)]
    others = [b"other-%d" % i for i in range(min(max(5000, 100 * len(members)), 20_000))]
    if f.has_partitions:
        members, others = in_partitions(members), in_partitions(others)
    assert f.count == len(set(members))
    assert all(f.may_contain(key) is True for key in members)
    assert all(f.may_contain(key) is False for key in others)
    unknown = f.may_contain(b"partition-3\tmember-0")
    assert unknown is None if f.has_partitions else unknown in (True, False)


def test_the_golden_exact_filters_have_levels_that_bump():
    deep = read((HERE / "golden" / "exact-levels.bloom").read_bytes())
    assert len(deep.last.levels) > 1


def test_the_golden_index_of_files_is_read():
    index = read((HERE / "golden" / "file_index-1.which").read_bytes())
    assert index.names == ["log-%d" % i for i in range(40)] and index.count == 400
    found = [index.files_of(b"member-%d" % i) for i in range(400)]
    assert all(found[i] == [1, 2, 7] for i in range(0, 400, 3))
    assert all(files and files == sorted(set(files)) for files in found)
    # Single files, lists and the chain all occur.
    assert {len(files) > 1 for files in found} == {True, False} and index.chain < index.answers
    # 2000 others at a rate below 2%: 100 or more come with a chance below 1e-13 (Chernoff).
    assert sum(bool(index.files_of(b"non-member-%d" % i)) for i in range(2000)) < 100


def test_every_rule_has_a_golden_file():
    filters = [read(path.read_bytes()) for path in BLOOM]
    assert {f.rule for f in filters if isinstance(f, format_reader.Bloom)} == {
        rule for rule, _, _ in format_reader.RULES.values()
    }
    assert {f.layout for f in filters if isinstance(f, format_reader.BlockedBloom)} == {
        layout for layout, _, _, _ in format_reader.LAYOUTS.values()
    }


def test_the_labels_of_a_golden_file_are_read():
    labelled = read((HERE / "golden" / "blocked_bloom-labels.bloom").read_bytes())
    assert labelled.labels == {"licence": "CC0", "source": "Zoë's list"}
    plain = read((HERE / "golden" / "blocked_bloom-split.bloom").read_bytes())
    assert plain.labels == {} and (labelled.payload, labelled.count) == (plain.payload, plain.count)


def test_the_exceptions_of_a_golden_file_are_read():
    excepting = read((HERE / "golden" / "bloom-exceptions.bloom").read_bytes())
    plain = read((HERE / "golden" / "bloom-double.bloom").read_bytes())
    assert plain.exceptions == set() and excepting.payload == plain.payload
    asked = [b"mistaken-%d" % i for i in range(500)]
    passing = [key for key in asked if plain.may_contain(key)]
    assert len(passing) == len(excepting.exceptions) > 0
    assert not any(excepting.may_contain(key) for key in asked)


def test_the_layers_of_a_golden_file_are_read():
    layered = read((HERE / "golden" / "bloom-layers.bloom").read_bytes())
    plain = read((HERE / "golden" / "bloom-double.bloom").read_bytes())
    added = [b"layer-%d" % i for i in range(40)]
    assert len(layered.layers) == 2 and all(layered.may_contain(key) for key in added)
    assert sum(plain.may_contain(key) for key in added) < 10
    others = [b"other-%d" % i for i in range(1000)]
    assert sum(map(layered.may_contain, others)) - sum(map(plain.may_contain, others)) < 20


@pytest.mark.parametrize("name", ["sets", "changes", "whole"])
def test_a_golden_patch_is_applied(name):
    old = {"sets": "bloom-double", "changes": "counting_bloom-4", "whole": "fuse-8"}[name]
    before = (HERE / "golden" / f"{old}.bloom").read_bytes()
    after = format_reader.patched(before, (HERE / "golden" / f"{name}.patch").read_bytes())
    if name == "whole":
        assert after == (HERE / "golden" / "ribbon-2.bloom").read_bytes()
    else:
        size, of_payload, of_header = (struct.unpack_from(form, after, at)[0] for form, at in (("<I", 20), ("<Q", 48), ("<Q", 56)))
        assert after != before and of_payload == xxh3_64(after[64 + size :])
        assert of_header == xxh3_64(after[:56] + after[64 : 64 + size])


@pytest.mark.parametrize("path", [BLOOM[0], FUSE[0], EXPANDABLE[0], EXACT[0], EXACT[-1], HALVES[0], HERE / "golden" / "file_index-1.which"], ids=lambda path: path.stem)
def test_damage_is_refused(path):
    data = path.read_bytes()
    for at in range(len(data)):
        flipped = bytearray(data)
        flipped[at] ^= 0x10
        with pytest.raises(format_reader.Refused):
            read(bytes(flipped))
        with pytest.raises(format_reader.Refused):
            read(data[:at])
    with pytest.raises(format_reader.Refused):
        read(data + b"\0")
