//! The medium: transmissions that overlap and are lost, or are received.
//!
//! A transmission is known from its beginning on with its end; its reception is judged when it has
//! ended, for others may begin meanwhile. Transmissions that overlap where they are heard are lost.
//! Knows no frame and no backoff.

mod errors;
mod nav;

use airtcp_kernel::{Duration, Time};

pub(crate) use errors::ErrorModel;
pub use errors::FrameErrors;
pub(crate) use nav::Nav;

use crate::station::ContenderId;

/// The transmissions since the medium was idle last.
#[derive(Debug)]
pub(crate) struct Medium {
    transmissions: Vec<Transmission>,
    /// The time that a frame travels.
    propagation_delay: Duration,
}

/// A PPDU on the air.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transmission {
    pub(crate) by: ContenderId,
    /// The instant at which its sender has sent it.
    pub(crate) end: Time,
    is_overlapped: bool,
}

/// The reception of a PPDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reception {
    /// As it was sent.
    Intact,
    /// Another was on the air at the same time.
    Overlapped,
}

/// A frame that collided, as its sender knows it.
#[derive(Clone, Copy, Debug)]
pub struct CollidedFrame {
    /// The instant at which it ended.
    pub end: Time,
    /// True if it ended after all the others had: its sender, which cannot receive while it sends, has
    /// heard none of them.
    pub outlasts: bool,
}

impl Medium {
    /// Makes an idle medium on which frames travel for so long.
    pub(crate) fn new(propagation_delay: Duration) -> Self {
        Self { transmissions: Vec::new(), propagation_delay }
    }

    /// Forgets all transmissions: the medium was idle until now.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.transmissions.clear();
    }

    /// Begins a PPDU of `by`, which lasts until `end` and is alone: the medium was idle until now.
    #[inline]
    pub(crate) fn begin_alone(&mut self, by: ContenderId, end: Time) {
        let alone = Transmission { by, end, is_overlapped: false };
        // Most often it was another that was alone before.
        if let [before] = &mut self.transmissions[..] {
            *before = alone;
        } else {
            self.transmissions.clear();
            self.transmissions.push(alone);
        }
    }

    /// Begins a PPDU of `by`, which lasts from `start` to `end`. All hear all, so it overlaps all that have
    /// not ended.
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

    /// Returns the instant at which the last of all transmissions has been sent.
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
