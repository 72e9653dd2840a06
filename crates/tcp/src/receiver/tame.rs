//! TACK, tame acknowledgments: Li et al., SIGCOMM 2020.
//!
//! An ACK is sent when `every` full-sized segments are unacknowledged and a `beta`-th of the
//! minimum RTT has passed since the last one. On a path with a small bandwidth-delay product the
//! count decides, otherwise the time. Signs of loss are acknowledged at once (the paper's IACK);
//! the receiver does that. In the paper the sender tells the receiver its minimum RTT, and the
//! receiver reports losses and rates, in options of their own. Here the receiver measures the RTT
//! in the handshake (and from timestamps, if there are any), and the sender is the one configured.

use airtcp_kernel::{Duration, Time};

use super::AckOwed;
use crate::Config;
use crate::config::Tack;

/// State of the TACK policy.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tame {
    /// When the last ACK was sent.
    last: Time,
    /// The minimum RTT; `None`: not measured, so only the count decides.
    least_rtt: Option<Duration>,
}

impl Tame {
    pub(super) fn on_ack_sent(&mut self, now: Time) {
        self.last = now;
    }

    pub(super) fn on_round_trip(&mut self, rtt: Duration) {
        self.least_rtt = Some(self.least_rtt.map_or(rtt, |least| least.min(rtt)));
    }

    /// Processes a segment in order, with `pending` unacknowledged bytes. Returns the new state of
    /// `owed`.
    pub(super) fn on_data(
        &self,
        config: &Config,
        tack: Tack,
        now: Time,
        pending: u64,
        owed: AckOwed,
    ) -> AckOwed {
        let tail = match owed {
            AckOwed::Now | AckOwed::Bare => return owed,
            AckOwed::Until(due) => due,
            AckOwed::None => now + config.delayed_ack.timeout,
        };
        if pending < u64::from(tack.every) * u64::from(config.mss) {
            return AckOwed::Until(tail);
        }
        let rtt = self.least_rtt.unwrap_or(Duration::ZERO).as_nanos();
        let due = self.last + Duration::from_nanos(rtt / u64::from(tack.beta));
        if due <= now { AckOwed::Now } else { AckOwed::Until(due.min(tail)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::DelayedAck;

    const fn at(millis: u64) -> Time {
        Time::from_nanos(1_000_000_000 + millis * 1_000_000)
    }

    const TACK: Tack = Tack { every: 2, beta: 4 };

    fn config() -> Config {
        let delayed_ack = DelayedAck::every(1, Duration::from_millis(200));
        Config { tack: Some(TACK), delayed_ack, ..Config::standard() }
    }

    /// Returns a policy with a minimum RTT of 40 ms and an ACK at 0 ms.
    fn tame() -> Tame {
        let mut tame = Tame::default();
        tame.on_round_trip(Duration::from_millis(60));
        tame.on_round_trip(Duration::from_millis(40));
        tame.on_round_trip(Duration::from_millis(50));
        tame.on_ack_sent(at(0));
        tame
    }

    #[test]
    fn two_segments_are_acknowledged_a_fourth_of_a_round_trip_after_the_last_ack() {
        let (config, tame) = (config(), tame());
        let first = tame.on_data(&config, TACK, at(1), 1000, AckOwed::None);
        assert_eq!(first, AckOwed::Until(at(201)));
        assert_eq!(tame.on_data(&config, TACK, at(2), 2000, first), AckOwed::Until(at(10)));
        // The same ACK covers segments that arrive in the meantime.
        let due = AckOwed::Until(at(10));
        assert_eq!(tame.on_data(&config, TACK, at(9), 9000, due), due);
    }

    #[test]
    fn where_segments_are_rare_every_second_is_acknowledged_at_once() {
        let (config, tame) = (config(), tame());
        let first = tame.on_data(&config, TACK, at(8), 1000, AckOwed::None);
        assert_eq!(tame.on_data(&config, TACK, at(16), 2000, first), AckOwed::Now);
    }

    #[test]
    fn a_tail_waits_for_the_timer_of_delayed_acks_and_no_longer() {
        let (config, mut tame) = (config(), tame());
        tame.least_rtt = Some(Duration::from_secs(2));
        let first = tame.on_data(&config, TACK, at(1), 1000, AckOwed::None);
        assert_eq!(tame.on_data(&config, TACK, at(2), 2000, first), AckOwed::Until(at(201)));
    }

    #[test]
    fn without_a_round_trip_the_count_decides_alone() {
        let (config, tame) = (config(), Tame::default());
        assert_eq!(tame.on_data(&config, TACK, at(1), 2000, AckOwed::None), AckOwed::Now);
    }
}
