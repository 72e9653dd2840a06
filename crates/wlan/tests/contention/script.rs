//! A cell without aggregation, with all events that it reports.

use std::collections::BTreeMap;

use airtcp_kernel::{RandomStream, Time};
pub(crate) use airtcp_wlan::ACCESS_POINT;
use airtcp_wlan::{
    AccessParameters, Began, CfFrame, ContenderConfig, ContenderId, EVERYBODY, EdcaConfig,
    FrameErrors, MacConfig, MacEvent, MediumConfig, PhyConfig, StationId,
};

use crate::cell::{SLOT, micros, standard, streams};
use crate::fed::{self, Fed};

/// Airtime of a data frame of 1000 bytes.
pub(crate) const DATA: u64 = 946;
/// The time from the start of such a frame to the end of its MAC ACK.
pub(crate) const EXCHANGE: u64 = DATA + 10 + 248;
pub(crate) const RTS: u64 = 272;
/// The time from the end of an RTS to the start of the data frame.
pub(crate) const CTS_AND_SIFS: u64 = 10 + 248 + 10;

/// An event, with the queue that it happens to; packets by their number, counted from 0 over all queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// An undisturbed exchange begins; `failures` counts earlier failures of the frame.
    Exchange {
        by: ContenderId,
        packet: u32,
        failures: u16,
    },
    Collision {
        micros: u64,
    },
    Collider {
        by: ContenderId,
        packet: u32,
    },
    Beacon {
        number: u64,
        collides: bool,
    },
    /// A frame of a contention-free period: its sender, receiver and packet, whether it
    /// acknowledges and polls, and its duration.
    Cf {
        by: ContenderId,
        to: StationId,
        packet: Option<u32>,
        acknowledges: bool,
        polls: bool,
        micros: u64,
    },
    /// The end of a contention-free period, and when the period began.
    CfEnd {
        by: ContenderId,
        began: u64,
        acknowledges: bool,
        micros: u64,
    },
    Lost {
        by: ContenderId,
        packet: u32,
    },
    Received {
        by: ContenderId,
        packet: u32,
    },
    Acknowledged {
        by: ContenderId,
        packet: u32,
    },
    GivenUp {
        by: ContenderId,
        packet: u32,
    },
}

impl fed::Seen for Seen {
    const UNIT: u64 = 1_000;
    const SLOT: u64 = SLOT;

    fn of(now: Time, event: MacEvent<'_, u32>) -> Option<Self> {
        Some(match event {
            MacEvent::Began(Began::Exchange { by, ppdu, .. }) => {
                let [psdu] = ppdu.psdus() else { panic!("one user has a PPDU") };
                let [mpdu] = psdu.frames.mpdus() else { panic!("DCF sends one frame at a time") };
                Seen::Exchange { by, packet: mpdu.payload, failures: mpdu.failures }
            }
            MacEvent::Began(Began::Collision { end, .. }) => {
                Seen::Collision { micros: micros(end) - micros(now) }
            }
            MacEvent::Began(Began::Collider { by, ppdu, .. }) => {
                Seen::Collider { by, packet: ppdu.psdus()[0].frames.mpdus()[0].payload }
            }
            MacEvent::Began(Began::Beacon { mpdu, collides, .. }) => {
                Seen::Beacon { number: mpdu.id, collides }
            }
            MacEvent::Began(Began::ContentionFree(frame)) => cf_frame(now, &frame),
            MacEvent::Began(Began::Request { .. }) | MacEvent::Answered { .. } => {
                panic!("DCF has no Block ACKs")
            }
            MacEvent::Began(Began::CfEnd { .. } | Began::Triggered { .. }) => {
                panic!("DCF has neither TXOPs nor OFDMA")
            }
            MacEvent::Lost { by, psdu, .. } => Seen::Lost { by, packet: psdu.mpdus()[0].payload },
            MacEvent::Received { by, mpdu, .. } => Seen::Received { by, packet: mpdu.payload },
            MacEvent::GivenUp { by, mpdu } => Seen::GivenUp { by, packet: mpdu.payload },
            MacEvent::Heard(_) => panic!("a cell tells of exchanges"),
        })
    }

    fn acknowledged(by: ContenderId, packet: u32) -> Self {
        Self::Acknowledged { by, packet }
    }
}

fn cf_frame(now: Time, frame: &CfFrame<'_, u32>) -> Seen {
    assert_eq!(frame.sent, frame.end, "there is no propagation delay");
    let CfFrame { by, receiver: to, acknowledges, polls, .. } = *frame;
    let micros = micros(frame.end) - micros(now);
    let packet = frame.psdu.map(|psdu| psdu.first().payload);
    match frame.ends {
        None => Seen::Cf { by, to, packet, acknowledges, polls, micros },
        Some(began) => {
            assert_eq!((to, packet, polls), (EVERYBODY, None, false));
            Seen::CfEnd { by, began: crate::cell::micros(began), acknowledges, micros }
        }
    }
}

/// A cell of which all events are noted, with times in microseconds.
pub(crate) type Script = Fed<Seen>;

impl Script {
    /// Creates an access point and stations, each with one queue.
    pub(crate) fn new(stations: usize, phy: &PhyConfig, mac: &MacConfig) -> Self {
        let access = AccessParameters::dcf(phy);
        let queues: Vec<_> = (0..=stations as StationId).map(|id| (id, access)).collect();
        Self::with_queues(&queues, phy, mac)
    }

    /// Creates a cell of queues, each with its station and its parameters.
    pub(crate) fn with_queues(
        queues: &[(StationId, AccessParameters)],
        phy: &PhyConfig,
        mac: &MacConfig,
    ) -> Self {
        Self::with_errors(queues, Vec::new(), phy, mac)
    }

    /// Creates a cell like [`Self::with_queues`], with frame errors to and from stations.
    pub(crate) fn with_errors(
        queues: &[(StationId, AccessParameters)],
        errors: Vec<Option<(FrameErrors, RandomStream)>>,
        phy: &PhyConfig,
        mac: &MacConfig,
    ) -> Self {
        let contenders = queues
            .iter()
            .zip(streams(queues.len()))
            .map(|(&(station, access), backoffs)| ContenderConfig {
                station,
                access,
                backoffs,
                bursts: None,
            })
            .collect();
        let config = MediumConfig {
            phy,
            mac: mac.clone(),
            cells: vec![0; queues.len()],
            rates: vec![(phy.data_rate, phy.control_rate)],
            pairs: BTreeMap::new(),
            rate_classes: vec![0; queues.len()],
            errors,
            rate_controls: Vec::new(),
            contenders,
        };
        Self::of(config, streams(queues.len()))
    }

    /// Puts a packet of `bytes` for `receiver` into a queue.
    pub(crate) fn queue(
        &mut self,
        contender: ContenderId,
        receiver: StationId,
        bytes: u64,
        micros: u64,
    ) {
        self.run(micros);
        self.put(contender, receiver, 8 * bytes);
        self.tell_ready(contender, micros);
    }
}

/// Returns the events of a packet from `start` on if nothing disturbs it.
pub(crate) fn exchange(
    start: u64,
    by: ContenderId,
    packet: u32,
    failures: u16,
) -> [(u64, Seen); 3] {
    [
        (start, Seen::Exchange { by, packet, failures }),
        (start + DATA, Seen::Received { by, packet }),
        (start + EXCHANGE, Seen::Acknowledged { by, packet }),
    ]
}

pub(crate) fn edca() -> MacConfig {
    let none = std::collections::BTreeMap::new();
    MacConfig { edca: Some(EdcaConfig { ap: none.clone(), stations: none }), ..standard() }
}
