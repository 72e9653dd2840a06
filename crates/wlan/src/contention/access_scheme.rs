//! The access point of paper B, section 3.2: bursts without backoff, separated by windows that it
//! leaves to the stations.
//!
//! R. Bruno, M. Conti, E. Gregori, "Throughput evaluation and enhancement of TCP clients in Wi-Fi
//! hot spots", WONS 2004. A cycle has a burst of l packets, each sent as soon as the medium was
//! idle for DIFS, and then w virtual slots in which the access point does not contend. A virtual
//! slot is an idle slot, a success or a collision of stations. From these observations (8) gives
//! the next l.

use airtcp_kernel::{Duration, Time};
use serde::Deserialize;

use crate::station::ContenderId;

/// How the access point accesses the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "scheme", rename_all = "kebab-case", deny_unknown_fields)]
pub enum AccessScheme {
    /// Like every station.
    Standard {},
    /// Sends in bursts (paper B, section 3.2).
    AdaptiveBurst {
        /// w: virtual slots left to the stations after each burst.
        window_slots: u32,
        /// m*: the number of stations that should contend in them.
        target_active: u32,
    },
    /// The same with bursts of a fixed length.
    FixedBurst {
        /// w: virtual slots left to the stations after each burst.
        window_slots: u32,
        /// l: packets of a burst.
        packets: u32,
    },
}

impl AccessScheme {
    /// Returns the parameters of its bursts, if it sends in bursts.
    pub fn bursts(self) -> Option<BurstConfig> {
        match self {
            Self::Standard {} => None,
            Self::AdaptiveBurst { window_slots, target_active } => {
                Some(BurstConfig { window_slots, length: BurstLength::Adaptive { target_active } })
            }
            Self::FixedBurst { window_slots, packets } => {
                Some(BurstConfig { window_slots, length: BurstLength::Fixed { packets } })
            }
        }
    }
}

/// The parameters of paper B's scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BurstConfig {
    /// w: virtual slots left to the stations after each burst.
    pub window_slots: u32,
    /// The length of bursts.
    pub length: BurstLength,
}

/// How many packets a burst has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BurstLength {
    /// As many as (8) says.
    Adaptive {
        /// m*: the number of stations that should contend in the window.
        target_active: u32,
    },
    /// Always the same number.
    Fixed {
        /// That number.
        packets: u32,
    },
}

/// (8) has no lower bound, and may be zero or negative (erratum B7). With delayed ACKs two packets
/// cause one TCP ACK, so that the cycle continues.
const LEAST_BURST: u32 = 2;

/// The access point's position in its cycle.
#[derive(Debug)]
pub(crate) struct Bursts {
    pub(crate) contender: ContenderId,
    config: BurstConfig,
    difs: Duration,
    has_frame: bool,
    /// When the access point's slots begin on the idle medium.
    from: Time,
    /// The same instant after a collision of its own, until the medium is idle.
    own_from: Option<Time>,
    /// Virtual slots until the access point may send: the rest of the window, 0 in a burst.
    slots_left: u64,
    /// True while the transmission on the air is a virtual slot of the window.
    in_window: bool,
    /// Remaining packets of the burst; 0 between bursts.
    packets_left: u32,
    /// l_i: acknowledged packets of the burst.
    sent: u32,
    /// ns_i: successes of stations in the window.
    successes: u32,
    /// nc_i: collisions of stations in the window.
    collisions: u32,
}

impl Bursts {
    /// Creates the state before the first burst. It has 2 m* packets, as if all stations had
    /// succeeded before.
    pub(crate) fn new(contender: ContenderId, config: BurstConfig, difs: Duration) -> Self {
        Self {
            contender,
            config,
            difs,
            has_frame: false,
            from: Time::ZERO + difs,
            own_from: None,
            slots_left: 0,
            in_window: false,
            packets_left: 0,
            sent: 0,
            successes: 0,
            collisions: 0,
        }
    }

    /// Returns when the access point sends if no station sends before.
    pub(crate) fn access_time(&self, slot_time: Duration) -> Time {
        if self.has_frame { self.window_end(slot_time) } else { Time::NEVER }
    }

    /// Returns the end of the window if the medium stays idle.
    fn window_end(&self, slot_time: Duration) -> Time {
        self.from + slot_time * self.slots_left
    }

    /// Records that the queue, which was empty, has a frame at `now`. If the medium is idle and the
    /// window over, the access begins at `earliest`.
    pub(crate) fn frame_queued(
        &mut self,
        now: Time,
        busy: bool,
        earliest: Time,
        slot_time: Duration,
    ) {
        self.has_frame = true;
        if !busy && self.window_end(slot_time) < now {
            self.slots_left = 0;
            self.from = earliest;
        }
    }

    /// Sets the medium busy at `now`. Returns true if the access point sends. Otherwise the
    /// transmission is a virtual slot, like each idle slot before it.
    pub(crate) fn medium_busy(&mut self, now: Time, slot_time: Duration) -> bool {
        if self.access_time(slot_time) == now {
            self.slots_left = 0;
            self.in_window = false;
            if self.packets_left == 0 {
                self.begin_burst();
            }
            return true;
        }
        let idle = now.saturating_since(self.from) / slot_time;
        self.slots_left = self.slots_left.saturating_sub(idle);
        self.in_window = self.slots_left > 0;
        self.slots_left = self.slots_left.saturating_sub(1);
        false
    }

    /// Counts a success of `id`; `has_frame` says whether it has another frame. Returns true if it
    /// was the access point. A station's success counts if it was in the window.
    pub(crate) fn exchange_succeeded(&mut self, id: ContenderId, has_frame: bool) -> bool {
        if id == self.contender {
            self.packet_done(true, has_frame);
            return true;
        }
        self.successes += u32::from(self.in_window);
        false
    }

    /// Ends a broadcast frame of `id`. Returns true if the access point sent it.
    pub(crate) fn broadcast_sent(&mut self, id: ContenderId, has_frame: bool) -> bool {
        let is_own = id == self.contender;
        if is_own {
            self.packet_done(false, has_frame);
        }
        is_own
    }

    /// Counts a collision, which in the window is between stations.
    pub(crate) fn stations_collided(&mut self) {
        self.collisions += u32::from(self.in_window);
    }

    /// Ends a packet of the burst, acknowledged or given up. `has_frame` says whether there is
    /// another.
    pub(crate) fn packet_done(&mut self, acknowledged: bool, has_frame: bool) {
        self.has_frame = has_frame;
        self.sent += u32::from(acknowledged);
        self.packets_left -= 1;
        if self.packets_left == 0 || !has_frame {
            self.packets_left = 0;
            self.slots_left = u64::from(self.config.window_slots);
        }
    }

    /// Lets the access point, which took part in a collision, count slots from `from` on.
    pub(crate) fn collided(&mut self, from: Time) {
        self.own_from = Some(from);
    }

    /// Sets the medium idle from `idle_from` on; slots begin after DIFS.
    pub(crate) fn medium_idle(&mut self, idle_from: Time) {
        self.from = self.own_from.take().unwrap_or(idle_from + self.difs);
    }

    /// Computes the next burst, by (8) if it adapts: l_(i+1) = 2 (m* - max(floor(l_i/2) - ns_i, 0)
    /// - nc_i), at least [`LEAST_BURST`].
    fn begin_burst(&mut self) {
        self.packets_left = match self.config.length {
            BurstLength::Fixed { packets } => packets,
            BurstLength::Adaptive { target_active } => {
                let waiting = (self.sent / 2).saturating_sub(self.successes);
                let wanted = target_active.saturating_sub(waiting + self.collisions);
                (2 * wanted).max(LEAST_BURST)
            }
        };
        self.sent = 0;
        self.successes = 0;
        self.collisions = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOT: Duration = Duration::from_micros(20);

    fn bursts() -> Bursts {
        let length = BurstLength::Adaptive { target_active: 8 };
        let config = BurstConfig { window_slots: 32, length };
        Bursts::new(0, config, Duration::from_micros(50))
    }

    /// The numbers of `airtcp.models.bruno.burst_size`'s example, and the lower bound.
    #[test]
    fn the_next_burst_follows_from_what_the_stations_did() {
        for (sent, successes, collisions, expected) in [
            (0, 0, 0, 16),
            (16, 8, 0, 16),
            (16, 6, 1, 10),
            (16, 9, 2, 12),
            (17, 8, 0, 16),
            (16, 2, 3, 2),
            (16, 0, 0, 2),
            (16, 8, 9, 2),
        ] {
            let mut bursts = Bursts { sent, successes, collisions, ..bursts() };

            bursts.begin_burst();

            assert_eq!(bursts.packets_left, expected, "after {sent}, {successes}, {collisions}");
        }
    }

    #[test]
    fn a_fixed_burst_ignores_what_the_stations_did() {
        let config = BurstConfig { window_slots: 32, length: BurstLength::Fixed { packets: 16 } };
        let mut bursts = Bursts { sent: 16, collisions: 7, config, ..bursts() };

        bursts.begin_burst();

        assert_eq!(bursts.packets_left, 16);
    }

    /// 3 idle slots and a success are four virtual slots. Then a collision without an idle slot is
    /// one.
    #[test]
    fn idle_slots_successes_and_collisions_are_virtual_slots() {
        let at = |micros| Time::ZERO + Duration::from_micros(micros);
        let mut bursts = Bursts { packets_left: 1, ..bursts() };
        bursts.packet_done(true, true);
        bursts.medium_idle(at(1_000));
        assert_eq!(bursts.access_time(SLOT), at(1_050 + 32 * 20));

        assert!(!bursts.medium_busy(at(1_050 + 3 * 20), SLOT));
        assert!(!bursts.exchange_succeeded(1, false));
        bursts.medium_idle(at(2_000));
        assert_eq!(bursts.access_time(SLOT), at(2_050 + 28 * 20));
        assert!(!bursts.medium_busy(at(2_050), SLOT));
        bursts.stations_collided();
        bursts.medium_idle(at(3_000));

        assert_eq!(bursts.access_time(SLOT), at(3_050 + 27 * 20));
        assert_eq!((bursts.successes, bursts.collisions), (1, 1));
    }
}
