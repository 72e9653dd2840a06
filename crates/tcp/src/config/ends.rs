//! Two ends of a connection with different configurations.
//!
//! It determines which options both ends have, and what one end knows about the other. Each
//! endpoint gets one [`Config`], as if the SYN options had been negotiated before. ECN is the
//! exception: the SYNs of a three-way handshake negotiate it.

use airtcp_kernel::Duration;

use super::{Config, Handshake, Variant};

/// What this end's sender knows about the other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Its advertised window in bytes.
    receive_window: u64,
    /// The longest delay of its ACKs: WCDelAckT of RFC 8985 section 7.2.
    longest_delay: Duration,
}

impl Config {
    /// Returns the configurations of two ends that meet; `one` and `other` describe each end as if
    /// its peer were alike.
    ///
    /// An option is used only if both ends have it: SACK (RFC 2018 section 2: "an enabling
    /// option"), timestamps (RFC 7323 section 3.2) and window scaling (section 2.2). Without SACK,
    /// [`Variant::Sack`] and [`Variant::Rack`] fall back to [`Variant::NewReno`]. The shorter MSS
    /// applies to both (RFC 9293 section 3.7.1).
    pub fn meeting(one: Self, other: Self) -> [Self; 2] {
        let met = [one.met_by(&other), other.met_by(&one)];
        debug_assert_eq!(met[0].handshake, met[1].handshake, "two ways to open one connection");
        met
    }

    fn met_by(&self, other: &Self) -> Self {
        let has_sack = other.variant.has_sack() || !self.variant.has_sack();
        let differs = self.receive_window != other.receive_window
            || self.delayed_ack.longest() != other.delayed_ack.longest();
        Self {
            variant: if has_sack { self.variant } else { Variant::NewReno },
            mss: self.mss.min(other.mss),
            timestamps: self.timestamps && other.timestamps,
            window_scaling: self.window_scaling && other.window_scaling,
            ecn: self.ecn && (other.ecn || self.handshake == Handshake::ThreeWay),
            peer: differs.then(|| Peer {
                receive_window: other.receive_window,
                longest_delay: other.delayed_ack.longest(),
            }),
            ..self.clone()
        }
    }

    /// Returns the other end's window in bytes, until it advertises another.
    #[inline]
    pub(crate) fn peer_window(&self) -> u64 {
        self.peer.map_or(self.receive_window, |peer| peer.receive_window)
    }

    /// Returns the longest delay of the other end's ACKs.
    pub(crate) fn peer_delay(&self) -> Duration {
        self.peer.map_or_else(|| self.delayed_ack.longest(), |peer| peer.longest_delay)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DelayedAck;

    fn full() -> Config {
        Config {
            variant: Variant::Rack,
            timestamps: true,
            window_scaling: true,
            ecn: true,
            ..Config::standard()
        }
    }

    #[test]
    fn ends_that_are_alike_stay_as_they_are() {
        assert_eq!(Config::meeting(full(), full()), [full(), full()]);
    }

    #[test]
    fn an_option_holds_if_both_ends_have_it() {
        let plain = Config { mss: 900, ..Config::standard() };
        for [one, other] in [[full(), plain.clone()], [plain, full()]] {
            for end in Config::meeting(one, other) {
                assert_eq!(end.variant, Variant::NewReno);
                assert_eq!((end.timestamps, end.window_scaling, end.mss), (false, false, 900));
                assert!(!end.ecn, "without a handshake it is agreed before");
            }
        }
    }

    #[test]
    fn a_sender_knows_the_window_and_the_delay_of_the_other_end() {
        let small = Config {
            receive_window: 3000,
            delayed_ack: DelayedAck::every(2, Duration::from_millis(40)),
            ..Config::standard()
        };
        let [large, small] = Config::meeting(Config::standard(), small);
        assert_eq!([large.receive_window, large.peer_window()], [64_000, 3000]);
        assert_eq!([small.receive_window, small.peer_window()], [3000, 64_000]);
        let [forty, hundred] = [40, 100].map(Duration::from_millis);
        assert_eq!([large.peer_delay(), small.peer_delay()], [forty, hundred]);
    }
}
