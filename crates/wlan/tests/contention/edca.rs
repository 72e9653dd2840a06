//! EDCA, rule by rule: AIFS and contention windows of access categories, internal collisions,
//! TXOPs. Paper L's access point sends TCP ACKs after an AIFS of 50 us without backoff. Its
//! stations wait for 90 us and draw from 0 .. 31.

use std::collections::BTreeMap;

use airtcp_kernel::Duration;
use airtcp_wlan::{AccessParameters, EdcaConfig, MacConfig, Retry};

use crate::cell::{ACK_TIMEOUT, Cell, EIFS, SLOT, at, phy, standard};

const HIGH_AIFS: u64 = 50;
const LOW_AIFS: u64 = 90;

fn access(aifs: u64, cw_min: u32, cw_max: u32) -> AccessParameters {
    AccessParameters {
        aifs: Duration::from_micros(aifs),
        cw_min,
        cw_max,
        txop_limit: Duration::ZERO,
    }
}

fn high() -> AccessParameters {
    access(HIGH_AIFS, 0, 0)
}

fn low() -> AccessParameters {
    access(LOW_AIFS, 31, 1023)
}

/// EDCA; each cell gets the parameters of its categories directly.
fn edca() -> MacConfig {
    let none = BTreeMap::new();
    MacConfig { edca: Some(EdcaConfig { ap: none.clone(), stations: none }), ..standard() }
}

/// Contender 0 is the access point's, 1 and 2 are those of two stations.
fn paper_l() -> Cell {
    Cell::with_contenders(vec![(0, high()), (1, low()), (2, low())], &phy(), &edca())
}

#[test]
fn the_access_point_sends_as_long_as_it_has_frames() {
    let mut cell = paper_l();
    cell.queue(0, 0);
    cell.begin();
    cell.queue(1, 100);
    cell.backoff(1, 31);

    // Its backoff of zero slots ends 50 us after each busy period, while the stations still wait
    // for their AIFS.
    for end in [1_000, 2_000, 3_000] {
        cell.succeed(end, true);
        assert_eq!(cell.begin(), (end + HIGH_AIFS, vec![0]));
    }
}

/// A station counts its slots from 90 us after a busy period, including the boundary at which the
/// AIFS ends. It loses no slot when the medium becomes busy again.
#[test]
fn stations_hold_after_every_busy_period_and_keep_their_slots() {
    let mut cell = paper_l();
    cell.queue(0, 0);
    cell.begin();
    cell.queue(1, 100);
    let slots = cell.backoff(1, 31);
    assert!(slots >= 3, "a seed with some slots: {slots}");
    cell.succeed(1_000, false);

    // Two slots after the stations' AIFS the access point gets a frame. Its own AIFS is over and it
    // has no backoff, so it sends at once. The stations have counted at three boundaries.
    let arrival = 1_000 + LOW_AIFS + 2 * SLOT;
    cell.queue(0, arrival);
    assert_eq!(cell.begin(), (arrival, vec![0]));
    cell.succeed(5_000, false);

    assert_eq!(cell.begin(), (5_000 + LOW_AIFS + SLOT * (slots - 3), vec![1]));
}

/// 10.23.2.4: an access begins at a slot boundary, counted from the end of AIFS. This applies also
/// to a frame that finds the medium idle. A frame queued exactly at a boundary uses it. Under the
/// DCF each frame is sent at once.
#[test]
fn a_frame_at_an_idle_medium_waits_for_the_next_slot_boundary() {
    for (arrival, slots) in [(951, 46), (970, 46), (971, 47), (1_000, 48), (1_010, 48)] {
        for mac in [edca(), standard()] {
            let mut cell = Cell::with_contenders(vec![(0, high())], &phy(), &mac);
            cell.queue(0, arrival);

            let boundary = HIGH_AIFS + SLOT * slots;
            let start = if mac.edca.is_some() { boundary } else { arrival };
            assert_eq!(cell.begin(), (start, vec![0]));
        }
    }
}

/// 10.23.2.4: a backoff that has not ended counts one at each boundary, of which the first is the
/// end of AIFS. So a backoff of b slots ends after b idle slots. A backoff that a busy period
/// interrupts k slots after AIFS has counted k + 1.
#[test]
fn a_backoff_counts_the_boundary_at_which_its_space_ends() {
    let mut cell = paper_l();
    cell.queue(0, 0);
    cell.begin();
    cell.queue(1, 100);
    cell.queue(2, 100);
    let [first, second] = [cell.backoff(1, 31), cell.backoff(2, 31)];
    assert!(first != second, "a seed without a tie: {first}");
    let (winner, loser) = if first < second { (1, 2) } else { (2, 1) };
    let (won, lost) = (first.min(second), first.max(second));
    cell.succeed(1_000, false);

    assert_eq!(cell.begin(), (1_000 + LOW_AIFS + SLOT * won, vec![winner]));
    cell.succeed(3_000, false);

    assert_eq!(cell.begin(), (3_000 + LOW_AIFS + SLOT * (lost - won - 1), vec![loser]));
}

/// Contenders that count from an instant of their own also count its boundary.
#[test]
fn a_collider_counts_the_boundary_at_which_its_space_ends() {
    let mut cell = paper_l();
    cell.queue(1, 1_000);
    cell.queue(2, 1_000);
    cell.begin();
    cell.collide(&[(1, 2_000), (2, 2_000)]);
    let mut slots = [(cell.backoff(1, 63), 1), (cell.backoff(2, 63), 2)];
    slots.sort_unstable();
    let [(won, winner), (lost, loser)] = slots;
    assert!(won < lost, "a seed without a tie: {won}");

    assert_eq!(cell.begin(), (2_000 + ACK_TIMEOUT + LOW_AIFS + SLOT * won, vec![winner]));
    cell.succeed(4_000, false);

    assert_eq!(cell.begin(), (4_000 + LOW_AIFS + SLOT * (lost - won - 1), vec![loser]));
}

/// The post-backoff of a dropped frame counts the boundaries too. It is over when another station
/// sends at its last one, so the next frame draws a new backoff.
#[test]
fn a_post_backoff_of_a_dropped_frame_ends_at_its_last_boundary() {
    let mut cell = paper_l();
    cell.queue(1, 1_010);
    cell.begin();
    cell.contention.failed(1, Retry::Dropped);
    let from = 2_000 + ACK_TIMEOUT;
    let (sent, idle) = (at(2_000), at(from));
    cell.contention.back_off_after_failure(1, Retry::Dropped, (sent, idle, idle), false);
    let slots = cell.backoff(1, 31);
    assert!(slots >= 1, "a seed with a post-backoff");

    let last = from + LOW_AIFS + SLOT * (slots - 1);
    cell.queue(2, last);
    assert_eq!(cell.begin(), (last, vec![2]));
    cell.queue(1, last + 100);
    cell.succeed(9_000, false);

    let fresh = cell.backoff(1, 31);
    assert_ne!(fresh, 0, "a seed with a backoff");
    assert_eq!(cell.begin(), (9_000 + LOW_AIFS + SLOT * fresh, vec![1]));
}

/// The space of 30 us after the ACK timeout of 222 us ends before the ACK of 258 us would have.
#[test]
fn a_short_space_after_a_failure_ends_no_earlier_than_the_missing_response() {
    let mut cell = Cell::with_contenders(vec![(0, access(30, 0, 0))], &phy(), &edca());
    cell.queue(0, 1_010);
    cell.begin();
    cell.contention.failed(0, Retry::Again);
    let (sent, end) = (at(2_000), at(2_000 + 10 + 248));

    cell.contention.back_off_after_failure(0, Retry::Again, (sent, end, end), true);

    assert_eq!(cell.begin(), (2_258, vec![0]));
}

/// 40 us apart: a frame of the access point collides if it begins at a station's slot boundary.
#[test]
fn categories_collide_on_the_air_when_their_instants_are_equal() {
    let mut cell = paper_l();
    cell.queue(1, 1_010);

    cell.queue(0, 1_010);

    assert_eq!(cell.begin(), (1_010, vec![0, 1]));
}

#[test]
fn after_a_collision_each_category_adds_its_own_space() {
    let mut cell = paper_l();
    cell.queue(1, 1_010);
    cell.queue(2, 1_010);
    assert_eq!(cell.begin(), (1_010, vec![1, 2]));
    cell.queue(0, 1_500);
    cell.backoff(0, 0);

    cell.collide(&[(1, 2_000), (2, 2_000)]);

    // The access point heard the collision: EIFS - DIFS + AIFS, and no slots. The colliders wait
    // for their ACK timeouts.
    let colliders = (1..=2)
        .map(|id| 2_000 + ACK_TIMEOUT + LOW_AIFS + SLOT * cell.backoff(id, 63))
        .min()
        .unwrap();
    let heard = 2_000 + EIFS - 50 + HIGH_AIFS;
    assert_eq!(cell.next(), Some(heard.min(colliders)));
}

/// Both queues of station 0 would send at once. The first sends; the second backs off with a
/// doubled window from the end of the exchange on.
#[test]
fn of_two_queues_of_one_station_the_first_goes_and_the_other_backs_off() {
    let queues = vec![(0, access(50, 31, 1023)), (0, access(50, 31, 1023)), (1, low())];
    let mut cell = Cell::with_contenders(queues, &phy(), &edca());
    cell.queue(0, 1_010);
    cell.queue(1, 1_010);

    assert_eq!(cell.begin(), (1_010, vec![0]));
    assert_eq!(cell.contention.internal_collisions(), [1]);
    cell.contention.collided_internally(1, Retry::Again);
    cell.contention.back_off_after_internal_collision(1, true);
    cell.succeed(2_000, false);

    assert_eq!(cell.begin(), (2_000 + 50 + SLOT * cell.backoff(1, 63), vec![1]));
    let counters = cell.contention.counters(1);
    assert_eq!((counters.attempts, counters.collisions), (1, 0));
    assert_eq!(counters.internal_collisions, 1);
}

#[test]
fn a_frame_may_be_dropped_by_internal_collisions_alone() {
    let queues = vec![(0, access(50, 0, 0)), (0, access(50, 0, 0))];
    let mac = MacConfig { short_retry_limit: 2, ..edca() };
    let mut cell = Cell::with_contenders(queues, &phy(), &mac);
    cell.queue(0, 1_000);
    cell.queue(1, 1_000);
    for (end, retry) in [(2_000, Retry::Again), (3_000, Retry::Dropped)] {
        cell.begin();
        assert_eq!(cell.contention.internal_collisions(), [1]);
        cell.contention.collided_internally(1, retry);
        let has_frame = retry == Retry::Again;
        cell.contention.back_off_after_internal_collision(1, has_frame);
        cell.succeed(end, true);
    }

    assert_eq!(cell.begin().1, [0]);
    assert_eq!(cell.contention.internal_collisions(), []);
}

#[test]
fn a_txop_goes_on_without_contention() {
    let mut cell = paper_l();
    cell.queue(1, 1_000);
    cell.begin();

    cell.contention.continue_txop(1);
    assert_eq!(cell.next(), None);
    cell.succeed(4_000, false);

    let counters = cell.contention.counters(1);
    assert_eq!((counters.attempts, counters.successes, counters.draws), (2, 2, 1));
}
