"""Files of other programs that are recognised but not read: name -> (content, what sentences call it)."""

import math
import pickle
import struct


def pybloom(rate=0.01, slices=7, slice_bits=1370):
    return struct.pack("<dQQQQ", rate, slices, slice_bits, 1000, 0) + bytes((slices * slice_bits + 7) // 8)


def pyprobables(keys=1000, rate=0.01):
    rate = struct.unpack("f", struct.pack("f", rate))[0]
    bits = math.ceil(-keys * math.log(rate) / math.log(2) ** 2)
    return bytes([0x55]) * math.ceil(bits / 8) + struct.pack("<QQf", keys, 3, rate)


def pyprobables_of_counters(keys=1000, rate=0.05):
    """As CountingBloomFilter(1000, 0.05).export() writes it, and of all zeros."""
    rate = struct.unpack("f", struct.pack("f", rate))[0]
    return bytes(4 * math.ceil(-keys * math.log(rate) / math.log(2) ** 2)) + struct.pack("<QQf", keys, 1, rate)


def pyprobables_that_grows(filters=4, keys=100, rate=0.05):
    rate = struct.unpack("f", struct.pack("f", rate))[0]
    bits = math.ceil(-keys * math.log(rate) / math.log(2) ** 2)
    one = struct.pack("<Q", keys) + bytes([0x55]) * math.ceil(bits / 8)
    return one * filters + struct.pack("<QQQf", filters, keys, filters * keys, rate)


FILES = {
    "000005.ldb": (bytes(100) + bytes.fromhex("57fb808b247547db"), "a LevelDB table (SSTable)"),
    "000007.sst": (bytes(100) + bytes.fromhex("f7cff485b741e288"), "a RocksDB table (SSTable)"),
    "data.orc": (b"ORC\x0a\x0b\0\1\2" + bytes(60) + b"ORC\x17", "an ORC file"),
    "seen.pickle": (b"\x80\x04\x95\x40\0\0\0\0\0\0\0\x8c\x14pybloom_live.pybloom\x94\x8c\x0bBloomFilter\x94\x93.",
                    "a pickle of pybloom"),
    "list.pickle": (pickle.dumps(["a", "b"], protocol=4), "a pickle of Python"),
    "seen.pybloom": (pybloom(), "a filter of pybloom"),
    "seen.scalable": (struct.pack("<idQdlQ", 2, 0.9, 100, 0.001, 1, len(pybloom())) + pybloom(),
                      "a scalable filter of pybloom"),
    "seen.blm": (pyprobables(), "a filter of pyprobables"),
    "seen.cbm": (pyprobables_of_counters(), "a filter of pyprobables"),
    "seen.ebf": (pyprobables_that_grows(), "a filter of pyprobables that grows"),
    "seen.cms": (bytes(20000) + struct.pack("<IIq", 1000, 5, 1), "a count-min sketch of pyprobables"),
    "seen.cko": (bytes(16000) + struct.pack("<II", 4, 500), "a cuckoo filter of pyprobables"),
    "seen.bff": (struct.pack("<III", 0x81f0f117, 1, 2) + bytes(range(64)) + struct.pack("<Q", 4) + bytes(16),
                 "a filter of dolma or bff"),
    "ids.roaring": (struct.pack("<IIHHI", 12346, 1, 0, 2, 16) + struct.pack("<HHH", 1, 5, 9), "a Roaring bitmap"),
    "ids64.roaring": (struct.pack("<QI", 1, 7) + struct.pack("<IIHHI", 12346, 1, 0, 0, 16) + struct.pack("<H", 1),
                      "a Roaring bitmap"),
    "none.roaring": (struct.pack("<II", 12346, 0), "a Roaring bitmap"),
    "commit-graph": (b"CGPH\1\1\4\0" + bytes(60), "a commit-graph of git"),
    "dump.rdb": (b"REDIS0011\xfa\x09redis-ver\x067.0.15\xff" + bytes(8), "an RDB file of Redis or Valkey"),
    "newer.rdb": (b"VALKEY080\xfa\x0avalkey-ver\x059.0.0\xff" + bytes(8), "an RDB file of Redis or Valkey"),
    "visitors.dump": (bytes.fromhex("07816e5a2899f96dac010201010202047b14ae47e17a843f") + bytes(60),
                      "a filter of valkey-bloom as DUMP replies it"),
    "fltr00000.dat": (bytes(range(1, 200)), "a file of BIP 158's block filters"),
    "seen.rbloom": (struct.pack("<Q", 7) + bytes([0x5a]) * 1200, "perhaps a filter of rbloom"),
}
