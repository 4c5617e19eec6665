//! The vectors that all languages share (tests/languages/vectors.json), in the file that BLOOMSET_VECTORS names.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use bloomset::{ErrorKind, Filter};
use serde_json::Value;
use xxhash_rust::xxh3::xxh3_64;

const KINDS: [&str; 10] =
    ["bloom", "counting_bloom", "scalable_bloom", "cuckoo", "blocked_bloom", "fuse", "ribbon", "vector_quotient", "expandable", "exact"];

fn path_of_vectors() -> PathBuf {
    std::env::var("BLOOMSET_VECTORS").expect("BLOOMSET_VECTORS names the file with the vectors").into()
}

fn vectors() -> Value {
    serde_json::from_slice(&std::fs::read(path_of_vectors()).unwrap()).unwrap()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn from_hex(text: &str) -> Vec<u8> {
    (0..text.len() / 2).map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap()).collect()
}

fn from_base64(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes = Vec::new();
    for group in text.as_bytes().chunks(4) {
        let digits: Vec<usize> = group.iter().filter_map(|c| DIGITS.iter().position(|digit| digit == c)).collect();
        let word = digits.iter().enumerate().fold(0, |word, (i, digit)| word | digit << (18 - 6 * i));
        bytes.extend((0..digits.len() - 1).map(|i| (word >> (16 - 8 * i)) as u8));
    }
    bytes
}

fn keys(vectors: &Value, name: &str) -> Vec<Vec<u8>> {
    vectors[name].as_array().unwrap().iter().map(|key| from_hex(text(key))).collect()
}

/// All filters with their keys.
fn filters(vectors: &Value) -> Vec<(&Value, Vec<Vec<u8>>)> {
    let rows = |filters: &str, keys_name: &str| {
        let all = vectors[filters].as_array().unwrap();
        all.iter().map(|row| (row, keys(vectors, keys_name))).collect::<Vec<_>>()
    };
    [rows("filters", "keys"), rows("filters_with_partitions", "keys_in_partitions")].concat()
}

fn secret(vectors: &Value) -> [u8; 16] {
    from_hex(text(&vectors["secret"])).try_into().unwrap()
}

fn parse(row: &Value, file: Vec<u8>, secret: [u8; 16]) -> Result<Filter, bloomset::Error> {
    if row["secret"].as_bool().unwrap() {
        Filter::parse_with_key(file, secret)
    } else {
        Filter::parse(file)
    }
}

#[test]
fn the_answers_are_those_of_the_command_line() {
    let vectors = vectors();
    let secret = secret(&vectors);
    let mut read: BTreeMap<&str, u32> = BTreeMap::new();
    for (row, keys) in filters(&vectors) {
        let (name, kind) = (text(&row["name"]), text(&row["kind"]));
        let opened = parse(row, from_base64(text(&row["bytes"])), secret);
        *read.entry(kind).or_default() += 1;
        let filter = opened.unwrap_or_else(|error| panic!("{name}: {error}"));
        let answers = filter.contains_many(&keys);
        let answers: String = keys
            .iter()
            .zip(answers)
            .map(|(key, is_member)| if filter.covers(key) { ['0', '1'][usize::from(is_member)] } else { '?' })
            .collect();
        assert_eq!(answers, text(&row["answers"]), "{name}");
        let info = filter.info();
        assert_eq!(info.kind, kind);
        assert_eq!(info.capacity, row["capacity"].as_u64().unwrap(), "{name}");
        assert_eq!(info.count, row["count"].as_u64().unwrap(), "{name}");
        assert_eq!(info.hash, text(&row["hash"]), "{name}");
        assert_eq!(info.seed.to_string(), text(&row["seed"]), "{name}");
        let labels: BTreeMap<String, String> = serde_json::from_value(row["labels"].clone()).unwrap();
        assert_eq!(info.labels, labels, "{name}");
    }
    assert!(KINDS.iter().all(|kind| read.contains_key(kind)), "{read:?}");
}

#[test]
fn hashes_are_xxh3() {
    let vectors = vectors();
    let row = &vectors["filters"].as_array().unwrap().iter().find(|row| row["seed"] == "0" && row["kind"] == "bloom").unwrap();
    let filter = Filter::parse(from_base64(text(&row["bytes"]))).unwrap();
    for (key, hash) in keys(&vectors, "keys").iter().zip(vectors["hashes"]["values"].as_array().unwrap()) {
        assert_eq!(filter.hash(key).to_string(), text(hash));
    }
}

#[test]
fn a_secret_key_is_needed() {
    let vectors = vectors();
    for (row, _) in filters(&vectors).into_iter().filter(|(row, _)| row["secret"] == true) {
        let file = from_base64(text(&row["bytes"]));
        let error = Filter::parse(&file[..]).unwrap_err();
        assert_eq!(
            (error.kind(), error.to_string().as_str()),
            (ErrorKind::Key, "the bytes: its keys are hashed with a secret key; give the key")
        );
        let error = Filter::parse_with_key(&file[..], [7; 16]).unwrap_err();
        assert!(error.kind() == ErrorKind::Key && error.to_string().contains("another secret key"));
    }
}

#[test]
fn what_is_no_filter_is_refused() {
    let vectors = vectors();
    for row in vectors["refused"].as_array().unwrap() {
        let error = Filter::parse(from_base64(text(&row["bytes"]))).unwrap_err();
        assert!(error.to_string().starts_with("the bytes: ") && error.to_string().contains("; "), "{error}");
    }
    let index = vectors["refused"].as_array().unwrap().iter().find(|row| row["name"] == "index").unwrap();
    let error = Filter::parse(from_base64(text(&index["bytes"]))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().ends_with("of kind file_index; use the command line"), "{error}");
    let path = std::env::temp_dir().join("bloomset-missing.bloom");
    let error = Filter::open(&path).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(error.to_string().starts_with(&path.display().to_string()));
}

/// The files in tests/golden, of which the largest are not among the vectors.
#[test]
fn golden_files_have_their_members() {
    let vectors = vectors();
    let (plain, in_partitions) = (keys(&vectors, "keys"), keys(&vectors, "keys_in_partitions"));
    let folder = path_of_vectors().parent().and_then(Path::parent).unwrap().join("golden");
    let mut read: BTreeMap<&str, u32> = BTreeMap::new();
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().map_or(true, |extension| extension != "bloom") {
            continue;
        }
        let opened = match Filter::open(&path) {
            Err(error) if error.kind() == ErrorKind::Key => Filter::open_with_key(&path, secret(&vectors)),
            opened => opened,
        };
        let filter = opened.unwrap();
        *read.entry(filter.info().kind).or_default() += 1;
        let keys = if filter.info().hash.ends_with("partitioned") { &in_partitions } else { &plain };
        let (members, others) = keys.split_at(50);
        assert!(members.iter().all(|key| filter.contains(key)), "{}", path.display());
        assert!(others.iter().filter(|key| filter.contains(key)).count() < 60, "{}", path.display());
    }
    assert!(KINDS.iter().all(|kind| read.contains_key(kind)), "{read:?}");
}

/// The file with right checksums.
fn seal(file: &mut [u8]) {
    let size = u32::from_le_bytes(file[20..24].try_into().unwrap()) as usize;
    let payload_at = 64 + size.min(file.len() - 64);
    let sum = xxh3_64(&file[payload_at..]);
    file[48..56].copy_from_slice(&sum.to_le_bytes());
    let head = [&file[..56], &file[64..payload_at]].concat();
    file[56..64].copy_from_slice(&xxh3_64(&head).to_le_bytes());
}

/// Files that were changed by somebody who also repaired their checksums: an error or answers, never a panic.
#[test]
fn hostile_files_give_an_error_or_answers() {
    let vectors = vectors();
    let secret = secret(&vectors);
    let mut state = 1_u64;
    let mut random = |n: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % n
    };
    let (mut opened, mut refused) = (0, 0);
    for (row, keys) in filters(&vectors) {
        let original = from_base64(text(&row["bytes"]));
        let mut again = original.clone();
        seal(&mut again);
        assert!(again == original, "a file that is only sealed again");
        for _ in 0..500 {
            let mut file = original.clone();
            for _ in 0..=random(4) {
                let size = file.len() - 8;
                // Most changes are in the header and the parameters, whose fields decide on sizes.
                let reach = if random(3) == 0 { size } else { size.min(136) };
                let at = 8 + random(reach);
                let flipped = file[at] ^ 1 << random(8);
                file[at] = [0, 1, 255, 128, flipped, file[at].wrapping_add(1)][random(6)];
            }
            if random(4) == 0 {
                let size = 64 + random(file.len() - 63);
                file.truncate(size);
            }
            if random(2) == 0 {
                let size = u32::from_le_bytes(file[20..24].try_into().unwrap()) as usize;
                let length = file.len().saturating_sub(64 + size) as u64;
                file[40..48].copy_from_slice(&length.to_le_bytes());
            }
            seal(&mut file);
            match parse(row, file, secret) {
                Ok(filter) => {
                    filter.contains_many(&keys[..60]);
                    opened += 1;
                }
                Err(error) => {
                    assert!(error.to_string().starts_with("the bytes: ") && !error.to_string().contains('\n'));
                    refused += 1;
                }
            }
        }
        for size in 0..original.len().min(300) {
            assert!(parse(row, original[..size].to_vec(), secret).is_err());
        }
        for _ in 0..100 {
            let mut file = original.clone();
            file[random(original.len())] ^= 1 << random(8);
            assert!(parse(row, file, secret).is_err(), "a bit of {} was flipped", row["name"]);
        }
    }
    assert!(opened > 1000 && refused > 1000, "{opened} {refused}");
}
