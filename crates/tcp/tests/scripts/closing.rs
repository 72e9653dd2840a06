//! The end of a connection: RFC 9293 section 3.6.

use airtcp_kernel::Duration;
use airtcp_tcp::{Config, DelayedAck, Handshake, Variant};

use crate::pair::{Pair, config, lose_once};

fn every_2() -> Config {
    Config { delayed_ack: DelayedAck::every(2, Duration::from_millis(100)), ..config() }
}

#[test]
fn a_fin_rides_on_the_last_data_and_is_acknowledged_at_once() {
    let mut pair = Pair::sending(&every_2(), 500);
    pair.a.close();
    pair.run();

    // Without the FIN the ACK of the only segment would wait for its timer until 150.
    pair.expect(
        "0 A 1:501 FIN 501 ack 1
         50 B ack 502",
    );
    assert!(pair.b.has_reached_end() && pair.a.is_close_acknowledged());
    assert!(!pair.a.has_reached_end() && !pair.b.is_close_acknowledged());
    assert_eq!((pair.a.acked(), pair.b.delivered()), (500, 500));
}

#[test]
fn a_full_segment_has_room_for_a_fin() {
    let mut pair = Pair::sending(&Config { initial_window: 3000, ..config() }, 2000);
    pair.a.close();
    pair.run();

    pair.expect(
        "0 A 1:1001 ack 1
         0 A 1001:2001 FIN 2001 ack 1
         50 B ack 1001
         50 B ack 2002",
    );
}

#[test]
fn a_fin_takes_a_number_of_the_window() {
    let mut pair = Pair::sending(&Config { receive_window: 2000, ..config() }, 2000);
    pair.a.close();
    pair.run();

    pair.expect(
        "0 A 1:1001 ack 1
         0 A 1001:2001 ack 1
         50 B ack 1001
         50 B ack 2001
         100 A FIN 2001 ack 1
         150 B ack 2002",
    );
}

#[test]
fn each_end_closes_when_it_likes() {
    let mut pair = Pair::sending(&config(), 500);
    pair.a.close();
    pair.run_until(200);
    pair.b.write(300);
    pair.run_until(400);
    pair.b.close();
    pair.run();

    pair.expect(
        "0 A 1:501 FIN 501 ack 1
         50 B ack 502
         200 B 1:301 ack 502
         250 A ack 301
         400 B FIN 301 ack 502
         450 A ack 302",
    );
    assert!(pair.a.has_reached_end() && pair.b.is_close_acknowledged());
}

#[test]
fn a_close_before_the_handshake_waits_for_it() {
    let mut pair = Pair::new(&Config { handshake: Handshake::ThreeWay, ..config() }, |_| {
        crate::pair::Fate::Deliver
    });
    pair.a.close();
    pair.run();

    pair.expect(
        "0 A SYN 0
         50 B SYN 0 ack 1
         100 A FIN 1 ack 1
         150 B ack 2",
    );
}

#[test]
fn a_lost_fin_is_sent_again() {
    let mut pair = Pair::sending_over(&config(), 500, lose_once(&[1]));
    pair.a.close();
    pair.run();

    pair.expect(
        "0 A 1:501 FIN 501 ack 1 lost
         1000 A 1:501 FIN 501 ack 1
         1050 B ack 502",
    );
    assert_eq!(pair.a.counters().retransmissions, 1);
}

#[test]
fn data_behind_a_gap_and_a_fin_are_no_end_of_file_until_the_gap_is_filled() {
    for variant in [Variant::Reno, Variant::NewReno, Variant::Sack] {
        let config = Config { variant, initial_window: 5000, ..config() };
        let mut pair = Pair::sending_over(&config, 4500, lose_once(&[1]));
        pair.a.close();

        pair.run_until(60);
        assert!(!pair.b.has_reached_end(), "{variant:?}");
        assert_eq!(pair.b.delivered(), 0);

        pair.run();
        assert!(pair.b.has_reached_end() && pair.a.is_close_acknowledged(), "{variant:?}");
        assert_eq!((pair.a.acked(), pair.b.delivered()), (4500, 4500));
    }
}
