//! The distributed coordination function, rule by rule: a few stations, a few frames, times
//! computed in comments. What follows a collision is in `collisions`.

use airtcp_wlan::{ArrivalBeforeOwnAck, StationId};

use crate::cell::{Cell, DIFS, SLOT, at, standard, with_rules};

#[test]
fn a_frame_at_a_medium_idle_for_difs_goes_at_once() {
    let mut cell = Cell::new(1, &standard());

    cell.queue(0, 1_000);

    assert_eq!(cell.begin(), (1_000, vec![0]));
}

#[test]
fn a_frame_within_difs_of_a_busy_medium_goes_when_difs_is_over() {
    let mut cell = Cell::after_a_frame(2, &standard());

    cell.queue(1, 2_030);

    assert_eq!(cell.begin(), (2_000 + DIFS, vec![1]));
}

#[test]
fn a_frame_at_a_busy_medium_backs_off_from_difs_after_it() {
    let mut cell = Cell::during_a_frame(2, &standard());

    cell.queue(1, 1_500);
    assert_eq!(cell.next(), None);
    cell.succeed(2_000, false);

    let slots = cell.backoff(1, 31);
    assert_eq!(cell.begin(), (2_000 + DIFS + SLOT * slots, vec![1]));
}

/// Station 0's data frame is for station 1, which responds at once: its own frame is queued a SIFS
/// (10 us) before its MAC ACK. The medium was not idle for DIFS, so there is a backoff.
#[test]
fn an_answer_before_the_own_ack_backs_off() {
    let mut cell = Cell::during_a_frame(2, &standard());

    cell.queue_before_own_ack(1, 1_750);
    cell.succeed(2_000, false);

    assert_eq!(cell.begin(), (2_000 + DIFS + SLOT * cell.backoff(1, 31), vec![1]));
}

#[test]
fn an_answer_may_find_an_idle_medium_and_skip_the_backoff() {
    let idle = with_rules(|rules| rules.arrival_before_own_ack = ArrivalBeforeOwnAck::Idle);
    let mut cell = Cell::during_a_frame(3, &idle);

    cell.queue_before_own_ack(1, 1_750);
    // Station 2 heard the data frame, and has no MAC ACK to send.
    cell.queue(2, 1_750);
    cell.succeed(2_000, false);

    assert_eq!(cell.begin(), (2_000 + DIFS, vec![1]));
    cell.succeed(3_000, false);
    assert_eq!(cell.begin(), (3_000 + DIFS + SLOT * cell.backoff(2, 31), vec![2]));
}

#[test]
fn an_answer_waits_for_the_end_of_a_post_backoff() {
    let idle = with_rules(|rules| rules.arrival_before_own_ack = ArrivalBeforeOwnAck::Idle);
    let mut cell = Cell::new(2, &idle);
    cell.queue(1, 1_000);
    cell.begin();
    cell.succeed(2_000, false);
    let slots = cell.backoff(1, 31);
    assert!(slots >= 1, "a seed with some slots: {slots}");
    cell.queue(0, 2_010);
    assert_eq!(cell.begin(), (2_000 + DIFS, vec![0]));

    cell.queue_before_own_ack(1, 2_750);
    cell.succeed(3_000, false);

    assert_eq!(cell.begin(), (3_000 + DIFS + SLOT * slots, vec![1]));
}

/// If every frame draws a backoff, even on an idle medium, so does a reply.
#[test]
fn an_answer_at_a_medium_that_seems_idle_backs_off_without_immediate_access() {
    let mut cell = Cell::new(
        2,
        &with_rules(|rules| {
            rules.arrival_before_own_ack = ArrivalBeforeOwnAck::Idle;
            rules.immediate_access = false;
        }),
    );
    cell.queue(0, 1_000);
    cell.begin();
    cell.queue_before_own_ack(1, 1_750);
    cell.succeed(2_000, false);

    assert_eq!(cell.begin(), (2_000 + DIFS + SLOT * cell.backoff(1, 31), vec![1]));
}

#[test]
fn without_immediate_access_difs_and_a_backoff_follow_the_arrival() {
    let mut cell = Cell::new(1, &with_rules(|rules| rules.immediate_access = false));

    cell.queue(0, 1_007);

    let slots = cell.backoff(0, 31);
    assert_eq!(cell.begin(), (1_007 + DIFS + SLOT * slots, vec![0]));
}

/// All three frames are queued while station 0 sends, so they count the same slots. A station that
/// does not win continues with its remaining slots.
#[test]
fn backoffs_freeze_while_the_medium_is_busy() {
    let mut cell = Cell::new(4, &standard());
    cell.queue(0, 0);
    cell.begin();
    for station in 1..=3 {
        cell.queue(station, 100);
    }
    let mut left: Vec<(u64, StationId)> =
        (1..=3).map(|station| (cell.backoff(station, 31), station)).collect();
    left.sort_unstable();
    assert!(left[0].0 < left[1].0 && left[1].0 < left[2].0, "a seed without ties: {left:?}");
    cell.succeed(1_000, false);

    let mut end = 1_000;
    let mut counted = 0;
    for (slots, station) in left {
        let start = end + DIFS + SLOT * (slots - counted);
        assert_eq!(cell.begin(), (start, vec![station]));
        counted = slots;
        end = start + 1_310;
        cell.succeed(end, false);
    }
    assert_eq!(cell.next(), None);
}

#[test]
fn a_frame_during_the_post_backoff_waits_for_its_end() {
    let mut cell = Cell::after_a_frame(1, &standard());
    let slots = cell.backoff(0, 31);
    assert!(slots >= 2, "a seed with a post-backoff of some slots: {slots}");

    cell.queue(0, 2_000 + DIFS + SLOT * (slots - 1));

    assert_eq!(cell.begin(), (2_000 + DIFS + SLOT * slots, vec![0]));
}

#[test]
fn a_frame_after_the_post_backoff_goes_at_once() {
    let mut cell = Cell::after_a_frame(1, &standard());
    let over = 2_000 + DIFS + SLOT * cell.backoff(0, 31);

    cell.queue(0, over + 1);

    assert_eq!(cell.begin(), (over + 1, vec![0]));
}

/// ns-2's rule: a frame inherits a running post-backoff, also one that ends as the frame arrives. It
/// draws a new backoff if the post-backoff has ended.
#[test]
fn without_immediate_access_an_ended_post_backoff_is_followed_by_a_new_one() {
    for late in [0, 1] {
        let mut cell = Cell::new(1, &with_rules(|rules| rules.immediate_access = false));
        cell.queue(0, 1_000);
        cell.backoff(0, 31);
        cell.begin();
        cell.succeed(2_000, false);
        let over = 2_000 + DIFS + SLOT * cell.backoff(0, 31);

        cell.queue(0, over + late);

        let wait = if late > 0 { DIFS + SLOT * cell.backoff(0, 31) } else { 0 };
        assert_eq!(cell.begin(), (over + late + wait, vec![0]));
    }
}

#[test]
fn a_post_backoff_freezes_like_any_other() {
    let mut cell = Cell::after_a_frame(2, &standard());
    let slots = cell.backoff(0, 31);
    assert!(slots >= 3, "a seed with a post-backoff of some slots: {slots}");
    // Station 1 sends when two slots of the post-backoff have passed.
    cell.queue(1, 2_000 + DIFS + 2 * SLOT);
    assert_eq!(cell.begin(), (2_000 + DIFS + 2 * SLOT, vec![1]));
    cell.queue(0, 2_500);
    cell.succeed(4_000, false);

    assert_eq!(cell.begin(), (4_000 + DIFS + SLOT * (slots - 2), vec![0]));
}

/// A post-backoff ends in the slot in which another station sends. It is over, and a frame queued
/// in the meantime draws a new backoff.
#[test]
fn a_post_backoff_that_ends_as_another_sends_is_over() {
    let mut cell = Cell::after_a_frame(2, &standard());
    let over = 2_000 + DIFS + SLOT * cell.backoff(0, 31);
    cell.queue(1, over);
    assert_eq!(cell.begin(), (over, vec![1]));
    cell.queue(0, over + 500);
    cell.succeed(over + 1_000, false);

    let slots = cell.backoff(0, 31);
    assert_ne!(slots, 0, "a seed with a backoff");
    assert_eq!(cell.begin(), (over + 1_000 + DIFS + SLOT * slots, vec![0]));
}

#[test]
fn without_post_backoff_the_next_frame_is_free() {
    let mut cell = Cell::after_a_frame(1, &with_rules(|rules| rules.post_backoff = false));

    cell.queue(0, 2_010);

    assert_eq!(cell.begin(), (2_000 + DIFS, vec![0]));
}

/// A beacon has no acknowledgment, so its exchange ends with the frame, and a backoff follows.
#[test]
fn a_frame_to_all_is_over_when_it_ends() {
    let mut cell = Cell::during_a_frame(1, &standard());

    cell.contention.end_broadcast(0, at(1_776), true);

    assert_eq!(cell.begin(), (1_776 + DIFS + SLOT * cell.backoff(0, 31), vec![0]));
    let counters = cell.contention.counters(0);
    assert_eq!((counters.attempts, counters.broadcasts, counters.successes), (2, 1, 0));
}

/// After a success the winner may draw zero and use the slot right after DIFS. Stations with frozen
/// backoffs cannot, because they have at least one slot left (Bianchi and Tinnirello 2005).
#[test]
fn only_the_last_sender_can_use_the_slot_right_after_difs() {
    let mut cell = Cell::new(2, &standard());
    cell.queue(0, 0);
    cell.begin();
    cell.queue(1, 100);
    let mut end = 1_000;
    cell.succeed(end, true);
    for _ in 0..2_000 {
        let (start, who) = cell.begin();
        let frozen = (0..2).find(|id| !who.contains(id));
        end = start + 1_310;
        if who.len() == 1 {
            cell.succeed(end, true);
            if cell.next() == Some(end + DIFS) {
                let (_, who) = cell.begin();
                assert!(!who.contains(&frozen.unwrap()), "{who:?}");
                end = end + DIFS + 1_310;
                cell.succeed(end, true);
            }
        } else {
            cell.collide(&[(0, end), (1, end)]);
        }
    }
}
