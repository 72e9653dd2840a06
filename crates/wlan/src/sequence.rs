//! The frames of one exchange ([`dcf`]; `ht` where frames are
//! aggregated), and whether another exchange may follow (`txop`). Knows no contention.

pub mod dcf;
pub(crate) mod ht;
pub(crate) mod txop;
