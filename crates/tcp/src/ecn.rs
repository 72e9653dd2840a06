//! Explicit congestion notification (RFC 3168) at one end: negotiation, ECN-Echo, and the first
//! echo per window.
//!
//! The [sender](crate::sender) reduces the window. Only segments with new data are ECT(0): RFC 8311
//! section 4.3 allows experiments with others, but none is implemented. An end whose SYN is lost
//! does not give up ECN.

use crate::config::Handshake;
use crate::{Config, Counters, EcnCounters, Flags, Segment};

/// The state of ECN at one end.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ecn {
    /// Whether both ends support ECN.
    is_agreed: bool,
    /// Whether the receiver must set ECE on every segment: it has received CE and no CWR since.
    echoes: bool,
    /// Whether the sender must set CWR on the next new data.
    tells_reduction: bool,
    /// Window reductions by losses so far.
    losses: u32,
    pub(crate) counters: EcnCounters,
}

impl Ecn {
    pub(crate) fn new(config: &Config) -> Self {
        // Without a handshake, or with that of ns-2, ECN counts as negotiated.
        Self { is_agreed: config.ecn && config.handshake != Handshake::ThreeWay, ..Self::default() }
    }

    /// Processes a SYN or SYN+ACK: RFC 3168 section 6.1.1. An ECN-setup SYN has both bits, and a
    /// response has one, so that a host that reflects reserved bits is not mistaken for one with
    /// ECN.
    pub(crate) fn on_syn(&mut self, config: &Config, flags: Flags) {
        let is_answer = flags.contains(Flags::ACK);
        let wanted = if is_answer { Flags::ECE } else { Flags::ECE | Flags::CWR };
        let is_reflected = is_answer && flags.contains(Flags::CWR);
        self.is_agreed = config.ecn && flags.contains(wanted) && !is_reflected;
    }

    /// Returns the ECN bits of our own SYN or SYN+ACK.
    pub(crate) fn of_syn(&self, config: &Config, is_answer: bool) -> Flags {
        match is_answer {
            false if config.ecn => Flags::ECE | Flags::CWR,
            true if self.is_agreed => Flags::ECE,
            _ => Flags::NONE,
        }
    }

    /// Starts with the established connection. Lost SYNs are not losses of data.
    pub(crate) fn begin(&mut self, counters: &Counters) {
        self.losses = losses(counters);
    }

    /// Processes a segment of the established connection.
    pub(crate) fn on_segment(&mut self, flags: Flags) {
        if !self.is_agreed {
            return;
        }
        // Section 6.1.3: CWR ends the echo, and a CE mark on the same packet starts it again.
        if flags.contains(Flags::CWR) {
            self.echoes = false;
        }
        if flags.contains(Flags::CE) {
            self.echoes = true;
            self.counters.marks += 1;
        }
    }

    /// Whether this ACK has an ECN-Echo.
    pub(crate) fn is_echo(&self, segment: &Segment) -> bool {
        self.is_agreed && segment.flags.contains(Flags::ACK | Flags::ECE)
    }

    /// Records that an ECN-Echo has reduced the window.
    pub(crate) fn on_reduction(&mut self) {
        self.counters.reductions += 1;
        self.tells_reduction = true;
    }

    /// Records that losses since the last segment sent have also reduced the window: section 6.1.2,
    /// "for any reason".
    pub(crate) fn note_losses(&mut self, counters: &Counters) {
        let losses = losses(counters);
        if losses != self.losses {
            self.losses = losses;
            self.tells_reduction = self.is_agreed;
        }
    }

    /// Returns the ECN bits of a segment of the established connection; `is_new`: it has payload
    /// that was never sent.
    pub(crate) fn of_segment(&mut self, is_new: bool) -> Flags {
        let mut flags = Flags::NONE;
        if !self.is_agreed {
            return flags;
        }
        if self.echoes {
            flags = flags | Flags::ECE;
        }
        // Retransmissions (section 6.1.5) and bare ACKs (section 6.1.4) are not ECT.
        if is_new {
            flags = flags | Flags::ECT;
            if std::mem::take(&mut self.tells_reduction) {
                flags = flags | Flags::CWR;
            }
        }
        flags
    }
}

/// Returns how often losses have reduced the window.
fn losses(counters: &Counters) -> u32 {
    counters.fast_retransmits + counters.timeouts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn knows() -> Config {
        Config { ecn: true, handshake: Handshake::ThreeWay, ..Config::standard() }
    }

    #[test]
    fn both_ends_must_know_it() {
        let config = knows();
        let ignorant = Config { ecn: false, ..config.clone() };
        let syn = Flags::SYN | Flags::ECE | Flags::CWR;
        let answer = Flags::SYN | Flags::ACK | Flags::ECE;
        for (config, flags, agreed) in [
            (&config, syn, true),
            (&config, Flags::SYN, false),
            (&config, Flags::SYN | Flags::ECE, false),
            (&ignorant, syn, false),
            (&config, answer, true),
            (&config, Flags::SYN | Flags::ACK, false),
            // A host without ECN that reflects the bits.
            (&config, answer | Flags::CWR, false),
        ] {
            let mut ecn = Ecn::new(config);
            ecn.on_syn(config, flags);
            assert_eq!(ecn.is_agreed, agreed, "{flags:?}");
            let is_ect = ecn.of_segment(true).contains(Flags::ECT);
            assert_eq!(is_ect, agreed);
        }
    }

    #[test]
    fn an_echo_lasts_until_cwr_and_a_mark_on_that_begins_another() {
        let mut ecn = Ecn { is_agreed: true, ..Ecn::default() };
        assert!(!ecn.of_segment(false).contains(Flags::ECE));
        ecn.on_segment(Flags::ACK | Flags::ECT | Flags::CE);
        for _ in 0..3 {
            ecn.on_segment(Flags::ACK | Flags::ECT);
            assert!(ecn.of_segment(false).contains(Flags::ECE));
        }
        ecn.on_segment(Flags::ACK | Flags::CWR | Flags::ECT | Flags::CE);
        assert!(ecn.of_segment(false).contains(Flags::ECE));
        ecn.on_segment(Flags::ACK | Flags::CWR | Flags::ECT);
        assert!(!ecn.of_segment(false).contains(Flags::ECE));
        assert_eq!(ecn.counters.marks, 2);
    }
}
