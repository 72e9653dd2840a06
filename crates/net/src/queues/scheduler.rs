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

    pub(super) fn charge(&mut self, now: Time, to: u32, airtime: Duration) {
        match self {
            Self::Airtime(deficits) => deficits.charge(now, to, airtime),
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

/// A receiver is charged with exchanges only until this long after a packet last waited for it, as in mac80211: a
/// station that only sends builds up no debt.
const ACTIVE: Duration = Duration::from_millis(100);

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
    /// The number of choices so far.
    choices: u64,
    /// The time of the last charge.
    now: Time,
}

#[derive(Clone, Copy, Debug)]
struct Account {
    /// Airtime that it may still use in this round; below 0, what it has used too much. \[ns\]
    deficit: i64,
    is_listed: bool,
    /// The last choice at which there was something for it.
    seen: u64,
    /// The time of that choice.
    active: Time,
}

impl Account {
    /// Returns the number of quanta that lift its deficit above zero.
    fn quanta_due(&self, quantum: i64) -> i64 {
        if self.deficit > 0 { 0 } else { 1 - self.deficit / quantum }
    }
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
            let account = Account { deficit, is_listed: false, seen: 0, active: Time::ZERO };
            self.accounts.push(account);
        }
        &mut self.accounts[index]
    }

    fn charge(&mut self, now: Time, to: u32, airtime: Duration) {
        self.now = now;
        let choices = self.choices;
        let account = self.account(to);
        if account.seen == choices {
            account.active = now;
        }
        if account.seen > 0 && now.saturating_since(account.active) <= ACTIVE {
            account.deficit -= airtime.as_nanos() as i64;
        }
    }

    fn choose(&mut self, all: &mut dyn Iterator<Item = (u32, Option<Time>)>) -> Option<u32> {
        self.choices += 1;
        let (choices, now) = (self.choices, self.now);
        let mut any = false;
        for (receiver, _) in all {
            any = true;
            let account = self.account(receiver);
            (account.seen, account.active) = (choices, now);
            if !account.is_listed {
                account.is_listed = true;
                self.new.push_back(receiver);
            }
        }
        if !any {
            return None;
        }
        while let Some(&receiver) = self.new.front() {
            if self.may_go(receiver) {
                return Some(receiver);
            }
            self.new.pop_front();
            self.refill(receiver);
            // As among flows: once through the others before it is new again.
            self.old.push_back(receiver);
        }
        self.skip_rounds();
        loop {
            let receiver = *self.old.front()?;
            if self.may_go(receiver) {
                return Some(receiver);
            }
            self.old.pop_front();
            if self.refill(receiver) {
                self.old.push_back(receiver);
            } else {
                self.accounts[receiver as usize].is_listed = false;
            }
        }
    }

    /// Returns whether there is something for `receiver`, and airtime left for it in this round.
    fn may_go(&self, receiver: u32) -> bool {
        let account = &self.accounts[receiver as usize];
        account.deficit > 0 && account.seen == self.choices
    }

    /// Gives `receiver` its quantum if it has used up its airtime. Returns whether it had.
    fn refill(&mut self, receiver: u32) -> bool {
        let quantum = self.quantum_of(receiver);
        let account = &mut self.accounts[receiver as usize];
        let is_due = account.deficit <= 0;
        if is_due {
            account.deficit += quantum;
        }
        is_due
    }

    /// Skips the rounds in which nobody gets a turn, in one step: a debt may be many quanta.
    fn skip_rounds(&mut self) {
        let Self { accounts, quanta, quantum, old, choices, .. } = self;
        let quantum_of = |receiver: u32| quanta.get(receiver as usize).copied().unwrap_or(*quantum);
        let due = |receiver: &u32| {
            let account = &accounts[*receiver as usize];
            (account.seen == *choices).then(|| account.quanta_due(quantum_of(*receiver)))
        };
        let rounds = old.iter().filter_map(due).min().unwrap_or(0);
        if rounds == 0 {
            return;
        }
        old.retain(|&receiver| {
            let quantum = quantum_of(receiver);
            let account = &mut accounts[receiver as usize];
            let due = account.quanta_due(quantum);
            account.deficit += due.min(rounds) * quantum;
            // With airtime and without packets it loses its place when its turn comes.
            account.is_listed = due >= rounds;
            account.is_listed
        });
    }
}
