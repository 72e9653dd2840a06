//! The number of acknowledgments left out where the MAC's experience decides: Gopal, Paul and Raychaudhuri 2004,
//! section V.
//!
//! Each frame of the station that gets no answer asks for one more, so many answered ones in a row for one fewer. But
//! the other end's window must not wait for an acknowledgment that does not come: the receiver counts those it has
//! sent since it last saw a sign of a loss, and infers from them what the window has grown to at least. Knows
//! neither the MAC nor that window.

use crate::AdaptiveSkip;

/// The memory of the MAC's experience and of its acknowledgments.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Skipping {
    /// The number that the MAC's experience asks for.
    wanted: u32,
    /// Frames answered in a row.
    answered: u32,
    /// Acknowledgments of new data since something was missing.
    acks: u64,
}

impl Skipping {
    /// Takes word that a frame was answered, or was not; no more than `most` are asked for.
    pub(super) fn on_frame(&mut self, most: u32, adaptive: AdaptiveSkip, is_answered: bool) {
        if !is_answered {
            self.answered = 0;
            self.wanted = (self.wanted + 1).min(most);
            return;
        }
        self.answered += 1;
        if self.answered >= adaptive.calm {
            self.answered = 0;
            self.wanted = self.wanted.saturating_sub(1);
        }
    }

    pub(super) fn on_ack_sent(&mut self, is_of_new_data: bool) {
        self.acks += u64::from(is_of_new_data);
    }

    /// Notes that something is missing, or has come twice: the window is small, or will be.
    pub(super) fn on_loss(&mut self) {
        self.acks = 0;
    }

    /// Returns how many are left out now.
    pub(super) fn skips(&self, adaptive: AdaptiveSkip) -> u32 {
        let each = self.least_window() / u64::from(adaptive.acks_per_window);
        self.wanted.min(u32::try_from(each.saturating_sub(1)).unwrap_or(u32::MAX))
    }

    /// Counts the segments that the other end's window holds at least. From one segment on each acknowledgment adds
    /// a segment divided by the window in congestion avoidance, RFC 5681 (3), and more in slow start: after n of
    /// them w^2 >= 1 + 2 n.
    fn least_window(&self) -> u64 {
        (1 + 2 * self.acks).isqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADAPTIVE: AdaptiveSkip = AdaptiveSkip { calm: 3, acks_per_window: 2 };

    fn after(acks: u64, frames: &[bool]) -> Skipping {
        let mut skipping = Skipping { acks, ..Skipping::default() };
        for is_answered in frames {
            skipping.on_frame(4, ADAPTIVE, *is_answered);
        }
        skipping
    }

    #[test]
    fn each_unanswered_frame_asks_for_one_more_and_a_calm_for_one_fewer() {
        let wanted = |frames: &[bool]| after(0, frames).wanted;
        assert_eq!(wanted(&[false, true, true, false]), 2);
        assert_eq!(wanted(&[false, true, true, true]), 0);
        assert_eq!(wanted(&[false, false, true, true, true, true, true]), 1);
        assert_eq!(wanted(&[false; 9]), 4);
        assert_eq!(wanted(&[true; 9]), 0);
    }

    #[test]
    fn a_window_that_may_be_small_gets_its_acknowledgments() {
        let skips = |acks| after(acks, &[false; 4]).skips(ADAPTIVE);
        // Windows of 1, 3, 4, 6, 8 and 10 segments hold so many pairs: w^2 = 1 + 2 n.
        let windows = [0, 4, 8, 18, 32, 50];
        assert_eq!(windows.map(skips), [0, 0, 1, 2, 3, 4]);
        // One less, and the window may be a segment smaller.
        assert_eq!([7, 17, 31, 49].map(skips), [0, 1, 2, 3]);
    }

    #[test]
    fn after_a_loss_nothing_is_left_out() {
        let mut skipping = after(1000, &[false; 4]);
        assert_eq!(skipping.skips(ADAPTIVE), 4);
        skipping.on_loss();
        skipping.on_ack_sent(false);
        assert_eq!((skipping.skips(ADAPTIVE), skipping.acks), (0, 0));
    }
}
