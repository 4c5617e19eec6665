"""Filters of Dask's collections, by workers that are processes, are the files of the command line."""

import doctest
import os
import sys
import time

import bloomset
import engines
import pytest
from conftest import ROOT, hexadecimal, kinds_that

engines.need(*engines.ARROW)
engines.need("dask", "dask==2026.8.0", "distributed==2026.8.0")

# Workers are forked from a process that has read the packages, which takes less than when each of them reads them.
os.environ["PYTHONPATH"] = os.pathsep.join(sys.path)
os.environ["DASK_DISTRIBUTED__WORKER__MULTIPROCESSING_METHOD"] = "forkserver"

import dask.array  # noqa: E402
import dask.bag  # noqa: E402
import dask.dataframe  # noqa: E402
import dask.distributed  # noqa: E402
import pandas  # noqa: E402

import bloomset.dask  # noqa: E402

N = 70_000
NAMES = [f"user{i}" for i in range(N)]


@pytest.fixture(scope="module")
def client():
    with dask.distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True,
                                       dashboard_address=None) as cluster:
        with dask.distributed.Client(cluster) as client:
            yield client


def names(n, npartitions):
    return dask.bag.range(n, npartitions=npartitions).map("user{}".format)


def test_a_bag_with_repetitions(client, file_of):
    keys = dask.bag.concat([names(N, 18), names(1000, 2)])
    known = bloomset.dask.build(keys, fpr="0.1%")
    assert known.to_bytes() == file_of(NAMES + NAMES[:1000], "--fpr", "0.1%")
    found = bloomset.dask.contains(keys.map(str.upper), known)
    assert found.npartitions == 20
    assert sum(found.compute()) < N * 0.002  # 71 are expected


def test_copies_of_counted_keys_have_room(client):
    keys = dask.bag.concat([names(20_000, 2), names(20_000, 3)])
    known = bloomset.dask.build(keys, kind="cuckoo")
    assert known.capacity > 40_000 and known.contains(NAMES[:20_000]).all()
    with pytest.raises(bloomset.FullError, match="do not all fit"):
        bloomset.dask.build(keys, kind="cuckoo", capacity=30_000)
    with pytest.raises(bloomset.FullError, match="as many copies"):
        bloomset.dask.build(dask.bag.from_sequence(["ann"] * 100, npartitions=3), kind="cuckoo")


@pytest.mark.parametrize("kind", kinds_that("merge", any_order=True))
def test_few_keys_a_capacity_and_kinds(client, file_of, kind):
    keys = names(3000, 3)
    assert bloomset.dask.build(keys, kind=kind).to_bytes() == file_of(NAMES[:3000], "--kind", kind)
    sized = bloomset.dask.build(keys, kind=kind, capacity="10k", seed=9)
    assert sized.to_bytes() == file_of(NAMES[:3000], "--kind", kind, "--capacity", 10_000, "--seed", 9)


def test_arrays(client, file_of, tmp_path):
    numbers = dask.array.arange(-5000, 70_000, chunks=20_000)
    known = bloomset.dask.build(numbers, fpr=1e-6)
    assert known.to_bytes() == file_of(hexadecimal(range(-5000, 70_000)), "--keys", "hex", "--fpr", "1e-6")
    plane = dask.array.arange(69_000, 71_000, chunks=500).reshape(40, 50)
    known.save(tmp_path / "known.bloom")
    for filter in (known, tmp_path / "known.bloom"):
        found = bloomset.dask.contains(plane, filter)
        assert found.shape == (40, 50) and found.dtype == bool
        assert (found.compute() == (plane.compute() < 70_000)).all()
    assert bloomset.dask.build(plane, capacity=2000) == bloomset.dask.build(plane.ravel(), capacity=2000)


def test_columns_of_frames(client, file_of, tmp_path):
    rows = pandas.DataFrame({"name": [*NAMES[:5000], None], "id": pandas.array([*range(5000), None], "Int64")},
                            index=range(10, 5011))
    rows.to_parquet(tmp_path / "rows.parquet", row_group_size=1000)
    frame = dask.dataframe.read_parquet(tmp_path / "rows.parquet").repartition(npartitions=3)
    names = bloomset.dask.build(frame["name"])
    assert names.to_bytes() == file_of(NAMES[:5000])
    ids = bloomset.dask.build(frame["id"].astype("Int64"))
    assert ids.to_bytes() == file_of(hexadecimal(range(5000)), "--keys", "hex")
    few = bloomset.Bloom.build(NAMES[:10], fpr=1e-9)
    found = frame[bloomset.dask.contains(frame["name"], few)].compute()
    assert found["name"].tolist() == NAMES[:10] and found.index.tolist() == list(range(10, 20))
    answers = bloomset.dask.contains(frame["name"], few)
    assert answers.dtype == bool and answers.name == "name" and answers.compute().sum() == 10


def test_a_size_that_is_not_known(client, file_of, tmp_path, run):
    keys = names(5000, 5)
    large = bloomset.dask.build(keys, capacity=1_000_000, foldable="yes")
    small = large.fold()
    small.settle_count()
    file_of(NAMES[:5000], "--capacity", 1_000_000, "--with", "foldable=yes")
    run("fold", "-o", "small.bloom", "lines.bloom")
    assert small.to_bytes() == (tmp_path / "small.bloom").read_bytes()
    assert small.nbytes < 2 * bloomset.BlockedBloom(5000).nbytes


@pytest.mark.parametrize("kind", kinds_that("merge", any_order=False))
def test_kinds_whose_bytes_depend_on_the_order(client, kind):
    keys = names(5000, 5)
    known = bloomset.dask.build(keys, kind=kind)
    assert known.contains(NAMES[:5000]).all() and known.info()["count"] == 5000
    assert known.current_fpr() <= 0.01


def killed_once(part, marker):
    """Kills its worker the first time."""
    try:
        os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return part
    time.sleep(0.2)  # other partitions are filled meanwhile
    os._exit(1)


def test_a_worker_is_killed(client, file_of, tmp_path):
    keys = names(5000, 10)
    risky = keys.map_partitions(killed_once, str(tmp_path / "killed"))
    assert bloomset.dask.build(risky, capacity=5000).to_bytes() == file_of(NAMES[:5000], "--capacity", 5000)
    assert (tmp_path / "killed").exists()


def test_what_cannot_be():
    keys = dask.bag.from_sequence(NAMES[:10])
    with pytest.raises(ValueError, match="kind ribbon cannot be merged; kinds that can: blocked_bloom, "):
        bloomset.dask.build(keys, kind="ribbon")
    frame = dask.dataframe.from_pandas(pandas.DataFrame({"x": [1.5]}))
    for use in (bloomset.dask.build, lambda keys: bloomset.dask.contains(keys, bloomset.Bloom(10))):
        with pytest.raises(TypeError, match="give one of its columns"):
            use(frame)
    with pytest.raises(TypeError, match="type float64 has no keys"):
        bloomset.dask.build(frame["x"])
    with pytest.raises(FileNotFoundError):
        bloomset.dask.contains(dask.array.arange(3), "/nonexistent/f.bloom").compute()


def test_examples(client, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = doctest.testmod(bloomset.dask, extraglobs={"bloomset": bloomset})
    assert done.failed == 0 and done.attempted > 0
    engines.run_examples("use/distributed.md", "Dask")


def test_every_filter_gives_the_same_answers(client):
    """The matrix of tests/doors. The values of a series have the types of Arrow."""
    sys.path.append(str(ROOT / "tests" / "doors"))
    import matrix
    from doors import Arrow

    class Dask(matrix.Door):
        name = "Dask"

        def answers(self, filters):
            keys = {name: dask.dataframe.from_pandas(pandas.Series(pandas.arrays.ArrowExtensionArray(array), name=name),
                                                     npartitions=2) for name, array in Arrow().arrays.items()}
            found = dask.compute({(case.kind, case.variant): {name: bloomset.dask.contains(keys[name], case.filter)
                                                              for name in self.types} for case in filters})[0]
            return {case: {name: answers.tolist() for name, answers in of_case.items()} for case, of_case in found.items()}

    filters = matrix.cases()[0]
    cells = matrix.check(Dask(), filters)
    assert len(cells) == len(filters) * len(matrix.TYPES) and set(cells.values()) == {(0, 0)}
