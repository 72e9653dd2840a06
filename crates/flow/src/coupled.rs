//! Coupled servers: each has its own jobs, and its speed depends on which servers are busy.
//!
//! Models access points in range of each other: while others transmit, a cell gets only part of its
//! capacity. This module contains the speeds and the order of events; `server` and `window` do
//! service and measurement, as in a system with one server.

use std::sync::atomic::AtomicBool;

use airtcp_kernel::{Distribution, RandomStream};
use serde::{Deserialize, Serialize};

use crate::server::{Capacity, Server};
use crate::several::{Play, Several};
use crate::source::{ClosedSource, OpenSource, Source};
use crate::system::{InvalidSystem, check_law, check_load, check_service, check_sources};
use crate::window::MeasuredWindow;
use crate::{Outcome, Plan, RunError, law};

/// Limit on the number of servers: the number of speed sets is 2 to this power.
const MOST_SERVERS: usize = 12;

/// Where the jobs of a server come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Arrivals {
    /// An open stream of arrivals.
    Open {
        /// The time between arrivals.
        interarrival: Distribution,
    },
    /// Sources that think, send a job, and wait until it is served.
    Closed {
        /// The number of sources.
        sources: usize,
        /// The think times of a source.
        think_times: Distribution,
    },
}

/// One of several servers. Units as in [`System`](crate::System).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Queue {
    /// Where its jobs come from.
    pub arrivals: Arrivals,
    /// The size of a job.
    pub sizes: Distribution,
    /// The capacities C_1, C_2, ... at speed 1.
    pub capacity: Vec<f64>,
}

/// Servers that slow each other down.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Coupled {
    /// The servers.
    pub queues: Vec<Queue>,
    /// The speed of each server, for each set of busy servers. Bit i of the index is set if server
    /// i is busy. The speed of a busy server is above 0 and at most 1; speeds of idle servers are
    /// ignored.
    pub speeds: Vec<Vec<f64>>,
}

impl Coupled {
    /// Checks the parameters.
    ///
    /// # Errors
    /// If a parameter is out of range, or if the load of a server is 1 or more at speed 1. A system
    /// that passes may still be unstable, because servers slow each other down.
    pub fn check(&self) -> Result<(), InvalidSystem> {
        let servers = self.queues.len();
        if !(1..=MOST_SERVERS).contains(&servers) {
            return Err(InvalidSystem(format!(
                "queues: must be 1 to {MOST_SERVERS}, not {servers}"
            )));
        }
        for queue in &self.queues {
            check_service(&queue.sizes, &queue.capacity)?;
            match &queue.arrivals {
                Arrivals::Open { interarrival } => {
                    check_law("interarrival", interarrival)?;
                    let served = queue.capacity[queue.capacity.len() - 1] * law::mean(interarrival);
                    check_load(law::mean(&queue.sizes) / served)?;
                }
                Arrivals::Closed { sources, think_times } => {
                    check_law("think_times", think_times)?;
                    check_sources(*sources)?;
                }
            }
        }
        if self.speeds.len() != 1 << servers {
            return Err(InvalidSystem(format!(
                "speeds: {} sets are needed, {} given",
                1 << servers,
                self.speeds.len()
            )));
        }
        for (busy, speeds) in self.speeds.iter().enumerate() {
            let good = |(place, &speed): (usize, &f64)| {
                busy >> place & 1 == 0 || (speed > 0.0 && speed <= 1.0)
            };
            if speeds.len() != servers || !speeds.iter().enumerate().all(good) {
                return Err(InvalidSystem(format!(
                    "speeds[{busy}]: must have {servers} numbers above 0 and at most 1"
                )));
            }
        }
        Ok(())
    }

    /// Simulates one replication, as [`Simulation::run`](crate::Simulation::run) does, and returns
    /// the outcome of each server. `plan` counts jobs over all servers.
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
        let servers = (0..).zip(&self.queues).map(|(place, queue): (usize, _)| {
            let name = format!("flows {place}");
            let stream = |purpose| RandomStream::new(seed, replication, &name, purpose);
            let sizes = (&queue.sizes, stream("size"));
            let source: Box<dyn Source> = match &queue.arrivals {
                Arrivals::Open { interarrival } => {
                    Box::new(OpenSource::new((interarrival, stream("interarrival")), sizes))
                }
                Arrivals::Closed { sources, think_times } => {
                    Box::new(ClosedSource::new(*sources, (think_times, stream("think")), sizes))
                }
            };
            (source, Server::new(Capacity::new(&queue.capacity), None))
        });
        let (sources, servers) = servers.unzip();
        Several::new(servers)
            .measure(Jobs { sources, speeds: &self.speeds }, plan, cancelled)
            .map_err(|error| error.of_replication(seed, replication))
    }
}

/// The job sources of all servers.
struct Jobs<'a> {
    sources: Vec<Box<dyn Source>>,
    speeds: &'a [Vec<f64>],
}

/// The next event, with the server where it happens.
enum Event {
    Arrival(usize),
    Departure(usize),
}

impl Play for Jobs<'_> {
    fn step(&mut self, motion: &mut Several, windows: &mut [MeasuredWindow]) -> bool {
        let speeds = &self.speeds[busy(&motion.servers)];
        let (next, event) = self.next(motion, speeds);
        let elapsed = next - motion.now;
        for (place, (server, window)) in motion.servers.iter_mut().zip(&mut *windows).enumerate() {
            let present = server.present();
            window.pass(present, elapsed);
            if present == 0 {
                continue;
            }
            window.slowed(present, elapsed, 1.0 - speeds[place]);
            // `depart` serves the departing job's own server up to now.
            if !matches!(event, Event::Departure(leaving) if leaving == place) {
                server.serve(elapsed * speeds[place]);
            }
        }
        motion.now = next;
        match event {
            Event::Departure(place) => {
                let job = motion.servers[place].depart();
                windows[place].departed(next, &job);
                self.sources[place].departed(next);
                true
            }
            Event::Arrival(place) => {
                let size = self.sources[place].arrive();
                let admitted = motion.servers[place].admit(next, size);
                debug_assert!(admitted, "servers that slow each other down have no limit");
                windows[place].admitted(size, motion.servers[place].present());
                false
            }
        }
    }

    fn balance(&self, servers: &[Server]) -> Result<(), String> {
        let mut both = self.sources.iter().zip(servers);
        both.try_for_each(|(source, server)| source.balance(server.present()))
    }
}

/// Returns the set of busy servers as a bit mask.
fn busy(servers: &[Server]) -> usize {
    let bit = |(place, server): (usize, &Server)| usize::from(server.present() > 0) << place;
    servers.iter().enumerate().map(bit).sum()
}

impl Jobs<'_> {
    /// Returns the next event and its time; the first server wins a tie.
    fn next(&self, motion: &Several, speeds: &[f64]) -> (f64, Event) {
        let mut first = (f64::INFINITY, Event::Departure(0));
        for (place, server) in motion.servers.iter().enumerate() {
            if server.present() > 0 {
                let time = motion.now + server.next_departure(0.0) / speeds[place];
                if time < first.0 {
                    first = (time, Event::Departure(place));
                }
            }
        }
        for (place, source) in self.sources.iter().enumerate() {
            let time = source.next_arrival();
            if time < first.0 {
                first = (time, Event::Arrival(place));
            }
        }
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::num::NonZeroU64;

    fn fixed(value: f64) -> Distribution {
        Distribution::Deterministic { value }
    }

    /// Returns two servers that each run at half speed while both are busy.
    fn two(one: Arrivals, other: Arrivals) -> Coupled {
        let queue = |arrivals, size| Queue { arrivals, sizes: fixed(size), capacity: vec![1.0] };
        Coupled {
            queues: vec![queue(one, 2.0), queue(other, 1.0)],
            speeds: vec![vec![1.0, 1.0], vec![1.0, 1.0], vec![1.0, 1.0], vec![0.5, 0.5]],
        }
    }

    fn run(system: &Coupled, jobs: u64, warmup_jobs: u64) -> Vec<Outcome> {
        let jobs = NonZeroU64::new(jobs).expect("some jobs");
        let plan = Plan { warmup_jobs, jobs, keep_jobs: true };
        system.check().expect("a system");
        system.run(1, 0, plan, &AtomicBool::new(false)).expect("the laws hold and nobody cancels")
    }

    #[test]
    fn busy_servers_slow_each_other_down() {
        // The first server gets a job of size 2 at 3, the second a job of size 1 at 4. At 4 the
        // first job has 1 left. Both continue at half speed and finish at 6.
        let open = |value| Arrivals::Open { interarrival: fixed(value) };
        let outcomes = run(&two(open(3.0), open(4.0)), 2, 0);

        assert_eq!((outcomes[0].completed, outcomes[1].completed), (1, 1));
        assert_eq!(
            (&outcomes[0].sojourns_s[..], &outcomes[1].sojourns_s[..]),
            (&[3.0][..], &[2.0][..])
        );
    }

    #[test]
    fn sources_wait_for_their_jobs() {
        // Each source thinks for 1 s, so both send at 1. At half speed the job of size 1 finishes
        // at 3. The other job then has 1 left and finishes alone at 4, when the other source sends
        // again.
        let closed = || Arrivals::Closed { sources: 1, think_times: fixed(1.0) };
        let outcomes = run(&two(closed(), closed()), 2, 0);

        assert_eq!(
            (&outcomes[0].sojourns_s[..], &outcomes[1].sojourns_s[..]),
            (&[3.0][..], &[2.0][..])
        );
        assert_eq!(outcomes[0].work_per_s, 0.5);
    }

    #[test]
    fn laws_hold_in_long_runs() {
        let open = |mean| Arrivals::Open { interarrival: Distribution::Exponential { mean } };
        let outcomes = run(&two(open(5.0), open(4.0)), 20_000, 1_000);

        assert!(outcomes.iter().all(|one| one.mean_sojourn_s > 1.0));
    }

    #[test]
    fn systems_that_cannot_be_are_refused() {
        let open = |value| Arrivals::Open { interarrival: fixed(value) };
        let good = two(open(3.0), open(4.0));
        let with = |change: fn(&mut Coupled)| {
            let mut system = good.clone();
            change(&mut system);
            system.check().unwrap_err().to_string()
        };

        assert!(with(|one| one.queues.clear()).starts_with("queues: must be 1 to 12, not 0"));
        assert!(with(|one| one.speeds[3][1] = 0.0).starts_with("speeds[3]: must have 2 numbers"));
        assert!(with(|one| one.speeds.truncate(3)).starts_with("speeds: 4 sets are needed, 3"));
        assert!(with(|one| one.queues[0].sizes = fixed(4.0)).starts_with("a server has a load of"));
    }

    #[test]
    fn a_run_can_be_cancelled() {
        let plan = Plan { warmup_jobs: 0, jobs: NonZeroU64::MIN, keep_jobs: false };
        let open = |value| Arrivals::Open { interarrival: fixed(value) };

        let answer = two(open(3.0), open(4.0)).run(1, 0, plan, &AtomicBool::new(true));

        assert_eq!(answer, Err(RunError::Cancelled));
    }
}
