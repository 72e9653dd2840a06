//! Rules of DCF and EDCA as scripts: access to the medium, and whole exchanges.

mod absence;
mod aggregate_limits;
mod aggregates;
mod bursts;
mod cell;
mod collisions;
mod dcf;
mod edca;
mod exchanges;
mod fed;
mod ht;
mod limits;
mod mixed;
mod nav;
mod pcf;
mod script;
mod withdrawal;
