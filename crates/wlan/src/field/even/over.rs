//! A busy period of an even field that is over, of which nothing was read, as those hear it who have sent nothing in it. All
//! that is left of it is for how long nothing was on the air, and what its *tail* makes of the frame that was received last:
//! what has begun after the last such time, when nothing was being received. Most often that is one answer, undisturbed.
//!
//! Knows the times of exchanges, and not what is received.

use airtcp_kernel::{Duration, Time};

use super::log::Sent;

/// A busy period that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Survey {
    /// The time in which nothing was on the air.
    pub(super) idle: Duration,
    /// The beginning of its tail, if that is more than an answer.
    pub(super) tail: Option<Time>,
}

/// Surveys exchanges, of which the last ends `now`. None if one that is not answered by now, and announces that, may have
/// been received before the tail.
#[inline(always)]
pub(super) fn survey(all: &[Sent], sifs: Duration, now: Time) -> Option<Survey> {
    let start = all.first()?.start;
    // The last end of data, that of their exchange, and of any other.
    let (mut data_end, mut end, mut others) = (start, start, start);
    let mut idle = Duration::ZERO;
    let mut tail = start;
    // The first beginning of an exchange that announces what was not to be.
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

/// Returns for how long none of the answers to `all` is on the air between two instants, behind the ends of their data.
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
