//! Little-endian numbers in bytes. A read beyond the end gives zeros, so that no read panics.

pub(crate) fn array<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes.get(at..).and_then(|rest| rest.get(..N)).and_then(|found| found.try_into().ok()).unwrap_or([0; N])
}

pub(crate) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(array(bytes, at))
}
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(array(bytes, at))
}
pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(array(bytes, at))
}
pub(crate) fn f64_at(bytes: &[u8], at: usize) -> f64 {
    f64::from_bits(u64_at(bytes, at))
}

/// Whether bit `p` is set.
pub(crate) fn bit_at(bytes: &[u8], p: u64) -> bool {
    bytes.get((p / 8) as usize).is_some_and(|byte| byte >> (p % 8) & 1 != 0)
}

/// `width` bits (at most 57) from bit `p` on. The 8 bytes from there are inside the bytes.
pub(crate) fn bits_at(bytes: &[u8], p: u64, width: u32) -> u64 {
    u64_at(bytes, (p / 8) as usize) >> (p % 8) & ((1 << width) - 1)
}

/// The position of zero number `k` (from 0) among the bits `from .. to`, or nothing if there are fewer. Takes O(to - from), a
/// word at a time, of which each reads 8 bytes.
pub(crate) fn find_zero(bytes: &[u8], from: u64, to: u64, k: u32) -> Option<u64> {
    let (mut at, mut left) = (from, k);
    while at < to {
        let here = (64 - at % 8).min(to - at);
        let zeros = !u64_at(bytes, (at / 8) as usize) >> (at % 8) & (u64::MAX >> (64 - here));
        if left == 0 && zeros != 0 {
            return Some(at + u64::from(zeros.trailing_zeros()));
        }
        let n = zeros.count_ones();
        if left < n {
            return Some(at + u64::from(select_one(zeros, left)));
        }
        left -= n;
        at += here;
    }
    None
}

/// The position of one number `k` (from 0) of a word that has more than `k` ones. Without branches, which would often be
/// mispredicted.
fn select_one(word: u64, k: u32) -> u32 {
    // The ones up to the end of each byte, in that byte.
    let pairs = word - ((word >> 1) & (LOWEST * 0x55));
    let nibbles = (pairs & (LOWEST * 0x33)) + ((pairs >> 2) & (LOWEST * 0x33));
    let sums = ((nibbles + (nibbles >> 4)) & (LOWEST * 0x0f)).wrapping_mul(LOWEST);
    let byte = 8 * bytes_at_most(sums, k);
    let left = k - (sums << 8 >> byte) as u32 % 256;
    // The same within the byte, whose bit i becomes byte i.
    let spread = ((word >> byte) % 256 * LOWEST) & 0x8040_2010_0804_0201;
    let ones = ((spread + LOWEST * 0x7f) >> 7) & LOWEST;
    byte + bytes_at_most(ones.wrapping_mul(LOWEST), left)
}

/// A one in each byte.
const LOWEST: u64 = 0x0101_0101_0101_0101;

/// The number of bytes that are at most `k`. They and `k` are at most 64, so that no byte borrows.
fn bytes_at_most(bytes: u64, k: u32) -> u32 {
    let differences = ((LOWEST << 7) | (LOWEST * u64::from(k))) - bytes;
    (((differences >> 7) & LOWEST).wrapping_mul(LOWEST) >> 56) as u32
}

pub(crate) fn are_zero(bytes: &[u8]) -> bool {
    bytes.iter().all(|&byte| byte == 0)
}

/// The upper half of the product: maps x to 0 .. m - 1.
pub(crate) fn mulhi(x: u64, m: u64) -> u64 {
    ((u128::from(x) * u128::from(m)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::{bit_at, find_zero};

    #[test]
    fn zeros_are_found() {
        let bytes: Vec<u8> = (0..40).map(|i: u32| if i % 5 == 0 { 255 } else { (i.wrapping_mul(0x9e37_79b9) >> 24) as u8 }).collect();
        for (from, to) in [(0, 0), (0, 64), (3, 200), (63, 65), (64, 256), (250, 251)] {
            let zeros: Vec<u64> = (from..to).filter(|&p| !bit_at(&bytes, p)).collect();
            for k in 0..200 {
                assert_eq!(find_zero(&bytes, from, to, k), zeros.get(k as usize).copied(), "{from} {to} {k}");
            }
        }
    }
}
