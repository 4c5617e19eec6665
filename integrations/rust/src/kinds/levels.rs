//! Levels of equations over windows of slots, which `ribbon` and `exact` have.

use super::WRONG_SIZE;
use crate::bytes::{mulhi, u32_at, u64_at};
use crate::error::{check, Error};
use crate::hash::{remix, GOLDEN};

const WRONG: &str = "its parameters are out of range";

/// The slots of a key's window, in groups of 8, and the codes of levels with such windows.
pub(super) struct Window {
    pub groups: u64,
    /// Starts that share a code.
    pub bucket: u64,
    /// The number of starts that each code bumps.
    bumped: [u64; 4],
}

/// Windows of 64 slots.
pub(super) const NARROW: Window = Window { groups: 8, bucket: 16, bumped: [0, 2, 5, 16] };
/// Windows of 128 slots.
pub(super) const WIDE: Window = Window { groups: 16, bucket: 64, bumped: [0, 5, 12, 64] };

/// The starts of a level, and where its codes and groups begin in the payload.
pub(super) struct Starts {
    seed: u64,
    shards: u64,
    per_shard: u64,
    /// None in the last level, which bumps no key.
    codes: Option<u64>,
    pub groups: u64,
}

/// Where a key's window begins.
pub(super) struct Place {
    pub start: u64,
    /// The first of the window's groups.
    pub group: u64,
}

impl Starts {
    /// A level whose codes, if it bumps, are at `at` of the payload.
    pub(super) fn read(seed: u64, shards: u64, per_shard: u64, bumps: bool, window: &Window, at: u64) -> Result<Self, Error> {
        let all = shards.checked_mul(per_shard).filter(|&all| (1..=1 << 46).contains(&all));
        let all = all.ok_or_else(|| Error::corrupt(WRONG))?;
        check(seed < 1 << 63 && (shards == 1 || per_shard % window.bucket == 0), WRONG)?;
        let code_bytes = if bumps { all.div_ceil(4 * window.bucket) } else { 0 };
        Ok(Self { seed, shards, per_shard, codes: bumps.then_some(at), groups: at + code_bytes })
    }

    pub(super) fn all(&self) -> u64 {
        self.shards * self.per_shard
    }

    /// The number of groups before the first one of a start.
    pub(super) fn groups_before(&self, start: u64, window: &Window) -> u64 {
        start + (window.groups - 1) * (start / self.per_shard)
    }

    /// Where the key's window begins, or nothing if this level bumps the key. `y` is the key's hash in the level before, and
    /// becomes that in this one.
    #[inline]
    pub(super) fn find(&self, payload: &[u8], y: &mut u64, window: &Window) -> Option<Place> {
        if self.seed != 0 {
            *y = remix(*y ^ self.seed);
        }
        let shard = mulhi(*y, self.shards);
        let start = shard * self.per_shard + mulhi(y.wrapping_mul(self.shards), self.per_shard);
        if let Some(codes) = self.codes {
            let bucket = start / window.bucket;
            let code = payload[(codes + bucket / 4) as usize] >> (bucket % 4 * 2) & 3;
            if start % window.bucket < window.bumped[usize::from(code)] {
                return None;
            }
        }
        Some(Place { start, group: start + (window.groups - 1) * shard })
    }
}

/// The slots of the first 64 in its window that a key adds up.
pub(super) fn row(y: u64) -> u64 {
    let c = y.wrapping_mul(GOLDEN);
    c ^ c >> 32
}

/// The same for the slots from 64 on.
fn upper_row(y: u64) -> u64 {
    let d = (y ^ y >> 31).wrapping_mul(0xd6e8_feb8_6659_fd93);
    d ^ d >> 32
}

/// The fingerprint of a hash, 32 bits.
pub(super) fn fingerprint(y: u64) -> u64 {
    (y ^ y >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 32
}

/// Levels that give each key a value, with the same number of columns in all of them.
#[derive(Default)]
pub(super) struct Section {
    columns: u64,
    levels: Vec<Starts>,
}

impl Section {
    /// Reads the records of the levels, 16 bytes each. Their slots begin at `at` of the payload, which becomes their end. Fails
    /// if they do not fit the payload. Takes O(levels).
    pub(super) fn read(records: &[u8], columns: u64, window: &Window, at: &mut u64, payload: &[u8]) -> Result<Self, Error> {
        let n = records.len() / 16;
        check(n <= 32 && (columns == 0) == (n == 0), WRONG)?;
        let mut levels = Vec::with_capacity(n);
        for (i, record) in records.chunks_exact(16).enumerate() {
            let (shards, per_shard) = (u64::from(u32_at(record, 8)), u64::from(u32_at(record, 12)));
            let level = Starts::read(u64_at(record, 0), shards, per_shard, i + 1 < n, window, *at)?;
            *at = level.groups + columns * level.groups_before(level.all(), window);
            check(*at <= payload.len() as u64, WRONG_SIZE)?;
            levels.push(level);
        }
        Ok(Self { columns, levels })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.levels.is_empty()
    }

    /// The value of a hash; 0 without levels. Takes O(columns) in the first level that does not bump the hash.
    pub(super) fn value(&self, payload: &[u8], hash: u64, window: &Window) -> u64 {
        let mut y = hash;
        for level in &self.levels {
            if let Some(place) = level.find(payload, &mut y, window) {
                let row = (u128::from(upper_row(y)) << 64 | u128::from(row(y))).to_le_bytes();
                let begin = (level.groups + self.columns * place.group) as usize;
                let width = self.columns as usize;
                let slots = &payload[begin..begin + width * window.groups as usize];
                // The parity of a column is that of the exclusive or of its bytes.
                return (0..width).fold(0, |value, column| {
                    let bytes = slots[column..].iter().step_by(width).zip(row);
                    let folded = bytes.fold(0, |folded, (slot, row)| folded ^ slot & row);
                    value | u64::from(folded.count_ones() & 1) << column
                });
            }
        }
        0
    }

    /// Whether the value of a hash is the lowest bits of `fingerprint`.
    pub(super) fn matches(&self, payload: &[u8], hash: u64, fingerprint: u64, window: &Window) -> bool {
        self.value(payload, hash, window) == fingerprint & ((1 << self.columns) - 1)
    }
}
