//! Frames of contention-free periods in a capture file.

use airtcp_kernel::{Duration, Time};
use airtcp_wlan::{CfFrame, PcfConfig};

use super::super::World;
use super::TIME_UNIT_NS;
use super::on_air::{Pending, User};
use crate::packet::Packet;
use crate::pcap::frame::{Cf, CfParameters};

impl World<'_> {
    /// Captures a frame that begins at `start`. A frame with data is written when it is known
    /// whether it was received.
    pub(in crate::world) fn capture_contention_free(
        &mut self,
        start: Time,
        frame: &CfFrame<'_, Packet>,
    ) {
        let Some(mut capture) = self.watchers.capture.take() else { return };
        capture.settle(|_| true);
        let CfFrame { by, receiver, psdu, acknowledges, polls, ends, class, .. } = *frame;
        let cf = Cf { acknowledges, polls };
        let node = self.transmitters[by as usize].node;
        let [sender, far] = self.addresses_on_air(by, receiver);
        let (rate, _) = self.scenario.rates_of(class);
        if ends.is_some() {
            capture.frame.cf_end(sender, acknowledges);
            capture.write(node, start, self.cf_end_rate(), true);
        } else if let Some(psdu) = psdu {
            let frames = self.data_frames(&mut capture, by, psdu, rate, 0, Some(cf));
            let (trigger, users) = (None, vec![User::only(receiver, frames, None, false)]);
            capture.on_air.pending = Some(Pending { by, sender: node, start, trigger, users });
        } else {
            let is_uplink = self.nodes[receiver as usize].is_access_point();
            let (station, bssid) = if is_uplink { (sender, far) } else { (far, sender) };
            capture.frame.without_data(!is_uplink, station, bssid, cf);
            capture.write(node, start, rate, true);
        }
        self.watchers.capture = Some(capture);
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
