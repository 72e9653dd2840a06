//! The watchers of a replication: the trace, the capture file, the counts of PPDUs, an access point that shares
//! airtime out, and connections that hear of their frames. Most runs have none.
//!
//! Knows which of them there are, so that the way of a frame asks one question for all. Does not know what
//! they do with what they see.

use airtcp_net::Scheduler;

use super::capture::Capture;
use super::feedback;
use super::record::Recorder;
use crate::scenario::Scenario;

/// The watchers that there are.
#[derive(Debug)]
pub(super) struct Watchers {
    /// A flag: any watcher but the recorder is there.
    watches_frames: bool,
    /// A flag: the access point shares airtime out.
    pub(super) shares_airtime: bool,
    /// A flag: some connection is told what becomes of its station's frames.
    pub(super) tells_tcp: bool,
    /// The recorder of a trace, if one is asked for.
    pub(super) recorder: Option<Box<Recorder>>,
    /// The writer of a capture file, if one is asked for. A hook that needs the whole world takes it out and
    /// puts it back.
    pub(super) capture: Option<Box<Capture>>,
}

impl Watchers {
    /// Makes those that a scenario asks for; a trace and a capture are asked for later.
    pub(super) fn new(scenario: &Scenario) -> Self {
        let shares = |scheduler| {
            matches!(scheduler, Some(Scheduler::Airtime { .. } | Scheduler::Own { .. }))
        };
        let shares_airtime = scenario.access_points().any(|(_, ap)| shares(ap.scheduler));
        let tells_tcp = feedback::is_wanted(scenario);
        let counts_ppdus = scenario.mac.aggregation.is_some();
        Self {
            watches_frames: shares_airtime || tells_tcp || counts_ppdus,
            shares_airtime,
            tells_tcp,
            recorder: None,
            capture: None,
        }
    }

    /// Begins to write a capture.
    pub(super) fn add_capture(&mut self, capture: Capture) {
        self.watches_frames = true;
        self.capture = Some(Box::new(capture));
    }

    /// Tells whether anything but the recorder is told of frames.
    #[inline(always)]
    pub(super) fn watch_frames(&self) -> bool {
        self.watches_frames
    }
}
