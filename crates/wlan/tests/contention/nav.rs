//! The NAV of a TXOP that ended before its announced end, rule by rule (IEEE Std 802.11-2020,
//! 10.3.2.4): which stations it binds, and until when. Whole TXOPs are in `aggregates`.

use airtcp_wlan::StationId;

use crate::cell::{Cell, DIFS, SLOT, at, standard};

/// The end of the TXOP of station 0, and its announced end.
const ENDED: u64 = 2_000;
const ANNOUNCED: u64 = 5_000;

/// Starts a TXOP of station 0 at 1000. The stations in `waiting` get frames during it. It ends at
/// 2000, and all its frames were for station 1. `has_next` says whether station 0 has another
/// frame.
fn ended_early(waiting: &[StationId], has_next: bool) -> Cell {
    let mut cell = Cell::new(4, &standard());
    cell.queue(0, 1_000);
    assert_eq!(cell.begin(), (1_000, vec![0]));
    for &station in waiting {
        cell.queue(station, 1_100);
    }
    cell.contention.end_success_early(0, Some(1), at(ENDED), at(ANNOUNCED), has_next);
    cell
}

#[test]
fn the_nav_binds_others_until_its_end() {
    let mut cell = ended_early(&[2], false);

    // One backoff was drawn before; the other belongs to a frame queued during the NAV, long after
    // the last exchange.
    cell.queue(3, ENDED + 1_500);

    let mut expected = [2, 3].map(|one| (ANNOUNCED + DIFS + SLOT * cell.backoff(one, 31), one));
    expected.sort_unstable();
    assert!(expected[0].0 < expected[1].0, "a seed without a tie");
    let (first, station) = expected[0];
    assert_eq!(cell.begin(), (first, vec![station]));
    cell.succeed(first + 1_000, false);
    let (second, station) = expected[1];
    let left = second - first;
    assert_eq!(cell.begin(), (first + 1_000 + DIFS + left, vec![station]));
}

/// Both stations count from the end of the last exchange with their own backoffs. The second
/// continues with its remaining slots when the first has sent.
#[test]
fn the_nav_does_not_bind_holder_and_receiver() {
    let mut cell = ended_early(&[1], true);
    // Station 0 draws its second backoff: its first frame needed none.
    let holder = ENDED + DIFS + SLOT * cell.backoff(0, 31);
    let receiver = ENDED + DIFS + SLOT * cell.backoff(1, 31);
    let mut expected = [(holder, 0), (receiver, 1)];
    expected.sort_unstable();
    assert!(expected[1].0 < ANNOUNCED && expected[0].0 < expected[1].0, "a seed without a tie");

    let (first, station) = expected[0];
    assert_eq!(cell.begin(), (first, vec![station]));
    let end = first + 500;
    cell.succeed(end, false);
    let (second, station) = expected[1];
    assert_eq!(cell.begin(), (end + DIFS + second - first, vec![station]));
}

/// For station 1 the medium has been idle for DIFS since the last exchange. So it has for station
/// 0, once its post-backoff has ended. For station 2 the medium is busy.
#[test]
fn a_frame_of_the_receiver_goes_at_once_under_the_nav() {
    for (station, earliest) in [(1, ENDED + DIFS), (0, ENDED + DIFS)] {
        let mut cell = ended_early(&[], false);
        let post_backoff = SLOT * cell.backoff(0, 31);
        let over = earliest + if station == 0 { post_backoff + 1 } else { 0 };
        assert!(over + 7 < ANNOUNCED);

        cell.queue(station, over + 7);

        assert_eq!(cell.begin(), (over + 7, vec![station]));
    }
}

/// A transmission after the TXOP is not part of it: when it ends, all stations wait only for DIFS.
#[test]
fn the_nav_is_forgotten_after_another_transmission() {
    let mut cell = ended_early(&[2], false);
    let slots = cell.backoff(2, 31);
    cell.queue(1, ENDED + DIFS);
    assert_eq!(cell.begin(), (ENDED + DIFS, vec![1]));
    cell.succeed(3_000, false);
    assert_eq!(cell.next(), Some(3_000 + DIFS + SLOT * slots));

    cell.queue(3, 3_000 + DIFS);

    assert_eq!(cell.begin(), (3_000 + DIFS, vec![3]));
}

/// CW goes 31, 63, and back to 31 after the success with which the TXOP ends.
#[test]
fn the_window_goes_back_after_a_txop_that_ends_early() {
    let mut cell = Cell::new(2, &standard());
    cell.queue(0, 1_000);
    cell.queue(1, 1_000);
    cell.begin();
    cell.collide(&[(0, 2_000), (1, 2_000)]);
    let (start, who) = cell.begin();
    let [holder] = who[..] else { panic!("one is first, with this seed") };
    assert_eq!(cell.contention.counters(holder).cw_sum, 63);

    cell.contention.end_success_early(holder, None, at(start + 500), at(start + 3_000), true);

    assert_eq!(cell.contention.counters(holder).cw_sum, 63 + 31);
}
