"""Kinds that are built from members and all other keys."""

import bloomset
import pytest
from conftest import having

EXACT = pytest.mark.parametrize("cls", having(bloomset.OfTwoSets), ids=lambda cls: cls.kind)
MEMBERS = [f"member {i}" for i in range(300)]
OTHERS = [f"other {i}" for i in range(20_000)]


@EXACT
def test_every_key_of_both_sets_is_answered_exactly(cls):
    f = cls.build(MEMBERS, OTHERS)
    assert all(f.contains(MEMBERS)) and not any(f.contains(OTHERS))
    assert f.approx_len() == f.capacity == 300
    assert all(key in f for key in MEMBERS[:20]) and not any(key in f for key in OTHERS[:20])


@EXACT
def test_the_others_may_be_the_universe_in_any_order(cls):
    assert cls.build(MEMBERS, OTHERS) == cls.build(MEMBERS[::-1], OTHERS + MEMBERS + OTHERS)
    assert cls.build(MEMBERS, OTHERS) != cls.build(MEMBERS, OTHERS, seed=5)


@EXACT
def test_without_one_of_the_sets(cls):
    assert not any(cls.build([], OTHERS).contains(OTHERS))
    assert all(cls.build(MEMBERS, []).contains(MEMBERS))


@EXACT
def test_its_file_is_the_command_lines(cls, run, tmp_path):
    (tmp_path / "all.txt").write_text("".join(f"{key}\n" for key in OTHERS + MEMBERS))
    run("build", "-q", "-o", "f.bloom", "--kind", cls.kind, "--universe", "all.txt",
        input="".join(f"{key}\n" for key in MEMBERS))
    for f in (bloomset.open(tmp_path / "f.bloom"), bloomset.open(tmp_path / "f.bloom", mmap=False)):
        assert type(f) is cls and f == cls.build(MEMBERS, OTHERS)
        assert all(f.contains(MEMBERS)) and not any(f.contains(OTHERS))


@EXACT
def test_it_is_made_by_build_alone(cls):
    with pytest.raises(TypeError, match=rf"{cls.__name__}\.build\(members, others\)"):
        cls(1000)
    with pytest.raises(ValueError, match="no option"):
        cls.build(MEMBERS, OTHERS, arity=3)
    assert not hasattr(cls, "add")
    key = bloomset.new_key()
    f = cls.build(MEMBERS, OTHERS, key=key)
    assert bloomset.from_bytes(f.to_bytes(), key=key) == f and not any(f.contains(OTHERS))


ISSUED = [f"issuer {i % 40}\t{i}" for i in range(8000)]
REVOKED = ISSUED[7::50]


@EXACT
def test_partitions_share_a_filter_and_unknown_ones_have_no_answer(cls):
    f = cls.build(REVOKED, ISSUED, partitioned=True)
    assert f.contains(ISSUED).tolist() == [key in set(REVOKED) for key in ISSUED]
    assert f.info()["extras"]["partitions"] == 40
    asked = [REVOKED[0], ISSUED[0], "issuer 41\t7", "no tab"]
    assert f.covers(asked).tolist() == [True, True, False, False]
    assert f.contains(asked).tolist() == [True, False, False, False]
    assert cls.build(MEMBERS, OTHERS).covers(asked).all()
    assert cls.build(REVOKED[::-1], ISSUED[::-1] * 2, partitioned=True) == f
    # The rest of a key is not the key: the same serial of another issuer is another certificate.
    assert f"issuer 8\t{REVOKED[0].split(chr(9))[1]}" not in f


@EXACT
def test_a_file_with_partitions_is_the_command_lines(cls, run, tmp_path):
    for name, keys in (("all.tsv", ISSUED), ("revoked.tsv", REVOKED)):
        (tmp_path / name).write_text("".join(f"{key}\n" for key in keys))
    run("build", "-q", "-o", "f.bloom", "--kind", cls.kind, "--universe", "all.tsv", "--partition", "fields:1",
        "--keys", "fields:2", "revoked.tsv")
    opened = bloomset.open(tmp_path / "f.bloom")
    assert type(opened) is cls and opened == cls.build(REVOKED, ISSUED, partitioned=True)
    assert opened.contains(REVOKED).all() and not opened.covers(["issuer 50\t1"]).any()
