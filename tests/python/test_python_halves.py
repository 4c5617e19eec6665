"""Filters with 128-bit hashes, for rates that 64-bit hashes cannot give."""

import pickle

import pytest

import bloomset

KINDS = [bloomset.Bloom, bloomset.BlockedBloom, bloomset.Fuse, bloomset.Ribbon]
MEMBERS = [f"member-{i}" for i in range(3000)]
OTHERS = [f"other-{i}" for i in range(3000)]


@pytest.mark.parametrize("keyed", [False, True])
@pytest.mark.parametrize("cls", KINDS)
def test_it_is_built_asked_and_kept(cls, keyed, tmp_path):
    key = bloomset.new_key() if keyed else None
    name = "siphash-2x64" if keyed else "xxh3-2x64"
    f = cls.build(MEMBERS, fpr=1e-12, hash=name, key=key)
    assert f.contains(MEMBERS).all() and not f.contains(OTHERS).any()
    assert "member-7" in f and "other-7" not in f
    assert f.info()["hash"] == name and f.info()["hash_bits"] == 128
    f.save(tmp_path / "f.bloom")
    for opened in (bloomset.open(tmp_path / "f.bloom", key=key), bloomset.from_bytes(f.to_bytes(), key),
                   pickle.loads(pickle.dumps(f)), f.copy()):
        assert opened == f and opened.contains(MEMBERS).all()


def test_a_low_rate_gets_128_bits_by_itself():
    for cls in KINDS:
        plan = bloomset.plan("500M", 1e-12, kind=cls.kind)
        assert plan.hash_bits == 128 and plan.planned_fpr <= 1e-12
        assert bloomset.plan("500M", 1e-8, kind=cls.kind).hash_bits == 64
    assert bloomset.Fuse.build(range(100), fpr=1e-12).info()["hash_bits"] == 128


@pytest.mark.parametrize("cls", [bloomset.Bloom, bloomset.BlockedBloom])
def test_it_merges_and_takes_more(cls):
    a, b = (cls(10_000, 1e-12, hash="xxh3-2x64") for _ in range(2))
    assert a.update(MEMBERS) == 3000 and a.add("ann") and not a.add("ann")
    b.update(OTHERS)
    both = a | b
    assert both.contains(MEMBERS).all() and both.contains(OTHERS).all()
    with pytest.raises(ValueError):
        a | cls(10_000, 1e-12, seed=1)


def test_what_is_no_hash_function_is_refused():
    for name, key in (("md5", None), ("siphash-2x64", None), ("xxh3-2x64", bloomset.new_key())):
        with pytest.raises(ValueError, match="hash"):
            bloomset.Bloom(10, hash=name, key=key)
    with pytest.raises(ValueError, match="128 bits"):
        bloomset.Cuckoo(10, hash="xxh3-2x64")
