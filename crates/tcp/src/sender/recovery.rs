//! Loss recovery: the one place that dispatches on the [`Variant`] of a sender.
//!
//! Each variant has its own file: [`reno`] for RFC 5681 and RFC 6582, [`sack`](super::sack) for RFC
//! 6675, [`rack`](super::rack) for RFC 8985.

use airtcp_kernel::{Duration, Time};

use super::rack::Rack;
use super::reno;
use super::sack::Sack;
use super::tcb::{Phase, Tcb};
use super::{Segments, SentData};
use crate::{At, Block, Config, Variant};

/// A loss recovery variant and its state.
#[derive(Clone, Debug)]
pub(crate) enum Recovery {
    /// RFC 5681 section 3.2.
    Reno,
    /// RFC 6582.
    NewReno,
    /// RFC 6675.
    Sack(Sack),
    /// RFC 8985 and RFC 9937.
    Rack(Box<Rack>),
}

impl Recovery {
    pub(super) fn new(config: &Config) -> Self {
        match config.variant {
            Variant::Reno => Self::Reno,
            Variant::NewReno => Self::NewReno,
            Variant::Sack => Self::Sack(Sack::default()),
            Variant::Rack => Self::Rack(Box::new(Rack::new(config))),
        }
    }

    /// Processes an ACK without SACK blocks; `bare`: the segment has no payload.
    #[inline(always)]
    pub(super) fn on_ack(&mut self, tcb: &mut Tcb, at: At<'_>, ack: u64, bare: bool) {
        match self {
            Self::Rack(rack) => rack.on_ack(tcb, at, ack, &[]),
            Self::Sack(sack) if sack.is_needed() => sack.on_ack(tcb, at, ack, &[]),
            Self::Reno | Self::NewReno | Self::Sack(_) => {
                if ack > tcb.snd_una {
                    if ack <= tcb.snd_max {
                        tcb.on_new_ack(at, ack, |tcb, acked, partial_acks| {
                            self.on_ack_in_fast_recovery(tcb, at.config, acked, partial_acks)
                        });
                    }
                } else if tcb.snd_una < tcb.snd_max {
                    self.on_old_ack(tcb, at, ack, bare);
                }
            }
        }
    }

    /// Processes an ACK with SACK blocks; `bare`: the segment has no payload.
    #[cold]
    pub(super) fn on_selective_ack(
        &mut self,
        tcb: &mut Tcb,
        at: At<'_>,
        ack: u64,
        (sacked, bare): (&[Block], bool),
    ) {
        match self {
            Self::Reno | Self::NewReno => {
                self.on_ack(tcb, at, ack, bare);
            }
            Self::Sack(sack) => sack.on_ack(tcb, at, ack, sacked),
            Self::Rack(rack) => rack.on_ack(tcb, at, ack, sacked),
        }
    }

    /// Processes an ACK of nothing new while data is in flight.
    #[inline(never)]
    fn on_old_ack(&self, tcb: &mut Tcb, at: At<'_>, ack: u64, bare: bool) {
        match self {
            // RFC 5681 section 2: the conditions for a duplicate ACK.
            Self::Reno | Self::NewReno if bare && ack == tcb.snd_una => {
                reno::on_dup_ack(tcb, at, matches!(self, Self::NewReno));
            }
            // RFC 6675 section 2: a duplicate ACK needs a SACK block with news.
            Self::Reno | Self::NewReno | Self::Sack(_) | Self::Rack(_) => {}
        }
    }

    /// Processes an ACK of new data in fast recovery. Returns whether to restart the retransmission
    /// timer.
    fn on_ack_in_fast_recovery(
        &self,
        tcb: &mut Tcb,
        config: &Config,
        acked: u64,
        partial_acks: u32,
    ) -> bool {
        match self {
            Self::Reno => reno::on_ack(tcb),
            Self::NewReno => reno::on_newreno_ack(tcb, config, acked, partial_acks),
            Self::Sack(sack) => sack.on_ack_in_fast_recovery(tcb),
            Self::Rack(_) => false,
        }
    }

    /// Processes an expiry of the sender's timer.
    pub(super) fn on_timer(&mut self, tcb: &mut Tcb, at: At<'_>) {
        match self {
            Self::Reno | Self::NewReno => reno::on_timeout(tcb, at, u64::MAX),
            Self::Sack(sack) => sack.on_timeout(tcb, at),
            Self::Rack(rack) => rack.on_timer(tcb, at),
        }
    }

    /// Sends the next segment while something may be missing. `Err`: new data may be sent, as far
    /// as the window allows.
    #[cold]
    pub(super) fn poll_in_disorder(
        &mut self,
        tcb: &mut Tcb,
        at: At<'_>,
    ) -> Result<SentData, WindowSays> {
        if let Phase::FastRecovery { resend: resend @ true, .. } = &mut tcb.phase {
            *resend = false;
            return Ok(Some(match self {
                Self::Sack(sack) => sack.retransmit_first(tcb, at),
                Self::Reno | Self::NewReno | Self::Rack(_) => reno::retransmit_first(tcb, at),
            }));
        }
        match self {
            Self::Reno | Self::NewReno | Self::Rack(_) => Err(WindowSays),
            Self::Sack(sack) => Ok(sack.poll(tcb, at)),
        }
    }

    /// Reduces the window for an ECN mark, at once or in proportion to the delivered data.
    pub(super) fn reduce_for_mark(&mut self, tcb: &mut Tcb) {
        match self {
            Self::Reno | Self::NewReno | Self::Sack(_) => {
                tcb.window.cwnd = tcb.window.cwnd.min(tcb.window.ssthresh);
            }
            Self::Rack(rack) => rack.begin_reduction(tcb),
        }
    }

    /// Returns the bytes in the network, lost or not: FlightSize of RFC 5681, without data that is
    /// known to have arrived.
    pub(super) fn in_network(&self, tcb: &Tcb) -> u64 {
        match self {
            Self::Reno | Self::NewReno | Self::Sack(_) => tcb.flight_size(),
            Self::Rack(rack) => rack.in_network(tcb),
        }
    }

    /// Returns when the timer expires.
    pub(super) fn deadline(&self, tcb: &Tcb) -> Time {
        match self {
            Self::Reno | Self::NewReno | Self::Sack(_) => tcb.deadline,
            Self::Rack(rack) => rack.deadline(tcb),
        }
    }

    /// Sets the timer to expire at `due`.
    pub(super) fn arm(&mut self, tcb: &mut Tcb, due: Time) {
        match self {
            Self::Reno | Self::NewReno | Self::Sack(_) => tcb.deadline = due,
            Self::Rack(rack) => rack.arm(tcb, due),
        }
    }

    /// Returns the segment counts; `None` if single segments are not tracked.
    pub(super) fn segments(&self) -> Option<Segments> {
        match self {
            Self::Reno | Self::NewReno | Self::Sack(_) => None,
            Self::Rack(rack) => Some(rack.sent.count()),
        }
    }

    /// Records the round trip of the handshake, the only RTT sample so far.
    pub(super) fn note_handshake(&mut self, rtt: Option<Duration>) {
        if let Self::Rack(rack) = self {
            rack.buffer.note_handshake(rtt);
        }
    }

    /// Returns whether the segment just sent carries PSH, and resets the flag.
    #[inline]
    pub(super) fn takes_push(&mut self) -> bool {
        match self {
            Self::Rack(rack) => rack.buffer.takes_push(),
            Self::Reno | Self::NewReno | Self::Sack(_) => false,
        }
    }
}

/// Returned by a recovery that lets the window decide what is sent.
pub(super) struct WindowSays;
