//! The TCP settings in the resolved form: those of each end, and those of packets.

use airtcp_tcp::{AckSkip, Config, DelayedAck, Tack};
use serde::Deserialize;
use serde_json::{Map, Value};

/// The settings of TCP at both ends of a flow.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Map<String, Value>")]
pub struct TcpConfig {
    /// The settings of the end that sends the flow's payload.
    pub(crate) sender: Config,
    /// The settings of the end that receives the flow's payload.
    pub(crate) receiver: Config,
    pub(crate) packets: PacketConfig,
}

/// Settings of packets that endpoints do not use.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct PacketConfig {
    /// TCP and IP headers.
    pub(crate) header_bits: u32,
    /// Whether the last segment of a transfer is padded to the MSS.
    pub(crate) pad_last_segment: bool,
    /// Whether TCP small queues limit a connection's data in its station's queue, as in Linux.
    pub(crate) small_queue: bool,
}

/// The receive settings of the sending end, if they differ from those of the receiving end.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Receiving {
    receive_window_bytes: u64,
    delayed_ack: DelayedAck,
    ack_skip: Option<AckSkip>,
    tack: Option<Tack>,
}

impl Receiving {
    /// Replaces the receive settings of `end` by these.
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

    /// Reads one table with all settings. All keys but those of packets belong to the endpoints,
    /// which check them. Both ends share them, except for the keys of a separate table.
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
    /// Returns the settings of the station and of the server. The station sends the data if
    /// `station_sends`.
    pub(crate) fn ends(&self, station_sends: bool) -> [&Config; 2] {
        if station_sends { [&self.sender, &self.receiver] } else { [&self.receiver, &self.sender] }
    }

    /// Returns the MSS as a SYN option can express it.
    pub(crate) fn mss_option(&self) -> u16 {
        u16::try_from(self.sender.mss).unwrap_or(u16::MAX)
    }

    /// Returns whether both ends support SACK.
    pub(crate) fn has_sack(&self) -> bool {
        self.sender.variant.has_sack()
    }
}
