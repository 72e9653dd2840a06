//! Packet contents for tests: a plain number, or what queues inspect.

use crate::queues::{BareAck, Inspect};

impl Inspect for u32 {
    fn mark(&mut self) -> bool {
        false
    }

    fn bare_ack(&self) -> Option<BareAck> {
        None
    }
}

/// The properties of a TCP segment that queues inspect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    /// Data; whether the transport is ECN-capable, and whether the packet is marked.
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
