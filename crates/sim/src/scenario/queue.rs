//! The queue of a node in the resolved form: discipline, limit, and the checks that no type makes.

use airtcp_kernel::Duration;
use serde::Deserialize;

pub use crate::red::RedConfig;

/// A queue of packets.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "WrittenQueue")]
pub struct QueueConfig {
    /// Who is served first, and who is dropped.
    pub discipline: Discipline,
    /// Packets that fit, the one being sent included; any number if `None`.
    pub limit: Option<usize>,
}

/// Queueing disciplines.
#[derive(Clone, Debug)]
pub enum Discipline {
    /// First in, first out; what does not fit is dropped on arrival.
    Fifo,
    /// The same with random early detection.
    Red(RedConfig),
    /// Flows take turns, a packet each; the longest pays for an overflow.
    PerFlow,
}

#[derive(Deserialize)]
#[serde(tag = "discipline", rename_all = "kebab-case", deny_unknown_fields)]
enum WrittenQueue {
    Fifo { limit: Option<usize> },
    Red { limit: Option<usize>, red: RedConfig },
    PerFlow { limit: Option<usize> },
}

impl TryFrom<WrittenQueue> for QueueConfig {
    type Error = String;

    fn try_from(written: WrittenQueue) -> Result<Self, String> {
        let (discipline, limit) = match written {
            WrittenQueue::Fifo { limit } => (Discipline::Fifo, limit),
            WrittenQueue::PerFlow { limit } => (Discipline::PerFlow, limit),
            WrittenQueue::Red { limit, red } => {
                let thresholds = 0.0 <= red.min_threshold && red.min_threshold < red.max_threshold;
                let weight = 0.0 < red.weight && red.weight <= 1.0;
                let probability = 0.0 < red.max_probability && red.max_probability <= 1.0;
                if !thresholds || !weight || !probability || red.idle_packet_time == Duration::ZERO
                {
                    return Err(format!("contradictory parameters: {red:?}"));
                }
                (Discipline::Red(red), limit)
            }
        };
        if limit == Some(0) {
            Err("a queue of no packet".into())
        } else {
            Ok(Self { discipline, limit })
        }
    }
}
