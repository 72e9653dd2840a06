//! Limits of an A-MPDU and of a TXOP, exact to the byte, the frame and the nanosecond, over the
//! cell of [`ht`](crate::ht).

use airtcp_kernel::Duration;
use airtcp_wlan::{
    AggregationConfig, FailedBlockAck, FrameErrors, MacConfig, StationId, TxopProtection,
};

use crate::ht::{ACK, AIFS, BLOCK_ACK, ONE, SIFS, Script, Seen, THREE, TWO, mac};

const BEGIN: u64 = 1_000_000;

/// Lets an access point send packets of 1508 bytes to these `receivers`, queued at [`BEGIN`].
/// Returns the events of one second.
fn seen(
    receivers: &[StationId],
    mac: &MacConfig,
    txop_limit: u64,
    errors: Option<FrameErrors>,
) -> Vec<(u64, Seen)> {
    let stations = receivers.iter().max().copied().unwrap_or(0);
    let mut script = Script::with_txop(stations as usize, mac, errors, txop_limit);
    for &receiver in receivers {
        script.queue(0, receiver, 1, BEGIN);
    }
    let seen = script.seen_before(1_000_000_000);
    script.laws_hold();
    assert_eq!(script.cell.held(0).count(), 0);
    seen
}

/// Returns which frames were sent, and when.
fn sent(seen: Vec<(u64, Seen)>) -> Vec<(u64, Vec<u64>)> {
    let sent = |(at, seen)| if let Seen::Sent(_, ids) = seen { Some((at, ids)) } else { None };
    seen.into_iter().filter_map(sent).collect()
}

fn with_limits(change: impl FnOnce(&mut AggregationConfig)) -> MacConfig {
    let mut mac = mac(FailedBlockAck::Resend);
    mac.aggregation.as_mut().map(change).expect("it aggregates");
    mac
}

fn with_window(frames: u32) -> MacConfig {
    with_limits(|limits| limits.block_ack_window = frames)
}

/// IEEE 802.11-2020, 10.12.2: the limit of an A-MPDU includes delimiters and padding. Three of
/// these frames have 2 * 1544 + 1542 = 4630 bytes.
#[test]
fn an_ampdu_has_as_many_bytes_as_its_receiver_takes_and_not_one_more() {
    let first = |bytes| {
        let mac = with_limits(|limits| limits.ampdu_bytes = bytes);
        sent(seen(&[1; 3], &mac, 0, None))[0].1.clone()
    };
    assert_eq!(first(4_630), [0, 1, 2]);
    assert_eq!(first(4_629), [0, 1]);
}

/// IEEE 802.11-2020, aPPDUMaxTime: from the first symbol of the preamble to the end of the PPDU.
#[test]
fn a_ppdu_lasts_as_long_as_it_may_and_not_longer() {
    let first = |nanos| {
        let mac = with_limits(|limits| limits.ppdu_time = Duration::from_nanos(nanos));
        sent(seen(&[1; 3], &mac, 0, None))[0].1.clone()
    };
    assert_eq!(first(THREE), [0, 1, 2]);
    assert_eq!(first(THREE - 1), [0, 1]);
}

/// IEEE 802.11-2020, 10.25.6.7: outstanding frames lie within the window, which starts at the
/// oldest unacknowledged frame. The whole window is used if enough frames are queued, also while
/// the oldest is retransmitted.
#[test]
fn a_block_ack_window_is_used_to_its_last_frame_and_no_further() {
    let all_arrive = sent(seen(&[1; 10], &with_window(4), 0, None));
    let ids: Vec<_> = all_arrive.into_iter().map(|(_, ids)| ids).collect();
    assert_eq!(ids, [vec![0, 1, 2, 3], vec![4, 5, 6, 7], vec![8, 9]]);

    let errors = FrameErrors { rate: 0.3, of_bytes: None, least_bytes: 0 };
    let some_are_lost = sent(seen(&[1; 100], &with_window(4), 0, Some(errors)));
    let (mut highest, mut with_gaps) = (0, 0);
    for (_, ids) in some_are_lost {
        let (oldest, newest) = (ids[0], ids[ids.len() - 1]);
        with_gaps += usize::from(newest > highest && newest - oldest >= ids.len() as u64);
        highest = highest.max(newest);
        assert_eq!(highest, (oldest + 3).min(99), "{ids:?}");
    }
    assert!(with_gaps > 5, "frames are sent again with new ones: {with_gaps}");
}

/// IEEE 802.11-2020, 10.23.2.8: a further frame of a TXOP begins a SIFS after the response. It must
/// end, with its own response, within the limit. If it exceeds the limit by a nanosecond, it waits
/// for the next access.
#[test]
fn an_ampdu_that_follows_in_a_txop_ends_with_its_answer_within_the_limit() {
    let follows = BEGIN + ONE + SIFS + ACK + SIFS;
    let to_the_end_of = |answered: u64| follows - BEGIN + answered;

    let sent =
        |receivers: &[StationId], limit| sent(seen(receivers, &with_window(64), limit, None));
    // One frame for each of two stations.
    let limit = to_the_end_of(ONE + SIFS + ACK);
    assert_eq!(sent(&[1, 2], limit)[1], (follows, vec![0]));
    assert!(sent(&[1, 2], limit - 1)[1].0 > follows);
    // One frame for the first station, and two for the other: both fit, or only the first of them.
    let limit = to_the_end_of(TWO + SIFS + BLOCK_ACK);
    assert_eq!(sent(&[1, 2, 2], limit)[1], (follows, vec![0, 1]));
    assert_eq!(sent(&[1, 2, 2], limit - 1)[1], (follows, vec![0]));
}

/// IEEE 802.11-2020, 10.23.2.10: if the next frame does not fit, the holder returns the rest of the
/// TXOP with a CF-End (52 us) a SIFS after the last response, if the CF-End ends before the TXOP
/// would.
#[test]
fn a_txop_ends_with_a_cf_end_when_the_next_frame_no_longer_fits() {
    let mut mac = with_window(64);
    mac.rules.txop_protection = TxopProtection::MultipleWithCfEnd;
    let follows = BEGIN + ONE + SIFS + ACK + SIFS;
    let second = |limit| {
        let seen = seen(&[1, 2], &mac, limit, None);
        let is_sent = |seen: &Seen| matches!(seen, Seen::Sent(..) | Seen::CfEnd(_));
        seen.into_iter().filter(|(_, seen)| is_sent(seen)).nth(1).expect("there are two frames")
    };
    let fits = follows + ONE + SIFS + ACK - BEGIN;
    assert_eq!(second(fits), (follows, Seen::Sent(0, vec![0])));
    assert_eq!(second(fits - 1), (follows, Seen::CfEnd(0)));
    // A CF-End that ends together with the TXOP is useless.
    let with_cf_end = follows + 52_000 - BEGIN;
    assert_eq!(second(with_cf_end + 1), (follows, Seen::CfEnd(0)));
    assert!(matches!(second(with_cf_end), (at, Seen::Sent(0, _)) if at >= follows - SIFS + AIFS));
}

/// IEEE 802.11-2020, 10.25.6.6: frames that a Block ACK does not acknowledge go back ahead of the
/// queue. So each A-MPDU, here of at most five frames, begins with all outstanding frames in order,
/// and then has new ones.
#[test]
fn frames_of_an_ampdu_that_were_lost_go_ahead_of_the_queue_in_order() {
    let mac = with_limits(|limits| limits.ampdu_bytes = 5 * 1_544);
    let errors = FrameErrors { rate: 0.3, of_bytes: None, least_bytes: 0 };
    let (mut outstanding, mut next, mut mixed) = (Vec::new(), 0, 0);
    for (_, seen) in seen(&[1; 60], &mac, 0, Some(errors)) {
        match seen {
            Seen::Sent(_, ids) => {
                let new = next..(next + 5 - outstanding.len() as u64).min(60);
                mixed += usize::from(outstanding.len() > 1 && !new.is_empty());
                next = new.end;
                outstanding.extend(new);
                assert_eq!(ids, outstanding);
            }
            Seen::Acknowledged(packet) => outstanding.retain(|&id| id != u64::from(packet)),
            Seen::GivenUp(packet) => panic!("{packet} failed seven times, which this seed has not"),
            _ => {}
        }
    }
    assert!(mixed > 5, "old frames go with new ones: {mixed}");
    assert_eq!((outstanding, next), (Vec::new(), 60));
}
