//! The loop of one replication: the cell, the world above it, and time.
//!
//! The next event happens in the world (an arrival over a link, a timer, the start of a transfer)
//! or in the cell (an access, the end of a data frame, the end of an exchange). The loop obeys the
//! laws of `exchange/shortcut.rs` in `airtcp-wlan` ("Who plays the world"). The first of them is
//! the order of an instant: the world before the cell. Much of the world is not played by this
//! loop, but during an exchange, by the same laws.

use std::io::Write;

use airtcp_kernel::{ByteSink, Duration, Time};
use airtcp_wlan::Engine;

use crate::control::{RunControl, RunError};
use crate::medium::{Medium, Steps};
use crate::outcome::Outcome;
use crate::pcap::Out;
use crate::pcapng::InOrder;
use crate::scenario::Scenario;
use crate::trace::Trace;
use crate::world::{BLOCKS, LiveFlow, World};

/// How often a long run reports its progress and checks for cancellation.
const STEPS: u64 = 100;

/// The maximum number of loop steps between checks for cancellation. A step may have some dozens of
/// events and of exchanges.
const STEPS_BETWEEN_LOOKS: u32 = 1 << 13;

/// One replication of a scenario.
#[derive(Debug)]
pub(crate) struct Replication<'a> {
    scenario: &'a Scenario,
    pub(crate) world: World<'a>,
    pub(crate) medium: Medium,
}

impl<'a> Replication<'a> {
    /// Creates a replication at time zero.
    pub(crate) fn new(scenario: &'a Scenario, seed: u64, replication: u64) -> Self {
        Self::with_applications(scenario, seed, replication, |_| true)
    }

    /// Creates a replication in which only the applications of some flows do anything.
    pub(crate) fn with_applications(
        scenario: &'a Scenario,
        seed: u64,
        replication: u64,
        of: impl Fn(LiveFlow) -> bool,
    ) -> Self {
        let (mut world, medium) = World::new(scenario, seed, replication);
        world.start_applications(of);
        Self { scenario, world, medium }
    }

    /// Returns the engine of each cell.
    pub(crate) fn engines(&self) -> Vec<Engine> {
        self.world.media_of_cells().iter().map(|&part| self.medium.engine(part as usize)).collect()
    }

    /// Takes a sample every `interval`, and records events and PPDUs unless `samples_only`.
    pub(crate) fn traced(mut self, interval: Duration, samples_only: bool) -> Self {
        self.world.trace(interval, samples_only);
        self
    }

    /// Includes the transfers in the outcome.
    pub(crate) fn with_transfers(mut self) -> Self {
        self.world.keep_transfers();
        self
    }

    /// Captures the medium to `out`; of each frame the first `snaplen` bytes are kept.
    pub(crate) fn captured(mut self, out: Box<dyn Write + Send>, snaplen: u32) -> Self {
        let sink = ByteSink::new(out);
        let out = if self.world.has_air() {
            Out::Nodes(sink, self.world.node_names(), InOrder::default())
        } else {
            Out::File(sink)
        };
        self.capture(out, snaplen);
        self
    }

    /// Captures the medium to `out` from now on; of each frame the first `snaplen` bytes are kept.
    pub(crate) fn capture(&mut self, out: Out, snaplen: u32) {
        self.medium.tell_frames();
        self.world.capture(out, snaplen);
    }

    /// Simulates the warm-up and the measured time, and returns the outcome.
    pub(crate) fn run(
        mut self,
        control: &RunControl,
    ) -> Result<(Outcome, Option<Trace>), RunError> {
        self.run_all(control)?;
        let trace = self.world.take_trace();
        Ok((self.world.conclude(&mut self.medium)?, trace))
    }

    /// Simulates the warm-up and the measured time.
    pub(crate) fn run_all(&mut self, control: &RunControl) -> Result<(), RunError> {
        let (from, to) = (self.scenario.measure_from(), self.scenario.end());
        self.run_until(from, from, to, control)?;
        self.start_measuring();
        self.run_until(to, from, to, control)?;
        self.finish_capture()
    }

    /// Writes the rest of a capture, including frames on the air.
    pub(crate) fn finish_capture(&mut self) -> Result<(), RunError> {
        self.medium.tell_frames_on_air(self.world.now(), &mut self.world);
        self.world.finish_capture()
    }

    /// Ends the warm-up.
    pub(crate) fn start_measuring(&mut self) {
        self.world.start_measuring(&mut self.medium);
    }

    /// Simulates everything before `stop`, in steps that report progress.
    pub(crate) fn run_until(
        &mut self,
        stop: Time,
        from: Time,
        to: Time,
        control: &RunControl,
    ) -> Result<(), RunError> {
        let begin = if stop == from { Time::ZERO } else { from };
        let length = (stop - begin).as_nanos();
        for step in 1..=STEPS {
            let nanos = (u128::from(length) * u128::from(step) / u128::from(STEPS)) as u64;
            let until = begin + Duration::from_nanos(nanos);
            self.advance(until, control)?;
            if stop == to && step % (STEPS / BLOCKS) == 0 {
                self.world.close_block(&mut self.medium);
            }
            control.set_progress(self.world.now().as_secs_f64() / to.as_secs_f64());
        }
        Ok(())
    }

    /// Simulates everything before `stop`, and takes the samples that are due by then.
    fn advance(&mut self, stop: Time, control: &RunControl) -> Result<(), RunError> {
        while let Some(due) = self.world.next_sample(stop) {
            self.run_step(due, control)?;
            self.world.sample();
        }
        self.world.check_capture()?;
        self.run_step(stop, control)
    }

    /// Simulates everything before `stop`, and sets the time to `stop`.
    fn run_step(&mut self, stop: Time, control: &RunControl) -> Result<(), RunError> {
        self.play(stop, control)?;
        self.world.wait_until(stop);
        self.world.check()?;
        if control.is_cancelled() { Err(RunError::Cancelled) } else { Ok(()) }
    }

    /// Simulates everything before `stop`: the main loop.
    pub(crate) fn play(&mut self, stop: Time, control: &RunControl) -> Result<(), RunError> {
        self.world.stop_at(stop);
        match &mut self.medium {
            Medium::Cell(cell) => Self::play_steps(&mut self.world, &mut **cell, stop, control),
            Medium::Field(field) => Self::play_steps(&mut self.world, &mut **field, stop, control),
            Medium::Several(several) => Self::play_steps(&mut self.world, several, stop, control),
        }
    }

    /// Runs [`Self::play`] over a medium whose kind is known.
    fn play_steps<M: Steps>(
        world: &mut World<'_>,
        medium: &mut M,
        stop: Time,
        control: &RunControl,
    ) -> Result<(), RunError> {
        let mut countdown = STEPS_BETWEEN_LOOKS;
        loop {
            let (world_at, medium_at) = (world.next_time(), medium.next_time());
            if medium_at < world_at {
                world.wait_until(medium_at);
                medium.advance(medium_at, world);
            } else {
                if world_at >= stop {
                    return Ok(());
                }
                world.play_events(world_at);
            }
            medium.frames_ready(world.now(), world);
            countdown -= 1;
            if countdown == 0 {
                world.check()?;
                if control.is_cancelled() {
                    return Err(RunError::Cancelled);
                }
                countdown = STEPS_BETWEEN_LOOKS;
            }
        }
    }
}
