//! What the applications of a flow want, and when. Draws sizes and times; knows no network.

use airtcp_kernel::random_stream::{ARRIVAL, TRANSFER_SIZE};
use airtcp_kernel::{Distribution, Duration, RandomStream, Sampler};

use crate::scenario::{ApplicationConfig, FtpMessages};

/// An application, ready to draw from its laws; shared by all flows of one entry.
#[derive(Debug)]
pub(crate) enum Application {
    /// One transfer, endless without a size.
    Bulk { size: Option<Sampler>, start: Sampler },
    /// Transfers with think times between them.
    Web { size: Sampler, think_time: Sampler, request_bytes: u64 },
    /// Transfers that begin however many are under way, and what is said around each.
    Ftp { interarrival: Interarrival, size: Sampler, control: Option<FtpMessages> },
    /// Datagrams of this many bytes with their headers, at this many bits per second; without a
    /// rate there is always one more.
    Datagrams { packet_bytes: u32, rate_bps: Option<u64> },
}

/// The law of the times between arrivals.
#[derive(Debug)]
pub(crate) struct Interarrival {
    law: Sampler,
    /// They are all the same.
    is_constant: bool,
}

/// The random numbers of one flow.
#[derive(Debug)]
pub(crate) struct Draws {
    sizes: RandomStream,
    times: RandomStream,
}

/// A transfer is never larger: the sums stay far from overflow.
const LARGEST: f64 = (1_u64 << 50) as f64;

impl Application {
    pub(crate) fn new(config: &ApplicationConfig) -> Self {
        match config {
            ApplicationConfig::Bulk { size, start } => Self::Bulk {
                size: size.clone().map(Sampler::new),
                start: Sampler::new(start.clone()),
            },
            ApplicationConfig::Web { size, think_time, request_bytes } => Self::Web {
                size: Sampler::new(size.clone()),
                think_time: Sampler::new(think_time.clone()),
                request_bytes: *request_bytes,
            },
            ApplicationConfig::Ftp { interarrival, size, control } => Self::Ftp {
                interarrival: Interarrival {
                    law: Sampler::new(interarrival.clone()),
                    is_constant: matches!(interarrival, Distribution::Deterministic { .. }),
                },
                size: Sampler::new(size.clone()),
                control: *control,
            },
            ApplicationConfig::Udp { packet_bytes, rate_bps } => {
                Self::Datagrams { packet_bytes: *packet_bytes, rate_bps: *rate_bps }
            }
        }
    }

    /// How long before the first transfer: a user of the web thinks first.
    pub(crate) fn first_pause(&self, draws: &mut Draws) -> Duration {
        match self {
            Self::Bulk { start, .. } => Duration::from_secs_f64(start.draw(&mut draws.times)),
            Self::Web { think_time, .. } => {
                Duration::from_secs_f64(think_time.draw(&mut draws.times))
            }
            // Sources of a constant rate are not in step with each other.
            Self::Ftp { interarrival, .. } => {
                let whole = interarrival.law.draw(&mut draws.times);
                let share = if interarrival.is_constant { draws.times.unit() } else { 1.0 };
                Duration::from_secs_f64(share * whole)
            }
            Self::Datagrams { rate_bps: Some(_), .. } => {
                Duration::from_secs_f64(draws.times.unit() * self.datagram_time(1).as_secs_f64())
            }
            Self::Datagrams { rate_bps: None, .. } => Duration::ZERO,
        }
    }

    /// How long `count` datagrams last at the rate of the source; zero if it is saturated.
    pub(crate) fn datagram_time(&self, count: u64) -> Duration {
        let Self::Datagrams { packet_bytes, rate_bps: Some(rate_bps) } = self else {
            return Duration::ZERO;
        };
        let bits = u128::from(*packet_bytes) * 8 * u128::from(count);
        let nanos = (bits * 1_000_000_000).div_ceil(u128::from(*rate_bps));
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX >> 2))
    }

    /// How long from the end of a transfer to the start of the next; `None` if there is none.
    pub(crate) fn next_pause(&self, draws: &mut Draws) -> Option<Duration> {
        match self {
            Self::Web { think_time, .. } => {
                Some(Duration::from_secs_f64(think_time.draw(&mut draws.times)))
            }
            Self::Bulk { .. } | Self::Ftp { .. } | Self::Datagrams { .. } => None,
        }
    }

    /// How long from the beginning of a transfer to that of the next; `None` if that depends on its
    /// end.
    pub(crate) fn next_arrival(&self, draws: &mut Draws) -> Option<Duration> {
        match self {
            Self::Ftp { interarrival, .. } => {
                Some(Duration::from_secs_f64(interarrival.law.draw(&mut draws.times)))
            }
            Self::Bulk { .. } | Self::Web { .. } | Self::Datagrams { .. } => None,
        }
    }

    /// Bytes of the next transfer, whole and at least one; `None`: endless.
    pub(crate) fn transfer_bytes(&self, draws: &mut Draws) -> Option<u64> {
        let size = match self {
            Self::Bulk { size, .. } => size.as_ref()?,
            Self::Web { size, .. } | Self::Ftp { size, .. } => size,
            Self::Datagrams { .. } => return None,
        };
        Some(size.draw(&mut draws.sizes).ceil().clamp(1.0, LARGEST) as u64)
    }

    /// Bytes that the client asks with.
    pub(crate) fn request_bytes(&self) -> u64 {
        match self {
            Self::Web { request_bytes, .. } => *request_bytes,
            Self::Bulk { .. } | Self::Ftp { .. } | Self::Datagrams { .. } => 0,
        }
    }

    /// What is said around a transfer over a control connection, if there is one.
    pub(crate) fn control(&self) -> Option<&FtpMessages> {
        match self {
            Self::Ftp { control, .. } => control.as_ref(),
            Self::Bulk { .. } | Self::Web { .. } | Self::Datagrams { .. } => None,
        }
    }

    /// What its stream of times is for.
    fn times_are(&self) -> &'static str {
        match self {
            Self::Ftp { .. } => ARRIVAL,
            Self::Bulk { .. } | Self::Web { .. } | Self::Datagrams { .. } => "pause",
        }
    }
}

impl Draws {
    pub(crate) fn new(seed: u64, replication: u64, flow: &str, application: &Application) -> Self {
        Self {
            sizes: RandomStream::new(seed, replication, flow, TRANSFER_SIZE),
            times: RandomStream::new(seed, replication, flow, application.times_are()),
        }
    }
}
