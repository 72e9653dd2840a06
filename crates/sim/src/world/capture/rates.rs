//! Rates, capabilities and addresses of a pair of stations on the current medium, for a capture file.

use airtcp_kernel::Duration;
use airtcp_wlan::{AggregationConfig, ContenderId, PairConfig, Rate, StationId};

use super::super::node::{Node, NodeId};
use super::super::parts::Entities;
use super::address_of;
use crate::pcap::frame::Address;
use crate::scenario::StationGroup;

impl<'a> Entities<'a> {
    /// Returns the rate of RTS and CTS before data at `data_rate`.
    pub(super) fn protection_rate(self, data_rate: Rate, control_rate: Rate) -> Rate {
        self.phy.protection_of(data_rate).map_or(control_rate, |one| one.rate)
    }

    /// Returns the group of the station in an exchange of `by` with `receiver`.
    pub(super) fn group_of(self, by: ContenderId, receiver: StationId) -> Option<usize> {
        let sender = &self.nodes[self.transmitters[by as usize].node as usize];
        sender.group.or(self.nodes[receiver as usize].group).map(|group| group as usize)
    }

    pub(super) fn station_of(
        self,
        by: ContenderId,
        receiver: StationId,
    ) -> Option<&'a StationGroup> {
        Some(&self.scenario.stations[self.group_of(by, receiver)?])
    }

    /// Returns the control rate between `by` and `receiver`, and the capabilities of the station if
    /// they are less than those of the medium.
    pub(super) fn rates_to(
        self,
        by: ContenderId,
        receiver: StationId,
    ) -> (Rate, Option<&'a PairConfig>) {
        let group = self.group_of(by, receiver).expect("one of the two is no access point");
        let on_link = self.link().and_then(|link| link.stations[group].as_ref());
        let own = &self.scenario.stations[group];
        on_link.map_or((own.control_rate, own.pair.as_ref()), |one| {
            (one.control_rate, one.pair.as_ref())
        })
    }

    /// Returns the aggregation between `by` and `receiver`.
    pub(super) fn aggregation_to(
        self,
        by: ContenderId,
        receiver: StationId,
    ) -> Option<&'a AggregationConfig> {
        let pair = self.rates_to(by, receiver).1;
        pair.map_or(self.scenario.mac.aggregation.as_ref(), |one| one.aggregation.as_ref())
    }

    pub(super) fn has_ldpc(self, by: ContenderId, receiver: StationId) -> bool {
        let pair = self.rates_to(by, receiver).1;
        let timing = pair.map_or(self.phy.high_rate, |one| one.high_rate);
        // Only convolutional codes have a tail.
        timing.is_some_and(|high| high.tail_bits == 0)
    }

    /// Returns the aggregation of a station.
    pub(super) fn aggregation_of(self, station: &Node) -> Option<&'a AggregationConfig> {
        self.scenario.stations[station.group? as usize].aggregation(self.scenario)
    }

    /// Returns the airtime of a PPDU without the signal extension of 2.4 GHz.
    pub(super) fn without_extension(self, airtime: Duration) -> Duration {
        airtime - self.phy.high_rate.map_or(Duration::ZERO, |one| one.signal_extension)
    }

    /// Returns the addresses of sender and receiver of a data frame.
    pub(super) fn addresses_on_air(self, by: ContenderId, receiver: StationId) -> [Address; 2] {
        [address_of(self.sender(by)), address_of(receiver)]
    }

    /// Returns the node of a queue.
    pub(super) fn sender(self, by: ContenderId) -> NodeId {
        self.transmitters[by as usize].node
    }
}
