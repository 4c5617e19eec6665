//! Bumped ribbon filters.

use std::array;

use super::levels::{fingerprint, row, Starts, NARROW};
use super::WRONG_SIZE;
use crate::bytes::{are_zero, f64_at, u32_at, u64_at};
use crate::error::{check, Error};

const WRONG: &str = "its parameters are out of range";

pub(crate) struct Ribbon {
    pub count: u64,
    levels: Vec<Level>,
}

struct Level {
    starts: Starts,
    /// Starts below it have `columns` columns, the others one more.
    cut: u64,
    columns: u64,
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
            let [seed, shards, per_shard, cut, columns] = [0, 8, 16, 24, 32].map(|offset| u64_at(record, offset));
            let starts = Starts::read(seed, shards, per_shard, i + 1 < n, &NARROW, at)?;
            check(cut <= starts.all() && columns <= 31, WRONG)?;
            let lower_groups = starts.groups_before(cut, &NARROW);
            let upper_groups = starts.groups_before(starts.all(), &NARROW) - lower_groups;
            at = starts.groups + columns * lower_groups + (columns + 1) * upper_groups;
            // The bytes of a payload bound the sum, which so cannot overflow.
            check(at <= payload.len() as u64, WRONG_SIZE)?;
            levels.push(Level { starts, cut, columns, lower_groups });
        }
        let expected = if n == 0 { 0 } else { at + 64 };
        check(payload.len() as u64 == expected, WRONG_SIZE)?;
        check(are_zero(&payload[at as usize..]), "bytes after the last level are not zero")?;
        Ok(Self { count, levels })
    }

    pub(crate) fn contains(&self, payload: &[u8], h: u64) -> bool {
        let mut y = h;
        for level in &self.levels {
            if let Some(place) = level.starts.find(payload, &mut y, &NARROW) {
                return level.contains(payload, y, place.start, place.group);
            }
        }
        false
    }
}

impl Level {
    fn contains(&self, payload: &[u8], y: u64, start: u64, first: u64) -> bool {
        let columns = self.columns as usize + usize::from(start >= self.cut);
        // A window may have groups on both sides of the cut.
        let groups: [usize; 8] = array::from_fn(|i| {
            let group = first + i as u64;
            (self.starts.groups + self.columns * group + group.saturating_sub(self.lower_groups)) as usize
        });
        let row = row(y).to_le_bytes();
        let result = fingerprint(y);
        // The parity of a column is that of the exclusive or of its bytes.
        (0..columns).all(|column| {
            let folded = (0..8).fold(0, |folded, i| folded ^ payload[groups[i] + column] & row[i]);
            u64::from(folded.count_ones() & 1) == result >> column & 1
        })
    }
}
