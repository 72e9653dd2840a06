//! Explicit congestion notification (RFC 3168) from one end: what it agrees to, what it echoes, and when it
//! hears an echo for the first time in a window.
//!
//! Knows bits of segments. What is left of the window is the [sender](crate::sender)'s question. Segments with new
//! data are ECT(0), nothing else is: RFC 8311 section 4.3 allows experiments with others, and there is none
//! here. An end whose SYN is lost does not give ECN up.

use crate::config::Handshake;
use crate::{Config, Counters, EcnCounters, Flags, Segment};

/// The state of ECN at one end.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ecn {
    /// Both ends have said that they know it.
    is_agreed: bool,
    /// The receiver owes an echo with every segment: it has seen CE, and no CWR since.
    echoes: bool,
    /// The sender owes CWR with the next new data.
    tells_reduction: bool,
    /// Losses that had reduced the window by then.
    losses: u32,
    pub(crate) counters: EcnCounters,
}

impl Ecn {
    pub(crate) fn new(config: &Config) -> Self {
        // Without a handshake, or with ns-2's, it was agreed before.
        Self { is_agreed: config.ecn && config.handshake != Handshake::ThreeWay, ..Self::default() }
    }

    /// Takes a SYN, or the answer to one: RFC 3168 section 6.1.1. An ECN-setup SYN has both bits, so that it
    /// is not what a host answers that sends the reserved bits back.
    pub(crate) fn on_syn(&mut self, config: &Config, flags: Flags) {
        let is_answer = flags.contains(Flags::ACK);
        let wanted = if is_answer { Flags::ECE } else { Flags::ECE | Flags::CWR };
        let is_reflected = is_answer && flags.contains(Flags::CWR);
        self.is_agreed = config.ecn && flags.contains(wanted) && !is_reflected;
    }

    /// Returns the bits of the own SYN, or of the answer.
    pub(crate) fn of_syn(&self, config: &Config, is_answer: bool) -> Flags {
        match is_answer {
            false if config.ecn => Flags::ECE | Flags::CWR,
            true if self.is_agreed => Flags::ECE,
            _ => Flags::NONE,
        }
    }

    /// Begins with the established connection. What became of SYNs is no loss of data.
    pub(crate) fn begin(&mut self, counters: &Counters) {
        self.losses = losses(counters);
    }

    /// Takes a segment of the established connection.
    pub(crate) fn on_segment(&mut self, flags: Flags) {
        if !self.is_agreed {
            return;
        }
        // Section 6.1.3: CWR ends the echo, and a mark on the same packet begins it anew.
        if flags.contains(Flags::CWR) {
            self.echoes = false;
        }
        if flags.contains(Flags::CE) {
            self.echoes = true;
            self.counters.marks += 1;
        }
    }

    /// Tells whether this acknowledgment has an echo.
    pub(crate) fn is_echo(&self, segment: &Segment) -> bool {
        self.is_agreed && segment.flags.contains(Flags::ACK | Flags::ECE)
    }

    /// Notes that a mark has reduced the window.
    pub(crate) fn on_reduction(&mut self) {
        self.counters.reductions += 1;
        self.tells_reduction = true;
    }

    /// Notes that what was lost since the last segment left has reduced the window, too: section 6.1.2, "for any reason".
    pub(crate) fn note_losses(&mut self, counters: &Counters) {
        let losses = losses(counters);
        if losses != self.losses {
            self.losses = losses;
            self.tells_reduction = self.is_agreed;
        }
    }

    /// Returns the bits of a segment of the established connection; `is_new`: with payload that was never sent.
    pub(crate) fn of_segment(&mut self, is_new: bool) -> Flags {
        let mut flags = Flags::NONE;
        if !self.is_agreed {
            return flags;
        }
        if self.echoes {
            flags = flags | Flags::ECE;
        }
        // Section 6.1.5: what is sent again is not ECT; section 6.1.4: nor is a bare ACK.
        if is_new {
            flags = flags | Flags::ECT;
            if std::mem::take(&mut self.tells_reduction) {
                flags = flags | Flags::CWR;
            }
        }
        flags
    }
}

/// Counts how often a loss has reduced the window.
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
            // The bits come back as they were sent: a host that knows nothing of them.
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
