//! The answer of one replication, in the shape that `docs/laboratory/resolved-form.md` describes.

use std::collections::BTreeMap;

use airtcp_kernel::Time;
use serde::Serialize;

/// Numbers by name; `None` where a metric does not apply.
pub type Metrics = BTreeMap<&'static str, Option<f64>>;

/// The outcome of one replication.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outcome {
    /// Of everything.
    pub metrics: Metrics,
    /// The shares of the measured time.
    pub airtime: AirtimeShares,
    /// The counts of the measured time.
    pub counts: Counts,
    /// One record per flow.
    pub flows: Vec<FlowRecord>,
    /// One record per station, the access point first.
    pub stations: Vec<StationRecord>,
    /// One record per station group, in the order of the scenario.
    pub groups: Vec<GroupRecord>,
    /// One record per access category that has a queue, the one with the highest priority first.
    pub categories: Vec<CategoryRecord>,
    /// One record per cell, where there are several or not all hear all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cells: Vec<CellRecord>,
    /// Share of the measured time with 0, 1, 2, ... transfers in progress.
    pub active_flows_distribution: Vec<f64>,
    /// Goodput in each of 100 equal intervals of the measured time.
    pub goodput_series_bps: Vec<f64>,
    /// Seconds that each transfer took that ended in the measured time, in order of their end.
    #[serde(skip)]
    pub transfer_times_s: Vec<f64>,
    /// All of these transfers, if they were asked for.
    #[serde(skip)]
    pub transfers: Option<Vec<Transfer>>,
    /// The metrics of the first half of the measured time; `None` where it was not noted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub halfway: Option<Halfway>,
    /// The sums that estimators are made of.
    #[serde(skip)]
    pub books: Books,
}

/// The metrics of the first half of the measured time, but for those that are complete at its end alone.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Halfway {
    /// Of everything.
    pub metrics: Metrics,
    /// One record per station group, in the order of the scenario.
    pub groups: Vec<GroupHalfway>,
}

/// The metrics of one station group in that half, as in a [`GroupRecord`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroupHalfway {
    /// Its name in the scenario.
    pub name: String,
    /// Of its flows in both directions, and of its stations.
    pub all: Metrics,
    /// Of its downloads, if it has any.
    pub download: Option<Metrics>,
    /// Of its uploads, if it has any.
    pub upload: Option<Metrics>,
}

/// The books of the measured time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Books {
    /// The number of entries of the traffic.
    pub entries: u32,
    /// For the end of each of some equal blocks of the measured time, of each entry of the traffic: the sums since
    /// measuring began.
    pub rows: Vec<Sums>,
    /// The transfers that ended and had begun before measuring did.
    pub carried_over: Vec<CarriedOver>,
    /// The transfers that are in progress at the end.
    pub under_way: Vec<UnderWay>,
    /// Of each of `transfer_times_s`: twice the number of its station group, and one more for an upload.
    pub scopes: Vec<u32>,
    /// The pages.
    pub pages: PageBooks,
    /// Histograms of delays, by scope and kind.
    pub delays: Vec<DelayBin>,
}

/// The number of delays of one kind, in one scope, in one bin of their histogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayBin {
    /// Twice the number of a station group, and one more for an upload.
    pub scope: u32,
    /// The kind: 0 to 2 round trips of segments that were acknowledged without a SACK, first SACKed, and then covered by a
    /// cumulative ACK; 3 queueing at the access point, 4 reordering, 5 delays of datagrams.
    pub kind: u32,
    /// The bin: bits 16 to 31 of a delay in nanoseconds as an `f32`, counted from those of 1 ns, which is bin 1.
    pub bin: u32,
    /// The number of delays in it.
    pub count: u64,
}

/// The books of pages.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PageBooks {
    /// The times to load of the pages that came in the measured time, in seconds, in the order of their ends.
    pub times_s: Vec<f64>,
    /// Their scopes, as those of transfers are.
    pub scopes: Vec<u32>,
    /// The places of those of them that were asked for before measuring began.
    pub carried_over: Vec<u32>,
    /// The pages in progress at the end.
    pub under_way: Vec<UnderWay>,
}

/// Sums over the flows of an entry of the traffic.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sums {
    /// Pages, or transfers where there are none, whose sizes were drawn.
    pub units: f64,
    /// Bytes of these.
    pub unit_bytes: f64,
    /// Times to think, or between arrivals, that were drawn.
    pub pauses: f64,
    /// Seconds of these.
    pub paused_s: f64,
    /// Transfers that began.
    pub begun: f64,
    /// Transfers that ended.
    pub ended: f64,
    /// Seconds that these took.
    pub ended_s: f64,
    /// Payload delivered in order.
    pub delivered_bytes: f64,
    /// The integral of the number of transfers in progress over time.
    pub active_s: f64,
    /// Pages of which the client has all.
    pub loaded: f64,
    /// The integral of the number of pages in progress over time.
    pub loading_s: f64,
    /// Seconds in which no page was in progress.
    pub pageless_s: f64,
}

impl Sums {
    /// Returns the sums in the order of their declaration, but for those of pages.
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
    /// Its place among the transfers that ended.
    pub index: u32,
    /// Its age when measuring began, in seconds.
    pub age_s: f64,
}

/// A transfer or page in progress at the end of the measured time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UnderWay {
    /// Its entry of the traffic.
    pub entry: u32,
    /// Its age at the end, in seconds.
    pub age_s: f64,
}

/// A transfer of which the receiver has all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Whose it was: the place among the records of flows.
    pub flow: u32,
    /// The time of its beginning.
    pub began: Time,
    /// Payload bytes of its data; none of what was said around them.
    pub bytes: u64,
}

/// Shares of the measured time; they add up to 1.
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

/// Counts of events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Frame exchanges that ended with a MAC ACK.
    pub mac_exchanges: u64,
    /// Transmissions that ended, of an RTS, of a data frame without one, or of a beacon.
    pub mac_attempts: u64,
    /// Times that two or more stations sent at once.
    pub collisions: u64,
    /// Those of two frames, each for the sender of the other: the access point's and one of the
    /// station that it is for.
    pub simultaneous_sends: u64,
    /// Beacons that went on the air.
    pub beacons: u64,
    /// Those that collided.
    pub beacon_collisions: u64,
    /// Contention-free periods that ended.
    pub contention_free_periods: u64,
    /// Of `mac_exchanges` those in them: data frames that a CF-Ack acknowledged.
    pub contention_free_exchanges: u64,
    /// Frames that polled a station.
    pub polls: u64,
    /// Polls that were answered without data.
    pub polls_without_data: u64,
    /// Frames given up at the retry limit.
    pub mac_drops: u64,
    /// Packets that found the access point's queue full.
    pub ap_queue_drops: u64,
    /// Packets that found a station's queue full.
    pub station_queue_drops: u64,
    /// Packets that the queue of a wired link dropped, or that were lost on it.
    pub wired_drops: u64,
    /// Bare TCP ACKs that left a queue since a newer one covered them.
    pub acks_filtered: u64,
    /// Transfers that ended.
    pub transfers: u64,
    /// TCP segments sent.
    pub tcp_segments: u64,
    /// Those that had been sent before.
    pub tcp_retransmissions: u64,
    /// Expirations of a retransmission timer.
    pub tcp_timeouts: u64,
    /// TCP segments that arrived with a mark of congestion (CE of RFC 3168).
    pub ecn_marks: u64,
    /// Windows that were reduced for one.
    pub ecn_reductions: u64,
    /// Events handled by the simulator in the whole run, those of the medium not counted.
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
    /// Below 1 % of a fair share of the goodput of all endless flows.
    pub starved: bool,
}

/// The record of one station.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StationRecord {
    /// `ap`, or `group/index`.
    pub name: String,
    /// Payload delivered in order to and from this station; of all for the access point.
    pub goodput_bps: f64,
    /// Transmissions that ended.
    pub attempts: u64,
    /// Those that led to a MAC ACK.
    pub successes: u64,
    /// Those that collided.
    pub collisions: u64,
    /// Those of them that a frame of the own cell met, by a station that this one does not hear or had not noticed.
    pub hidden: u64,
    /// Frames given up at the retry limit.
    pub mac_drops: u64,
    /// Packets that found the queue full.
    pub queue_drops: u64,
    /// Mean CW over the backoffs drawn.
    pub mean_cw: Option<f64>,
}

/// The record of one station group.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroupRecord {
    /// Its name in the scenario.
    pub name: String,
    /// Of its flows in both directions, and of its stations.
    pub all: Metrics,
    /// Of its downloads, if it has any.
    pub download: Option<Metrics>,
    /// Of its uploads, if it has any.
    pub upload: Option<Metrics>,
    /// The airtime of exchanges for its flows.
    pub airtime: GroupAirtime,
}

/// Shares of the measured time, without collisions, which are not of one group alone.
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
    /// Payload that its flows have delivered in order.
    pub goodput_bps: f64,
    /// The measured time as its access point senses it.
    pub airtime: CellAirtime,
    /// Transmissions of its stations and its access point that ended.
    pub attempts: u64,
    /// Those that failed, by what overlapped them or kept their receivers from answering.
    pub failures: CellFailures,
    /// The other cells that its access point hears: their numbers, and the share of the measured time in which any of
    /// their frames is on the air there.
    pub waits_for: Vec<(u32, f64)>,
}

/// Shares of the measured time at an access point; they add up to 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CellAirtime {
    /// Frames of its cell.
    pub own: f64,
    /// Frames of other cells alone.
    pub heard: f64,
    /// None that it hears.
    pub idle: f64,
}

/// Counts of failed transmissions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CellFailures {
    /// By a frame that began within the detection time of theirs, of a sender that they hear.
    pub same_slot: u64,
    /// By another frame of the cell.
    pub hidden: u64,
    /// By another frame of another cell.
    pub neighbour: u64,
}

/// The record of the queues of one access category.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CategoryRecord {
    /// As the standard writes it.
    pub name: String,
    /// Of its queues.
    pub metrics: Metrics,
}
