//! Registries of algorithms by name, for plug-ins from outside the crates that use them. A
//! configuration stores the number of a name.

use std::sync::{Arc, PoisonError, RwLock};

/// Names and constructors of one kind of algorithm, in order of registration. Entries are never
/// removed.
#[derive(Debug)]
pub struct Registry<M: ?Sized>(RwLock<Vec<(String, Arc<M>)>>);

impl<M: ?Sized> Default for Registry<M> {
    fn default() -> Self {
        Self::new()
    }
}

impl<M: ?Sized> Registry<M> {
    /// Creates an empty registry.
    pub const fn new() -> Self {
        Self(RwLock::new(Vec::new()))
    }

    /// Registers a constructor under a name, for configurations read from now on. A name that
    /// already exists keeps its constructor, because it may be in use.
    pub fn register(&self, name: &str, make: Arc<M>) {
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if all.iter().all(|(other, _)| other != name) {
            all.push((name.to_owned(), make));
        }
    }

    /// Returns the number of a registered name.
    pub fn number(&self, name: &str) -> Option<u16> {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let place = all.iter().position(|(other, _)| other == name)?;
        u16::try_from(place).ok()
    }

    /// Returns the name with a number returned by [`Self::number`].
    ///
    /// # Panics
    /// If no name has this number.
    pub fn name(&self, number: u16) -> String {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        all[usize::from(number)].0.clone()
    }

    /// Returns the constructor with a number returned by [`Self::number`].
    ///
    /// # Panics
    /// If no name has this number.
    pub fn maker(&self, number: u16) -> Arc<M> {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&all[usize::from(number)].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_its_first_maker_and_its_number() {
        let registry: Registry<dyn Fn() -> u8 + Send + Sync> = Registry::new();
        assert_eq!(registry.number("one"), None);
        registry.register("one", Arc::new(|| 1));
        registry.register("two", Arc::new(|| 2));
        registry.register("one", Arc::new(|| 3));
        assert_eq!((registry.number("one"), registry.number("two")), (Some(0), Some(1)));
        assert_eq!((registry.name(1).as_str(), registry.maker(0)()), ("two", 1));
    }
}
