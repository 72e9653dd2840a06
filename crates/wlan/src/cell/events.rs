//! What a cell and what is above it have to say to each other.

use airtcp_kernel::Time;

use crate::frame::{Mpdu, Msdu, Psdu};
use crate::sequence::dcf::FrameTimes;
use crate::station::ContenderId;

/// What is above the MAC of a cell: it has the queues, and is told what becomes of what it hands over.
///
/// It may not call the cell from here; what is ready in consequence is told after
/// [`Cell::advance`](crate::Cell::advance).
pub trait Supply<P> {
    /// The queue of `contender` has got at the medium, and hands over what goes next if that `fits`.
    /// `None` if there is nothing, or the next does not fit.
    fn next(
        &mut self,
        contender: ContenderId,
        now: Time,
        fits: impl FnOnce(&Msdu<P>) -> bool,
    ) -> Option<Msdu<P>>;

    /// Whether the queue of `contender` has anything to hand over.
    fn has_next(&self, contender: ContenderId) -> bool;

    /// Something has happened at `now`.
    fn on_event(&mut self, now: Time, event: MacEvent<'_, P>);
}

/// What happens in a cell.
#[derive(Debug)]
pub enum MacEvent<'a, P> {
    /// Frames go on the air.
    Began(Began<'a, P>),
    /// The receiver of a frame of `by` has it.
    Received {
        /// Whose queue it is from.
        by: ContenderId,
        /// The frame.
        mpdu: &'a Mpdu<P>,
    },
    /// A frame of `by` was acknowledged: the MAC no longer holds it.
    Acknowledged {
        /// Whose queue it is from.
        by: ContenderId,
        /// The frame.
        mpdu: &'a Mpdu<P>,
    },
    /// A frame of `by` was given up at the retry limit: the MAC no longer holds it.
    GivenUp {
        /// Whose queue it is from.
        by: ContenderId,
        /// The frame.
        mpdu: &'a Mpdu<P>,
    },
}

/// What goes on the air.
#[derive(Debug)]
pub enum Began<'a, P> {
    /// An exchange that nothing disturbs.
    Exchange {
        /// Who sends the data.
        by: ContenderId,
        /// When its frames are on the air, from its start.
        times: &'a FrameTimes,
        /// The data.
        psdu: &'a Psdu<P>,
    },
    /// A beacon.
    Beacon {
        /// Whose queue it goes ahead of.
        by: ContenderId,
        /// The frame. Beacons have numbers of their own.
        mpdu: &'a Mpdu<()>,
        /// When it has been sent.
        sent: Time,
        /// When all have heard it.
        end: Time,
        /// Whether it is one of the frames of the collision that was told of just before.
        collides: bool,
    },
    /// Several frames, which collide; [`Self::Collider`] or [`Self::Beacon`] tells of each.
    Collision {
        /// When the last of them has been sent.
        sent: Time,
        /// When all have heard the last of them.
        end: Time,
    },
    /// The first frame of an exchange, which collides.
    Collider {
        /// Who sends it.
        by: ContenderId,
        /// What the exchange would have been.
        times: &'a FrameTimes,
        /// The data that it was to carry.
        psdu: &'a Psdu<P>,
    },
}
