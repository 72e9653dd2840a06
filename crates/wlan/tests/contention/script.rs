//! A whole cell whose queues the test fills, and the events that it reports. The test draws the
//! same random numbers as the cell.

use std::collections::BTreeMap;

use std::collections::VecDeque;

use airtcp_kernel::{RandomStream, Time};
use airtcp_wlan::{
    AccessParameters, Began, Cell, CellConfig, CfFrame, ContenderConfig, ContenderId, EVERYBODY,
    EdcaConfig, FrameErrors, MacConfig, MacEvent, Mpdu, Msdu, PhyConfig, StationId, Supply,
};

use crate::cell::{SLOT, at, micros, standard, streams};

/// The default access point.
pub(crate) const ACCESS_POINT: StationId = 0;
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

/// The queues above a cell, and the reported events.
#[derive(Debug, Default)]
struct Queues {
    packets: Vec<VecDeque<Msdu<u32>>>,
    ready: Vec<ContenderId>,
    seen: Vec<(u64, Seen)>,
}

impl Supply<u32> for Queues {
    fn next(
        &mut self,
        contender: ContenderId,
        to: Option<StationId>,
        _: Time,
        fits: impl FnOnce(StationId, u64) -> bool,
        take: impl FnOnce(Msdu<u32>),
    ) -> bool {
        assert_eq!(to, None, "DCF sends one frame at a time");
        let queue = &mut self.packets[contender as usize];
        let is_next = queue.front().is_some_and(|msdu| fits(msdu.receiver, msdu.bits));
        if is_next && let Some(msdu) = queue.pop_front() {
            take(msdu);
        }
        is_next
    }

    fn receiver<'a>(
        &mut self,
        _: ContenderId,
        _: impl Iterator<Item = (StationId, Option<&'a u32>)>,
    ) -> Option<StationId> {
        panic!("DCF sends one frame at a time")
    }

    fn has_next(&self, contender: ContenderId) -> bool {
        !self.packets[contender as usize].is_empty()
    }

    fn acknowledged(&mut self, now: Time, by: ContenderId, mpdu: &Mpdu<u32>) -> bool {
        self.seen.push((micros(now), Seen::Acknowledged { by, packet: mpdu.payload }));
        self.has_next(by)
    }

    fn next_ready(&mut self) -> Option<ContenderId> {
        self.ready.pop()
    }

    fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    fn carries_data(&self, _: &u32) -> bool {
        true
    }

    fn watches_colliders(&self) -> bool {
        true
    }

    fn on_event(&mut self, now: Time, event: MacEvent<'_, u32>) {
        let seen = match event {
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
        };
        self.seen.push((micros(now), seen));
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

/// A cell, its queues, and the random streams of its backoffs.
pub(crate) struct Script {
    pub(crate) cell: Cell<u32>,
    queues: Queues,
    backoffs: Vec<RandomStream>,
    packets: u32,
}

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

    /// Handles [`Self::with_queues`] with frame errors to and from stations.
    pub(crate) fn with_errors(
        queues: &[(StationId, AccessParameters)],
        errors: Vec<Option<(FrameErrors, RandomStream)>>,
        phy: &PhyConfig,
        mac: &MacConfig,
    ) -> Self {
        Self::with_roles(ACCESS_POINT, queues, (streams(queues.len()), errors), phy, mac)
    }

    /// Handles [`Self::with_errors`] with this access point, and backoffs from these random
    /// streams.
    pub(crate) fn with_roles(
        access_point: StationId,
        queues: &[(StationId, AccessParameters)],
        (backoffs, errors): (Vec<RandomStream>, Vec<Option<(FrameErrors, RandomStream)>>),
        phy: &PhyConfig,
        mac: &MacConfig,
    ) -> Self {
        let contenders = queues
            .iter()
            .zip(backoffs)
            .map(|(&(station, access), backoffs)| ContenderConfig {
                station,
                access,
                backoffs,
                bursts: None,
            })
            .collect();
        let config = CellConfig {
            phy,
            mac: mac.clone(),
            access_point,
            cells: Vec::new(),
            rates: vec![(phy.data_rate, phy.control_rate)],
            pairs: BTreeMap::new(),
            rate_classes: vec![0; queues.len()],
            errors,
            rate_controls: Vec::new(),
            contenders,
        };
        Self {
            cell: Cell::new(config),
            queues: Queues { packets: vec![VecDeque::new(); queues.len()], ..Queues::default() },
            backoffs: streams(queues.len()),
            packets: 0,
        }
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
        let msdu = Msdu { receiver, bits: 8 * bytes, payload: self.packets };
        self.packets += 1;
        self.queues.packets[contender as usize].push_back(msdu);
        self.tell_ready(contender, micros);
    }

    /// Reports to the cell that a queue has a packet.
    pub(crate) fn tell_ready(&mut self, contender: ContenderId, micros: u64) {
        self.queues.ready.push(contender);
        self.cell.frames_ready(at(micros), &mut self.queues);
    }

    /// Plays everything before `end`.
    pub(crate) fn run(&mut self, end: u64) {
        while self.cell.next_time() < at(end) {
            self.cell.advance(self.cell.next_time(), &mut self.queues);
        }
    }

    /// Returns the events since the last call, up to and excluding `end`.
    pub(crate) fn seen_before(&mut self, end: u64) -> Vec<(u64, Seen)> {
        self.run(end);
        std::mem::take(&mut self.queues.seen)
    }

    /// Draws the next backoff of a queue, in microseconds, with contention window `cw`.
    pub(crate) fn backoff(&mut self, contender: ContenderId, cw: u32) -> u64 {
        SLOT * u64::from(self.backoffs[contender as usize].up_to(cw))
    }

    pub(crate) fn laws_hold(&self) {
        for contender in 0..self.backoffs.len() as ContenderId {
            self.cell.check_laws(contender).unwrap();
        }
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
