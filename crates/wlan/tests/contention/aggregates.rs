//! A-MPDUs and their Block ACKs, step by step, over the cell of [`ht`](crate::ht).

use airtcp_wlan::{FailedBlockAck, FrameErrors, TxopProtection};

use crate::ht::{ACK, ACK_TIMEOUT, AIFS, BLOCK_ACK, ONE, SIFS, Script, Seen, THREE, TWO, mac};

/// Three packets for station 1 and one for station 2 are queued when the access point wins access.
/// The three are sent together and answered by a Block ACK. Then the single one is sent and
/// answered by an ACK.
#[test]
fn packets_for_one_receiver_go_together() {
    let mut script = Script::new(2, &mac(FailedBlockAck::Resend), None);
    script.queue(0, 1, 1, 1_000_000);
    script.queue(0, 1, 2, 1_000_000);
    script.queue(0, 2, 1, 1_000_000);

    let answered = 1_000_000 + THREE + SIFS + BLOCK_ACK;
    let received = |packet| (1_000_000 + THREE, Seen::Received(packet));
    let acknowledged = |packet| (answered, Seen::Acknowledged(packet));
    assert_eq!(
        script.seen_before(answered + 1),
        [
            (1_000_000, Seen::Sent(0, vec![0, 1, 2])),
            received(0),
            received(1),
            received(2),
            acknowledged(0),
            acknowledged(1),
            acknowledged(2),
        ]
    );
    let next = answered + AIFS + script.backoff(0, 15);
    assert_eq!(
        script.seen_before(next + ONE + SIFS + ACK + 1),
        [
            (next, Seen::Sent(0, vec![0])),
            (next + ONE, Seen::Received(3)),
            (next + ONE + SIFS + ACK, Seen::Acknowledged(3)),
        ]
    );
    script.laws_hold();
}

/// Access point and station begin together with two packets each. Both miss the Block ACK, draw
/// from 0 .. 31, and retransmit the same frames.
#[test]
fn after_a_collision_frames_are_sent_again() {
    let mut script = Script::new(1, &mac(FailedBlockAck::Resend), None);
    for by in [0, 1] {
        script.queue(by, 1 - by, 2, 1_000_000);
    }

    let end = 1_000_000 + TWO;
    assert_eq!(
        script.seen_before(end + 1),
        [(1_000_000, Seen::Collider(0, vec![0, 1])), (1_000_000, Seen::Collider(1, vec![0, 1])),]
    );
    assert_eq!(script.cell.held(0).map(|mpdu| mpdu.failures).collect::<Vec<_>>(), [1, 1]);
    let from = end + ACK_TIMEOUT + AIFS;
    let starts = [0, 1].map(|by| from + script.backoff(by, 31));
    let first = u32::from(starts[1] < starts[0]);
    assert_ne!(starts[0], starts[1], "a seed without a tie");
    let seen = script.seen_before(starts[first as usize] + 1);
    assert_eq!(seen, [(starts[first as usize], Seen::Sent(first, vec![0, 1]))]);
    script.laws_hold();
}

/// Collided frames go ahead of newer ones, in order, whatever the rule: directly, or after a Block
/// ACK request.
#[test]
fn frames_of_an_ampdu_that_collided_go_ahead_of_the_queue_in_order() {
    for rule in [FailedBlockAck::Resend, FailedBlockAck::BlockAckRequest] {
        let mut script = Script::new(1, &mac(rule), None);
        for by in [0, 1] {
            script.queue(by, 1 - by, 3, 1_000_000);
        }
        script.queue(0, 1, 2, 1_000_000 + THREE);

        let seen = script.seen_before(1_000_000_000);

        let sent = seen.iter().find_map(|(_, seen)| match seen {
            Seen::Sent(0, ids) => Some(ids.clone()),
            _ => None,
        });
        assert_eq!(sent, Some(vec![0, 1, 2, 3, 4]), "{rule:?}");
        script.laws_hold();
    }
}

/// With the rule of ns-3 both request the missed Block ACK with a frame of 32 us. It reports that
/// nothing was received. The frames are sent with the next access, drawn from 0 .. 15 again.
#[test]
fn after_a_lost_block_ack_a_request_asks_for_it() {
    let mut script = Script::new(1, &mac(FailedBlockAck::BlockAckRequest), None);
    for by in [0, 1] {
        script.queue(by, 1 - by, 2, 1_000_000);
    }
    let end = 1_000_000 + TWO;
    script.seen_before(end + 1);
    let from = end + ACK_TIMEOUT + AIFS;
    let starts = [0, 1].map(|by| from + script.backoff(by, 31));
    let first = u32::from(starts[1] < starts[0]);

    let seen = script.seen_before(starts[first as usize] + BLOCK_ACK + SIFS + BLOCK_ACK + 1);

    assert_eq!(seen, [(starts[first as usize], Seen::Request(first, false))]);
    assert_eq!(script.cell.held(first).map(|mpdu| mpdu.failures).collect::<Vec<_>>(), [1, 1]);
    let rest = script.seen_before(starts[first as usize] + 3_000_000);
    let sent = rest.iter().filter(|(_, seen)| matches!(seen, Seen::Sent(_, ids) if ids.len() == 2));
    assert_eq!(sent.count(), 2);
    script.laws_hold();
}

/// Half of all frames are lost. All 40 are received, each once and in order. None reaches the limit
/// of 7: 40 * 2^-7 is a third of a frame, and with this seed none does.
#[test]
fn lost_frames_are_sent_again_one_by_one_and_handed_on_in_order() {
    let errors = FrameErrors { rate: 0.5, of_bytes: None, least_bytes: 0 };
    let mut script = Script::new(1, &mac(FailedBlockAck::Resend), Some(errors));
    script.queue(0, 1, 40, 1_000_000);

    let seen = script.seen_before(100_000_000);

    let received: Vec<_> = seen
        .iter()
        .filter_map(|(_, seen)| match seen {
            Seen::Received(packet) => Some(*packet),
            _ => None,
        })
        .collect();
    assert_eq!(received, (0..40).collect::<Vec<_>>());
    let count = |of: fn(&Seen) -> bool| seen.iter().filter(|(_, seen)| of(seen)).count();
    assert_eq!(count(|seen| matches!(seen, Seen::Acknowledged(_))), 40);
    assert_eq!(count(|seen| matches!(seen, Seen::GivenUp(_))), 0);
    assert!(count(|seen| matches!(seen, Seen::Sent(..))) > 2);
    // Each frame that was sent was received once, or was lost by an error. Without a response
    // nothing was received.
    let sent: usize = seen
        .iter()
        .map(|(_, seen)| if let Seen::Sent(_, ids) = seen { ids.len() } else { 0 })
        .sum();
    let counted = script.cell.counters(0);
    assert_eq!((counted.mpdus, counted.mpdu_errors), (sent as u64, sent as u64 - 40));
    let lost = count(|seen| matches!(seen, Seen::Lost)) as u64;
    assert_eq!((counted.unanswered(), counted.asked()), (lost, lost + counted.successes));
    assert!(counted.mpdu_errors > 10);
    script.laws_hold();
}

/// Almost everything is lost, so frames are given up after seven transmissions. Then a Block ACK
/// request tells the recipient not to wait for them.
#[test]
fn what_is_given_up_holds_nothing_back() {
    let errors = FrameErrors { rate: 0.97, of_bytes: None, least_bytes: 0 };
    let mut script = Script::new(1, &mac(FailedBlockAck::Resend), Some(errors));
    script.queue(0, 1, 64, 1_000_000);

    let seen = script.seen_before(1_000_000_000);

    let given_up = seen.iter().filter(|(_, seen)| matches!(seen, Seen::GivenUp(_))).count();
    let received: Vec<_> = seen
        .iter()
        .filter_map(|(_, seen)| match seen {
            Seen::Received(packet) => Some(*packet),
            _ => None,
        })
        .collect();
    assert!(given_up > 30, "0.97^7 of 64 are 52");
    assert_eq!(received.len() + given_up, 64);
    assert!(received.is_sorted());
    assert_eq!(script.cell.held_back(0).count(), 0);
    assert!(seen.iter().any(|(_, seen)| *seen == Seen::Request(0, false)));
    script.laws_hold();
}

const TXOP: u64 = 2_528_000;

/// The access point has two packets for station 1 and a TXOP of 2528 us. Station 2, which gets a
/// packet in the meantime, waits until the announced end.
fn two_in_a_txop(txop_protection: TxopProtection) -> (Script, u64) {
    let mut mac = mac(FailedBlockAck::Resend);
    mac.rules.txop_protection = txop_protection;
    let mut script = Script::with_txop(2, &mac, None, TXOP);
    script.queue(0, 1, 2, 1_000_000);
    script.queue(2, 0, 1, 1_100_000);
    let answered = 1_000_000 + TWO + SIFS + BLOCK_ACK;
    script.seen_before(answered);
    (script, answered)
}

fn on_air(seen: Vec<(u64, Seen)>) -> Vec<(u64, Seen)> {
    let is_sent = |seen: &Seen| matches!(seen, Seen::Sent(..) | Seen::CfEnd(_));
    seen.into_iter().filter(|(_, seen)| is_sent(seen)).collect()
}

/// A CF-End of 160 bits at 6 Mb/s: 20 + ceil(182 / 24) 4 = 52 us.
#[test]
fn a_txop_is_given_back() {
    let (mut script, answered) = two_in_a_txop(TxopProtection::MultipleWithCfEnd);

    let start = answered + SIFS + 52_000 + AIFS + script.backoff(2, 15);
    assert_eq!(
        on_air(script.seen_before(start + 1)),
        [(answered + SIFS, Seen::CfEnd(0)), (start, Seen::Sent(2, vec![0]))]
    );
    script.laws_hold();
}

#[test]
fn a_txop_that_is_not_given_back_keeps_others_quiet() {
    let (mut script, _) = two_in_a_txop(TxopProtection::Multiple);
    let start = 1_000_000 + TXOP + AIFS + script.backoff(2, 15);
    assert_eq!(on_air(script.seen_before(start + 1)), [(start, Seen::Sent(2, vec![0]))]);
    script.laws_hold();

    let (mut script, answered) = two_in_a_txop(TxopProtection::Single);
    let start = answered + AIFS + script.backoff(2, 15);
    assert_eq!(on_air(script.seen_before(start + 1)), [(start, Seen::Sent(2, vec![0]))]);
}

/// The NAV does not bind the holder, nor the station that received all frames. Station 1 gets its
/// packet at 1100 us. Station 2 gets one after the TXOP, and finds the medium reserved by the
/// announcement.
#[test]
fn a_txop_does_not_keep_its_receiver_quiet() {
    let mut mac = mac(FailedBlockAck::Resend);
    mac.rules.txop_protection = TxopProtection::Multiple;
    let mut script = Script::with_txop(2, &mac, None, TXOP);
    script.queue(0, 1, 2, 1_000_000);
    script.queue(1, 0, 1, 1_100_000);
    let answered = 1_000_000 + TWO + SIFS + BLOCK_ACK;
    script.seen_before(answered + 1);
    script.queue(2, 0, 1, answered + 1_000);

    let start = answered + AIFS + script.backoff(1, 15);
    let acknowledged = start + ONE + SIFS + ACK;
    let announced = start + TXOP;
    let next = announced + AIFS + script.backoff(2, 15);
    assert_eq!(
        script.seen_before(next + 1),
        [
            (start, Seen::Sent(1, vec![0])),
            (start + ONE, Seen::Received(2)),
            (acknowledged, Seen::Acknowledged(2)),
            (next, Seen::Sent(2, vec![0])),
        ]
    );
    script.laws_hold();
}

/// Without a limit no frame is given up, and all 20 are received.
#[test]
fn under_a_block_ack_agreement_retries_may_have_no_limit() {
    let errors = FrameErrors { rate: 0.8, of_bytes: None, least_bytes: 0 };
    let mut mac = mac(FailedBlockAck::Resend);
    mac.rules.retry_limit_under_block_ack = false;
    let mut script = Script::new(1, &mac, Some(errors));
    script.queue(0, 1, 20, 1_000_000);

    let seen = script.seen_before(2_000_000_000);

    let count = |of: fn(&Seen) -> bool| seen.iter().filter(|(_, seen)| of(seen)).count();
    assert_eq!(count(|seen| matches!(seen, Seen::Received(_))), 20);
    assert_eq!(count(|seen| matches!(seen, Seen::GivenUp(_))), 0);
    assert!(count(|seen| matches!(seen, Seen::Sent(..))) > 8, "the limit of 7 is passed");
    script.laws_hold();
}
