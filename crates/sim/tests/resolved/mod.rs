//! The resolved forms of `benches/scenarios`, which have every key of the current schema. `make
//! build` writes them.

use std::path::Path;

/// Reads the resolved form of a scenario of the benchmarks. Panics if there is none.
pub(crate) fn resolved(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/resolved");
    let path = folder.join(format!("{name}.json"));
    std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}; `make resolved` writes it", path.display()))
}
