//! Runs scripts in the language of packetdrill against an airtcp endpoint, in virtual time.
//!
//! A script says at which times which segments come, what the application does, which segments must
//! go out, and what must hold of the connection. [`script`] reads it, [`run`] holds the endpoint to
//! it, and [`assertion`] evaluates what stands between `%{` and `}%`. Nothing of a script is ever
//! executed: of shell lines the sysctls that they set are read, and anything else that a script needs
//! and an endpoint has not (RST, queueing disciplines) is the reason why it fails.

pub mod assertion;
pub mod run;
pub mod script;

/// Holds an endpoint to the script in `text`.
///
/// # Errors
/// The number of a line, and why the script fails there.
pub fn check(text: &str) -> Result<(), (usize, String)> {
    run::run(&script::parse(text)?)
}
