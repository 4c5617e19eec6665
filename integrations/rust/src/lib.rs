//! Reads the filter files of Bloomset: Bloom filters and relatives that were built by its command line, C++ or Python.
//!
//! ```no_run
//! let words = bloomset::Filter::open("words.bloom")?;
//! println!("{} {:?}", words.contains("ann"), words.contains_many(["cid", "dan"]));
//! # Ok::<(), bloomset::Error>(())
//! ```
//!
//! A key is bytes: a text is its UTF-8, and a whole number is `to_le_bytes()` of an `i64` or `u64`. The answer `false` is
//! certain, and `true` is wrong at the rate that the filter was planned for.
//!
//! A file of unknown origin gives an error or a filter, and never a panic. It decides the answers, but no memory is taken
//! that its size does not justify.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod bytes;
mod error;
mod file;
mod hash;
mod kinds;
mod layers;

use std::collections::BTreeMap;
use std::path::Path;

pub use error::{Error, ErrorKind};

use file::Stored;
use hash::Hasher;
use kinds::Kind;
use layers::Layer;

/// A filter over the bytes of its file.
///
/// Any number of threads may query it at once.
pub struct Filter<B = Vec<u8>> {
    file: B,
    halves: Vec<Half>,
    info: Info,
    exceptions: Vec<u64>,
    layers: Vec<Layer>,
}

/// A filter with 64-bit hashes, or one of the two halves of a filter with 128-bit hashes.
struct Half {
    hasher: Hasher,
    kind: Kind,
    /// The payload in the file.
    begin: usize,
    end: usize,
}

/// What the header and the parameters of a file say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Info {
    /// The name of the kind, such as `blocked_bloom`.
    pub kind: &'static str,
    /// The number of keys that the filter was planned for.
    pub capacity: u64,
    /// The filter's count of its keys, with those of its layers.
    pub count: u64,
    /// The name of the hash function.
    pub hash: &'static str,
    /// The seed, or the identifier of the secret key.
    pub seed: u64,
    /// Facts that the file carries, such as the source of its keys. They change no answer.
    pub labels: BTreeMap<String, String>,
}

impl Filter {
    /// Reads the file into memory and opens it.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::read(path.as_ref(), None)
    }

    /// The same for a filter that was made with a secret key.
    pub fn open_with_key(path: impl AsRef<Path>, key: [u8; 16]) -> Result<Self, Error> {
        Self::read(path.as_ref(), Some(key))
    }

    fn read(path: &Path, key: Option<[u8; 16]>) -> Result<Self, Error> {
        let named = |error: Error| error.of(&path.display().to_string());
        let bytes = std::fs::read(path).map_err(|error| named(Error::from(error)))?;
        Self::make(bytes, key).map_err(named)
    }
}

impl<B: AsRef<[u8]>> Filter<B> {
    /// Opens the filter in the bytes of a file. Checks all of them.
    pub fn parse(file: B) -> Result<Self, Error> {
        Self::make(file, None).map_err(|error| error.of("the bytes"))
    }

    /// The same for a filter that was made with a secret key.
    pub fn parse_with_key(file: B, key: [u8; 16]) -> Result<Self, Error> {
        Self::make(file, Some(key)).map_err(|error| error.of("the bytes"))
    }

    fn make(file: B, key: Option<[u8; 16]>) -> Result<Self, Error> {
        let stored = Stored::read(file.as_ref())?;
        let hashers = stored.hashers(key)?;
        let mut halves = Vec::new();
        for (hasher, part) in hashers.into_iter().zip(stored.parts()?) {
            let payload = &file.as_ref()[part.begin..part.end];
            let kind = Kind::read(&stored, &part, payload)?;
            halves.push(Half { hasher, kind, begin: part.begin, end: part.end });
        }
        let layer_keys = stored.layers.iter().fold(0, |sum: u64, layer| sum.saturating_add(layer.len()));
        let info = Info {
            kind: kinds::name_of(stored.kind),
            capacity: halves.first().map_or(0, |half| half.kind.capacity()),
            count: stored.count.saturating_add(layer_keys),
            hash: hash::name_of(stored.hash),
            seed: stored.seed,
            labels: stored.labels,
        };
        let (exceptions, layers) = (stored.exceptions, stored.layers);
        Ok(Self { file, halves, info, exceptions, layers })
    }

    /// Whether the key may be a member. `false` is certain, except for keys without an answer ([`covers`](Self::covers)).
    ///
    /// Takes O(1), besides the hash of the key: a few cache lines. It is O(members) in a `scalable_bloom`, and O(log n) in n
    /// partitions, exceptions or keys of layers.
    pub fn contains(&self, key: impl AsRef<[u8]>) -> bool {
        let key = key.as_ref();
        let file = self.file.as_ref();
        let mut first_hash = None;
        let in_base = self.halves.iter().all(|half| {
            let hash = half.hasher.hash(key);
            first_hash.get_or_insert(hash.key);
            half.kind.contains(&file[half.begin..half.end], hash)
        });
        if self.exceptions.is_empty() && self.layers.is_empty() {
            return in_base;
        }
        // Both exist only with one hash per key.
        let h = first_hash.unwrap_or_default();
        (in_base || self.layers.iter().any(|layer| layer.contains(h))) && self.exceptions.binary_search(&h).is_err()
    }

    /// The same for many keys, in their order.
    pub fn contains_many<K: AsRef<[u8]>>(&self, keys: impl IntoIterator<Item = K>) -> Vec<bool> {
        keys.into_iter().map(|key| self.contains(key)).collect()
    }

    /// Whether the filter has an answer for the key. False only in a filter of kind `exact` with partitions, for a key whose
    /// partition it does not have: the bytes of the key before its first tab. Takes O(log n) for n partitions.
    pub fn covers(&self, key: impl AsRef<[u8]>) -> bool {
        let (key, file) = (key.as_ref(), self.file.as_ref());
        self.halves.iter().all(|half| half.kind.covers(&file[half.begin..half.end], half.hasher.hash(key)))
    }

    /// The key's hash of 64 bits with the filter's hash function and seed. It is that of the first of two halves, and with
    /// partitions the joined hash of partition and rest.
    pub fn hash(&self, key: impl AsRef<[u8]>) -> u64 {
        self.halves.first().map_or(0, |half| half.hasher.hash(key.as_ref()).key)
    }

    /// What the header and the parameters say.
    pub fn info(&self) -> &Info {
        &self.info
    }

    /// The bytes of the file.
    pub fn as_bytes(&self) -> &[u8] {
        self.file.as_ref()
    }
}

impl<B> std::fmt::Debug for Filter<B> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Filter").field("info", &self.info).finish_non_exhaustive()
    }
}
