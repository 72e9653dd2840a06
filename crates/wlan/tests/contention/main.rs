//! Who may send when: rules of DCF and EDCA as scripts.

mod cell;
mod dcf;
mod edca;
