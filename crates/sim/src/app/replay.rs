//! Transfers with given start times and sizes, such as from a server's log. They begin
//! independently of those in progress.

use std::rc::Rc;

use airtcp_kernel::{Duration, Time};
use serde::Deserialize;

use super::transfer::{Transfers, whole_bytes};
use super::{Actions, Setting};

/// Given transfers, in the resolved form of a scenario.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplayConfig {
    /// For each station of the group: start times of its transfers in seconds, ascending, and their
    /// bytes.
    transfers: Vec<Vec<(f64, f64)>>,
    /// Size of the client's request in bytes; zero: no request.
    request_bytes: u64,
}

impl ReplayConfig {
    pub(super) fn check(&self) -> Result<(), &'static str> {
        let is_sorted = |list: &Vec<(f64, f64)>| list.is_sorted_by(|one, next| one.0 <= next.0);
        let is_sound = |&(time, bytes): &(f64, f64)| {
            (0.0..=1e9).contains(&time) && bytes.is_finite() && bytes > 0.0
        };
        if !self.transfers.iter().all(is_sorted) {
            Err("transfers are not in the order of their times")
        } else if !self.transfers.iter().flatten().all(is_sound) {
            Err("transfers need times of at least 0 and sizes above 0")
        } else {
            Ok(())
        }
    }
}

/// The part of it that one station replays.
#[derive(Clone, Debug)]
pub(super) struct Replay {
    config: Rc<ReplayConfig>,
    pad: Option<u32>,
    /// The index of its station in the group.
    station: usize,
    /// The number of its transfers that have begun.
    begun: usize,
}

impl Replay {
    pub(super) fn new(config: &ReplayConfig, setting: Setting) -> Self {
        Self { config: Rc::new(config.clone()), pad: setting.pad, station: 0, begun: 0 }
    }

    /// Selects the part of the station with this number in its group.
    pub(super) fn at_station(&mut self, station: u32) {
        self.station = station as usize;
    }

    /// Returns when the next transfer begins, and its bytes.
    fn next(&self) -> Option<(Time, f64)> {
        let (time, bytes) = *self.config.transfers.get(self.station)?.get(self.begun)?;
        Some((Time::ZERO + Duration::from_secs_f64(time), bytes))
    }

    pub(super) fn start(&self, actions: &mut Actions) {
        if let Some((at, _)) = self.next() {
            actions.wake(at);
        }
    }

    pub(super) fn wake(&mut self, transfers: &mut Transfers, actions: &mut Actions) {
        let (_, bytes) = self.next().expect("it was woken for one");
        self.begun += 1;
        transfers.begin(whole_bytes(bytes, self.pad), self.config.request_bytes, true, actions);
        if let Some((at, _)) = self.next() {
            actions.wake(at.max(actions.now));
        }
    }
}
