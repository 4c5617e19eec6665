"""What an adversary achieves against filters of a server, with XXH3 and with a secret key.

The adversary who sees answers asks $BLOOMSET_ADVERSARY_ITEMS new items, 150,000 without it. The one
who measures times asks $BLOOMSET_ADVERSARY_TIMES items of each sort, 50 without it.
"""

import bisect
import os
import random
import socket
import statistics
import time

import pytest

from xxh3 import MASK, MIX_2, SECRET, u64, xxh3_64

ITEMS = [f"item{i}" for i in range(1000)]
ROOM = 20_000
# Commands that reserve the filter f; one of them grows to ROOM items.
RESERVE = {
    "bf": ["BF.RESERVE", "f", "0.01", ROOM, "NONSCALING"],
    "bf deletable": ["BF.RESERVE", "f", "0.01", ROOM, "NONSCALING", "DELETABLE"],
    "bf growing": ["BF.RESERVE", "f", "0.01", "1000"],
    "cf": ["CF.RESERVE", "f", ROOM, "ERROR", "0.01"],
}


def key_of(value):
    """The eight bytes whose XXH3 is that: the steps of XXH3 for that length, undone from the last."""
    def unshifted(y, n):
        x = y
        for _ in range(64 // n):
            x = y ^ x >> n
        return x

    def rotated(x, n):
        n %= 64
        return (x << n | x >> (64 - n)) & MASK if n else x

    undo = pow(MIX_2, -1, 1 << 64)
    x = unshifted(value, 28) * undo & MASK
    x = (x ^ (x >> 35) + 8) * undo & MASK
    # The last step is x ^ rotl(x, 49) ^ rotl(x, 24), whose 64th power is the identity.
    for power in (1, 2, 4, 8, 16, 32):
        x ^= rotated(x, 49 * power) ^ rotated(x, 24 * power)
    x ^= u64(SECRET, 8) ^ u64(SECRET, 16)
    key = rotated(x, 32).to_bytes(8, "little")
    assert xxh3_64(key) == value
    return key


# Other keys with the XXH3 of each item.
TWINS = [key_of(xxh3_64(item.encode())) for item in ITEMS]


@pytest.mark.parametrize("kind", RESERVE)
def test_positives_are_computed_without_a_query_unless_the_filter_has_a_key(start, kind):
    server = start(module_arguments=None)
    family = kind[:2].upper()
    for options in ["HASH", "XXH3"], []:
        server.call("DEL", "f")
        server.call(*RESERVE[kind], *options)
        server.call(family + ".INSERT", "f", "ITEMS", *ITEMS)
        passed = sum(server.call(family + ".MEXISTS", "f", *TWINS))
        if options:
            assert passed == 1000
        else:
            # At most 10 are expected; more than 60 have a probability below 10^-20.
            assert passed <= 60


@pytest.mark.parametrize("kind", ["bf deletable", "cf"])
def test_deletions_of_computed_positives_remove_the_items_unless_the_filter_has_a_key(start, kind):
    server = start(module_arguments=None)
    family = kind[:2].upper()
    for options in ["HASH", "XXH3"], []:
        server.call("DEL", "f")
        server.call(*RESERVE[kind], *options)
        server.call(family + ".INSERT", "f", "ITEMS", *ITEMS)
        deleted = sum(server.call_all([family + ".DEL", "f", twin] for twin in TWINS))
        left = sum(server.call(family + ".MEXISTS", "f", *ITEMS))
        if options:
            # Only items that pass by chance are left: 10 at most are expected.
            assert deleted == 1000 and left <= 60
        else:
            # A deletion that finds a match removes one item at most.
            assert deleted <= 60 and left >= 1000 - deleted


class Adversary:
    """Sees all answers. Asks new items and changed positives, repeats positives, inserts items that
    pass and items that do not, and removes items that it inserted."""

    def __init__(self, server, kind, seed):
        self.server = server
        self.family = kind[:2].upper()
        self.deletes = kind in ("bf deletable", "cf")
        self.random = random.Random(seed)
        self.own, self.found = [], []
        self.asked = self.passed = self.repeated = self.still = self.removed = 0

    def call(self, command, *items):
        return self.server.call(f"{self.family}.{command}", "f", *items)

    def changed(self, item):
        at, other = self.random.sample(range(len(item)), 2)
        item = bytearray(item)
        for i in at, other:
            item[i] ^= self.random.randint(1, 255)
        return bytes(item)

    def step(self, room):
        new = [self.random.randbytes(12) for _ in range(500)]
        new += [self.changed(self.random.choice(self.found or new)) for _ in range(500)]
        answers = self.call("MEXISTS", *new)
        self.asked += len(new)
        self.passed += sum(answers)
        if self.found:
            repeated = self.random.choices(self.found, k=100)
            self.repeated += 100
            self.still += sum(self.call("MEXISTS", *repeated))
        positives = [item for item, passes in zip(new, answers) if passes]
        # Half of the positives are inserted, with items that answered "no" and so set a bit.
        inserted = positives[::2] + [item for item, passes in zip(new, answers) if not passes][:290]
        self.found += positives[1::2]
        if room - len(self.own) < len(inserted):
            inserted = []
        if inserted:
            replies = self.call("INSERT", "ITEMS", *inserted)
            assert len(replies) == len(inserted) and all(reply in (0, 1) for reply in replies)
            self.own += inserted
        if self.deletes and (not inserted or self.random.random() < 0.3):
            self.random.shuffle(self.own)
            removed = [self.own.pop() for _ in range(min(300, len(self.own)))]
            assert set(self.server.call_all([self.family + ".DEL", "f", item] for item in removed)) <= {1}
            self.removed += len(removed)


@pytest.mark.parametrize("kind", RESERVE)
def test_an_adversary_who_sees_answers_makes_no_filter_with_a_key_worse(start, kind):
    """At most 1% of the new items are expected to pass. Of 150,000, more than 2% do with a probability
    below 10^-100."""
    server = start(module_arguments=None)
    server.call(*RESERVE[kind])
    adversary = Adversary(server, kind, seed=1)
    adversary.call("INSERT", "ITEMS", *ITEMS)
    for _ in range(int(os.environ.get("BLOOMSET_ADVERSARY_ITEMS", 150_000)) // 1000):
        adversary.step(ROOM - len(ITEMS))
    print(f"{kind}: {adversary.passed} of {adversary.asked} new items passed, {adversary.still} of "
          f"{adversary.repeated} repeated, {len(adversary.own) + adversary.removed} inserted, "
          f"{adversary.removed} removed")
    assert adversary.passed <= 0.02 * adversary.asked
    assert adversary.call("MEXISTS", *ITEMS) == [1] * 1000
    assert all(server.each(kind[:2].upper() + ".MEXISTS", "f", items=adversary.own))
    if adversary.deletes:
        assert adversary.removed > 10_000
    else:
        assert adversary.still == adversary.repeated > 10_000


def longer(first, second):
    """The probability that the time of one of the first is the longer one, plus half of that of equal
    times, and by how many standard deviations it differs from 1/2 (Mann and Whitney's test)."""
    second = sorted(second)
    n, m = len(first), len(second)
    share = sum(bisect.bisect_left(second, t) + bisect.bisect_right(second, t) for t in first) / (2 * n * m)
    return share, (share - 0.5) / ((n + m + 1) / (12 * n * m)) ** 0.5


def min_times(server, items, request_of, reply_bytes):
    """The nanoseconds until the reply to each item's request: the least of 15, sent in random order."""
    times = [float("inf")] * len(items)
    order = list(range(len(items)))
    draw = random.Random(1)
    with socket.create_connection((server.host, server.port)) as link:
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(15):
            draw.shuffle(order)
            for i in order:
                request = request_of(items[i])  # made now, so that all are equally in the cache
                begin = time.perf_counter_ns()
                link.sendall(request)
                reply = link.recv(4096)
                end = time.perf_counter_ns()
                assert len(reply) == reply_bytes and reply[:1] in b"*:"
                times[i] = min(times[i], end - begin)
    return times


@pytest.mark.parametrize("kind", RESERVE)
def test_times_over_loopback(start, kind):
    """Prints how often a member's reply takes longer than another item's, to a query of one item and to
    one of 100 copies of it. Two sets of non-members differ by 6.5 standard deviations with a
    probability of 10^-10."""
    server = start(module_arguments=None)
    family = kind[:2].upper()
    server.call(*RESERVE[kind])
    draw = random.Random(1)
    items = [draw.randbytes(12) for _ in range(ROOM - 1000)]
    server.each(family + ".INSERT", "f", "ITEMS", items=items)
    size = int(os.environ.get("BLOOMSET_ADVERSARY_TIMES", 50))
    new = [draw.randbytes(12) for _ in range(3 * size)]
    absent = [item for item, passes in zip(new, server.call(family + ".MEXISTS", "f", *new)) if not passes]
    sets = {"oldest": items[:size], "newest": items[-size:], "absent": absent[:size],
            "control": absent[size:2 * size]}
    for command, copies, reply_bytes in (".EXISTS", 1, 4), (".MEXISTS", 100, 406):
        words = f"*{2 + copies}\r\n${len(family + command)}\r\n{family}{command}\r\n$1\r\nf\r\n".encode()
        measured = min_times(server, sum(sets.values(), []),
                            lambda item: words + copies * (b"$12\r\n%s\r\n" % item), reply_bytes)
        times = {name: measured[i * size:(i + 1) * size] for i, name in enumerate(sets)}
        text = f"{kind}, {family}{command} of {copies}, {statistics.median(measured) / 1000:.1f} us"
        for first, second in ("control", "absent"), ("newest", "absent"), ("oldest", "newest"):
            share, deviations = longer(times[first], times[second])
            text += f", {first} against {second} {share:.1%} ({deviations:+.1f})"
            assert first != "control" or abs(deviations) < 6.5
        print(text)
