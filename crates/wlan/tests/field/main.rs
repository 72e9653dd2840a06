//! Tests of fields whose queues are never empty, or are filled by scripts.

mod aggregates;
mod bench;
mod drawn;
mod saturated;
mod symmetry;
mod unchanged;
mod weaker;
mod whole;
