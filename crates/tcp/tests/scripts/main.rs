//! Two endpoints, a link with a delay, and the segments they exchange.
//!
//! A transcript states which end sends which segment when, in milliseconds. The link has no rate
//! limit, so several segments may be sent at the same instant, and a round trip is twice the delay.

mod acknowledgments;
mod bbr;
mod bbr1;
mod bottleneck;
mod closing;
mod cubic;
mod ecn;
mod ends;
mod fast_recovery;
mod feedback;
mod golden;
mod handshake;
mod late_reader;
mod pair;
mod properties;
mod rack;
mod response;
mod rules;
mod selective;
mod slow_start;
mod timeouts;
mod timestamps;
mod wild_segments;
mod windows;
mod zero_window;
