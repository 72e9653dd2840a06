//! Time per successful MAC exchange, per transmission, or per MPDU, of whole runs. The scenarios are the
//! resolved forms of `benches/scenarios/*.toml`.

#[path = "../tests/resolved/mod.rs"]
mod resolved;

use std::hint::black_box;

use airtcp_sim::outcome::Counts;
use airtcp_sim::{RunControl, Simulation};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

use self::resolved::resolved;

/// The count that a time is divided by.
type Events = fn(&Counts) -> u64;

const EXCHANGES: Events = |counts| counts.mac_exchanges;
const ATTEMPTS: Events = |counts| counts.mac_attempts;
/// Each MPDU carries one segment.
const SEGMENTS: Events = |counts| counts.tcp_segments;

/// The name of a benchmark, its scenario, and the count.
const SCENARIOS: [(&str, &str, Events); 6] = [
    ("10 endless downloads, per exchange", "downloads-10", EXCHANGES),
    ("10 active of 2000 stations, per exchange", "downloads-10-of-2000", EXCHANGES),
    ("20 flows, EDCA, per-flow queues, SACK, per exchange", "categories-20", EXCHANGES),
    ("50 saturated stations, per transmission", "saturated-50", ATTEMPTS),
    ("1 download over 802.11ax, per MPDU", "download-ax", SEGMENTS),
    ("20 downloads over 802.11n, per MPDU", "downloads-20-n", SEGMENTS),
];

fn whole_runs(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("run");
    for (name, scenario, counted) in SCENARIOS {
        let simulation = Simulation::from_json(&resolved(scenario)).expect("the scenario is valid");
        let run = || simulation.run(1, 0, &RunControl::default()).expect("the laws hold");
        group.throughput(Throughput::Elements(counted(&run().counts)));
        group.bench_function(name, |bencher| bencher.iter(|| black_box(run())));
    }
    group.finish();
}

criterion_group!(benches, whole_runs);
criterion_main!(benches);
