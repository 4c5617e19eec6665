//! Binary fuse filters in shards.

use super::{check_block, WRONG_SIZE};
use crate::bytes::{are_zero, bit_at, bits_at, mulhi, u16_at, u32_at, u64_at};
use crate::error::{check, Error};
use crate::hash::{remix, GOLDEN};

const WRONG: &str = "its parameters are out of range";

pub(crate) struct Fuse {
    pub count: u64,
    arity: u32,
    width: u32,
    segment_bits: u32,
    shards: u64,
    /// The size of the list of shards, after which the fingerprints begin.
    directory: usize,
}

impl Fuse {
    pub(crate) fn read(count: u64, parameters: &[u8], payload: &[u8]) -> Result<Self, Error> {
        check_block(parameters, 64, 24)?;
        let (arity, width) = (u32::from(u16_at(parameters, 0)), u32::from(u16_at(parameters, 2)));
        let (segment_bits, shards, segments) = (u32_at(parameters, 4), u64::from(u32_at(parameters, 8)), u64_at(parameters, 16));
        check(u32_at(parameters, 12) == 0, "its parameters are malformed")?;
        check((3..=4).contains(&arity) && (1..=32).contains(&width) && (2..=18).contains(&segment_bits), WRONG)?;
        if count == 0 {
            check(shards == 0 && segments == 0 && payload.is_empty(), WRONG_SIZE)?;
            return Ok(Self { count, arity, width, segment_bits, shards, directory: 0 });
        }
        check(shards >= 1 && segments >= u64::from(arity) * shards && segments <= 1 << (44 - segment_bits), WRONG)?;
        check(count <= segments << segment_bits, WRONG)?;
        let bits = (segments << segment_bits) * u64::from(width);
        let directory = (16 * shards).div_ceil(64) * 64;
        check(payload.len() as u64 == directory + (bits.div_ceil(8) + 7).div_ceil(64) * 64, WRONG_SIZE)?;
        let directory = directory as usize;
        let (list, fingerprints) = payload.split_at(directory);
        let (list, padding) = list.split_at(16 * shards as usize);
        let mut next = 0;
        for shard in list.chunks_exact(16) {
            let (first, starts) = (u64::from(u32_at(shard, 0)), u64::from(u32_at(shard, 4)));
            check(first == next && starts >= 1, "its list of shards is malformed")?;
            next += starts + u64::from(arity) - 1;
        }
        check(next == segments && are_zero(padding), "its list of shards is malformed")?;
        let end = bits.div_ceil(8);
        let is_padded = (bits..end * 8).all(|p| !bit_at(fingerprints, p)) && are_zero(&fingerprints[end as usize..]);
        check(is_padded, "bits after the last fingerprint are not zero")?;
        Ok(Self { count, arity, width, segment_bits, shards, directory })
    }

    pub(crate) fn contains(&self, payload: &[u8], h: u64) -> bool {
        if self.shards == 0 {
            return false;
        }
        let at = mulhi(h, self.shards) as usize * 16;
        let (first, starts, seed) = (u64::from(u32_at(payload, at)), u64::from(u32_at(payload, at + 4)), u64_at(payload, at + 8));
        let fingerprints = &payload[self.directory..];
        let (s, width) = (self.segment_bits, u64::from(self.width));
        let x = remix(h ^ seed);
        let place = mulhi(x, starts << s);
        let slot = |place: u64| bits_at(fingerprints, ((first << s) + place) * width, self.width);
        let mut found = slot(place);
        for j in 1..self.arity {
            found ^= slot((place + (u64::from(j) << s)) ^ (x >> ((self.arity - 1 - j) * s) & ((1 << s) - 1)));
        }
        found == x.wrapping_mul(GOLDEN) >> (64 - self.width)
    }
}
