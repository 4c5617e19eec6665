//! Reads and writes cascades and clubcards with Mozilla's crates, for test_revocation.py. Keys are
//! lines; a certificate is ISSUER:SERIAL in hexadecimal.

use std::collections::BTreeMap;
use std::io::Read;
use std::{env, fs};

use clubcard::builder::{ApproximateRibbon, ClubcardBuilder, ExactRibbon};
use clubcard_crlite::builder::CRLiteBuilderItem;
use clubcard_crlite::{
    CRLiteClubcard, CRLiteCoverage, CRLiteKey, CRLiteQuery, Encoding, IssuerSpkiHash, LogId,
    Timestamp,
};
use rust_cascade::{Cascade, CascadeBuilder, HashAlgorithm};

/// The log whose certificates are covered: 32 bytes of 01, from 1000 to 2000000000000.
const COVERAGE: &str = r#"[{"LogID":"AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=",
    "MinTimestamp":1000,"MaxTimestamp":2000000000000,"MMD":0,"MinEntry":0}]"#;

fn hex(text: &str) -> Vec<u8> {
    (0..text.len() / 2)
        .map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap())
        .collect()
}

fn lines(file: &str) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap();
    text.lines().map(str::to_string).collect()
}

fn asked() -> Vec<String> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).unwrap();
    text.lines().map(str::to_string).collect()
}

fn certificate(line: &str) -> (IssuerSpkiHash, Vec<u8>) {
    let (issuer, serial) = line.split_once(':').unwrap();
    (IssuerSpkiHash(hex(issuer).try_into().unwrap()), hex(serial))
}

/// Prints the keys on stdin that are in the cascade.
fn read_cascade(file: &str) {
    let cascade = Cascade::from_bytes(fs::read(file).unwrap()).unwrap().unwrap();
    for key in asked() {
        if cascade.has(key.clone().into_bytes()) {
            println!("{key}");
        }
    }
}

fn write_cascade(file: &str, hash: &str, salt: &str, members: &str, others: &str) {
    let hash = HashAlgorithm::try_from(hash.parse::<u8>().unwrap()).unwrap();
    let (members, others) = (lines(members), lines(others));
    let mut builder = CascadeBuilder::new(hash, hex(salt), members.len(), others.len());
    for key in members {
        builder.include(key.into_bytes()).unwrap();
    }
    for key in others {
        builder.exclude(key.into_bytes()).unwrap();
    }
    fs::write(file, builder.finalize().unwrap().to_bytes().unwrap()).unwrap();
}

/// Prints the status of each certificate on stdin.
fn read_clubcard(file: &str, time: &str) {
    let card = CRLiteClubcard::from_bytes(&fs::read(file).unwrap()).unwrap();
    let time = Timestamp(time.parse().unwrap());
    for line in asked() {
        let (issuer, serial) = certificate(&line);
        let key = CRLiteKey::new(&issuer, &serial);
        println!("{:?}", card.contains(&key, [(LogId([1; 32]), time)].into_iter()));
    }
}

fn write_clubcard(file: &str, version: &str, members: &str, others: &str) {
    let mut issuers: BTreeMap<[u8; 32], [Vec<Vec<u8>>; 2]> = BTreeMap::new();
    for (side, keys) in [lines(members), lines(others)].iter().enumerate() {
        for line in keys {
            let (issuer, serial) = certificate(line);
            issuers.entry(issuer.0).or_default()[side].push(serial);
        }
    }
    let item = |issuer: &[u8; 32], side: usize, serial: &Vec<u8>| match side {
        0 => CRLiteBuilderItem::revoked(IssuerSpkiHash(*issuer), serial.clone()),
        _ => CRLiteBuilderItem::not_revoked(IssuerSpkiHash(*issuer), serial.clone()),
    };
    let mut builder = ClubcardBuilder::new();
    let mut ribbons = vec![];
    for (issuer, sides) in &issuers {
        let mut approximate = builder.new_approx_builder(issuer);
        approximate.set_universe_size(sides[0].len() + sides[1].len());
        let inverted = sides[0].len() > sides[1].len();
        approximate.set_inverted(inverted);
        for serial in &sides[inverted as usize] {
            approximate.insert(item(issuer, inverted as usize, serial));
        }
        ribbons.push(ApproximateRibbon::from(approximate));
    }
    builder.collect_approx_ribbons(ribbons);
    let mut ribbons = vec![];
    for (issuer, sides) in &issuers {
        let mut exact = builder.new_exact_builder(issuer);
        for (side, serials) in sides.iter().enumerate() {
            for serial in serials {
                exact.insert(item(issuer, side, serial));
            }
        }
        ribbons.push(ExactRibbon::from(exact));
    }
    builder.collect_exact_ribbons(ribbons);
    let coverage = CRLiteCoverage::from_mozilla_ct_logs_json(COVERAGE.as_bytes());
    let card = CRLiteClubcard::from(builder.build::<CRLiteQuery>(coverage, ()));
    let encoding = if version == "3" { Encoding::V3 } else { Encoding::V4 };
    fs::write(file, card.to_bytes(encoding).unwrap()).unwrap();
}

fn main() {
    let given: Vec<String> = env::args().skip(1).collect();
    let given: Vec<&str> = given.iter().map(String::as_str).collect();
    match given[..] {
        ["read-cascade", file] => read_cascade(file),
        ["write-cascade", file, hash, salt, members, others] => {
            write_cascade(file, hash, salt, members, others)
        }
        ["read-clubcard", file, time] => read_clubcard(file, time),
        ["write-clubcard", file, version, members, others] => {
            write_clubcard(file, version, members, others)
        }
        _ => panic!("unknown command"),
    }
}
