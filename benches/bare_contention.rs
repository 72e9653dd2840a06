//! A bare contention loop: what a MAC exchange costs when there is nothing but the contention.
//!
//! Ten stations that always have a frame draw backoffs, count down together, double their windows when
//! they collide and reset them when they do not. No queue, no TCP, no frame, no statistics, and not a
//! line of the simulator: a floor to hold its CPU time against, in the same minute on the same machine.
//! Prints nanoseconds of CPU time for an exchange.
//!
//!     rustc -O benches/bare_contention.rs -o target/bare_contention && target/bare_contention

use std::fs;
use std::hint::black_box;

const STATIONS: usize = 10;
const CW_MIN: u32 = 31;
const CW_MAX: u32 = 1023;
const EXCHANGES: u32 = 4_000_000;

/// Marsaglia's xorshift64* (2003).
struct Draws(u64);

impl Draws {
    fn up_to(&mut self, most: u32) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let high = (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) * (u64::from(most) + 1);
        (high >> 32) as u32
    }
}

/// Exchanges until so many have succeeded; the slots that passed.
fn contend(seed: u64) -> u64 {
    let mut draws = Draws(seed);
    let mut windows = [CW_MIN; STATIONS];
    let mut ends = [0_u64; STATIONS];
    let mut now = 0;
    for end in &mut ends {
        *end = u64::from(draws.up_to(CW_MIN));
    }
    let mut succeeded = 0;
    while succeeded < EXCHANGES {
        now = ends.iter().copied().fold(u64::MAX, u64::min);
        let first = ends.iter().filter(|&&end| end == now).count();
        succeeded += u32::from(first == 1);
        for (end, window) in ends.iter_mut().zip(&mut windows) {
            if *end == now {
                *window = if first == 1 { CW_MIN } else { (2 * *window + 1).min(CW_MAX) };
                *end = now + 1 + u64::from(draws.up_to(*window));
            }
        }
    }
    now
}

/// Nanoseconds that this thread has been on a processor, as Linux counts them.
fn cpu_ns() -> u64 {
    let stat = fs::read_to_string("/proc/thread-self/schedstat").expect("this is Linux");
    stat.split(' ').next().and_then(|field| field.parse().ok()).expect("its first field is a time")
}

fn main() {
    let best = (1..=5)
        .map(|seed| {
            let begin = cpu_ns();
            black_box(contend(black_box(seed)));
            cpu_ns() - begin
        })
        .min()
        .expect("there are five runs");
    println!("{:.2}", best as f64 / f64::from(EXCHANGES));
}
