//! Several links of an access point (802.11be).

use std::collections::BTreeMap;

use airtcp_wlan::phy::Rate;
use airtcp_wlan::{PairConfig, PhyConfig};
use serde::Deserialize;

use super::Scenario;

/// One of several links of an access point (802.11be).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RadioLink {
    /// Timings and sizes of its PHY.
    pub phy: PhyConfig,
    /// The frequency of the primary channel in a capture.
    pub channel_mhz: u16,
    /// Rate of CF-Ends, which all stations must understand.
    pub cf_end_rate: Rate,
    /// The rates of each group of stations on this link; `None`: they do not have it.
    pub stations: Vec<Option<LinkRates>>,
}

/// The rates of stations on a link.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkRates {
    /// Rate of data frames to and from these stations.
    pub data_rate: Rate,
    /// Rate of control frames in exchanges with them.
    pub control_rate: Rate,
    /// Their capabilities, as `pair` of a station group.
    pub pair: Option<PairConfig>,
}

impl Scenario {
    /// Returns the first of several links of the access point, whose medium is the first one.
    pub(crate) fn first_link(&self) -> Option<&RadioLink> {
        self.ap.links.as_ref()?.first()
    }

    /// Iterates over the links of the access point after the first.
    pub(crate) fn other_links(&self) -> impl Iterator<Item = &RadioLink> {
        self.ap.links.iter().flat_map(|links| links.iter().skip(1))
    }

    /// Iterates over the rates of all media, each with the PHY of its medium.
    pub(super) fn rates_by_phy(&self) -> impl Iterator<Item = (&PhyConfig, Rate)> {
        let first = self.rates().chain([(self.phy.data_rate, self.phy.control_rate)]);
        let first = first.flat_map(<[Rate; 2]>::from).map(|rate| (&self.phy, rate));
        let others = self.other_links().flat_map(|link| {
            link.rates().flat_map(<[Rate; 2]>::from).map(|rate| (&link.phy, rate))
        });
        first.chain(others)
    }
}

impl RadioLink {
    /// Iterates over data and control rates of the groups on this link. A group without it has those
    /// of the PHY, which are not used: the PHY may lack the modulation of its own.
    pub(crate) fn rates(&self) -> impl Iterator<Item = (Rate, Rate)> {
        let unused = (self.phy.data_rate, self.phy.control_rate);
        let of_group = move |one: &LinkRates| (one.data_rate, one.control_rate);
        self.stations.iter().map(move |rates| rates.as_ref().map_or(unused, of_group))
    }

    /// Returns the capabilities of groups on this link that support less than the link does.
    pub(crate) fn pairs(&self) -> BTreeMap<u32, PairConfig> {
        let pairs = self.stations.iter().map(|rates| rates.as_ref()?.pair.clone());
        (0..).zip(pairs).filter_map(|(class, pair)| Some((class, pair?))).collect()
    }
}

/// Checks that links fit to the rest of the scenario.
pub(super) fn check(scenario: &Scenario) -> Result<(), String> {
    let number = |group: usize| {
        let links = scenario.ap.links.iter().flatten();
        links.filter(|link| link.stations.get(group).is_some_and(Option::is_some)).count()
    };
    let has_one_radio = |group: &usize| scenario.stations[*group].emlsr.is_some();
    if (0..scenario.stations.len()).filter(has_one_radio).any(|group| number(group) < 2) {
        return Err("one radio for several links of stations that have one".into());
    }
    let Some(links) = &scenario.ap.links else { return Ok(()) };
    let groups = scenario.stations.len();
    let controlled = scenario.stations.iter().any(|group| group.rate_control.is_some());
    if links.len() < 2 || links.iter().any(|link| link.stations.len() != groups) {
        return Err(
            "an access point with links has two or more, each with rates of all groups".into()
        );
    }
    if scenario.air.is_some() || controlled || scenario.mac.ofdma.is_some() {
        return Err("several links with several cells, rate control or OFDMA".into());
    }
    if scenario.mac.aggregation.is_none() || scenario.mac.beacon.is_some() {
        return Err("several links without aggregation, or with beacons".into());
    }
    Ok(())
}
