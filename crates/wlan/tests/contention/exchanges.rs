//! The MAC of a whole cell, step by step: what is on the air when, and what is received,
//! acknowledged, retransmitted and given up. 802.11b at 11 Mb/s with control frames at 2 Mb/s: SIFS
//! 10 us, slot 20 us, DIFS 50 us.
//!
//! A packet of 1000 bytes makes an MPDU of 1036: 192 + ceil(8288 / 11) = 946 us. An RTS of 20 bytes
//! lasts 192 + 80 = 272 us; a CTS or MAC ACK of 14 bytes 192 + 56 = 248 us. So from its start a
//! data frame is received after 946 us, and the MAC ACK after 946 + 10 + 248 = 1204 us.

use airtcp_kernel::Duration;
use airtcp_wlan::{AccessParameters, BeaconConfig, MacConfig, PhyConfig, Rate};

use crate::cell::{ACK_TIMEOUT, DIFS, EIFS, at, phy, standard};
use crate::script::{
    ACCESS_POINT, CTS_AND_SIFS, DATA, EXCHANGE, RTS, Script, Seen, edca, exchange,
};

/// The medium is idle, so the first packet is sent at once. The second waits for a backoff after
/// it.
#[test]
fn data_and_its_acknowledgment() {
    let mut script = Script::new(1, &phy(), &standard());
    script.queue(0, 1, 1_000, 1_000);
    script.queue(0, 1, 1_000, 1_100);
    assert_eq!(script.cell.held(0).count(), 1);

    assert_eq!(script.seen_before(2_205), exchange(1_000, 0, 0, 0));
    assert!(script.cell.held(0).next().is_none());
    let second = 1_000 + EXCHANGE + DIFS + script.backoff(0, 31);
    assert_eq!(script.seen_before(second + 2_000), exchange(second, 0, 1, 0));
    assert!(script.cell.held(0).next().is_none());
    assert_eq!(script.cell.counters(0).successes, 2);
    script.laws_hold();
}

/// RTS 272, SIFS 10, CTS 248, SIFS 10, then the same as without RTS: 540 us later.
#[test]
fn an_rts_goes_before_a_large_frame() {
    let mac = MacConfig { rts_threshold_bytes: Some(1_035), ..standard() };
    let mut script = Script::new(1, &phy(), &mac);
    // An MPDU of 1036 bytes is longer than the threshold, one of 1035 is not.
    script.queue(1, ACCESS_POINT, 1_000, 1_000);
    let data = 1_000 + RTS + CTS_AND_SIFS;

    let end = data + EXCHANGE;
    assert_eq!(
        script.seen_before(end + 1),
        [
            (1_000, Seen::Exchange { by: 1, packet: 0, failures: 0 }),
            (data + DATA, Seen::Received { by: 1, packet: 0 }),
            (end, Seen::Acknowledged { by: 1, packet: 0 }),
        ]
    );
    script.queue(0, 1, 999, 10_000);
    // 192 + ceil(8280 / 11) = 945 us.
    assert_eq!(script.seen_before(10_946)[1], (10_945, Seen::Received { by: 0, packet: 1 }));
}

/// Stations 1 and 2 send at the same instant. The longer frame ends after 946 us. Station 1's frame
/// of 500 bytes ends after 192 + ceil(4288 / 11) = 582 us, so its ACK timeout is over by then. Each
/// draws from a doubled window.
#[test]
fn frames_that_begin_together_collide_and_are_sent_again() {
    let mut script = Script::new(2, &phy(), &standard());
    script.queue(1, ACCESS_POINT, 500, 1_000);
    script.queue(2, ACCESS_POINT, 1_000, 1_000);

    let end = 1_000 + DATA;
    let from = [(1_000 + 582 + ACK_TIMEOUT).max(end) + DIFS, end + ACK_TIMEOUT + DIFS];
    assert_eq!(
        script.seen_before(end + 1),
        [
            (1_000, Seen::Collider { by: 1, packet: 0 }),
            (1_000, Seen::Collider { by: 2, packet: 1 }),
            (1_000, Seen::Collision { micros: DATA }),
        ]
    );
    // Both frames are held for retransmission, ahead of their queues.
    assert_eq!(
        [1, 2].map(|by| script.cell.held(by).map(|mpdu| mpdu.failures).next()),
        [Some(1), Some(1)]
    );
    let starts = [from[0] + script.backoff(1, 63), from[1] + script.backoff(2, 63)];
    assert_ne!(starts[0], starts[1], "a seed without a tie");
    let (first, by) = if starts[0] < starts[1] { (starts[0], 1) } else { (starts[1], 2) };

    let seen = script.seen_before(first + 1);
    assert_eq!(seen, [(first, Seen::Exchange { by, packet: by - 1, failures: 1 })]);
    let counters = script.cell.cell_counters();
    assert_eq!((counters.collisions, counters.simultaneous_sends), (1, 0));
    script.laws_hold();
}

/// The access point and the station that it sends to: neither hears the other's frame (paper G).
#[test]
fn frames_for_each_others_senders_are_counted() {
    let mut script = Script::new(2, &phy(), &standard());
    script.queue(0, 2, 1_000, 1_000);
    script.queue(2, ACCESS_POINT, 1_000, 1_000);
    script.run(1_001);
    assert_eq!(script.cell.cell_counters().simultaneous_sends, 1);

    let mut script = Script::new(2, &phy(), &standard());
    script.queue(0, 1, 1_000, 1_000);
    script.queue(2, ACCESS_POINT, 1_000, 1_000);
    script.run(1_001);
    assert_eq!(script.cell.cell_counters().simultaneous_sends, 0);
}

/// Windows of 0 slots that do not grow: two stations collide again and again, an ACK timeout and
/// DIFS apart, until they reach the retry limit. Then each continues with its next packet.
#[test]
fn a_frame_is_given_up_at_the_retry_limit() {
    let phy = PhyConfig { cw_min: 0, cw_max: 0, ..phy() };
    for limit in [1, 3] {
        let mac = MacConfig { short_retry_limit: limit, ..standard() };
        let mut script = Script::new(2, &phy, &mac);
        script.queue(1, ACCESS_POINT, 1_000, 1_000);
        script.queue(2, ACCESS_POINT, 1_000, 1_000);
        script.queue(1, ACCESS_POINT, 1_000, 1_001);
        let period = DATA + ACK_TIMEOUT + DIFS;
        let given_up = 1_000 + u64::from(limit - 1) * period + DATA;

        let seen = script.seen_before(given_up);
        assert_eq!(seen.len(), 3 * limit as usize);
        assert_eq!(seen.last().unwrap().0, given_up - DATA);
        let seen = script.seen_before(given_up + 1);
        let ends = [1, 2].map(|by| (given_up, Seen::GivenUp { by, packet: by - 1 }));
        assert_eq!(seen, ends);
        // Station 2 has no more packets. The next frame of station 1 has not failed yet.
        let next = given_up + ACK_TIMEOUT + DIFS;
        assert_eq!(script.seen_before(next + EXCHANGE + 1), exchange(next, 1, 2, 0));
        assert_eq!(script.cell.counters(1).drops, 1);
        script.laws_hold();
    }
}

/// A third station detected the collision and decoded no frame. It waits for EIFS after the
/// collision, the colliders for their timeouts and DIFS.
#[test]
fn who_heard_a_collision_waits_for_eifs() {
    let mut script = Script::new(3, &phy(), &standard());
    script.queue(1, ACCESS_POINT, 1_000, 1_000);
    script.queue(2, ACCESS_POINT, 1_000, 1_000);
    let end = 1_000 + DATA;
    script.queue(3, ACCESS_POINT, 1_000, end + 1);

    let retries = [1, 2].map(|by| end + ACK_TIMEOUT + DIFS + script.backoff(by, 63));
    let first = retries[0].min(retries[1]).min(end + EIFS);
    assert_eq!(script.cell.next_time(), at(first));
}

/// The frames of stations 1 and 5 collide: one ends after 582 us, the other after 946 us. Station
/// 3's frame is queued when the first one ends. Its EIFS counts from the end of the second.
#[test]
fn eifs_counts_from_the_end_of_the_last_frame_that_collided() {
    let mut script = Script::new(5, &phy(), &standard());
    script.queue(1, ACCESS_POINT, 500, 1_000);
    script.queue(5, ACCESS_POINT, 1_000, 1_000);
    let end = 1_000 + DATA;
    script.queue(3, ACCESS_POINT, 1_000, 1_000 + 582 + 1);

    let first = end + DIFS + script.backoff(1, 63);
    let second = end + ACK_TIMEOUT + DIFS + script.backoff(5, 63);
    let heard = end + EIFS + script.backoff(3, 31);
    assert!(heard < first.min(second), "a seed in which it is first");
    let seen = script.seen_before(heard + 1);
    assert_eq!(seen.last(), Some(&(heard, Seen::Exchange { by: 3, packet: 2, failures: 0 })));
    assert_eq!(seen.len(), 4, "a collision of two, and that exchange: {seen:?}");
}

/// AC_BE has a TXOP limit of 3 ms here: two exchanges, 1204 us each and 10 us apart, end after
/// 2418 us; a third would end after 3632 us.
#[test]
fn a_txop_holds_as_many_exchanges_as_fit() {
    let access =
        AccessParameters { txop_limit: Duration::from_millis(3), ..AccessParameters::dcf(&phy()) };
    let mac = edca();
    let mut script = Script::with_queues(&[(0, access), (1, access)], &phy(), &mac);
    for _ in 0..3 {
        script.queue(0, 1, 1_000, 1_010);
    }

    let second = 1_010 + EXCHANGE + 10;
    let end = second + EXCHANGE;
    let seen = script.seen_before(end + 1);
    assert_eq!(seen[..3], exchange(1_010, 0, 0, 0));
    assert_eq!(seen[3..], exchange(second, 0, 1, 0));
    let third = end + DIFS + script.backoff(0, 31);
    assert_eq!(script.seen_before(third + 1), exchange(third, 0, 2, 0)[..1]);
    assert_eq!(script.cell.counters(0).attempts, 3);
}

/// Two queues of a station end their backoffs together. The one with lower priority loses its
/// access as in a collision. Its frame is given up at the limit without ever being sent.
#[test]
fn an_internal_collision_costs_a_try() {
    let access = AccessParameters { cw_min: 0, cw_max: 0, ..AccessParameters::dcf(&phy()) };
    let mac = MacConfig { short_retry_limit: 2, ..edca() };
    let mut script = Script::with_queues(&[(0, access), (0, access)], &phy(), &mac);
    for _ in 0..3 {
        script.queue(0, 0, 1_000, 1_010);
    }
    script.queue(1, 0, 1_000, 1_010);

    let seen = script.seen_before(1_011);
    assert_eq!(seen, exchange(1_010, 0, 0, 0)[..1]);
    assert_eq!(script.cell.held(1).map(|mpdu| mpdu.failures).next(), Some(1));
    // The second access follows DIFS after the first exchange.
    let second = 1_010 + EXCHANGE + DIFS;
    let seen = script.seen_before(second + 1);
    assert!(seen.contains(&(second, Seen::GivenUp { by: 1, packet: 3 })), "{seen:?}");
    let counters = script.cell.counters(1);
    assert_eq!((counters.attempts, counters.internal_collisions, counters.drops), (0, 2, 1));
    script.laws_hold();
}

/// A beacon of 73 bytes at 1 Mb/s lasts 192 + 584 = 776 us. It is due every 10 ms. It has no
/// response, so the medium is idle when it ends.
#[test]
fn a_beacon_goes_before_the_packets_of_its_queue() {
    let mut script = Script::new(1, &phy(), &with_beacon(10));
    // One packet is on the air when the beacon is due, and another is queued.
    script.queue(0, 1, 1_000, 9_500);
    script.queue(0, 1, 1_000, 9_600);
    let end = 9_500 + EXCHANGE;
    assert_eq!(script.seen_before(end + 1), exchange(9_500, 0, 0, 0));

    let beacon = end + DIFS + script.backoff(0, 31);
    let packet = beacon + 776 + DIFS + script.backoff(0, 31);
    let seen = script.seen_before(packet + 1);
    assert_eq!(
        seen,
        [
            (beacon, Seen::Beacon { number: 0, collides: false }),
            (packet, Seen::Exchange { by: 0, packet: 1, failures: 0 }),
        ]
    );
    // The next beacon finds an idle medium and an ended post-backoff: it is sent when it is due.
    let seen = script.seen_before(20_001);
    assert_eq!(seen.last(), Some(&(20_000, Seen::Beacon { number: 1, collides: false })));
    assert_eq!(script.cell.cell_counters().beacons, 2);
    script.laws_hold();
}

/// The sender of a beacon does not learn of the collision, so it is not sent again. The other frame
/// is.
#[test]
fn a_beacon_that_collides_is_over() {
    let mut script = Script::new(1, &phy(), &with_beacon(10));
    script.queue(1, ACCESS_POINT, 1_000, 10_000);

    let seen = script.seen_before(10_001);
    assert_eq!(
        seen,
        [
            (10_000, Seen::Collider { by: 1, packet: 0 }),
            (10_000, Seen::Collision { micros: DATA }),
            (10_000, Seen::Beacon { number: 0, collides: true }),
        ]
    );
    let again = 10_000 + DATA + ACK_TIMEOUT + DIFS + script.backoff(1, 63);
    let seen = script.seen_before(again + 1);
    assert_eq!(seen, [(again, Seen::Exchange { by: 1, packet: 0, failures: 1 })]);
    let counters = script.cell.cell_counters();
    assert_eq!((counters.beacons, counters.beacon_collisions), (1, 1));
    script.laws_hold();
}

/// A collided frame lets a beacon go first, and then still has the same number of tries: with a
/// limit of 2, one. Windows of 0 slots make the order certain.
#[test]
fn a_beacon_leaves_the_tries_of_the_next_frame_alone() {
    let phy = PhyConfig { cw_min: 0, cw_max: 0, ..phy() };
    let mac = MacConfig { short_retry_limit: 2, ..with_beacon(10) };
    let mut script = Script::new(1, &phy, &mac);
    script.queue(0, 1, 1_000, 9_000);
    script.queue(1, ACCESS_POINT, 1_000, 9_000);
    script.run(9_950);
    assert_eq!(script.cell.held(0).map(|mpdu| mpdu.failures).next(), Some(1));

    // The beacon is due at 10 ms. At 9 + 0.946 + 0.222 + 0.05 = 10.218 ms both senders access the
    // medium.
    let seen = script.seen_before(10_219);
    assert!(seen.contains(&(10_218, Seen::Beacon { number: 0, collides: true })), "{seen:?}");
    assert_eq!(script.cell.held(0).map(|mpdu| mpdu.failures).next(), Some(1));
    let seen = script.seen_before(30_000);
    assert!(seen.iter().any(|&(_, what)| what == Seen::GivenUp { by: 1, packet: 1 }), "{seen:?}");
    assert!(
        seen.iter().any(|&(_, what)| what == Seen::Exchange { by: 0, packet: 0, failures: 1 }),
        "{seen:?}"
    );
}

/// A beacon that is still queued when the next is due is dropped: there is one, not two.
#[test]
fn a_beacon_that_comes_late_is_left_out() {
    let mut script = Script::new(1, &phy(), &with_beacon(1));
    // From 900 to 2104 us; beacons are due at 1000 and 2000 us.
    script.queue(1, ACCESS_POINT, 1_000, 900);

    // At 2154 us and after at most 31 slots, before the third is due.
    let beacon = 900 + EXCHANGE + DIFS + script.backoff(0, 31);
    let seen = script.seen_before(beacon + 1);
    assert_eq!(seen.last(), Some(&(beacon, Seen::Beacon { number: 0, collides: false })));
    assert_eq!(script.cell.cell_counters().beacons, 1);
}

/// Reporting a queue again while the MAC already holds a frame of it changes nothing.
#[test]
fn a_queue_may_be_told_of_again() {
    let mut script = Script::new(1, &phy(), &standard());
    script.queue(1, ACCESS_POINT, 1_000, 1_000);
    for micros in [1_000, 1_100, 1_950] {
        script.run(micros);
        script.tell_ready(1, micros);
    }

    assert_eq!(script.seen_before(5_000), exchange(1_000, 1, 0, 0));
}

pub(crate) fn with_beacon(millis: u64) -> MacConfig {
    let beacon = BeaconConfig {
        interval: Duration::from_millis(millis),
        size_bits: 584,
        rate: Rate { bps: 1_000_000, ..phy().data_rate },
    };
    MacConfig { beacon: Some(beacon), ..standard() }
}
