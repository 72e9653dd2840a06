//! The choice of a receiver where an access serves one: a [`Scheduler`] chooses, [`Turns`] keep its
//! memory. Knows receivers by number and the airtime that they used, no packet.

use std::collections::VecDeque;

use airtcp_kernel::{Duration, Time};
use serde::Deserialize;

use super::Served;
use super::plugin::{self, Candidate, SchedulerNumber};

/// The choice of a receiver where an access serves one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Scheduler {
    /// Those of the receiver whose oldest packet came first.
    Oldest {},
    /// Receivers take turns, an access each.
    RoundRobin {},
    /// A scheduler that was registered.
    Own {
        /// Its name.
        name: SchedulerNumber,
    },
    /// Deficit round robin in airtime, both ways (Høiland-Jørgensen et al. 2017, Algorithm 3).
    Airtime {
        /// The airtime that a receiver of weight 256 may use in a round.
        #[serde(rename = "quantum_ns")]
        quantum: Duration,
        /// The airtime that may wait for a receiver below the discipline; any if `None`: then nothing
        /// is handed over before its access.
        #[serde(rename = "aql_ns")]
        aql: Option<Duration>,
    },
}

/// The weight of a receiver that has its quantum once a round.
const UNIT_WEIGHT: u64 = 256;

/// The memory of a scheduler.
#[derive(Debug)]
pub(super) enum Turns {
    Oldest,
    RoundRobin {
        /// The receiver that was served last.
        last: Option<u32>,
    },
    Airtime(Box<Deficits>),
    Own(Box<dyn plugin::Scheduler>),
}

impl Turns {
    pub(super) fn new(scheduler: Scheduler, service: &Served) -> Self {
        match scheduler {
            Scheduler::Oldest {} => Self::Oldest,
            Scheduler::RoundRobin {} => Self::RoundRobin { last: None },
            Scheduler::Own { name } => Self::Own(name.made(&service.receivers)),
            Scheduler::Airtime { quantum, .. } => {
                Self::Airtime(Box::new(Deficits::new(quantum, service)))
            }
        }
    }

    /// Chooses the receiver to serve, of those for which the MAC has something `waiting` and those for which
    /// there is something `here`, each with the arrival of its oldest packet.
    ///
    /// What waits in the MAC was taken before what waits here, and goes first if both came at once.
    pub(super) fn choose(
        &mut self,
        waiting: impl Iterator<Item = (u32, Option<Time>)>,
        here: impl Iterator<Item = (u32, Option<Time>)>,
    ) -> Option<u32> {
        let mut all = waiting.chain(here);
        match self {
            Self::Oldest => all.min_by_key(|&(_, arrived)| arrived).map(|(receiver, _)| receiver),
            Self::RoundRobin { last } => {
                // Those behind the last one served come before those up to it.
                let before = last.unwrap_or(u32::MAX);
                let next =
                    all.map(|(receiver, _)| receiver).min_by_key(|&one| (one <= before, one));
                *last = next.or(*last);
                next
            }
            Self::Airtime(deficits) => deficits.choose(&mut all),
            Self::Own(scheduler) => chosen(&mut **scheduler, &mut all),
        }
    }

    pub(super) fn charge(&mut self, to: u32, airtime: Duration) {
        match self {
            Self::Airtime(deficits) => deficits.charge(to, airtime),
            Self::Own(scheduler) => scheduler.charge(to, airtime),
            Self::Oldest | Self::RoundRobin { .. } => {}
        }
    }
}

/// Returns the receiver that a registered scheduler chooses.
fn chosen(
    scheduler: &mut dyn plugin::Scheduler,
    all: &mut dyn Iterator<Item = (u32, Option<Time>)>,
) -> Option<u32> {
    let mut candidates: Vec<Candidate> =
        all.map(|(receiver, oldest)| Candidate { receiver, oldest }).collect();
    candidates.sort_by_key(|one| (one.receiver, one.oldest));
    candidates.dedup_by_key(|one| one.receiver);
    let first = candidates.first()?.receiver;
    let receiver = scheduler.choose(&candidates);
    if candidates.iter().any(|one| one.receiver == receiver) {
        return Some(receiver);
    }
    scheduler.breaks(format!("choose: nothing waits for receiver {receiver}"));
    Some(first)
}

/// Deficit round robin in airtime.
#[derive(Debug, Default)]
pub(super) struct Deficits {
    /// By receiver.
    accounts: Vec<Account>,
    /// The airtime that each has in a round, by receiver.
    quanta: Vec<i64>,
    /// The airtime that each of the others has in a round.
    quantum: i64,
    /// Receivers for which packets came while they had no turn.
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    /// The number of times that a receiver was chosen.
    round: u64,
}

#[derive(Clone, Copy, Debug)]
struct Account {
    /// Airtime that it may still use in this round; below 0, what it has used too much. \[ns\]
    deficit: i64,
    is_listed: bool,
    /// The last `round` in which there was something for it.
    seen: u64,
}

impl Deficits {
    fn new(quantum: Duration, service: &Served) -> Self {
        let of_weight = |weight: u64| {
            let nanos = u128::from(quantum.as_nanos()) * u128::from(weight);
            (nanos / u128::from(UNIT_WEIGHT)).max(1) as i64
        };
        Self {
            quanta: service.receivers.iter().map(|one| of_weight(one.weight.into())).collect(),
            quantum: of_weight(UNIT_WEIGHT),
            ..Self::default()
        }
    }

    fn quantum_of(&self, receiver: u32) -> i64 {
        self.quanta.get(receiver as usize).copied().unwrap_or(self.quantum)
    }

    fn account(&mut self, receiver: u32) -> &mut Account {
        let index = receiver as usize;
        while self.accounts.len() <= index {
            let deficit = self.quantum_of(self.accounts.len() as u32);
            self.accounts.push(Account { deficit, is_listed: false, seen: 0 });
        }
        &mut self.accounts[index]
    }

    fn charge(&mut self, to: u32, airtime: Duration) {
        self.account(to).deficit -= airtime.as_nanos() as i64;
    }

    fn choose(&mut self, all: &mut dyn Iterator<Item = (u32, Option<Time>)>) -> Option<u32> {
        self.round += 1;
        let round = self.round;
        // Whole rounds in which nobody gets a turn are not gone through.
        let mut idle_rounds = i64::MAX;
        for (receiver, _) in all {
            let quantum = self.quantum_of(receiver);
            let account = self.account(receiver);
            account.seen = round;
            idle_rounds = idle_rounds.min(-account.deficit / quantum);
            if !account.is_listed {
                account.is_listed = true;
                self.new.push_back(receiver);
            }
        }
        if idle_rounds == i64::MAX {
            return None;
        }
        if idle_rounds > 0 {
            for place in 0..self.accounts.len() {
                let quantum = self.quantum_of(place as u32);
                let account = &mut self.accounts[place];
                if account.is_listed {
                    account.deficit += idle_rounds * quantum;
                }
            }
        }
        loop {
            let (receiver, is_new) = match (self.new.front(), self.old.front()) {
                (Some(&receiver), _) => (receiver, true),
                (None, front) => (*front?, false),
            };
            let quantum = self.quantum_of(receiver);
            let account = &mut self.accounts[receiver as usize];
            let has_packets = account.seen == round;
            if account.deficit > 0 && has_packets {
                return Some(receiver);
            }
            if is_new {
                self.new.pop_front()
            } else {
                self.old.pop_front()
            };
            if account.deficit <= 0 {
                account.deficit += quantum;
                self.old.push_back(receiver);
            } else if is_new {
                // As among flows: once through the others before it is new again.
                self.old.push_back(receiver);
            } else {
                account.is_listed = false;
            }
        }
    }
}
