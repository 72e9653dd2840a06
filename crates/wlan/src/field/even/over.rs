//! Fast reading of a busy period that is over, for stations that sent nothing in it. Only two
//! results matter: how long nothing was on the air, and the last received frame, which follows from
//! the *tail*. The tail is everything that began after the last instant at which no frame was being
//! received. Usually it is one response without overlap.

use airtcp_kernel::{Duration, Time};

use super::log::Sent;

/// A busy period that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Survey {
    /// The time in which nothing was on the air.
    pub(super) idle: Duration,
    /// The start of the tail, if the tail is more than a response.
    pub(super) tail: Option<Time>,
}

/// Surveys exchanges, of which the last ends at `now`. Returns `None` if a collided exchange whose
/// announced end is still to come may have been received before the tail.
#[inline(always)]
pub(super) fn survey(all: &[Sent], sifs: Duration, now: Time) -> Option<Survey> {
    let start = all.first()?.start;
    // The last end of data, the end of that exchange, and the last end of all others.
    let (mut data_end, mut end, mut others) = (start, start, start);
    let mut idle = Duration::ZERO;
    let mut tail = start;
    // The first start of a collided exchange whose announced end is after `now`.
    let mut void = Time::NEVER;
    for (place, one) in all.iter().enumerate() {
        let &Sent { start, end: sent, announced, collides, .. } = one;
        if start > data_end {
            if others <= data_end {
                let next = start.min(data_end + sifs);
                idle += next - data_end;
                tail = next;
            } else {
                idle += idle_beside_answers(&all[..place], sifs, (data_end, start));
            }
        }
        let mut its_end = announced;
        if collides {
            if announced > now {
                void = void.min(start);
            }
            its_end = sent;
        }
        if sent > data_end {
            others = others.max(end);
            (data_end, end) = (sent, its_end);
        } else {
            others = others.max(its_end);
        }
    }
    let answer = data_end + sifs;
    if end > answer && others <= answer {
        if void != Time::NEVER {
            return None;
        }
        idle += if others <= data_end {
            sifs
        } else {
            idle_beside_answers(all, sifs, (data_end, answer))
        };
        return Some(Survey { idle, tail: None });
    }
    if void < tail {
        return None;
    }
    if others > data_end {
        idle += idle_beside_answers(all, sifs, (data_end, now));
    }
    Some(Survey { idle, tail: Some(tail) })
}

/// Returns the time between two instants in which no response of `all` is on the air. Both instants
/// come after the end of all data.
#[inline(never)]
fn idle_beside_answers(all: &[Sent], sifs: Duration, (from, to): (Time, Time)) -> Duration {
    let (mut at, mut idle) = (from, Duration::ZERO);
    while at < to {
        let answers = all.iter().filter(|one| !one.collides && one.announced > at);
        let next = answers.map(|one| (one.end + sifs, one.announced)).min();
        let (start, end) = next.unwrap_or((to, to));
        idle += start.min(to).saturating_since(at);
        at = end;
    }
    idle
}
