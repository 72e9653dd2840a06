//! A cell with aggregation, and the airtimes of its frames: 802.11n at MCS 7, 20 MHz, short guard
//! interval, control frames at 24 Mb/s, with ns-3's rounding. SIFS 16 us, slot 9 us, AIFS 43 us.
//!
//! A packet of 1508 bytes (with LLC) makes an MPDU of 1538; k of them in an A-MPDU have (k - 1)
//! 1544 + 1542 bytes. Two last 36 + ceil((22 + 24688) / 260) 3.6 = 381.6 us, three 36 + 143 * 3.6 =
//! 550.8 us. A single one without a delimiter lasts 36 + ceil((22 + 12304) / 260) 3.6 = 208.8 us. A
//! Block ACK or its request lasts 32 us, an ACK 28 us.

use std::collections::BTreeMap;

use airtcp_kernel::{Duration, RandomStream, Time};
use airtcp_wlan::testing::dot11n;
use airtcp_wlan::{
    AccessParameters, AggregationConfig, Began, ContenderConfig, ContenderId, FailedBlockAck,
    Format, FrameErrors, MacConfig, MacEvent, MediumConfig, Modulation, Mpdu, PairConfig,
    PhyConfig, Rate, StationId,
};

use crate::cell::{standard, streams};
use crate::fed::{self, Fed};

pub(crate) const SIFS: u64 = 16_000;
pub(crate) const SLOT: u64 = 9_000;
pub(crate) const AIFS: u64 = 43_000;
pub(crate) const BLOCK_ACK: u64 = 32_000;
pub(crate) const ACK: u64 = 28_000;
pub(crate) const ACK_TIMEOUT: u64 = 45_000;
pub(crate) const ONE: u64 = 208_800;
pub(crate) const TWO: u64 = 381_600;
pub(crate) const THREE: u64 = 550_800;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    Sent(ContenderId, Vec<u64>),
    Collider(ContenderId, Vec<u64>),
    Request(ContenderId, bool),
    CfEnd(ContenderId),
    Lost,
    Received(u32),
    Acknowledged(u32),
    GivenUp(u32),
}

impl fed::Seen for Seen {
    const UNIT: u64 = 1;
    const SLOT: u64 = SLOT;

    fn of(_: Time, event: MacEvent<'_, u32>) -> Option<Self> {
        let ids = |mpdus: &[Mpdu<u32>]| mpdus.iter().map(|mpdu| mpdu.id).collect();
        Some(match event {
            MacEvent::Began(Began::Exchange { by, ppdu, .. }) => {
                Seen::Sent(by, ids(ppdu.psdus()[0].frames.mpdus()))
            }
            MacEvent::Began(Began::Collider { by, ppdu, .. }) => {
                Seen::Collider(by, ids(ppdu.psdus()[0].frames.mpdus()))
            }
            MacEvent::Began(Began::Request { by, collides, .. }) => Seen::Request(by, collides),
            MacEvent::Began(Began::CfEnd { by, .. }) => Seen::CfEnd(by),
            MacEvent::Began(Began::Collision { .. } | Began::Beacon { .. })
            | MacEvent::Answered { .. }
            | MacEvent::Heard(_) => return None,
            MacEvent::Began(Began::ContentionFree(_) | Began::Triggered { .. }) => {
                panic!("there is neither PCF nor OFDMA")
            }
            MacEvent::Lost { .. } => Seen::Lost,
            MacEvent::Received { mpdu, .. } => Seen::Received(mpdu.payload),
            MacEvent::GivenUp { mpdu, .. } => Seen::GivenUp(mpdu.payload),
        })
    }

    fn acknowledged(_: ContenderId, packet: u32) -> Self {
        Self::Acknowledged(packet)
    }
}

pub(crate) fn phy() -> PhyConfig {
    PhyConfig { llc_bits: 0, ..dot11n(Format::Ht, 7, 20, 400) }
}

pub(crate) fn mac(failed_block_ack: FailedBlockAck) -> MacConfig {
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

/// Rates and capabilities of rate classes, and the class of each station.
struct Classes {
    rates: Vec<(Rate, Rate)>,
    pairs: BTreeMap<u32, PairConfig>,
    of_stations: Vec<u32>,
}

/// A cell with one queue for the access point and for each station; times are in nanoseconds.
pub(crate) type Script = Fed<Seen>;

impl Script {
    pub(crate) fn new(stations: usize, mac: &MacConfig, errors: Option<FrameErrors>) -> Self {
        Self::with_txop(stations, mac, errors, 0)
    }

    pub(crate) fn with_txop(
        stations: usize,
        mac: &MacConfig,
        errors: Option<FrameErrors>,
        txop_limit: u64,
    ) -> Self {
        let classes = Classes {
            rates: vec![(phy().data_rate, phy().control_rate)],
            pairs: BTreeMap::new(),
            of_stations: vec![0; stations + 1],
        };
        Self::of_classes(classes, mac, errors, txop_limit)
    }

    /// Creates a cell whose access point is station 0. Station p + 1 has the rate and the
    /// capabilities at index p.
    pub(crate) fn mixed(
        mac: &MacConfig,
        errors: Option<FrameErrors>,
        stations: &[(Rate, Option<PairConfig>)],
    ) -> Self {
        let control = phy().control_rate;
        let pairs =
            (0..).zip(stations).filter_map(|(class, (_, pair))| Some((class, pair.clone()?)));
        let classes = Classes {
            rates: stations.iter().map(|&(rate, _)| (rate, control)).collect(),
            pairs: pairs.collect(),
            of_stations: std::iter::once(0).chain(0..stations.len() as u32).collect(),
        };
        Self::of_classes(classes, mac, errors, 0)
    }

    fn of_classes(
        classes: Classes,
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
        let count = classes.of_stations.len();
        let contenders = (0..).zip(streams(count)).map(|(station, backoffs)| ContenderConfig {
            station,
            access,
            backoffs,
            bursts: None,
        });
        let lossy = |station: usize| {
            let stream = RandomStream::new(3, 0, &format!("sta/{station}"), "frame errors");
            errors.filter(|_| station > 0).map(|errors| (errors, stream))
        };
        let config = MediumConfig {
            phy: &phy,
            mac: mac.clone(),
            cells: vec![0; count],
            rates: classes.rates,
            pairs: classes.pairs,
            rate_classes: classes.of_stations,
            errors: (0..count).map(lossy).collect(),
            rate_controls: Vec::new(),
            contenders: contenders.collect(),
        };
        Self::of(config, streams(count))
    }

    /// Puts `count` packets for `receiver` into a queue at `nanos`.
    pub(crate) fn queue(
        &mut self,
        contender: ContenderId,
        receiver: StationId,
        count: u32,
        nanos: u64,
    ) {
        self.run(nanos);
        let was_empty = self.is_empty(contender);
        for _ in 0..count {
            self.put(contender, receiver, 8 * 1_508);
        }
        if was_empty {
            self.tell_ready(contender, nanos);
        }
    }
}
