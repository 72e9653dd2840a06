//! The access point's beacons: a broadcast frame at each target beacon transmission time.
//!
//! A beacon precedes the packets of its queue, and is sent as soon as that queue wins access by the
//! normal rules. It is neither acknowledged nor retransmitted (IEEE Std 802.11-2020, 11.1.3.2).
//! Under EDCA it uses AC_VO. A beacon that was not sent by the time of the next one is dropped.

use airtcp_kernel::{Duration, Time};

use super::{Air, Exchange, OnAir, Play};
use crate::config::MacConfig;
use crate::events::{Began, MacEvent, Supply};
use crate::frame::Mpdu;
use crate::phy::PhyConfig;
use crate::station::{ContenderId, EVERYBODY};

/// No queue.
const NONE: ContenderId = ContenderId::MAX;

/// The state of the access point's beacons. Every step of a queue checks it, so it is precomputed.
#[derive(Debug)]
pub(super) struct Beacons {
    /// The access point's queue with the highest priority: its only one under the DCF, AC_VO under
    /// EDCA.
    queue: ContenderId,
    interval: Duration,
    airtime: Duration,
    /// The next beacon.
    frame: Mpdu<()>,
    /// The target time of the next beacon, or the next request for access; never if there are none.
    next_target: Time,
    /// The target time of the next beacon.
    next_beacon: Time,
    /// When the access point requests access without a packet.
    next_request: Time,
    /// The queue whose next frame is a beacon, or `NONE`.
    due: ContenderId,
    /// The queue whose beacon is on the air, or `NONE`.
    on_air: ContenderId,
}

impl Beacons {
    /// Creates the beacons that precede the packets of `queue`.
    pub(super) fn new(phy: &PhyConfig, mac: &MacConfig, queue: ContenderId) -> Self {
        let (interval, bits, airtime, next_beacon) = match mac.beacon {
            None => (Duration::ZERO, 0, Duration::ZERO, Time::NEVER),
            Some(beacon) => {
                let airtime = phy.ppdu_time(beacon.size_bits, beacon.rate);
                (beacon.interval, beacon.size_bits, airtime, Time::ZERO + beacon.interval)
            }
        };
        let frame = Mpdu {
            id: 0,
            receiver: EVERYBODY,
            bits,
            is_further: false,
            failures: 0,
            failures_after_rts: 0,
            is_received: false,
            payload: (),
        };
        let requests = mac.ofdma.as_ref().and_then(|one| one.access_interval);
        let next_request = requests.map_or(Time::NEVER, |interval| Time::ZERO + interval);
        Self {
            queue,
            interval,
            airtime,
            frame,
            next_target: next_beacon.min(next_request),
            next_beacon,
            next_request,
            due: NONE,
            on_air: NONE,
        }
    }

    /// Returns whether the access point requests access at `now`.
    pub(super) fn requests_access(&self, now: Time) -> bool {
        self.next_request <= now
    }

    /// Sets when the access point next requests access without a packet.
    pub(super) fn request_access_at(&mut self, time: Time) {
        self.next_request = time;
        self.next_target = self.next_beacon.min(time);
    }

    #[inline]
    pub(super) fn next_target(&self) -> Time {
        self.next_target
    }

    /// Returns whether the next frame of `contender` is a beacon.
    #[inline]
    pub(super) fn is_due(&self, contender: ContenderId) -> bool {
        self.due == contender
    }

    /// Returns whether `contender` has a beacon on the air.
    #[inline]
    pub(super) fn is_on_air(&self, contender: ContenderId) -> bool {
        self.on_air == contender
    }

    pub(super) fn interval(&self) -> Duration {
        self.interval
    }

    /// Sets the next target time: no beacon is due before `time`.
    pub(super) fn set_next_target(&mut self, time: Time) {
        (self.next_beacon, self.next_target) = (time, time.min(self.next_request));
    }

    /// Makes a beacon the access point's next frame.
    pub(super) fn set_due(&mut self) {
        self.due = self.queue;
    }

    pub(super) fn airtime(&self) -> Duration {
        self.airtime
    }

    /// Puts the beacon that is due on the air.
    fn begin(&mut self) {
        self.on_air = self.due;
        self.due = NONE;
    }

    /// Ends the beacon on the air.
    pub(super) fn end(&mut self) {
        self.on_air = NONE;
        self.frame.id += 1;
    }
}

impl<P: Clone> Air<P> {
    /// Queues the beacon that is due at `now`. It replaces one that is still queued.
    #[cold]
    pub(super) fn beacon_is_due(&mut self, now: Time) {
        self.beacons.set_next_target(now + self.beacons.interval);
        self.beacons.set_due();
        self.contention.frame_queued(self.beacons.queue, now, false);
        self.look_for_access();
    }

    /// Lets `by` contend without a packet.
    #[cold]
    pub(super) fn access_requested(&mut self, by: ContenderId, now: Time) {
        // ns-3 draws no backoff for it, as for a packet that arrives before its own MAC ACK.
        self.contention.frame_queued(by, now, true);
        self.look_for_access();
    }

    /// Returns whether the collided frame of `by` was a beacon; if so, ends it.
    pub(super) fn beacon_collided(&mut self, by: ContenderId) -> bool {
        let was_on_air = self.beacons.is_on_air(by);
        if was_on_air {
            self.beacons.end();
        }
        was_on_air
    }
}

impl<P: Clone, E: Exchange<P>, S: Supply<P>> Play<'_, P, E, S> {
    /// Puts a beacon on the air that is the only transmission.
    #[cold]
    pub(super) fn beacon_begins(&mut self, by: ContenderId, start: Time) {
        self.air.counters.beacons += 1;
        let sent = start + self.air.beacons.airtime;
        let end = sent + self.air.frames.phy().propagation_delay;
        self.air.medium.begin_alone(by, sent);
        self.tell_of_beacon(by, start, sent, end, false);
        self.air.set_on_air(OnAir::Sending { end }, end);
    }

    /// Counts a beacon in a collision whose last frame ends at `end`.
    pub(super) fn beacon_collides(&mut self, by: ContenderId, start: Time, end: Time) {
        self.air.counters.beacons += 1;
        self.air.counters.beacon_collisions += 1;
        let sent = start + self.air.beacons.airtime;
        self.tell_of_beacon(by, start, sent, end, true);
    }

    pub(super) fn tell_of_beacon(
        &mut self,
        by: ContenderId,
        start: Time,
        sent: Time,
        end: Time,
        collides: bool,
    ) {
        self.air.beacons.begin();
        let mpdu = &self.air.beacons.frame;
        let began = Began::Beacon { by, mpdu, sent, end, collides };
        self.supply.on_event(start, MacEvent::Began(began));
    }

    /// Ends the beacon of `by`, and continues with contention.
    #[cold]
    pub(super) fn beacon_ended(&mut self, by: ContenderId, now: Time) {
        self.air.beacons.end();
        let has_frame = self.has_frame(by);
        self.air.contention.end_broadcast(by, now, has_frame);
        self.air.fall_silent();
    }
}
