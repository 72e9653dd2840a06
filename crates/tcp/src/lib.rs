//! One TCP endpoint, sans-I/O: segments and the time go in, segments and deadlines come out.
//!
//! Knows the handshake, the sender's loss recovery and congestion control, the retransmission
//! timer, and the receiver's acknowledgments. Knows no packet header, no radio, no queue, no clock
//! and no payload: bytes are counted, never carried.
//!
//! A caller drives an [`Endpoint`] with four calls: [`Endpoint::write`], [`Endpoint::on_segment`]
//! and [`Endpoint::on_timer`] tell it what happened, and after each of them (and after
//! [`Endpoint::new`]) [`Endpoint::poll_transmit`] is called until it returns `None`.
//! [`Endpoint::poll_timer`] says when to call [`Endpoint::on_timer`] next.
//!
//! A SACK option does not travel in its [`Segment`], which stays small, but waits beside it in a
//! [`SegmentOptions`], which the caller lends to both ends and tells what became of each segment.
//!
//! What is obeyed, line by line in the code: RFC 9293 (the protocol), RFC 5681 (congestion
//! control), RFC 6582 (NewReno), RFC 2018 and RFC 6675 (SACK), RFC 3042 (limited transmit), RFC 6298
//! (retransmission timer), RFC 8985 (RACK), RFC 9937 (proportional rate reduction), RFC 9438
//! (CUBIC), RFC 3168 (ECN) and RFC 1122 section 4.2 (delayed acknowledgments). What is left out or
//! read in one of several ways, and why:
//!
//! - Sequence numbers are 64 bits and never wrap, the initial one is 0, and the first byte of data
//!   is number 1 whichever [`Handshake`] is used.
//! - There is no RST, no urgent data, no simultaneous opening, and no option but SACK, which
//!   both ends are taken to have permitted if the [`Variant`] is [`Variant::Sack`]; ends that are not
//!   alike agree before, in [`Config::meeting`].
//! - [`Endpoint::close`] sends a FIN, but a connection need not be closed, and one that is closed at both
//!   ends is forgotten when the caller drops it: there is no TIME-WAIT.
//! - RFC 2018 section 4 wants a SACK option in each acknowledgment while something is held; a segment
//!   with payload has none here, because a full one would exceed the path's MTU. Whenever there is
//!   something new to tell, a segment without payload goes first.
//! - A retransmission timeout expunges the scoreboard, as RFC 2018 section 8 says it should.
//! - The rescue retransmission of RFC 6675 section 4, NextSeg (4), is sent to the letter: it may
//!   repeat a segment that has only just been sent.
//! - The application reads at once, and the advertised window is always the configured one, unless
//!   [`Endpoint::read_late`] is called: then each segment says its window, which may close. A probe of a zero window has
//!   no payload.
//! - A segment whose data is outside the window still has its acknowledgment processed: RFC 9293
//!   section 3.10.7.4 would discard it, as a protection against strangers, of whom there are none.

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
    AckSkip, AdaptiveSkip, Aimd, Config, Congestion, CubicGrowth, DelayedAck, GiveUp, Handshake,
    Implementation, LossWindow, MacFeedback, Opening, Peer, RenoGrowth, RtoFloor, Rules,
    Segmentation, SlowStart, Tack, Threshold, Timers, Variant,
};
pub use congestion::plugin;
pub use counters::{Counters, EcnCounters};
pub use endpoint::Endpoint;
pub use options::{SegmentOptions, Timestamps};
pub use receiver::acks;
pub use segment::{Flags, Segment};
pub use sender::{LossState, Segments};
