//! The observers of a replication: trace, capture file, PPDU counters, an access point with an
//! airtime scheduler, and connections with MAC feedback. Most runs have none.
//!
//! A frame needs only one check for all of them.

use airtcp_net::Scheduler;

use super::capture::Capture;
use super::feedback;
use super::record::Recorder;
use crate::scenario::Scenario;

/// The active observers.
#[derive(Debug)]
pub(super) struct Watchers {
    /// Whether there is any observer other than the recorder.
    watches_frames: bool,
    /// Whether the access point has an airtime scheduler.
    pub(super) shares_airtime: bool,
    /// Whether some connection wants feedback about its station's frames.
    pub(super) tells_tcp: bool,
    /// The recorder of a trace, if requested.
    pub(super) recorder: Option<Box<Recorder>>,
    /// The writer of a capture file, if requested. A hook that needs the whole world takes it out
    /// and puts it back.
    pub(super) capture: Option<Box<Capture>>,
}

impl Watchers {
    /// Creates the observers of a scenario; a trace and a capture are added later.
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

    /// Starts to write a capture.
    pub(super) fn add_capture(&mut self, capture: Capture) {
        self.watches_frames = true;
        self.capture = Some(Box::new(capture));
    }

    /// Returns whether anything but the recorder observes frames.
    #[inline(always)]
    pub(super) fn watch_frames(&self) -> bool {
        self.watches_frames
    }
}
