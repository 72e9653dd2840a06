//! Datagrams of one size, at a constant rate or as many as the queue has room for.

use airtcp_kernel::{Duration, Time};
use serde::Deserialize;

use super::{Action, Actions, Draws, Setting};
use crate::connection::Side;
use crate::e_model::Codec;
use crate::packet::UDP_HEADER_BYTES;

/// Datagrams, in the resolved form of a scenario.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UdpConfig {
    /// Size of the IP packet.
    packet_bytes: u32,
    /// Bits of IP packets per second; `None`: the source is saturated.
    rate_bps: Option<u64>,
    /// The speech codec of the datagrams, if they are a call.
    voice: Option<Codec>,
}

impl UdpConfig {
    pub(super) fn check(&self) -> Result<(), &'static str> {
        if self.packet_bytes <= UDP_HEADER_BYTES || self.rate_bps == Some(0) {
            Err("packet or rate too small")
        } else {
            self.voice.as_ref().map_or(Ok(()), Codec::check)
        }
    }

    pub(super) fn voice(&self) -> Option<Codec> {
        self.voice
    }
}

/// A source of datagrams.
#[derive(Clone, Debug)]
pub(super) struct Udp {
    config: UdpConfig,
    side: Side,
    /// The time of the first datagram, and the number of those since.
    first: Time,
    sent: u64,
}

impl Udp {
    pub(super) fn new(config: &UdpConfig, setting: Setting) -> Self {
        Self { config: config.clone(), side: setting.sender, first: Time::ZERO, sent: 0 }
    }

    /// Starts at a random phase, so that sources of a constant rate are not synchronized.
    pub(super) fn start(&self, draws: &mut Draws, actions: &mut Actions) {
        let pause = match self.config.rate_bps {
            None => Duration::ZERO,
            Some(rate_bps) => {
                let interval = self.time_of(1, rate_bps);
                Duration::from_secs_f64(draws.times.unit() * interval.as_secs_f64())
            }
        };
        actions.wake_in(pause);
    }

    pub(super) fn wake(&mut self, actions: &mut Actions) {
        let (side, bytes) = (self.side, self.config.packet_bytes - UDP_HEADER_BYTES);
        let Some(rate_bps) = self.config.rate_bps else {
            actions.push(Action::Saturate { side, bytes });
            return;
        };
        if self.sent == 0 {
            self.first = actions.now;
        }
        self.sent += 1;
        // The n-th datagram is sent n intervals after the first, without accumulating rounding
        // errors.
        actions.wake(self.first + self.time_of(self.sent, rate_bps));
        actions.push(Action::Send { side, bytes });
    }

    pub(super) fn is_endless(&self) -> bool {
        self.config.rate_bps.is_none()
    }

    /// Returns the duration of `count` datagrams.
    fn time_of(&self, count: u64, rate_bps: u64) -> Duration {
        let bits = u128::from(self.config.packet_bytes) * 8 * u128::from(count);
        let nanos = (bits * 1_000_000_000).div_ceil(u128::from(rate_bps));
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX >> 2))
    }
}
