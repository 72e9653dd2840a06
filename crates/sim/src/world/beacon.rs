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

/// Where the access point is with its beacons.
#[derive(Debug)]
pub(super) struct Beacons {
    config: BeaconConfig,
    /// The queue that sends them.
    by: ContenderId,
    airtime: Duration,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Sent,
    /// It is the next frame of its queue.
    Due,
    OnAir,
    /// It is on the air, and so long that the next one is due.
    OnAirAndDue,
}

impl Beacons {
    pub(super) fn new(scenario: &Scenario) -> Option<Self> {
        let config = scenario.mac.beacon?;
        let airtime = scenario.phy.ppdu_time(config.size_bits, config.rate);
        Some(Self { config, by: FIRST_OF_AP, airtime, stage: Stage::Sent })
    }
}

impl World<'_> {
    /// The next beacon is due an interval from now.
    pub(super) fn schedule_beacon(&mut self) {
        if let Some(beacons) = &self.beacons {
            self.schedule(self.now + beacons.config.interval, Event::Beacon);
        }
    }

    /// A beacon is due now.
    pub(super) fn offer_beacon(&mut self) {
        self.schedule_beacon();
        let Some(beacons) = &mut self.beacons else { return };
        let by = beacons.by;
        match beacons.stage {
            Stage::Sent => {
                beacons.stage = Stage::Due;
                if self.transmitters[by as usize].queue.len() == 0 {
                    self.contention.frame_queued(by, self.now, false);
                }
            }
            Stage::OnAir => beacons.stage = Stage::OnAirAndDue,
            Stage::Due | Stage::OnAirAndDue => {}
        }
    }

    /// Whether the next frame of queue `id` is a beacon.
    #[inline]
    pub(super) fn is_beacon_due(&self, id: ContenderId) -> bool {
        self.beacons.as_ref().is_some_and(|beacons| {
            beacons.by == id && matches!(beacons.stage, Stage::Due | Stage::OnAirAndDue)
        })
    }

    /// Whether queue `id` contends, or is on the air, for a beacon.
    #[inline]
    pub(super) fn is_busy_with_beacon(&self, id: ContenderId) -> bool {
        self.beacons
            .as_ref()
            .is_some_and(|beacons| beacons.by == id && beacons.stage != Stage::Sent)
    }

    /// Airtime of the beacon that `id` is to send, if it is.
    pub(super) fn beacon_time(&self, id: ContenderId) -> Option<Duration> {
        self.beacons.as_ref().filter(|_| self.is_beacon_due(id)).map(|beacons| beacons.airtime)
    }

    /// The beacon is on the air from `start` on, alone.
    pub(super) fn beacon_begins(&mut self, start: Time) {
        let Some(beacons) = &mut self.beacons else { unreachable!("a beacon was due") };
        beacons.stage = Stage::OnAir;
        let frame_end = start + beacons.airtime;
        let end = frame_end + self.scenario.phy.propagation_delay;
        self.airtime.broadcast(start, frame_end, end);
        self.measures.beacon(false);
        self.capture_beacon(start, true);
        self.on_air = OnAir::Broadcast { end };
    }

    /// The beacon has been sent.
    pub(super) fn beacon_ended(&mut self) {
        let Some(beacons) = &mut self.beacons else { unreachable!("a beacon was on the air") };
        beacons.end();
        let by = beacons.by;
        self.contention.end_broadcast(self.now, self.has_frame(by));
    }

    /// If one of the frames that collide is a beacon, it goes on the air now.
    pub(super) fn beacon_collides(&mut self) {
        let Some(beacons) = &mut self.beacons else { return };
        let by = beacons.by;
        if beacons.stage == Stage::Due && self.colliding.iter().any(|&(id, _)| id == by) {
            beacons.stage = Stage::OnAir;
            self.measures.beacon(true);
            self.capture_beacon(self.now, false);
        }
    }

    /// Whether the frame of `id` that has collided was a beacon, which is over now.
    pub(super) fn beacon_collided(&mut self, id: ContenderId) -> bool {
        let Some(beacons) = &mut self.beacons else { return false };
        let was_on_air =
            beacons.by == id && matches!(beacons.stage, Stage::OnAir | Stage::OnAirAndDue);
        if was_on_air {
            beacons.end();
        }
        was_on_air
    }
}

impl Beacons {
    fn end(&mut self) {
        self.stage = if self.stage == Stage::OnAirAndDue { Stage::Due } else { Stage::Sent };
    }
}
