//! What follows a collision under the DCF, rule by rule: how long each station waits, and how CW
//! changes. Access categories and whole exchanges are elsewhere.

use airtcp_wlan::{AfterCollision, CollidedFrame, Colliders, CwReset, MacConfig, PhyConfig, Retry};

use crate::cell::{ACK_TIMEOUT, Cell, DIFS, EIFS, SLOT, at, phy, standard, with_rules};

/// Two frames queued at one instant, so that they collide.
fn two_collide(mac: &MacConfig, others: usize) -> Cell {
    let mut cell = Cell::new(2 + others, mac);
    cell.queue(0, 1_000);
    cell.queue(1, 1_000);
    assert_eq!(cell.begin(), (1_000, vec![0, 1]));
    cell
}

/// Collided frames end at 2000 and 2100 us. The medium is idle from 2100 on. Both ACK timeouts end
/// before DIFS is over: at 2222 and 2322.
#[test]
fn colliders_wait_for_the_ack_timeout_and_difs_with_a_doubled_window() {
    let mut cell = two_collide(&standard(), 0);

    assert_eq!(cell.collide(&[(0, 2_000), (1, 2_100)]), [Retry::Again, Retry::Again]);

    let first = 2_000 + ACK_TIMEOUT + DIFS + SLOT * cell.backoff(0, 63);
    let second = 2_100 + ACK_TIMEOUT + DIFS + SLOT * cell.backoff(1, 63);
    assert_ne!(first, second);
    assert_eq!(cell.next(), Some(first.min(second)));
}

/// The sender of the short frame hears the rest of the long one, and no response.
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

        // A frame queued right after the collision waits for the inter-frame space, and needs no
        // backoff.
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

/// Station 0 still hears the end of the other frame, and waits like the listeners. Station 1 sends
/// until the end and hears nothing, so it waits for its ACK timeout.
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

    // The other station continues with its remaining slots, which began when it resumed.
    let [sender] = who[..] else { panic!("one is first") };
    let other = 1 - sender as usize;
    let counted = start.saturating_sub(resumed[other]) / SLOT;
    assert_eq!(cell.next(), Some(start + 1_000 + DIFS + SLOT * (slots[other] - counted)));
}

/// Frames that end together: each arrives after the other's transmission has ended, so both are
/// heard.
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

/// Station 2's frame arrives during EIFS. A collider is faster, so the medium becomes busy before
/// it was idle for EIFS, and a backoff is due. A CW of 7 after the collision makes this certain.
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

/// The sender of a broadcast frame does not learn of the collision: it has no timeout, and its
/// window does not double. The other sender's does.
#[test]
fn a_frame_to_all_that_collides_is_not_sent_again() {
    let mut cell = two_collide(&standard(), 0);

    cell.contention.collided(0, Retry::Broadcast);
    cell.contention.collided(1, Retry::Again);
    let own = |end, outlasts| CollidedFrame { end: at(end), outlasts };
    let end = at(2_000);
    cell.contention.back_off_after_collision(0, Retry::Broadcast, own(1_900, false), end, true);
    cell.contention.back_off_after_collision(1, Retry::Again, own(2_000, true), end, true);
    cell.contention.end_collision(at(2_000));

    let sender = 2_000 + DIFS + SLOT * cell.backoff(0, 31);
    let other = 2_000 + ACK_TIMEOUT + DIFS + SLOT * cell.backoff(1, 63);
    assert!(sender < other, "a seed with which it is first");
    assert_eq!(cell.next(), Some(sender));
    assert_eq!(cell.contention.counters(0).collisions, 1);
}

/// CW goes 31, 63, stays there after a drop under the rule of ns-3, and goes back to 31 if the next
/// frame, a broadcast frame, collides.
#[test]
fn a_frame_to_all_that_collides_resets_the_window() {
    let mut mac = MacConfig { short_retry_limit: 1, ..standard() };
    mac.rules.cw_reset = CwReset::Failures;
    let mut cell = two_collide(&mac, 0);
    assert_eq!(cell.collide(&[(0, 2_000), (1, 2_000)]), [Retry::Dropped, Retry::Dropped]);
    assert_eq!(cell.contention.counters(0).cw_sum, 63);

    cell.contention.collided(0, Retry::Broadcast);
    let own = CollidedFrame { end: at(3_000), outlasts: false };
    cell.contention.back_off_after_collision(0, Retry::Broadcast, own, at(3_000), true);

    assert_eq!(cell.contention.counters(0).cw_sum, 63 + 31);
}

/// CW goes 31, 63, and back to 31 after a success, or after a broadcast frame, which cannot fail.
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

/// CW goes 31, 63, 127, and back to 31 after a drop at the third failure.
#[test]
fn the_window_doubles_and_goes_back_after_a_drop() {
    let mac = MacConfig { short_retry_limit: 3, ..standard() };
    let mut cell = two_collide(&mac, 0);
    cell.collide(&[(0, 2_000), (1, 2_000)]);

    let cw_sum = |cell: &Cell, id| cell.contention.counters(id).cw_sum;
    assert_eq!(cw_sum(&cell, 0), 63);
    // Force another collision of the two; only the counters matter here.
    cell.contention.collided(0, Retry::Again);
    let own = |end| CollidedFrame { end, outlasts: false };
    cell.contention.back_off_after_collision(0, Retry::Again, own(at(3_000)), at(3_000), true);
    assert_eq!(cw_sum(&cell, 0), 63 + 127);
    cell.contention.collided(0, Retry::Dropped);
    cell.contention.back_off_after_collision(0, Retry::Dropped, own(at(4_000)), at(4_000), false);
    assert_eq!(cw_sum(&cell, 0), 63 + 127 + 31);
}

/// Under the rule of ns-3 a drop at the third failure does not reset CW. It goes 31, 63, 127, 255,
/// and back to 31 at the fourth failure in a row, the first of the next frame. Then it grows again.
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

    // Idle for EIFS without a pending backoff: the next frame is sent at once.
    cell.queue(0, 3_000);

    assert_eq!(cell.begin(), (3_000, vec![0]));
    assert_eq!(cell.contention.counters(0).draws, 0);
}
