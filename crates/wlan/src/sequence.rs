//! The frames of one exchange ([`dcf`]; `ht` with aggregation), and whether another exchange may
//! follow (`txop`).

pub mod dcf;
pub(crate) mod ht;
pub(crate) mod txop;
