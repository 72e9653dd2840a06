//! Tests of fields whose queues are never empty, or are filled by scripts.

mod aggregates;
mod bench;
mod drawn;
mod plain;
mod reference;
mod saturated;
mod symmetry;
mod traffic;
mod unchanged;
mod weaker;
mod whole;
