//! The distributed coordination function, rule by rule: a few stations, a few frames, times
//! worked out in comments.

use airtcp_wlan::{
    AfterCollision, ArrivalBeforeOwnAck, CollidedFrame, Colliders, CwReset, MacConfig, PhyConfig,
    Retry, StationId,
};

use crate::cell::{ACK_TIMEOUT, Cell, DIFS, EIFS, SLOT, at, phy, standard, with_rules};

/// Two frames at one instant, so that their senders collide at once.
fn two_collide(mac: &MacConfig, others: usize) -> Cell {
    let mut cell = Cell::new(2 + others, mac);
    cell.queue(0, 1_000);
    cell.queue(1, 1_000);
    assert_eq!(cell.begin(), (1_000, vec![0, 1]));
    cell
}

#[test]
fn a_frame_at_a_medium_idle_for_difs_goes_at_once() {
    let mut cell = Cell::new(1, &standard());

    cell.queue(0, 1_000);

    assert_eq!(cell.begin(), (1_000, vec![0]));
}

#[test]
fn a_frame_within_difs_of_a_busy_medium_goes_when_difs_is_over() {
    let mut cell = Cell::new(2, &standard());
    cell.queue(0, 1_000);
    cell.begin();
    cell.succeed(2_000, false);

    cell.queue(1, 2_030);

    assert_eq!(cell.begin(), (2_000 + DIFS, vec![1]));
}

#[test]
fn a_frame_at_a_busy_medium_backs_off_from_difs_after_it() {
    let mut cell = Cell::new(2, &standard());
    cell.queue(0, 1_000);
    cell.begin();

    cell.queue(1, 1_500);
    assert_eq!(cell.next(), None);
    cell.succeed(2_000, false);

    let slots = cell.backoff(1, 31);
    assert_eq!(cell.begin(), (2_000 + DIFS + SLOT * slots, vec![1]));
}

/// Station 0's data frame is for station 1, which answers it at once: SIFS (10 us) before its MAC ACK
/// its own frame is in the queue. The medium was not idle for DIFS, so there is a backoff.
#[test]
fn an_answer_before_the_own_ack_backs_off() {
    let mut cell = Cell::new(2, &standard());
    cell.queue(0, 1_000);
    cell.begin();

    cell.queue_before_own_ack(1, 1_750);
    cell.succeed(2_000, false);

    assert_eq!(cell.begin(), (2_000 + DIFS + SLOT * cell.backoff(1, 31), vec![1]));
}

#[test]
fn an_answer_may_find_an_idle_medium_and_skip_the_backoff() {
    let idle = with_rules(|rules| rules.arrival_before_own_ack = ArrivalBeforeOwnAck::Idle);
    let mut cell = Cell::new(3, &idle);
    cell.queue(0, 1_000);
    cell.begin();

    cell.queue_before_own_ack(1, 1_750);
    // Station 2 heard the data frame; it owes no MAC ACK.
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

/// Where every frame draws a backoff, on an idle medium too, an answer does.
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

/// All three frames come while station 0 sends, so they count the same slots; who does not win
/// goes on with what it had left.
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
    let mut cell = Cell::new(1, &standard());
    cell.queue(0, 1_000);
    cell.begin();
    cell.succeed(2_000, false);
    let slots = cell.backoff(0, 31);
    assert!(slots >= 2, "a seed with a post-backoff of some slots: {slots}");

    cell.queue(0, 2_000 + DIFS + SLOT * (slots - 1));

    assert_eq!(cell.begin(), (2_000 + DIFS + SLOT * slots, vec![0]));
}

#[test]
fn a_frame_after_the_post_backoff_goes_at_once() {
    let mut cell = Cell::new(1, &standard());
    cell.queue(0, 1_000);
    cell.begin();
    cell.succeed(2_000, false);
    let over = 2_000 + DIFS + SLOT * cell.backoff(0, 31);

    cell.queue(0, over + 1);

    assert_eq!(cell.begin(), (over + 1, vec![0]));
}

/// ns-2's rule: the rest of the post-backoff is inherited, but a new one follows an old one
/// that has ended.
#[test]
fn without_immediate_access_an_ended_post_backoff_is_followed_by_a_new_one() {
    let mut cell = Cell::new(1, &with_rules(|rules| rules.immediate_access = false));
    cell.queue(0, 1_000);
    cell.backoff(0, 31);
    cell.begin();
    cell.succeed(2_000, false);
    let over = 2_000 + DIFS + SLOT * cell.backoff(0, 31);

    cell.queue(0, over + 1);

    let slots = cell.backoff(0, 31);
    assert_eq!(cell.begin(), (over + 1 + DIFS + SLOT * slots, vec![0]));
}

#[test]
fn a_post_backoff_freezes_like_any_other() {
    let mut cell = Cell::new(2, &standard());
    cell.queue(0, 1_000);
    cell.begin();
    cell.succeed(2_000, false);
    let slots = cell.backoff(0, 31);
    assert!(slots >= 3, "a seed with a post-backoff of some slots: {slots}");
    // Station 1 sends when two slots of the post-backoff have passed.
    cell.queue(1, 2_000 + DIFS + 2 * SLOT);
    assert_eq!(cell.begin(), (2_000 + DIFS + 2 * SLOT, vec![1]));
    cell.queue(0, 2_500);
    cell.succeed(4_000, false);

    assert_eq!(cell.begin(), (4_000 + DIFS + SLOT * (slots - 2), vec![0]));
}

/// A post-backoff ends in the very slot in which another sends: it is over, and a frame that comes
/// meanwhile draws anew.
#[test]
fn a_post_backoff_that_ends_as_another_sends_is_over() {
    let mut cell = Cell::new(2, &standard());
    cell.queue(0, 1_000);
    cell.begin();
    cell.succeed(2_000, false);
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
    let mut cell = Cell::new(1, &with_rules(|rules| rules.post_backoff = false));
    cell.queue(0, 1_000);
    cell.begin();
    cell.succeed(2_000, false);

    cell.queue(0, 2_010);

    assert_eq!(cell.begin(), (2_000 + DIFS, vec![0]));
}

/// Collided frames end at 2000 and 2100 us; the medium is idle from 2100 on, and both senders
/// miss their ACKs before DIFS is over: at 2222 and 2322.
#[test]
fn colliders_wait_for_the_ack_timeout_and_difs_with_a_doubled_window() {
    let mut cell = two_collide(&standard(), 0);

    assert_eq!(cell.collide(&[(0, 2_000), (1, 2_100)]), [Retry::Again, Retry::Again]);

    let first = 2_000 + ACK_TIMEOUT + DIFS + SLOT * cell.backoff(0, 63);
    let second = 2_100 + ACK_TIMEOUT + DIFS + SLOT * cell.backoff(1, 63);
    assert_ne!(first, second);
    assert_eq!(cell.next(), Some(first.min(second)));
}

/// A short frame's sender hears the rest of the long one, and no answer.
#[test]
fn a_collider_waits_until_the_others_frame_is_over() {
    let mut cell = two_collide(&standard(), 0);

    cell.collide(&[(0, 1_300), (1, 9_000)]);

    let first = 9_000 + DIFS + SLOT * cell.backoff(0, 63);
    let second = 9_000 + ACK_TIMEOUT + DIFS + SLOT * cell.backoff(1, 63);
    assert_eq!(cell.next(), Some(first.min(second)));
}

#[test]
fn those_who_heard_a_collision_wait_for_eifs() {
    for (rule, space) in [
        (AfterCollision::Eifs, EIFS),
        (AfterCollision::Difs, DIFS),
        (AfterCollision::EifsThenDifs, EIFS + DIFS),
    ] {
        let mut cell = two_collide(&with_rules(|rules| rules.after_collision = rule), 1);
        cell.collide(&[(0, 2_000), (1, 2_000)]);

        // A frame at once after the collision waits for the space, and needs no backoff.
        cell.queue(2, 2_001);

        let colliders = (0..2)
            .map(|station| 2_000 + ACK_TIMEOUT + DIFS + SLOT * cell.backoff(station, 63))
            .min();
        assert_eq!(cell.next(), colliders.min(Some(2_000 + space)));
    }
}

#[test]
fn colliders_may_wait_as_long_as_the_others() {
    let mac = with_rules(|rules| {
        rules.after_collision = AfterCollision::EifsThenDifs;
        rules.colliders = Colliders::AsOthers;
    });
    let mut cell = two_collide(&mac, 0);

    cell.collide(&[(0, 2_000), (1, 2_000)]);

    let slots = cell.backoff(0, 63).min(cell.backoff(1, 63));
    assert_eq!(cell.next(), Some(2_000 + EIFS + DIFS + SLOT * slots));
}

/// Station 0 still hears the end of the other frame, and waits as all who do. Station 1 sends until
/// the end and hears nothing: it misses its ACK.
#[test]
fn colliders_may_wait_as_they_hear() {
    let mac = with_rules(|rules| {
        rules.after_collision = AfterCollision::EifsThenDifs;
        rules.colliders = Colliders::AsHeard;
    });
    let mut cell = two_collide(&mac, 0);

    cell.collide(&[(0, 1_300), (1, 9_000)]);

    let resumed = [9_000 + EIFS + DIFS, 9_000 + ACK_TIMEOUT + DIFS];
    let slots = [cell.backoff(0, 63), cell.backoff(1, 63)];
    let [first, second] = [0, 1].map(|station| resumed[station] + SLOT * slots[station]);
    assert_ne!(first, second);
    let (start, who) = cell.begin();
    assert_eq!(start, first.min(second));
    cell.succeed(start + 1_000, false);

    // The other one goes on with what is left of its slots, which began where it resumed.
    let [sender] = who[..] else { panic!("one is first") };
    let other = 1 - sender as usize;
    let counted = start.saturating_sub(resumed[other]) / SLOT;
    assert_eq!(cell.next(), Some(start + 1_000 + DIFS + SLOT * (slots[other] - counted)));
}

/// Frames that end together: each is still on its way when the other has ended, and both are heard.
#[test]
fn colliders_whose_frames_end_together_hear_each_other() {
    let mac = with_rules(|rules| {
        rules.after_collision = AfterCollision::EifsThenDifs;
        rules.colliders = Colliders::AsHeard;
    });
    let mut cell = two_collide(&mac, 0);

    cell.collide(&[(0, 2_000), (1, 2_000)]);

    let slots = cell.backoff(0, 63).min(cell.backoff(1, 63));
    assert_eq!(cell.next(), Some(2_000 + EIFS + DIFS + SLOT * slots));
}

/// Station 2's frame arrives during EIFS; a collider is faster, so the medium gets busy before
/// it was idle for EIFS, and a backoff is due. CW is 7 after a collision, to make sure of it.
#[test]
fn a_frame_whose_wait_is_interrupted_backs_off() {
    let phy = PhyConfig { cw_min: 3, ..phy() };
    let mut cell = Cell::with_phy(3, &phy, &standard());
    cell.queue(0, 1_000);
    cell.queue(1, 1_000);
    cell.begin();
    cell.collide(&[(0, 2_000), (1, 2_000)]);
    cell.queue(2, 2_001);
    let slots: Vec<u64> = (0..2).map(|station| cell.backoff(station, 7)).collect();
    assert_ne!(slots[0], slots[1], "a seed without a tie");
    let (first, other) = if slots[0] < slots[1] { (0, 1) } else { (1, 0) };
    let start = 2_000 + ACK_TIMEOUT + DIFS + SLOT * slots[first as usize];
    assert!(start < 2_000 + EIFS);

    assert_eq!(cell.begin(), (start, vec![first]));
    cell.succeed(start + 1_000, false);

    let left = slots[other as usize] - slots[first as usize];
    let fresh = cell.backoff(2, 3);
    assert_ne!(left, fresh, "a seed without a tie");
    assert_ne!(fresh, 0, "a seed with a backoff");
    let (slots, station) = if left < fresh { (left, other) } else { (fresh, 2) };
    assert_eq!(cell.begin(), (start + 1_000 + DIFS + SLOT * slots, vec![station]));
}

/// A beacon: nobody acknowledges it, so it ends with itself, and a backoff follows.
#[test]
fn a_frame_to_all_is_over_when_it_ends() {
    let mut cell = Cell::new(1, &standard());
    cell.queue(0, 1_000);
    cell.begin();

    cell.contention.end_broadcast(0, at(1_776), true);

    assert_eq!(cell.begin(), (1_776 + DIFS + SLOT * cell.backoff(0, 31), vec![0]));
    let counters = cell.contention.counters(0);
    assert_eq!((counters.attempts, counters.broadcasts, counters.successes), (2, 1, 0));
}

/// Its sender does not know that it collided: no timeout, and no doubled window. The other does.
#[test]
fn a_frame_to_all_that_collides_is_not_sent_again() {
    let mut cell = two_collide(&standard(), 0);

    cell.contention.collided(0, Retry::Broadcast);
    cell.contention.collided(1, Retry::Again);
    let own = |end, outlasts| CollidedFrame { end: at(end), outlasts };
    let end = at(2_000);
    cell.contention.back_off_after_collision(0, Retry::Broadcast, own(1_776, false), end, true);
    cell.contention.back_off_after_collision(1, Retry::Again, own(2_000, true), end, true);
    cell.contention.end_collision(at(2_000));

    let sender = 2_000 + DIFS + SLOT * cell.backoff(0, 31);
    let other = 2_000 + ACK_TIMEOUT + DIFS + SLOT * cell.backoff(1, 63);
    assert_eq!(cell.next(), Some(sender.min(other)));
    assert_eq!(cell.contention.counters(0).collisions, 1);
}

/// CW goes 31, 63 and back to 31 after a success, and after a frame to all, which cannot fail.
#[test]
fn the_window_goes_back_after_a_success() {
    for to_all in [false, true] {
        let mut cell = two_collide(&standard(), 0);
        cell.collide(&[(0, 2_000), (1, 2_000)]);
        let (start, who) = cell.begin();
        let [sender] = who[..] else { panic!("one is first, with this seed") };
        assert_eq!(cell.contention.counters(sender).cw_sum, 63);

        if to_all {
            cell.contention.end_broadcast(sender, at(start + 1_000), true);
        } else {
            cell.succeed(start + 1_000, true);
        }

        assert_eq!(cell.contention.counters(sender).cw_sum, 63 + 31);
    }
}

/// CW goes 31, 63, 127 and back to 31 after a drop at the third failure.
#[test]
fn the_window_doubles_and_goes_back_after_a_drop() {
    let mac = MacConfig { short_retry_limit: 3, ..standard() };
    let mut cell = two_collide(&mac, 0);
    cell.collide(&[(0, 2_000), (1, 2_000)]);

    let cw_sum = |cell: &Cell, id| cell.contention.counters(id).cw_sum;
    assert_eq!(cw_sum(&cell, 0), 63);
    // The two are made to collide again: only the bookkeeping counts here.
    cell.contention.collided(0, Retry::Again);
    let own = |end| CollidedFrame { end, outlasts: false };
    cell.contention.back_off_after_collision(0, Retry::Again, own(at(3_000)), at(3_000), true);
    assert_eq!(cw_sum(&cell, 0), 63 + 127);
    cell.contention.collided(0, Retry::Dropped);
    cell.contention.back_off_after_collision(0, Retry::Dropped, own(at(4_000)), at(4_000), false);
    assert_eq!(cw_sum(&cell, 0), 63 + 127 + 31);
}

/// Under the rule of ns-3 a drop at the third failure changes nothing: CW goes 31, 63, 127, 255, and
/// back to 31 at the fourth failure in a row, which is the next frame's first; then it grows anew.
#[test]
fn the_window_may_go_back_one_failure_after_the_limit() {
    let mut mac = MacConfig { short_retry_limit: 3, ..standard() };
    mac.rules.cw_reset = CwReset::Failures;
    let mut cell = two_collide(&mac, 0);
    cell.collide(&[(0, 2_000), (1, 2_000)]);

    let cw_sum = |cell: &Cell| cell.contention.counters(0).cw_sum;
    let mut sum = 63;
    assert_eq!(cw_sum(&cell), sum);
    let fates =
        [(Retry::Again, 127), (Retry::Dropped, 255), (Retry::Again, 31), (Retry::Again, 63)];
    for (end, (retry, window)) in (3_000..).step_by(1_000).zip(fates) {
        cell.contention.collided(0, retry);
        let own = CollidedFrame { end: at(end), outlasts: false };
        cell.contention.back_off_after_collision(0, retry, own, at(end), true);
        sum += window;
        assert_eq!(cw_sum(&cell), sum);
    }
    assert_eq!(cell.contention.counters(0).drops, 1);
}

#[test]
fn no_backoff_need_follow_a_drop() {
    let mut mac = with_rules(|rules| rules.post_backoff_after_drop = false);
    mac.short_retry_limit = 1;
    let mut cell = two_collide(&mac, 0);
    cell.collide(&[(0, 2_000), (1, 2_000)]);

    // Idle for EIFS and no backoff pending: the next frame goes at once.
    cell.queue(0, 3_000);

    assert_eq!(cell.begin(), (3_000, vec![0]));
    assert_eq!(cell.contention.counters(0).draws, 0);
}

/// After a success the winner may draw zero and take the slot right after DIFS; those who were
/// frozen cannot, for they had at least one slot left (Bianchi and Tinnirello 2005).
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
