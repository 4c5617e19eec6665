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

/// `width` bits (at most 32) from bit `p` on. The 8 bytes from there are inside the bytes.
pub(crate) fn bits_at(bytes: &[u8], p: u64, width: u32) -> u64 {
    u64_at(bytes, (p / 8) as usize) >> (p % 8) & ((1 << width) - 1)
}

pub(crate) fn are_zero(bytes: &[u8]) -> bool {
    bytes.iter().all(|&byte| byte == 0)
}

/// The upper half of the product: maps x to 0 .. m - 1.
pub(crate) fn mulhi(x: u64, m: u64) -> u64 {
    ((u128::from(x) * u128::from(m)) >> 64) as u64
}
