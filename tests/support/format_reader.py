"""Reads Bloomset files. Written from docs/reference/format.md alone, to prove that the document is
sufficient.

    f = format_reader.read(open("members.bloom", "rb").read())
    f.may_contain(b"alice@example.com")
"""

import re
import struct

from xxh3 import MASK, xxh3_64

SIGNATURE = bytes.fromhex("89424c4f4f4d0d0a")


class Refused(Exception):
    pass


def check(holds, otherwise):
    if not holds:
        raise Refused(otherwise)


def remix(x):
    x = (x ^ x >> 32) * 0x0E9846AF9B1A615D & MASK
    x = (x ^ x >> 32) * 0x0E9846AF9B1A615D & MASK
    return x ^ x >> 28


def mulhi(x, m):
    return x * m >> 64


def rotl(x, bits):
    return (x << bits | x >> 64 - bits) & MASK


def siphash_1_3(data, secret):
    k0, k1 = struct.unpack("<QQ", secret)
    v = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D, k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]

    def rounds(n):
        for _ in range(n):
            v[0] = v[0] + v[1] & MASK
            v[1] = rotl(v[1], 13) ^ v[0]
            v[0] = rotl(v[0], 32)
            v[2] = v[2] + v[3] & MASK
            v[3] = rotl(v[3], 16) ^ v[2]
            v[0] = v[0] + v[3] & MASK
            v[3] = rotl(v[3], 21) ^ v[0]
            v[2] = v[2] + v[1] & MASK
            v[1] = rotl(v[1], 17) ^ v[2]
            v[2] = rotl(v[2], 32)

    padded = data + bytes(7 - len(data) % 8) + bytes([len(data) % 256])
    for (word,) in struct.iter_unpack("<Q", padded):
        v[3] ^= word
        rounds(1)
        v[0] ^= word
    v[2] ^= 0xFF
    rounds(3)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def hash_of(key, seed):
    """XXH3 with a seed that is a number, SipHash with one that is a secret key."""
    return siphash_1_3(key, seed) if isinstance(seed, bytes) else xxh3_64(key, seed)


def double(key, seed, k, m):
    h = hash_of(key, seed)
    for i in range(k):
        g = h + i * (remix(h) | 1) & MASK
        yield mulhi((g ^ g >> 32) * 0x9E3779B97F4A7C15 & MASK, m)


# By number: the rule, its hash, its most places.
RULES = {1: (double, 1, MASK)}


class BitArray:
    """What keeps a key as bits that are set at its places."""

    def may_contain(self, key):
        return all(self.payload[p >> 3] >> (p & 7) & 1 for p in self.places(key))


class Bloom(BitArray):
    def __init__(self, kind_version, hash, seed, count, parameters, payload):
        check(kind_version == 1, "unknown version of the kind")
        check(len(parameters) == 64 and not any(parameters[40:]), "wrong parameter block")
        self.capacity, self.fpr, self.m, self.k, rule, zero, chance = struct.unpack_from("<QdQIHHd", parameters)
        check(zero == 0 and (chance == 0 or chance >= 2**-20), "wrong parameter block")
        check(1 <= self.capacity <= 2**57 and 0 <= self.fpr <= 1, "wrong promise")
        check(1 <= self.m <= 2**62 and 1 <= self.k <= 64 and rule in RULES, "wrong layout")
        self.rule, its_hash, most = RULES[rule]
        check(hash == its_hash and self.m <= most, "the rule does not fit")
        check(len(payload) == (self.m + 7) // 8, "wrong payload size")
        check(self.m % 8 == 0 or payload[-1] >> self.m % 8 == 0, "wrong padding")
        self.seed, self.count, self.payload = seed, count, payload

    def places(self, key):
        return self.rule(key, self.seed, self.k, self.m)


SALTS = [0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D, 0x705495C7, 0x2DF1424B, 0x9EFC4947, 0x5C6BFB31]
GOLDEN = 0x9E3779B97F4A7C15


def split_block(h, blocks, k):
    return mulhi(h, blocks), [64 * j + (h * GOLDEN & MASK) // 64**j % 64 for j in range(8)]


def free_block(h, blocks, k):
    return mulhi(h, blocks), [(h * GOLDEN**i & MASK) >> 55 for i in range(1, k + 1)]


def parquet_block(h, blocks, k):
    low = h % 2**32
    return (h >> 32) * blocks >> 32, [32 * j + (low * SALTS[j] % 2**32 >> 27) for j in range(8)]


# By number: the layout, bits of a block, most blocks, numbers of bits a key.
LAYOUTS = {
    1: (split_block, 512, 2**53, range(8, 9)),
    2: (free_block, 512, 2**53, range(1, 25)),
    3: (parquet_block, 256, 2**31, range(8, 9)),
}


class BlockedBloom(BitArray):
    def __init__(self, kind_version, hash, seed, count, parameters, payload):
        check(kind_version == 1, "unknown version of the kind")
        check(len(parameters) == 64 and not any(parameters[40:]), "wrong parameter block")
        self.capacity, self.fpr, self.blocks, self.k, layout, zero, chance = struct.unpack_from("<QdQIHHd", parameters)
        check(zero == 0 and (chance == 0 or chance >= 2**-20), "wrong parameter block")
        check(1 <= self.capacity <= 2**57 and 0 <= self.fpr <= 1, "wrong promise")
        check(layout in LAYOUTS and hash == 1, "unknown layout or hash")
        self.layout, self.block_bits, most, its_k = LAYOUTS[layout]
        check(1 <= self.blocks <= most and self.k in its_k, "wrong layout")
        check(len(payload) == self.blocks * self.block_bits // 8, "wrong payload size")
        self.seed, self.count, self.payload = seed, count, payload

    def places(self, key):
        block, bits = self.layout(hash_of(key, self.seed), self.blocks, self.k)
        return [block * self.block_bits + bit for bit in bits]


def fuse_places(x, arity, s, starts):
    first = mulhi(x, starts << s)
    return [first] + [
        first + (j << s) ^ (x >> (arity - 1 - j) * s) % 2**s for j in range(1, arity)
    ]


def fuse_fingerprint(x, w):
    return (x * GOLDEN & MASK) >> (64 - w)


def round_up(n, to):
    return (n + to - 1) // to * to


class Fuse:
    def __init__(self, kind_version, hash, seed, count, parameters, payload):
        check(kind_version == 1, "unknown version of the kind")
        check(len(parameters) == 64 and not any(parameters[24:]), "wrong parameter block")
        self.arity, self.w, self.s, shards, zero, segments = struct.unpack_from("<HHIIIQ", parameters)
        check(hash == 1 and zero == 0, "unknown hash, or a wrong parameter block")
        check(self.arity in (3, 4) and 1 <= self.w <= 32 and 2 <= self.s <= 18, "wrong layout")
        self.seed, self.count, self.shards = seed, count, []
        if count == 0:
            check(shards == segments == 0 and payload == b"", "no keys, but a payload")
            return
        check(shards >= 1 and segments >= self.arity * shards, "wrong number of shards")
        check(segments << self.s <= 2**44 and count <= segments << self.s, "wrong size")
        bits = (segments << self.s) * self.w
        directory = round_up(16 * shards, 64)
        check(len(payload) == directory + round_up((bits + 7) // 8 + 7, 64), "wrong payload size")
        self.shards = list(struct.iter_unpack("<IIQ", payload[: 16 * shards]))
        follows = 0
        for first, starts, _ in self.shards:
            check(first == follows and starts >= 1, "wrong directory")
            follows += starts + self.arity - 1
        check(follows == segments and not any(payload[16 * shards : directory]), "wrong directory")
        self.fingerprints = int.from_bytes(payload[directory:], "little")
        check(self.fingerprints >> bits == 0, "wrong padding")

    def may_contain(self, key):
        if not self.shards:
            return False
        h = hash_of(key, self.seed)
        first, starts, seed = self.shards[mulhi(h, len(self.shards))]
        x = remix(h ^ seed)
        found = 0
        for place in fuse_places(x, self.arity, self.s, starts):
            found ^= self.fingerprints >> ((first << self.s) + place) * self.w
        return found % 2**self.w == fuse_fingerprint(x, self.w)


class Ribbon:
    def __init__(self, kind_version, hash, seed, count, parameters, payload):
        check(kind_version == 1 and hash == 1, "unknown version of the kind, or hash")
        self.fpr, levels, zero = struct.unpack_from("<dII", parameters)
        check(0 < self.fpr < 1 and zero == 0 and levels <= 32, "wrong promise")
        check((levels == 0) == (count == 0), "wrong number of levels")
        end = 16 + 40 * levels
        check(len(parameters) == -(-end // 64) * 64, "wrong parameter block")
        check(not any(parameters[end:]), "wrong padding")
        self.seed, self.count, self.capacity, self.payload = seed, count, count, payload
        self.levels, at = [], 0
        for i in range(levels):
            level = struct.unpack_from("<5Q", parameters, 16 + 40 * i)
            seed, shards, starts, cut, r = level
            n, bumps = shards * starts, i + 1 < levels
            check(1 <= shards and 1 <= starts and n <= 2**46 and cut <= n and r <= 31, "wrong level")
            check(seed < 2**63, "wrong seed")
            check(shards == 1 or starts % 16 == 0, "shards that are no whole buckets")
            codes = at
            lower_at = at + (-(-n // 64) if bumps else 0)
            lower_groups = cut + 7 * (cut // starts)
            upper_at = lower_at + r * lower_groups
            self.levels.append((*level, codes if bumps else None, lower_at, lower_groups))
            at = upper_at + (r + 1) * (n + 7 * shards - lower_groups)
        check(len(payload) == (at + 64 if levels else 0), "wrong payload size")
        check(not any(payload[at:]), "wrong padding")

    def may_contain(self, key):
        y = hash_of(key, self.seed)
        for seed, shards, starts, cut, r, codes, lower_at, lower_groups in self.levels:
            y = remix(y ^ seed) if seed else y
            shard = mulhi(y, shards)
            start = shard * starts + mulhi(y * shards & MASK, starts)
            if codes is not None:
                code = self.payload[codes + start // 64] >> start % 64 // 16 * 2 & 3
                if start % 16 < (0, 2, 5, 16)[code]:
                    continue
            groups = range(start + 7 * shard, start + 7 * shard + 8)
            at = [lower_at + r * g + max(0, g - lower_groups) for g in groups]
            columns = r + (start >= cut)
            c = y * GOLDEN & MASK
            row = c ^ c >> 32
            wanted = ((y ^ y >> 29) * 0xBF58476D1CE4E5B9 & MASK) >> 32
            for column in range(columns):
                word = int.from_bytes(bytes(self.payload[a + column] for a in at), "little")
                if (bin(word & row).count("1") ^ wanted >> column) & 1:
                    return False
            return True
        return False


class Cuckoo:
    def __init__(self, kind_version, hash, seed, count, parameters, payload):
        check(kind_version == 2 and hash == 1, "unknown version of the kind, or hash")
        check(len(parameters) == 64 and not any(parameters[28:]), "wrong parameter block")
        self.capacity, self.fpr, self.n, self.b, self.f = struct.unpack_from("<QdQHH", parameters)
        check(1 <= self.capacity <= 2**57 and 0 <= self.fpr <= 1, "wrong promise")
        check(self.b in (2, 4, 8) and 4 <= self.f <= 32, "wrong table")
        bits = self.n * self.b * self.f
        check(0 < bits <= 2**62, "wrong table")
        table = -(-bits // 64) * 8
        check(len(payload) == table + 64, "wrong payload size")
        self.seed, self.count, self.table = seed, count, int.from_bytes(payload[:table], "little")
        check(self.table >> bits == 0, "wrong padding")
        entries = list(struct.iter_unpack("<QII", payload[table:]))
        while entries and entries[-1] == (0, 0, 0):
            entries.pop()
        check(all(c < self.n and 0 < x < 2**self.f and zero == 0 for c, x, zero in entries), "wrong stash")
        check(len(entries) <= count <= self.n * self.b + len(entries), "wrong count")
        self.entries = [(c, x) for c, x, _ in entries]

    def other_bucket(self, bucket, fingerprint):
        x = fingerprint * 0xBF58476D1CE4E5B9 & MASK
        g = mulhi((x ^ x >> 32) * 0x94D049BB133111EB & MASK, self.n)
        return (g - bucket) % self.n

    def places(self, key):
        h = hash_of(key, self.seed)
        first, fingerprint = mulhi(h, self.n), 1 + mulhi(h * GOLDEN & MASK, 2**self.f - 1)
        return first, self.other_bucket(first, fingerprint), fingerprint

    def copies(self, key):
        first, second, fingerprint = self.places(key)
        slots = [self.table >> (c * self.b + s) * self.f & 2**self.f - 1 for c in {first, second} for s in range(self.b)]
        return slots.count(fingerprint) + sum(self.entries.count((c, fingerprint)) for c in {first, second})

    def may_contain(self, key):
        return self.copies(key) != 0


def other_block(block, tag, n):
    last = 8192 * max(0, n // 8192 - 1)
    base = last if block >= last else block - block % 8192
    size = n - last if block >= last else 8192
    g = tag * 0xBF58476D1CE4E5B9 & MASK
    g = (g ^ g >> 32) * 0x94D049BB133111EB & MASK
    return base + (((g >> 32) * size >> 32) - (block - base)) % size


def vector_quotient_places(h, n, tags):
    first, tag = mulhi(h, n), mulhi(h * GOLDEN & MASK, tags)
    return first, other_block(first, tag, n), tag


class VectorQuotient:
    def __init__(self, kind_version, hash, seed, count, parameters, payload):
        check(kind_version == 1 and hash == 1, "unknown version of the kind, or hash")
        check(len(parameters) == 64 and not any(parameters[38:]), "wrong parameter block")
        self.capacity, self.fpr, self.n, entries, self.s, self.b, self.r = struct.unpack_from(
            "<QdQQHHH", parameters
        )
        check(1 <= self.capacity <= 2**57 and 0 <= self.fpr <= 1, "wrong promise")
        check(1 <= self.s <= 63 and self.b >= 1 and 64 <= self.s + self.b <= 191, "wrong block")
        check(5 <= self.r <= 32 and self.s * (self.r + 1) + self.b <= 512, "wrong block")
        self.tags = self.b << self.r
        check(1 <= self.n <= 2**44 and self.n * self.tags <= 2**63, "wrong number of blocks")
        check(entries <= 2**56 and entries & (entries - 1) == 0, "wrong overflow table")
        side = 64 * self.n + 64
        check(len(payload) == side + 16 * entries, "wrong payload size")
        self.seed, self.count, self.payload = seed, count, payload
        stash = list(struct.iter_unpack("<QQ", payload[64 * self.n : side]))
        while stash and stash[-1] == (0, 0):
            stash.pop()
        check(all(c and pair < self.n * self.tags for pair, c in stash), "wrong stash")
        check(count >= len(stash), "wrong count")
        self.stash, self.side = dict(stash), list(struct.iter_unpack("<QQ", payload[side:]))

    def tags_in(self, block):
        bits = int.from_bytes(self.payload[64 * block : 64 * block + 64], "little")
        found, bucket = [], 0
        for at in range(512 - self.s - self.b, 512):
            if not bits >> at & 1:
                bucket += 1
                continue
            remainder = bits >> len(found) * self.r & (1 << self.r) - 1
            found.append(bucket << self.r | remainder)
        return found

    def in_side(self, pair):
        for i in range(len(self.side)):
            found, copies = self.side[(remix(pair) + i) % len(self.side)]
            if copies == 0 or found == pair:
                return copies
        return 0

    def copies(self, key):
        first, second, tag = vector_quotient_places(hash_of(key, self.seed), self.n, self.tags)
        pair = min(first, second) * self.tags + tag
        in_blocks = sum(self.tags_in(block).count(tag) for block in {first, second})
        return in_blocks + self.stash.get(pair, 0) + self.in_side(pair)

    def may_contain(self, key):
        return self.copies(key) != 0


def expandable_place(h, d, s, c):
    level = d + (h % 2**d < s)
    return h % 2**level, (h >> level) % 2**c, h >> level + c


class Expandable:
    def __init__(self, kind_version, hash, seed, count, parameters, payload):
        check(kind_version == 1 and hash == 1, "unknown version of the kind, or hash")
        check(len(parameters) == 64, "wrong parameter block")
        fields = struct.unpack("<QdddQQIHHHHHH", parameters)
        self.capacity, self.fpr, growth, spent, entries, self.s, doublings = fields[:7]
        self.d, self.c, full, w, deep_w, load = fields[7:]
        check(1 <= self.capacity <= 2**57 and 0 < self.fpr < 1 and load == 2, "wrong promise")
        check((growth == 0 or 1 <= growth <= 2**50) and 0 <= spent <= 1, "wrong promise")
        check(self.d <= 50 and self.s < 2**self.d and doublings <= 128, "wrong segments")
        least = 8 if growth == 1 else 12
        check(5 <= self.c <= full and least <= full <= 14, "wrong cells")
        check(self.c == full or self.d == 0, "several small segments")
        check(2 <= w <= 57 and max(2, w - 1) <= deep_w <= 57, "wrong slots")
        check(self.s != 0 or deep_w == w, "slots of segments that are none")
        bits = max(w, deep_w + (self.s != 0))
        check(self.d + self.c + bits - 1 <= 63, "more bits than a hash")
        self.seed, self.count, self.segments = seed, count, []
        n, at = 2**self.d + self.s, 8 * (2**self.d + self.s)
        check(growth != 1 or doublings != 0 or self.capacity <= 2 * n << self.c, "too few cells")
        check(at <= len(payload), "wrong payload size")
        for i, (words, copies) in enumerate(struct.iter_unpack("<II", payload[:at])):
            deep = i < self.s or i >= 2**self.d
            cells = self.read_cells(payload[at : at + 8 * words], deep_w if deep else w)
            at += 8 * words
            check(at + 16 * copies <= len(payload), "wrong payload size")
            counted = list(struct.iter_unpack("<QQ", payload[at : at + 16 * copies]))
            hashes = [h for h, _ in counted]
            check(hashes == sorted(set(hashes)) and all(k for _, k in counted), "wrong copies")
            check(all(expandable_place(h, self.d, self.s, self.c)[0] == i for h in hashes), "wrong copies")
            self.segments.append((cells, dict(counted)))
            at += 16 * copies
        check(at == len(payload) and len(self.segments) == n, "wrong payload size")
        check(entries == sum(map(len, (e for s in self.segments for e in s[0]))), "wrong entries")

    def read_cells(self, segment, w):
        blocks = 2**self.c // 32
        table = 2 * (blocks + 1)
        padding = 7 if blocks == 1 else 16
        check(len(segment) >= table + 16, "a segment that is too short")
        starts = struct.unpack_from(f"<{blocks + 1}H", segment)
        check(starts[0] == 0 and list(starts) == sorted(starts), "wrong starts")
        size = round_up(table + max(starts[-1] + padding, 16), 8)
        check(len(segment) == size, "wrong size of a segment")
        check(not any(segment[table + starts[-1] :]), "wrong padding")
        cells = []
        for begin, end in zip(starts, starts[1:]):
            block = int.from_bytes(segment[table + begin : table + end], "little")
            size, sizes, at = 8 * (end - begin), [], 1
            check(block & 1 == 0 and size, "wrong code")
            for _ in range(32):
                first = at
                while at < size and block >> at & 1:
                    at += 1
                check(at < size, "wrong code")
                sizes.append(at - first)
                at += 1
            slots = sum(sizes) * w
            check(round_up(at, 8) + round_up(slots, 8) <= size, "a block that is too short")
            check(block >> at & (1 << size - slots - at) - 1 == 0, "wrong gap")
            i = 0
            for number in sizes:
                cell = [block >> size - (i + k + 1) * w & (1 << w) - 1 for k in range(number)]
                check(all(cell), "a slot that is none")
                cells.append(cell)
                i += number
        return cells

    def count_of(self, key):
        h = hash_of(key, self.seed)
        segment, cell, rest = expandable_place(h, self.d, self.s, self.c)
        cells, copies = self.segments[segment]
        matching = 0
        for slot in cells[cell]:
            r = slot.bit_length() - 1
            matching += (slot ^ rest) % 2**r == 0
        return matching + copies.get(h, 0)

    def may_contain(self, key):
        return self.count_of(key) != 0


class Halves:
    """A filter with 128-bit hashes: two filters, both of which must answer yes."""

    def __init__(self, kind, kind_version, seeds, count, parameters, payload):
        self.halves, self.count = [], count
        shapes = []
        at = 0
        for seed in seeds:
            check(len(parameters) >= 64, "no block of a half")
            size, length, of_half = struct.unpack_from("<QQQ", parameters)
            check(not any(parameters[24:64]), "no zeros behind the lengths")
            check(size <= len(parameters) - 64 and length <= len(payload) - at, "wrong lengths")
            self.halves.append(
                kind(kind_version, 1, seed, of_half, parameters[64 : 64 + size], payload[at : at + length])
            )
            shapes.append(parameters[64:96])
            parameters = parameters[64 + size :]
            at += length
            if seed is seeds[0]:
                check(not any(payload[at : round_up(at, 64)]), "no zeros between the halves")
                at = round_up(at, 64)
        check(not parameters and at == len(payload), "more than two halves")
        check(count == max(half.count for half in self.halves), "wrong count")
        check(kind not in (Bloom, BlockedBloom) or shapes[0] == shapes[1], "halves of different shapes")

    def may_contain(self, key):
        return all(half.may_contain(key) for half in self.halves)


def seeds_of_halves(seed):
    if isinstance(seed, bytes):
        names = (b"bloomset second key 0", b"bloomset second key 1")
        return seed, b"".join(struct.pack("<Q", siphash_1_3(name, seed)) for name in names)
    return seed, seed ^ 0x9E3779B97F4A7C15


class Retrieval:
    """A structure of values: its record at an offset of the parameters."""

    BUMPED = {64: (0, 2, 5, 16), 128: (0, 5, 12, 64)}

    def __init__(self, parameters, at):
        self.r, self.width, levels, zero = struct.unpack_from("<IIII", parameters, at)
        check(1 <= self.r <= 32 and self.width in (64, 128) and levels <= 32 and zero == 0, "wrong structure")
        self.groups, self.bucket = self.width // 8, {64: 16, 128: 64}[self.width]
        self.end, self.levels, self.size = at + 16 + 24 * levels, [], 0
        for i in range(levels):
            seed, shards, starts = struct.unpack_from("<3Q", parameters, at + 16 + 24 * i)
            check(shards >= 1 and starts >= 1 and shards * starts <= 2**46 and seed < 2**63, "wrong level")
            check(shards == 1 or starts % self.bucket == 0, "shards that are no whole buckets")
            bumps = i + 1 < levels
            codes = self.size if bumps else None
            self.size += -(-shards * starts // (4 * self.bucket)) if bumps else 0
            self.levels.append((seed, shards, starts, codes, self.size))
            self.size += self.r * (shards * starts + (self.groups - 1) * shards)
        self.size += 64 if levels else 0

    def value(self, y):
        for seed, shards, starts, codes, at in self.levels:
            y = remix(y ^ seed) if seed else y
            shard = mulhi(y, shards)
            start = shard * starts + mulhi(y * shards & MASK, starts)
            if codes is not None:
                code = self.payload[codes + start // (4 * self.bucket)]
                code = code >> start // self.bucket % 4 * 2 & 3
                if start % self.bucket < self.BUMPED[self.width][code]:
                    continue
            at += self.r * (start + (self.groups - 1) * shard)
            c = y * GOLDEN & MASK
            row = c ^ c >> 32
            if self.width == 128:
                c = (y ^ y >> 31) * 0xD6E8FEB86659FD93 & MASK
                row |= (c ^ c >> 32) << 64
            value = 0
            for column in range(self.r):
                slots = self.payload[at + column : at + self.groups * self.r : self.r]
                value |= (bin(int.from_bytes(slots, "little") & row).count("1") & 1) << column
            return value
        return 0


class Levels(Retrieval):
    """A section of exact: levels of 16 bytes at an offset of the parameters, at an offset of the payload."""

    def __init__(self, parameters, at, r, width, levels, payload, begin):
        check(levels <= 32 and (r == 0) == (levels == 0), "wrong levels")
        self.r, self.width, self.payload, self.levels, self.size = r, width, payload, [], begin
        self.groups, self.bucket = width // 8, {64: 16, 128: 64}[width]
        self.end = at + 16 * levels
        for i in range(levels):
            seed, shards, starts = struct.unpack_from("<QII", parameters, at + 16 * i)
            check(shards >= 1 and starts >= 1 and shards * starts <= 2**46 and seed < 2**63, "wrong level")
            check(shards == 1 or starts % self.bucket == 0, "shards that are no whole buckets")
            bumps = i + 1 < levels
            codes = self.size if bumps else None
            self.size += -(-shards * starts // (4 * self.bucket)) if bumps else 0
            self.levels.append((seed, shards, starts, codes, self.size))
            self.size += r * (shards * starts + (self.groups - 1) * shards)


class Exact:
    """Of version 1 without partitions, or 2 with them."""

    def __init__(self, kind_version, hash, seed, count, parameters, payload):
        check((kind_version, hash) in ((1, 1), (2, 6)), "unknown version of the kind, or hash")
        self.seed, self.count, self.has_partitions = seed, count, kind_version == 2
        self.partitions = {}
        (self.read_partitions if self.has_partitions else self.read_one)(count, parameters, payload)

    def finish(self, parameters, payload, end, size, has_payload):
        check(len(parameters) == -(-end // 64) * 64 and not any(parameters[end:]), "wrong parameter block")
        check(len(payload) == (size + 64 if has_payload else 0) and not any(payload[size:]), "wrong payload")

    def read_one(self, count, parameters, payload):
        a, c, negated, firsts, guided, lasts, zero, stored = struct.unpack_from("<6BHQ", parameters)
        check(a <= 24 and c <= 2 and negated <= 1 and zero == 0 and stored <= 2**48, "wrong sections")
        first = Levels(parameters, 16, a, 128, firsts, payload, 0)
        middle = Levels(parameters, first.end, c, 64, guided, payload, first.size)
        self.last = Levels(parameters, middle.end, int(lasts > 0), 128, lasts, payload, middle.size)
        self.finish(parameters, payload, self.last.end, self.last.size, lasts > 0)
        check(lasts > 0 or firsts == guided == stored == 0 and negated == (count > 0), "no last section")
        check(lasts == 0 or count > 0, "no members")
        self.sections = {"first": {a: first}, "guided": {c: middle}}
        self.only, self.shift = (a if lasts else None, c, negated), a

    def read_partitions(self, count, parameters, payload):
        n, stored, firsts, guided = struct.unpack_from("<QQBB", parameters)
        check(n <= 2**31 and stored <= 2**48 and firsts <= 24 and guided <= 2, "wrong numbers")
        check(not any(parameters[18:24]), "wrong padding")
        directory = round_up(9 * n, 8)
        check(directory <= len(payload), "no directory")
        at, size, self.shift = 24, directory, 24
        none = Levels(parameters, at, 0, 128, 0, payload, 0)
        self.sections = {"first": {0: none}, "guided": {0: none}}
        for name, width, number, most in (("first", 128, firsts, 24), ("guided", 64, guided, 2), ("last", 128, 1, 1)):
            before = 0
            for _ in range(number):
                r, levels = parameters[at], parameters[at + 1]
                check(not any(parameters[at + 2 : at + 8]), "wrong padding")
                check(r <= most and (r > before or name == "last"), "wrong columns")
                section = Levels(parameters, at + 8, r, width, levels, payload, size)
                at, size, before = section.end, section.size, r
                if name == "last":
                    self.last = section
                else:
                    self.sections[name][r] = section
        self.finish(parameters, payload, at, size, n > 0)
        check(self.last.levels or firsts == guided == stored == 0, "no last section")
        check((n > 0 and count > 0) if self.last.levels else (n > 0 or count == 0), "wrong count")
        hashes = struct.unpack_from(f"<{n}Q", payload)
        check(list(hashes) == sorted(set(hashes)) and not any(payload[9 * n : directory]), "wrong directory")
        for p, bits in zip(hashes, payload[8 * n : 9 * n]):
            a, c, negated = bits & 31, bits >> 5 & 3, bits >> 7
            exists = a in self.sections["first"] and c in self.sections["guided"] and self.last.levels
            check(c == 0 if a == 31 else exists, "a class without its sections")
            self.partitions[p] = (None if a == 31 else a, c, negated)

    def hashes(self, key):
        """The hash of the key's partition, if there are partitions, and the key's own."""
        if not self.has_partitions:
            return None, hash_of(key, self.seed)
        name, tab, rest = key.partition(b"\t")
        p = hash_of(name if tab else b"", self.seed)
        return p, remix(hash_of(rest if tab else key, self.seed) ^ remix(p))

    def may_contain(self, key):
        """None for a key of an unknown partition."""
        p, h = self.hashes(key)
        if not self.has_partitions:
            return self.answer(self.only, h)
        return self.answer(self.partitions[p], h) if p in self.partitions else None

    def answer(self, columns, h):
        a, c, negated = columns
        f = ((h ^ h >> 29) * 0xBF58476D1CE4E5B9 & MASK) >> 32
        held = (
            a is not None
            and self.sections["first"][a].value(h) == f % 2**a
            and self.sections["guided"][c].value(h) == (f >> self.shift) % 2**c
            and self.last.value(remix(h)) == 1
        )
        return held != bool(negated)


class FileIndex:
    """No filter: files_of(key) gives the files that have it."""

    def __init__(self, kind_version, hash, seed, count, parameters, payload):
        check(kind_version == 1 and hash == 1, "unknown version of the kind, or hash")
        self.n, self.answers, classes, lists, self.chain, seconds = struct.unpack_from("<6I", parameters)
        self.fpr, list_bits, name_bytes, self.chain_seed = struct.unpack_from("<dQQQ", parameters, 24)
        check(1 <= self.n <= 2**24 and self.answers <= 2**26 and lists <= self.answers, "wrong numbers")
        check(classes <= min(self.answers, 2**16) and (classes == 0) == (self.answers == 0), "wrong classes")
        self.seed, self.count, self.payload = seed, count, payload
        self.first = Retrieval(parameters, 56)
        self.links = Retrieval(parameters, self.first.end)
        self.second, end = {}, self.links.end
        for _ in range(seconds):
            one = Retrieval(parameters, end)
            check(not self.second or one.r > max(self.second), "structures in disorder")
            self.second[one.r], end = one, one.end
        check(len(parameters) == -(-end // 64) * 64 and not any(parameters[end:]), "wrong parameter block")
        at = 0

        def section(size, zeros=0):
            nonlocal at
            begin, at = at, at + (size + zeros + 7) // 8 * 8
            check(at <= len(payload) and not any(payload[begin + size : at]), "wrong section")
            return payload[begin : begin + size]

        for one in [self.first, *self.second.values(), self.links]:
            one.payload = section(one.size)
        self.classes, begin = [], 0
        for j in section(classes):
            check(begin < self.answers and (j == 0 or j in self.second), "a class without answers")
            self.classes.append((begin, j))
            begin += 2**j
        check(begin >= self.answers, "answers without a class")
        self.b = (self.n - 1).bit_length()
        self.flags = section(8 * -(-self.answers // 32))
        self.singles = int.from_bytes(section(-(-(self.answers - lists) * self.b // 8)), "little")
        self.offsets = section(-(-lists // 8) * 8)
        self.lists = int.from_bytes(section(-(-list_bits // 8), 8), "little")
        ends = struct.unpack(f"<{self.n}I", section(4 * self.n))
        names = section(name_bytes)
        check(at == len(payload) and list(ends) == sorted(ends) and ends[-1] == name_bytes, "wrong names")
        self.names = [names[a:b].decode() for a, b in zip((0, *ends), ends)]

    def list_at(self, at):
        """The list at a bit, and the bit after it."""

        def take(bits):
            nonlocal at
            at += bits
            return self.lists >> (at - bits) & 2**bits - 1

        zeros = 0
        while not take(1):
            zeros += 1
        d = 1
        for _ in range(zeros):
            d = d << 1 | take(1)
        d += 1
        if 4 * d > self.n:
            bits = take(self.n)
            return [i for i in range(self.n) if bits >> i & 1], at
        k = max((7 * self.n // (10 * d)).bit_length() - 1, 0)
        found, expected = [], 0
        for _ in range(d):
            quotient = 0
            while take(1):
                quotient += 1
            found.append(expected + (quotient << k) + take(k))
            expected = found[-1] + 1
        return found, at

    def files_of(self, key):
        h = hash_of(key, self.seed)
        if not self.classes:
            return []
        f = mulhi(remix(h ^ 0xD1B54A32D192ED03), 2**self.first.r // len(self.classes))
        c = self.first.value(h) - f * len(self.classes)
        if not 0 <= c < len(self.classes):
            return []
        begin, j = self.classes[c]
        answer = begin + (self.second[j].value(h) if j else 0)
        if answer >= self.answers:
            return []
        if answer == self.chain:
            found = []
            while True:
                link = self.links.value(remix(remix(h + self.chain_seed & MASK) + len(found) & MASK))
                if link >> 1 >= self.n or (found and link >> 1 <= found[-1]):
                    return []
                found.append(link >> 1)
                if link & 1:
                    return found
        flags, rank = struct.unpack_from("<II", self.flags, answer // 32 * 8)
        rank += bin(flags & 2 ** (answer % 32) - 1).count("1")
        if not flags >> answer % 32 & 1:
            return [self.singles >> (answer - rank) * self.b & 2**self.b - 1]
        (at,) = struct.unpack_from("<Q", self.offsets, rank // 8 * 8)
        for _ in range(rank % 8):
            _, at = self.list_at(at)
        return self.list_at(at)[0]


KINDS = {1: Bloom, 4: Cuckoo, 5: BlockedBloom, 6: Fuse, 7: Ribbon, 8: VectorQuotient, 9: Expandable, 10: Exact, 11: FileIndex}


def parts_in(block):
    """The number of parts of a set of keys, and those that the filter has."""
    n, has = struct.unpack_from("<Q", block)[0], int.from_bytes(block[8:40], "little")
    check(2 <= n <= 256 and 0 < has < 2**n - 1 and not any(block[40:]), "wrong parts")
    return n, [i + 1 for i in range(n) if has >> i & 1]


def labels_in(parameters):
    """The parameters of the kind, and the labels that follow them."""
    check(len(parameters) >= 64, "no labels")
    (length,) = struct.unpack_from("<I", parameters, len(parameters) - 4)
    size = (length + 4 + 63) // 64 * 64
    check(4 <= length <= 4092 and size <= len(parameters), "labels of a wrong length")
    section = parameters[-size:]
    check(not any(section[length:-4]), "bytes behind the labels")
    try:
        text = section[:length].decode()
    except UnicodeDecodeError:
        check(False, "labels that are no text")
    check(text.endswith("\n"), "labels without an end")
    pairs = [line.partition("=") for line in text[:-1].split("\n")]
    names = [name for name, _, _ in pairs]
    check(names == sorted(set(names)), "labels in disorder")
    for name, _, value in pairs:
        check(re.fullmatch(r"[a-z][a-z0-9._-]{0,63}", name), "a wrong name of a label")
        check(value and not any(ord(c) < 32 or 127 <= ord(c) < 160 for c in value), "a wrong value of a label")
    return parameters[:-size], {name: value for name, _, value in pairs}


def exceptions_in(parameters):
    """The parameters of the kind, and the exceptions that follow them."""
    check(len(parameters) >= 64, "no exceptions")
    (count,) = struct.unpack_from("<Q", parameters, len(parameters) - 8)
    size = (8 * count + 8 + 63) // 64 * 64
    check(1 <= count <= 4096 and size <= len(parameters), "exceptions of a wrong length")
    section = parameters[-size:]
    check(not any(section[8 * count : -8]), "bytes behind the exceptions")
    hashes = struct.unpack_from(f"<{count}Q", section)
    check(all(a < b for a, b in zip(hashes, hashes[1:])), "exceptions in disorder")
    return parameters[:-size], set(hashes)


def number_in(data, at):
    """A number of bytes with 7 bits each, and where it ends."""
    value = shift = 0
    while True:
        check(at < len(data) and shift < 63, "a number without end")
        value |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 128:
            return value, at


def places_in(layer, base):
    """The places of a layer, and the number of all places."""
    check(layer[:4] == b"\x89BLY" and len(layer) > 16, "no layer")
    checksum, its_base = struct.unpack_from("<IQ", layer, 4)
    check(checksum == xxh3_64(layer[8:]) & 0xFFFFFFFF, "damaged layer")
    check(its_base == base, "another base")
    n, at = number_in(layer, 16)
    places, at = number_in(layer, at)
    k = layer[at]
    check(4 <= k <= 40 and 1 <= n <= places <= 2**62, "a wrong layer")
    bits = int.from_bytes(layer[at + 1 :], "little")
    length, at = 8 * (len(layer) - at - 1), 0
    found, next_place = set(), 0
    for _ in range(n):
        gap = 0
        while bits >> at & 1:
            gap, at = gap + 1, at + 1
        at += 1
        gap = gap << k | bits >> at & (1 << k) - 1
        at += k
        check(at <= length, "a layer ends within a gap")
        found.add(next_place + gap)
        next_place += gap + 1
    check(next_place <= places and bits >> at == 0 and length - at < 8, "a wrong end of a layer")
    return found, places


def layers_in(parameters):
    """The parameters without the section of layers, and the bytes of each layer."""
    check(len(parameters) >= 64, "no layers")
    (t,) = struct.unpack_from("<Q", parameters, len(parameters) - 8)
    size = (t + 8 + 63) // 64 * 64
    check(0 < t and size <= len(parameters), "layers of a wrong length")
    section, parameters = parameters[-size:], parameters[:-size]
    check(not any(section[t:-8]), "bytes behind the layers")
    layers, at = [], 0
    while at < t:
        (length,) = struct.unpack_from("<I", section, at)
        check(1 <= length <= t - at - 4, "a layer of a wrong length")
        layers.append(section[at + 4 : at + 4 + length])
        at += 4 + length
    return parameters, layers


def base_of_layers(header, parameters):
    """The number that layers have of their base, by its parameters without exceptions and layers."""
    header = bytearray(header)
    (flags,) = struct.unpack_from("<I", header, 16)
    struct.pack_into("<II", header, 16, flags & ~(16 | 32), len(parameters))
    return xxh3_64(bytes(header[:56]) + parameters)


def read(data, secret=None, of_parts=False):
    """The filter in the bytes of a file; Refused says why there is none. `secret` is its key. With
    `of_parts`, the filter and the parts that it has, of a file of a part."""
    check(data[:8] == SIGNATURE and len(data) >= 64, "no filter")
    (version,) = struct.unpack_from("<H", data, 8)
    check(version == 1, "unknown format version")
    kind, kind_version, hash, flags, size, seed, count, length, of_payload, of_header = (
        struct.unpack_from("<HHHIIQQQQQ", data, 10)
    )
    check(size % 64 == 0 and size <= len(data) - 64, "wrong parameter size")
    check(of_header == xxh3_64(data[:56] + data[64 : 64 + size]), "damaged header")
    check(length == len(data) - 64 - size, "wrong length")
    check(flags & ~60 == {3: 1, 4: 2, 5: 3, 7: 1}.get(hash, 0), "unknown feature")
    check(bool(flags & 4) == of_parts, "keys are missing")
    if hash in (3, 5, 7):
        check(secret is not None and siphash_1_3(b"bloomset hash key", secret) == seed, "another key")
        seed = secret
    payload = data[64 + size :]
    parameters, parts = data[64 : 64 + size], None
    layers = []
    if flags & 32:
        check(hash in (1, 3), "layers without hashes of 64 bits")
        parameters, layers = layers_in(parameters)
    whole = parameters
    if of_parts:
        check(size >= 64, "no parts")
        parameters, parts = parameters[:-64], parts_in(parameters[-64:])
    labels = {}
    if flags & 8:
        parameters, labels = labels_in(parameters)
    exceptions = set()
    if flags & 16:
        check(hash in (1, 3, 6, 7), "exceptions without hashes of 64 bits")
        labels_and_parts = whole[len(parameters) :]
        parameters, exceptions = exceptions_in(parameters)
        whole = parameters + labels_and_parts
    if layers:
        base = base_of_layers(data[:64], whole)
        layers = [places_in(layer, base) for layer in layers]
    check(of_payload == xxh3_64(payload), "damaged payload")
    check(kind in KINDS, "unknown kind")
    if hash in (4, 5):
        check(kind in (1, 5, 6, 7), "a kind without halves")
        seeds = seeds_of_halves(seed)
        made = Halves(KINDS[kind], kind_version, seeds, count, parameters, payload)
    else:
        made = KINDS[kind](kind_version, {3: 1, 7: 6}.get(hash, hash), seed, count, parameters, payload)
    made.labels = labels
    made.exceptions = exceptions
    made.layers = layers
    if layers:
        base_says_yes = made.may_contain
        made.may_contain = lambda key: base_says_yes(key) or any(
            hash_of(key, seed) * places >> 64 in found for found, places in layers)
    if exceptions:
        passes = made.may_contain
        own_hash = (lambda key: made.hashes(key)[1]) if hash in (6, 7) else (lambda key: hash_of(key, seed))
        made.may_contain = lambda key: passes(key) and own_hash(key) not in exceptions
    return (made, parts) if of_parts else made


class PatchDecoder:
    """The arithmetic code of a patch."""

    def __init__(self, code):
        self.code, self.at, self.range = code, 0, 2**48 - 1
        self.x = 0
        for _ in range(6):
            self.next_byte()

    def next_byte(self):
        self.x = self.x << 8 | (self.code[self.at] if self.at < len(self.code) else 0)
        self.at += 1

    def bit(self, model):
        p, c = model
        bound = self.range // 65536 * p
        w = 65536 // (c + 2)
        if value := self.x < bound:
            self.range = bound
            p += (65536 - p) * w // 65536
        else:
            self.x, self.range = self.x - bound, self.range - bound
            p -= p * w // 65536
        model[:] = min(max(p, 32), 65504), min(c + 1, 1023)
        while self.range < 2**40:
            self.range <<= 8
            self.next_byte()
        return value


class Changes:
    """The changes of one part of a file, page by page."""

    def __init__(self, decoder, sets, step):
        model = lambda p: [min(max(p, 32), 65504), 8]
        self.bit, self.sets, self.last = decoder.bit, sets, 1
        most = 2**32 - 1
        s = min(max(((16 - step % 8) << 28) >> step // 8, 1), most)
        self.first, self.second = [], []
        for _ in range(17):
            self.second.append(model(s // 65536))
            row = []
            for i in range(9):
                l, r = min(2 * s * i // 8, most), min(2 * s * (8 - i) // 8, most)
                row.append(model(65536 * l // (l + r - l * r // 2**32)))
            self.first.append(row)
            s = min(2 * s - s * s // 2**32, most)
        self.page_models = [model(s // 65536), model(s // 65536)]
        self.zero = [None] + [[model(65536 // z), model(1024)] for z in (1, 2, 3, 4)]
        self.value = [[[32768, 0] for _ in range(16)] for _ in range(16)]

    def page(self, old, size):
        old = int.from_bytes(old[:65536], "little")
        self.words = (size + 7) // 8
        self.last = self.bit(self.page_models[self.last])
        change = self.node(old, 2**19, 0) if self.last else 0
        return (old ^ change).to_bytes(65536, "little")[:size]

    def node(self, old, bits, at):
        """The change of a node that has some. `at` is its first bit in the page."""
        if bits == 4:
            return self.group(old & 15)
        half = bits // 2
        level, share = bits.bit_length() - 4, 4
        has_first = has_second = True
        if bits > 64:
            has_second = (at + half) // 64 < self.words
        elif self.sets:
            mask = (1 << half) - 1
            z1, z2 = (half - (part & mask).bit_count() for part in (old, old >> half))
            has_first, has_second = z1 != 0 or z2 == 0, z2 != 0
            share = (8 * z1 + (z1 + z2) // 2) // (z1 + z2)
        first = not has_second or (has_first and self.bit(self.first[level][share]))
        second = not first or (has_second and self.bit(self.second[level]))
        change = self.node(old & (1 << half) - 1, half, at) if first else 0
        return change | (self.node(old >> half & (1 << half) - 1, half, at + half) << half if second else 0)

    def group(self, old):
        change = 0
        if self.sets:
            left = 4 - old.bit_count()
            for bit in (8, 4, 2, 1):
                if not old & bit:
                    if (left == 1 and not change) or self.bit(self.zero[left][1 if change else 0]):
                        change |= bit
                    left -= 1
            return change
        so_far = 1
        for _ in range(4):
            so_far = 2 * so_far + (so_far == 8 or self.bit(self.value[old][so_far]))
        return so_far - 16


def patched(old, patch):
    """The new file of a patch."""
    check(patch[:8] == b"\x89BPATCH\n" and len(patch) > 25, "no patch")
    check(patch[8:16] == old[56:64], "another old file")
    if patch[24] == 0:
        return patch[25:]
    check(patch[24] in (1, 2), "an unknown method")
    blocks, at = number_in(patch, 25)
    length, at = number_in(patch, at)
    decoder = PatchDecoder(patch[at + 1 :])
    unsealed = old[:56] + bytes(8) + old[64:]
    split = 64 + struct.unpack_from("<I", old, 20)[0]
    new = []
    for before, size, sets, step in ((unsealed[:split], 64 * blocks, False, 24), (old[split:], length, patch[24] == 2, patch[at])):
        changes = Changes(decoder, sets, step)
        new += [changes.page(before[i : i + 65536], min(65536, size - i)) for i in range(0, size, 65536)]
    check(decoder.at >= len(decoder.code), "bytes behind the code")
    new = b"".join(new)
    return new[:56] + patch[16:24] + new[64:]
