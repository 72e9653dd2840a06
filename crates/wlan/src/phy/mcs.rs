//! Modulation and coding schemes of 802.11n and later: coded bits per subcarrier, and the share of
//! data bits.
//!
//! All amendments number them alike as far as each goes (IEEE 802.11-2020, Tables 19-27 ff. and
//! 21-29 ff.; 802.11ax-2021, Tables 27-111 ff.). 802.11n includes the streams in the number; here
//! its number is that of one stream.

/// The bits that one subcarrier of one stream carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scheme {
    /// N_BPSCS: coded bits on a subcarrier.
    pub(super) coded_bits: u64,
    /// R as a fraction: data bits over coded bits.
    pub(super) coding: (u64, u64),
}

const SCHEMES: [Scheme; 14] = [
    Scheme { coded_bits: 1, coding: (1, 2) },
    Scheme { coded_bits: 2, coding: (1, 2) },
    Scheme { coded_bits: 2, coding: (3, 4) },
    Scheme { coded_bits: 4, coding: (1, 2) },
    Scheme { coded_bits: 4, coding: (3, 4) },
    Scheme { coded_bits: 6, coding: (2, 3) },
    Scheme { coded_bits: 6, coding: (3, 4) },
    Scheme { coded_bits: 6, coding: (5, 6) },
    Scheme { coded_bits: 8, coding: (3, 4) },
    Scheme { coded_bits: 8, coding: (5, 6) },
    Scheme { coded_bits: 10, coding: (3, 4) },
    Scheme { coded_bits: 10, coding: (5, 6) },
    Scheme { coded_bits: 12, coding: (3, 4) },
    Scheme { coded_bits: 12, coding: (5, 6) },
];

/// Returns the scheme `index`, if it is at most `highest`.
pub(super) fn scheme(index: u8, highest: u8) -> Option<Scheme> {
    (index <= highest).then(|| SCHEMES[usize::from(index)])
}
