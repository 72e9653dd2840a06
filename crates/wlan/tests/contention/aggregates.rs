//! A-MPDUs and their Block ACKs, step by step: 802.11n at MCS 7, 20 MHz, short guard interval, control
//! frames at 24 Mb/s, with ns-3's rounding. SIFS 16 us, slot 9 us, AIFS 43 us.
//!
//! A packet of 1508 bytes (with LLC) makes an MPDU of 1538; k of them in an A-MPDU (k - 1) 1544 + 1542
//! bytes: 2 of them 36 + ceil((22 + 24688) / 260) 3.6 = 381.6 us, 3 of them 36 + 143 * 3.6 = 550.8.
//! One alone, without a delimiter: 36 + ceil((22 + 12304) / 260) 3.6 = 208.8. A Block ACK or its request
//! lasts 32 us, an ACK 28.

use std::collections::VecDeque;

use airtcp_kernel::{Duration, RandomStream, Time};
use airtcp_wlan::{
    ALL_HEAR_ALL, AccessParameters, AggregationConfig, Began, Cell, CellConfig, ContenderConfig,
    ContenderId, FailedBlockAck, Format, FrameErrors, HighRate, HighRateTiming, MacConfig,
    MacEvent, Modulation, Msdu, PhyConfig, Rate, StationId, Supply, TxopProtection,
};

use crate::cell::{standard, streams};

const SIFS: u64 = 16_000;
const SLOT: u64 = 9_000;
const AIFS: u64 = 43_000;
const BLOCK_ACK: u64 = 32_000;
const ACK: u64 = 28_000;
const ACK_TIMEOUT: u64 = 45_000;
const ONE: u64 = 208_800;
const TWO: u64 = 381_600;
const THREE: u64 = 550_800;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Seen {
    Sent(ContenderId, Vec<u64>),
    Collider(ContenderId, Vec<u64>),
    Request(ContenderId, bool),
    CfEnd(ContenderId),
    Lost,
    Received(u32),
    Acknowledged(u32),
    GivenUp(u32),
}

#[derive(Debug, Default)]
struct Queues {
    packets: Vec<VecDeque<Msdu<u32>>>,
    seen: Vec<(u64, Seen)>,
}

impl Supply<u32> for Queues {
    fn next(
        &mut self,
        _: ContenderId,
        _: Time,
        _: impl FnOnce(&Msdu<u32>) -> bool,
        _: impl FnOnce(Msdu<u32>),
    ) -> bool {
        panic!("a receiver is asked for first")
    }

    fn receiver<'a>(
        &mut self,
        contender: ContenderId,
        mut waiting: impl Iterator<Item = (StationId, Option<&'a u32>)>,
    ) -> Option<StationId> {
        let first = self.packets[contender as usize].front().map(|msdu| msdu.receiver);
        waiting.next().map(|(receiver, _)| receiver).or(first)
    }

    fn next_for(
        &mut self,
        contender: ContenderId,
        receiver: StationId,
        _: Time,
        fits: impl FnOnce(u64) -> bool,
    ) -> Option<Msdu<u32>> {
        let queue = &mut self.packets[contender as usize];
        let place = queue.iter().position(|msdu| msdu.receiver == receiver)?;
        if fits(queue[place].bits) { queue.remove(place) } else { None }
    }

    fn has_next(&self, contender: ContenderId) -> bool {
        !self.packets[contender as usize].is_empty()
    }

    fn watches_colliders(&self) -> bool {
        true
    }

    fn on_event(&mut self, now: Time, event: MacEvent<'_, u32>) {
        let ids = |mpdus: &[airtcp_wlan::Mpdu<u32>]| mpdus.iter().map(|mpdu| mpdu.id).collect();
        let seen = match event {
            MacEvent::Began(Began::Exchange { by, psdu, .. }) => Seen::Sent(by, ids(psdu.mpdus())),
            MacEvent::Began(Began::Collider { by, psdu, .. }) => {
                Seen::Collider(by, ids(psdu.mpdus()))
            }
            MacEvent::Began(Began::Request { by, collides, .. }) => Seen::Request(by, collides),
            MacEvent::Began(Began::CfEnd { by, .. }) => Seen::CfEnd(by),
            MacEvent::Began(Began::Collision { .. } | Began::Beacon { .. })
            | MacEvent::Answered { .. } => return,
            MacEvent::Began(Began::ContentionFree(_)) => panic!("there is no PCF"),
            MacEvent::Lost { .. } => Seen::Lost,
            MacEvent::Received { mpdu, .. } => Seen::Received(mpdu.payload),
            MacEvent::Acknowledged { mpdu, .. } => Seen::Acknowledged(mpdu.payload),
            MacEvent::GivenUp { mpdu, .. } => Seen::GivenUp(mpdu.payload),
        };
        self.seen.push((now.as_nanos(), seen));
    }
}

fn phy() -> PhyConfig {
    let rate = HighRate {
        format: Format::Ht,
        mcs: 7,
        spatial_streams: 1,
        channel_width_mhz: 20,
        guard_interval: Duration::from_nanos(400),
        preamble_time: Duration::from_micros(36),
    };
    PhyConfig {
        data_rate: Rate { bps: rate.bps(), modulation: Modulation::High(rate) },
        control_rate: Rate { bps: 24_000_000, modulation: Modulation::Ofdm },
        slot_time: Duration::from_nanos(SLOT),
        sifs: Duration::from_nanos(SIFS),
        difs: Duration::from_micros(34),
        eifs: Duration::from_micros(94),
        ack_timeout: Duration::from_nanos(ACK_TIMEOUT),
        dsss: None,
        ofdm: Some(airtcp_wlan::phy::OfdmTiming {
            preamble_time: Duration::from_micros(16),
            plcp_header_time: Duration::from_micros(4),
            symbol_time: Duration::from_micros(4),
            service_bits: 16,
            tail_bits: 6,
            signal_extension: Duration::ZERO,
        }),
        high_rate: Some(HighRateTiming {
            service_bits: 16,
            tail_bits: 6,
            short_gi_rounding: false,
            signal_extension: Duration::ZERO,
        }),
        cw_min: 15,
        mac_header_bits: 240,
        llc_bits: 0,
        ..crate::cell::phy()
    }
}

fn mac(failed_block_ack: FailedBlockAck) -> MacConfig {
    let aggregation = AggregationConfig {
        ampdu_bytes: 65_535,
        amsdu_bytes: 0,
        mpdu_bytes: 4_095,
        ppdu_time: Duration::from_micros(5_484),
        block_ack_window: 64,
        block_ack_bits: 256,
        block_ack_rate: phy().control_rate,
        block_ack_request_bits: 192,
    };
    let cf_end_rate = Rate { bps: 6_000_000, modulation: Modulation::Ofdm };
    let mut mac = MacConfig { aggregation: Some(aggregation), cf_end_rate, ..standard() };
    mac.rules.failed_block_ack = failed_block_ack;
    mac
}

/// A cell with a queue each for the access point and some stations.
struct Script {
    cell: Cell<u32>,
    queues: Queues,
    backoffs: Vec<RandomStream>,
    packets: u32,
}

impl Script {
    fn new(stations: usize, mac: &MacConfig, errors: Option<FrameErrors>) -> Self {
        Self::with_txop(stations, mac, errors, 0)
    }

    fn with_txop(
        stations: usize,
        mac: &MacConfig,
        errors: Option<FrameErrors>,
        txop_limit: u64,
    ) -> Self {
        let phy = phy();
        let access = AccessParameters {
            aifs: Duration::from_nanos(AIFS),
            cw_min: 15,
            cw_max: 1_023,
            txop_limit: Duration::from_nanos(txop_limit),
        };
        let count = stations + 1;
        let contenders = (0..).zip(streams(count)).map(|(station, backoffs)| ContenderConfig {
            station,
            audibility: ALL_HEAR_ALL,
            access,
            backoffs,
            bursts: None,
        });
        let lossy = |station: usize| {
            let stream = RandomStream::new(3, 0, &format!("sta/{station}"), "frame errors");
            errors.filter(|_| station > 0).map(|errors| (errors, stream))
        };
        let config = CellConfig {
            phy: &phy,
            mac,
            rates: vec![(phy.data_rate, phy.control_rate)],
            rate_classes: vec![0; count],
            errors: (0..count).map(lossy).collect(),
            rate_controls: Vec::new(),
            contenders: contenders.collect(),
        };
        Self {
            cell: Cell::new(config),
            queues: Queues { packets: vec![VecDeque::new(); count], seen: Vec::new() },
            backoffs: streams(count),
            packets: 0,
        }
    }

    /// `count` packets for `receiver` come to a queue at `nanos`.
    fn queue(&mut self, contender: ContenderId, receiver: StationId, count: u32, nanos: u64) {
        self.run(nanos);
        let was_empty = self.queues.packets[contender as usize].is_empty();
        for _ in 0..count {
            let msdu = Msdu { receiver, bits: 8 * 1_508, payload: self.packets };
            self.packets += 1;
            self.queues.packets[contender as usize].push_back(msdu);
        }
        if was_empty {
            self.cell.frame_ready(contender, Time::from_nanos(nanos));
        }
    }

    fn run(&mut self, end: u64) {
        while self.cell.next_time() < Time::from_nanos(end) {
            self.cell.advance(self.cell.next_time(), &mut self.queues);
        }
    }

    fn seen_before(&mut self, end: u64) -> Vec<(u64, Seen)> {
        self.run(end);
        std::mem::take(&mut self.queues.seen)
    }

    fn backoff(&mut self, contender: ContenderId, cw: u32) -> u64 {
        SLOT * u64::from(self.backoffs[contender as usize].up_to(cw))
    }

    fn laws_hold(&self) {
        for contender in 0..self.backoffs.len() as ContenderId {
            self.cell.check_laws(contender).unwrap();
        }
    }
}

/// Three packets for station 1 and one for station 2 wait when the access point gets at the medium: the
/// three go together, and are answered by a Block ACK; then the one goes alone, answered by an ACK.
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

/// Access point and station begin together with two packets each. Both wait for the Block ACK in vain,
/// draw from 0 .. 31, and send the same frames again.
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

/// With the rule of ns-3 both ask by a request of 32 us for the Block ACK that they missed. It
/// tells that nothing has arrived, and the frames go with the next access, drawn from 0 .. 15 again.
#[test]
fn after_a_collision_a_block_ack_may_be_asked_for() {
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

/// Half of all frames are lost. All 40 come through, each once and in order, and nothing is given up
/// that the limit of 7 spares: 40 * 2^-7 is a third of a frame, and this seed has none.
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
    // Each frame that was sent came, once, or was lost by an error; who had no answer had nothing
    // come through.
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

/// Everything is lost, so frames are given up after seven transmissions: then the recipient is told
/// by a request that it need not wait for them.
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

/// The access point has two packets for station 1 and 2528 us. Station 2, to whom a packet comes
/// meanwhile, waits for what was announced.
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

const TXOP: u64 = 2_528_000;

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

/// Whom all its frames were for, and its holder, do not wait. Station 1 gets its packet at 1100 us,
/// station 2 when all is over: it finds the medium taken by what was announced.
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

/// Without a limit nothing is given up, and all of 20 come through.
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
