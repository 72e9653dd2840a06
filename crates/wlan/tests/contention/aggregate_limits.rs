//! What bounds an A-MPDU besides its own size: the window of the block ack agreement, to the frame, and what is left
//! of a TXOP, to the nanosecond. 802.11n at MCS 7 as in [`aggregates`](crate::aggregates), whose airtimes are used.

use std::collections::VecDeque;

use airtcp_kernel::{Duration, RandomStream, Time};
use airtcp_wlan::{
    ALL_HEAR_ALL, AccessParameters, AggregationConfig, Began, Cell, CellConfig, ContenderConfig,
    ContenderId, Format, FrameErrors, HighRate, HighRateTiming, MacConfig, MacEvent, Modulation,
    Msdu, PhyConfig, Rate, StationId, Supply,
};

use crate::cell::{standard, streams};

const SIFS: u64 = 16_000;
const BLOCK_ACK: u64 = 32_000;
const ACK: u64 = 28_000;
const ONE: u64 = 208_800;
const TWO: u64 = 381_600;
const BEGIN: u64 = 1_000_000;

/// The queue of the access point, and which frames it began to send when.
#[derive(Debug, Default)]
struct Queue {
    packets: VecDeque<Msdu<u32>>,
    sent: Vec<(u64, Vec<u64>)>,
}

impl Supply<u32> for Queue {
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
        _: ContenderId,
        mut waiting: impl Iterator<Item = (StationId, Option<&'a u32>)>,
    ) -> Option<StationId> {
        let first = self.packets.front().map(|msdu| msdu.receiver);
        waiting.next().map(|(receiver, _)| receiver).or(first)
    }

    fn next_for(
        &mut self,
        _: ContenderId,
        receiver: StationId,
        _: Time,
        fits: impl FnOnce(u64) -> bool,
    ) -> Option<Msdu<u32>> {
        let place = self.packets.iter().position(|msdu| msdu.receiver == receiver)?;
        if fits(self.packets[place].bits) { self.packets.remove(place) } else { None }
    }

    fn has_next(&self, contender: ContenderId) -> bool {
        contender == 0 && !self.packets.is_empty()
    }

    fn watches_colliders(&self) -> bool {
        false
    }

    fn on_event(&mut self, now: Time, event: MacEvent<'_, u32>) {
        if let MacEvent::Began(Began::Exchange { psdu, .. }) = event {
            let ids = psdu.mpdus().iter().map(|mpdu| mpdu.id).collect();
            self.sent.push((now.as_nanos(), ids));
        }
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
        slot_time: Duration::from_micros(9),
        sifs: Duration::from_nanos(SIFS),
        difs: Duration::from_micros(34),
        eifs: Duration::from_micros(94),
        ack_timeout: Duration::from_micros(45),
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

/// What an access point begins to send within a second that has packets of 1508 bytes for these `receivers` at
/// [`BEGIN`], and the laws hold.
fn sent(
    receivers: &[StationId],
    block_ack_window: u32,
    txop_limit: u64,
    errors: Option<FrameErrors>,
) -> Vec<(u64, Vec<u64>)> {
    let phy = phy();
    let aggregation = AggregationConfig {
        ampdu_bytes: 65_535,
        amsdu_bytes: 0,
        mpdu_bytes: 4_095,
        ppdu_time: Duration::from_micros(5_484),
        block_ack_window,
        block_ack_bits: 256,
        block_ack_rate: phy.control_rate,
        block_ack_request_bits: 192,
    };
    let mac = MacConfig { aggregation: Some(aggregation), ..standard() };
    let access = AccessParameters {
        aifs: Duration::from_micros(43),
        cw_min: 15,
        cw_max: 1_023,
        txop_limit: Duration::from_nanos(txop_limit),
    };
    let stations = 1 + receivers.iter().max().copied().unwrap_or(0);
    let count = stations as usize;
    let lossy = |station| {
        let stream = RandomStream::new(3, 0, &format!("sta/{station}"), "frame errors");
        errors.filter(|_| station > 0).map(|errors| (errors, stream))
    };
    let contenders = (0..stations).zip(streams(count)).map(|(station, backoffs)| ContenderConfig {
        station,
        audibility: ALL_HEAR_ALL,
        access,
        backoffs,
        bursts: None,
    });
    let mut cell = Cell::new(CellConfig {
        phy: &phy,
        mac: &mac,
        rates: vec![(phy.data_rate, phy.control_rate)],
        rate_classes: vec![0; count],
        errors: (0..stations).map(lossy).collect(),
        rate_controls: Vec::new(),
        contenders: contenders.collect(),
    });
    let mut queue = Queue::default();
    let msdu = |(payload, &receiver)| Msdu { receiver, bits: 8 * 1_508, payload };
    queue.packets.extend((0..).zip(receivers).map(msdu));
    cell.frame_ready(0, Time::from_nanos(BEGIN));
    while cell.next_time() < Time::from_nanos(1_000_000_000) {
        cell.advance(cell.next_time(), &mut queue);
    }
    cell.check_laws(0).unwrap();
    assert!(queue.packets.is_empty());
    queue.sent
}

/// IEEE 802.11-2020, 10.25.6.7: what is outstanding lies within the window, from the oldest frame that is not
/// acknowledged on. All of it is used where frames wait, also while the oldest is sent again.
#[test]
fn a_block_ack_window_is_used_to_its_last_frame_and_no_further() {
    let all_arrive = sent(&[1; 10], 4, 0, None);
    let ids: Vec<_> = all_arrive.into_iter().map(|(_, ids)| ids).collect();
    assert_eq!(ids, [vec![0, 1, 2, 3], vec![4, 5, 6, 7], vec![8, 9]]);

    let errors = FrameErrors { rate: 0.3, of_bytes: None, least_bytes: 0 };
    let some_are_lost = sent(&[1; 100], 4, 0, Some(errors));
    let (mut highest, mut with_gaps) = (0, 0);
    for (_, ids) in some_are_lost {
        let (oldest, newest) = (ids[0], ids[ids.len() - 1]);
        with_gaps += usize::from(newest > highest && newest - oldest >= ids.len() as u64);
        highest = highest.max(newest);
        assert_eq!(highest, (oldest + 3).min(99), "{ids:?}");
    }
    assert!(with_gaps > 5, "frames are sent again with new ones: {with_gaps}");
}

/// IEEE 802.11-2020, 10.23.2.8: what follows in a TXOP begins a SIFS after the answer and has ended, with its own
/// answer, within the limit. What does not fit to the nanosecond is left for the next access.
#[test]
fn an_ampdu_that_follows_in_a_txop_ends_with_its_answer_within_the_limit() {
    let follows = BEGIN + ONE + SIFS + ACK + SIFS;
    let to_the_end_of = |answered: u64| follows - BEGIN + answered;

    // One frame for each of two stations.
    let limit = to_the_end_of(ONE + SIFS + ACK);
    assert_eq!(sent(&[1, 2], 64, limit, None)[1], (follows, vec![0]));
    assert!(sent(&[1, 2], 64, limit - 1, None)[1].0 > follows);
    // One for the first of them, and two for the other: both, or the first of them.
    let limit = to_the_end_of(TWO + SIFS + BLOCK_ACK);
    assert_eq!(sent(&[1, 2, 2], 64, limit, None)[1], (follows, vec![0, 1]));
    assert_eq!(sent(&[1, 2, 2], 64, limit - 1, None)[1], (follows, vec![0]));
}
