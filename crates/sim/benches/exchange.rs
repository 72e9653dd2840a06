//! Time per successful MAC exchange, per transmission, or per MPDU, of whole runs. The scenarios are the
//! resolved forms of `benches/scenarios/*.toml`; a test in Python keeps the two alike.

use std::hint::black_box;

use airtcp_sim::outcome::Counts;
use airtcp_sim::{RunControl, Simulation};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// What of the counts a time is divided by.
type Events = fn(&Counts) -> u64;

const EXCHANGES: Events = |counts| counts.mac_exchanges;
const ATTEMPTS: Events = |counts| counts.mac_attempts;
/// Each MPDU carries one segment.
const SEGMENTS: Events = |counts| counts.tcp_segments;

/// Name, resolved scenario, and what counts.
const SCENARIOS: [(&str, &str, Events); 6] = [
    ("10 endless downloads, per exchange", include_str!("scenarios/downloads-10.json"), EXCHANGES),
    (
        "10 active of 2000 stations, per exchange",
        include_str!("scenarios/downloads-10-of-2000.json"),
        EXCHANGES,
    ),
    (
        "20 flows, EDCA, per-flow queues, SACK, per exchange",
        include_str!("scenarios/categories-20.json"),
        EXCHANGES,
    ),
    (
        "50 saturated stations, per transmission",
        include_str!("scenarios/saturated-50.json"),
        ATTEMPTS,
    ),
    ("1 download over 802.11ax, per MPDU", include_str!("scenarios/download-ax.json"), SEGMENTS),
    (
        "20 downloads over 802.11n, per MPDU",
        include_str!("scenarios/downloads-20-n.json"),
        SEGMENTS,
    ),
];

fn whole_runs(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("run");
    for (name, json, counted) in SCENARIOS {
        let simulation = Simulation::from_json(json).expect("the scenario is valid");
        let run = || simulation.run(1, 0, &RunControl::default()).expect("the laws hold");
        group.throughput(Throughput::Elements(counted(&run().counts)));
        group.bench_function(name, |bencher| bencher.iter(|| black_box(run())));
    }
    group.finish();
}

criterion_group!(benches, whole_runs);
criterion_main!(benches);
