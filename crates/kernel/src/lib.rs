//! The ground under every simulator of airtcp: integer-nanosecond [`time`], the total order of
//! pending [`events`](event_queue), [`trains`](train) of items, reproducible [`random`](random_stream) streams, the
//! [`distribution`]s drawn from them, makers that are [registered](registry), and where a run puts its [`trace`].
//!
//! Knows no network: no frame, no packet, no station.

pub mod distribution;
pub mod event_queue;
pub mod random_stream;
pub mod registry;
pub mod time;
pub mod trace;
pub mod train;

pub use distribution::{Distribution, Sampler};
pub use event_queue::EventQueue;
pub use random_stream::RandomStream;
pub use registry::Registry;
pub use time::{Duration, Time};
pub use trace::{ByteSink, Log, Ticks};
pub use train::Train;
