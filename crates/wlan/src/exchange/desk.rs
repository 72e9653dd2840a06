//! The transmit state shared by [`Cell`](crate::Cell) and [`Field`](crate::Field): the frames that
//! the MAC holds, and their times, rates and errors. It assembles transmissions and processes their
//! results, without the state of the medium.

use airtcp_kernel::{Duration, Time};

use super::Originator;
use super::roles::Roles;
use crate::events::Supply;
use crate::frame::Mpdu;
use crate::medium::ErrorModel;
use crate::sequence::dcf::FrameTable;
use crate::station::{ContenderId, StationId};

/// The transmit state, borrowed from either medium.
#[derive(Debug)]
pub(crate) struct Desk<'a, P> {
    pub(crate) originators: &'a mut [Originator<P>],
    pub(crate) frames: &'a mut FrameTable,
    pub(crate) roles: &'a Roles,
    pub(crate) errors: &'a mut ErrorModel,
    /// True if no frame is lost by an error.
    pub(crate) is_perfect: bool,
}

impl<P: Clone> Desk<'_, P> {
    /// Takes the next frame of `by` if its exchange fits into `left` of a TXOP. Returns whether it
    /// fits.
    #[inline(always)]
    pub(crate) fn takes_what_fits<S: Supply<P>>(
        &mut self,
        by: ContenderId,
        now: Time,
        left: Duration,
        supply: &mut S,
    ) -> bool {
        let Self { originators, frames, roles, .. } = self;
        let originator = &mut originators[by as usize];
        let station = originator.station;
        let headers = frames.mpdu_bits(0);
        let fits = |receiver, bits| {
            frames.times(roles.rate_class(station, receiver), headers + bits).total <= left
        };
        supply.next(by, None, now, fits, |msdu| originator.take(msdu, headers))
    }
}

/// Draws whether `mpdu` of `sender` is lost by an error.
pub(super) fn loses<P>(
    errors: &mut ErrorModel,
    roles: &Roles,
    frames: &FrameTable,
    sender: StationId,
    mpdu: &Mpdu<P>,
) -> bool {
    let far = roles.far(sender, mpdu.receiver);
    errors.loses(far, frames.msdu_bits(mpdu.bits))
}
