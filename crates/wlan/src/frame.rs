//! Frames on their way through the MAC: what a queue holds ([`Msdu`]), what is sent, acknowledged and
//! sent again ([`Mpdu`]), and what goes on the air at once ([`Ppdu`], of [`Frames`] for each receiver).
//!
//! Knows identities and sizes. What a frame carries is the caller's, of any type.

pub(crate) mod block_ack;
mod mpdu;
mod ppdu;
mod psdu;

pub use mpdu::{Mpdu, Msdu};
pub use ppdu::{Ppdu, UserPsdu};
pub use psdu::Frames;
pub(crate) use psdu::Psdu;
