//! Quotient filters that grow by segments.

use super::WRONG_SIZE;
use crate::bytes::{bits_at, f64_at, find_zero, u16_at, u32_at, u64_at};
use crate::error::{check, Error};

const WRONG: &str = "its parameters are out of range";
const BLOCK_CELLS: u64 = 32;

pub(crate) struct Expandable {
    /// The number of keys that the filter has room for.
    pub capacity: u64,
    /// Bits of a hash that choose a segment, in segments that were not split.
    level: u32,
    /// Segments below this number were split.
    split: u64,
    cell_bits: u32,
    slot_bits: u32,
    /// The same in segments that were split, and in their other halves.
    split_slot_bits: u32,
    /// Where each segment begins in the payload.
    segments: Vec<u64>,
}

impl Expandable {
    /// Fails if the list of segments does not fit the payload. Takes O(segments), and 8 bytes of memory for each; a segment has
    /// at least 32 bytes of the file. Blocks are not checked: queries read inside a segment, whatever its bytes are.
    pub(crate) fn read(count: u64, parameters: &[u8], payload: &[u8]) -> Result<Self, Error> {
        check(parameters.len() == 64, "its parameters are malformed")?;
        let [planned, entries, split] = [0, 32, 40].map(|offset| u64_at(parameters, offset));
        let [rate, growth, spent] = [8, 16, 24].map(|offset| f64_at(parameters, offset));
        let doublings = u32_at(parameters, 48);
        let [level, cell_bits, full_cell_bits, slot_bits, split_slot_bits, most_per_cell] =
            [52, 54, 56, 58, 60, 62].map(|offset| u32::from(u16_at(parameters, offset)));
        check((1..=1 << 57).contains(&planned) && rate > 0.0 && rate < 1.0 && (0.0..=1.0).contains(&spent), WRONG)?;
        check(growth == 0.0 || (1.0..=(1_u64 << 50) as f64).contains(&growth), WRONG)?;
        check(doublings <= 128 && level <= 50 && split < 1 << level && most_per_cell == 2, WRONG)?;
        let least_cell_bits = if growth == 1.0 { 8 } else { 12 };
        check((least_cell_bits..=14).contains(&full_cell_bits) && (5..=full_cell_bits).contains(&cell_bits), WRONG)?;
        let widens = cell_bits < full_cell_bits;
        check(!widens || level == 0, WRONG)?;
        check((2..=57).contains(&slot_bits) && (2..=57).contains(&split_slot_bits) && split_slot_bits + 1 >= slot_bits, WRONG)?;
        let is_splitting = u32::from(split != 0);
        check(split != 0 || split_slot_bits == slot_bits, WRONG)?;
        check(level + cell_bits + slot_bits.max(split_slot_bits + is_splitting) <= 64, WRONG)?;
        let n = (1 << level) + split;
        let is_fixed = growth == 1.0 && doublings == 0;
        check(!is_fixed || planned <= (2 * n) << cell_bits, WRONG)?;
        let size = payload.len() as u64;
        check(n <= size / 8 && entries.div_ceil(8) <= size, WRONG_SIZE)?;

        let cells = 1 << cell_bits;
        let least_size = least_segment_size(cells);
        let mut segments = Vec::with_capacity(n as usize);
        let (mut at, mut copies) = (8 * n, 0);
        for entry in payload[..8 * n as usize].chunks_exact(8) {
            let (bytes, counted) = (8 * u64::from(u32_at(entry, 0)), u64::from(u32_at(entry, 4)));
            check(bytes >= least_size && bytes + 16 * counted <= size - at, WRONG_SIZE)?;
            segments.push(at);
            at += bytes + 16 * counted;
            copies += counted;
        }
        check(at == size, WRONG_SIZE)?;
        check(copies <= count, "its count is out of range")?;
        let capacity = if is_fixed { planned } else { room(planned, n, cells, widens) };
        Ok(Self { capacity, level, split, cell_bits, slot_bits, split_slot_bits, segments })
    }

    /// Takes O(1), and O(log c) for a segment with c counted copies.
    pub(crate) fn contains(&self, payload: &[u8], h: u64) -> bool {
        let is_split = h & ((1 << self.level) - 1) < self.split;
        let level = self.level + u32::from(is_split);
        let number = (h & ((1 << level) - 1)) as usize;
        let cell = h >> level & ((1 << self.cell_bits) - 1);
        let remainder = h >> (level + self.cell_bits);
        let width = if is_split { self.split_slot_bits } else { self.slot_bits };
        let (words, counted) = (u32_at(payload, 8 * number) as usize, u32_at(payload, 8 * number + 4) as usize);
        let (segment, rest) = payload[self.segments[number] as usize..].split_at(8 * words);
        let blocks = 1 << self.cell_bits >> BLOCK_CELLS.trailing_zeros();
        is_in_segment(segment, blocks, cell, remainder, width) || is_counted(&rest[..16 * counted], h)
    }
}

/// The size of a segment without entries, which has the offsets of its blocks and then at least 16 bytes.
fn least_segment_size(cells: u64) -> u64 {
    (2 * (cells / BLOCK_CELLS + 1) + 16).div_ceil(8) * 8
}

/// The number of keys that the filter has room for: the planned one, or if the filter has grown beyond it, the number at which
/// it grows again.
fn room(planned: u64, segments: u64, cells: u64, widens: bool) -> u64 {
    let (last, next) = match segments {
        _ if widens => (cells, 2 * cells),
        1 | 2 => (cells, segments * (cells / 4 * 3)),
        _ => ((segments - 1) * (cells / 4 * 3), segments * (cells / 4 * 3)),
    };
    if planned > last {
        planned
    } else {
        next
    }
}

/// Whether a slot of the cell matches the remainder.
fn is_in_segment(segment: &[u8], blocks: usize, cell: u64, remainder: u64, width: u32) -> bool {
    let (offsets, area) = segment.split_at(2 * (blocks + 1));
    let block = (cell / BLOCK_CELLS) as usize;
    let (begin, end) = (u64::from(u16_at(offsets, 2 * block)), u64::from(u16_at(offsets, 2 * block + 2)));
    // In a damaged segment a block may be elsewhere, or have no such cell.
    if end > area.len() as u64 {
        return false;
    }
    let (begin, end) = (8 * begin, 8 * end);
    let in_block = cell % BLOCK_CELLS;
    let Some(zero) = find_zero(area, begin, end, in_block as u32) else { return false };
    let Some(next) = find_zero(area, zero + 1, end, 0) else { return false };
    // The ones before the cell's zero are the entries of the cells before.
    let (first, last) = (zero - begin - in_block, next - 1 - begin - in_block);
    if last * u64::from(width) > end - begin {
        return false;
    }
    (first..last).any(|slot| {
        let slot = bits_at(area, end - (slot + 1) * u64::from(width), width);
        slot != 0 && (slot ^ remainder) & ((1 << slot.ilog2()) - 1) == 0
    })
}

/// Whether the hash is in a segment's list of copies.
fn is_counted(list: &[u8], h: u64) -> bool {
    let (mut begin, mut end) = (0, list.len() / 16);
    while begin < end {
        let middle = (begin + end) / 2;
        if u64_at(list, 16 * middle) < h {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    list.len() > 16 * begin && u64_at(list, 16 * begin) == h
}
