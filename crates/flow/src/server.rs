//! The server: jobs share a capacity equally, the one with the least left leaves next.
//!
//! Knows the jobs that are present and what they have got. Does not know where they come from,
//! nor what is measured.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// The total rate C_k at which k jobs are served.
#[derive(Clone, Debug)]
pub(crate) struct Capacity(Vec<f64>);

impl Capacity {
    /// Takes C_1, C_2, ...; the last value holds for more jobs. At least one value, all positive.
    pub(crate) fn new(table: &[f64]) -> Self {
        Self(table.to_vec())
    }

    /// Returns C_k; nothing is served while k = 0.
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
    /// Attained service at which it leaves.
    finish: f64,
    /// The time of its arrival.
    pub(crate) arrived: f64,
    /// Its work.
    pub(crate) size: f64,
}

impl Eq for Job {}

/// The job that leaves first is the greatest, as `BinaryHeap` wants it; of those that leave
/// together the one that came first. Jobs that tie in both have the same size: they are alike.
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

/// The speed of the clock of the attained service; kept, for a division at every event would be
/// a good part of its cost.
#[derive(Clone, Copy, Debug)]
struct Pace {
    /// Attained service per second: C_k / k.
    service_per_s: f64,
    /// Seconds per attained service: k / C_k.
    s_per_service: f64,
}

/// The jobs that are present, and the service that they have attained.
#[derive(Debug)]
pub(crate) struct Server {
    capacity: Capacity,
    /// The pace with 0, 1, 2, ... jobs, up to the most that were ever present; 0 is never used.
    paces: Vec<Pace>,
    limit: usize,
    /// The service that a job has attained that is present since the server was empty last.
    attained: f64,
    jobs: BinaryHeap<Job>,
}

impl Server {
    /// Makes an empty server for at most `limit` jobs.
    pub(crate) fn new(capacity: Capacity, limit: Option<usize>) -> Self {
        let limit = limit.unwrap_or(usize::MAX);
        let paces = vec![Pace { service_per_s: 0.0, s_per_service: 0.0 }];
        Self { capacity, paces, limit, attained: 0.0, jobs: BinaryHeap::new() }
    }

    /// Returns the time at which the next job leaves if none comes before; infinity if there is none.
    #[inline]
    pub(crate) fn next_departure(&self, now: f64) -> f64 {
        match self.jobs.peek() {
            Some(job) => now + (job.finish - self.attained) * self.pace().s_per_service,
            None => f64::INFINITY,
        }
    }

    /// Serves for `elapsed` seconds, within which no job leaves.
    #[inline]
    pub(crate) fn serve(&mut self, elapsed: f64) {
        if let Some(job) = self.jobs.peek() {
            // Rounding must not let a job get more than its size.
            let attained = self.attained + elapsed * self.pace().service_per_s;
            self.attained = if attained < job.finish { attained } else { job.finish };
        }
    }

    /// Serves until the next job is done, and lets it go. Panics if there is none.
    #[inline]
    pub(crate) fn depart(&mut self) -> Job {
        let job = self.jobs.pop().expect("a departure was due");
        // The clock of an empty server starts again, which keeps it as exact as it can be.
        self.attained = if self.jobs.is_empty() { 0.0 } else { job.finish };
        job
    }

    /// Admits a job of `size` at `now`, and tells whether there was room for it.
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

    /// Returns the work that is left to do.
    pub(crate) fn unfinished(&self) -> f64 {
        self.jobs.iter().map(|job| job.finish - self.attained).sum()
    }

    /// Returns the times of arrival of the jobs present, in no order.
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

    /// Adds the pace with one job more than ever before.
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
        // Alone until 1: it has 3 left, the second has 2 of 2. At half a unit per second each, the
        // second is done after 4 s, at 5, when the first has 1 left: done at 6.
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
