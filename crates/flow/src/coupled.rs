//! Servers that slow each other down: each has jobs of its own, and a speed by which of them are busy.
//!
//! Access points that hear each other: while others have transfers, a cell has a part of what it has alone. Knows servers,
//! speeds and which event is next; how a server shares and what is measured of it is that of a system with one.

use std::sync::atomic::AtomicBool;

use airtcp_kernel::{Distribution, RandomStream};
use serde::{Deserialize, Serialize};

use crate::server::{Capacity, Server};
use crate::several::{Play, Several};
use crate::source::{ClosedSource, OpenSource, Source};
use crate::system::{InvalidSystem, check_law, check_load, check_service, check_sources};
use crate::window::MeasuredWindow;
use crate::{Outcome, Plan, RunError, law};

/// Servers at most: there are two to their number of speeds.
const MOST_SERVERS: usize = 12;

/// The origin of the jobs of a server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Arrivals {
    /// From outside.
    Open {
        /// The time between arrivals.
        interarrival: Distribution,
    },
    /// From sources that think, send a job, and wait until it is served.
    Closed {
        /// The number of sources.
        sources: usize,
        /// The think times of a source.
        think_times: Distribution,
    },
}

/// A server of several. Units as of [`System`](crate::System).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Queue {
    /// The origin of its jobs.
    pub arrivals: Arrivals,
    /// The size of a job.
    pub sizes: Distribution,
    /// C_1, C_2, ... at speed 1.
    pub capacity: Vec<f64>,
}

/// Servers that slow each other down.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Coupled {
    /// The servers.
    pub queues: Vec<Queue>,
    /// For each set of busy servers, as a number of which bit i is that of server i, the speed of each: above 0 and at
    /// most 1 of those that are busy. Those of the others are not used.
    pub speeds: Vec<Vec<f64>>,
}

impl Coupled {
    /// Says what is wrong, if anything.
    ///
    /// # Errors
    /// If a parameter is out of range, or more work comes to a server than it can do at speed 1. With less the number of
    /// jobs may still grow without end, as others slow it down.
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

    /// Simulates one replication, as [`Simulation::run`](crate::Simulation::run) does; jobs are counted over all servers.
    /// Gives the outcome of each server.
    ///
    /// # Errors
    /// As [`Simulation::run`](crate::Simulation::run).
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

/// The jobs of servers that slow each other down.
struct Jobs<'a> {
    sources: Vec<Box<dyn Source>>,
    speeds: &'a [Vec<f64>],
}

/// The event that comes next, at a server.
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
            // The server that a job leaves is served by its departure.
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

/// Returns the set of busy servers as a number.
fn busy(servers: &[Server]) -> usize {
    let bit = |(place, server): (usize, &Server)| usize::from(server.present() > 0) << place;
    servers.iter().enumerate().map(bit).sum()
}

impl Jobs<'_> {
    /// Returns the time of the next event and the event, the first of several.
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

    /// Returns two servers, of which each has half of its speed while both are busy.
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
        // The first has a job of 2 at 3, the other one of 1 at 4. The first has 1 left at 4; both go on at half speed and
        // are done at 6.
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
        // Each thinks for 1 s. The first sends at 1, the other too: at half speed the job of 1 is done at 3, when 1 of 2
        // is left, alone until 4, when the other sends again.
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
