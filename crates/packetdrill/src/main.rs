//! `airtcp-packetdrill FILE...`: prints one line per script and the number that passed. Exit status
//! 1 if a script failed, 2 if a file cannot be read.

use std::io::Write;
use std::process::ExitCode;

fn main() -> std::io::Result<ExitCode> {
    let mut out = std::io::stdout().lock();
    let (mut passed, mut failed) = (0, 0);
    for path in std::env::args().skip(1) {
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) => {
                writeln!(std::io::stderr(), "airtcp-packetdrill: {path}: {error}")?;
                return Ok(ExitCode::from(2));
            }
        };
        match airtcp_packetdrill::check(&text) {
            Ok(()) => {
                passed += 1;
                writeln!(out, "passed {path}")?;
            }
            Err((line, reason)) => {
                failed += 1;
                writeln!(out, "failed {path}:{line}: {reason}")?;
            }
        }
    }
    writeln!(out, "{passed} passed, {failed} failed")?;
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
