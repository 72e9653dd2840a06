//! The conservation laws that every run checks at its end, also in release builds: packets neither
//! vanish nor appear from nowhere. The MAC checks its own laws.

/// Sent, received and dropped packets of one flow.
// Packets and bytes are separate. Next to each other the compiler would add them as a vector, which
// costs more than two additions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PacketBooks {
    pub(crate) packets: Tally,
    /// Payload bytes.
    pub(crate) bytes: Tally,
}

/// The number sent, received and dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) sent: u64,
    pub(crate) received: u64,
    pub(crate) dropped: u64,
}

impl Tally {
    fn balances(&self, waiting: u64) -> bool {
        self.sent == self.received + self.dropped + waiting
    }
}

/// The packets of one flow in queues or on links when the run ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Waiting {
    packets: u64,
    /// Payload bytes.
    bytes: u64,
}

impl Waiting {
    /// Adds one packet with `bytes` of payload.
    pub(crate) fn add(&mut self, bytes: u32) {
        self.packets += 1;
        self.bytes += u64::from(bytes);
    }
}

impl PacketBooks {
    /// Counts a sent packet with `bytes` of payload.
    #[inline]
    pub(crate) fn send(&mut self, bytes: u32) {
        self.packets.sent += 1;
        self.bytes.sent += u64::from(bytes);
    }

    /// Counts a received packet.
    #[inline]
    pub(crate) fn receive(&mut self, bytes: u32) {
        self.packets.received += 1;
        self.bytes.received += u64::from(bytes);
    }

    /// Counts a lost packet.
    pub(crate) fn drop(&mut self, bytes: u32) {
        self.packets.dropped += 1;
        self.bytes.dropped += u64::from(bytes);
    }

    /// Returns the number of packets sent and neither received nor lost.
    pub(crate) fn under_way(&self) -> u64 {
        self.packets.sent - self.packets.received - self.packets.dropped
    }

    /// Checks that all packets sent were received or dropped, or still wait.
    pub(crate) fn balance(&self, waiting: Waiting, flow: &str) -> Result<(), String> {
        if self.packets.balances(waiting.packets) && self.bytes.balances(waiting.bytes) {
            Ok(())
        } else {
            Err(format!("what flow {flow} has sent was not found again: {self:?}, {waiting:?}"))
        }
    }
}

/// Checks that the stored SACK options are those of the waiting packets.
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
        let mut books = PacketBooks::default();
        for _ in 0..4 {
            books.send(1460);
        }
        books.receive(1460);
        books.receive(1460);
        books.drop(1460);
        assert_eq!(books.under_way(), 1);
        let none = Waiting::default();
        assert!(books.balance(none, "laptop/0").unwrap_err().contains("laptop/0"));

        // The number of packets is right, but not the payload.
        let waiting = |bytes| {
            let mut waiting = Waiting::default();
            waiting.add(bytes);
            waiting
        };
        assert!(books.balance(waiting(1459), "laptop/0").is_err());
        assert_eq!(books.balance(waiting(1460), "laptop/0"), Ok(()));
    }

    #[test]
    fn an_option_that_nobody_waits_for_is_noticed() {
        assert!(options_kept(2, 2).is_ok());
        assert!(options_kept(3, 2).is_err());
    }
}
