//! A PPDU: a list of PSDUs, each for one receiver at its own rate.
//!
//! Today it has one entry, because every PPDU is for a single user. Its duration is in
//! [`sequence`](crate::sequence).

use super::Frames;

/// The data of a PPDU on the air.
#[derive(Debug)]
pub struct Ppdu<'a, P>([UserPsdu<'a, P>; 1]);

/// A PSDU and its rate.
#[derive(Debug)]
pub struct UserPsdu<'a, P> {
    /// The MPDUs, oldest first.
    pub frames: Frames<'a, P>,
    /// The rate class.
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
    /// Creates a PPDU for one user.
    #[inline]
    pub(crate) fn of_one(frames: Frames<'a, P>, class: u32) -> Self {
        Self([UserPsdu { frames, class }])
    }

    /// Returns its PSDUs; there is at least one.
    #[inline]
    pub fn psdus(&self) -> &[UserPsdu<'a, P>] {
        &self.0
    }

    /// Returns the same PPDU with each rate class mapped by `class`.
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
