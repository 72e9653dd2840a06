//! A PPDU: a list of PSDUs, each for one receiver at a rate of its own.
//!
//! Knows that there is one entry today, for all that is sent goes to one user. Does not know how long a PPDU
//! lasts ([`sequence`](crate::sequence)), nor how the PSDUs share its tones.

use super::Frames;

/// The data of a PPDU that goes on the air.
#[derive(Debug)]
pub struct Ppdu<'a, P>([UserPsdu<'a, P>; 1]);

/// A PSDU with the rate at which it goes to its receiver.
#[derive(Debug)]
pub struct UserPsdu<'a, P> {
    /// The MPDUs, the oldest first.
    pub frames: Frames<'a, P>,
    /// The class of the cell's rates at which they go.
    pub class: u32,
}

impl<P> Clone for Ppdu<'_, P> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<P> Copy for Ppdu<'_, P> {}

impl<P> Clone for UserPsdu<'_, P> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<P> Copy for UserPsdu<'_, P> {}

impl<'a, P> Ppdu<'a, P> {
    /// Makes the PPDU of one user.
    #[inline]
    pub(crate) fn of_one(frames: Frames<'a, P>, class: u32) -> Self {
        Self([UserPsdu { frames, class }])
    }

    /// Returns its PSDUs; there is at least one.
    #[inline]
    pub fn psdus(&self) -> &[UserPsdu<'a, P>] {
        &self.0
    }

    /// Returns the same PPDU with the number that `class` gives for each class of rates.
    #[inline]
    pub fn with_classes(self, class: impl Fn(u32) -> u32) -> Self {
        Self(self.0.map(|psdu| UserPsdu { class: class(psdu.class), ..psdu }))
    }

    /// Returns the frames of all its PSDUs.
    #[inline]
    pub fn frames(&self) -> impl Iterator<Item = Frames<'a, P>> {
        self.0.iter().map(|psdu| psdu.frames)
    }
}
