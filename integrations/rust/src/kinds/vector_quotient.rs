//! Vector quotient filters: remainders in blocks of one cache line, and a stash.

use super::{check_block, read_plan, WRONG_SIZE};
use crate::bytes::{are_zero, bits_at, find_zero, mulhi, u16_at, u64_at};
use crate::error::{check, Error};
use crate::hash::GOLDEN;

const WRONG: &str = "its parameters are out of range";
/// Both blocks of a tag are in one region of so many blocks. The last region has up to twice as many, less one.
const REGION: u64 = 8192;

pub(crate) struct VectorQuotient {
    pub capacity: u64,
    blocks: u64,
    slots: u64,
    buckets: u64,
    bits: u32,
    /// The numbers of the pairs in the stash.
    stash: Vec<u64>,
}

impl VectorQuotient {
    /// Fails if the payload has another length than the parameters say, or if the stash is malformed. Takes O(1): queries read
    /// inside a block, whatever its bytes are.
    pub(crate) fn read(count: u64, parameters: &[u8], payload: &[u8]) -> Result<Self, Error> {
        check_block(parameters, 64, 38)?;
        let capacity = read_plan(parameters)?;
        let (blocks, overflow) = (u64_at(parameters, 16), u64_at(parameters, 24));
        let [slots, buckets, bits] = [32, 34, 36].map(|offset| u64::from(u16_at(parameters, offset)));
        check((1..=63).contains(&slots) && buckets >= 1 && (64..=191).contains(&(slots + buckets)), WRONG)?;
        check((5..=32).contains(&bits) && slots * (bits + 1) + buckets <= 512, WRONG)?;
        let tags = buckets << bits;
        check((1..=1 << 44).contains(&blocks) && blocks <= (1 << 63) / tags, WRONG)?;
        check(overflow == 0 || overflow.is_power_of_two() && overflow <= 1 << 56, WRONG)?;
        let stash_at = 64 * blocks;
        check(payload.len() as u64 == stash_at + 64 + 16 * overflow, WRONG_SIZE)?;
        let mut stash = Vec::new();
        let mut is_last = false;
        for entry in payload[stash_at as usize..][..64].chunks_exact(16) {
            if are_zero(entry) {
                is_last = true;
                continue;
            }
            let (pair, copies) = (u64_at(entry, 0), u64_at(entry, 8));
            check(pair < blocks * tags && copies != 0 && !is_last, "its stash is malformed")?;
            stash.push(pair);
        }
        check(count >= stash.len() as u64, "its count is out of range")?;
        Ok(Self { capacity, blocks, slots, buckets, bits: bits as u32, stash })
    }

    /// Takes O(1): two blocks.
    pub(crate) fn contains(&self, payload: &[u8], h: u64) -> bool {
        let tags = self.buckets << self.bits;
        let (first, tag) = (mulhi(h, self.blocks), mulhi(h.wrapping_mul(GOLDEN), tags));
        let second = self.other_block(first, tag);
        // A tag in the overflow table is in a block, too.
        self.is_in_block(payload, first, tag)
            || self.is_in_block(payload, second, tag)
            || !self.stash.is_empty() && self.stash.contains(&(first.min(second) * tags + tag))
    }

    fn other_block(&self, block: u64, tag: u64) -> u64 {
        let last = REGION * (self.blocks / REGION).saturating_sub(1);
        let (base, size) = if block >= last { (last, self.blocks - last) } else { (block - block % REGION, REGION) };
        let x = tag.wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 32).wrapping_mul(0x94d0_49bb_1331_11eb);
        let g = ((x >> 32) * size) >> 32;
        let local = block - base;
        base + if g >= local { g - local } else { g + size - local }
    }

    fn is_in_block(&self, payload: &[u8], block: u64, tag: u64) -> bool {
        let (begin, end) = (512 * block, 512 * (block + 1));
        let ends = end - self.slots - self.buckets;
        let (bucket, remainder) = (tag >> self.bits, tag & ((1 << self.bits) - 1));
        // A bucket's remainders are the ones between the zero of the bucket before and its own.
        let run = match bucket.checked_sub(1) {
            None => Some(ends),
            Some(before) => find_zero(payload, ends, end, before as u32).map(|zero| zero + 1),
        };
        let Some(run) = run else { return false }; // damaged
        let Some(run_end) = find_zero(payload, run, end, 0) else { return false };
        let slot = run - ends - bucket;
        let mut slots = slot..(slot + run_end - run).min(self.slots);
        slots.any(|slot| bits_at(payload, begin + slot * u64::from(self.bits), self.bits) == remainder)
    }
}
