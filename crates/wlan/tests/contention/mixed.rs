//! Stations of several standards on one access point: each exchange has the format, the aggregation and the
//! acknowledgment of its pair. The access point is that of [`ht`](crate::ht).
//!
//! A packet of 1508 bytes makes an MPDU of 12,304 bits: 20 + 4 ceil((22 + 12304) / 216) = 252 us at the 54 Mb/s of
//! 802.11a.

use airtcp_wlan::{FailedBlockAck, FrameErrors, Modulation, PairConfig, Rate};

use crate::ht::{ACK, ACK_TIMEOUT, AIFS, BLOCK_ACK, SIFS, Script, Seen, THREE, mac, phy};

const BEGIN: u64 = 1_000_000;
const LEGACY: u64 = 252_000;
const OFDM: Rate = Rate { bps: 54_000_000, modulation: Modulation::Ofdm };

fn dot11a() -> PairConfig {
    PairConfig { standard: "802.11a".into(), high_rate: None, aggregation: None }
}

/// Three packets for an 802.11n station are sent at once and answered by a Block ACK. Three for an
/// 802.11a station are sent one by one, each answered by an ACK.
#[test]
fn each_receiver_gets_the_frames_that_it_knows() {
    let mac = mac(FailedBlockAck::Resend);
    let mut script = Script::mixed(&mac, None, &[(phy().data_rate, None), (OFDM, Some(dot11a()))]);
    script.queue(0, 1, 3, BEGIN);
    script.queue(0, 2, 3, BEGIN);

    let seen = script.seen_before(1_000_000_000);

    script.laws_hold();
    let sent = |seen: &[(u64, Seen)]| {
        let of = |(at, seen): &(u64, Seen)| match seen {
            Seen::Sent(_, ids) => Some((*at, ids.clone())),
            _ => None,
        };
        seen.iter().filter_map(of).collect::<Vec<_>>()
    };
    let sent = sent(&seen);
    let numbers: Vec<_> = sent.iter().map(|(_, ids)| ids.clone()).collect();
    assert_eq!(numbers, [vec![0, 1, 2], vec![0], vec![1], vec![2]]);
    let mut expected = BEGIN;
    let mut ends = Vec::new();
    for (place, (at, _)) in sent.iter().enumerate() {
        if place > 0 {
            expected += AIFS + script.backoff(0, 15);
        }
        assert_eq!(*at, expected);
        let (data, answer) = if place == 0 { (THREE, BLOCK_ACK) } else { (LEGACY, ACK) };
        expected += data + SIFS + answer;
        ends.push(expected);
    }
    let acknowledged: Vec<_> = seen
        .iter()
        .filter_map(|(at, seen)| matches!(seen, Seen::Acknowledged(_)).then_some(*at))
        .collect();
    assert_eq!(acknowledged, [ends[0], ends[0], ends[0], ends[1], ends[2], ends[3]]);
}

/// Without a Block ACK agreement the retry limit applies to a frame, and no Block ACK request
/// follows when it is given up.
#[test]
fn a_frame_of_its_own_is_given_up_at_the_retry_limit() {
    let mut mac = mac(FailedBlockAck::BlockAckRequest);
    mac.rules.retry_limit_under_block_ack = false;
    let nothing_arrives = FrameErrors { rate: 1.0, of_bytes: None, least_bytes: 0 };
    let mut script = Script::mixed(&mac, Some(nothing_arrives), &[(OFDM, Some(dot11a()))]);
    script.queue(0, 1, 1, BEGIN);

    let seen = script.seen_before(1_000_000_000);

    script.laws_hold();
    let limit = mac.short_retry_limit as usize;
    let sent = seen.iter().filter(|(_, seen)| matches!(seen, Seen::Sent(..))).count();
    assert_eq!(sent, limit);
    assert_eq!(seen.last().unwrap().1, Seen::GivenUp(0));
    assert!(!seen.iter().any(|(_, seen)| matches!(seen, Seen::Request(..))));
    let mut expected = BEGIN;
    let mut window = 15;
    for (at, seen) in &seen {
        if matches!(seen, Seen::Sent(..)) {
            assert_eq!(*at, expected);
            window = 2 * window + 1;
            expected += LEGACY + ACK_TIMEOUT + AIFS + script.backoff(0, window);
        }
    }
}
