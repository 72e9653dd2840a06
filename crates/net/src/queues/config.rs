//! Queues in the resolved form of a scenario, and the laws that a type cannot state. Knows no packet.

use serde::Deserialize;

use super::ack_filter::AckFilter;
use super::codel::CodelConfig;
use super::fq_codel::FqConfig;
use super::plugin::DisciplineNumber;
use super::red::RedConfig;

/// A queue in the resolved form of a scenario.
#[derive(Clone, Debug, Deserialize)]
pub struct QueueConfig {
    /// The order of packets, and the choice of those that are dropped. Its variants refuse unknown keys.
    #[serde(flatten)]
    pub discipline: DisciplineConfig,
    /// Packets that fit, those included that the MAC has taken; any number if `None`.
    pub limit: Option<usize>,
    /// Packets that are handed over to a ring below the discipline, those included that the MAC has
    /// taken; `None`: there is no ring, and the MAC takes packets from the discipline.
    pub mac_limit: Option<usize>,
    /// The bare TCP ACKs of a connection that stay; `None`: all.
    pub ack_filter: Option<AckFilter>,
}

/// A discipline in the resolved form of a scenario.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "discipline", rename_all = "kebab-case", deny_unknown_fields)]
pub enum DisciplineConfig {
    /// First in, first out; what does not fit is dropped on arrival.
    Fifo {},
    /// First in, first out with random early detection.
    Red {
        /// The rule for early drops.
        red: RedConfig,
    },
    /// Flows take turns, a packet each; the longest pays for an overflow.
    PerFlow {},
    /// First in, first out; the head is dropped when packets wait for too long.
    Codel {
        /// The time for which they may.
        codel: CodelConfig,
    },
    /// A discipline that was registered.
    Own {
        /// Its name.
        name: DisciplineNumber,
    },
    /// Flows take turns by bytes, each with a CoDel queue.
    FqCodel {
        /// The time for which packets may wait.
        codel: CodelConfig,
        /// The rule for turns.
        fq: FqConfig,
    },
}

impl QueueConfig {
    /// Checks the laws that the types cannot state.
    ///
    /// # Errors
    /// If no packet fits, or the parameters contradict each other.
    pub fn check(&self) -> Result<(), String> {
        if self.limit == Some(0) || self.mac_limit == Some(0) {
            return Err("a queue of no packet".into());
        }
        match &self.discipline {
            DisciplineConfig::Fifo {}
            | DisciplineConfig::PerFlow {}
            | DisciplineConfig::Own { .. } => Ok(()),
            DisciplineConfig::Red { red } => red.check(),
            DisciplineConfig::Codel { codel } => codel.check(),
            DisciplineConfig::FqCodel { codel, fq } => codel.check().and_then(|()| fq.check(codel)),
        }
    }

    /// Makes a queue first in, first out, with room for `limit` packets.
    pub fn fifo(limit: Option<usize>) -> Self {
        let discipline = DisciplineConfig::Fifo {};
        Self { discipline, limit, mac_limit: None, ack_filter: None }
    }
}
