//! Cuckoo filters: fingerprints in one of two buckets.

use super::{check_block, read_plan, WRONG_SIZE};
use crate::bytes::{are_zero, bit_at, bits_at, mulhi, u16_at, u32_at, u64_at};
use crate::error::{check, Error};
use crate::hash::GOLDEN;

pub(crate) struct Cuckoo {
    pub capacity: u64,
    buckets: u64,
    slots: u64,
    bits: u32,
    /// Fingerprints that found no slot: bucket and fingerprint.
    stash: Vec<(u64, u64)>,
}

impl Cuckoo {
    pub(crate) fn read(count: u64, parameters: &[u8], payload: &[u8]) -> Result<Self, Error> {
        check_block(parameters, 64, 28)?;
        let capacity = read_plan(parameters)?;
        let (buckets, slots, bits) = (u64_at(parameters, 16), u64::from(u16_at(parameters, 24)), u32::from(u16_at(parameters, 26)));
        check(matches!(slots, 2 | 4 | 8) && (4..=32).contains(&bits), "its parameters are out of range")?;
        let all_bits = buckets.checked_mul(slots * u64::from(bits)).filter(|&all| all > 0 && all <= 1 << 62);
        let all_bits = all_bits.ok_or_else(|| Error::corrupt("its parameters are out of range"))?;
        let table = all_bits.div_ceil(64) * 8;
        check(payload.len() as u64 == table + 64, WRONG_SIZE)?;
        check((all_bits..table * 8).all(|p| !bit_at(payload, p)), "bits after the last slot are not zero")?;
        let mut stash = Vec::new();
        let mut is_last = false;
        for entry in payload[table as usize..].chunks_exact(16) {
            if are_zero(entry) {
                is_last = true;
                continue;
            }
            let (bucket, fingerprint) = (u64_at(entry, 0), u64::from(u32_at(entry, 8)));
            let fits = bucket < buckets && fingerprint >= 1 && fingerprint < 1 << bits && are_zero(&entry[12..]);
            check(fits && !is_last, "its stash is malformed")?;
            stash.push((bucket, fingerprint));
        }
        let entries = stash.len() as u64;
        check(count >= entries && count <= buckets * slots + entries, "its count is out of range")?;
        Ok(Self { capacity, buckets, slots, bits, stash })
    }

    pub(crate) fn contains(&self, payload: &[u8], h: u64) -> bool {
        let first = mulhi(h, self.buckets);
        let fingerprint = 1 + mulhi(h.wrapping_mul(GOLDEN), (1 << self.bits) - 1);
        let x = fingerprint.wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let g = mulhi((x ^ x >> 32).wrapping_mul(0x94d0_49bb_1331_11eb), self.buckets);
        let second = if g >= first { g - first } else { g + (self.buckets - first) };
        let width = u64::from(self.bits);
        let in_bucket =
            |bucket: u64| (0..self.slots).any(|slot| bits_at(payload, (bucket * self.slots + slot) * width, self.bits) == fingerprint);
        in_bucket(first)
            || in_bucket(second)
            || self.stash.iter().any(|&(bucket, held)| held == fingerprint && (bucket == first || bucket == second))
    }
}
