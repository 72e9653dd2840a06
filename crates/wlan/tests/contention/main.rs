//! Who may send when: rules of DCF and EDCA as scripts.

mod bursts;
mod cell;
mod dcf;
mod edca;
