//! Proportional rate reduction (RFC 9937): how much may be sent per ACK during a recovery. It
//! counts octets; it does not choose the segments.

/// Proportional rate reduction: RFC 9937 section 5.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Prr {
    /// RecoverFS: the bytes in flight when the recovery began.
    recover_fs: u64,
    /// prr_delivered.
    delivered: u64,
    /// prr_out.
    pub(super) out: u64,
}

impl Prr {
    /// Starts a recovery with `recover_fs` bytes in flight.
    pub(super) fn new(recover_fs: u64) -> Self {
        Self { recover_fs, ..Self::default() }
    }

    /// Returns how much may be sent after an ACK that delivers `delivered` bytes; `safe`: it
    /// advances SND.UNA and indicates no further loss. RFC 9937 section 5.
    pub(super) fn allowance(
        &mut self,
        delivered: u64,
        pipe: u64,
        ssthresh: u64,
        safe: bool,
        smss: u64,
    ) -> u64 {
        self.delivered += delivered;
        let allowed = if pipe > ssthresh {
            let share = u128::from(self.delivered) * u128::from(ssthresh);
            // At most `delivered`, because `ssthresh` is below RecoverFS.
            (share.div_ceil(u128::from(self.recover_fs.max(1))) as u64).saturating_sub(self.out)
        } else {
            let bound = self.delivered.saturating_sub(self.out).max(delivered);
            (bound + if safe { smss } else { 0 }).min(ssthresh - pipe)
        };
        // "Force a fast retransmit upon entering recovery".
        if self.out == 0 { allowed.max(smss) } else { allowed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn below_the_threshold_no_more_may_go_than_what_arrives_and_a_segment_nor_beyond_it() {
        // RFC 9937 section 5: pipe <= ssthresh; less has been sent than delivered.
        let mut prr = Prr { out: 1000, ..Prr::new(20_000) };
        assert_eq!(prr.allowance(2000, 3000, 9000, false, 1000), 2000);
        assert_eq!(prr.allowance(1000, 3000, 9000, true, 1000), 3000);
        // Only 1000 bytes are left to the threshold, although 5000 more were delivered.
        assert_eq!(prr.allowance(5000, 8000, 9000, true, 1000), 1000);
    }

    #[test]
    fn above_the_threshold_what_goes_is_in_proportion_to_what_arrives() {
        // Half of 20 segments: one sent per two delivered, minus what was already sent.
        let mut prr = Prr::new(20_000);
        prr.out = 1000;
        let allowed = [(); 4].map(|()| {
            let allowed = prr.allowance(1000, 15_000, 10_000, true, 1000);
            prr.out += allowed;
            allowed
        });
        assert_eq!(allowed, [0, 0, 500, 500]);
    }
}
