"""Planned rates against the literature's formulas in 60 digits, which lose nothing to cancellation."""

import itertools
import json
import subprocess
from os import environ

import pytest
from mpmath import binomial, exp, log1p, mp, mpf

mp.dps = 60

BLOOMSET = environ["BLOOMSET"]
KEYS = [1, 2, 10, 47, 377, 12_345, 314_159_265, 10**10]
RATES = [0.25, 0.05, 0.01, 0.001, 3e-5, 1e-7]
TOLERANCE = 1e-9


def plan(kind: str, n: int, fpr: float, *more: str) -> dict | None:
    """What `bloomset plan --json` says, or None where it refuses."""
    command = [BLOOMSET, "plan", "--json", "--kind", kind, "--capacity", str(n), "--fpr", repr(fpr), *more]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else None


def collisions(n: int) -> mpf:
    return mpf(n) / 2**64


def distinct(places: int, k: int) -> list[mpf]:
    """P(k throws at so many places hit d distinct ones), d = 0 to k."""
    chance = [mpf(1)] + [mpf(0)] * k
    for _ in range(k):
        for d in range(k, 0, -1):
            chance[d] = (chance[d] * d + chance[d - 1] * (places - (d - 1))) / places
        chance[0] = mpf(0)
    return chance


def bloom(n: int, m: int, k: int) -> mpf:
    """bloom_fpr of formulas.hpp: exact below 4096 bits, the expansion to the variance beyond."""
    throws = n * k
    if m < 4096:
        empty = [(1 - mpf(j) / m) ** throws for j in range(k + 1)]
        hit = distinct(m, k)
        return sum(
            hit[d] * sum((-1) ** j * binomial(d, j) * empty[j] for j in range(d + 1)) for d in range(1, min(k, m) + 1)
        )
    q = (1 - mpf(1) / m) ** throws
    q2 = (1 - mpf(2) / m) ** throws
    variance = q / m + (1 - mpf(1) / m) * q2 - q * q
    return (1 - q) ** k * (1 + max(0, mpf(k) * (k - 1) / 2 * variance / (1 - q) ** 2))


def mean_power(r: mpf, n: int, blocks: int) -> mpf:
    return (1 - (1 - r) / blocks) ** n


def split_blocks(n: int, blocks: int, lane_bits: int) -> mpf:
    stays = 1 - mpf(1) / lane_bits
    return sum((-1) ** j * binomial(8, j) * mean_power(stays**j, n, blocks) for j in range(9))


def free_blocks(n: int, blocks: int, k: int) -> mpf:
    hit = distinct(512, k)
    left = [mean_power((1 - mpf(j) / 512) ** k, n, blocks) for j in range(k + 1)]
    return sum(hit[d] * sum((-1) ** j * binomial(d, j) * left[j] for j in range(d + 1)) for d in range(1, k + 1))


def blocked(n: int, fpr: float, layout: str) -> tuple[float, mpf] | None:
    said = plan("blocked_bloom", n, fpr, "--with", f"layout={layout}")
    if said is None:
        return None
    blocks = said["extras"]["blocks"]
    if layout == "free":
        return said["planned_fpr"], free_blocks(n, blocks, said["hashes"])
    return said["planned_fpr"], split_blocks(n, blocks, 64 if layout == "split" else 32)


def classic(n: int, fpr: float) -> tuple[float, mpf] | None:
    said = plan("bloom", n, fpr)
    return said and (said["planned_fpr"], bloom(n, said["bits"], said["hashes"]))


def cuckoo(n: int, fpr: float) -> tuple[float, mpf] | None:
    said = plan("cuckoo", n, fpr)
    if said is None:
        return None
    buckets = said["extras"]["buckets"]
    pairs = mpf(buckets) * (2 ** said["extras"]["fingerprint_bits"] - 1)

    def hit(weight: int) -> mpf:
        return 1 - exp(n * log1p(-weight / pairs))

    if buckets == 1:
        return said["planned_fpr"], hit(1)
    selfpaired = mpf(1) / buckets if buckets % 2 else mpf(0)
    return said["planned_fpr"], (1 - selfpaired) * hit(2) + selfpaired * hit(1)


def vector_quotient(n: int, fpr: float) -> tuple[float, mpf] | None:
    said = plan("vector_quotient", n, fpr)
    if said is None:
        return None
    tags = said["extras"]["buckets"] * 2 ** said["extras"]["remainder_bits"]
    blocks = said["extras"]["blocks"]
    return said["planned_fpr"], 1 - (1 - mpf(1 if blocks == 1 else 2) / (blocks * tags)) ** n


def fuse(n: int, fpr: float) -> tuple[float, mpf] | None:
    said = plan("fuse", n, fpr)
    return said and (said["planned_fpr"], mpf(2) ** -said["extras"]["fingerprint_bits"])


@pytest.mark.parametrize(
    "rates",
    [
        classic,
        cuckoo,
        vector_quotient,
        fuse,
        *[lambda n, fpr, layout=layout: blocked(n, fpr, layout) for layout in ("split", "free", "parquet")],
    ],
    ids=["bloom", "cuckoo", "vector_quotient", "fuse", "split", "free", "parquet"],
)
def test_planned_rates_are_the_formulas(rates) -> None:
    compared = 0
    for n, fpr in itertools.product(KEYS, RATES):
        found = rates(n, fpr)
        if found is None:
            continue
        planned, formula = found
        expected = formula + collisions(n)
        assert abs(planned / expected - 1) < TOLERANCE, f"{n} keys at {fpr}: {planned}, not {expected}"
        compared += 1
    assert compared >= 33
