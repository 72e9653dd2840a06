//! Frames in the MAC: a queued packet ([`Msdu`]), a frame that is sent, acknowledged and
//! retransmitted ([`Mpdu`]), and what is on the air at once ([`Ppdu`], with [`Frames`] for each
//! receiver).
//!
//! They have identities and sizes. The payload is of any type that the caller chooses.

pub(crate) mod block_ack;
mod mpdu;
mod on_link;
mod ppdu;
mod psdu;
mod trigger;

pub use mpdu::{Mpdu, Msdu};
pub use ppdu::{Ppdu, UserPsdu};
pub use psdu::Frames;
pub(crate) use psdu::Psdu;
pub use trigger::{Emlsr, LOWEST_OFDM_RATE, Trigger};
