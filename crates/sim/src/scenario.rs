//! The resolved form of a scenario, read from JSON, without defaults and units:
//! `docs/reference/resolved-form.md` describes it.

mod air;
mod radio_links;
mod tcp;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use airtcp_kernel::{Duration, Time};
pub use airtcp_net::{LinkConfig, QueueConfig, Scheduler};
use airtcp_wlan::phy::{Modulation, Rate};
use airtcp_wlan::{
    AccessCategory, AccessParameters, AccessScheme, AggregationConfig, BurstLength, Emlsr,
    FrameErrors, HighRateTiming, MacConfig, MinstrelRules, PairConfig, PhyConfig,
};
use serde::Deserialize;

pub use self::air::{Air, CellConfig, Needs};
pub use self::radio_links::{LinkRates, RadioLink};
pub use self::tcp::TcpConfig;
pub use crate::app::ApplicationConfig;

/// A complete scenario.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// The name that the user gives it.
    pub title: String,
    /// Timings and sizes of the PHY.
    pub phy: PhyConfig,
    /// Settings of the MAC.
    pub mac: MacConfig,
    /// The access category of each kind of traffic; not used under the DCF.
    pub classify: Classify,
    /// The access point.
    pub ap: AccessPoint,
    /// The cells, each with its access point. Empty: there is one cell, with [`Self::ap`], in which
    /// all stations hear each other.
    #[serde(default)]
    pub cells: Vec<CellConfig>,
    /// The powers with which stations hear each other; given exactly if there are cells.
    pub air: Option<Air>,
    /// Groups of equal stations.
    pub stations: Vec<StationGroup>,
    /// Wired links that several flows share, by name.
    pub links: BTreeMap<String, LinkConfig>,
    /// Flows; each stands for one flow of every station of its group.
    pub flows: Vec<FlowConfig>,
    /// The duration of runs, and their number.
    pub run: RunConfig,
}

/// The access category of each kind of traffic.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Classify {
    /// TCP segments with only an acknowledgment.
    pub tcp_ack: AccessCategory,
    /// TCP segments with payload or a SYN.
    pub tcp_data: AccessCategory,
    /// Datagrams.
    pub udp: AccessCategory,
}

impl Classify {
    /// Returns the categories in the order of [`crate::packet::TrafficClass`].
    pub(crate) fn categories(&self) -> [AccessCategory; 3] {
        [self.tcp_ack, self.tcp_data, self.udp]
    }
}

/// The access point.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccessPoint {
    /// Its queue towards the stations.
    pub queue: QueueConfig,
    /// How it accesses the medium.
    pub access: AccessScheme,
    /// Which station's packets are sent next, if an access serves one station.
    pub scheduler: Option<Scheduler>,
    /// The links of an access point that has several, the first of which is [`Scenario::phy`].
    pub links: Option<Vec<RadioLink>>,
}

/// Minstrel-HT: the rates that stations try, lowest first.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RateControl {
    /// The rates to choose from.
    pub rates: Vec<ControlledRate>,
    /// The implementation whose rules it follows.
    #[serde(default)]
    pub rules: MinstrelRules,
}

/// One of the rates that rate control chooses from.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ControlledRate {
    /// Rate of data frames.
    pub rate: Rate,
    /// Rate of control frames in exchanges at this rate.
    pub control_rate: Rate,
    /// Loss probability of 1500-byte frames.
    pub error_rate: f64,
    /// The SINR in dB that frames at this rate need, if powers are known.
    pub needs_db: Option<f64>,
}

/// A group of equal stations.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StationGroup {
    /// Its name; the stations are called `name/0`, `name/1`, ...
    pub name: String,
    /// The number of stations.
    pub count: u32,
    /// Rate of data frames to and from these stations.
    pub data_rate: Rate,
    /// Rate of control frames in exchanges with them.
    pub control_rate: Rate,
    /// The weight of each station in the access point's airtime scheduler; 256 is the default.
    pub airtime_weight: u32,
    /// aCWmin of each under the DCF.
    pub cw_min: u32,
    /// The queue of each station.
    pub queue: QueueConfig,
    /// Frame errors of these stations; `None`: frames are lost only in collisions.
    pub frame_errors: Option<FrameErrors>,
    /// Rate control among these rates; `None`: `data_rate`.
    pub rate_control: Option<RateControl>,
    /// Its cell, by number.
    #[serde(default)]
    pub cell: u32,
    /// The SINR that its frames need, if powers are known.
    pub needs: Option<Needs>,
    /// The stations, by number within the group, that are out of range of the access point.
    #[serde(default)]
    pub out_of_range: Vec<u32>,
    /// The capabilities that the access point shares with these stations; `None`: everything that
    /// the medium supports.
    pub pair: Option<PairConfig>,
    /// How they switch their only radio between their links; `None`: they have one for each link.
    #[serde(default)]
    pub emlsr: Option<Emlsr>,
}

impl StationGroup {
    /// Returns the timing of PPDUs from 802.11n on between the access point and these stations.
    pub(crate) fn high_rate(&self, scenario: &Scenario) -> Option<HighRateTiming> {
        self.pair.as_ref().map_or(scenario.phy.high_rate, |pair| pair.high_rate)
    }

    /// Returns the aggregation of frames between the access point and these stations.
    pub(crate) fn aggregation<'a>(
        &'a self,
        scenario: &'a Scenario,
    ) -> Option<&'a AggregationConfig> {
        match &self.pair {
            Some(pair) => pair.aggregation.as_ref(),
            None => scenario.mac.aggregation.as_ref(),
        }
    }
}

/// A link of a path.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum PathElement {
    /// One of [`Scenario::links`], shared.
    Shared(String),
    /// A link that belongs to this flow only.
    Own(LinkConfig),
}

/// One flow for each station of a group.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowConfig {
    /// Its name; the flows are called `name/0`, `name/1`, ...
    pub name: String,
    /// The group.
    pub stations: String,
    /// The direction of the data.
    pub direction: Direction,
    /// Each flow begins at a random time within this duration from its start.
    #[serde(rename = "start_spread_ns")]
    pub start_spread: Duration,
    /// The application that generates the traffic.
    pub application: ApplicationConfig,
    /// TCP at both ends; `None` for UDP.
    pub tcp: Option<TcpConfig>,
    /// Wired links from the access point to the server, in order.
    pub path: Vec<PathElement>,
}

/// The direction of a flow's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Data flow from the server to the station.
    Download,
    /// Data flow from the station to the server.
    Upload,
}

impl Direction {
    /// Returns its name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Download => "download",
            Self::Upload => "upload",
        }
    }
}

/// The duration of runs, and their number.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "seed, replications and precision are the caller's business")]
pub struct RunConfig {
    #[serde(rename = "warmup_ns")]
    pub(crate) warmup: Duration,
    #[serde(rename = "duration_ns")]
    pub(crate) duration: Duration,
    seed: u64,
    confidence: f64,
    replications: Option<u64>,
    precision: Option<f64>,
    max_replications: u64,
}

/// Why a text is not the resolved form of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidScenario(String);

impl fmt::Display for InvalidScenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a resolved scenario: {}", self.0)
    }
}

impl std::error::Error for InvalidScenario {}

/// Formats an error in the form. Only the package writes this form. So an unknown or missing field
/// means that package and core have different versions, as after an update of the sources without a
/// build.
fn wrong_form(error: &serde_json::Error) -> String {
    if error.is_data() {
        format!(
            "{error}; the core and the Python package are not of one version: build the core again (`make build`)"
        )
    } else {
        error.to_string()
    }
}

impl Scenario {
    /// Reads the resolved form.
    ///
    /// # Errors
    /// If `json` has another shape, or names a group, link or modulation that it does not define.
    pub fn from_json(json: &str) -> Result<Self, InvalidScenario> {
        let scenario: Self =
            serde_json::from_str(json).map_err(|error| InvalidScenario(wrong_form(&error)))?;
        scenario.check()?;
        Ok(scenario)
    }

    /// Iterates over data and control rates of the first medium by rate class: those of the groups,
    /// followed by the rates of groups with rate control.
    pub(crate) fn rates(&self) -> impl Iterator<Item = (Rate, Rate)> {
        let first = self.first_link();
        let own = self.stations.iter().map(|group| (group.data_rate, group.control_rate));
        let own = own.filter(move |_| first.is_none());
        let controlled = self.stations.iter().flat_map(|group| &group.rate_control);
        let found = controlled.flat_map(|one| &one.rates).map(|one| (one.rate, one.control_rate));
        own.chain(first.into_iter().flat_map(RadioLink::rates)).chain(found)
    }

    /// Returns the capabilities of the classes of [`Self::rates`] that support less than the medium
    /// does.
    pub(crate) fn pairs(&self) -> BTreeMap<u32, PairConfig> {
        if let Some(link) = self.first_link() {
            return link.pairs();
        }
        let controlled =
            |group: &StationGroup| group.rate_control.iter().flat_map(|one| &one.rates).count();
        let found =
            self.stations.iter().flat_map(|group| std::iter::repeat_n(group, controlled(group)));
        let of_classes = (0..).zip(self.stations.iter().chain(found));
        of_classes.filter_map(|(class, group)| Some((class, group.pair.clone()?))).collect()
    }

    /// Iterates over the required SINR in dB at each of [`Self::rates`].
    pub(crate) fn needs_db(&self) -> impl Iterator<Item = (Option<f64>, Option<f64>)> {
        let control = |group: &StationGroup| group.needs.map(|needs| needs.control_db);
        let own = self
            .stations
            .iter()
            .map(move |one| (one.needs.map(|needs| needs.data_db), control(one)));
        let found = self.stations.iter().flat_map(move |group| {
            let rates = group.rate_control.iter().flat_map(|one| &one.rates);
            rates.map(move |rate| (rate.needs_db, control(group)))
        });
        own.chain(found)
    }

    /// Iterates over the access points, each with the name of its node.
    pub(crate) fn access_points(&self) -> impl Iterator<Item = (&str, &AccessPoint)> {
        let alone = self.cells.is_empty().then_some(("ap", &self.ap));
        alone.into_iter().chain(self.cells.iter().map(|cell| (&cell.name[..], &cell.ap)))
    }

    /// Returns data and control rate of a class; those of the first medium come first.
    pub(crate) fn rates_of(&self, class: u32) -> (Rate, Rate) {
        let others = self.other_links().flat_map(RadioLink::rates);
        self.rates().chain(others).nth(class as usize).expect("a class of the cell")
    }

    /// Returns the cell of each node; the access points come first.
    pub(crate) fn cells_of_nodes(&self) -> Vec<u32> {
        let mut cells: Vec<u32> = (0..self.access_points().count() as u32).collect();
        for group in &self.stations {
            cells.extend(std::iter::repeat_n(group.cell, group.count as usize));
        }
        cells
    }

    /// Checks constraints that the types cannot express. Users' mistakes are found earlier, with
    /// their files and keys.
    fn check(&self) -> Result<(), InvalidScenario> {
        let fail = |text: String| Err(InvalidScenario(text));
        let deny =
            |is_wrong: bool, text: &str| if is_wrong { fail(text.to_owned()) } else { Ok(()) };
        let controlled = self.stations.iter().flat_map(|group| &group.rate_control);
        if let Some(control) = controlled.into_iter().find(|one| one.rates.is_empty()) {
            return fail(format!("{control:?} has no rate"));
        }
        let beacons = self.mac.beacon.iter().map(|beacon| beacon.rate);
        deny(
            self.mac.aggregation.is_none()
                && self.stations.iter().any(|group| group.pair.is_some()),
            "stations of another standard on an access point that does not aggregate",
        )?;
        let beacons = beacons.map(|rate| (&self.phy, rate));
        for (phy, rate) in self.rates_by_phy().chain(beacons) {
            let has_timing = match rate.modulation {
                Modulation::Dsss => phy.dsss.is_some(),
                Modulation::Ofdm => phy.ofdm.is_some(),
                Modulation::High(_) => phy.high_rate.is_some(),
            };
            if !has_timing || rate.bps == 0 {
                return fail(format!("{} has no rate {rate:?}", phy.standard));
            }
        }
        deny(self.phy.slot_time == Duration::ZERO, "slot_time_ns is 0")?;
        deny(self.phy.eifs < self.phy.difs, "eifs_ns is below difs_ns")?;
        if let Some(bursts) = self.ap.access.bursts() {
            deny(self.mac.edca.is_some(), "bursts and access categories exclude each other")?;
            let (BurstLength::Adaptive { target_active: length }
            | BurstLength::Fixed { packets: length }) = bursts.length;
            if bursts.window_slots == 0 || length == 0 {
                return fail(format!("contradictory bursts: {bursts:?}"));
            }
        }
        let dcf = AccessParameters::dcf(&self.phy);
        let mut contenders = vec![dcf];
        let groups = self.stations.iter();
        contenders.extend(groups.map(|group| AccessParameters { cw_min: group.cw_min, ..dcf }));
        if let Some(edca) = &self.mac.edca {
            for categories in [&edca.ap, &edca.stations] {
                contenders.extend(categories.values());
                for category in self.classify.categories() {
                    if !categories.contains_key(&category) {
                        return fail(format!("no EDCA parameters for {category:?}"));
                    }
                }
            }
        }
        for AccessParameters { cw_min, cw_max, .. } in contenders {
            if cw_min > cw_max || cw_max > MAX_CW {
                return fail(format!("need cw_min <= cw_max <= {MAX_CW}"));
            }
        }
        if let Some(beacon) = &self.mac.beacon
            && beacon.interval == Duration::ZERO
        {
            return fail("the beacon interval is 0".into());
        }
        if let Some(pcf) = &self.mac.pcf {
            let beacons = self.mac.beacon.map_or(Duration::ZERO, |beacon| beacon.interval);
            if beacons == Duration::ZERO
                || pcf.interval < beacons
                || !pcf.interval.as_nanos().is_multiple_of(beacons.as_nanos())
                || pcf.max_duration >= beacons
            {
                return fail(format!("{pcf:?} does not fit to beacons every {beacons}"));
            }
            deny(
                self.mac.edca.is_some() || self.mac.aggregation.is_some(),
                "contention-free periods are for the DCF",
            )?;
            if !matches!(self.ap.access, AccessScheme::Standard {}) {
                return fail("contention-free periods and bursts exclude each other".into());
            }
        }
        if let (Some(_), Some(edca)) = (&self.mac.beacon, &self.mac.edca)
            && !edca.ap.contains_key(&AccessCategory::Voice)
        {
            return fail("no EDCA parameters for beacons".into());
        }
        deny(self.mac.short_retry_limit == 0, "short_retry_limit is 0")?;
        deny(self.run.duration == Duration::ZERO, "duration_ns is 0")?;
        deny(
            self.stations.iter().any(|group| group.airtime_weight == 0),
            "an airtime weight of 0",
        )?;
        deny(
            self.mac.aggregation.is_some()
                && self.access_points().any(|(_, ap)| ap.scheduler.is_none()),
            "aggregation without a scheduler",
        )?;
        air::check(self).or_else(fail)?;
        radio_links::check(self).or_else(fail)?;
        let access_points = self.cells.iter().map(|cell| &cell.ap.queue).chain([&self.ap.queue]);
        let queues = self.stations.iter().map(|group| &group.queue).chain(access_points);
        for queue in queues {
            queue.check().or_else(fail)?;
        }
        let own =
            self.flows.iter().flat_map(|flow| &flow.path).filter_map(|element| match element {
                PathElement::Own(link) => Some(link),
                PathElement::Shared(_) => None,
            });
        for link in self.links.values().chain(own) {
            link.check().or_else(fail)?;
        }
        let groups: BTreeSet<_> = self.stations.iter().map(|group| &group.name).collect();
        deny(groups.len() < self.stations.len(), "two station groups have one name")?;
        for flow in &self.flows {
            if !groups.contains(&flow.stations) {
                return fail(format!("flow {} has no station group {}", flow.name, flow.stations));
            }
            for element in &flow.path {
                if let PathElement::Shared(name) = element
                    && !self.links.contains_key(name)
                {
                    return fail(format!("flow {} has no link {name}", flow.name));
                }
            }
            let tcp = flow.tcp.as_ref();
            tcp.map_or(Ok(()), |tcp| tcp.sender.check().and_then(|()| tcp.receiver.check()))
                .and_then(|()| flow.application.check(tcp))
                .or_else(|reason| fail(format!("flow {}: {reason}", flow.name)))?;
        }
        Ok(())
    }

    /// Computes the airtime of a frame of `bits` bits, including MAC header and FCS, at one of the
    /// scenario's rates; `None` if it has no such rate.
    pub fn airtime(&self, bits: u64, rate_bps: u64) -> Option<Duration> {
        if let Some(group) = self.stations.iter().find(|group| group.data_rate.bps == rate_bps) {
            let phy = PhyConfig { high_rate: group.high_rate(self), ..self.phy.clone() };
            return Some(phy.ppdu_time(bits, group.data_rate));
        }
        let control = self.stations.iter().map(|group| group.control_rate);
        let rate = control
            .chain([self.phy.data_rate, self.phy.control_rate])
            .find(|rate| rate.bps == rate_bps)?;
        Some(self.phy.ppdu_time(bits, rate))
    }

    /// Returns the start of measuring.
    pub(crate) fn measure_from(&self) -> Time {
        Time::ZERO + self.run.warmup
    }

    /// Returns the end of the run.
    pub(crate) fn end(&self) -> Time {
        self.measure_from() + self.run.duration
    }
}

/// Larger windows have no meaning in 802.11, where aCWmax is at most 1023, and would need a long
/// slot ring.
const MAX_CW: u32 = (1 << 20) - 1;
