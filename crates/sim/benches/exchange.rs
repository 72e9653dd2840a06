//! Time per successful MAC exchange, or per transmission, of whole runs. The scenarios are the
//! resolved forms of `benches/scenarios/*.toml`; a test in Python keeps the two alike.

use std::hint::black_box;

use airtcp_sim::{RunControl, Simulation};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// Name, resolved scenario, and whether every attempt counts or only successful exchanges.
const SCENARIOS: [(&str, &str, bool); 4] = [
    ("10 endless downloads, per exchange", include_str!("scenarios/downloads-10.json"), false),
    (
        "10 active of 2000 stations, per exchange",
        include_str!("scenarios/downloads-10-of-2000.json"),
        false,
    ),
    (
        "20 flows, EDCA, per-flow queues, SACK, per exchange",
        include_str!("scenarios/categories-20.json"),
        false,
    ),
    ("50 saturated stations, per transmission", include_str!("scenarios/saturated-50.json"), true),
];

fn whole_runs(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("run");
    for (name, json, per_attempt) in SCENARIOS {
        let simulation = Simulation::from_json(json).expect("the scenario is valid");
        let run = || simulation.run(1, 0, &RunControl::default()).expect("the laws hold");
        let counts = run().counts;
        group.throughput(Throughput::Elements(if per_attempt {
            counts.mac_attempts
        } else {
            counts.mac_exchanges
        }));
        group.bench_function(name, |bencher| bencher.iter(|| black_box(run())));
    }
    group.finish();
}

criterion_group!(benches, whole_runs);
criterion_main!(benches);
