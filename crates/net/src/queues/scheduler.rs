//! Schedulers: choose the receiver if a transmission serves one. [`Scheduler`] is the
//! configuration, [`Turns`] the state.

use std::collections::VecDeque;

use airtcp_kernel::{Duration, Time};
use serde::Deserialize;

use super::Served;
use super::plugin::{self, Candidate, SchedulerNumber};

/// How to choose the receiver if a transmission serves one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Scheduler {
    /// The receiver whose oldest packet arrived first.
    Oldest {},
    /// Round robin: one transmission per receiver.
    RoundRobin {},
    /// A registered scheduler.
    Own {
        /// Its name.
        name: SchedulerNumber,
    },
    /// Deficit round robin in airtime, in both directions (Høiland-Jørgensen et al. 2017, Algorithm
    /// 3).
    Airtime {
        /// The airtime per round of a receiver with weight 256.
        #[serde(rename = "quantum_ns")]
        quantum: Duration,
        /// Airtime queue limit (AQL): the airtime that may wait for a receiver below the
        /// discipline. `None`: packets leave the discipline only for their transmission.
        #[serde(rename = "aql_ns")]
        aql: Option<Duration>,
    },
}

/// The weight of a receiver that gets one quantum per round.
const UNIT_WEIGHT: u64 = 256;

/// The state of a scheduler.
#[derive(Debug)]
pub(super) enum Turns {
    Oldest,
    RoundRobin {
        /// The receiver served last.
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

    /// Chooses the receiver to serve. `waiting` lists the receivers with packets in the MAC, `here`
    /// those with packets in this queue, each with the arrival of its oldest packet.
    ///
    /// Packets in the MAC were dequeued earlier, so they win a tie.
    pub(super) fn choose(
        &mut self,
        waiting: impl Iterator<Item = (u32, Option<Time>)>,
        here: impl Iterator<Item = (u32, Option<Time>)>,
    ) -> Option<u32> {
        let mut all = waiting.chain(here);
        match self {
            Self::Oldest => all.min_by_key(|&(_, arrived)| arrived).map(|(receiver, _)| receiver),
            Self::RoundRobin { last } => {
                // Round robin: numbers above the last one come first, then wrap around.
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

/// A receiver is charged only until this long after a packet last waited for it, as in mac80211. A
/// station that only sends therefore builds up no debt.
const ACTIVE: Duration = Duration::from_millis(100);

/// State of deficit round robin in airtime.
#[derive(Debug, Default)]
pub(super) struct Deficits {
    service: Served,
    /// Accounts by receiver, from the first of the queue on.
    accounts: Vec<Account>,
    /// The airtime per round of a receiver with weight 256.
    quantum: Duration,
    /// Receivers that were idle before their packet arrived.
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    /// The number of choices so far.
    choices: u64,
    /// The time of the last charge.
    now: Time,
}

#[derive(Clone, Copy, Debug)]
struct Account {
    /// Airtime per round. \[ns\]
    quantum: i64,
    /// Airtime left in this round; negative if overdrawn. \[ns\]
    deficit: i64,
    is_listed: bool,
    /// The number of the last choice at which it had packets.
    seen: u64,
    /// When that choice was made.
    active: Time,
}

impl Account {
    /// Returns how many quanta lift its deficit above zero.
    fn quanta_due(&self) -> i64 {
        if self.deficit > 0 { 0 } else { 1 - self.deficit / self.quantum }
    }
}

impl Deficits {
    fn new(quantum: Duration, service: &Served) -> Self {
        Self { service: service.clone(), quantum, ..Self::default() }
    }

    fn account(&mut self, receiver: u32) -> &mut Account {
        let index = self.service.place(receiver);
        while self.accounts.len() <= index {
            let weight = self.service.receiver(self.accounts.len()).map(|one| one.weight.into());
            let nanos = u128::from(self.quantum.as_nanos())
                * u128::from(weight.unwrap_or(UNIT_WEIGHT))
                / u128::from(UNIT_WEIGHT);
            let quantum = nanos.max(1) as i64;
            let (deficit, active) = (quantum, Time::ZERO);
            self.accounts.push(Account { quantum, deficit, is_listed: false, seen: 0, active });
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
            // As with flows in FQ-CoDel: it must go through the old receivers before it counts as
            // new again.
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
                self.accounts[self.service.place(receiver)].is_listed = false;
            }
        }
    }

    /// Whether `receiver` has packets, and airtime left in this round.
    fn may_go(&self, receiver: u32) -> bool {
        let account = &self.accounts[self.service.place(receiver)];
        account.deficit > 0 && account.seen == self.choices
    }

    /// Gives `receiver` its quantum if it has used up its airtime. Returns true if it did.
    fn refill(&mut self, receiver: u32) -> bool {
        let account = &mut self.accounts[self.service.place(receiver)];
        let is_due = account.deficit <= 0;
        if is_due {
            account.deficit += account.quantum;
        }
        is_due
    }

    /// Skips the rounds in which no receiver can be served, in one step: a debt may be many quanta.
    fn skip_rounds(&mut self) {
        let Self { accounts, service, old, choices, .. } = self;
        let due = |receiver: &u32| {
            let account = &accounts[service.place(*receiver)];
            (account.seen == *choices).then(|| account.quanta_due())
        };
        let rounds = old.iter().filter_map(due).min().unwrap_or(0);
        if rounds == 0 {
            return;
        }
        old.retain(|&receiver| {
            let account = &mut accounts[service.place(receiver)];
            let due = account.quanta_due();
            account.deficit += due.min(rounds) * account.quantum;
            // A receiver with airtime but no packets is delisted at its turn.
            account.is_listed = due >= rounds;
            account.is_listed
        });
    }
}
