//! The medium: which transmissions overlap, and what of them is received.
//!
//! A transmission is known from its beginning on with its end; whether it was received is judged when
//! it has ended, for others may begin meanwhile. Transmissions that overlap where they are heard are
//! lost. Knows no frame and no backoff.

mod audibility;
mod errors;

use airtcp_kernel::{Duration, Time};

pub use audibility::AudibilityClass;
pub(crate) use errors::ErrorModel;
pub use errors::FrameErrors;

use crate::contention::CollidedFrame;
use crate::station::ContenderId;

/// What is on the air since the medium was idle last.
#[derive(Debug)]
pub(crate) struct Medium {
    transmissions: Vec<Transmission>,
    /// How long a frame travels.
    propagation_delay: Duration,
}

/// A PPDU on the air.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transmission {
    pub(crate) by: ContenderId,
    /// When its sender has sent it.
    pub(crate) end: Time,
    is_overlapped: bool,
}

/// How a PPDU came through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reception {
    /// As it was sent.
    Intact,
    /// Another was on the air at the same time.
    Overlapped,
}

impl Medium {
    pub(crate) fn new(propagation_delay: Duration) -> Self {
        Self { transmissions: Vec::new(), propagation_delay }
    }

    /// The medium was idle until now.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.transmissions.clear();
    }

    /// The medium was idle until now, and `by` alone sends a PPDU until `end`.
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

    /// `by` sends a PPDU from `start` to `end`. All hear all, so it overlaps all that have not ended.
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

    /// What is on the air, or was last, in the order in which it began.
    #[inline]
    pub(crate) fn transmissions(&self) -> &[Transmission] {
        &self.transmissions
    }

    /// How `transmission`, which has ended, came through.
    #[inline]
    pub(crate) fn reception(transmission: &Transmission) -> Reception {
        if transmission.is_overlapped { Reception::Overlapped } else { Reception::Intact }
    }

    /// When the last of all transmissions has been sent.
    pub(crate) fn last_end(&self) -> Time {
        self.transmissions.iter().map(|one| one.end).max().unwrap_or(Time::ZERO)
    }

    /// The transmission at `place`, as its sender knows it after a collision.
    pub(crate) fn collided(&self, place: usize) -> CollidedFrame {
        let end = self.transmissions[place].end;
        let mut others = self.transmissions.iter().enumerate().filter(|&(other, _)| other != place);
        let outlasts = others.all(|(_, other)| end > other.end + self.propagation_delay);
        CollidedFrame { end, outlasts }
    }
}
