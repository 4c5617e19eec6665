"""XXH3, 64 bits, seeded, from its published specification (xxHash project, doc/xxhash_spec.md).

For tests only: slow, and independent of the C implementation that the library uses. Words
are little-endian, arithmetic is modulo 2^64.
"""

import struct

MASK = (1 << 64) - 1
P32_1, P32_2, P32_3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
P64_1, P64_2, P64_3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
P64_4, P64_5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
MIX_1, MIX_2 = 0x165667919E3779F9, 0x9FB21C651E98DF25

SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
    "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
    "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e"
    "2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)


def u32(data, at):
    return struct.unpack_from("<I", data, at)[0]


def u64(data, at):
    return struct.unpack_from("<Q", data, at)[0]


def rotated(word, by):
    return (word << by | word >> (64 - by)) & MASK


def swapped(word, size):
    return int.from_bytes(word.to_bytes(size, "little"), "big")


def folded(a, b):
    return (a * b & MASK) ^ (a * b >> 64)


def avalanche(h):
    h = (h ^ h >> 37) * MIX_1 & MASK
    return h ^ h >> 32


def avalanche_64(h):
    h = (h ^ h >> 33) * P64_2 & MASK
    h = (h ^ h >> 29) * P64_3 & MASK
    return h ^ h >> 32


def mixed(data, at, secret_at, seed):
    """16 bytes of input under 16 bytes of the secret."""
    return folded(
        u64(data, at) ^ (u64(SECRET, secret_at) + seed & MASK),
        u64(data, at + 8) ^ (u64(SECRET, secret_at + 8) - seed & MASK),
    )


def up_to_16(data, seed):
    n = len(data)
    if n > 8:
        low = u64(data, 0) ^ ((u64(SECRET, 24) ^ u64(SECRET, 32)) + seed & MASK)
        high = u64(data, n - 8) ^ ((u64(SECRET, 40) ^ u64(SECRET, 48)) - seed & MASK)
        return avalanche(n + swapped(low, 8) + high + folded(low, high) & MASK)
    if n > 3:
        seed ^= swapped(seed & 0xFFFFFFFF, 4) << 32
        word = u32(data, n - 4) + (u32(data, 0) << 32)
        h = word ^ ((u64(SECRET, 8) ^ u64(SECRET, 16)) - seed & MASK)
        h = (h ^ rotated(h, 49) ^ rotated(h, 24)) * MIX_2 & MASK
        h = (h ^ (h >> 35) + n) * MIX_2 & MASK
        return h ^ h >> 28
    if n > 0:
        word = data[0] << 16 | data[n >> 1] << 24 | data[n - 1] | n << 8
        return avalanche_64(word ^ ((u32(SECRET, 0) ^ u32(SECRET, 4)) + seed & MASK))
    return avalanche_64(seed ^ u64(SECRET, 56) ^ u64(SECRET, 64))


def up_to_240(data, seed):
    n = len(data)
    acc = n * P64_1
    if n <= 128:
        for i in range((n - 1) // 32 + 1):
            acc += mixed(data, 16 * i, 32 * i, seed)
            acc += mixed(data, n - 16 * (i + 1), 32 * i + 16, seed)
        return avalanche(acc & MASK)
    acc += sum(mixed(data, 16 * i, 16 * i, seed) for i in range(8))
    acc = avalanche(acc & MASK)
    acc += sum(mixed(data, 16 * i, 16 * (i - 8) + 3, seed) for i in range(8, n // 16))
    return avalanche(acc + mixed(data, n - 16, 119, seed) & MASK)


def long(data, seed):
    n = len(data)
    words = struct.unpack("<24Q", SECRET)
    signed = (word + (seed if i % 2 == 0 else -seed) & MASK for i, word in enumerate(words))
    secret = struct.pack("<24Q", *signed)
    acc = [P32_3, P64_1, P64_2, P64_3, P64_4, P32_2, P64_5, P32_1]

    def accumulate(at, secret_at):
        for i in range(8):
            word = u64(data, at + 8 * i)
            key = word ^ u64(secret, secret_at + 8 * i)
            acc[i ^ 1] = acc[i ^ 1] + word & MASK
            acc[i] = acc[i] + (key & 0xFFFFFFFF) * (key >> 32) & MASK

    for stripe in range((n - 1) // 64):
        accumulate(64 * stripe, 8 * (stripe % 16))
        if stripe % 16 == 15:
            for i in range(8):
                acc[i] = (acc[i] ^ acc[i] >> 47 ^ u64(secret, 128 + 8 * i)) * P32_1 & MASK
    accumulate(n - 64, 121)
    pairs = (
        folded(acc[2 * i] ^ u64(secret, 11 + 16 * i), acc[2 * i + 1] ^ u64(secret, 19 + 16 * i))
        for i in range(4)
    )
    return avalanche(n * P64_1 + sum(pairs) & MASK)


def xxh3_64(data, seed=0):
    if len(data) <= 16:
        return up_to_16(data, seed)
    return up_to_240(data, seed) if len(data) <= 240 else long(data, seed)
