//! The transmit state shared by [`Cell`](crate::Cell) and [`Field`](crate::Field): the frames that
//! the MAC holds, and their times, rates and errors. It assembles transmissions and processes their
//! results, without the state of the medium.

use super::roles::Roles;
use super::{Air, Originator};
use crate::frame::Mpdu;
use crate::medium::ErrorModel;
use crate::sequence::dcf::FrameTable;
use crate::station::StationId;

/// A step of a cell: the medium, the exchange logic, and the source of packets.
#[derive(Debug)]
pub(crate) struct Play<'a, P, M, S> {
    pub(crate) air: &'a mut Air<P>,
    pub(crate) mac: &'a mut M,
    pub(crate) supply: &'a mut S,
}

/// The transmit state, borrowed from either medium, with the exchange logic and the source of
/// packets.
#[derive(Debug)]
pub(crate) struct Desk<'a, P, M, S> {
    pub(crate) mac: &'a mut M,
    pub(crate) supply: &'a mut S,
    pub(crate) originators: &'a mut [Originator<P>],
    pub(crate) frames: &'a mut FrameTable,
    pub(crate) roles: &'a Roles,
    pub(crate) errors: &'a mut ErrorModel,
    /// True if no frame is lost by an error.
    pub(crate) is_perfect: bool,
}

impl<P, M, S> Play<'_, P, M, S> {
    /// Lends the same step. What is lent to a function out of line need not stay in memory.
    #[inline(always)]
    pub(super) fn again(&mut self) -> Play<'_, P, M, S> {
        Play { air: self.air, mac: self.mac, supply: self.supply }
    }

    /// Borrows the transmit state.
    #[inline]
    pub(super) fn desk(&mut self) -> Desk<'_, P, M, S> {
        let Self { air, mac, supply } = self;
        let Air { originators, frames, roles, errors, is_perfect, .. } = &mut **air;
        Desk { mac, supply, originators, frames, roles, errors, is_perfect: *is_perfect }
    }
}

/// Draws whether `mpdu` of `sender` is lost by an error.
pub(crate) fn loses<P>(
    errors: &mut ErrorModel,
    roles: &Roles,
    frames: &FrameTable,
    sender: StationId,
    mpdu: &Mpdu<P>,
) -> bool {
    let far = roles.far(sender, mpdu.receiver);
    errors.loses(far, frames.msdu_bits(mpdu.bits))
}
