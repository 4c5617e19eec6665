//! Nanoseconds per query: `cargo run --release --example speed FILE COUNT`. The keys are user0@example.com and so on; half of
//! them are the first COUNT / 2, which should be members. Each slice of 1000 keys is queried in many rounds, and its best time
//! counts, so that other programs on the machine matter little.

use std::time::{Duration, Instant};

const ROUNDS: usize = 15;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let (Some(file), Some(count)) = (words.next(), words.next()) else {
        return Err("give a filter file and a number of keys".into());
    };
    let count: usize = count.parse()?;
    let filter = bloomset::Filter::open(file)?;
    let keys: Vec<String> =
        (0..count).map(|i| if i % 2 == 0 { format!("user{}@example.com", i / 2) } else { format!("guest{i}@example.com") }).collect();
    let slices: Vec<&[String]> = keys.chunks(1000).collect();
    let mut best = vec![Duration::MAX; slices.len()];
    let mut found = 0;
    for _ in 0..ROUNDS {
        found = 0;
        for (slice, best) in slices.iter().zip(&mut best) {
            let begin = Instant::now();
            found += slice.iter().filter(|key| filter.contains(key)).count();
            *best = begin.elapsed().min(*best);
        }
    }
    let time: Duration = best.iter().sum();
    println!("{:.1} ns per query, {found} of {count} may be members", time.as_nanos() as f64 / count as f64);
    Ok(())
}
