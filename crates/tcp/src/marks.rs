//! The words of segments beside their numbers: timestamps (RFC 7323), and ECN (RFC 3168).
//!
//! Knows the option and its clock; the bits of ECN are in [`ecn`](crate::ecn). There is no protection against wrapped sequence numbers (PAWS, section
//! 5), because numbers do not wrap here; and no detection of spurious timeouts by what is echoed.

use airtcp_kernel::{Duration, Time};

use crate::ecn::Ecn;
use crate::receiver::LateReader;
use crate::{Block, Config, Flags, Segment, SegmentOptions, Timestamps};

/// RFC 7323 section 5.4: "between 1 ms and 1 sec per tick"; Linux's and ns-3's tick.
const TICK: Duration = Duration::from_millis(1);

/// The state of one end for the marks of its segments, and what else is rare.
#[derive(Clone, Debug)]
pub(crate) struct Marks {
    /// TS.Recent of RFC 7323 section 4.3.
    recent: u32,
    pub(crate) ecn: Ecn,
    /// The data that the MAC has given up, and that is to be sent again now.
    pub(crate) given_up: Vec<Block>,
    /// The application, if it does not read at once.
    pub(crate) reader: Option<LateReader>,
}

/// Returns TSval at this time.
fn clock(now: Time) -> u32 {
    (now.as_nanos() / TICK.as_nanos()) as u32
}

impl Marks {
    pub(crate) fn new(config: &Config) -> Self {
        Self { recent: 0, ecn: Ecn::new(config), given_up: Vec::new(), reader: None }
    }

    /// Tells whether timestamps are all that there is.
    pub(crate) fn are_stamps_alone(&self, config: &Config) -> bool {
        config.has_stamps_alone() && self.reader.is_none() && self.given_up.is_empty()
    }

    /// Takes the timestamps of a segment with the number `seq`, at an end that had last acknowledged all before
    /// `acknowledged`. Returns how long ago that left which its acknowledgment is for.
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

    /// Marks `segment` with all that goes with it, at an end that has everything before `rcv_nxt`.
    pub(crate) fn mark(
        &mut self,
        config: &Config,
        now: Time,
        segment: Segment,
        rcv_nxt: u64,
        options: &mut SegmentOptions,
    ) -> Segment {
        let stamps = config.timestamps.then(|| self.timestamps(now));
        let marked = stamps.map_or(segment, |stamps| options.stamp(segment, stamps));
        match self.reader.as_mut().filter(|_| !marked.flags.contains(Flags::SYN)) {
            None => marked,
            Some(reader) => options.say_window(marked, reader.window(config, rcv_nxt)),
        }
    }

    /// Returns the option of a segment that is sent now.
    pub(crate) fn timestamps(&self, now: Time) -> Timestamps {
        Timestamps { value: clock(now), echo: self.recent }
    }
}
