//! Stations whose radio is on another link meanwhile (eMLSR): their backoffs wait for them.

use crate::cell::{Cell, DIFS, SLOT, at, standard};

/// The first slot of stations that hear the frame end at 2,000 us.
const FIRST: u64 = 2_000 + DIFS;

/// Returns a cell in which station 1 backs off from 2,000 us on, and its backoff in slots.
fn backing_off() -> (Cell, u64) {
    let mut cell = Cell::during_a_frame(3, &standard());
    cell.queue(1, 1_500);
    cell.succeed(2_000, false);
    let slots = cell.backoff(1, 31);
    assert!(slots > 2, "or it would have ended");
    (cell, slots)
}

#[test]
fn a_backoff_counts_no_slots_of_its_absence() {
    let (mut cell, slots) = backing_off();

    let left = cell.contention.leave(1, at(FIRST + 2 * SLOT));
    assert_eq!((left, cell.next()), (Some(slots as u32 - 2), None));
    cell.contention.come_back(1, left, true, at(5_000));

    assert_eq!(cell.begin(), (5_000 + DIFS + SLOT * (slots - 2), vec![1]));
}

#[test]
fn a_backoff_goes_on_when_the_medium_is_idle_again() {
    let (mut cell, slots) = backing_off();
    let left = cell.contention.leave(1, at(2_000));

    cell.queue(2, 2_010);
    assert_eq!(cell.begin(), (FIRST, vec![2]));
    cell.contention.come_back(1, left, true, at(2_500));
    cell.succeed(3_000, false);

    assert_eq!(cell.begin(), (3_000 + DIFS + SLOT * slots, vec![1]));
}

#[test]
fn a_frame_that_finds_its_station_back_needs_a_backoff() {
    let mut cell = Cell::new(2, &standard());
    cell.queue(1, 1_000);

    assert_eq!(cell.contention.leave(1, at(1_000)), None);
    cell.contention.come_back(1, None, true, at(4_000));

    let slots = cell.backoff(1, 31);
    assert_eq!(cell.begin(), (4_000 + DIFS + SLOT * slots, vec![1]));
}

#[test]
fn the_rest_of_a_backoff_without_a_frame_serves_the_next_one() {
    let (mut cell, slots) = backing_off();
    cell.contention.withdraw(1);

    let left = cell.contention.leave(1, at(FIRST + SLOT));
    cell.contention.come_back(1, left, false, at(4_000));
    assert_eq!(cell.next(), None);
    cell.queue(1, 4_010);

    assert_eq!(cell.begin(), (4_000 + DIFS + SLOT * (slots - 1), vec![1]));
}
