//! Queues in the resolved scenario, and the checks that types cannot express.

use serde::Deserialize;

use super::ack_filter::AckFilter;
use super::codel::CodelConfig;
use super::fq_codel::FqConfig;
use super::plugin::DisciplineNumber;
use super::red::RedConfig;

/// A queue in the resolved scenario.
#[derive(Clone, Debug, Deserialize)]
pub struct QueueConfig {
    /// The discipline, which orders and drops packets. Its variants reject unknown keys.
    #[serde(flatten)]
    pub discipline: DisciplineConfig,
    /// The limit in packets, including those that the MAC holds; `None`: no limit.
    pub limit: Option<usize>,
    /// The limit of the driver's ring below the discipline, in packets, including those that the
    /// MAC holds. `None`: no ring; the MAC dequeues from the discipline.
    pub mac_limit: Option<usize>,
    /// The ACK filter; `None`: keep all ACKs.
    pub ack_filter: Option<AckFilter>,
}

/// A discipline in the resolved scenario.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "discipline", rename_all = "kebab-case", deny_unknown_fields)]
pub enum DisciplineConfig {
    /// First in, first out; an arrival that does not fit is dropped.
    Fifo {},
    /// FIFO with random early detection.
    Red {
        /// The parameters of early drops.
        red: RedConfig,
    },
    /// Fair queueing by packets: TCP connections take turns, and the longest queue loses a packet on
    /// overflow. Other packets take turns by the flow of the scenario.
    PerFlow {},
    /// The same by the flows of the scenario, whatever their connections.
    PerScenarioFlow {},
    /// FIFO with CoDel: drops from the head when the queueing delay stays too high.
    Codel {
        /// Target and interval.
        codel: CodelConfig,
    },
    /// A registered discipline.
    Own {
        /// Its name.
        name: DisciplineNumber,
    },
    /// FQ-CoDel: deficit round robin in bytes, with CoDel per flow.
    FqCodel {
        /// Target and interval.
        codel: CodelConfig,
        /// The parameters of fair queueing.
        fq: FqConfig,
    },
}

impl QueueConfig {
    /// Checks what the types cannot express.
    ///
    /// # Errors
    /// If a limit is zero, or if the parameters contradict each other.
    pub fn check(&self) -> Result<(), String> {
        if self.limit == Some(0) || self.mac_limit == Some(0) {
            return Err("a queue of no packet".into());
        }
        match &self.discipline {
            DisciplineConfig::Fifo {}
            | DisciplineConfig::PerFlow {}
            | DisciplineConfig::PerScenarioFlow {}
            | DisciplineConfig::Own { .. } => Ok(()),
            DisciplineConfig::Red { red } => red.check(),
            DisciplineConfig::Codel { codel } => codel.check(),
            DisciplineConfig::FqCodel { codel, fq } => codel.check().and_then(|()| fq.check(codel)),
        }
    }

    /// Returns a FIFO with room for `limit` packets.
    pub fn fifo(limit: Option<usize>) -> Self {
        let discipline = DisciplineConfig::Fifo {};
        Self { discipline, limit, mac_limit: None, ack_filter: None }
    }
}
