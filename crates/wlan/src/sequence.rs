//! What follows an access to the medium: the frames of an exchange ([`dcf`]). Knows no contention.

pub mod dcf;
