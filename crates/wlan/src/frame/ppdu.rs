//! A PPDU: a list of PSDUs, each for one receiver at its own rate.
//!
//! Its duration is in [`sequence`](crate::sequence).

use super::Frames;
use crate::phy::ResourceUnit;

/// The data of a PPDU on the air.
#[derive(Debug)]
pub struct Ppdu<'a, P>(Users<'a, P>);

/// The users of a PPDU. A single one, by far the most frequent case, is stored in place.
#[derive(Debug)]
enum Users<'a, P> {
    One([UserPsdu<'a, P>; 1]),
    Several(&'a [UserPsdu<'a, P>]),
}

/// A PSDU and its rate.
#[derive(Debug)]
pub struct UserPsdu<'a, P> {
    /// The MPDUs, oldest first.
    pub frames: Frames<'a, P>,
    /// The rate class.
    pub class: u32,
    /// The resource unit of a user of a multi-user PPDU.
    pub unit: Option<ResourceUnit>,
}

impl<P> Clone for Ppdu<'_, P> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<P> Copy for Ppdu<'_, P> {}

impl<P> Clone for Users<'_, P> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<P> Copy for Users<'_, P> {}

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
        Self(Users::One([UserPsdu { frames, class, unit: None }]))
    }

    /// Creates a PPDU for several users, or for one in a resource unit.
    pub fn of_users(users: &'a [UserPsdu<'a, P>]) -> Self {
        Self(Users::Several(users))
    }

    /// Returns its PSDUs; there is at least one.
    #[inline]
    pub fn psdus(&self) -> &[UserPsdu<'a, P>] {
        match &self.0 {
            Users::One(one) => one,
            Users::Several(several) => several,
        }
    }

    /// Returns the same PPDU with its rate classes mapped by `class`. With several users, their
    /// PSDUs are stored in `users`.
    #[inline]
    pub fn with_classes<'b>(
        self,
        class: impl Fn(u32) -> u32,
        users: &'b mut Vec<UserPsdu<'a, P>>,
    ) -> Ppdu<'b, P>
    where
        'a: 'b,
    {
        let mapped = |psdu: UserPsdu<'a, P>| UserPsdu { class: class(psdu.class), ..psdu };
        match self.0 {
            Users::One(one) => Ppdu(Users::One(one.map(mapped))),
            Users::Several(several) => {
                users.extend(several.iter().copied().map(mapped));
                Ppdu(Users::Several(users))
            }
        }
    }

    /// Returns the frames of all its PSDUs.
    #[inline]
    pub fn frames(&self) -> impl Iterator<Item = Frames<'a, P>> {
        self.psdus().iter().map(|psdu| psdu.frames)
    }
}
