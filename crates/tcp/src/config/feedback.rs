//! What TCP is to do about what the MAC below it tells: Gopal, Paul and Raychaudhuri 2004, section V.

use serde::{Deserialize, Serialize};

/// How the number of acknowledgments left out follows what becomes of the station's frames: more while they
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

/// What a sender does when its own MAC tells of a frame that it gives up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MacFeedback {
    /// About the segment in that frame.
    pub give_up: GiveUp,
}

/// What a frame given up means to the sender of the segment in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GiveUp {
    /// A loss: the segment is sent again at once, and the window falls as after a fast retransmit.
    Retransmit,
    /// The same, but the window stays where the last try was lost to the channel and not to a collision.
    Freeze,
}
