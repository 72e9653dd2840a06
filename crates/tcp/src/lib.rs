//! A TCP endpoint, sans-I/O: segments and the time go in, segments and deadlines come out.
//!
//! It contains the handshake, the sender's loss recovery and congestion control, the retransmission
//! timer, and the receiver's ACKs. There are no packet headers, no clock and no payload: bytes are
//! counted, never carried.
//!
//! A caller drives an [`Endpoint`] as follows. [`Endpoint::write`], [`Endpoint::on_segment`] and
//! [`Endpoint::on_timer`] report what happened. After each of them, and after [`Endpoint::new`],
//! call [`Endpoint::poll_transmit`] until it returns `None`. [`Endpoint::poll_timer`] returns when
//! to call [`Endpoint::on_timer`] next.
//!
//! To keep a [`Segment`] small, its SACK option is stored separately, in a [`SegmentOptions`]. The
//! caller owns this store, lends it to both ends, and reports the fate of each segment to it.
//!
//! The code follows, and cites line by line: RFC 9293 (the protocol), RFC 5681 (congestion
//! control), RFC 6582 (NewReno), RFC 2018 and RFC 6675 (SACK), RFC 3042 (limited transmit), RFC
//! 6298 (retransmission timer), RFC 8985 (RACK), RFC 9937 (proportional rate reduction), RFC 9438
//! (CUBIC), RFC 3168 (ECN) and RFC 1122 section 4.2 (delayed ACKs). It simplifies or interprets
//! them in these points:
//!
//! - Sequence numbers have 64 bits and never wrap. The initial one is 0, and the first byte of data
//!   has number 1 with any [`Handshake`].
//! - There is no RST, no urgent data and no simultaneous open. The only negotiated option is SACK,
//!   which both ends permit if the [`Variant`] is [`Variant::Sack`]; [`Config::meeting`] negotiates
//!   for ends that differ.
//! - [`Endpoint::close`] sends a FIN, but a connection need not be closed. There is no TIME-WAIT: a
//!   connection that is closed at both ends ends when the caller drops it.
//! - RFC 2018 section 4 wants a SACK option in each ACK while out-of-order data is held. Here a
//!   segment with payload has none, because a full one would exceed the path's MTU. If there is
//!   something new to report, a segment without payload goes first.
//! - A retransmission timeout clears the scoreboard, as RFC 2018 section 8 says it should.
//! - The rescue retransmission of RFC 6675 section 4, NextSeg (4), is implemented literally: it may
//!   repeat a segment that was only just sent.
//! - The application reads at once, so an endpoint always advertises the configured window. Segments
//!   of another stack may advertise others ([`SegmentOptions::say_window`]), and may close it. A
//!   zero-window probe has no payload.
//! - The ACK of a segment outside the window is still processed. RFC 9293 section 3.10.7.4 would
//!   discard it to protect against attackers, who do not exist here.

mod blocks;
mod config;
mod congestion;
mod counters;
mod ecn;
mod endpoint;
mod handshake;
mod marks;
mod options;
mod rate;
mod reassembly;
mod receiver;
mod rtt;
mod scoreboard;
mod segment;
mod sender;
mod sent;
mod timers;

pub use blocks::{Block, Blocks};
pub use config::{
    AckSkip, AdaptiveSkip, Aimd, At, Config, Congestion, CubicGrowth, DelayedAck, GiveUp,
    Handshake, Implementation, LossWindow, MacFeedback, Opening, Peer, RenoGrowth, RtoFloor, Rules,
    Segmentation, SlowStart, Tack, Threshold, Timers, Variant,
};
pub use congestion::plugin;
pub use counters::{Counters, EcnCounters};
pub use endpoint::Endpoint;
pub use options::{SegmentOptions, Timestamps};
pub use receiver::acks;
pub use segment::{Flags, Segment};
pub use sender::{LossState, Segments};
