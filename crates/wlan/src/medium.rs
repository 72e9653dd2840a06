//! The medium: transmissions are received, or overlap and are lost.
//!
//! A transmission's end is known from its beginning. Its reception is judged at its end, because
//! others may begin in the meantime. Transmissions that overlap are lost.

mod config;
mod errors;
mod nav;

use airtcp_kernel::{Duration, Time};

pub use config::MediumConfig;
pub(crate) use errors::ErrorModel;
pub use errors::FrameErrors;
pub(crate) use nav::Nav;

use crate::station::ContenderId;

/// The transmissions since the medium was last idle.
#[derive(Debug)]
pub(crate) struct Medium {
    transmissions: Vec<Transmission>,
    /// The propagation delay.
    propagation_delay: Duration,
}

/// A PPDU on the air.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transmission {
    pub(crate) by: ContenderId,
    /// When its transmission ends.
    pub(crate) end: Time,
    is_overlapped: bool,
}

/// The reception of a PPDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reception {
    /// Received as it was sent.
    Intact,
    /// Another PPDU was on the air at the same time.
    Overlapped,
}

/// A collided frame as its sender knows it.
#[derive(Clone, Copy, Debug)]
pub struct CollidedFrame {
    /// When it ended.
    pub end: Time,
    /// True if it ended after all the others. Its sender cannot receive while it sends, so it has
    /// heard none of them.
    pub outlasts: bool,
}

impl Medium {
    /// Creates an idle medium.
    pub(crate) fn new(propagation_delay: Duration) -> Self {
        Self { transmissions: Vec::new(), propagation_delay }
    }

    /// Removes all transmissions: the medium was idle until now.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.transmissions.clear();
    }

    /// Starts a PPDU of `by` that lasts until `end` without others: the medium was idle until now.
    #[inline]
    pub(crate) fn begin_alone(&mut self, by: ContenderId, end: Time) {
        let alone = Transmission { by, end, is_overlapped: false };
        // Usually the previous transmission was also the only one.
        if let [before] = &mut self.transmissions[..] {
            *before = alone;
        } else {
            self.transmissions.clear();
            self.transmissions.push(alone);
        }
    }

    /// Starts a PPDU of `by` that lasts from `start` to `end`. All stations hear each other, so it
    /// overlaps every PPDU that has not ended.
    #[inline]
    pub(crate) fn begin(&mut self, by: ContenderId, start: Time, end: Time) {
        let mut is_overlapped = false;
        for other in &mut self.transmissions {
            let overlaps = start < other.end;
            other.is_overlapped |= overlaps;
            is_overlapped |= overlaps;
        }
        self.transmissions.push(Transmission { by, end, is_overlapped });
    }

    /// Returns the transmissions on the air, or the last ones, in the order in which they began.
    #[inline]
    pub(crate) fn transmissions(&self) -> &[Transmission] {
        &self.transmissions
    }

    /// Judges the reception of `transmission`, which has ended.
    #[inline]
    pub(crate) fn reception(transmission: &Transmission) -> Reception {
        if transmission.is_overlapped { Reception::Overlapped } else { Reception::Intact }
    }

    /// Returns when the last of all transmissions ends.
    pub(crate) fn last_end(&self) -> Time {
        self.transmissions.iter().map(|one| one.end).max().unwrap_or(Time::ZERO)
    }

    /// Returns the transmission at `place` as its sender knows it after a collision.
    pub(crate) fn collided(&self, place: usize) -> CollidedFrame {
        let end = self.transmissions[place].end;
        let mut others = self.transmissions.iter().enumerate().filter(|&(other, _)| other != place);
        let outlasts = others.all(|(_, other)| end > other.end + self.propagation_delay);
        CollidedFrame { end, outlasts }
    }
}
