//! PPDUs to several users in a capture file (IEEE Std 802.11ax-2021, 9.3.1.22 and 26.5.1): the data
//! of each user in its resource unit, then the Block ACKs: of all users in one trigger-based PPDU
//! after an MU-BAR trigger, or one by one after Block ACK requests.

use airtcp_kernel::{Duration, Time};
use airtcp_wlan::{
    ContenderId, FrameTimes, Modulation, OfdmaAcknowledgment, Rate, ResourceUnit, StationId,
    Trigger, UserPsdu,
};

use super::super::parts::Entities;
use super::on_air::{Pending, User};
use super::{Capture, address_of, micros_up, wrapped};
use crate::packet::Packet;
use crate::pcap::frame::{Asks, Frame, UserInfo};
use crate::pcap::radiotap::{Sending, Subframe, Unit};

impl Capture {
    /// Captures the PPDU of `by` to several users, which begins at `start`. Of one that collides, a
    /// trigger may follow.
    #[cold]
    pub(in crate::world) fn users(
        &mut self,
        all: Entities<'_>,
        by: ContenderId,
        start: Time,
        times: &FrameTimes,
        users: &[UserPsdu<'_, Packet>],
        collides: bool,
    ) {
        let (data, total) = (times.data, times.total - all.phy.propagation_delay);
        self.settle_before(start, collides);
        let sender = all.sender(by);
        let duration = micros_up(total - data);
        let mut sent = self.what_follows(all, by, start, (data, total), users);
        for (user, psdu) in sent.users.iter_mut().zip(users) {
            let (rate, _) = all.scenario.rates_of(psdu.class);
            let (frames, mut sendings) =
                self.data_frames(all, by, psdu.frames, rate, duration, None);
            let unit = psdu.unit.map(|unit| Unit::of_several(unit, user.receiver as u16));
            sendings.iter_mut().for_each(|sending| sending.unit = unit);
            if collides {
                self.collide(sender, start, (frames, sendings));
            } else {
                (user.frames, user.sendings) = (frames, sendings);
            }
        }
        for user in &mut sent.users {
            self.ampdus += 1;
            if let Some((_, Sending { subframe: Some(subframe), .. })) = &mut user.answer {
                subframe.reference = self.ampdus;
            }
        }
        if !collides {
            self.on_air().pending = Some(sent);
        } else if sent.trigger.is_some() {
            self.on_air().triggered = Some(sent);
        }
    }

    /// Returns the users of a PPDU without their frames, and what follows it.
    fn what_follows(
        &self,
        all: Entities<'_>,
        by: ContenderId,
        start: Time,
        (data, total): (Duration, Duration),
        psdus: &[UserPsdu<'_, Packet>],
    ) -> Pending {
        let ofdma = all.scenario.mac.ofdma.as_ref().expect("it sends to several users");
        let hop = all.phy.sifs + all.phy.propagation_delay;
        let sender = all.sender(by);
        let by_trigger = ofdma.acknowledgment == OfdmaAcknowledgment::MuBar;
        let (mut users, mut infos) = (Vec::new(), Vec::new());
        let (mut at, mut control, mut width) = (data + hop, None::<Rate>, 20);
        for (place, psdu) in psdus.iter().enumerate() {
            let receiver = psdu.frames.receiver();
            let (rate, control_rate) = all.scenario.rates_of(psdu.class);
            let aggregation = all.aggregation_to(by, receiver).expect("users have Block ACKs");
            let window_start = psdu.frames.first().id;
            let (Modulation::High(high), Some(unit)) = (rate.modulation, psdu.unit) else {
                unreachable!("a user has a resource unit")
            };
            control = Some(control.map_or(control_rate, |one| {
                if one.bps < control_rate.bps { one } else { control_rate }
            }));
            width = high.channel_width_mhz;
            let response = high.responding(ofdma.block_ack_mcs);
            let mut request = None;
            let sending = if by_trigger {
                let info = UserInfo {
                    station_id: receiver as u16,
                    unit: allocation(unit),
                    ldpc: all.has_ldpc(by, receiver),
                    mcs: response.mcs,
                    streams: 1,
                    asks: Asks::BlockAck(self.tid(by), wrapped(window_start)),
                };
                infos.push(info);
                let rate = Rate { modulation: Modulation::High(response), ..rate };
                let subframe = Some(Subframe { reference: 0, is_last: true, is_alone: true });
                let unit = ResourceUnit { preamble: response.preamble_time, ..unit };
                Sending {
                    rate,
                    is_uplink: true,
                    ldpc: info.ldpc,
                    subframe,
                    unit: Some(Unit::triggered(unit)),
                }
            } else {
                if place > 0 {
                    let left = |end: Duration| micros_up(total - end);
                    let airtime =
                        all.phy.ppdu_time(aggregation.block_ack_request_bits, control_rate);
                    request = Some((start + at, control_rate, left(at + airtime)));
                    at += airtime + hop;
                }
                Sending::alone(aggregation.block_ack_rate)
            };
            users.push(User {
                receiver,
                frames: Vec::new(),
                sendings: Vec::new(),
                came: None,
                window_start,
                request,
                answer: Some((start + at, sending)),
                has_block_ack: true,
            });
            if !by_trigger {
                at +=
                    all.phy.ppdu_time(aggregation.block_ack_bits, aggregation.block_ack_rate) + hop;
            }
        }
        let trigger = control.filter(|_| by_trigger).map(|rate| {
            let mut frame = Frame::default();
            let bits = Trigger::MuBar.bits(infos.len() as u64);
            let airtime = all.phy.ppdu_time(bits, rate);
            let response = (at + airtime + hop, total);
            let answers = users.iter_mut().flat_map(|user| &mut user.answer);
            answers.for_each(|answer| answer.0 = start + response.0);
            let (left, response) =
                (total - at - airtime, all.without_extension(total - response.0));
            frame.trigger(micros_up(left), address_of(sender), (width, response), &infos);
            (start + at, rate, frame)
        });
        Pending { by, sender, start, trigger, users }
    }
}

/// Returns the RU Allocation subfield of a resource unit (Table 9-31g): bit 0 selects the upper 80
/// MHz of 160 MHz, the others number the units of 26 tones, then those of 52, and so on.
pub(super) fn allocation(unit: ResourceUnit) -> u8 {
    let (first, in_80_mhz) = match unit.tones {
        26 => (0, 37),
        52 => (37, 16),
        106 => (53, 8),
        242 => (61, 4),
        484 => (65, 2),
        996 => (67, 1),
        _ => (68, 1),
    };
    (((first + unit.place % in_80_mhz) << 1) | (unit.place / in_80_mhz)) as u8
}

impl Capture {
    /// Records what has come of the PSDU to `receiver`. Writes the PPDU when all is known.
    pub(super) fn came_to(&mut self, receiver: StationId, came: Vec<u64>) {
        let mut users = self.on_air().pending.iter_mut().flat_map(|sent| &mut sent.users);
        if let Some(user) = users.find(|user| user.receiver == receiver) {
            user.came = Some(came);
        }
        let mut users = self.on_air().pending.iter().flat_map(|sent| &sent.users);
        if users.all(|user| user.came.is_some()) {
            self.settle(|_| true);
        }
    }

    /// Writes the trigger or requests that follow a PPDU, and the responses.
    pub(super) fn write_answers(&mut self, sent: Pending) {
        let Pending { by, sender, trigger, users, .. } = sent;
        let is_triggered = trigger.is_some();
        if let Some((start, rate, frame)) = trigger {
            self.frame = frame;
            self.write(sender, start, rate, true);
        }
        let (to, tid) = (address_of(sender), self.tids[by as usize]);
        for User { receiver, window_start, request, answer, has_block_ack, .. } in users {
            let (Some((start, sending)), from) = (answer, address_of(receiver)) else { continue };
            if let Some((at, rate, duration)) = request {
                let first = wrapped(window_start);
                self.frame.block_ack_request(duration, [from, to], tid, first);
                self.write(sender, at, rate, true);
            }
            if let (true, Some(window)) = (has_block_ack, self.window(by, receiver)) {
                if is_triggered || request.is_some() {
                    self.agreements.entry((by, receiver)).or_default().request(window_start);
                }
                self.block_ack((by, receiver), [to, from], window);
            } else {
                self.frame.ack(to);
            }
            self.write_own(receiver, start, &sending, true);
        }
    }

    /// Writes the trigger that begins at `start` after a PPDU to several users that has collided,
    /// and the responses. Returns false if none was due then.
    pub(super) fn trigger_after_collision(&mut self, start: Time) -> bool {
        let due = |sent: &Pending| sent.trigger.as_ref().is_some_and(|&(at, ..)| at == start);
        let Some(sent) = self.on_air().triggered.take().filter(due) else { return false };
        self.settle(|_| true);
        self.write_answers(sent);
        true
    }
}
