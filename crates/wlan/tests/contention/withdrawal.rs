//! Frames that another link takes away or returns, and packets that arrive meanwhile: the backoff
//! goes on without a frame.

use crate::cell::{Cell, DIFS, SLOT, at, standard};

/// Returns a cell in which station 1 backs off from 2,000 us on, and its backoff in slots.
fn backing_off() -> (Cell, u64) {
    let mut cell = Cell::during_a_frame(3, &standard());
    cell.queue(1, 1_500);
    cell.succeed(2_000, false);
    let slots = cell.backoff(1, 31);
    (cell, slots)
}

#[test]
fn a_backoff_without_a_frame_begins_no_transmission() {
    let (mut cell, _) = backing_off();

    cell.contention.withdraw(1);

    assert_eq!(cell.next(), None);
}

#[test]
fn a_new_frame_waits_for_the_rest_of_the_backoff() {
    let (mut cell, slots) = backing_off();

    cell.contention.withdraw(1);
    cell.queue(1, 2_010);

    assert_eq!(cell.begin(), (2_000 + DIFS + SLOT * slots, vec![1]));
}

#[test]
fn a_new_frame_after_the_backoff_goes_at_once() {
    let (mut cell, slots) = backing_off();
    let late = 2_000 + DIFS + SLOT * (slots + 3);

    cell.contention.withdraw(1);
    cell.queue(1, late);

    assert_eq!(cell.begin(), (late, vec![1]));
}

#[test]
fn a_backoff_without_a_frame_is_frozen_like_any_other() {
    let (mut cell, slots) = backing_off();
    cell.contention.withdraw(1);
    let start = 2_000 + DIFS;
    assert!(slots > 0, "or it would have ended");

    cell.queue(2, 2_010);
    assert_eq!(cell.begin(), (start, vec![2]));
    cell.queue(1, start + 100);
    cell.succeed(start + 1_000, false);

    assert_eq!(cell.begin(), (start + 1_000 + DIFS + SLOT * slots, vec![1]));
}

#[test]
fn a_frame_that_found_the_medium_idle_leaves_no_backoff() {
    let mut cell = Cell::new(2, &standard());
    cell.queue(1, 1_000);

    cell.contention.withdraw(1);
    assert_eq!(cell.next(), None);
    cell.queue(1, 1_500);

    assert_eq!(cell.begin(), (1_500, vec![1]));
}

/// The preset `ns-3`: the packet finds its queue not empty, and no backoff is left.
#[test]
fn a_packet_beside_frames_of_another_link_draws_no_backoff() {
    let mut cell = Cell::during_a_frame(3, &standard());

    cell.contention.frame_of_links(1, at(1_900), true);
    cell.succeed(2_000, false);

    assert_eq!(cell.begin(), (2_000 + DIFS, vec![1]));
}

#[test]
fn a_packet_beside_frames_of_another_link_waits_for_the_rest_of_the_backoff() {
    let (mut cell, slots) = backing_off();
    assert!(slots > 0, "or it would have ended");

    cell.contention.withdraw(1);
    cell.contention.frame_of_links(1, at(2_010), true);

    assert_eq!(cell.begin(), (2_000 + DIFS + SLOT * slots, vec![1]));
}

#[test]
fn a_frame_that_another_link_returns_waits_for_the_next_packet() {
    let mut cell = Cell::new(2, &standard());

    cell.contention.frame_of_links(1, at(1_000), false);
    assert_eq!(cell.next(), None);
    cell.contention.frame_of_links(1, at(1_500), true);

    assert_eq!(cell.begin(), (1_500, vec![1]));
}

#[test]
fn a_frame_that_another_link_returns_uses_the_backoff_that_is_left() {
    let (mut cell, slots) = backing_off();
    assert!(slots > 0, "or it would have ended");

    cell.contention.withdraw(1);
    cell.contention.frame_of_links(1, at(2_010), false);

    assert_eq!(cell.begin(), (2_000 + DIFS + SLOT * slots, vec![1]));
}
