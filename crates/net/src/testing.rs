//! Contents of packets in tests: a number that says nothing, or something that queues ask about.

use crate::queues::{BareAck, Inspect};

impl Inspect for u32 {
    fn mark(&mut self) -> bool {
        false
    }

    fn bare_ack(&self) -> Option<BareAck> {
        None
    }
}

/// A TCP segment as far as queues ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    /// Data; whether its transport knows ECN, and whether it is marked.
    Data {
        knows_ecn: bool,
        is_marked: bool,
    },
    Ack(BareAck),
}

impl Inspect for Body {
    fn mark(&mut self) -> bool {
        match self {
            Self::Data { knows_ecn: true, is_marked } => {
                *is_marked = true;
                true
            }
            _ => false,
        }
    }

    fn bare_ack(&self) -> Option<BareAck> {
        match *self {
            Self::Ack(ack) => Some(ack),
            Self::Data { .. } => None,
        }
    }
}
