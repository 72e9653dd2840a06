//! What goes on the air at once: one frame, or several for the same receiver.

use crate::frame::Mpdu;
use crate::station::StationId;

/// One or more MPDUs for one receiver. A single one, by far the most frequent case, needs no memory
/// of its own.
#[derive(Clone, Debug)]
pub struct Psdu<P>(Mpdus<P>);

#[derive(Clone, Debug)]
enum Mpdus<P> {
    One([Mpdu<P>; 1]),
    Several(Vec<Mpdu<P>>),
}

impl<P> Psdu<P> {
    /// Takes `mpdu` along too.
    ///
    /// # Panics
    /// If it is for another receiver than the others.
    #[must_use]
    pub fn with(self, mpdu: Mpdu<P>) -> Self {
        assert_eq!(mpdu.receiver, self.receiver(), "a PSDU has one receiver");
        let mut mpdus = match self.0 {
            Mpdus::One(one) => Vec::from(one),
            Mpdus::Several(several) => several,
        };
        mpdus.push(mpdu);
        Self(Mpdus::Several(mpdus))
    }

    /// These frames, the oldest first.
    ///
    /// # Panics
    /// If there is none.
    pub(crate) fn of(mpdus: Vec<Mpdu<P>>) -> Self {
        assert!(!mpdus.is_empty(), "a PSDU has a frame");
        Self(Mpdus::Several(mpdus))
    }

    /// Its frames, the oldest first.
    pub(crate) fn into_mpdus(self) -> Vec<Mpdu<P>> {
        match self.0 {
            Mpdus::One(one) => Vec::from(one),
            Mpdus::Several(several) => several,
        }
    }

    /// Its frames, the oldest first; there is at least one.
    #[inline]
    pub fn mpdus(&self) -> &[Mpdu<P>] {
        match &self.0 {
            Mpdus::One(one) => one,
            Mpdus::Several(several) => several,
        }
    }

    #[inline]
    pub(crate) fn mpdus_mut(&mut self) -> &mut [Mpdu<P>] {
        match &mut self.0 {
            Mpdus::One(one) => one,
            Mpdus::Several(several) => several,
        }
    }

    /// The bits of all its frames.
    #[inline]
    pub fn bits(&self) -> u64 {
        match &self.0 {
            Mpdus::One([mpdu]) => mpdu.bits,
            Mpdus::Several(several) => several.iter().map(|mpdu| mpdu.bits).sum(),
        }
    }

    /// Whom it is for.
    #[inline]
    pub fn receiver(&self) -> StationId {
        self.mpdus()[0].receiver
    }
}

impl<P> From<Mpdu<P>> for Psdu<P> {
    #[inline]
    fn from(mpdu: Mpdu<P>) -> Self {
        Self(Mpdus::One([mpdu]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mpdu(id: u64, receiver: StationId) -> Mpdu<()> {
        Mpdu {
            id,
            receiver,
            bits: 800,
            failures: 0,
            failures_after_rts: 0,
            is_received: false,
            payload: (),
        }
    }

    #[test]
    fn a_psdu_keeps_the_order_of_its_frames() {
        let mut psdu = Psdu::from(mpdu(0, 7));
        assert_eq!(psdu.mpdus(), [mpdu(0, 7)]);

        psdu = psdu.with(mpdu(1, 7)).with(mpdu(2, 7));
        psdu.mpdus_mut()[1].failures = 1;

        let seen: Vec<_> = psdu.mpdus().iter().map(|mpdu| (mpdu.id, mpdu.failures)).collect();
        assert_eq!(seen, [(0, 0), (1, 1), (2, 0)]);
        assert_eq!(psdu.receiver(), 7);
    }

    #[test]
    #[should_panic(expected = "one receiver")]
    fn a_psdu_has_one_receiver() {
        let _ = Psdu::from(mpdu(0, 7)).with(mpdu(1, 8));
    }
}
