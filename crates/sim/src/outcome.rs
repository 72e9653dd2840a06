//! The result of one replication, in the form that `docs/reference/resolved-form.md` describes.

use std::collections::BTreeMap;

use airtcp_kernel::Time;
use airtcp_wlan::FailureCounts;
use serde::Serialize;

/// Numbers by name; `None` for a metric that does not apply.
pub type Metrics = BTreeMap<&'static str, Option<f64>>;

/// The outcome of one replication.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outcome {
    /// Metrics of the whole network.
    pub metrics: Metrics,
    /// Airtime shares of the measured time.
    pub airtime: AirtimeShares,
    /// Counters of the measured time.
    pub counts: Counts,
    /// One record per flow.
    pub flows: Vec<FlowRecord>,
    /// One record per station, the access point first.
    pub stations: Vec<StationRecord>,
    /// One record per station group, in the order of the scenario.
    pub groups: Vec<GroupRecord>,
    /// One record per access category with a queue, highest priority first.
    pub categories: Vec<CategoryRecord>,
    /// One record per cell, if there are several or hidden stations.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cells: Vec<CellRecord>,
    /// Share of the measured time with 0, 1, 2, ... transfers in progress.
    pub active_flows_distribution: Vec<f64>,
    /// Goodput in each of 100 equal intervals of the measured time.
    pub goodput_series_bps: Vec<f64>,
    /// Duration in seconds of each transfer that ended in the measured time, in order of their
    /// ends.
    #[serde(skip)]
    pub transfer_times_s: Vec<f64>,
    /// All these transfers, if requested.
    #[serde(skip)]
    pub transfers: Option<Vec<Transfer>>,
    /// The metrics of the first half of the measured time; `None` if not recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub halfway: Option<Halfway>,
    /// The sums that estimators need.
    #[serde(skip)]
    pub books: Books,
}

/// The metrics of the first half of the measured time, except those that are complete only at its
/// end.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Halfway {
    /// Metrics of the whole network.
    pub metrics: Metrics,
    /// One record per station group, in the order of the scenario.
    pub groups: Vec<GroupHalfway>,
}

/// The metrics of one station group in the first half, as in a [`GroupRecord`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroupHalfway {
    /// Its name in the scenario.
    pub name: String,
    /// Metrics of its flows in both directions, and of its stations.
    pub all: Metrics,
    /// Metrics of its downloads, if it has any.
    pub download: Option<Metrics>,
    /// Metrics of its uploads, if it has any.
    pub upload: Option<Metrics>,
}

/// Sums and lists over the measured time, from which estimators are computed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Books {
    /// The number of traffic entries.
    pub entries: u32,
    /// For the end of each of several equal blocks of the measured time, and for each traffic
    /// entry: the sums since measuring began.
    pub rows: Vec<Sums>,
    /// The transfers that ended in the measured time and had begun before.
    pub carried_over: Vec<CarriedOver>,
    /// The transfers in progress at the end.
    pub under_way: Vec<UnderWay>,
    /// The scope of each of `transfer_times_s`: twice the number of its station group, plus one for
    /// an upload.
    pub scopes: Vec<u32>,
    /// The sums and lists of pages.
    pub pages: PageBooks,
    /// Histograms of delays, by scope and kind.
    pub delays: Vec<DelayBin>,
}

/// The number of delays of one kind, in one scope, in one bin of the histogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayBin {
    /// Twice the number of a station group, plus one for an upload.
    pub scope: u32,
    /// The kind. 0 to 2: round trips of segments that were acknowledged without a SACK, first
    /// SACKed, and later covered by a cumulative ACK. 3: queueing at the access point. 4:
    /// reordering. 5: delays of datagrams.
    pub kind: u32,
    /// The bin: bits 16 to 31 of a delay in nanoseconds as an `f32`, relative to those of 1 ns,
    /// which is bin 1.
    pub bin: u32,
    /// The number of delays in it.
    pub count: u64,
}

/// Sums and lists of pages.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PageBooks {
    /// Load times in seconds of the pages loaded in the measured time, in the order of their ends.
    pub times_s: Vec<f64>,
    /// Their scopes, as for transfers.
    pub scopes: Vec<u32>,
    /// The indices of pages that were requested before measuring began.
    pub carried_over: Vec<u32>,
    /// The pages in progress at the end.
    pub under_way: Vec<UnderWay>,
}

/// Sums over the flows of a traffic entry.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sums {
    /// Pages whose sizes were drawn, or transfers if there are no pages.
    pub units: f64,
    /// Bytes of these pages or transfers.
    pub unit_bytes: f64,
    /// Think times or interarrival times that were drawn.
    pub pauses: f64,
    /// Seconds of these times.
    pub paused_s: f64,
    /// Transfers that began.
    pub begun: f64,
    /// Transfers that ended.
    pub ended: f64,
    /// Seconds that the ended transfers took.
    pub ended_s: f64,
    /// Payload delivered in order.
    pub delivered_bytes: f64,
    /// The integral of the number of transfers in progress over time.
    pub active_s: f64,
    /// Pages that the client has completely loaded.
    pub loaded: f64,
    /// The integral of the number of pages in progress over time.
    pub loading_s: f64,
    /// Seconds in which no page was in progress.
    pub pageless_s: f64,
}

impl Sums {
    /// Returns the sums in the order of their declaration, without those of pages.
    pub fn columns(&self) -> [f64; 9] {
        let &Self { units, unit_bytes, pauses, paused_s, begun, .. } = self;
        let &Self { ended, ended_s, delivered_bytes, active_s, .. } = self;
        [units, unit_bytes, pauses, paused_s, begun, ended, ended_s, delivered_bytes, active_s]
    }

    /// Returns the sums of pages in the order of their declaration.
    pub fn of_pages(&self) -> [f64; 3] {
        [self.loaded, self.loading_s, self.pageless_s]
    }
}

/// A transfer that ended in the measured time and had begun before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CarriedOver {
    /// Its index among the transfers that ended.
    pub index: u32,
    /// Its age when measuring began, in seconds.
    pub age_s: f64,
}

/// A transfer or page in progress at the end of the measured time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UnderWay {
    /// Its traffic entry.
    pub entry: u32,
    /// Its age at the end, in seconds.
    pub age_s: f64,
}

/// A completely received transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// The index of its flow record.
    pub flow: u32,
    /// When it began.
    pub began: Time,
    /// Payload bytes of its data, without the messages that accompany them.
    pub bytes: u64,
}

/// Shares of the measured time; they sum to 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct AirtimeShares {
    /// No frame on the air.
    pub idle: f64,
    /// Frames with TCP or UDP payload.
    pub data: f64,
    /// Frames with a TCP segment without payload.
    pub tcp_ack: f64,
    /// RTS, CTS, MAC ACK, beacons, and frames of contention-free periods without data.
    pub control: f64,
    /// Frames that collided.
    pub collision: f64,
}

/// Counters of events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Frame exchanges that ended with a MAC ACK.
    pub mac_exchanges: u64,
    /// Transmissions that ended: of an RTS, of a data frame without RTS, or of a beacon.
    pub mac_attempts: u64,
    /// Collisions of two or more stations.
    pub collisions: u64,
    /// Collisions of two frames, each for the sender of the other: the access point's and that of
    /// the station which it addresses.
    pub simultaneous_sends: u64,
    /// Beacons sent.
    pub beacons: u64,
    /// Beacons that collided.
    pub beacon_collisions: u64,
    /// Contention-free periods that ended.
    pub contention_free_periods: u64,
    /// The part of `mac_exchanges` in contention-free periods: data frames acknowledged by a
    /// CF-Ack.
    pub contention_free_exchanges: u64,
    /// Polls to stations.
    pub polls: u64,
    /// Polls answered without data.
    pub polls_without_data: u64,
    /// Frames given up at the retry limit.
    pub mac_drops: u64,
    /// Packets dropped because the access point's queue was full.
    pub ap_queue_drops: u64,
    /// Packets dropped because a station's queue was full.
    pub station_queue_drops: u64,
    /// Packets dropped by the queue of a wired link, or lost on the link.
    pub wired_drops: u64,
    /// Bare TCP ACKs removed from a queue because a newer one covers them.
    pub acks_filtered: u64,
    /// Transfers that ended.
    pub transfers: u64,
    /// TCP segments sent.
    pub tcp_segments: u64,
    /// TCP segments sent again.
    pub tcp_retransmissions: u64,
    /// Expirations of a retransmission timer.
    pub tcp_timeouts: u64,
    /// TCP segments that arrived with a mark of congestion (CE of RFC 3168).
    pub ecn_marks: u64,
    /// Window reductions because of such a mark.
    pub ecn_reductions: u64,
    /// Events handled in the whole run, without those of the medium.
    pub events: u64,
}

/// The record of one flow.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlowRecord {
    /// `flow/index`.
    pub name: String,
    /// `group/index`.
    pub station: String,
    /// `download` or `upload`.
    pub direction: &'static str,
    /// Payload delivered in order.
    pub goodput_bps: f64,
    /// Transfers that ended.
    pub transfers: u64,
    /// The mean time to the last byte at the receiver.
    pub mean_transfer_time_s: Option<f64>,
    /// TCP segments sent again.
    pub retransmissions: u64,
    /// Expirations of a retransmission timer.
    pub timeouts: u64,
    /// Whether its goodput is below 1 % of a fair share among all endless flows.
    pub starved: bool,
}

/// The record of one station.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StationRecord {
    /// `ap`, or `group/index`.
    pub name: String,
    /// Payload delivered in order to and from this station; for the access point that of all
    /// stations.
    pub goodput_bps: f64,
    /// Transmissions that ended.
    pub attempts: u64,
    /// Transmissions acknowledged by a MAC ACK.
    pub successes: u64,
    /// Transmissions that collided.
    pub collisions: u64,
    /// Transmissions that failed because of a frame of the own cell, from a station that this one
    /// does not hear or had not detected.
    pub hidden: u64,
    /// Frames given up at the retry limit.
    pub mac_drops: u64,
    /// Packets dropped because the queue was full.
    pub queue_drops: u64,
    /// Mean CW over the backoffs drawn.
    pub mean_cw: Option<f64>,
}

/// The record of one station group.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroupRecord {
    /// Its name in the scenario.
    pub name: String,
    /// Metrics of its flows in both directions, and of its stations.
    pub all: Metrics,
    /// Metrics of its downloads, if it has any.
    pub download: Option<Metrics>,
    /// Metrics of its uploads, if it has any.
    pub upload: Option<Metrics>,
    /// The airtime of exchanges for its flows.
    pub airtime: GroupAirtime,
}

/// Shares of the measured time, without collisions, which involve several groups.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct GroupAirtime {
    /// Frames with TCP or UDP payload.
    pub data: f64,
    /// Frames with a TCP segment without payload.
    pub tcp_ack: f64,
    /// RTS, CTS and MAC ACK.
    pub control: f64,
}

/// The record of one cell of several.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CellRecord {
    /// Payload that its flows delivered in order.
    pub goodput_bps: f64,
    /// The measured time as its access point senses it.
    pub airtime: CellAirtime,
    /// Transmissions of its stations and its access point that ended.
    pub attempts: u64,
    /// Failed transmissions, by what overlapped them or kept their receivers from responding.
    pub failures: FailureCounts,
    /// The other cells that its access point hears: their numbers, and the share of the measured
    /// time in which any of their frames is on the air there.
    pub waits_for: Vec<(u32, f64)>,
}

/// Shares of the measured time as an access point senses it; they sum to 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CellAirtime {
    /// Frames of its cell.
    pub own: f64,
    /// Only frames of other cells.
    pub heard: f64,
    /// No frame that it hears.
    pub idle: f64,
}

/// The record of the queues of one access category.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CategoryRecord {
    /// The name in the standard.
    pub name: String,
    /// Metrics of its queues.
    pub metrics: Metrics,
}
