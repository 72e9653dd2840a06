//! The settings of TCP in the resolved form: those of each end, and those of their packets. Does not know which end
//! is the station's.

use airtcp_tcp::{AckSkip, Config, DelayedAck, Tack};
use serde::Deserialize;
use serde_json::{Map, Value};

/// The settings of TCP at both ends of a flow.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Map<String, Value>")]
pub struct TcpConfig {
    /// The settings of the end that sends what the flow is there for.
    pub(crate) sender: Config,
    /// The settings of the end that receives that.
    pub(crate) receiver: Config,
    pub(crate) packets: PacketConfig,
}

/// The settings of segments that no endpoint knows.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct PacketConfig {
    /// TCP and IP headers.
    pub(crate) header_bits: u32,
    /// A flag: the last segment of a transfer is filled up to the MSS.
    pub(crate) pad_last_segment: bool,
    /// A flag: little of a connection waits in the queue of its station, as in Linux.
    pub(crate) small_queue: bool,
}

/// The settings by which the sending end receives, where they are not those of the receiving end.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Receiving {
    receive_window_bytes: u64,
    delayed_ack: DelayedAck,
    ack_skip: Option<AckSkip>,
    tack: Option<Tack>,
}

impl Receiving {
    /// Puts these settings in the place of those of `end`.
    fn at(self, end: &Config) -> Config {
        Config {
            receive_window: self.receive_window_bytes,
            delayed_ack: self.delayed_ack,
            ack_skip: self.ack_skip,
            tack: self.tack,
            ..end.clone()
        }
    }
}

impl TryFrom<Map<String, Value>> for TcpConfig {
    type Error = serde_json::Error;

    /// Reads one table that holds all: what is not of the packets is the endpoints', which know their keys, and but
    /// for what is in a table of its own both ends have it.
    fn try_from(mut table: Map<String, Value>) -> Result<Self, Self::Error> {
        let is_of_packets =
            |key: &str| matches!(key, "header_bits" | "pad_last_segment" | "small_queue");
        let packets = table.iter().filter(|(key, _)| is_of_packets(key));
        let packets: Map<String, Value> =
            packets.map(|(key, value)| (key.clone(), value.clone())).collect();
        table.retain(|key, _| !is_of_packets(key));
        let receiving = table.remove("sending_end").unwrap_or_default();
        let receiver = Config::deserialize(Value::Object(table))?;
        let sender = match Option::<Receiving>::deserialize(receiving)? {
            None => receiver.clone(),
            Some(receiving) => receiving.at(&receiver),
        };
        let [sender, receiver] = Config::meeting(sender, receiver);
        Ok(Self { sender, receiver, packets: PacketConfig::deserialize(Value::Object(packets))? })
    }
}

impl TcpConfig {
    /// Returns the settings at the station and at the server; the station sends the data if `station_sends`.
    pub(crate) fn ends(&self, station_sends: bool) -> [&Config; 2] {
        if station_sends { [&self.sender, &self.receiver] } else { [&self.receiver, &self.sender] }
    }

    /// Returns the MSS as an option of a SYN can say it.
    pub(crate) fn mss_option(&self) -> u16 {
        u16::try_from(self.sender.mss).unwrap_or(u16::MAX)
    }

    /// Tells whether both ends know SACK.
    pub(crate) fn has_sack(&self) -> bool {
        self.sender.variant.has_sack()
    }
}
