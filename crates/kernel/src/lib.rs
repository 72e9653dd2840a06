//! Building blocks of every airtcp simulator: integer-nanosecond [`time`], the total order of
//! pending [`events`](event_queue), [`trains`](train) (ring buffers), reproducible
//! [`random`](random_stream) streams, [`distribution`]s, [registries](registry) of algorithms, and
//! [`trace`] sinks. Nothing here is specific to networks.

pub mod distribution;
pub mod event_queue;
pub mod random_stream;
pub mod registry;
pub mod sums;
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
