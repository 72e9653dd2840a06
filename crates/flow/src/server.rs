//! The server: the jobs present share the capacity equally; the one with the least work left leaves
//! next.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// The total rate C_k at which k jobs are served.
#[derive(Clone, Debug)]
pub(crate) struct Capacity(Vec<f64>);

impl Capacity {
    /// Creates the table C_1, C_2, ...; its last value applies to any larger number of jobs. It
    /// needs at least one value, and all must be positive.
    pub(crate) fn new(table: &[f64]) -> Self {
        Self(table.to_vec())
    }

    /// Returns C_k; C_0 is 0.
    #[inline]
    pub(crate) fn of(&self, jobs: usize) -> f64 {
        if jobs == 0 { 0.0 } else { self.0[jobs.min(self.0.len()) - 1] }
    }

    /// Returns the largest C_k.
    pub(crate) fn largest(&self) -> f64 {
        self.0.iter().copied().fold(0.0, f64::max)
    }
}

/// A job that is present.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Job {
    /// The attained service at which it leaves.
    finish: f64,
    /// The time of its arrival.
    pub(crate) arrived: f64,
    /// Its work.
    pub(crate) size: f64,
}

impl Eq for Job {}

/// `BinaryHeap` pops the greatest, so the job that leaves first is the greatest; ties go to the job
/// that arrived first. Jobs that tie in both have the same size and are interchangeable.
impl Ord for Job {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        let finish = other.finish.total_cmp(&self.finish);
        finish.then_with(|| other.arrived.total_cmp(&self.arrived))
    }
}

impl PartialOrd for Job {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The rate of the attained-service clock and its inverse. Cached, because a division at every
/// event would cost a large part of its time.
#[derive(Clone, Copy, Debug)]
struct Pace {
    /// Attained service per second: C_k / k.
    service_per_s: f64,
    /// Seconds per attained service: k / C_k.
    s_per_service: f64,
}

/// The jobs present and the service they have attained.
#[derive(Debug)]
pub(crate) struct Server {
    capacity: Capacity,
    /// The pace with 0, 1, 2, ... jobs, up to the largest number ever present; entry 0 is unused.
    paces: Vec<Pace>,
    limit: usize,
    /// The service received by a job that has been present since the server was last empty.
    attained: f64,
    jobs: BinaryHeap<Job>,
}

impl Server {
    /// Creates an empty server that admits at most `limit` jobs.
    pub(crate) fn new(capacity: Capacity, limit: Option<usize>) -> Self {
        let limit = limit.unwrap_or(usize::MAX);
        let paces = vec![Pace { service_per_s: 0.0, s_per_service: 0.0 }];
        Self { capacity, paces, limit, attained: 0.0, jobs: BinaryHeap::new() }
    }

    /// Returns the time of the next departure if no job arrives before; infinity if no job is
    /// present.
    #[inline]
    pub(crate) fn next_departure(&self, now: f64) -> f64 {
        match self.jobs.peek() {
            Some(job) => now + (job.finish - self.attained) * self.pace().s_per_service,
            None => f64::INFINITY,
        }
    }

    /// Serves for `elapsed` seconds, in which no job leaves.
    #[inline]
    pub(crate) fn serve(&mut self, elapsed: f64) {
        if let Some(job) = self.jobs.peek() {
            // Rounding must not give a job more service than its size.
            let attained = self.attained + elapsed * self.pace().service_per_s;
            self.attained = if attained < job.finish { attained } else { job.finish };
        }
    }

    /// Serves until the next job is done and removes it.
    ///
    /// # Panics
    /// If no job is present.
    #[inline]
    pub(crate) fn depart(&mut self) -> Job {
        let job = self.jobs.pop().expect("a departure was due");
        // Reset the clock of an empty server to keep full precision.
        self.attained = if self.jobs.is_empty() { 0.0 } else { job.finish };
        job
    }

    /// Admits a job of `size` at `now`. Returns false if the limit is reached.
    #[inline]
    pub(crate) fn admit(&mut self, now: f64, size: f64) -> bool {
        let room = self.jobs.len() < self.limit;
        if room {
            self.jobs.push(Job { finish: self.attained + size, arrived: now, size });
            if self.jobs.len() == self.paces.len() {
                self.add_pace();
            }
        }
        room
    }

    /// Returns the number of jobs present.
    #[inline]
    pub(crate) fn present(&self) -> usize {
        self.jobs.len()
    }

    /// Returns the remaining work.
    pub(crate) fn unfinished(&self) -> f64 {
        self.jobs.iter().map(|job| job.finish - self.attained).sum()
    }

    /// Returns the arrival times of the jobs present, in no particular order.
    pub(crate) fn arrivals(&self) -> impl Iterator<Item = f64> {
        self.jobs.iter().map(|job| job.arrived)
    }

    pub(crate) fn capacity(&self) -> &Capacity {
        &self.capacity
    }

    #[inline]
    fn pace(&self) -> Pace {
        self.paces[self.jobs.len()]
    }

    /// Appends the pace for one more job than was ever present.
    #[cold]
    fn add_pace(&mut self) {
        let jobs = self.jobs.len();
        let (present, capacity) = (jobs as f64, self.capacity.of(jobs));
        self.paces
            .push(Pace { service_per_s: capacity / present, s_per_service: present / capacity });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(table: &[f64], limit: Option<usize>) -> Server {
        Server::new(Capacity::new(table), limit)
    }

    #[test]
    fn last_capacity_holds_for_more_jobs() {
        let capacity = Capacity::new(&[4.0, 6.0]);

        assert_eq!([0, 1, 2, 3].map(|jobs| capacity.of(jobs)), [0.0, 4.0, 6.0, 6.0]);
        assert_eq!(capacity.largest(), 6.0);
    }

    #[test]
    fn two_jobs_get_half_each() {
        let mut server = server(&[1.0], None);
        server.admit(0.0, 4.0);
        // The first job is alone until 1 and has 3 left; the second brings 2. At half a unit per
        // second each, the second finishes after 4 s, at 5. The first then has 1 left and finishes
        // at 6.
        server.serve(1.0);
        server.admit(1.0, 2.0);
        assert_eq!(server.unfinished(), 5.0);

        assert_eq!(server.next_departure(1.0), 5.0);
        assert_eq!(server.depart(), Job { finish: 3.0, arrived: 1.0, size: 2.0 });
        assert_eq!(server.unfinished(), 1.0);
        assert_eq!(server.next_departure(5.0), 6.0);
        assert_eq!(server.depart().arrived, 0.0);
        assert_eq!(server.next_departure(6.0), f64::INFINITY);
        assert_eq!((server.attained, server.unfinished()), (0.0, 0.0));
    }

    #[test]
    fn equal_jobs_leave_in_the_order_of_their_coming() {
        let mut server = server(&[1.0], None);
        for now in [3.0, 1.0, 2.0] {
            server.admit(now, 1.0);
        }

        assert_eq!([(); 3].map(|()| server.depart().arrived), [1.0, 2.0, 3.0]);
    }

    #[test]
    fn a_full_server_admits_nobody() {
        let mut server = server(&[1.0], Some(2));

        assert_eq!([(); 3].map(|()| server.admit(0.0, 1.0)), [true, true, false]);
        assert_eq!(server.present(), 2);
        server.depart();
        assert!(server.admit(0.0, 1.0));
    }

    #[test]
    fn no_job_gets_more_than_its_size() {
        let mut server = server(&[1.0], None);
        server.admit(0.0, 1.0);

        server.serve(1.0 + 1e-9);

        assert_eq!(server.next_departure(7.0), 7.0);
    }
}
