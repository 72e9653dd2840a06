//! Settings of the reactions of TCP to the MAC below it: Gopal, Paul and Raychaudhuri 2004, section V.

use serde::{Deserialize, Serialize};

/// The way in which the number of acknowledgments left out follows the station's frames: more while they
/// get no answer, fewer after a loss and while the window may be small.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdaptiveSkip {
    /// So many frames answered in a row make it one fewer; each that is not makes it one more.
    pub calm: u32,
    /// The other end's window gets at least so many acknowledgments in a round trip, by what it must have grown
    /// to since the last loss.
    pub acks_per_window: u32,
}

/// The reaction of a sender to a frame that its own MAC gives up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MacFeedback {
    /// About the segment in that frame.
    pub give_up: GiveUp,
}

/// The meaning of a frame given up to the sender of the segment in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GiveUp {
    /// A loss: the segment is sent again at once, and the window falls as after a fast retransmit.
    Retransmit,
    /// As [`Self::Retransmit`], but the window stays where the last try was lost to the channel and not to a collision.
    Freeze,
}
