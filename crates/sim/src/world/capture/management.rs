//! Block ACK requests, CF-Ends and beacons in a capture file: frames without data of any station.

use airtcp_kernel::{Duration, Time};
use airtcp_wlan::{ContenderId, FrameTimes, Mpdu, StationId};

use super::super::parts::{Entities, Kind};
use super::contention_free::cf_parameters;
use super::{Capture, TIME_UNIT_NS, address_of, micros_up, wrapped};

impl Capture {
    /// Captures that `by` requests a Block ACK of `receiver` at `start`, from `window_start` on.
    pub(in crate::world) fn request(
        &mut self,
        all: Entities<'_>,
        by: ContenderId,
        start: Time,
        times: &FrameTimes,
        receiver: StationId,
        (window_start, intact): (u64, bool),
    ) {
        let (control_rate, _) = all.rates_to(by, receiver);
        if all.parts.plays(Kind::Field) {
            return self.note_request(all, by, (times, control_rate), receiver, window_start);
        }
        if !self.trigger_after_collision(start) {
            self.settle(|_| true);
            let is_initiated = times.cts > Duration::ZERO;
            if is_initiated {
                let before = (times, control_rate);
                self.before(all, (by, receiver), start, before, !intact);
            }
            if intact || !is_initiated {
                let asks = (window_start, intact);
                self.request_alone(all, (by, receiver), start, times, asks);
            }
        }
    }

    /// Captures the Block ACK request of an exchange that begins at `start`, and its response if it
    /// is intact.
    fn request_alone(
        &mut self,
        all: Entities<'_>,
        (by, receiver): (ContenderId, StationId),
        start: Time,
        times: &FrameTimes,
        (window_start, intact): (u64, bool),
    ) {
        let [_, _, request, answer] = times.intervals(all.phy);
        let node = all.sender(by);
        let (tid, (rate, _)) = (self.tid(by), all.rates_to(by, receiver));
        let block_ack_rate = all.aggregation_to(by, receiver).map(|one| one.block_ack_rate);
        let [sender, far] = all.addresses_on_air(by, receiver);
        let duration = micros_up(answer.1 - request.1);
        self.frame.block_ack_request(duration, [far, sender], tid, wrapped(window_start));
        self.write(node, start + request.0, rate, intact);
        if let (true, Some(window), Some(rate)) =
            (intact, self.window(by, receiver), block_ack_rate)
        {
            self.agreements.entry((by, receiver)).or_default().request(window_start);
            self.block_ack((by, receiver), [sender, far], window);
            self.write(receiver, start + answer.0, rate, true);
        }
    }

    /// Captures that `by` returns the rest of its TXOP at `start`.
    pub(in crate::world) fn cf_end(&mut self, all: Entities<'_>, by: ContenderId, start: Time) {
        let node = all.sender(by);
        self.settle(|_| true);
        self.frame.cf_end(address_of(node), false);
        self.write(node, start, all.cf_end_rate(), true);
    }

    /// Captures that the access point of queue `by` sends a beacon at `start`.
    pub(in crate::world) fn beacon(
        &mut self,
        all: Entities<'_>,
        by: ContenderId,
        start: Time,
        mpdu: &Mpdu<()>,
        intact: bool,
    ) {
        let node = all.sender(by);
        if let Some(beacon) = all.scenario.mac.beacon {
            self.settle(|_| true);
            let interval = beacon.interval.as_nanos() / TIME_UNIT_NS;
            self.frame.beacon(
                address_of(node),
                wrapped(mpdu.id),
                start.as_nanos() / 1_000,
                u16::try_from(interval).unwrap_or(u16::MAX),
                all.scenario.mac.pcf.map(|pcf| cf_parameters(pcf, beacon.interval, start)),
                mpdu.bits.div_ceil(8) as usize,
            );
            self.write(node, start, beacon.rate, intact);
        }
    }
}
