//! A PSDU: one or more frames for one receiver.

use crate::frame::Mpdu;
use crate::station::StationId;

/// One or more MPDUs for one receiver. A single MPDU, by far the most frequent case, needs no
/// separate allocation.
#[derive(Clone, Debug)]
pub(crate) struct Psdu<P>(Mpdus<P>);

#[derive(Clone, Debug)]
enum Mpdus<P> {
    One([Mpdu<P>; 1]),
    Several(Vec<Mpdu<P>>),
}

impl<P> Psdu<P> {
    /// Creates a PSDU from frames, oldest first.
    ///
    /// # Panics
    /// If there is none; with debug assertions also if they have different receivers.
    pub(crate) fn of(mpdus: Vec<Mpdu<P>>) -> Self {
        assert!(!mpdus.is_empty(), "a PSDU has a frame");
        let receiver = mpdus[0].receiver;
        debug_assert!(mpdus.iter().all(|one| one.receiver == receiver), "a PSDU has one receiver");
        Self(Mpdus::Several(mpdus))
    }

    /// Returns its frames, oldest first.
    pub(crate) fn into_mpdus(self) -> Vec<Mpdu<P>> {
        match self.0 {
            Mpdus::One(one) => Vec::from(one),
            Mpdus::Several(several) => several,
        }
    }

    /// Returns its frames, oldest first; there is at least one. Packets of one frame are adjacent.
    #[inline]
    pub(crate) fn mpdus(&self) -> &[Mpdu<P>] {
        match &self.0 {
            Mpdus::One(one) => one,
            Mpdus::Several(several) => several,
        }
    }

    /// Returns a view of its frames.
    #[inline]
    pub(crate) fn frames(&self) -> Frames<'_, P> {
        Frames(self.mpdus())
    }

    /// Returns its only frame, for exchanges without aggregation.
    ///
    /// # Panics
    /// If it was created from several frames.
    #[inline]
    pub(crate) fn only(&mut self) -> &mut Mpdu<P> {
        match &mut self.0 {
            Mpdus::One([mpdu]) => mpdu,
            Mpdus::Several(_) => unreachable!("frames go one by one"),
        }
    }

    /// Returns the only frame of a held PSDU; checks both conditions at once.
    ///
    /// # Panics
    /// If there is no PSDU, or if it was created from several frames.
    #[inline(always)]
    pub(crate) fn only_of(held: &mut Option<Self>) -> &mut Mpdu<P> {
        match held {
            Some(Self(Mpdus::One([mpdu]))) => mpdu,
            _ => unreachable!("who sends has a frame, and they go one by one"),
        }
    }

    #[inline]
    pub(crate) fn mpdus_mut(&mut self) -> &mut [Mpdu<P>] {
        match &mut self.0 {
            Mpdus::One(one) => one,
            Mpdus::Several(several) => several,
        }
    }
}

/// The MPDUs of a PSDU, oldest first; there is at least one.
// A slice, so that code without aggregation does not check how they are stored.
#[derive(Debug)]
pub struct Frames<'a, P>(&'a [Mpdu<P>]);

impl<P> Clone for Frames<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P> Copy for Frames<'_, P> {}

impl<'a, P> Frames<'a, P> {
    /// Creates the view of a single frame.
    #[inline]
    pub(crate) fn only(mpdu: &'a Mpdu<P>) -> Self {
        Self(std::slice::from_ref(mpdu))
    }

    /// Returns all MPDUs. Packets of one frame are adjacent.
    #[inline]
    pub fn mpdus(self) -> &'a [Mpdu<P>] {
        self.0
    }

    /// Returns the oldest MPDU.
    #[inline]
    pub fn first(self) -> &'a Mpdu<P> {
        &self.0[0]
    }

    /// Iterates over the frames, each with all its packets.
    pub fn each(self) -> impl Iterator<Item = &'a [Mpdu<P>]> {
        self.0.chunk_by(|_, next| next.is_further)
    }

    /// Returns the number of frames.
    pub fn count(self) -> usize {
        self.0.iter().filter(|mpdu| !mpdu.is_further).count()
    }

    /// Returns the total number of bits.
    pub fn bits(self) -> u64 {
        self.0.iter().map(|mpdu| mpdu.bits).sum()
    }

    /// Returns the receiver.
    #[inline]
    pub fn receiver(self) -> StationId {
        self.first().receiver
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
            is_further: false,
            failures: 0,
            failures_after_rts: 0,
            is_received: false,
            payload: (),
        }
    }

    #[test]
    fn a_psdu_keeps_the_order_of_its_frames() {
        assert_eq!(Psdu::from(mpdu(0, 7)).mpdus(), [mpdu(0, 7)]);

        let mut psdu = Psdu::of(vec![mpdu(0, 7), mpdu(1, 7), mpdu(2, 7)]);
        psdu.mpdus_mut()[1].failures = 1;

        let seen: Vec<_> = psdu.mpdus().iter().map(|mpdu| (mpdu.id, mpdu.failures)).collect();
        assert_eq!(seen, [(0, 0), (1, 1), (2, 0)]);
        assert_eq!(psdu.frames().receiver(), 7);
    }

    #[test]
    fn packets_may_share_a_frame() {
        let further = Mpdu { is_further: true, ..mpdu(0, 7) };
        let psdu = Psdu::of(vec![mpdu(0, 7), further, mpdu(1, 7)]);

        assert_eq!(psdu.frames().count(), 2);
        assert_eq!(psdu.frames().each().map(<[_]>::len).collect::<Vec<_>>(), [2, 1]);
    }

    #[test]
    #[should_panic(expected = "one receiver")]
    fn a_psdu_has_one_receiver() {
        let _ = Psdu::of(vec![mpdu(0, 7), mpdu(1, 8)]);
    }
}
