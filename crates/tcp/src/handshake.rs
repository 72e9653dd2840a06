//! The handshake at one end: RFC 9293 section 3.5, and the shorter variants of other simulators.

use crate::{Config, Flags, Handshake, Opening, Segment};

/// The states of RFC 9293 section 3.3.2, without those of closing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Waits for a SYN.
    Listen,
    /// Our SYN was sent, or is due.
    SynSent(Syn),
    /// The peer's SYN arrived, and our SYN+ACK was sent, or is due.
    SynReceived(Syn),
    /// Established.
    Established,
    /// Established, with timestamps on each segment and nothing else that needs the slow path.
    Stamped,
    /// Established, with timestamps or ECN bits on each segment.
    Marked,
}

/// Our SYN, until it is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Syn {
    /// Whether it must be sent now, for the first time or again.
    due: bool,
    transmissions: u32,
    timeouts: u32,
}

/// What a segment does to a connection that is not yet established.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Nothing: the segment is irrelevant here.
    Ignore,
    /// A change of state; then poll for segments.
    Become(State),
    /// The connection is established. `acknowledge`: the other end waits for an ACK. The segment
    /// may carry data.
    Establish { acknowledge: bool },
}

impl State {
    pub(crate) fn new(config: &Config, opening: Opening) -> Self {
        match (config.handshake, opening) {
            (Handshake::None, _) | (_, Opening::Established) => Self::established(config),
            (_, Opening::Active) => Self::SynSent(Syn::NEW),
            (_, Opening::Passive) => Self::Listen,
        }
    }

    /// Returns the established state for this configuration.
    pub(crate) fn established(config: &Config) -> Self {
        match config.has_marks() {
            false => Self::Established,
            true if config.has_stamps_alone() => Self::Stamped,
            true => Self::Marked,
        }
    }

    /// Whether the connection is established and its segments have marks.
    #[inline]
    pub(crate) fn is_marked(self) -> bool {
        matches!(self, Self::Stamped | Self::Marked)
    }

    /// Returns our SYN if it has not been acknowledged.
    pub(crate) fn syn_mut(&mut self) -> Option<&mut Syn> {
        match self {
            Self::SynSent(syn) | Self::SynReceived(syn) => Some(syn),
            Self::Listen | Self::Established | Self::Stamped | Self::Marked => None,
        }
    }

    /// Returns what `segment` does before the connection is established.
    pub(crate) fn on_segment(self, config: &Config, segment: &Segment) -> Answer {
        let syn = segment.flags.contains(Flags::SYN);
        let ack = segment.flags.contains(Flags::ACK);
        match self {
            Self::Listen if !syn || ack => Answer::Ignore,
            Self::Listen if config.handshake == Handshake::TwoWay => {
                Answer::Establish { acknowledge: true }
            }
            Self::Listen => Answer::Become(Self::SynReceived(Syn::NEW)),
            Self::SynSent(_) if !ack => Answer::Ignore,
            Self::SynSent(_) if syn => Answer::Establish { acknowledge: true },
            // In the two-way handshake a bare ACK answers the SYN, or data that overtook the ACK.
            Self::SynSent(_) if config.handshake == Handshake::TwoWay => {
                Answer::Establish { acknowledge: false }
            }
            Self::SynSent(_) => Answer::Ignore,
            // The SYN again: our SYN+ACK is lost or late. RFC 9293 section 3.10.7.4 asks for an
            // ACK, but then the other end would have to wait for this end's timer. Like most
            // stacks, repeat the SYN+ACK.
            Self::SynReceived(sent) if syn => {
                Answer::Become(Self::SynReceived(Syn { due: true, ..sent }))
            }
            Self::SynReceived(_) if ack => Answer::Establish { acknowledge: false },
            Self::SynReceived(_) | Self::Established | Self::Stamped | Self::Marked => {
                Answer::Ignore
            }
        }
    }
}

impl Syn {
    const NEW: Self = Self { due: true, transmissions: 0, timeouts: 0 };

    pub(crate) fn is_due(&self) -> bool {
        self.due
    }

    /// Whether it was sent more than once, so that a copy or a response may have been lost.
    pub(crate) fn was_repeated(&self) -> bool {
        self.transmissions > 1
    }

    /// Whether the retransmission timer has expired.
    pub(crate) fn has_timed_out(&self) -> bool {
        self.timeouts > 0
    }

    pub(crate) fn on_sent(&mut self) {
        self.due = false;
        self.transmissions += 1;
    }

    /// Records an expiry of the retransmission timer.
    pub(crate) fn on_timeout(&mut self) {
        self.due = true;
        self.timeouts += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SYN: Segment = Segment { seq: 0, ack: 0, len: 0, flags: Flags::SYN };
    const ACK: Segment = Segment { seq: 1, ack: 1, len: 0, flags: Flags::ACK };

    fn syn_ack() -> Segment {
        Segment { flags: Flags::SYN | Flags::ACK, ..SYN }
    }

    fn config(handshake: Handshake) -> Config {
        Config { handshake, ..Config::standard() }
    }

    #[test]
    fn the_three_way_passive_end_is_established_by_the_third_segment() {
        let config = config(Handshake::ThreeWay);
        let listen = State::new(&config, Opening::Passive);
        let Answer::Become(received) = listen.on_segment(&config, &SYN) else {
            panic!("a SYN leaves LISTEN")
        };

        assert_eq!(received, State::SynReceived(Syn::NEW));
        assert_eq!(received.on_segment(&config, &ACK), Answer::Establish { acknowledge: false });
    }

    #[test]
    fn only_a_syn_with_ack_answers_the_three_way_syn() {
        let config = config(Handshake::ThreeWay);
        let sent = State::new(&config, Opening::Active);

        assert_eq!(sent.on_segment(&config, &ACK), Answer::Ignore);
        assert_eq!(sent.on_segment(&config, &SYN), Answer::Ignore);
        assert_eq!(sent.on_segment(&config, &syn_ack()), Answer::Establish { acknowledge: true });
    }

    #[test]
    fn a_repeated_syn_repeats_the_answer() {
        let config = config(Handshake::ThreeWay);
        let mut sent = Syn::NEW;
        sent.on_sent();

        let answer = State::SynReceived(sent).on_segment(&config, &SYN);

        assert_eq!(answer, Answer::Become(State::SynReceived(Syn { due: true, ..sent })));
    }

    #[test]
    fn a_listener_takes_nothing_but_a_syn() {
        let config = config(Handshake::TwoWay);

        assert_eq!(State::Listen.on_segment(&config, &ACK), Answer::Ignore);
        assert_eq!(State::Listen.on_segment(&config, &syn_ack()), Answer::Ignore);
        assert_eq!(
            State::Listen.on_segment(&config, &SYN),
            Answer::Establish { acknowledge: true }
        );
    }

    #[test]
    fn a_syn_is_due_first_and_after_each_timeout() {
        let mut syn = Syn::NEW;

        assert!(syn.is_due());
        syn.on_sent();
        assert!(!syn.is_due() && !syn.was_repeated() && !syn.has_timed_out());
        syn.on_timeout();
        assert!(syn.is_due() && syn.has_timed_out());
        syn.on_sent();
        assert!(!syn.is_due() && syn.was_repeated());
    }
}
