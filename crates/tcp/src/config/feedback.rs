//! Settings for the reaction of TCP to its own MAC: Gopal, Paul and Raychaudhuri 2004, section V.

use serde::{Deserialize, Serialize};

/// Adapts the number of omitted ACKs to the station's frames: more while frames get no response,
/// fewer after a loss and while the peer's window may be small.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdaptiveSkip {
    /// This many consecutive frames with a response reduce the number by one; each frame without a
    /// response raises it by one.
    pub calm: u32,
    /// The peer gets at least this many ACKs per window, with the window estimated from its growth
    /// since the last loss.
    pub acks_per_window: u32,
}

/// How a sender reacts when its own MAC gives up a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MacFeedback {
    /// What happens to the segment in that frame.
    pub give_up: GiveUp,
}

/// What a given-up frame means to TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GiveUp {
    /// A loss: retransmit the segment at once, and reduce the window as in a fast retransmit.
    Retransmit,
    /// Like [`Self::Retransmit`], but keep the window if the last attempt was lost to the channel
    /// and not to a collision.
    Freeze,
}
