//! Chains of Bloom filters, of which each is planned for more keys than the one before.

use super::bloom::Bloom;
use super::{check_block, WRONG_SIZE};
use crate::bytes::{are_zero, f64_at, u16_at, u32_at, u64_at};
use crate::error::{check, Error};

const WRONG: &str = "its parameters are out of range";

pub(crate) struct ScalableBloom {
    /// Of all members.
    pub capacity: u64,
    /// The members, with their places in the payload.
    members: Vec<(usize, Bloom)>,
}

/// The plan of the whole chain.
struct Plan {
    capacity: u64,
    rate: f64,
    growth: f64,
}

impl ScalableBloom {
    /// Fails if the members differ from the plan, or do not fit the payload or the count. Takes O(members), at most 256.
    pub(crate) fn read(count: u64, parameters: &[u8], payload: &[u8]) -> Result<Self, Error> {
        check(parameters.len() >= 64, "its parameters are malformed")?;
        let plan = Plan { capacity: u64_at(parameters, 0), rate: f64_at(parameters, 8), growth: f64_at(parameters, 16) };
        let n = u32_at(parameters, 32) as usize;
        check((1..=256).contains(&n), WRONG)?;
        let end = 40 + 32 * n;
        check_block(parameters, end.div_ceil(64) * 64, end)?;
        check((1..=1 << 57).contains(&plan.capacity) && plan.rate > 0.0 && plan.rate < 1.0, WRONG)?;
        check((1.0..=65536.0).contains(&plan.growth) && (0.01..=0.99).contains(&f64_at(parameters, 24)), WRONG)?;
        check(u16_at(parameters, 36) == 1 && u16_at(parameters, 38) == 0, "its probe rule is unknown")?;
        let mut members = Vec::with_capacity(n);
        let (mut capacity, mut before, mut at) = (0, 0, 0);
        for (i, record) in parameters[40..end].chunks_exact(32).enumerate() {
            let (keys, bits, functions) = (u64_at(record, 0), u64_at(record, 16), u32_at(record, 24));
            check((1..=(1 << 57) - capacity).contains(&keys) && (0.0..=1.0).contains(&f64_at(record, 8)), WRONG)?;
            check((1..=1 << 62).contains(&bits) && (1..=64).contains(&functions) && u32_at(record, 28) == 0, WRONG)?;
            check(plan.allows(i as u32, keys, bits, functions), "its members are not those of its plan")?;
            let size = bits.div_ceil(8);
            check(size.div_ceil(64) * 64 <= (payload.len() - at) as u64, WRONG_SIZE)?;
            let bits_end = at + size as usize;
            let next = at + (size as usize).div_ceil(64) * 64;
            check(are_zero(&payload[bits_end..next]), "bytes after a member are not zero")?;
            members.push((at, Bloom::over(&payload[at..bits_end], keys, bits, functions, 1)?));
            (before, at) = (capacity, next);
            capacity += keys;
        }
        check(at == payload.len(), WRONG_SIZE)?;
        check((before..=capacity).contains(&count), "its count is out of range")?;
        Ok(Self { capacity, members })
    }

    /// Takes O(k) for each member, up to the first one that says yes.
    pub(crate) fn contains(&self, payload: &[u8], h: u64) -> bool {
        self.members.iter().any(|(at, member)| member.contains(&payload[*at..], h))
    }
}

impl Plan {
    /// Whether member `i` has the capacity that is planned for it, and no higher rate than the whole chain.
    fn allows(&self, i: u32, keys: u64, bits: u64, functions: u32) -> bool {
        let planned = if i == 0 {
            keys == self.capacity
        } else {
            keys as f64 == (self.capacity as f64 * power(self.growth, i) * (1.0 - 1e-12)).ceil()
        };
        planned && power(-(-f64::from(functions) * keys as f64 / bits as f64).exp_m1(), functions) <= self.rate
    }
}

/// x to the power of k by squaring, with the rounding of the program that planned the members.
fn power(mut x: f64, mut k: u32) -> f64 {
    let mut product = 1.0;
    while k != 0 {
        if k % 2 == 1 {
            product *= x;
        }
        x *= x;
        k /= 2;
    }
    product
}
