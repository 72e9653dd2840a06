//! The laws that hold at the end of every run, release builds included: packets do not vanish
//! and are not made up. Those of the MAC are its own.

/// What became of the packets of one flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Books {
    pub(crate) sent: Tally,
    pub(crate) received: Tally,
    pub(crate) dropped: Tally,
    /// In a queue or on a wire when the run ended.
    pub(crate) waiting: Tally,
}

/// A number of packets and the bytes of payload in them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
}

impl Tally {
    #[inline]
    pub(crate) fn add(&mut self, bytes: u32) {
        self.packets += 1;
        self.bytes += u64::from(bytes);
    }
}

impl std::ops::Add for Tally {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { packets: self.packets + other.packets, bytes: self.bytes + other.bytes }
    }
}

impl Books {
    /// Packets sent of which nothing is known yet.
    pub(crate) fn under_way(&self) -> u64 {
        self.sent.packets - self.received.packets - self.dropped.packets
    }

    /// Everything sent was received or dropped, or still waits.
    pub(crate) fn balance(&self, flow: &str) -> Result<(), String> {
        let found = self.received + self.dropped + self.waiting;
        if self.sent == found {
            Ok(())
        } else {
            Err(format!("flow {flow} sent {:?}, of which {found:?} were found again", self.sent))
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
        let tally = |packets| Tally { packets, bytes: packets * 1460 };
        let mut books =
            Books { sent: tally(10), received: tally(7), dropped: tally(1), waiting: tally(2) };
        assert_eq!(books.balance("laptop/0"), Ok(()));

        books.waiting = tally(1);
        assert!(books.balance("laptop/0").unwrap_err().contains("laptop/0"));
    }

    #[test]
    fn an_option_that_nobody_waits_for_is_noticed() {
        assert!(options_kept(2, 2).is_ok());
        assert!(options_kept(3, 2).is_err());
    }
}
