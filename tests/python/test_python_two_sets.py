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
