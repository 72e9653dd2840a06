//! With aggregation, the sizes of PPDUs: counts every PPDU sent in the measured time, received or
//! not.

use airtcp_kernel::counters;
use airtcp_wlan::{ContenderId, Frames};

use super::metrics::fraction;
use crate::outcome::Metrics;
use crate::packet::{Packet, TrafficClass};

counters! {
    /// Counters of some kind of PPDUs.
    pub(in crate::world) struct PpduCounts {
        /// PPDUs with anything other than TCP ACKs.
        data_ppdus: u64,
        data_mpdus: u64,
        /// PPDUs with only TCP ACKs.
        ack_ppdus: u64,
        ack_mpdus: u64,
    }
}

/// The PPDUs of a cell.
#[derive(Debug)]
pub(in crate::world) struct Ppdus {
    contenders: Vec<PpduCounts>,
    /// PPDUs of the access point, by station group of the receiver.
    to_groups: Vec<PpduCounts>,
}

impl Ppdus {
    pub(super) fn new(contenders: usize, groups: usize) -> Self {
        Self {
            contenders: vec![PpduCounts::default(); contenders],
            to_groups: vec![PpduCounts::default(); groups],
        }
    }

    /// Counts a PPDU that `by` sends to or from a station of `group`. A PPDU to several users counts
    /// once for each group and, with its first user, once for `by`.
    pub(in crate::world) fn add(
        &mut self,
        by: ContenderId,
        group: u32,
        from_access_point: bool,
        (psdu, is_first): (Frames<'_, Packet>, bool),
    ) {
        let counts = PpduCounts::of(psdu);
        self.contenders[by as usize] +=
            if is_first { counts } else { PpduCounts { data_ppdus: 0, ack_ppdus: 0, ..counts } };
        if from_access_point {
            self.to_groups[group as usize] += counts;
        }
    }

    /// Resets the counters.
    pub(super) fn clear(&mut self) {
        self.contenders.fill(PpduCounts::default());
        self.to_groups.fill(PpduCounts::default());
    }

    pub(in crate::world) fn by(&self, contender: ContenderId) -> PpduCounts {
        self.contenders[contender as usize]
    }

    pub(super) fn to(&self, group: u32) -> PpduCounts {
        self.to_groups[group as usize]
    }
}

impl PpduCounts {
    fn of(psdu: Frames<'_, Packet>) -> Self {
        let mpdus = psdu.mpdus();
        let is_ack = |packet: &Packet| packet.body.class() == TrafficClass::TcpAck;
        if mpdus.iter().all(|mpdu| is_ack(&mpdu.payload)) {
            Self { ack_ppdus: 1, ack_mpdus: psdu.count() as u64, ..Self::default() }
        } else {
            Self { data_ppdus: 1, data_mpdus: psdu.count() as u64, ..Self::default() }
        }
    }

    /// Returns the number of PPDUs with anything other than TCP ACKs, and the frames in them.
    pub(in crate::world) fn data(self) -> (u64, u64) {
        (self.data_ppdus, self.data_mpdus)
    }

    pub(super) fn metrics(ap: Self, stations: Self) -> Metrics {
        Metrics::from([
            ("mpdus_per_ppdu_ap", fraction(ap.data_mpdus, ap.data_ppdus)),
            ("mpdus_per_ppdu_stations", fraction(stations.data_mpdus, stations.data_ppdus)),
            ("mpdus_per_ack_ppdu_ap", fraction(ap.ack_mpdus, ap.ack_ppdus)),
            ("mpdus_per_ack_ppdu_stations", fraction(stations.ack_mpdus, stations.ack_ppdus)),
        ])
    }
}
