//! Bumped ribbon filters.

use std::array;

use super::WRONG_SIZE;
use crate::bytes::{are_zero, f64_at, mulhi, u32_at, u64_at};
use crate::error::{check, Error};
use crate::hash::{remix, GOLDEN};

const WRONG: &str = "its parameters are out of range";

pub(crate) struct Ribbon {
    pub count: u64,
    levels: Vec<Level>,
}

struct Level {
    seed: u64,
    shards: u64,
    starts: u64,
    /// Starts below it have `columns` columns, the others one more.
    cut: u64,
    columns: u64,
    /// Where codes and groups begin in the payload.
    codes: Option<u64>,
    groups: u64,
    /// The groups below the cut. They have `columns` bytes, the others one more.
    lower_groups: u64,
}

impl Ribbon {
    pub(crate) fn read(count: u64, parameters: &[u8], payload: &[u8]) -> Result<Self, Error> {
        check(parameters.len() >= 64, "its parameters are malformed")?;
        let rate = f64_at(parameters, 0);
        let n = u32_at(parameters, 8) as usize;
        check(rate > 0.0 && rate < 1.0 && n <= 32 && (n == 0) == (count == 0) && u32_at(parameters, 12) == 0, WRONG)?;
        let end = 16 + 40 * n;
        check(parameters.len() == end.div_ceil(64) * 64 && are_zero(&parameters[end..]), "its parameters are malformed")?;
        let mut levels = Vec::with_capacity(n);
        let mut at = 0_u64;
        for (i, record) in parameters[16..end].chunks_exact(40).enumerate() {
            let [seed, shards, starts, cut, columns] = [0, 8, 16, 24, 32].map(|offset| u64_at(record, offset));
            let all = shards.checked_mul(starts).filter(|&all| (1..=1 << 46).contains(&all));
            let all = all.ok_or_else(|| Error::corrupt(WRONG))?;
            let bumps = i + 1 < n;
            check(seed < 1 << 63 && cut <= all && columns <= 31, WRONG)?;
            check(shards == 1 || starts % 16 == 0, WRONG)?;
            let codes = bumps.then_some(at);
            let groups = at + if bumps { all.div_ceil(64) } else { 0 };
            let lower_groups = cut + 7 * (cut / starts);
            at = groups + columns * lower_groups + (columns + 1) * (all + 7 * shards - lower_groups);
            // The bytes of a payload bound the sum, which so cannot overflow.
            check(at <= payload.len() as u64, WRONG_SIZE)?;
            levels.push(Level { seed, shards, starts, cut, columns, codes, groups, lower_groups });
        }
        let expected = if n == 0 { 0 } else { at + 64 };
        check(payload.len() as u64 == expected, WRONG_SIZE)?;
        check(are_zero(&payload[at as usize..]), "bytes after the last level are not zero")?;
        Ok(Self { count, levels })
    }

    pub(crate) fn contains(&self, payload: &[u8], h: u64) -> bool {
        let mut y = h;
        for level in &self.levels {
            if level.seed != 0 {
                y = remix(y ^ level.seed);
            }
            let shard = mulhi(y, level.shards);
            let start = shard * level.starts + mulhi(y.wrapping_mul(level.shards), level.starts);
            if let Some(codes) = level.codes {
                let code = payload[(codes + start / 64) as usize] >> (start % 64 / 16 * 2) & 3;
                if start % 16 < [0, 2, 5, 16][usize::from(code)] {
                    continue;
                }
            }
            return level.contains(payload, y, shard, start);
        }
        false
    }
}

impl Level {
    fn contains(&self, payload: &[u8], y: u64, shard: u64, start: u64) -> bool {
        let columns = self.columns as usize + usize::from(start >= self.cut);
        // A window may have groups on both sides of the cut.
        let first = start + 7 * shard;
        let groups: [usize; 8] = array::from_fn(|i| {
            let group = first + i as u64;
            (self.groups + self.columns * group + group.saturating_sub(self.lower_groups)) as usize
        });
        let c = y.wrapping_mul(GOLDEN);
        let row = (c ^ c >> 32).to_le_bytes();
        let result = (y ^ y >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 32;
        // The parity of a column is that of the exclusive or of its bytes.
        (0..columns).all(|column| {
            let folded = (0..8).fold(0, |folded, i| folded ^ payload[groups[i] + column] & row[i]);
            u64::from(folded.count_ones() & 1) == result >> column & 1
        })
    }
}
