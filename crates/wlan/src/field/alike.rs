//! Groups of stations that hear alike: they hear the same senders with the same powers, and each
//! other with one power or not at all.

use std::collections::BTreeMap;

use super::hearing::Power;
use crate::station::StationId;

/// The groups of stations that hear alike.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Groups {
    /// The stations of each group, in ascending order.
    pub(super) members: Vec<Vec<StationId>>,
}

impl Groups {
    /// Groups stations. `powers[i][j]` is the power with which stations of class j hear a sender of
    /// class i. Stations with different values of `kept_apart` are not grouped.
    pub(super) fn new(
        classes: &[u32],
        powers: &[Vec<Power>],
        kept_apart: impl Fn(StationId) -> u32,
    ) -> Self {
        // Stations of one class with different values of `kept_apart` form separate parts.
        let mut parts = BTreeMap::<(u32, u32), Vec<StationId>>::new();
        for (station, &class) in (0..).zip(classes) {
            parts.entry((class, kept_apart(station))).or_default().push(station);
        }
        let parts: Vec<_> = parts.into_iter().collect();
        // Stations are compared by a sum of hashes over all senders and their powers. A station's
        // power at itself has no meaning, so it may take any value that makes two stations alike.
        let mut sums = vec![0_u64; powers.len()];
        for (from, &class) in (0_u64..).zip(classes) {
            for (sum, &power) in sums.iter_mut().zip(&powers[class as usize]) {
                *sum = sum.wrapping_add(hash(from, power));
            }
        }
        let mut candidates = Vec::<(u64, u32, usize)>::new();
        for (place, ((class, word), stations)) in parts.iter().enumerate() {
            let own = powers[*class as usize][*class as usize];
            // The sum of the class contains this power for each of its own stations.
            let with = |power: Power| {
                let first = u64::from(stations[0]);
                sums[*class as usize]
                    .wrapping_sub(hash(first, own))
                    .wrapping_add(hash(first, power))
            };
            let mut of_own = vec![own];
            let others = classes.iter().filter(|&one| one == class).count();
            if others == 1 {
                of_own = powers.iter().map(|row| row[*class as usize]).collect();
                of_own.sort_unstable();
                of_own.dedup();
            }
            for power in of_own {
                candidates.push((with(power), *word, place));
            }
        }
        candidates.sort_unstable();
        let runs = candidates.chunk_by(|one, other| (one.0, one.1) == (other.0, other.1));
        let mut largest: Vec<_> = runs.filter(|run| run.len() > 1).collect();
        largest.sort_by_key(|one| std::cmp::Reverse(one.len()));
        let mut is_taken = vec![false; parts.len()];
        let mut members = Vec::new();
        let power = |from: StationId, to: StationId| {
            powers[classes[from as usize] as usize][classes[to as usize] as usize]
        };
        let mut take = |places: &[usize], is_taken: &mut Vec<bool>| {
            let mut group: Vec<StationId> =
                places.iter().flat_map(|&place| parts[place].1.iter().copied()).collect();
            group.sort_unstable();
            for &place in places {
                is_taken[place] = true;
            }
            members.push(group);
        };
        let all = 0..classes.len() as StationId;
        for places in largest {
            let places = places.iter().map(|&(_, _, place)| place);
            let places: Vec<_> = places.filter(|&place| !is_taken[place]).collect();
            let group: Vec<_> = places.iter().map(|&place| parts[place].1[0]).collect();
            let mut is_in_group = vec![false; classes.len()];
            for &one in &group {
                is_in_group[one as usize] = true;
            }
            let [first, second, ..] = group[..] else { continue };
            let between = power(first, second);
            let are_alike = group.iter().all(|&one| {
                all.clone().all(|from| {
                    if from == one {
                        return true;
                    }
                    let heard = power(from, one);
                    if is_in_group[from as usize] {
                        heard == between
                    } else {
                        from == first || heard == power(from, first)
                    }
                })
            });
            let within = places.iter().all(|&place| {
                let stations = &parts[place].1;
                stations.len() == 1 || power(stations[0], stations[1]) == between
            });
            if are_alike && within {
                take(&places, &mut is_taken);
            }
        }
        for place in 0..parts.len() {
            if !is_taken[place] {
                take(&[place], &mut is_taken);
            }
        }
        members.sort_unstable();
        Self { members }
    }
}

/// Hashes a sender and a power (the finaliser of SplitMix64).
fn hash(from: u64, power: Power) -> u64 {
    let mut z = from.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(power);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(powers: &[&[Power]]) -> Vec<Vec<StationId>> {
        let classes: Vec<u32> = (0..powers.len() as u32).collect();
        let powers: Vec<_> = powers.iter().map(|row| row.to_vec()).collect();
        Groups::new(&classes, &powers, |_| 0).members
    }

    #[test]
    fn those_that_hear_all_with_one_power_are_one_group() {
        assert_eq!(members(&[&[0, 5, 5], &[5, 0, 5], &[5, 5, 0]]), [[0, 1, 2]]);
    }

    #[test]
    fn hidden_senders_hear_their_receiver_alike_and_not_each_other() {
        assert_eq!(members(&[&[0, 5, 5], &[5, 0, 0], &[5, 0, 0]]), [vec![0], vec![1, 2]]);
    }

    /// Of three stations, 0 and 1 hear station 2 with powers 5 and 6. Of two stations that hear
    /// nothing else, each hears the other with a different power.
    #[test]
    fn one_power_that_differs_keeps_two_apart() {
        assert_eq!(members(&[&[0, 5, 7], &[5, 0, 7], &[5, 6, 0]]).len(), 3);
        assert_eq!(members(&[&[0, 5], &[6, 0]]).len(), 2);
        assert_eq!(members(&[&[0, 5], &[5, 0]]).len(), 1);
    }

    /// Two cells with an access point and two stations each; neither hears the other.
    #[test]
    fn cells_are_groups() {
        let classes = [0, 1, 0, 0, 1, 1];
        let powers = vec![vec![5, 0], vec![0, 5]];
        let groups = Groups::new(&classes, &powers, |_| 0);
        assert_eq!(groups.members, [[0, 2, 3], [1, 4, 5]]);
        let groups = Groups::new(&classes, &powers, |station| station / 3);
        assert_eq!(groups.members, [vec![0, 2], vec![1], vec![3], vec![4, 5]]);
    }
}
