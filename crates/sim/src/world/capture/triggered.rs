//! Triggers of uplink OFDMA in a capture file (IEEE Std 802.11ax-2021, 26.5.2): buffer status
//! reports, or data of several stations at once and their common Block ACK.

use airtcp_kernel::{Duration, Time};
use airtcp_wlan::{
    AccessCategory, ContenderId, FrameTimes, HighRate, LOWEST_OFDM_RATE, Modulation, Rate,
    TriggeredFrames, TriggeredPsdu,
};

use super::super::World;
use super::agreements::BlockAck;
use super::on_air::write_around;
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

impl World<'_> {
    /// Captures the trigger of `by` and what follows it, or only a trigger that collides.
    #[cold]
    pub(in crate::world) fn capture_triggered(
        &mut self,
        by: ContenderId,
        start: Time,
        times: &FrameTimes,
        users: &[TriggeredPsdu<'_, Packet>],
        collides: bool,
    ) {
        let Some(mut capture) = self.watchers.capture.take_if(|_| !users.is_empty()) else {
            return;
        };
        capture.settle_before(start, collides);
        let [first, _, second, last] = times.intervals(self.phy);
        let is_report = times.rts == Duration::ZERO;
        let [trigger, response, answer] =
            if is_report { [second, last, last] } else { [first, second, last] };
        let parts = Parts { trigger, response, answer, is_report };
        self.write_trigger(&mut capture, by, &parts, users);
        let node = self.transmitters[by as usize].node;
        if collides {
            capture.write_collided(node, start, LOWEST_OFDM_RATE);
        } else {
            capture.write(node, start, LOWEST_OFDM_RATE, true);
            for user in users {
                self.write_response(&mut capture, (by, start), &parts, user);
            }
            self.write_acknowledgment(&mut capture, (by, start + parts.answer.0), users);
        }
        self.watchers.capture = Some(capture);
    }

    /// Creates the trigger to `users`.
    fn write_trigger(
        &self,
        capture: &mut Capture,
        by: ContenderId,
        parts: &Parts,
        users: &[TriggeredPsdu<'_, Packet>],
    ) {
        let asks = |user: &TriggeredPsdu<'_, Packet>| {
            if parts.is_report {
                return Asks::Report;
            }
            Asks::Data(match self.transmitters[user.by as usize].category {
                None | Some(AccessCategory::BestEffort) => 0,
                Some(AccessCategory::Background) => 1,
                Some(AccessCategory::Video) => 2,
                Some(AccessCategory::Voice) => 3,
            })
        };
        let access_point = self.transmitters[by as usize].node;
        let info = |user: &TriggeredPsdu<'_, Packet>| {
            let (_, high) = self.triggered_rate(user.class);
            UserInfo {
                station_id: self.transmitters[user.by as usize].node as u16,
                unit: allocation(user.unit),
                ldpc: self.has_ldpc(user.by, access_point),
                mcs: high.mcs,
                streams: high.spatial_streams,
                asks: asks(user),
            }
        };
        let infos: Vec<UserInfo> = users.iter().map(info).collect();
        let (_, high) = self.triggered_rate(users[0].class);
        let airtime = self.without_extension(parts.response.1 - parts.response.0);
        capture.frame.trigger(
            micros_up(parts.answer.1 - parts.trigger.1),
            address_of(access_point),
            (high.channel_width_mhz, airtime),
            &infos,
        );
    }

    /// Writes what a station sends after the trigger of `by`.
    fn write_response(
        &self,
        capture: &mut Capture,
        (by, start): (ContenderId, Time),
        parts: &Parts,
        user: &TriggeredPsdu<'_, Packet>,
    ) {
        let [access_point, station] = [by, user.by].map(|one| self.transmitters[one as usize].node);
        let addresses = [address_of(access_point), address_of(station)];
        let duration = micros_up(parts.answer.1 - parts.response.1);
        let (rate, high) = self.triggered_rate(user.class);
        let rate = Rate { modulation: Modulation::High(high), ..rate };
        let sending = Sending {
            rate,
            is_uplink: true,
            ldpc: self.has_ldpc(user.by, access_point),
            subframe: Some(Subframe {
                reference: capture.ampdus + 1,
                is_last: true,
                is_alone: true,
            }),
            unit: Some(Unit::triggered(user.unit)),
        };
        let tid = self.tid(user.by);
        let mut frame = Frame::default();
        match user.sends {
            TriggeredFrames::Report(bits) => frame.report(duration, addresses, tid, bits),
            TriggeredFrames::Request(window_start) => {
                let agreement = capture.agreements.entry((user.by, access_point)).or_default();
                agreement.request(window_start);
                frame.block_ack_request(duration, addresses, tid, wrapped(window_start));
            }
            TriggeredFrames::Data { frames: psdu, .. } => {
                let window = capture.window(user.by, access_point).expect("it has Block ACKs");
                let (frames, sendings) =
                    self.data_frames(capture, user.by, psdu, rate, duration, None);
                let came = |id| psdu.mpdus().iter().any(|one| one.id == id && one.is_received);
                for ((id, frame), own) in frames.iter().zip(sendings) {
                    let (sending, intact) =
                        (Sending { subframe: own.subframe, ..sending }, came(*id));
                    let at = start + parts.response.0;
                    write_around(
                        &mut capture.pcap,
                        &capture.around,
                        station,
                        at,
                        &sending,
                        intact,
                        frame,
                    );
                    if intact {
                        let key = (user.by, access_point);
                        capture.agreements.entry(key).or_default().receive(*id, window);
                    }
                }
                return;
            }
        }
        capture.ampdus += 1;
        let at = start + parts.response.0;
        write_around(&mut capture.pcap, &capture.around, station, at, &sending, true, &frame);
    }

    /// Writes the Block ACK of what `users` have sent, if it needs one.
    fn write_acknowledgment(
        &self,
        capture: &mut Capture,
        (by, start): (ContenderId, Time),
        users: &[TriggeredPsdu<'_, Packet>],
    ) {
        let access_point = self.transmitters[by as usize].node;
        let mut stations = Vec::<StationInfo>::new();
        for user in users {
            let all_received = match user.sends {
                TriggeredFrames::Report(_) | TriggeredFrames::Data { received: 0, .. } => continue,
                TriggeredFrames::Request(_) => false,
                TriggeredFrames::Data { lost, .. } => lost == 0,
            };
            let window = capture.window(user.by, access_point).expect("it has Block ACKs");
            let agreement = capture.agreements.entry((user.by, access_point)).or_default();
            let received = (!all_received).then(|| {
                let BlockAck { start, bitmap } = agreement.block_ack(window);
                (self.tid(user.by), wrapped(start), bitmap)
            });
            stations.push((self.transmitters[user.by as usize].node as u16, received));
        }
        // Stations of OFDMA have the standard of their access point.
        let aggregation = self.scenario.mac.aggregation.as_ref();
        if let (Some(aggregation), Some((station, _))) = (aggregation, stations.first()) {
            let rate = aggregation.block_ack_rate;
            let only = (stations.len() == 1).then(|| address_of((*station).into()));
            capture.frame.multi_station_block_ack((only, address_of(access_point)), &stations);
            capture.write(access_point, start, rate, true);
        }
    }

    /// Returns the rate of a class, also as that of a trigger-based PPDU.
    fn triggered_rate(&self, class: u32) -> (Rate, HighRate) {
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

    /// Returns the airtime of a PPDU without the signal extension of 2.4 GHz.
    pub(super) fn without_extension(&self, airtime: Duration) -> Duration {
        airtime - self.phy.high_rate.map_or(Duration::ZERO, |one| one.signal_extension)
    }
}
