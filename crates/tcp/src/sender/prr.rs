//! Proportional rate reduction (RFC 9937): how much may be sent for an acknowledgment while losses are
//! repaired. Knows octets, not which segments were lost.

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
    /// Begins a recovery with `recover_fs` bytes in flight.
    pub(super) fn new(recover_fs: u64) -> Self {
        Self { recover_fs, ..Self::default() }
    }

    /// Returns how much may be sent for an acknowledgment that delivers `delivered` bytes; `safe`: it
    /// advances and tells of no further loss. RFC 9937 section 5.
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
            // At most `delivered`, for `ssthresh` is below RecoverFS.
            (share.div_ceil(u128::from(self.recover_fs.max(1))) as u64).saturating_sub(self.out)
        } else {
            let bound = self.delivered.saturating_sub(self.out).max(delivered);
            (bound + if safe { smss } else { 0 }).min(ssthresh - pipe)
        };
        // "Force a fast retransmit upon entering recovery".
        if self.out == 0 { allowed.max(smss) } else { allowed }
    }
}
