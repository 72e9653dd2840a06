//! Two endpoints, a wire with a delay, and what they say to each other.
//!
//! A transcript is the claim: who sends which segment when, in milliseconds. The wire has no rate,
//! so segments that may go together go at the same instant, and a round trip is twice the delay.

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
