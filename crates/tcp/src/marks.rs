//! What segments carry besides sequence numbers: timestamps (RFC 7323) and ECN bits (RFC 3168).
//!
//! This file has the timestamps option and its clock; ECN is in [`ecn`](crate::ecn). Sequence
//! numbers never wrap here, so there is no protection against wrapped ones (PAWS, section 5).
//! Spurious timeouts are not detected from echoed timestamps.

use airtcp_kernel::{Duration, Time};

use crate::ecn::Ecn;
use crate::{Block, Config, Timestamps};

/// RFC 7323 section 5.4: "between 1 ms and 1 sec per tick"; Linux and ns-3 use this tick.
const TICK: Duration = Duration::from_millis(1);

/// One end's state for timestamps and ECN, and for other slow-path features.
#[derive(Clone, Debug)]
pub(crate) struct Marks {
    /// TS.Recent of RFC 7323 section 4.3.
    recent: u32,
    pub(crate) ecn: Ecn,
    /// Data that the MAC has given up and that must be retransmitted now.
    pub(crate) given_up: Vec<Block>,
}

/// Returns TSval at this time.
fn clock(now: Time) -> u32 {
    (now.as_nanos() / TICK.as_nanos()) as u32
}

impl Marks {
    pub(crate) fn new(config: &Config) -> Self {
        Self { recent: 0, ecn: Ecn::new(config), given_up: Vec::new() }
    }

    /// Whether timestamps are the only feature in use.
    pub(crate) fn are_stamps_alone(&self, config: &Config) -> bool {
        config.has_stamps_alone() && self.given_up.is_empty()
    }

    /// Processes the timestamps of a segment with sequence number `seq`; `acknowledged` is the ACK
    /// number that this end sent last. Returns the time since the echoed timestamp was sent.
    #[inline]
    pub(crate) fn on_stamps(
        &mut self,
        now: Time,
        stamps: Timestamps,
        seq: u64,
        acknowledged: u64,
    ) -> Duration {
        // Section 4.3, (2): "SEG.TSval >= TS.Recent and SEG.SEQ <= Last.ACK.sent".
        if stamps.value >= self.recent && seq <= acknowledged {
            self.recent = stamps.value;
        }
        TICK * u64::from(clock(now).saturating_sub(stamps.echo))
    }

    /// Returns the timestamps option of a segment sent now.
    pub(crate) fn timestamps(&self, now: Time) -> Timestamps {
        Timestamps { value: clock(now), echo: self.recent }
    }
}
