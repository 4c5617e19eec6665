//! The hash functions of keys, and the bijection of hashes.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::bytes::u64_at;

pub(crate) const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

pub(crate) fn xxh3(bytes: &[u8]) -> u64 {
    xxh3_64_with_seed(bytes, 0)
}

pub(crate) fn remix(mut x: u64) -> u64 {
    const FACTOR: u64 = 0x0e98_46af_9b1a_615d;
    x = (x ^ x >> 32).wrapping_mul(FACTOR);
    x = (x ^ x >> 32).wrapping_mul(FACTOR);
    x ^ x >> 28
}

pub(crate) fn name_of(hash: u16) -> &'static str {
    match hash {
        1 => "xxh3",
        3 => "siphash",
        4 => "xxh3-2x64",
        5 => "siphash-2x64",
        6 => "xxh3-partitioned",
        7 => "siphash-partitioned",
        _ => "unknown",
    }
}

/// A hash function of bytes.
#[derive(Clone, Copy)]
pub(crate) enum Function {
    Xxh3(u64),
    Sip(SecretKey),
}

impl Function {
    fn hash(&self, bytes: &[u8]) -> u64 {
        match self {
            Self::Xxh3(seed) => xxh3_64_with_seed(bytes, *seed),
            Self::Sip(secret) => secret.hash(bytes),
        }
    }
}

/// From the bytes of a key to its hashes.
#[derive(Clone, Copy)]
pub(crate) struct Hasher {
    pub function: Function,
    /// Whether a key has a partition, which a tab ends.
    pub has_partitions: bool,
}

/// The hash of a key, and that of its partition, which is 0 where keys have none.
#[derive(Clone, Copy, Default)]
pub(crate) struct KeyHash {
    pub key: u64,
    pub partition: u64,
}

impl Hasher {
    pub(crate) fn hash(&self, key: &[u8]) -> KeyHash {
        if !self.has_partitions {
            return KeyHash { key: self.function.hash(key), partition: 0 };
        }
        let (partition, rest) = match key.iter().position(|&byte| byte == b'\t') {
            Some(tab) => (&key[..tab], &key[tab + 1..]),
            None => (&key[..0], key),
        };
        let partition = self.function.hash(partition);
        KeyHash { key: remix(self.function.hash(rest) ^ remix(partition)), partition }
    }
}

/// A key of SipHash.
#[derive(Clone, Copy)]
pub(crate) struct SecretKey(u64, u64);

impl SecretKey {
    pub(crate) fn new(bytes: [u8; 16]) -> Self {
        Self(u64_at(&bytes, 0), u64_at(&bytes, 8))
    }
    /// What a file says of its key.
    pub(crate) fn identifier(self) -> u64 {
        self.hash(b"bloomset hash key")
    }
    /// The key of the second half of a filter.
    pub(crate) fn second(self) -> Self {
        Self(self.hash(b"bloomset second key 0"), self.hash(b"bloomset second key 1"))
    }

    /// SipHash with one round per word and three at the end (Aumasson and Bernstein, 2012).
    fn hash(self, key: &[u8]) -> u64 {
        let mut v = [
            self.0 ^ 0x736f_6d65_7073_6575,
            self.1 ^ 0x646f_7261_6e64_6f6d,
            self.0 ^ 0x6c79_6765_6e65_7261,
            self.1 ^ 0x7465_6462_7974_6573,
        ];
        let mut add = |word: u64| {
            v[3] ^= word;
            round(&mut v);
            v[0] ^= word;
        };
        let words = key.chunks_exact(8);
        let mut last = (key.len() as u64) << 56;
        for (i, &byte) in words.remainder().iter().enumerate() {
            last |= u64::from(byte) << (8 * i);
        }
        words.for_each(|word| add(u64_at(word, 0)));
        add(last);
        v[2] ^= 0xff;
        (0..3).for_each(|_| round(&mut v));
        v[0] ^ v[1] ^ v[2] ^ v[3]
    }
}

fn round(v: &mut [u64; 4]) {
    v[0] = v[0].wrapping_add(v[1]);
    v[1] = v[1].rotate_left(13) ^ v[0];
    v[0] = v[0].rotate_left(32);
    v[2] = v[2].wrapping_add(v[3]);
    v[3] = v[3].rotate_left(16) ^ v[2];
    v[0] = v[0].wrapping_add(v[3]);
    v[3] = v[3].rotate_left(21) ^ v[0];
    v[2] = v[2].wrapping_add(v[1]);
    v[1] = v[1].rotate_left(17) ^ v[2];
    v[2] = v[2].rotate_left(32);
}
