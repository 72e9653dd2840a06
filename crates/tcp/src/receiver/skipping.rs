//! How many ACKs to omit, adapted to the MAC's experience: Gopal, Paul and Raychaudhuri 2004,
//! section V.
//!
//! Each frame of the station without a response raises the number by one; a run of frames with
//! responses lowers it by one. The other end's window must not stall on an omitted ACK. The
//! receiver therefore counts the ACKs it has sent since the last sign of a loss and derives a lower
//! bound for that window.

use crate::AdaptiveSkip;

/// State from the MAC's frames and our ACKs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Skipping {
    /// The number requested by the MAC's experience.
    wanted: u32,
    /// Consecutive frames with a response.
    answered: u32,
    /// ACKs of new data since the last sign of a loss.
    acks: u64,
}

impl Skipping {
    /// Processes whether a frame got a response; the number is at most `most`.
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

    /// Records a gap or a duplicate segment: the window is small, or will be.
    pub(super) fn on_loss(&mut self) {
        self.acks = 0;
    }

    /// Returns how many ACKs are omitted now.
    pub(super) fn skips(&self, adaptive: AdaptiveSkip) -> u32 {
        let each = self.least_window() / u64::from(adaptive.acks_per_window);
        self.wanted.min(u32::try_from(each.saturating_sub(1)).unwrap_or(u32::MAX))
    }

    /// Returns a lower bound for the other end's window in segments. Starting from one segment,
    /// each ACK adds a segment divided by the window in congestion avoidance, RFC 5681 (3), and
    /// more in slow start. After n ACKs w^2 >= 1 + 2 n.
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
        // Pairs in windows of 1, 3, 4, 6, 8 and 10 segments: w^2 = 1 + 2 n.
        let windows = [0, 4, 8, 18, 32, 50];
        assert_eq!(windows.map(skips), [0, 0, 1, 2, 3, 4]);
        // With one ACK less the window may be a segment smaller.
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
