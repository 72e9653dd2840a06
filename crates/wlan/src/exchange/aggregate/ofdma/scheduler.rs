//! Who shares a PPDU of an access point: round robin over the stations by credits, as
//! `RrMultiUserScheduler` of ns-3 3.44 does it, or a schedule from the scenario.

use airtcp_kernel::Duration;

use crate::config::{OfdmaConfig, OfdmaScheduler};
use crate::phy::Division;
use crate::station::StationId;

/// The most credits of a station, in microseconds.
const MOST_CREDITS: f64 = 1e6;

/// Chooses the users of each PPDU.
#[derive(Debug)]
pub(super) enum Scheduler {
    RoundRobin(RoundRobin),
    Fixed(Fixed),
}

impl Scheduler {
    /// Creates the scheduler of an access point with these stations.
    pub(super) fn new(config: &OfdmaConfig, stations: Vec<StationId>) -> Self {
        match config.scheduler {
            OfdmaScheduler::RoundRobin => Self::RoundRobin(RoundRobin::new(stations.into_iter())),
            OfdmaScheduler::Fixed => {
                let of_turn = |turn: &Vec<usize>| turn.iter().map(|&one| stations[one]).collect();
                Self::Fixed(Fixed { turns: config.turns.iter().map(of_turn).collect(), next: 0 })
            }
        }
    }

    /// Returns any station; all have the same channel width.
    pub(super) fn any(&self) -> Option<StationId> {
        match self {
            Self::RoundRobin(one) => one.any(),
            Self::Fixed(one) => one.turns.first()?.first().copied(),
        }
    }

    /// Chooses the users of a PPDU among the stations for which `has_frame` is true.
    pub(super) fn choose(
        &mut self,
        width_mhz: u16,
        has_frame: impl Fn(StationId) -> bool,
    ) -> Option<(Division, Vec<StationId>)> {
        match self {
            Self::RoundRobin(one) => one.choose(width_mhz, has_frame),
            Self::Fixed(one) => one.choose(width_mhz, has_frame),
        }
    }

    /// Ends the turn of `users`, whose PPDU lasts `airtime`.
    pub(super) fn charge(&mut self, users: &[StationId], airtime: Duration) {
        match self {
            Self::RoundRobin(one) => one.charge(users, airtime),
            Self::Fixed(one) => one.next = (one.next + 1) % one.turns.len(),
        }
    }
}

/// A schedule: the users of one PPDU after the other, from the beginning again after the last.
#[derive(Debug)]
pub(super) struct Fixed {
    turns: Vec<Vec<StationId>>,
    next: usize,
}

impl Fixed {
    /// Chooses those users of the next turn that have a frame, and passes over turns without any.
    /// They get resource units of the largest type of which there is one for each.
    fn choose(
        &mut self,
        width_mhz: u16,
        has_frame: impl Fn(StationId) -> bool,
    ) -> Option<(Division, Vec<StationId>)> {
        for turn in (0..self.turns.len()).map(|one| (self.next + one) % self.turns.len()) {
            let stations = self.turns[turn].iter().copied();
            let users: Vec<_> = stations.filter(|&one| has_frame(one)).collect();
            if !users.is_empty() {
                self.next = turn;
                return Some((Division::for_all(width_mhz, users.len())?, users));
            }
        }
        None
    }
}

/// The stations with their credits in microseconds, most credits first.
#[derive(Debug)]
pub(super) struct RoundRobin(Vec<(StationId, f64)>);

impl RoundRobin {
    pub(super) fn new(stations: impl Iterator<Item = StationId>) -> Self {
        Self(stations.map(|station| (station, 0.0)).collect())
    }

    /// Returns any station; all have the same channel width.
    pub(super) fn any(&self) -> Option<StationId> {
        self.0.first().map(|&(station, _)| station)
    }

    /// Chooses the users of a PPDU among the stations for which `has_frame` is true: the first ones,
    /// up to the number of equal resource units of the smallest type of which there are no more than
    /// stations. They get resource units of the smallest type of which there are no more than users;
    /// the last users have to wait if there are fewer. `None` without users.
    pub(super) fn choose(
        &self,
        width_mhz: u16,
        has_frame: impl Fn(StationId) -> bool,
    ) -> Option<(Division, Vec<StationId>)> {
        let most = Division::among(width_mhz, self.0.len())?.units;
        let stations = self.0.iter().map(|&(station, _)| station);
        let mut users: Vec<_> = stations.filter(|&one| has_frame(one)).take(most).collect();
        let division = Division::among(width_mhz, users.len())?;
        users.truncate(division.units);
        Some((division, users))
    }

    /// Charges `users` with their shares of a PPDU that lasts `airtime`, all of which is given back
    /// to all stations in equal parts.
    pub(super) fn charge(&mut self, users: &[StationId], airtime: Duration) {
        let micros = airtime.as_nanos() as f64 / 1e3;
        let (credit, debit) = (micros / self.0.len() as f64, micros / users.len() as f64);
        for (station, credits) in &mut self.0 {
            *credits = (*credits + credit).min(MOST_CREDITS);
            if users.contains(station) {
                *credits -= debit;
            }
        }
        self.0.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stations without a frame are left out, and a turn without any is passed over.
    #[test]
    fn a_schedule_goes_on_where_somebody_has_a_frame() {
        let mut fixed = Fixed { turns: vec![vec![1, 2, 3], vec![4], vec![2, 4]], next: 0 };
        // Three users in 20 MHz: two units of 106 tones are too few, so four of 52.
        let (division, users) = fixed.choose(20, |_| true).unwrap();
        assert_eq!((division.units, users), (4, vec![1, 2, 3]));
        // A turn that was not used comes again.
        let (division, users) = fixed.choose(20, |one| one != 1).unwrap();
        assert_eq!((division.units, users), (2, vec![2, 3]));

        let mut fixed = Scheduler::Fixed(fixed);
        fixed.charge(&[2, 3], Duration::ZERO);
        assert_eq!(fixed.choose(20, |one| one < 4).unwrap().1, [2]);
        fixed.charge(&[2], Duration::ZERO);
        assert_eq!(fixed.choose(20, |one| one < 4).unwrap().1, [1, 2, 3]);
        assert_eq!(fixed.choose(20, |_| false), None);
    }

    /// Eight stations in 20 MHz: nine resource units are too many, so four are served at a time.
    #[test]
    fn stations_take_turns() {
        let mut turns = RoundRobin::new(1..9);
        let mut all = Vec::new();
        for _ in 0..2 {
            let (division, users) = turns.choose(20, |_| true).unwrap();
            assert_eq!(division.units, 4);
            turns.charge(&users, Duration::from_micros(5_000));
            all.extend(users);
        }
        assert_eq!(all, [1, 2, 3, 4, 5, 6, 7, 8]);
    }

    /// Three users in 20 MHz: there are four units of 52 tones and two of 106, so one user waits, and
    /// goes first the next time.
    #[test]
    fn who_gets_no_resource_unit_waits() {
        let mut turns = RoundRobin::new(1..5);
        let choose = |turns: &RoundRobin| turns.choose(20, |one| one != 4).unwrap().1;
        let users = choose(&turns);
        assert_eq!(users, [1, 2]);

        turns.charge(&users, Duration::from_micros(5_000));

        assert_eq!(choose(&turns), [3, 1]);
        assert_eq!(turns.choose(20, |_| false), None);
    }
}
