//! Bloom filters in blocks of one cache line.

use super::{check_block, check_excess, read_plan, WRONG_SIZE};
use crate::bytes::{array, mulhi, u16_at, u32_at, u64_at};
use crate::error::{check, Error};
use crate::hash::GOLDEN;

const SALTS: [u32; 8] = [0x47b6_137b, 0x4497_4d91, 0x8824_ad5b, 0xa2b7_289d, 0x7054_95c7, 0x2df1_424b, 0x9efc_4947, 0x5c6b_fb31];

pub(crate) struct BlockedBloom {
    pub capacity: u64,
    blocks: u64,
    bits_per_key: u32,
    layout: u16,
}

impl BlockedBloom {
    pub(crate) fn read(parameters: &[u8], payload: &[u8]) -> Result<Self, Error> {
        check_block(parameters, 64, 40)?;
        check_excess(parameters)?;
        let capacity = read_plan(parameters)?;
        let (blocks, bits_per_key) = (u64_at(parameters, 16), u32_at(parameters, 24));
        let layout = u16_at(parameters, 28);
        check((1..=3).contains(&layout) && u16_at(parameters, 30) == 0, "its layout is unknown")?;
        let most = if layout == 3 { 1 << 31 } else { 1 << 53 };
        let fits = if layout == 2 { (1..=24).contains(&bits_per_key) } else { bits_per_key == 8 };
        check((1..=most).contains(&blocks) && fits, "its parameters are out of range")?;
        check(payload.len() as u64 == blocks * if layout == 3 { 32 } else { 64 }, WRONG_SIZE)?;
        Ok(Self { capacity, blocks, bits_per_key, layout })
    }

    pub(crate) fn contains(&self, payload: &[u8], h: u64) -> bool {
        if self.layout == 3 {
            let at = ((h >> 32).wrapping_mul(self.blocks) >> 32) as usize * 32;
            let block: [u8; 32] = array(payload, at);
            return SALTS.iter().enumerate().all(|(j, &salt)| u32_at(&block, 4 * j) >> ((h as u32).wrapping_mul(salt) >> 27) & 1 != 0);
        }
        let block: [u8; 64] = array(payload, mulhi(h, self.blocks) as usize * 64);
        let mut g = h.wrapping_mul(GOLDEN);
        if self.layout == 1 {
            return (0..8).all(|j| u64_at(&block, 8 * j) >> (g >> (6 * j) & 63) & 1 != 0);
        }
        for _ in 0..self.bits_per_key {
            let bit = g >> 55;
            if block[(bit / 8) as usize] >> (bit % 8) & 1 == 0 {
                return false;
            }
            g = g.wrapping_mul(GOLDEN);
        }
        true
    }
}
