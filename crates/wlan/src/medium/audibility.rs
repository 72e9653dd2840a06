//! Who senses whom.

/// Stations that sense the same transmissions, and so find the medium busy at the same times. In one
/// cell where all hear all there is one such class, [`Self::ALL`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AudibilityClass(u32);

impl AudibilityClass {
    /// The class of those who hear everyone.
    pub const ALL: Self = Self(0);
}
