//! The kinds of filters: from parameters and payload to an answer for a hash.

mod blocked_bloom;
mod bloom;
mod cuckoo;
mod fuse;
mod ribbon;

use crate::bytes::{are_zero, f64_at, u64_at};
use crate::error::{check, Error, ErrorKind};

const NAMES: [&str; 11] = [
    "bloom",
    "counting_bloom",
    "scalable_bloom",
    "cuckoo",
    "blocked_bloom",
    "fuse",
    "ribbon",
    "vector_quotient",
    "expandable",
    "exact",
    "file_index",
];

pub(crate) fn name_of(kind: u16) -> &'static str {
    NAMES.get(usize::from(kind).wrapping_sub(1)).copied().unwrap_or("unknown")
}

pub(crate) enum Kind {
    Bloom(bloom::Bloom),
    BlockedBloom(blocked_bloom::BlockedBloom),
    Cuckoo(cuckoo::Cuckoo),
    Fuse(fuse::Fuse),
    Ribbon(ribbon::Ribbon),
}

impl Kind {
    /// Checks parameters and payload, so that contains() reads inside the payload only.
    pub(crate) fn read(kind: u16, version: u16, count: u64, parameters: &[u8], payload: &[u8]) -> Result<Self, Error> {
        let known_version = if kind == 4 { 2 } else { 1 };
        if !matches!(kind, 1 | 2 | 4 | 5 | 6 | 7) || version != known_version {
            return Err(Error::new(
                ErrorKind::Unsupported,
                format!("this crate does not read version {version} of kind {}; use the command line", name_of(kind)),
            ));
        }
        Ok(match kind {
            1 => Self::Bloom(bloom::Bloom::read(parameters, payload)?),
            2 => Self::Bloom(bloom::Bloom::read_counting(parameters, payload)?),
            4 => Self::Cuckoo(cuckoo::Cuckoo::read(count, parameters, payload)?),
            5 => Self::BlockedBloom(blocked_bloom::BlockedBloom::read(parameters, payload)?),
            6 => Self::Fuse(fuse::Fuse::read(count, parameters, payload)?),
            _ => Self::Ribbon(ribbon::Ribbon::read(count, parameters, payload)?),
        })
    }

    pub(crate) fn capacity(&self) -> u64 {
        match self {
            Self::Bloom(filter) => filter.capacity,
            Self::BlockedBloom(filter) => filter.capacity,
            Self::Cuckoo(filter) => filter.capacity,
            Self::Fuse(filter) => filter.count,
            Self::Ribbon(filter) => filter.count,
        }
    }

    pub(crate) fn contains(&self, payload: &[u8], h: u64) -> bool {
        match self {
            Self::Bloom(filter) => filter.contains(payload, h),
            Self::BlockedBloom(filter) => filter.contains(payload, h),
            Self::Cuckoo(filter) => filter.contains(payload, h),
            Self::Fuse(filter) => filter.contains(payload, h),
            Self::Ribbon(filter) => filter.contains(payload, h),
        }
    }
}

/// Checks the length of parameters, and that they are zero from `end` on.
fn check_block(parameters: &[u8], size: usize, end: usize) -> Result<(), Error> {
    check(parameters.len() == size && are_zero(&parameters[end..]), "its parameters are malformed")
}

/// The planned capacity, after a check of it and of the rate that follows.
fn read_plan(parameters: &[u8]) -> Result<u64, Error> {
    let capacity = u64_at(parameters, 0);
    check((1..=1 << 57).contains(&capacity) && (0.0..=1.0).contains(&f64_at(parameters, 8)), "its plan is out of range")?;
    Ok(capacity)
}

fn check_excess(parameters: &[u8]) -> Result<(), Error> {
    let excess = f64_at(parameters, 32);
    check(excess == 0.0 || excess >= 1.0 / 1_048_576.0, "its estimate is out of range")
}

const WRONG_SIZE: &str = "its payload does not fit its parameters";
