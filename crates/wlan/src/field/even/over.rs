//! A busy period of an even field that is over, of which nothing was read, as those hear it who have sent nothing in it: most
//! often its last answer is received undisturbed, so that nothing else is left of it than for how long nothing was on the air.
//!
//! Knows the times of exchanges, and not what is received.

use airtcp_kernel::{Duration, Time};

use super::log::{Sent, SentId};
use crate::field::hearing::GroupId;
use crate::station::StationId;

/// Returns for how long nothing is on the air while the exchanges `ids` are under way, which end `now`. None if one of `own`
/// or of `group` is among them, or the last frame is not an answer that begins when all others are over, or if the end is
/// announced of an exchange that is not answered by now.
pub(super) fn idle_time(
    ids: &[SentId],
    all: &[Sent],
    (own, group): (StationId, GroupId),
    sifs: Duration,
    now: Time,
) -> Option<Duration> {
    let last = ids.last().map(|&id| &all[id as usize])?;
    if last.collides && last.frame.announced > now {
        return None;
    }
    let start = all[ids[0] as usize].frame.start;
    // The last end of data, that of their exchange, and of any other.
    let (mut data_end, mut end, mut others) = (start, start, start);
    let mut idle = Duration::ZERO;
    for (place, &id) in ids.iter().enumerate() {
        let Sent { sender, group: of, ref frame, collides, .. } = all[id as usize];
        if of == group || sender == own || frame.to == own {
            return None;
        }
        if frame.start > data_end {
            idle += if others <= data_end {
                sifs.min(frame.start - data_end)
            } else {
                idle_beside_answers(&ids[..place], all, sifs, (data_end, frame.start))
            };
        }
        let mut its_end = frame.announced;
        if collides {
            if its_end > now {
                return None;
            }
            its_end = frame.end;
        }
        if frame.end > data_end {
            others = others.max(end);
            (data_end, end) = (frame.end, its_end);
        } else {
            others = others.max(its_end);
        }
    }
    let answer = data_end + sifs;
    if others > answer || end <= answer {
        return None;
    }
    idle += if others <= data_end {
        sifs
    } else {
        idle_beside_answers(ids, all, sifs, (data_end, answer))
    };
    Some(idle)
}

/// Returns for how long none of the answers to `ids` is on the air between two instants, behind the ends of their data.
#[inline(never)]
fn idle_beside_answers(
    ids: &[SentId],
    all: &[Sent],
    sifs: Duration,
    (from, to): (Time, Time),
) -> Duration {
    let (mut at, mut idle) = (from, Duration::ZERO);
    while at < to {
        let exchanges = ids.iter().map(|&id| &all[id as usize]);
        let answers = exchanges.filter(|one| !one.collides && one.frame.announced > at);
        let next = answers.map(|one| (one.frame.end + sifs, one.frame.announced)).min();
        let (start, end) = next.unwrap_or((to, to));
        idle += start.min(to).saturating_since(at);
        at = end;
    }
    idle
}
