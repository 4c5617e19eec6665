//! The parts that all files have: header, checksums, and the sections after a kind's parameters.

use std::collections::BTreeMap;
use std::str;

use crate::bytes::{are_zero, array, u16_at, u32_at, u64_at};
use crate::error::{check, Error, ErrorKind};
use crate::hash::{xxh3, Function, Hasher, SecretKey, GOLDEN};
use crate::layers::Layer;

const SIGNATURE: [u8; 8] = *b"\x89BLOOM\r\n";
const HEADER: usize = 64;

mod flags {
    pub const KEYED: u32 = 1;
    pub const HALVES: u32 = 2;
    pub const PARTS: u32 = 4;
    pub const LABELS: u32 = 8;
    pub const EXCEPTIONS: u32 = 16;
    pub const LAYERS: u32 = 32;
    pub const ALL: u32 = 63;
}

/// A file whose header, checksums and sections are right.
pub(crate) struct Stored<'a> {
    pub kind: u16,
    pub kind_version: u16,
    pub hash: u16,
    pub seed: u64,
    pub count: u64,
    pub labels: BTreeMap<String, String>,
    pub exceptions: Vec<u64>,
    pub layers: Vec<Layer>,
    /// Those of the kind, or of both halves.
    parameters: &'a [u8],
    file: &'a [u8],
    payload_at: usize,
}

/// The filter, or a half of it. Its payload is at `begin .. end` of the file.
pub(crate) struct Part<'a> {
    pub count: u64,
    pub parameters: &'a [u8],
    pub begin: usize,
    pub end: usize,
}

impl<'a> Stored<'a> {
    pub(crate) fn read(file: &'a [u8]) -> Result<Self, Error> {
        if file.len() < HEADER || file[..8] != SIGNATURE {
            let what = if file.starts_with(&SIGNATURE) { "the file is shorter than a header" } else { "this is not a Bloomset filter" };
            return Err(Error::new(ErrorKind::Corrupt, format!("{what}; give a file that Bloomset wrote")));
        }
        let unknown =
            |what: &str| Error::new(ErrorKind::Unsupported, format!("its {what} is unknown here; use a newer version of this crate"));
        if u16_at(file, 8) != 1 {
            return Err(unknown("version"));
        }
        let size = u32_at(file, 20) as usize;
        check(size % 64 == 0 && size <= file.len() - HEADER, "the header has a wrong number of parameter bytes")?;
        let payload_at = HEADER + size;
        let (mut parameters, payload) = (&file[HEADER..payload_at], &file[payload_at..]);
        check(header_checksum(&file[..56], parameters) == u64_at(file, 56), "the header's checksum does not match")?;
        check(u64_at(file, 40) == payload.len() as u64, "the file has another length than its header says")?;
        let flags = u32_at(file, 16);
        if flags & !flags::ALL != 0 {
            return Err(unknown("feature"));
        }
        check(xxh3(payload) == u64_at(file, 48), "the payload's checksum does not match")?;
        let hash = u16_at(file, 14);
        if !matches!(hash, 1 | 3..=7) {
            return Err(unknown("hash function"));
        }
        check((flags & flags::KEYED != 0) == matches!(hash, 3 | 5 | 7), "a flag does not fit the hash function")?;
        check((flags & flags::HALVES != 0) == matches!(hash, 4 | 5), "a flag does not fit the hash function")?;
        let mut layers_section = None;
        if flags & flags::LAYERS != 0 {
            check(matches!(hash, 1 | 3), "layers do not fit the hash function")?;
            layers_section = Some(section_with_u64(&mut parameters, 1)?);
        }
        let without_layers = parameters;
        if flags & flags::PARTS != 0 {
            return Err(Error::new(
                ErrorKind::Unsupported,
                "the filter has only some parts of its keys; merge all parts with the command line",
            ));
        }
        let mut labels = BTreeMap::new();
        if flags & flags::LABELS != 0 {
            labels = read_labels(&mut parameters)?;
        }
        let labels_section = &without_layers[parameters.len()..];
        let mut exceptions = Vec::new();
        if flags & flags::EXCEPTIONS != 0 {
            let section = section_with_u64(&mut parameters, 8)?;
            check(!matches!(hash, 4 | 5) && section.len() <= 8 * 4096, "exceptions do not fit the filter")?;
            exceptions = section.chunks_exact(8).map(|hash| u64_at(hash, 0)).collect();
            check(exceptions.windows(2).all(|pair| pair[0] < pair[1]), "its exceptions are not in order")?;
        }
        let mut layers = Vec::new();
        if let Some(section) = layers_section {
            // Layers name their base as it would be without exceptions and layers.
            let base = [parameters, labels_section].concat();
            let mut head: [u8; 56] = array(file, 0);
            head[16..20].copy_from_slice(&(flags & !(flags::EXCEPTIONS | flags::LAYERS)).to_le_bytes());
            head[20..24].copy_from_slice(&(base.len() as u32).to_le_bytes());
            layers = read_layers(section, header_checksum(&head, &base))?;
        }
        Ok(Self {
            kind: u16_at(file, 10),
            kind_version: u16_at(file, 12),
            hash,
            seed: u64_at(file, 24),
            count: u64_at(file, 32),
            labels,
            exceptions,
            layers,
            parameters,
            file,
            payload_at,
        })
    }

    /// The hash function of each half.
    pub(crate) fn hashers(&self, key: Option<[u8; 16]>) -> Result<Vec<Hasher>, Error> {
        let has_partitions = matches!(self.hash, 6 | 7);
        let hasher = |function| Hasher { function, has_partitions };
        match self.hash {
            1 | 6 => return Ok(vec![hasher(Function::Xxh3(self.seed))]),
            4 => return Ok(vec![hasher(Function::Xxh3(self.seed)), hasher(Function::Xxh3(self.seed ^ GOLDEN))]),
            _ => {}
        }
        let Some(key) = key.map(SecretKey::new) else {
            return Err(Error::new(ErrorKind::Key, "its keys are hashed with a secret key; give the key"));
        };
        if key.identifier() != self.seed {
            return Err(Error::new(ErrorKind::Key, "the filter was made with another secret key; give that one"));
        }
        let mut all = vec![hasher(Function::Sip(key))];
        if self.hash == 5 {
            all.push(hasher(Function::Sip(key.second())));
        }
        Ok(all)
    }

    /// The filter, or its two halves.
    pub(crate) fn parts(&self) -> Result<Vec<Part<'a>>, Error> {
        if !matches!(self.hash, 4 | 5) {
            let (begin, end) = (self.payload_at, self.file.len());
            return Ok(vec![Part { count: self.count, parameters: self.parameters, begin, end }]);
        }
        const WRONG: &str = "the lengths of its halves do not fit the file";
        let mut rest = self.parameters;
        let mut begin = self.payload_at;
        let mut parts: Vec<Part<'a>> = Vec::new();
        for half in 0..2 {
            check(rest.len() >= 64 && are_zero(&rest[24..64]), WRONG)?;
            let (lengths, after) = rest.split_at(64);
            let size = u64_at(lengths, 0);
            check(size % 64 == 0 && size <= after.len() as u64, WRONG)?;
            let (parameters, next) = after.split_at(size as usize);
            rest = next;
            let length = u64_at(lengths, 8);
            check(length <= (self.file.len() - begin) as u64, WRONG)?;
            let end = begin + length as usize;
            parts.push(Part { count: u64_at(lengths, 16), parameters, begin, end });
            begin = if half == 0 { self.payload_at + (end - self.payload_at).div_ceil(64) * 64 } else { end };
            check(begin <= self.file.len() && are_zero(&self.file[end..begin]), WRONG)?;
        }
        check(rest.is_empty() && begin == self.file.len(), WRONG)?;
        check(self.count == parts[0].count.max(parts[1].count), "the counts of its halves do not fit the header")?;
        let heads = [parts[0].parameters, parts[1].parameters].map(|bytes| bytes.get(..32));
        check(!matches!(self.kind, 1 | 5) || heads[0] == heads[1], "its halves have different parameters")?;
        Ok(parts)
    }
}

fn header_checksum(head: &[u8], parameters: &[u8]) -> u64 {
    xxh3(&[head, parameters].concat())
}

/// Takes a section from the end of the parameters: `n` elements of `unit` bytes, zeros, and n as a u64.
fn section_with_u64<'a>(parameters: &mut &'a [u8], unit: u64) -> Result<&'a [u8], Error> {
    const WRONG: &str = "a section of the parameters is malformed";
    check(parameters.len() >= 64, WRONG)?;
    let n = u64_at(parameters, parameters.len() - 8);
    check(n >= 1 && n <= parameters.len() as u64 / unit, WRONG)?;
    let bytes = (n * unit) as usize;
    let size = (bytes + 8).div_ceil(64) * 64;
    check(size <= parameters.len(), WRONG)?;
    let (rest, section) = parameters.split_at(parameters.len() - size);
    check(are_zero(&section[bytes..size - 8]), WRONG)?;
    *parameters = rest;
    Ok(&section[..bytes])
}

fn read_layers(mut section: &[u8], base: u64) -> Result<Vec<Layer>, Error> {
    let mut layers = Vec::new();
    while !section.is_empty() {
        let size = u32_at(section, 0) as usize;
        check(section.len() >= 4 && size >= 1 && size <= section.len() - 4, "the list of layers is malformed")?;
        layers.push(Layer::read(&section[4..4 + size], base)?);
        section = &section[4 + size..];
    }
    Ok(layers)
}

/// Takes the labels from the end of the parameters.
fn read_labels(parameters: &mut &[u8]) -> Result<BTreeMap<String, String>, Error> {
    const WRONG: &str = "its labels are malformed";
    check(parameters.len() >= 64, WRONG)?;
    let length = u32_at(parameters, parameters.len() - 4) as usize;
    check((4..=4092).contains(&length), WRONG)?;
    let size = (length + 4).div_ceil(64) * 64;
    check(size <= parameters.len(), WRONG)?;
    let (rest, section) = parameters.split_at(parameters.len() - size);
    check(are_zero(&section[length..size - 4]), WRONG)?;
    *parameters = rest;
    let text = str::from_utf8(&section[..length]).map_err(|_| Error::corrupt(WRONG))?;
    let lines = text.strip_suffix('\n').ok_or_else(|| Error::corrupt(WRONG))?;
    let mut labels = BTreeMap::new();
    let mut last = "";
    for line in lines.split('\n') {
        let (name, value) = line.split_once('=').ok_or_else(|| Error::corrupt(WRONG))?;
        let is_name = name.len() <= 64
            && name.starts_with(|first: char| first.is_ascii_lowercase())
            && name.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || b"._-".contains(&c));
        check(is_name && name > last && !value.is_empty() && !value.contains(char::is_control), WRONG)?;
        labels.insert(name.to_owned(), value.to_owned());
        last = name;
    }
    Ok(labels)
}
