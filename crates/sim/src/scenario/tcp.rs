//! The settings of TCP in the resolved form: those of an endpoint, and those of its packets.

use airtcp_tcp::Config;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The settings of TCP at both ends of a flow.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Map<String, Value>")]
pub struct TcpConfig {
    /// What an endpoint knows.
    pub(crate) endpoint: Config,
    pub(crate) packets: PacketConfig,
}

/// What an endpoint does not know of its segments.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct PacketConfig {
    /// TCP and IP headers.
    pub(crate) header_bits: u32,
    /// Whether the last segment of a transfer is filled up to the MSS.
    pub(crate) pad_last_segment: bool,
    /// Whether little of a connection waits in the queue of its station, as in Linux.
    pub(crate) small_queue: bool,
}

impl TryFrom<Map<String, Value>> for TcpConfig {
    type Error = serde_json::Error;

    /// One table holds both: what is not of the packets is the endpoint's, which knows its keys.
    fn try_from(mut table: Map<String, Value>) -> Result<Self, Self::Error> {
        let is_of_packets =
            |key: &str| matches!(key, "header_bits" | "pad_last_segment" | "small_queue");
        let packets = table.iter().filter(|(key, _)| is_of_packets(key));
        let packets: Map<String, Value> =
            packets.map(|(key, value)| (key.clone(), value.clone())).collect();
        table.retain(|key, _| !is_of_packets(key));
        Ok(Self {
            endpoint: Config::deserialize(Value::Object(table))?,
            packets: PacketConfig::deserialize(Value::Object(packets))?,
        })
    }
}

impl TcpConfig {
    /// The MSS as an option of a SYN can say it.
    pub(crate) fn mss_option(&self) -> u16 {
        u16::try_from(self.endpoint.mss).unwrap_or(u16::MAX)
    }

    /// Whether both ends know SACK.
    pub(crate) fn has_sack(&self) -> bool {
        self.endpoint.variant.has_sack()
    }
}
