//! Runs with and without the MAC's shortcut, and the number of exchanges that used it. Only with
//! the feature `testing`.

use crate::Simulation;
use crate::control::{RunControl, RunError};
use crate::outcome::Outcome;
use crate::replication::Replication;

/// The numbers of successful exchanges, including the warm-up.
#[derive(Clone, Copy, Debug, Default)]
pub struct Exchanges {
    /// All exchanges.
    pub all: u64,
    /// Exchanges that the shortcut played to their ends.
    pub straight: u64,
}

/// Simulates the first replication as [`Simulation::run`] does, and counts exchanges. With
/// `in_steps` the shortcut is off.
///
/// # Errors
/// As [`Simulation::run`].
pub fn play(
    simulation: &Simulation,
    seed: u64,
    in_steps: bool,
) -> Result<(Outcome, Exchanges), RunError> {
    let mut replication = Replication::new(simulation.scenario(), seed, 0);
    if in_steps {
        replication.medium.play_in_steps();
    }
    replication.run_all(&RunControl::default())?;
    let Replication { mut world, mut medium, .. } = replication;
    let contended: u64 = (0..world.contenders()).map(|id| medium.counters(id).successes).sum();
    let all = contended + medium.cell_counters().contention_free_successes;
    let straight = medium.straight();
    Ok((world.conclude(&mut medium)?, Exchanges { all, straight }))
}
