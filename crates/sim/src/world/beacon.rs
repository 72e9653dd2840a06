//! The access point's beacons: a frame to all at each target beacon transmission time.
//!
//! A beacon goes before the packets of its queue, as soon as that queue gets at the medium by the
//! rules for any frame; nobody acknowledges it, and it is not sent again (IEEE 802.11-2016,
//! 11.1.3.2). Under EDCA it is sent by AC_VO. One that has not been sent by the time of the next is
//! not sent at all.

use airtcp_kernel::{Duration, Time};
use airtcp_wlan::{BeaconConfig, ContenderId};

use super::{Event, OnAir, World};
use crate::scenario::Scenario;

/// The access point's queue of the highest priority: its only one under the DCF, AC_VO under EDCA.
pub(super) const FIRST_OF_AP: ContenderId = 0;

/// No queue.
const NONE: ContenderId = ContenderId::MAX;

/// Where the access point is with its beacons. Queues are asked about them at every step, so the
/// answers are there ready.
#[derive(Debug)]
pub(super) struct Beacons {
    config: Option<BeaconConfig>,
    airtime: Duration,
    /// The queue whose next frame is a beacon, or `NONE`.
    due: ContenderId,
    /// The queue whose beacon is on the air, or `NONE`.
    on_air: ContenderId,
}

impl Beacons {
    pub(super) fn new(scenario: &Scenario) -> Self {
        let config = scenario.mac.beacon;
        let airtime = config
            .map_or(Duration::ZERO, |beacon| scenario.phy.ppdu_time(beacon.size_bits, beacon.rate));
        Self { config, airtime, due: NONE, on_air: NONE }
    }
}

impl World<'_> {
    /// The next beacon is due an interval from now.
    pub(super) fn schedule_beacon(&mut self) {
        if let Some(beacon) = self.beacons.config {
            self.schedule(self.now + beacon.interval, Event::Beacon);
        }
    }

    /// A beacon is due now, unless the one before still waits.
    pub(super) fn offer_beacon(&mut self) {
        self.schedule_beacon();
        let waits = self.is_busy_with_beacon(FIRST_OF_AP);
        self.beacons.due = FIRST_OF_AP;
        if !waits && self.transmitters[FIRST_OF_AP as usize].queue.is_empty() {
            self.contention.frame_queued(FIRST_OF_AP, self.now, false);
        }
    }

    /// Whether the next frame of queue `id` is a beacon.
    #[inline]
    pub(super) fn is_beacon_due(&self, id: ContenderId) -> bool {
        self.beacons.due == id
    }

    /// Whether queue `id` contends, or is on the air, for a beacon.
    #[inline]
    pub(super) fn is_busy_with_beacon(&self, id: ContenderId) -> bool {
        self.beacons.due == id || self.beacons.on_air == id
    }

    /// Airtime of the beacon that `id` is to send, if it is.
    pub(super) fn beacon_time(&self, id: ContenderId) -> Option<Duration> {
        self.is_beacon_due(id).then_some(self.beacons.airtime)
    }

    /// The beacon is on the air from `start` on, alone.
    #[cold]
    pub(super) fn beacon_begins(&mut self, start: Time) {
        self.beacons.begin();
        let frame_end = start + self.beacons.airtime;
        let end = frame_end + self.scenario.phy.propagation_delay;
        self.airtime.broadcast(start, frame_end, end);
        self.measures.beacon(false);
        self.capture_beacon(start, true);
        self.set_on_air(OnAir::Broadcast, end);
    }

    /// The beacon has been sent.
    pub(super) fn beacon_ended(&mut self) {
        self.beacons.on_air = NONE;
        self.contention.end_broadcast(self.now, self.has_frame(FIRST_OF_AP));
    }

    /// If one of the frames that collide is a beacon, it goes on the air now.
    pub(super) fn beacon_collides(&mut self) {
        if self.colliding.iter().any(|&(id, _)| self.is_beacon_due(id)) {
            self.beacons.begin();
            self.measures.beacon(true);
            self.capture_beacon(self.now, false);
        }
    }

    /// Whether the frame of `id` that has collided was a beacon, which is over now.
    pub(super) fn beacon_collided(&mut self, id: ContenderId) -> bool {
        let was_on_air = self.beacons.on_air == id;
        if was_on_air {
            self.beacons.on_air = NONE;
        }
        was_on_air
    }
}

impl Beacons {
    fn begin(&mut self) {
        self.on_air = self.due;
        self.due = NONE;
    }
}
