//! Runs packetdrill scripts against an airtcp endpoint, in virtual time.
//!
//! A script states which segments arrive when, what the application does, which segments must be
//! sent, and what must be true of the connection. [`script`] parses it, [`run`] runs it against the
//! endpoint, and [`assertion`] evaluates the code between `%{` and `}%`. Nothing in a script is
//! ever executed: from shell lines only the sysctl settings are read. A script that needs something
//! an endpoint does not have (RST, queueing disciplines) fails with that reason.

pub mod assertion;
pub mod run;
pub mod script;

/// Checks an endpoint against the script in `text`.
///
/// # Errors
/// The line number and why the script fails there.
pub fn check(text: &str) -> Result<(), (usize, String)> {
    run::run(&script::parse(text)?)
}
