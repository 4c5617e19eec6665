//! The kinds of filters: from parameters and payload to an answer for a hash.

mod blocked_bloom;
mod bloom;
mod cuckoo;
mod exact;
mod expandable;
mod fuse;
mod levels;
mod ribbon;
mod scalable_bloom;
mod vector_quotient;

use crate::bytes::{are_zero, f64_at, u64_at};
use crate::error::{check, Error, ErrorKind};
use crate::file::{Part, Stored};
use crate::hash::KeyHash;

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
    ScalableBloom(scalable_bloom::ScalableBloom),
    VectorQuotient(vector_quotient::VectorQuotient),
    Expandable(expandable::Expandable),
    Exact(exact::Exact),
    PartitionedExact(exact::PartitionedExact),
}

impl Kind {
    /// Checks parameters and payload, so that contains() reads inside the payload only.
    pub(crate) fn read(stored: &Stored, part: &Part, payload: &[u8]) -> Result<Self, Error> {
        let (kind, version, count, parameters) = (stored.kind, stored.kind_version, part.count, part.parameters);
        let is_known = match kind {
            4 => version == 2,
            10 => matches!(version, 1 | 2),
            _ => (1..10).contains(&kind) && version == 1,
        };
        if !is_known {
            return Err(Error::new(
                ErrorKind::Unsupported,
                format!("this crate does not read version {version} of kind {}; use the command line", name_of(kind)),
            ));
        }
        let fits = match stored.hash {
            4 | 5 => matches!(kind, 1 | 5 | 6 | 7),
            6 | 7 => kind == 10 && version == 2,
            _ => kind != 10 || version == 1,
        };
        check(fits, "its hash function does not fit its kind")?;
        Ok(match kind {
            1 => Self::Bloom(bloom::Bloom::read(parameters, payload)?),
            2 => Self::Bloom(bloom::Bloom::read_counting(parameters, payload)?),
            3 => Self::ScalableBloom(scalable_bloom::ScalableBloom::read(count, parameters, payload)?),
            4 => Self::Cuckoo(cuckoo::Cuckoo::read(count, parameters, payload)?),
            5 => Self::BlockedBloom(blocked_bloom::BlockedBloom::read(parameters, payload)?),
            6 => Self::Fuse(fuse::Fuse::read(count, parameters, payload)?),
            7 => Self::Ribbon(ribbon::Ribbon::read(count, parameters, payload)?),
            8 => Self::VectorQuotient(vector_quotient::VectorQuotient::read(count, parameters, payload)?),
            9 => Self::Expandable(expandable::Expandable::read(count, parameters, payload)?),
            _ if version == 1 => Self::Exact(exact::Exact::read(count, parameters, payload)?),
            _ => Self::PartitionedExact(exact::PartitionedExact::read(count, parameters, payload)?),
        })
    }

    pub(crate) fn capacity(&self) -> u64 {
        match self {
            Self::Bloom(filter) => filter.capacity,
            Self::BlockedBloom(filter) => filter.capacity,
            Self::Cuckoo(filter) => filter.capacity,
            Self::Fuse(filter) => filter.count,
            Self::Ribbon(filter) => filter.count,
            Self::ScalableBloom(filter) => filter.capacity,
            Self::VectorQuotient(filter) => filter.capacity,
            Self::Expandable(filter) => filter.capacity,
            Self::Exact(filter) => filter.count,
            Self::PartitionedExact(filter) => filter.count,
        }
    }

    pub(crate) fn contains(&self, payload: &[u8], hash: KeyHash) -> bool {
        let h = hash.key;
        match self {
            Self::Bloom(filter) => filter.contains(payload, h),
            Self::BlockedBloom(filter) => filter.contains(payload, h),
            Self::Cuckoo(filter) => filter.contains(payload, h),
            Self::Fuse(filter) => filter.contains(payload, h),
            Self::Ribbon(filter) => filter.contains(payload, h),
            Self::ScalableBloom(filter) => filter.contains(payload, h),
            Self::VectorQuotient(filter) => filter.contains(payload, h),
            Self::Expandable(filter) => filter.contains(payload, h),
            Self::Exact(filter) => filter.contains(payload, h),
            Self::PartitionedExact(filter) => filter.contains(payload, hash.partition, h),
        }
    }

    /// Whether the filter has an answer for the key.
    pub(crate) fn covers(&self, payload: &[u8], hash: KeyHash) -> bool {
        match self {
            Self::PartitionedExact(filter) => filter.covers(payload, hash.partition),
            _ => true,
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
