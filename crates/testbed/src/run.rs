//! The clock and the devices of a real-time run: reads packets from TUN devices as they come, and
//! writes packets to them when the simulated medium delivers them.
//!
//! Time is `CLOCK_MONOTONIC`. Between events the thread sleeps, but shortly before an event it
//! polls, because a sleeping thread wakes up about 50 us late. The kernel's TCP processes a packet
//! within the call that writes it, so its response is available when the call returns.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::num::NonZeroU64;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use airtcp_kernel::{Duration, Time};
use airtcp_sim::RunError;
use airtcp_sim::live::LiveCounts;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::time::{ClockId, clock_gettime};

use crate::capture::{Capture, Way};
use crate::driver::{Driver, Node};
use crate::lag::Lag;

/// The thread polls instead of sleeping within this time before an event.
const WAKE_EARLY: Duration = Duration::from_micros(60);

/// The number of packets read from a device before time advances.
const MOST_AT_ONCE: usize = 16;

/// The time between two progress reports.
const TOLD_EVERY: Duration = Duration::from_millis(100);

/// Larger than any MTU.
const LARGEST_PACKET: usize = 65_536;

/// Monitors and stops a run from another thread.
#[derive(Debug, Default)]
pub struct Board {
    stops: AtomicBool,
    progress: Mutex<Progress>,
}

/// The progress of a run.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    /// Time since the start.
    pub elapsed: Duration,
    /// The counts so far.
    pub counts: LiveCounts,
    /// The lateness of packets that left.
    pub lag: Lag,
    /// Packets that belonged to no flow.
    pub strays: u64,
    /// Packets that a device rejected.
    pub refused: u64,
}

impl Board {
    /// Asks the run to stop soon.
    pub fn stop(&self) {
        self.stops.store(true, Ordering::Relaxed);
    }

    fn is_stopped(&self) -> bool {
        self.stops.load(Ordering::Relaxed)
    }

    /// Returns the progress, at most about 100 ms old.
    pub fn progress(&self) -> Progress {
        self.progress.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clone()
    }

    /// Publishes the progress unless a reader holds the lock: a reader may have a lower priority,
    /// so the run never waits for one.
    fn tell(&self, progress: impl FnOnce(&mut Progress)) {
        if let Ok(mut told) = self.progress.try_lock() {
            progress(&mut told);
        }
    }

    /// Publishes the final progress; this time it waits for the lock.
    fn tell_at_last(&self, progress: impl FnOnce(&mut Progress)) {
        progress(&mut self.progress.lock().unwrap_or_else(|poisoned| poisoned.into_inner()));
    }
}

/// Returns the time of `CLOCK_MONOTONIC`. \[ns\]
fn monotonic() -> u64 {
    let Timespec { tv_sec, tv_nsec } = clock_gettime(ClockId::Monotonic);
    tv_sec.cast_unsigned() * 1_000_000_000 + tv_nsec.cast_unsigned()
}

/// Runs the medium until its scenario ends or the run is stopped. `devices` are non-blocking TUN
/// devices, each with its node. Time zero is at `epoch` nanoseconds of the monotonic clock. A
/// `capture` has an interface for each device, in the same order.
///
/// # Errors
/// If simulated flows overload the network.
pub fn run(
    driver: &mut Driver<'_>,
    devices: &mut [(Node, File)],
    epoch: u64,
    board: &Board,
    capture: Option<&Capture>,
) -> Result<(), RunError> {
    // The default timer slack, 50 us, is as long as the waits themselves. Real-time threads have
    // none.
    let _ = rustix::thread::set_current_timer_slack(Some(NonZeroU64::MIN));
    let buffer = vec![0; LARGEST_PACKET];
    let mut running = Running { devices, buffer, epoch, capture, lag: Lag::default(), refused: 0 };
    let mut told = Time::ZERO;
    let outcome = loop {
        let now = running.now();
        if now >= driver.end() {
            let end = driver.end();
            break running.advance(driver, end);
        }
        if board.is_stopped() {
            break Ok(());
        }
        if let Err(error) = running.advance(driver, now) {
            break Err(error);
        }
        match running.take_packets(driver) {
            Ok(true) => {}
            Ok(false) => running.wait_until(driver.next_deadline().min(told + TOLD_EVERY)),
            Err(error) => break Err(error),
        }
        if now >= told + TOLD_EVERY {
            told = now;
            board.tell(|progress| running.describe(progress, driver, now));
        }
    };
    let now = running.now().min(driver.end());
    board.tell_at_last(|progress| running.describe(progress, driver, now));
    outcome
}

struct Running<'d> {
    devices: &'d mut [(Node, File)],
    buffer: Vec<u8>,
    epoch: u64,
    capture: Option<&'d Capture>,
    lag: Lag,
    refused: u64,
}

impl Running<'_> {
    fn now(&self) -> Time {
        Time::from_nanos(monotonic().saturating_sub(self.epoch))
    }

    /// Executes the events up to `now` and sends the packets that leave.
    fn advance(&mut self, driver: &mut Driver<'_>, now: Time) -> Result<(), RunError> {
        driver.advance(now, |node, at, bytes| {
            self.lag.add(Time::from_nanos(monotonic().saturating_sub(self.epoch)) - at);
            let place = self.devices.iter().position(|(one, _)| *one == node);
            if place.is_none_or(|place| self.devices[place].1.write(&bytes).is_err()) {
                self.refused += 1;
            }
            if let (Some(capture), Some(place)) = (self.capture, place) {
                capture.packet(place, Way::In, at, &bytes);
            }
        })
    }

    /// Reads packets from the devices; returns true if there were any.
    fn take_packets(&mut self, driver: &mut Driver<'_>) -> Result<bool, RunError> {
        let ready = self.ready(Some(Duration::ZERO));
        for &index in &ready {
            for _ in 0..MOST_AT_ONCE {
                let bytes = match self.devices[index].1.read(&mut self.buffer) {
                    Ok(length) => self.buffer[..length].to_vec(),
                    Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                    Err(_) => break,
                };
                // Events due before the packet come first.
                let now = self.now().min(driver.end());
                self.advance(driver, now)?;
                if let Some(capture) = self.capture {
                    capture.packet(index, Way::Out, now, &bytes);
                }
                driver.packet_in(now, self.devices[index].0, bytes);
            }
        }
        Ok(!ready.is_empty())
    }

    /// Returns the devices that have a packet, waiting for at most `timeout`.
    fn ready(&self, timeout: Option<Duration>) -> Vec<usize> {
        let mut fds: Vec<PollFd<'_>> =
            self.devices.iter().map(|(_, device)| PollFd::new(device, PollFlags::IN)).collect();
        let timeout = timeout.map(|timeout| Timespec {
            tv_sec: (timeout.as_nanos() / 1_000_000_000).cast_signed(),
            tv_nsec: (timeout.as_nanos() % 1_000_000_000).cast_signed(),
        });
        if poll(&mut fds, timeout.as_ref()).unwrap_or(0) == 0 {
            return Vec::new();
        }
        let has_come = |fd: &PollFd<'_>| fd.revents().contains(PollFlags::IN);
        (0..).zip(&fds).filter(|(_, fd)| has_come(fd)).map(|(index, _)| index).collect()
    }

    /// Waits until a packet arrives or until shortly before `due`.
    fn wait_until(&self, due: Time) {
        let now = self.now();
        if due > now + WAKE_EARLY {
            self.ready(Some(due - now - WAKE_EARLY));
        }
    }

    fn describe(&self, progress: &mut Progress, driver: &Driver<'_>, now: Time) {
        progress.elapsed = now - Time::ZERO;
        progress.counts = driver.counts();
        progress.lag.clone_from(&self.lag);
        progress.strays = driver.strays();
        progress.refused = self.refused;
    }
}
