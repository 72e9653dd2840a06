//! Triggers of uplink OFDMA in a capture file (IEEE Std 802.11ax-2021, 26.5.2): buffer status
//! reports, or data of several stations at once and their common Block ACK.

use airtcp_kernel::{Duration, Time};
use airtcp_wlan::{
    AccessCategory, ContenderId, FrameTimes, HighRate, LOWEST_OFDM_RATE, Modulation, Rate,
    TriggeredFrames, TriggeredPsdu,
};

use super::super::parts::Entities;
use super::agreements::BlockAck;
use super::users::allocation;
use super::{Capture, address_of, micros_up, wrapped};
use crate::packet::Packet;
use crate::pcap::frame::{Asks, Frame, StationInfo, UserInfo};
use crate::pcap::radiotap::{Sending, Subframe, Unit};

/// The highest MCS of a trigger-based PPDU of 802.11ax.
const HE_MAX_MCS: u8 = 11;

/// The times of a trigger, the responses and their acknowledgment, from the start of the exchange.
struct Parts {
    trigger: (Duration, Duration),
    response: (Duration, Duration),
    answer: (Duration, Duration),
    /// Whether it asks for reports instead of data.
    is_report: bool,
}

impl Capture {
    /// Captures the trigger of `by` and what follows it, or only a trigger that collides.
    #[cold]
    pub(in crate::world) fn triggered(
        &mut self,
        all: Entities<'_>,
        by: ContenderId,
        start: Time,
        times: &FrameTimes,
        users: &[TriggeredPsdu<'_, Packet>],
        collides: bool,
    ) {
        if users.is_empty() {
            return;
        }
        self.settle_before(start, collides);
        let [first, _, second, last] = times.intervals(all.phy);
        let is_report = times.rts == Duration::ZERO;
        let [trigger, response, answer] =
            if is_report { [second, last, last] } else { [first, second, last] };
        let parts = Parts { trigger, response, answer, is_report };
        self.write_trigger(all, by, &parts, users);
        let node = all.sender(by);
        if collides {
            self.write_collided(node, start, LOWEST_OFDM_RATE);
        } else {
            self.write(node, start, LOWEST_OFDM_RATE, true);
            for user in users {
                self.write_response(all, (by, start), &parts, user);
            }
            self.write_acknowledgment(all, (by, start + parts.answer.0), users);
        }
    }

    /// Creates the trigger to `users`.
    fn write_trigger(
        &mut self,
        all: Entities<'_>,
        by: ContenderId,
        parts: &Parts,
        users: &[TriggeredPsdu<'_, Packet>],
    ) {
        let asks = |user: &TriggeredPsdu<'_, Packet>| {
            if parts.is_report {
                return Asks::Report;
            }
            Asks::Data(match all.transmitters[user.by as usize].category {
                None | Some(AccessCategory::BestEffort) => 0,
                Some(AccessCategory::Background) => 1,
                Some(AccessCategory::Video) => 2,
                Some(AccessCategory::Voice) => 3,
            })
        };
        let access_point = all.sender(by);
        let info = |user: &TriggeredPsdu<'_, Packet>| {
            let (_, high) = all.triggered_rate(user.class);
            UserInfo {
                station_id: all.sender(user.by) as u16,
                unit: allocation(user.unit),
                ldpc: all.has_ldpc(user.by, access_point),
                mcs: high.mcs,
                streams: high.spatial_streams,
                asks: asks(user),
            }
        };
        let infos: Vec<UserInfo> = users.iter().map(info).collect();
        let (_, high) = all.triggered_rate(users[0].class);
        let airtime = all.without_extension(parts.response.1 - parts.response.0);
        self.frame.trigger(
            micros_up(parts.answer.1 - parts.trigger.1),
            address_of(access_point),
            (high.channel_width_mhz, airtime),
            &infos,
        );
    }

    /// Writes what a station sends after the trigger of `by`.
    fn write_response(
        &mut self,
        all: Entities<'_>,
        (by, start): (ContenderId, Time),
        parts: &Parts,
        user: &TriggeredPsdu<'_, Packet>,
    ) {
        let [access_point, station] = [by, user.by].map(|one| all.sender(one));
        let addresses = [address_of(access_point), address_of(station)];
        let duration = micros_up(parts.answer.1 - parts.response.1);
        let (rate, high) = all.triggered_rate(user.class);
        let rate = Rate { modulation: Modulation::High(high), ..rate };
        let sending = Sending {
            rate,
            is_uplink: true,
            ldpc: all.has_ldpc(user.by, access_point),
            subframe: Some(Subframe { reference: self.ampdus + 1, is_last: true, is_alone: true }),
            unit: Some(Unit::triggered(user.unit)),
        };
        let tid = self.tid(user.by);
        let mut frame = Frame::default();
        match user.sends {
            TriggeredFrames::Report(bits) => frame.report(duration, addresses, tid, bits),
            TriggeredFrames::Request(window_start) => {
                let agreement = self.agreements.entry((user.by, access_point)).or_default();
                agreement.request(window_start);
                frame.block_ack_request(duration, addresses, tid, wrapped(window_start));
            }
            TriggeredFrames::Data { frames: psdu, .. } => {
                let window = self.window(user.by, access_point).expect("it has Block ACKs");
                let (frames, sendings) = self.data_frames(all, user.by, psdu, rate, duration, None);
                let came = |id| psdu.mpdus().iter().any(|one| one.id == id && one.is_received);
                for ((id, frame), own) in frames.iter().zip(sendings) {
                    let (sending, intact) =
                        (Sending { subframe: own.subframe, ..sending }, came(*id));
                    let at = start + parts.response.0;
                    self.write_frame(station, at, &sending, intact, frame);
                    if intact {
                        let key = (user.by, access_point);
                        self.agreements.entry(key).or_default().receive(*id, window);
                    }
                }
                return;
            }
        }
        self.ampdus += 1;
        let at = start + parts.response.0;
        self.write_frame(station, at, &sending, true, &frame);
    }

    /// Writes the Block ACK of what `users` have sent, if it needs one.
    fn write_acknowledgment(
        &mut self,
        all: Entities<'_>,
        (by, start): (ContenderId, Time),
        users: &[TriggeredPsdu<'_, Packet>],
    ) {
        let access_point = all.sender(by);
        let mut stations = Vec::<StationInfo>::new();
        for user in users {
            let all_received = match user.sends {
                TriggeredFrames::Report(_) | TriggeredFrames::Data { received: 0, .. } => continue,
                TriggeredFrames::Request(_) => false,
                TriggeredFrames::Data { lost, .. } => lost == 0,
            };
            let window = self.window(user.by, access_point).expect("it has Block ACKs");
            let agreement = self.agreements.entry((user.by, access_point)).or_default();
            let received = (!all_received).then(|| {
                let BlockAck { start, bitmap } = agreement.block_ack(window);
                (self.tids[user.by as usize], wrapped(start), bitmap)
            });
            stations.push((all.sender(user.by) as u16, received));
        }
        // Stations of OFDMA have the standard of their access point.
        let aggregation = all.scenario.mac.aggregation.as_ref();
        if let (Some(aggregation), Some((station, _))) = (aggregation, stations.first()) {
            let rate = aggregation.block_ack_rate;
            let only = (stations.len() == 1).then(|| address_of((*station).into()));
            self.frame.multi_station_block_ack((only, address_of(access_point)), &stations);
            self.write(access_point, start, rate, true);
        }
    }
}

impl Entities<'_> {
    /// Returns the rate of a class, also as that of a trigger-based PPDU.
    fn triggered_rate(self, class: u32) -> (Rate, HighRate) {
        let (rate, _) = self.scenario.rates_of(class);
        let Modulation::High(high) = rate.modulation else {
            unreachable!("a triggered station has 802.11ax")
        };
        let format = high.format;
        let triggered =
            HighRate { spatial_streams: high.spatial_streams, ..high.responding(high.mcs) };
        let has_he = high.mcs <= HE_MAX_MCS;
        (rate, if has_he { triggered } else { HighRate { format, ..triggered } })
    }
}
