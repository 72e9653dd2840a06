//! The access point of paper B, section 3.2, step by step: bursts without backoff, and windows of
//! virtual slots in which it does not contend. Here windows have 4 slots and m* = 2, so that bursts
//! have 4 packets.

use airtcp_wlan::{BurstConfig, BurstLength, CollidedFrame, Retry};

use crate::cell::{ACK_TIMEOUT, Cell, DIFS, EIFS, SLOT, standard, with_rules};

const SCHEME: BurstConfig =
    BurstConfig { window_slots: 4, length: BurstLength::Adaptive { target_active: 2 } };

/// An access point that has begun its first burst at 1000, and two stations without a frame.
fn in_a_burst() -> Cell {
    let mut cell = Cell::with_bursts(3, &standard(), SCHEME);
    cell.queue(0, 1_000);
    assert_eq!(cell.begin(), (1_000, vec![0]));
    cell
}

/// The first burst has 2 m* packets.
#[test]
fn a_burst_goes_out_with_difs_alone_between_its_packets() {
    let mut cell = in_a_burst();

    for end in [2_000, 3_000, 4_000] {
        cell.succeed(end, true);
        assert_eq!(cell.begin(), (end + DIFS, vec![0]));
    }
    cell.succeed(5_000, true);

    // The fifth packet waits until the window is over. No station sends, so the window has four
    // idle slots.
    assert_eq!(cell.next(), Some(5_000 + DIFS + 4 * SLOT));
}

#[test]
fn a_station_with_slots_left_holds_during_a_burst_and_keeps_them() {
    let mut cell = in_a_burst();
    cell.queue(1, 1_500);
    let slots = cell.backoff(1, 31);
    assert!(slots >= 1, "a seed with some slots: {slots}");
    for end in [2_000, 3_000, 4_000] {
        cell.succeed(end, true);
        cell.begin();
    }
    // The queue is empty, so the access point does not return.
    cell.succeed(5_000, false);

    assert_eq!(cell.begin(), (5_000 + DIFS + SLOT * slots, vec![1]));
}

/// An exchange of a station is one virtual slot, however long it lasts. So is a collision.
#[test]
fn what_stations_send_in_the_window_is_a_slot_each() {
    let mut cell = in_a_burst();
    cell.succeed(2_000, false);
    cell.queue(0, 2_010);
    // 2050: the window of four slots begins. A slot passes, and station 1 finds the medium idle.
    cell.queue(1, 2_050 + SLOT);
    assert_eq!(cell.begin(), (2_050 + SLOT, vec![1]));
    cell.succeed(3_000, false);
    // Two slots are left.
    assert_eq!(cell.next(), Some(3_000 + DIFS + 2 * SLOT));

    cell.queue(1, 3_000 + DIFS);
    cell.queue(2, 3_000 + DIFS);
    // Station 1 has a post-backoff, station 2 has none and sends first.
    let backoff = cell.backoff(1, 31);
    assert!(backoff >= 1, "a seed with some slots: {backoff}");
    assert_eq!(cell.begin(), (3_000 + DIFS, vec![2]));
    cell.succeed(4_000, false);

    // One slot is left, and station 1 needs at least one.
    assert_eq!(cell.next(), Some(4_000 + DIFS + SLOT));
}

/// A burst that ends early also leaves the window to the stations.
#[test]
fn a_burst_ends_when_the_queue_is_empty() {
    let mut cell = in_a_burst();
    cell.succeed(2_000, false);

    cell.queue(0, 2_060);

    assert_eq!(cell.begin(), (2_000 + DIFS + 4 * SLOT, vec![0]));
}

#[test]
fn after_the_window_a_frame_goes_at_once() {
    let mut cell = in_a_burst();
    cell.succeed(2_000, false);

    cell.queue(0, 9_007);

    assert_eq!(cell.begin(), (9_007, vec![0]));
}

#[test]
fn without_immediate_access_difs_comes_first() {
    let mac = with_rules(|rules| rules.immediate_access = false);
    let mut cell = Cell::with_bursts(1, &mac, SCHEME);

    cell.queue(0, 9_007);

    assert_eq!(cell.begin(), (9_007 + DIFS, vec![0]));
}

/// Without backoff: the ACK timeout, DIFS, and the frame again.
#[test]
fn a_packet_that_collides_is_sent_again_without_backoff() {
    let mut cell = in_a_burst();
    cell.succeed(2_000, true);
    cell.queue(1, 2_020);
    assert_eq!(cell.begin(), (2_000 + DIFS, vec![0, 1]));

    assert_eq!(cell.collide(&[(0, 3_000), (1, 2_500)]), [Retry::Again, Retry::Again]);

    // Station 1's ACK timeout ended before the longer frame did.
    let other = 3_000 + DIFS + SLOT * cell.backoff(1, 63);
    let own = 3_000 + ACK_TIMEOUT + DIFS;
    assert_eq!(cell.next(), Some(own.min(other)));
}

/// A packet that is given up still counts in the burst: the window follows it.
#[test]
fn a_packet_given_up_counts_as_one_of_the_burst() {
    let mac = airtcp_wlan::MacConfig { short_retry_limit: 1, ..standard() };
    let mut cell = Cell::with_bursts(2, &mac, SCHEME);
    cell.queue(0, 1_000);
    cell.begin();
    for end in [2_000, 3_000] {
        cell.succeed(end, true);
        cell.begin();
    }
    cell.succeed(4_000, true);
    cell.queue(1, 4_020);
    assert_eq!(cell.begin(), (4_000 + DIFS, vec![0, 1]));

    // The fourth and last packet; the queue has another.
    cell.contention.collided(0, Retry::Dropped);
    cell.contention.collided(1, Retry::Dropped);
    let (end, at) = (5_000, crate::cell::at);
    let own = CollidedFrame { end: at(end), outlasts: false };
    cell.contention.back_off_after_collision(0, Retry::Dropped, own, at(end), true);
    cell.contention.back_off_after_collision(1, Retry::Dropped, own, at(end), false);
    cell.contention.end_collision(at(end));

    assert_eq!(cell.next(), Some(end + ACK_TIMEOUT + DIFS + 4 * SLOT));
}

/// Listeners of a collision, including the access point, wait for EIFS. Then the access point's
/// slots continue.
#[test]
fn a_collision_in_the_window_is_followed_by_eifs() {
    let mut cell = in_a_burst();
    cell.succeed(2_000, false);
    cell.queue(0, 2_010);
    cell.queue(1, 2_020);
    cell.queue(2, 2_020);
    assert_eq!(cell.begin(), (2_000 + DIFS, vec![1, 2]));

    cell.collide(&[(1, 3_000), (2, 3_000)]);

    let colliders =
        (1..=2).map(|id| 3_000 + ACK_TIMEOUT + DIFS + SLOT * cell.backoff(id, 63)).min().unwrap();
    assert_eq!(cell.next(), Some(colliders.min(3_000 + EIFS + 3 * SLOT)));
}
