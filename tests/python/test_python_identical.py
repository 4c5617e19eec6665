"""Equal keys give the file of `bloomset build`, also in parts, in any order and with repetitions."""

import pickle
import random

import bloomset
import pytest
from conftest import kinds_that

ANY_ORDER = kinds_that("merge", any_order=True)
NUMBERS = (1, 3000, 65_536, 65_537, 150_000)


def in_parts(keys, kind, n=3, **options):
    """As several machines do it: each counts its keys, then each fills a filter for all."""
    parts = [keys[i::n] for i in range(n)]
    counter = bloomset.KeyCounter(seed=options.get("seed"))
    for part in parts:
        one = bloomset.KeyCounter(seed=options.get("seed"))
        one.update(part)
        counter |= pickle.loads(pickle.dumps(one))
    cls = bloomset.KINDS[kind]
    filter = cls(counter.capacity(kind), **options)
    for part in reversed(parts):
        one = cls(counter.capacity(kind), **options)
        one.update(part)
        filter |= one
    filter.settle_count()
    return filter


@pytest.mark.parametrize("n", NUMBERS)
@pytest.mark.parametrize("kind", ANY_ORDER)
def test_counted_in_parts(file_of, kind, n):
    keys = [f"user{i}" for i in range(n)]
    keys += keys[: n // 2]
    random.Random(n).shuffle(keys)
    assert in_parts(keys, kind).to_bytes() == file_of(keys, "--kind", kind)


def test_with_a_seed_a_rate_and_a_capacity(file_of, tmp_path):
    keys = [f"user{i}" for i in range(80_000)] * 2
    assert in_parts(keys, "bloom", seed=7, fpr="0.1%").to_bytes() == file_of(
        keys, "--kind", "bloom", "--seed", 7, "--fpr", "0.1%")
    f = bloomset.BlockedBloom.build(keys, capacity=100_000)
    f.settle_count()
    f.save(tmp_path / "f.bloom")
    assert (tmp_path / "f.bloom").read_bytes() == file_of(keys, "--capacity", 100_000)


def test_counters_have_the_key_of_their_filter():
    key = bloomset.new_key()
    counter = bloomset.KeyCounter(key=key)
    counter.update(range(10), [3, 4])
    again = pickle.loads(pickle.dumps(counter))
    again |= counter
    assert again.capacity("bloom") == 10 and again.capacity("cuckoo") == 24
    with pytest.raises(ValueError, match="different seeds or keys"):
        again |= bloomset.KeyCounter()
    with pytest.raises(ValueError, match="not the state of a counter"):
        again._counter._merge(b"12345678")
    with pytest.raises(ValueError, match="nokind"):
        again.capacity("nokind")


def test_a_mapped_filter_keeps_its_count(tmp_path):
    bloomset.Bloom.build(range(1000)).save(tmp_path / "f.bloom")
    before = (tmp_path / "f.bloom").read_bytes()
    bloomset.open(tmp_path / "f.bloom").settle_count()
    assert (tmp_path / "f.bloom").read_bytes() == before
