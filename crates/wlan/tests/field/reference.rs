//! Random floors played by the product and by the plain reference: all events, counters and airtime
//! views are equal.
//!
//! The floors draw received powers or who hears whom, capture, OBSS-PD, EDCA with TXOPs, aggregation
//! with partial loss, RTS/CTS, CTS-to-self, frame errors, and `WeakerBefore`. They do not draw rate
//! control, several rate classes, the frames reported to captures (`Field::tell_frames`), and what
//! a world does with the results.

use airtcp_kernel::Duration;

use super::drawn::{Drawn, Told};

/// The number of floors, unless the environment variable `AIRTCP_CASES` gives another.
const FLOORS: u64 = 400;

/// The seed of the first floor. Other tests use small seeds.
const FIRST: u64 = 1_000_000;

/// The number of transmissions per floor below which a difference would hardly show; there are 180
/// or so.
const LEAST_ATTEMPTS: u64 = 100;

#[test]
fn the_plain_reference_agrees() {
    let floors = std::env::var("AIRTCP_CASES").map_or(FLOORS, |cases| cases.parse().unwrap());
    let length = Duration::from_millis(100);
    let mut attempts = 0;
    for seed in FIRST..FIRST + floors {
        let drawn = Drawn::new(seed).with_rare_rules();
        let told = Told { whole: 0, ..drawn.play(length) };
        assert_eq!(told, drawn.play_plainly(length), "floor {seed}");
        attempts += told.attempts;
    }
    assert!(attempts >= LEAST_ATTEMPTS * floors, "{attempts} transmissions on {floors} floors");
}
