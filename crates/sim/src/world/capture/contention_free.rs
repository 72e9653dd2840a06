//! Frames of contention-free periods in a capture file.

use airtcp_kernel::{Duration, Time};
use airtcp_wlan::{CfFrame, PcfConfig};

use super::super::parts::Entities;
use super::on_air::{Pending, User};
use super::{Capture, TIME_UNIT_NS};
use crate::packet::Packet;
use crate::pcap::frame::{Cf, CfParameters};

impl Capture {
    /// Captures a frame that begins at `start`. A frame with data is written when it is known
    /// whether it was received.
    pub(in crate::world) fn contention_free(
        &mut self,
        all: Entities<'_>,
        start: Time,
        frame: &CfFrame<'_, Packet>,
    ) {
        self.settle(|_| true);
        let CfFrame { by, receiver, psdu, acknowledges, polls, ends, class, .. } = *frame;
        let cf = Cf { acknowledges, polls };
        let node = all.sender(by);
        let [sender, far] = all.addresses_on_air(by, receiver);
        let (rate, _) = all.scenario.rates_of(class);
        if ends.is_some() {
            self.frame.cf_end(sender, acknowledges);
            self.write(node, start, all.cf_end_rate(), true);
        } else if let Some(psdu) = psdu {
            let frames = self.data_frames(all, by, psdu, rate, 0, Some(cf));
            let (trigger, users) = (None, vec![User::only(receiver, frames, None, false)]);
            self.on_air().pending = Some(Pending { by, sender: node, start, trigger, users });
        } else {
            let is_uplink = all.nodes[receiver as usize].is_access_point();
            let (station, bssid) = if is_uplink { (sender, far) } else { (far, sender) };
            self.frame.without_data(!is_uplink, station, bssid, cf);
            self.write(node, start, rate, true);
        }
    }
}

/// Returns the CF parameters of a beacon that is sent at `start`. It was due at the last multiple
/// of the interval, and begins a period if that is a target time of periods.
pub(super) fn cf_parameters(pcf: PcfConfig, beacons: Duration, start: Time) -> CfParameters {
    let units = |nanos: u64| u16::try_from(nanos / TIME_UNIT_NS).unwrap_or(u16::MAX);
    let number = start.as_nanos() / beacons.as_nanos();
    let period = pcf.interval.as_nanos() / beacons.as_nanos();
    let count = number.next_multiple_of(period) - number;
    let ends = number * beacons.as_nanos() + pcf.max_duration.as_nanos();
    let remaining = if count == 0 { ends.saturating_sub(start.as_nanos()) } else { 0 };
    CfParameters {
        count: u8::try_from(count).unwrap_or(u8::MAX),
        period: u8::try_from(period).unwrap_or(u8::MAX),
        max_duration: units(pcf.max_duration.as_nanos()),
        remaining: units(remaining),
    }
}
