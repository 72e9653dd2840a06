//! The laws that hold at the end of every run, release builds included: packets do not vanish
//! and are not made up. Those of the MAC are its own.

/// What became of the packets of one flow.
// Packets and bytes apart: side by side the two would be added as a vector, which costs more than two
// additions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Books {
    pub(crate) packets: Tally,
    /// Of payload.
    pub(crate) bytes: Tally,
}

/// How many there were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) sent: u64,
    pub(crate) received: u64,
    pub(crate) dropped: u64,
    /// In a queue or on a wire when the run ended.
    pub(crate) waiting: u64,
}

impl Tally {
    fn balances(&self) -> bool {
        self.sent == self.received + self.dropped + self.waiting
    }
}

impl Books {
    /// A packet with so many bytes of payload is sent.
    #[inline]
    pub(crate) fn send(&mut self, bytes: u32) {
        self.packets.sent += 1;
        self.bytes.sent += u64::from(bytes);
    }

    /// One is received.
    #[inline]
    pub(crate) fn receive(&mut self, bytes: u32) {
        self.packets.received += 1;
        self.bytes.received += u64::from(bytes);
    }

    /// One is lost.
    pub(crate) fn drop(&mut self, bytes: u32) {
        self.packets.dropped += 1;
        self.bytes.dropped += u64::from(bytes);
    }

    /// One is on its way at the end.
    pub(crate) fn wait(&mut self, bytes: u32) {
        self.packets.waiting += 1;
        self.bytes.waiting += u64::from(bytes);
    }

    /// Packets sent of which nothing is known yet.
    pub(crate) fn under_way(&self) -> u64 {
        self.packets.sent - self.packets.received - self.packets.dropped
    }

    /// Everything sent was received or dropped, or still waits.
    pub(crate) fn balance(&self, flow: &str) -> Result<(), String> {
        if self.packets.balances() && self.bytes.balances() {
            Ok(())
        } else {
            Err(format!("what flow {flow} has sent was not found again: {self:?}"))
        }
    }
}

/// The SACK options that are kept are those of the packets that wait.
pub(crate) fn options_kept(kept: usize, waiting: usize) -> Result<(), String> {
    if kept == waiting {
        Ok(())
    } else {
        Err(format!("{kept} options of segments are kept for {waiting} packets"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_packet_unbalances_the_books() {
        let mut books = Books::default();
        for _ in 0..4 {
            books.send(1460);
        }
        books.receive(1460);
        books.receive(1460);
        books.drop(1460);
        assert_eq!(books.under_way(), 1);
        assert!(books.balance("laptop/0").unwrap_err().contains("laptop/0"));

        // As many packets, but not as much payload.
        let mut short = books;
        short.wait(1459);
        assert!(short.balance("laptop/0").is_err());
        books.wait(1460);
        assert_eq!(books.balance("laptop/0"), Ok(()));
    }

    #[test]
    fn an_option_that_nobody_waits_for_is_noticed() {
        assert!(options_kept(2, 2).is_ok());
        assert!(options_kept(3, 2).is_err());
    }
}
