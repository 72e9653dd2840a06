//! Block ACK requests, CF-Ends and beacons in a capture file: frames without data of any station.

use airtcp_kernel::{Duration, Time};
use airtcp_wlan::{ContenderId, FrameTimes, Mpdu, StationId};

use super::super::World;
use super::super::parts::Kind;
use super::agreements::BlockAck;
use super::contention_free::cf_parameters;
use super::{Capture, TIME_UNIT_NS, address_of, micros_up, wrapped};

impl World<'_> {
    /// Captures that `by` requests a Block ACK of `receiver` at `start`, from `window_start` on.
    pub(in crate::world) fn capture_request(
        &mut self,
        by: ContenderId,
        start: Time,
        times: &FrameTimes,
        receiver: StationId,
        window_start: u64,
        intact: bool,
    ) {
        let (control_rate, _) = self.rates_to(by, receiver);
        if self.plays(Kind::Field) {
            return self.note_request(by, (times, control_rate), receiver, window_start);
        }
        let Some(mut capture) = self.watchers.capture.take() else { return };
        if !capture.trigger_after_collision(start) {
            capture.settle(|_| true);
            let is_initiated = times.cts > Duration::ZERO;
            if is_initiated {
                let before = (times, control_rate);
                self.capture_before(&mut capture, (by, receiver), start, before, !intact);
            }
            if intact || !is_initiated {
                let asks = (window_start, intact);
                self.capture_request_alone(&mut capture, (by, receiver), start, times, asks);
            }
        }
        self.watchers.capture = Some(capture);
    }

    /// Captures the Block ACK request of an exchange that begins at `start`, and its response if it
    /// is intact.
    fn capture_request_alone(
        &self,
        capture: &mut Capture,
        (by, receiver): (ContenderId, StationId),
        start: Time,
        times: &FrameTimes,
        (window_start, intact): (u64, bool),
    ) {
        let [_, _, request, answer] = times.intervals(self.phy);
        let node = self.transmitters[by as usize].node;
        let (tid, (rate, _)) = (self.tid(by), self.rates_to(by, receiver));
        let block_ack_rate = self.aggregation_to(by, receiver).map(|one| one.block_ack_rate);
        let [sender, far] = self.addresses_on_air(by, receiver);
        let duration = micros_up(answer.1 - request.1);
        capture.frame.block_ack_request(duration, [far, sender], tid, wrapped(window_start));
        capture.write(node, start + request.0, rate, intact);
        if let (true, Some(window), Some(rate)) =
            (intact, capture.window(by, receiver), block_ack_rate)
        {
            let agreement = capture.agreements.entry((by, receiver)).or_default();
            agreement.request(window_start);
            let BlockAck { start: first, bitmap } = agreement.block_ack(window);
            capture.frame.block_ack([sender, far], tid, wrapped(first), &bitmap);
            capture.write(receiver, start + answer.0, rate, true);
        }
    }

    /// Captures that `by` returns the rest of its TXOP at `start`.
    pub(in crate::world) fn capture_cf_end(&mut self, by: ContenderId, start: Time) {
        let rate = self.cf_end_rate();
        let node = self.transmitters[by as usize].node;
        if let Some(capture) = &mut self.watchers.capture {
            capture.settle(|_| true);
            capture.frame.cf_end(address_of(node), false);
            capture.write(node, start, rate, true);
        }
    }

    /// Captures that the access point of queue `by` sends a beacon at `start`.
    pub(in crate::world) fn capture_beacon(
        &mut self,
        by: ContenderId,
        start: Time,
        mpdu: &Mpdu<()>,
        intact: bool,
    ) {
        let node = self.transmitters[by as usize].node;
        if let Some(capture) = &mut self.watchers.capture
            && let Some(beacon) = self.scenario.mac.beacon
        {
            capture.settle(|_| true);
            let interval = beacon.interval.as_nanos() / TIME_UNIT_NS;
            capture.frame.beacon(
                address_of(node),
                wrapped(mpdu.id),
                start.as_nanos() / 1_000,
                u16::try_from(interval).unwrap_or(u16::MAX),
                self.scenario.mac.pcf.map(|pcf| cf_parameters(pcf, beacon.interval, start)),
                mpdu.bits.div_ceil(8) as usize,
            );
            capture.write(node, start, beacon.rate, intact);
        }
    }
}
