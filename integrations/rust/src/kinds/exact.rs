//! Filters without errors among the keys of a universe, with one set of keys or with partitions.

use super::levels::{fingerprint, Section, Window, NARROW, WIDE};
use super::{check_block, WRONG_SIZE};
use crate::bytes::{are_zero, u64_at};
use crate::error::{check, Error};
use crate::hash::remix;

const WRONG: &str = "its parameters are out of range";
const MOST_KEYS: u64 = 1 << 48;
const MOST_PARTITIONS: u64 = 1 << 31;
/// The most columns of a first and of a guided section.
const MOST_COLUMNS: [usize; 2] = [24, 2];
/// Zeros at the end of a payload.
const PADDING: u64 = 64;

pub(crate) struct Exact {
    pub count: u64,
    first: Section,
    guided: Section,
    last: Section,
    /// Columns of the first section: the bits of a fingerprint before those of the guided one.
    shift: u8,
    /// Whether the filter holds the other keys of the universe.
    is_negated: bool,
}

impl Exact {
    /// Fails if the sections do not fit the payload. Takes O(levels).
    pub(crate) fn read(count: u64, parameters: &[u8], payload: &[u8]) -> Result<Self, Error> {
        check(parameters.len() >= 64, "its parameters are malformed")?;
        let [columns, guided_columns, negated] = [0, 1, 2].map(|offset| parameters[offset]);
        let levels = [3, 4, 5].map(|offset| usize::from(parameters[offset]));
        let keys = u64_at(parameters, 8);
        check(usize::from(columns) <= MOST_COLUMNS[0] && usize::from(guided_columns) <= MOST_COLUMNS[1] && negated <= 1, WRONG)?;
        check(are_zero(&parameters[6..8]) && keys <= MOST_KEYS && count <= MOST_KEYS, WRONG)?;
        let end = 16 + 16 * levels.iter().sum::<usize>();
        check_block(parameters, end.div_ceil(64) * 64, end)?;

        let (records, rest) = parameters[16..end].split_at(16 * levels[0]);
        let (guided_records, last_records) = rest.split_at(16 * levels[1]);
        let mut at = 0;
        let first = Section::read(records, columns.into(), &WIDE, &mut at, payload)?;
        let guided = Section::read(guided_records, guided_columns.into(), &NARROW, &mut at, payload)?;
        let last = Section::read(last_records, u64::from(levels[2] != 0), &WIDE, &mut at, payload)?;
        if last.is_empty() {
            check(first.is_empty() && guided.is_empty() && keys == 0 && (negated != 0) == (count != 0), WRONG)?;
            check(payload.is_empty(), WRONG_SIZE)?;
        } else {
            check(count != 0, WRONG)?;
            check_end(payload, at)?;
        }
        Ok(Self { count, first, guided, last, shift: columns, is_negated: negated != 0 })
    }

    /// Takes O(columns): three windows.
    pub(crate) fn contains(&self, payload: &[u8], h: u64) -> bool {
        let f = fingerprint(h);
        let is_held = self.first.matches(payload, h, f, &WIDE)
            && self.guided.matches(payload, h, f >> self.shift, &NARROW)
            && self.last.value(payload, remix(h), &WIDE) == 1;
        is_held != self.is_negated
    }
}

pub(crate) struct PartitionedExact {
    pub count: u64,
    partitions: usize,
    /// By their columns. Those without levels have none, or are not in the file.
    first: Vec<Section>,
    guided: Vec<Section>,
    last: Section,
}

/// The directory's entry of a partition: its columns, and whether it is negated.
struct Class(u8);

/// The columns of a partition that holds no key.
const HOLDS_NONE: usize = 31;
/// The bits of a fingerprint before those of the guided section.
const GUIDED_SHIFT: u32 = 24;

impl Class {
    fn first(&self) -> usize {
        usize::from(self.0 & 31)
    }
    fn guided(&self) -> usize {
        usize::from(self.0 >> 5 & 3)
    }
    fn is_negated(&self) -> bool {
        self.0 >> 7 != 0
    }
}

impl PartitionedExact {
    /// Fails if the sections or the directory do not fit the payload. Takes O(partitions + levels). The directory stays in the
    /// payload.
    pub(crate) fn read(count: u64, parameters: &[u8], payload: &[u8]) -> Result<Self, Error> {
        check(parameters.len() >= 64, "its parameters are malformed")?;
        let (partitions, keys) = (u64_at(parameters, 0), u64_at(parameters, 8));
        let numbers = [parameters[16], parameters[17]].map(usize::from);
        check(partitions <= MOST_PARTITIONS && keys <= MOST_KEYS && count <= MOST_KEYS, WRONG)?;
        check(numbers[0] <= MOST_COLUMNS[0] && numbers[1] <= MOST_COLUMNS[1] && are_zero(&parameters[18..24]), WRONG)?;
        let directory = (9 * partitions).div_ceil(8) * 8;
        check(directory <= payload.len() as u64, WRONG_SIZE)?;

        let mut records = Records { parameters, offset: 24, payload, at: directory };
        let first = records.sections(numbers[0], MOST_COLUMNS[0], &WIDE)?;
        let guided = records.sections(numbers[1], MOST_COLUMNS[1], &NARROW)?;
        let (columns, last) = records.section(&WIDE)?;
        check(columns <= 1, WRONG)?;
        check_block(parameters, records.offset.div_ceil(64) * 64, records.offset)?;
        if last.is_empty() {
            check(numbers == [0, 0] && keys == 0 && (partitions != 0 || count == 0), WRONG)?;
        } else {
            check(partitions != 0 && count != 0, WRONG)?;
        }
        if partitions == 0 {
            check(payload.is_empty(), WRONG_SIZE)?;
        } else {
            check_end(payload, records.at)?;
        }
        let filter = Self { count, partitions: partitions as usize, first, guided, last };
        filter.check_directory(&payload[..directory as usize])?;
        Ok(filter)
    }

    fn check_directory(&self, directory: &[u8]) -> Result<(), Error> {
        let (hashes, rest) = directory.split_at(8 * self.partitions);
        let (classes, padding) = rest.split_at(self.partitions);
        let ascends = hashes.chunks_exact(8).zip(hashes.chunks_exact(8).skip(1)).all(|(a, b)| u64_at(a, 0) < u64_at(b, 0));
        let exists = |sections: &[Section], columns: usize| columns == 0 || sections.get(columns).is_some_and(|one| !one.is_empty());
        let are_classes = classes.iter().map(|&byte| Class(byte)).all(|class| match class.first() {
            HOLDS_NONE => class.guided() == 0,
            columns => !self.last.is_empty() && exists(&self.first, columns) && exists(&self.guided, class.guided()),
        });
        check(ascends && are_classes && are_zero(padding), "its directory of partitions is malformed")
    }

    fn find(&self, payload: &[u8], partition: u64) -> Option<Class> {
        let (mut begin, mut end) = (0, self.partitions);
        while begin < end {
            let middle = (begin + end) / 2;
            let hash = u64_at(payload, 8 * middle);
            if hash == partition {
                return Some(Class(payload[8 * self.partitions + middle]));
            }
            if hash < partition {
                begin = middle + 1;
            } else {
                end = middle;
            }
        }
        None
    }

    /// Whether the filter has the partition. Takes O(log partitions).
    pub(crate) fn covers(&self, payload: &[u8], partition: u64) -> bool {
        self.find(payload, partition).is_some()
    }

    /// False without the partition. Takes O(log partitions + columns).
    pub(crate) fn contains(&self, payload: &[u8], partition: u64, h: u64) -> bool {
        let Some(class) = self.find(payload, partition) else { return false };
        let f = fingerprint(h);
        let is_held = class.first() != HOLDS_NONE
            && self.first[class.first()].matches(payload, h, f, &WIDE)
            && self.guided[class.guided()].matches(payload, h, f >> GUIDED_SHIFT, &NARROW)
            && self.last.value(payload, remix(h), &WIDE) == 1;
        is_held != class.is_negated()
    }
}

/// The records of sections, read one after the other.
struct Records<'a> {
    parameters: &'a [u8],
    /// Where the next record begins in the parameters.
    offset: usize,
    payload: &'a [u8],
    /// Where its slots begin in the payload.
    at: u64,
}

impl Records<'_> {
    /// The next section, with its number of columns.
    fn section(&mut self, window: &Window) -> Result<(usize, Section), Error> {
        let record = self.parameters.get(self.offset..).filter(|rest| rest.len() >= 8).ok_or_else(|| Error::corrupt(WRONG))?;
        let (columns, size) = (record[0], 16 * usize::from(record[1]));
        check(are_zero(&record[2..8]), WRONG)?;
        let levels = record.get(8..8 + size).ok_or_else(|| Error::corrupt(WRONG))?;
        self.offset += 8 + size;
        let section = Section::read(levels, columns.into(), window, &mut self.at, self.payload)?;
        Ok((columns.into(), section))
    }

    /// The next `n` sections, by their columns.
    fn sections(&mut self, n: usize, most: usize, window: &Window) -> Result<Vec<Section>, Error> {
        let mut by_columns = Vec::new();
        by_columns.resize_with(most + 1, Section::default);
        let mut before = 0;
        for _ in 0..n {
            let (columns, section) = self.section(window)?;
            check((before + 1..=most).contains(&columns), WRONG)?;
            by_columns[columns] = section;
            before = columns;
        }
        Ok(by_columns)
    }
}

/// Checks that the payload ends with zeros after the last section.
fn check_end(payload: &[u8], at: u64) -> Result<(), Error> {
    check(payload.len() as u64 == at + PADDING, WRONG_SIZE)?;
    check(are_zero(&payload[at as usize..]), "bytes after the last section are not zero")
}
