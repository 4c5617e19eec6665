"""The false-positive rate of BF.* filters while they fill."""

import pytest


@pytest.mark.parametrize("rate", [0.25, 0.1, 0.01])
@pytest.mark.parametrize("options", [["NONSCALING"], []], ids=["fixed", "growing"])
def test_items_that_are_taken_for_members_do_not_raise_the_rate(server, rate, options):
    """Overlooked items are not counted, so a full filter was offered more items than it counts."""
    server.call("BF.RESERVE", "f", rate, 30_000, *options)
    added = 0
    for first in range(0, 100_000, 1000):
        replies = server.client.execute_command("BF.MADD", "f", *range(first, first + 1000))
        added += replies.count(1)
        if len(replies) < 1000 or isinstance(replies[-1], Exception):
            break
    state = dict(zip(*[iter(server.call("BF.STATS", "f"))] * 2))
    # Deterministic for these items, which have a probability of some tenths of a percent.
    assert float(state[b"Error rate now"]) <= 1.01 * rate
    if options:
        assert added == 30_000 == server.call("BF.CARD", "f")


@pytest.mark.parametrize("rate", [0.05, 0.01, 0.0001])
@pytest.mark.parametrize("options", [["NONSCALING"], []], ids=["fixed", "growing"])
def test_members_are_found_and_non_members_pass_at_the_asked_rate(server, rate, options):
    n = 20_000
    server.call("BF.RESERVE", "f", rate, n, *options)
    members = [f"member{i}" for i in range(n)]
    server.each("BF.MADD", "f", items=members)
    assert server.each("BF.MEXISTS", "f", items=members) == [1] * n
    non_members = 40_000
    passed = sum(server.each("BF.MEXISTS", "f", items=[f"non-member{i}" for i in range(non_members)]))
    # Six standard deviations of a binomial, and a margin for the variance of the filter itself. The
    # keys are fixed, so the test is deterministic.
    expected = rate * non_members
    assert passed <= 1.03 * expected + 6 * expected ** 0.5
    card = server.call("BF.CARD", "f")
    assert n * (1 - 1.5 * rate) - 6 * (n * rate) ** 0.5 <= card <= n
    one_by_one = server.call_all(["BF.EXISTS", "f", f"non-member{i}"] for i in range(300))
    assert server.call("BF.MEXISTS", "f", *(f"non-member{i}" for i in range(300))) == one_by_one
