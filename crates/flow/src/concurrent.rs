//! Parallel servers: a rule assigns each arriving job to one server, where it stays.
//!
//! Models concurrent access to several networks (Hoekstra, van der Mei and Diaz-Feraren 2013,
//! section V). Each network is a processor-sharing server. This module contains the routing rules
//! and the order of events; `server` and `window` do service and measurement, as in a system with
//! one server.

use std::sync::atomic::AtomicBool;

use airtcp_kernel::{Distribution, RandomStream};
use serde::{Deserialize, Serialize};

use crate::server::{Capacity, Server};
use crate::several::{Play, Several};
use crate::source::{OpenSource, Source};
use crate::system::{InvalidSystem, check_law, check_load, check_service};
use crate::window::MeasuredWindow;
use crate::{Outcome, Plan, RunError, law};

/// Tolerance for rounding errors in the sum of the shares.
const ROUNDING: f64 = 1e-9;

/// How jobs are routed to servers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Split {
    /// At random, independent of the load: server i with probability `shares[i]`.
    Random {
        /// The probability of each server; they add up to 1.
        shares: Vec<f64>,
    },
    /// Join the server with the fewest jobs. Ties go to the server that would serve one more job
    /// fastest, then to the first.
    Least,
}

/// Parallel servers and the stream of jobs that is split among them. Units as in
/// [`System`](crate::System).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Concurrent {
    /// The time between arrivals.
    pub interarrival: Distribution,
    /// The size of a job.
    pub sizes: Distribution,
    /// The capacities C_1, C_2, ... of each server.
    pub capacities: Vec<Vec<f64>>,
    /// How jobs are routed to servers.
    pub split: Split,
}

impl Concurrent {
    /// Checks the parameters.
    ///
    /// # Errors
    /// If a parameter is out of range, or if the load is 1 or more: of any server for
    /// [`Split::Random`], of all servers together for [`Split::Least`].
    pub fn check(&self) -> Result<(), InvalidSystem> {
        check_law("interarrival", &self.interarrival)?;
        if self.capacities.is_empty() {
            return Err(InvalidSystem("capacities: must not be empty".into()));
        }
        for capacity in &self.capacities {
            check_service(&self.sizes, capacity)?;
        }
        let work = law::mean(&self.sizes) / law::mean(&self.interarrival);
        let last = self.capacities.iter().map(|capacity| capacity[capacity.len() - 1]);
        match &self.split {
            Split::Random { shares } => {
                check_shares(shares, self.capacities.len())?;
                let loads = shares.iter().zip(last).map(|(share, served)| work * share / served);
                check_load(loads.fold(0.0, f64::max))
            }
            Split::Least => check_load(work / last.sum::<f64>()),
        }
    }

    /// Simulates one replication, as [`Simulation::run`](crate::Simulation::run) does, and returns
    /// the outcome of each server. `plan` counts jobs over all servers. The n-th job has the same
    /// arrival time and size as in an open system with the same laws.
    ///
    /// # Errors
    /// See [`Simulation::run`](crate::Simulation::run).
    pub fn run(
        &self,
        seed: u64,
        replication: u64,
        plan: Plan,
        cancelled: &AtomicBool,
    ) -> Result<Vec<Outcome>, RunError> {
        let stream = |purpose| RandomStream::new(seed, replication, "flows", purpose);
        let source = OpenSource::new(
            (&self.interarrival, stream("interarrival")),
            (&self.sizes, stream("size")),
        );
        let servers =
            self.capacities.iter().map(|table| Server::new(Capacity::new(table), None)).collect();
        let jobs = Jobs { source, split: &self.split, draws: Some(stream("split")) };
        Several::new(servers)
            .measure(jobs, plan, cancelled)
            .map_err(|error| error.of_replication(seed, replication))
    }
}

fn check_shares(shares: &[f64], servers: usize) -> Result<(), InvalidSystem> {
    if shares.len() != servers {
        let given = shares.len();
        return Err(InvalidSystem(format!("shares: {servers} are needed, {given} given")));
    }
    if !shares.iter().all(|share| (0.0..=1.0).contains(share)) {
        return Err(InvalidSystem("shares: must lie between 0 and 1".into()));
    }
    let sum: f64 = shares.iter().sum();
    if (sum - 1.0).abs() > ROUNDING {
        return Err(InvalidSystem(format!("shares: must add up to 1, not {sum}")));
    }
    Ok(())
}

/// The arrival stream and its routing.
pub(crate) struct Jobs<'a, S> {
    source: S,
    split: &'a Split,
    draws: Option<RandomStream>,
}

impl<S> Jobs<'_, S> {
    /// Creates the jobs of a single server.
    pub(crate) fn of_one_server(source: S) -> Self {
        Self { source, split: &Split::Least, draws: None }
    }
}

impl<S: Source> Play for Jobs<'_, S> {
    fn step(&mut self, motion: &mut Several, windows: &mut [MeasuredWindow]) -> bool {
        let arrival = self.source.next_arrival();
        let (leaving, departure) = next_departure(motion);
        let next = arrival.min(departure);
        let elapsed = next - motion.now;
        for (place, (server, window)) in motion.servers.iter_mut().zip(&mut *windows).enumerate() {
            window.pass(server.present(), elapsed);
            // `depart` serves the departing job's own server up to now.
            if departure > arrival || place != leaving {
                server.serve(elapsed);
            }
        }
        motion.now = next;
        if departure <= arrival {
            let job = motion.servers[leaving].depart();
            self.source.departed(next);
            windows[leaving].departed(next, &job);
            return true;
        }
        let size = self.source.arrive();
        let chosen = self.choose(&motion.servers);
        if motion.servers[chosen].admit(next, size) {
            windows[chosen].admitted(size, motion.servers[chosen].present());
        } else {
            windows[chosen].blocked();
        }
        false
    }

    fn balance(&self, servers: &[Server]) -> Result<(), String> {
        self.source.balance(servers.iter().map(Server::present).sum())
    }
}

/// Returns the server with the earliest departure (the first one on a tie) and the time.
fn next_departure(motion: &Several) -> (usize, f64) {
    let mut first = (0, f64::INFINITY);
    for (place, server) in motion.servers.iter().enumerate() {
        let departure = server.next_departure(motion.now);
        if departure < first.1 {
            first = (place, departure);
        }
    }
    first
}

impl<S> Jobs<'_, S> {
    fn choose(&mut self, servers: &[Server]) -> usize {
        match self.split {
            Split::Random { shares } => {
                let drawn = self.draws.as_mut().expect("a random split has a stream").unit();
                let mut sum = 0.0;
                for (place, share) in shares.iter().enumerate() {
                    sum += share;
                    if drawn < sum {
                        return place;
                    }
                }
                // Rounding may leave the sum below the draw. Then use the last server with a
                // positive share.
                shares.iter().rposition(|&share| share > 0.0).expect("the shares add up to 1")
            }
            Split::Least => {
                let mut best = 0;
                for place in 1..servers.len() {
                    let (one, other) = (&servers[place], &servers[best]);
                    let more = |server: &Server| server.capacity().of(server.present() + 1);
                    if one.present() < other.present()
                        || (one.present() == other.present() && more(one) > more(other))
                    {
                        best = place;
                    }
                }
                best
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::num::NonZeroU64;

    fn system(capacities: &[&[f64]], split: Split) -> Concurrent {
        Concurrent {
            interarrival: Distribution::Deterministic { value: 1.0 },
            sizes: Distribution::Deterministic { value: 1.5 },
            capacities: capacities.iter().map(|table| table.to_vec()).collect(),
            split,
        }
    }

    fn run(system: &Concurrent, jobs: u64) -> Vec<Outcome> {
        let jobs = NonZeroU64::new(jobs).expect("some jobs");
        let plan = Plan { warmup_jobs: 0, jobs, keep_jobs: true };
        system.run(1, 0, plan, &AtomicBool::new(false)).expect("the laws hold and nobody cancels")
    }

    #[test]
    fn the_least_number_takes_turns_where_one_server_is_busy() {
        // Jobs of 1.5 s arrive every second from 1 s on. The first goes to the first server, which
        // is busy until 2.5. The second, at 2, goes to the second server. The third, at 3, finds
        // the first server empty.
        let outcomes = run(&system(&[&[1.0], &[1.0]], Split::Least), 4);

        assert_eq!(outcomes[0].sojourns_s, [1.5, 1.5]);
        assert_eq!(outcomes[1].sojourns_s, [1.5, 1.5]);
    }

    #[test]
    fn of_servers_with_as_many_jobs_the_faster_is_chosen() {
        let outcomes = run(&system(&[&[1.0], &[2.0]], Split::Least), 3);

        // A job takes 0.75 s, so the faster server is empty at each arrival.
        assert_eq!(outcomes[0].completed, 0);
        assert_eq!(outcomes[1].sojourns_s, [0.75, 0.75, 0.75]);
    }

    #[test]
    fn a_server_without_a_share_gets_nothing() {
        let split = Split::Random { shares: vec![0.0, 1.0] };
        let outcomes = run(&system(&[&[1.0], &[3.0]], split), 5);

        assert_eq!((outcomes[0].completed, outcomes[1].completed), (0, 5));
        assert_eq!(outcomes[0].mean_active, 0.0);
    }

    #[test]
    fn one_server_is_the_open_system() {
        use crate::{Simulation, System};

        let interarrival = Distribution::Exponential { mean: 1.0 };
        let sizes = Distribution::Exponential { mean: 0.8 };
        let one = Concurrent {
            interarrival: interarrival.clone(),
            sizes: sizes.clone(),
            capacities: vec![vec![1.0]],
            split: Split::Least,
        };
        let open = System::Open {
            interarrival,
            sizes,
            capacity: vec![1.0],
            limit: None,
            transfers_of: None,
        };
        let jobs = NonZeroU64::new(1000).expect("some jobs");
        let plan = Plan { warmup_jobs: 10, jobs, keep_jobs: true };
        let alone = Simulation::new(open)
            .expect("a system")
            .run(7, 3, plan, &AtomicBool::new(false))
            .expect("the laws hold");

        let side_by_side = one.run(7, 3, plan, &AtomicBool::new(false)).expect("the laws hold");

        assert_eq!(side_by_side, [alone]);
    }

    #[test]
    fn systems_that_cannot_be_are_refused() {
        let random = |shares: &[f64]| Split::Random { shares: shares.to_vec() };
        for (system, words) in [
            (system(&[], Split::Least), "capacities: must not be empty"),
            (system(&[&[1.0], &[]], Split::Least), "capacity: must not be empty"),
            (system(&[&[1.0], &[0.5]], Split::Least), "a server has a load of 1:"),
            (system(&[&[2.0], &[2.0]], random(&[1.0])), "shares: 2 are needed, 1 given"),
            (system(&[&[2.0], &[2.0]], random(&[0.5, 0.4])), "shares: must add up to 1"),
            (system(&[&[2.0], &[2.0]], random(&[1.5, -0.5])), "shares: must lie between 0 and 1"),
            (system(&[&[9.0], &[0.3]], random(&[0.5, 0.5])), "a server has a load of 2.5:"),
        ] {
            let refusal = system.check().unwrap_err().to_string();

            assert!(refusal.starts_with(words), "{refusal}");
        }
    }

    #[test]
    fn a_run_can_be_cancelled() {
        let plan = Plan { warmup_jobs: 0, jobs: NonZeroU64::MIN, keep_jobs: false };

        let answer = system(&[&[2.0]], Split::Least).run(1, 0, plan, &AtomicBool::new(true));

        assert_eq!(answer, Err(RunError::Cancelled));
    }
}
