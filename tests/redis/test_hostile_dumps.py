"""Dumps whose numbers were changed: what they make later commands allocate.

A field is set to extreme values, with right checksums. The dump is refused, or the filter takes an
item without more memory than was sent for it, apart from the growth that RESERVE could have asked for.
"""

import struct

import pytest

from redisbloom import FOOTER
from test_storage import sealed
from xxh3 import xxh3_64

MAX_EXPANSION = 32768
INTEGERS = [0, 1, 2, 100, MAX_EXPANSION, MAX_EXPANSION + 1, 1 << 20, 1 << 30, (1 << 30) + 1, (1 << 32) - 1,
            1 << 32, 1 << 47, 1 << 60, (1 << 64) - 1]
REALS = [0.0, 1e-300, 1e-15, 1e-9, 0.25, 0.2500001, 0.5, 0.999999999, 1.0, 1e300, float("inf"), float("nan"), -1.0]
# Each filter when it is new, and when its next item makes it grow.
NATIVE = {
    "growing": (["BF.RESERVE", "k", "0.01", "100"], 120),
    "fixed": (["BF.RESERVE", "k", "0.01", "1000", "NONSCALING"], 900),
    "of 128 bits": (["BF.RESERVE", "k", "1e-20", "100", "NONSCALING"], 90),
    "reserved": (["BF.RESERVE", "k", "0.01", "10000"], 10_000),
    "of two parts": (["BF.RESERVE", "k", "0.01", "10000"], 10_300),
    "deletable": (["BF.RESERVE", "k", "0.01", "1025", "DELETABLE"], 1025),
    "cuckoo": (["CF.RESERVE", "k", "1100"], 1100),
    "fixed cuckoo": (["CF.RESERVE", "k", "300", "EXPANSION", "0"], 300),
}
COMPATIBLE = {
    "chain": (["BF.RESERVE", "k", "0.01", "100", "ENGINE", "COMPATIBLE"], 300),
    "fixed chain": (["BF.RESERVE", "k", "0.01", "100", "NONSCALING", "ENGINE", "COMPATIBLE"], 100),
    "cuckoo chain": (["CF.RESERVE", "k", "64", "EXPANSION", "4", "ENGINE", "COMPATIBLE"], 400),
}


def used_memory(server):
    return server.client.info("memory")["used_memory"]


def make(server, reserve, count):
    """Header and the pieces after it."""
    family = reserve[0][:2]
    server.call("DEL", "k")
    server.call(*reserve)
    server.call(family + ".INSERT", "k", *(["NATIVE"] if "COMPATIBLE" not in reserve else []), "ITEMS", *range(count))
    (_, header), *pieces = server.pieces(family, "k")
    return family, header, pieces


def check_growth(server, family, loads, size, growth=1):
    """Loads a dump of `size` bytes into x. If it was taken, ten items make it grow by no more than `growth`
    times its size, a few times over."""
    before = used_memory(server)
    taken = all(reply == b"OK" for reply in server.call_all(loads))
    if taken:
        server.call_all([[family + ".ADD", "x", f"new{i}"] for i in range(10)])
        assert used_memory(server) - before <= 20 * growth * size + (64 << 10), loads[0]
        server.call_all([[family + ".STATS", "x"], [family + ".INFO", "x"], [family + ".DEL", "x", "new1"],
                         ["DUMP", "x"]])
    server.call("DEL", "x")
    return taken


def integers(at, *widths):
    return [(at, value.to_bytes(width, "little")) for width in widths for value in INTEGERS if value < 1 << 8 * width]


def reals(at):
    return [(at, struct.pack("<d", value)) for value in REALS]


def changed(header, at, value):
    return header[:at] + value + header[at + len(value):]


@pytest.mark.parametrize("name", NATIVE)
def test_a_native_dump_takes_no_more_than_it_brings(server, name):
    server.call("CONFIG", "SET", "rdbcompression", "no")
    reserve, full = NATIVE[name]
    outcomes = set()
    for count in (1, full):
        family, header, pieces = make(server, reserve, count)
        payload = server.call("DUMP", "k")
        server.call("DEL", "k")
        hostile = [sealed(changed(header, at, value)) for at in range(12, 56, 2)
                   for at, value in integers(at, *(w for w in (2, 4, 8) if at % w == 0 and at + w <= 56))]
        hostile += [sealed(changed(header, at, value)) for at, value in reals(32)]
        start = 64  # of a part's file header: 64 bytes and parameters, whose checksum is at 56
        for size in filter(None, struct.unpack_from("<II", header, 48)):
            for at in [*range(start + 8, start + 56, 4), *range(start + 64, start + size, 4)]:
                for at, value in integers(at, *((4, 8) if at % 8 == 0 else (4,))) + (reals(at) if at % 8 == 0 else []):
                    c = changed(header, at, value)
                    seal = xxh3_64(c[start:start + 56] + c[start + 64:start + size]).to_bytes(8, "little")
                    hostile.append(changed(c, start + 56, seal))
            start += size
        total = len(header) + sum(len(data) for _, data in pieces)
        for number, c in enumerate(hostile):
            loads = [["RESTORE", "x", 0, payload.replace(header, c)]] if number % 2 else \
                [[family + ".LOADCHUNK", "x", 1, c]] + [[family + ".LOADCHUNK", "x", *piece] for piece in pieces]
            outcomes.add(check_growth(server, family, loads, total))
    assert outcomes == {True, False}


CHAIN_FIELDS = [integers(0, 8), integers(8, 4), integers(12, 4), integers(16, 4),
                *(field for link in (20, 73) for field in (
                    integers(link, 8), integers(link + 8, 8), integers(link + 16, 8), reals(link + 24),
                    reals(link + 32), integers(link + 40, 4), integers(link + 44, 8), integers(link + 52, 1)))]
CUCKOO_FIELDS = [integers(0, 8), integers(8, 8), integers(16, 8), integers(24, 8), integers(32, 2), integers(34, 2),
                 integers(36, 2)]


@pytest.mark.parametrize("name", COMPATIBLE)
def test_a_compatible_header_takes_no_more_than_it_brings(server, name):
    reserve, full = COMPATIBLE[name]
    for count in (1, full):
        family, header, pieces = make(server, reserve, count)
        server.call("DEL", "k")
        total = len(header) + sum(len(data) for _, data in pieces)
        for at, value in sum(CHAIN_FIELDS if family == "BF" else CUCKOO_FIELDS, []):
            if at + len(value) > len(header):
                continue
            c = changed(header, at, value)
            growth = struct.unpack_from("<I", c, 16)[0] if family == "BF" else struct.unpack_from("<H", c, 36)[0]
            loads = [[family + ".LOADCHUNK", "x", 1, c]] + [[family + ".LOADCHUNK", "x", *piece] for piece in pieces]
            taken = check_growth(server, family, loads, total, max(1, growth))
            assert not (taken and growth > MAX_EXPANSION)


class ModuleValue:
    """The fields of DUMP's payload of a module's value, to change and write again."""

    def __init__(self, payload):
        self.begin, self.end, self.fields = payload[:10], payload[-FOOTER:], []
        at, end = 10, len(payload) - FOOTER
        while payload[at] != 0:
            kind, at = payload[at], at + 1
            if kind == 4:
                self.fields.append((kind, payload[at:at + 8]))
                at += 8
                continue
            number, at = self.length(payload, at)
            if kind == 5:
                self.fields.append((kind, payload[at:at + number]))
                at += number
            else:
                self.fields.append((kind, number))
        assert at + 1 == end and self.written() == payload

    @staticmethod
    def length(payload, at):
        first = payload[at]
        width = {0: 1, 1: 2, 2: 9 if first == 0x81 else 5}[first >> 6]
        number = int.from_bytes(payload[at:at + width], "big")
        return number & (1 << (6, 14, 64 if width == 9 else 32)[first >> 6]) - 1, at + width

    def written(self):
        out = bytearray(self.begin)
        for kind, value in self.fields:
            out.append(kind)
            if kind != 4:
                n = len(value) if kind == 5 else value
                out += (bytes([n]) if n < 64 else (n | 0x4000).to_bytes(2, "big") if n < 1 << 14
                        else b"\x80" + n.to_bytes(4, "big") if n < 1 << 32 else b"\x81" + n.to_bytes(8, "big"))
            if kind != 2:
                out += value
        return bytes(out) + b"\0" + self.end


@pytest.mark.parametrize("name", COMPATIBLE)
def test_a_compatible_rdb_value_takes_no_more_than_it_brings(server, name):
    server.call("CONFIG", "SET", "rdbcompression", "no")
    reserve, full = COMPATIBLE[name]
    for count in (1, full):
        family = make(server, reserve, count)[0]
        payload = server.call("DUMP", "k")
        server.call("DEL", "k")
        value = ModuleValue(payload)
        growth_field = 3 if family == "BF" else 6
        for i, (kind, old) in enumerate(value.fields):
            for new in INTEGERS if kind == 2 else [struct.pack("<d", real) for real in REALS] if kind == 4 else []:
                value.fields[i] = (kind, new)
                growth = value.fields[growth_field][1]
                taken = check_growth(server, family, [["RESTORE", "x", 0, value.written()]], len(payload),
                                     max(1, growth))
                assert not (taken and growth > MAX_EXPANSION)
            value.fields[i] = (kind, old)


def test_an_expansion_that_reserve_refuses_is_refused_by_loadchunk_and_restore(server):
    server.call("CONFIG", "SET", "rdbcompression", "no")
    _, header, _ = make(server, *COMPATIBLE["chain"])
    value = ModuleValue(server.call("DUMP", "k"))
    for growth, refused in ((MAX_EXPANSION, False), (MAX_EXPANSION + 1, True), ((1 << 32) - 1, True)):
        value.fields[3] = (2, growth)
        reply = server.call_all([["BF.LOADCHUNK", "x", 1, changed(header, 16, growth.to_bytes(4, "little"))],
                                 ["RESTORE", "y", 0, value.written()]])
        assert [r == b"OK" for r in reply] == [not refused] * 2
        server.call("DEL", "x", "y")


def test_a_window_that_reserve_refuses_is_refused_by_loadchunk(server):
    """Its generations are made as items arrive."""
    server.call("BF.RESERVE", "k", "0.01", "100", "WINDOW", "3600")
    header = server.call("BF.SCANDUMP", "k", 0)[1]
    for capacity, rate in ((1 << 30, 0.01), (1 << 30, 1e-12), (100, 1e-40)):
        c = sealed(changed(changed(header, 40, struct.pack("<Q", capacity)), 32, struct.pack("<d", rate)))
        why = server.error("BF.RESERVE", "x", rate, capacity, "WINDOW", "3600")
        assert server.error("BF.LOADCHUNK", "x", 1, c) == (why if "larger" in why else "ERR received bad data")
    assert server.call("EXISTS", "x") == 0
