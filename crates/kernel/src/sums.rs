//! Counters that are added and subtracted field by field.

/// Defines a struct of counters with `+`, `+=`, and the increase `-` since earlier counters.
#[macro_export]
macro_rules! counters {
    (
        $(#[$about:meta])*
        $seen:vis struct $counters:ident { $($(#[$means:meta])* $of:vis $field:ident: $type:ty,)+ }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        $seen struct $counters { $($(#[$means])* $of $field: $type,)+ }

        impl std::ops::Add for $counters {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self { $($field: self.$field + other.$field,)+ }
            }
        }

        impl std::ops::AddAssign for $counters {
            fn add_assign(&mut self, other: Self) {
                *self = *self + other;
            }
        }

        impl std::ops::Sub for $counters {
            type Output = Self;
            fn sub(self, earlier: Self) -> Self {
                Self { $($field: self.$field - earlier.$field,)+ }
            }
        }

        impl std::iter::Sum for $counters {
            fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
                all.fold(Self::default(), |sum, one| sum + one)
            }
        }
    };
}
