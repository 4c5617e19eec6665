//! Bloom filters, and those with counters in place of bits.

use super::{check_block, check_excess, read_plan, WRONG_SIZE};
use crate::bytes::{bit_at, mulhi, u16_at, u32_at, u64_at};
use crate::error::{check, Error};
use crate::hash::{remix, GOLDEN};

pub(crate) struct Bloom {
    pub capacity: u64,
    places: u64,
    functions: u32,
    /// Bits of a place: 1, or those of a counter.
    width: u32,
}

impl Bloom {
    pub(crate) fn read(parameters: &[u8], payload: &[u8]) -> Result<Self, Error> {
        check_block(parameters, 64, 40)?;
        check_excess(parameters)?;
        Self::read_places(parameters, payload, 1)
    }

    pub(crate) fn read_counting(parameters: &[u8], payload: &[u8]) -> Result<Self, Error> {
        check_block(parameters, 128, 68)?;
        let width = u32_at(parameters, 64);
        check(u64_at(parameters, 32) == 0 && parameters[40..64].iter().all(|&byte| byte == 0), "its parameters are malformed")?;
        check(matches!(width, 4 | 8 | 16), "its counters have a wrong size")?;
        Self::read_places(parameters, payload, width)
    }

    fn read_places(parameters: &[u8], payload: &[u8], width: u32) -> Result<Self, Error> {
        let capacity = read_plan(parameters)?;
        let (places, functions) = (u64_at(parameters, 16), u32_at(parameters, 24));
        check((1..=(1 << 62) / u64::from(width)).contains(&places) && (1..=64).contains(&functions), "its parameters are out of range")?;
        check(u16_at(parameters, 28) == 1 && u16_at(parameters, 30) == 0, "its probe rule is unknown")?;
        Self::over(payload, capacity, places, functions, width)
    }

    /// A filter over its places. There are at most 2^62 bits of them.
    pub(super) fn over(payload: &[u8], capacity: u64, places: u64, functions: u32, width: u32) -> Result<Self, Error> {
        let bits = places * u64::from(width);
        check(payload.len() as u64 == bits.div_ceil(8), WRONG_SIZE)?;
        check((bits..bits.div_ceil(8) * 8).all(|p| !bit_at(payload, p)), "bits after the last one are not zero")?;
        Ok(Self { capacity, places, functions, width })
    }

    /// The key's places by double hashing.
    pub(crate) fn contains(&self, payload: &[u8], h: u64) -> bool {
        let step = remix(h) | 1;
        let mut g = h;
        for _ in 0..self.functions {
            let place = mulhi((g ^ g >> 32).wrapping_mul(GOLDEN), self.places);
            let is_set = match self.width {
                1 => bit_at(payload, place),
                4 => payload[(place / 2) as usize] >> (place % 2 * 4) & 15 != 0,
                8 => payload[place as usize] != 0,
                _ => u16_at(payload, place as usize * 2) != 0,
            };
            if !is_set {
                return false;
            }
            g = g.wrapping_add(step);
        }
        true
    }
}
