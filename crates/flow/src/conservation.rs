//! Conservation laws, checked at the end of every run, in release builds too. No job vanishes. The
//! job-seconds counted per job equal those counted per system state (Little's law as an identity of
//! the sample, corrected for what the window cuts off). The work done equals the work brought.

/// Jobs and work that arrived, left and remained. Quantities that can be computed in two ways are
/// kept twice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JobBooks {
    pub(crate) offered: u64,
    pub(crate) blocked: u64,
    pub(crate) completed: u64,
    pub(crate) present_before: usize,
    pub(crate) present_after: usize,
    /// Arrivals and departures in the window.
    pub(crate) events: u64,
    /// Length of the window in seconds.
    pub(crate) seconds: f64,
    /// The same length, summed over the number of jobs present.
    pub(crate) state_seconds: f64,
    /// Job-seconds, summed over the number of jobs present.
    pub(crate) state_job_seconds: f64,
    /// Job-seconds, summed over the jobs: the time each was present within the window.
    pub(crate) job_seconds: f64,
    /// Work left at the start of the window.
    pub(crate) unfinished_before: f64,
    /// Work of the jobs admitted.
    pub(crate) admitted_work: f64,
    /// Work left at the end.
    pub(crate) unfinished_after: f64,
    /// Seconds times capacity, summed over the number of jobs present.
    pub(crate) state_work: f64,
    /// Upper bound for the work done since time 0: the largest capacity times the time.
    pub(crate) most_work: f64,
}

/// Allowed relative error of sums of exact numbers.
const TOLERANCE: f64 = 1e-9;

impl JobBooks {
    /// Checks the laws; the error names the violated one.
    pub(crate) fn balance(&self) -> Result<(), String> {
        let found = self.completed + self.blocked + self.present_after as u64;
        if self.offered + self.present_before as u64 != found {
            return Err(format!(
                "{} jobs present and {} offered, but {} completed, {} blocked and {} present",
                self.present_before, self.offered, self.completed, self.blocked, self.present_after
            ));
        }
        let sums = TOLERANCE + f64::EPSILON * self.events as f64;
        agree("seconds", self.seconds, self.state_seconds, sums * self.seconds)?;
        let scale = self.state_job_seconds.max(self.job_seconds);
        agree("job seconds", self.job_seconds, self.state_job_seconds, sums * scale)?;
        // Times and attained services are rounded at every event and for every job present. Each
        // rounding error is below one unit in the last place of the total work that can have been
        // done.
        let roundings = self.events + (self.present_before + self.present_after) as u64;
        let brought = self.unfinished_before + self.admitted_work;
        let rounding = f64::EPSILON * roundings as f64 * self.most_work;
        let allowed = sums * brought.max(self.state_work) + rounding;
        agree("work", brought - self.unfinished_after, self.state_work, allowed)
    }
}

fn agree(what: &str, by_job: f64, by_state: f64, allowed: f64) -> Result<(), String> {
    // NaN must fail this test.
    if (by_job - by_state).abs() <= allowed {
        Ok(())
    } else {
        Err(format!("{by_job} {what} counted job by job, {by_state} by the number of jobs"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the account of two jobs. One has size 2 and is alone from 0 to 2. The other has size
    /// 3 and is alone from 4 to the end at 5, when 2 units of it are left.
    fn books() -> JobBooks {
        JobBooks {
            offered: 2,
            blocked: 0,
            completed: 1,
            present_before: 0,
            present_after: 1,
            events: 3,
            seconds: 5.0,
            state_seconds: 5.0,
            state_job_seconds: 3.0,
            job_seconds: 3.0,
            unfinished_before: 0.0,
            admitted_work: 5.0,
            unfinished_after: 2.0,
            state_work: 3.0,
            most_work: 5.0,
        }
    }

    #[test]
    fn right_books_balance() {
        assert_eq!(books().balance(), Ok(()));
    }

    #[test]
    fn every_law_can_be_violated() {
        type Violation = (&'static str, fn(&mut JobBooks));
        let violations: [Violation; 8] = [
            ("jobs present", |books| books.offered += 1),
            ("jobs present", |books| books.blocked += 1),
            ("jobs present", |books| books.completed += 1),
            (" seconds", |books| books.state_seconds += 1e-7),
            ("job seconds", |books| books.job_seconds -= 1e-7),
            ("work", |books| books.state_work += 1e-7),
            ("work", |books| books.unfinished_after -= 1e-7),
            ("work", |books| books.admitted_work = f64::NAN),
        ];
        for (law, violate) in violations {
            let mut books = books();
            violate(&mut books);

            let message = books.balance().unwrap_err();
            assert!(message.contains(law), "{message}");
        }
    }

    #[test]
    fn rounding_is_no_violation() {
        let mut books = books();
        books.state_work += 1e-10;

        assert_eq!(books.balance(), Ok(()));
    }
}
