"""A filter file without its labels: the file that an engine makes which hashes values itself."""

import struct

from xxh3 import xxh3_64


def unlabelled(data):
    flags, size = struct.unpack_from("<II", data, 16)
    if not flags & 8:
        return data
    assert not flags & 4, "parts follow the labels"
    (text,) = struct.unpack_from("<I", data, 64 + size - 4)
    own = size - (text + 4 + 63) // 64 * 64
    head = data[:16] + struct.pack("<II", flags & ~8, own) + data[24:56]
    parameters = data[64:64 + own]
    return head + struct.pack("<Q", xxh3_64(head + parameters)) + parameters + data[64 + size:]
