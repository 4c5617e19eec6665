//! Keys that were added to a published filter: lists of places of hashes.

use crate::bytes::{bit_at, mulhi, u32_at, u64_at};
use crate::error::{check, Error};
use crate::hash::xxh3;

const SIGNATURE: [u8; 4] = [0x89, 0x42, 0x4c, 0x59];
const WRONG: &str = "a layer is malformed";

pub(crate) struct Layer {
    places: Vec<u64>, // ascending
    all: u64,
}

impl Layer {
    /// Reads a layer of the file with the header checksum `base`.
    pub(crate) fn read(bytes: &[u8], base: u64) -> Result<Self, Error> {
        check(bytes.len() > 16 && bytes[..4] == SIGNATURE, WRONG)?;
        check(xxh3(&bytes[8..]) as u32 == u32_at(bytes, 4), "the checksum of a layer does not match")?;
        check(u64_at(bytes, 8) == base, "a layer belongs to another filter")?;
        let mut rest = &bytes[16..];
        let n = number(&mut rest)?;
        let all = number(&mut rest)?;
        check(n >= 1 && n <= all && all <= 1 << 62, WRONG)?;
        let (&k, bits) = rest.split_first().ok_or_else(|| Error::corrupt(WRONG))?;
        check((4..=40).contains(&k), WRONG)?;
        let k = u64::from(k);
        let end = bits.len() as u64 * 8;
        check(n <= end / (k + 1), WRONG)?;
        let mut places = Vec::with_capacity(n as usize);
        let (mut at, mut next) = (0, 0_u64);
        for _ in 0..n {
            let mut quotient = 0_u64;
            while at < end && bit_at(bits, at) {
                quotient += 1;
                at += 1;
            }
            at += 1;
            check(at + k <= end && quotient <= all >> k, WRONG)?;
            let low = (0..k).fold(0, |low, i| low | u64::from(bit_at(bits, at + i)) << i);
            at += k;
            let place = next.checked_add(quotient << k | low).filter(|&place| place < all);
            let place = place.ok_or_else(|| Error::corrupt(WRONG))?;
            places.push(place);
            next = place + 1;
        }
        let is_padded = (at..end).all(|p| !bit_at(bits, p));
        check(end - at < 8 && is_padded, WRONG)?;
        Ok(Self { places, all })
    }

    pub(crate) fn len(&self) -> u64 {
        self.places.len() as u64
    }

    pub(crate) fn contains(&self, h: u64) -> bool {
        self.places.binary_search(&mulhi(h, self.all)).is_ok()
    }
}

/// A number with 7 bits in each byte, lowest first.
fn number(bytes: &mut &[u8]) -> Result<u64, Error> {
    let mut value = 0_u64;
    for shift in (0..63).step_by(7) {
        let (&byte, rest) = bytes.split_first().ok_or_else(|| Error::corrupt(WRONG))?;
        *bytes = rest;
        value |= u64::from(byte & 127) << shift;
        if byte < 128 {
            return Ok(value);
        }
    }
    Err(Error::corrupt(WRONG))
}
