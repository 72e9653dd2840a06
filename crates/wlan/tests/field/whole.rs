//! Exchanges played as a whole compared with the same frame by frame: the results are equal, and
//! many exchanges are played as a whole.

use airtcp_kernel::Duration;

use super::drawn::{Drawn, Told};

/// The number of random floors. In every fourth floor cells hear each other entirely or not at all.
const FLOORS: u64 = 1_200;

/// The minimum share of transmissions in whole exchanges for this test to be meaningful; it is .35
/// or so.
const LEAST_SHARE: f64 = 0.2;

#[test]
fn whole_exchanges_change_no_outcome() {
    nothing_differs(Drawn::new);
}

#[test]
fn neither_do_they_where_access_points_have_a_space_of_their_own() {
    nothing_differs(|seed| Drawn::new(seed).with_hasty_stations());
}

fn nothing_differs(draw: impl Fn(u64) -> Drawn) {
    let (mut attempts, mut whole) = (0, 0);
    for seed in (0..FLOORS).step_by(4) {
        let drawn = draw(seed);
        let one = drawn.play(Duration::from_millis(100));
        let in_frames = drawn.play_in_frames(Duration::from_millis(100));
        attempts += one.attempts;
        whole += one.whole;
        assert_eq!(in_frames.whole, 0);
        assert_eq!(Told { whole: 0, ..one }, in_frames, "floor {seed}");
    }
    let share = whole as f64 / attempts as f64;
    assert!(share >= LEAST_SHARE, "{whole} of {attempts} transmissions were of whole exchanges");
}
