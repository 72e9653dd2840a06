//! The receiving half: what is delivered in order, and when an acknowledgment is owed.
//!
//! Knows the data that arrives and RFC 5681 section 4.2. Does not know what the endpoint sends: it
//! is told when an acknowledgment has left, on its own or with data.

use airtcp_kernel::Time;

use crate::Config;
use crate::reassembly::Reassembly;

/// The number of the first byte of data: the SYN, sent or imagined, has number 0.
pub(crate) const FIRST_BYTE: u64 = 1;

/// The receiving half of an endpoint.
#[derive(Clone, Debug)]
pub(crate) struct Receiver {
    /// RCV.NXT: everything before it is delivered.
    rcv_nxt: u64,
    /// The acknowledgment number last sent; `rcv_nxt - acknowledged` bytes are not acknowledged.
    acknowledged: u64,
    ack_owed: AckOwed,
    ahead: Reassembly,
}

/// Which acknowledgment the other end must get, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AckOwed {
    /// I.e. all that arrived is acknowledged.
    None,
    /// Data arrived in order; with the next segment, at the latest at this time.
    Until(Time),
    /// At once, alone or with data.
    Now,
    /// At once and without data, for only then does the sender count it as a duplicate ACK
    /// (RFC 5681 section 2).
    Bare,
}

impl Receiver {
    pub(crate) fn new() -> Self {
        Self {
            rcv_nxt: FIRST_BYTE,
            acknowledged: FIRST_BYTE,
            ack_owed: AckOwed::None,
            ahead: Reassembly::default(),
        }
    }

    /// RCV.NXT.
    #[inline]
    pub(crate) fn rcv_nxt(&self) -> u64 {
        self.rcv_nxt
    }

    /// Payload bytes given to the application, which reads at once.
    #[inline]
    pub(crate) fn delivered(&self) -> u64 {
        self.rcv_nxt - FIRST_BYTE
    }

    #[inline]
    pub(crate) fn ack_owed(&self) -> AckOwed {
        self.ack_owed
    }

    /// When [`Self::on_timer`] has something to do.
    #[inline]
    pub(crate) fn deadline(&self) -> Time {
        match self.ack_owed {
            AckOwed::Until(deadline) => deadline,
            AckOwed::None | AckOwed::Now | AckOwed::Bare => Time::NEVER,
        }
    }

    /// Payload with the numbers `start .. end` arrived.
    #[inline]
    pub(crate) fn on_data(&mut self, config: &Config, now: Time, start: u64, end: u64) {
        if start == self.rcv_nxt && self.ahead.is_empty() {
            self.rcv_nxt = end;
            self.delay_ack(config, now);
        } else {
            self.on_disorder(config, start, end);
        }
    }

    /// The other end must hear from this one: a SYN was accepted.
    pub(crate) fn owe_ack(&mut self) {
        self.ack_owed = AckOwed::Now;
    }

    /// The other end sent what it need not have sent: RFC 9293 section 3.10.7.4, "If an incoming
    /// segment is not acceptable, an acknowledgment should be sent in reply".
    pub(crate) fn owe_bare_ack(&mut self) {
        self.ack_owed = AckOwed::Bare;
    }

    /// A segment with the current acknowledgment number is on its way.
    #[inline]
    pub(crate) fn on_ack_sent(&mut self) {
        self.acknowledged = self.rcv_nxt;
        self.ack_owed = AckOwed::None;
    }

    /// Harmless when nothing is due.
    pub(crate) fn on_timer(&mut self, now: Time) {
        if self.deadline() <= now {
            self.ack_owed = AckOwed::Now;
        }
    }

    /// RFC 5681 section 4.2 and RFC 1122 section 4.2.3.2: an ACK for every so many full-sized
    /// segments, and within a bounded time of the first unacknowledged one.
    #[inline]
    fn delay_ack(&mut self, config: &Config, now: Time) {
        let delayed_ack = config.delayed_ack;
        let enough = u64::from(delayed_ack.every) * u64::from(config.mss);
        if delayed_ack.every <= 1 || self.rcv_nxt - self.acknowledged >= enough {
            self.ack_owed = AckOwed::Now;
        } else if self.ack_owed == AckOwed::None {
            self.ack_owed = AckOwed::Until(now + delayed_ack.timeout);
        }
    }

    #[cold]
    fn on_disorder(&mut self, config: &Config, start: u64, end: u64) {
        if start > self.rcv_nxt {
            // RFC 5681 section 4.2: "A TCP receiver SHOULD send an immediate duplicate ACK when an
            // out-of-order segment arrives." RFC 9293 section 3.4: what lies beyond the window
            // is not accepted.
            self.ahead.insert(start, end.min(self.rcv_nxt + config.receive_window));
            self.ack_owed = AckOwed::Bare;
        } else if end <= self.rcv_nxt {
            self.ack_owed = AckOwed::Bare;
        } else {
            // RFC 5681 section 4.2: "immediate ACK when it receives a data segment that fills in
            // all or part of a gap in the sequence space"; so also for partly old data.
            self.rcv_nxt = self.ahead.advance(end);
            self.ack_owed = AckOwed::Now;
        }
    }
}

#[cfg(test)]
mod tests {
    use airtcp_kernel::Duration;

    use super::*;
    use crate::config::{DelayedAck, example};

    const T: Time = Time::from_nanos(1_000_000_000);
    /// `T` and the timeout of 100 ms.
    const T_AND_TIMEOUT: Time = Time::from_nanos(1_100_000_000);

    fn every(every: u32) -> Config {
        Config {
            delayed_ack: DelayedAck { every, timeout: Duration::from_millis(100) },
            ..example()
        }
    }

    #[test]
    fn each_segment_is_acknowledged_at_once_with_every_1() {
        let mut receiver = Receiver::new();

        receiver.on_data(&every(1), T, 1, 11);

        assert_eq!(receiver.ack_owed(), AckOwed::Now);
        assert_eq!(receiver.delivered(), 10);
    }

    #[test]
    fn every_second_full_segment_is_acknowledged_at_once() {
        let config = every(2);
        let mut receiver = Receiver::new();

        receiver.on_data(&config, T, 1, 1001);
        assert_eq!(receiver.ack_owed(), AckOwed::Until(T_AND_TIMEOUT));

        receiver.on_data(&config, T, 1001, 2001);
        assert_eq!(receiver.ack_owed(), AckOwed::Now);
        assert_eq!(receiver.deadline(), Time::NEVER);

        receiver.on_ack_sent();
        receiver.on_data(&config, T, 2001, 3001);
        assert_eq!(receiver.ack_owed(), AckOwed::Until(T_AND_TIMEOUT));
    }

    #[test]
    fn the_timer_runs_from_the_first_unacknowledged_segment() {
        let config = every(3);
        let mut receiver = Receiver::new();

        receiver.on_data(&config, T, 1, 1001);
        receiver.on_data(&config, T + Duration::from_millis(60), 1001, 2001);
        assert_eq!(receiver.deadline(), T_AND_TIMEOUT);

        receiver.on_timer(T + Duration::from_millis(99));
        assert_eq!(receiver.deadline(), T_AND_TIMEOUT);
        receiver.on_timer(T_AND_TIMEOUT);
        assert_eq!(receiver.ack_owed(), AckOwed::Now);
    }

    #[test]
    fn a_gap_gives_duplicate_acks_and_filling_any_part_an_ack_at_once() {
        let config = every(2);
        let mut receiver = Receiver::new();

        receiver.on_data(&config, T, 2001, 3001);
        assert_eq!((receiver.ack_owed(), receiver.rcv_nxt()), (AckOwed::Bare, 1));
        receiver.on_ack_sent();

        // Only the first half of the gap: data stays ahead, and the ACK is not delayed.
        receiver.on_data(&config, T, 1, 1001);
        assert_eq!((receiver.ack_owed(), receiver.rcv_nxt()), (AckOwed::Now, 1001));
        receiver.on_ack_sent();

        receiver.on_data(&config, T, 1001, 2001);
        assert_eq!((receiver.ack_owed(), receiver.rcv_nxt()), (AckOwed::Now, 3001));
    }

    #[test]
    fn old_data_is_acknowledged_at_once_and_delivered_once() {
        let config = every(2);
        let mut receiver = Receiver::new();
        receiver.on_data(&config, T, 1, 1001);
        receiver.on_ack_sent();

        receiver.on_data(&config, T, 1, 1001);
        assert_eq!((receiver.ack_owed(), receiver.delivered()), (AckOwed::Bare, 1000));
        receiver.on_ack_sent();

        receiver.on_data(&config, T, 501, 1501);
        assert_eq!((receiver.ack_owed(), receiver.delivered()), (AckOwed::Now, 1500));
    }

    #[test]
    fn what_lies_beyond_the_window_is_not_held() {
        let config = Config { receive_window: 2500, ..every(1) };
        let mut receiver = Receiver::new();

        receiver.on_data(&config, T, 1001, 2001);
        receiver.on_data(&config, T, 2001, 3001);
        receiver.on_data(&config, T, 3001, 4001);
        receiver.on_data(&config, T, 1, 1001);

        assert_eq!(receiver.delivered(), 2500);
    }
}
