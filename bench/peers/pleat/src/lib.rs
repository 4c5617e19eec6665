//! The crate `pleat` behind the C functions that ../pleat.cpp declares.

use pleat::filter::Ribbon;

trait Filter {
    fn bytes(&self) -> usize;
    fn ask_each(&self, keys: &[u64]) -> u64;
    fn ask_batch(&self, keys: &[u64], answers: &mut [bool]);
}

impl<const COLUMNS: usize> Filter for Ribbon<COLUMNS> {
    fn bytes(&self) -> usize {
        self.size_bytes()
    }
    fn ask_each(&self, keys: &[u64]) -> u64 {
        keys.iter().map(|&key| u64::from(self.contains(key))).sum()
    }
    fn ask_batch(&self, keys: &[u64], answers: &mut [bool]) {
        self.contains_batch(keys, answers);
    }
}

fn build<const COLUMNS: usize>(keys: &[u64], threads: usize) -> Box<dyn Filter> {
    Box::new(if threads == 1 {
        Ribbon::<COLUMNS>::from_keys_pleated(keys)
    } else {
        Ribbon::<COLUMNS>::from_keys_parallel(keys, threads)
    })
}

/// A filter that C holds by a thin pointer.
pub struct Handle(Box<dyn Filter>);

/// # Safety
/// `keys` has `count` elements.
#[no_mangle]
pub unsafe extern "C" fn pleat_build(keys: *const u64, count: usize, columns: u32, threads: usize) -> *mut Handle {
    let keys = std::slice::from_raw_parts(keys, count);
    let filter = match columns {
        7 => build::<7>(keys, threads),
        8 => build::<8>(keys, threads),
        10 => build::<10>(keys, threads),
        _ => return std::ptr::null_mut(),
    };
    Box::into_raw(Box::new(Handle(filter)))
}

/// # Safety
/// `filter` is null or was returned by `pleat_build`, and is not used again.
#[no_mangle]
pub unsafe extern "C" fn pleat_free(filter: *mut Handle) {
    if !filter.is_null() {
        drop(Box::from_raw(filter));
    }
}

/// # Safety
/// `filter` was returned by `pleat_build`.
#[no_mangle]
pub unsafe extern "C" fn pleat_bytes(filter: *const Handle) -> usize {
    (*filter).0.bytes()
}

/// # Safety
/// `filter` was returned by `pleat_build`, and `keys` has `count` elements.
#[no_mangle]
pub unsafe extern "C" fn pleat_ask_each(filter: *const Handle, keys: *const u64, count: usize) -> u64 {
    (*filter).0.ask_each(std::slice::from_raw_parts(keys, count))
}

/// # Safety
/// `filter` was returned by `pleat_build`; `keys` and `answers` have `count` elements.
#[no_mangle]
pub unsafe extern "C" fn pleat_ask_batch(filter: *const Handle, keys: *const u64, count: usize, answers: *mut bool) {
    let answers = std::slice::from_raw_parts_mut(answers, count);
    (*filter).0.ask_batch(std::slice::from_raw_parts(keys, count), answers);
}
