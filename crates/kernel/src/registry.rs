//! Makers under names: algorithms that come from outside of the crates that call them.
//!
//! Knows names and the order in which they came; a configuration keeps the number of a name. Knows nothing of
//! what is made.

use std::sync::{Arc, PoisonError, RwLock};

/// The names and makers of one kind of algorithm, in the order in which they came; none ever goes.
#[derive(Debug)]
pub struct Registry<M: ?Sized>(RwLock<Vec<(String, Arc<M>)>>);

impl<M: ?Sized> Default for Registry<M> {
    fn default() -> Self {
        Self::new()
    }
}

impl<M: ?Sized> Registry<M> {
    /// Makes one without names.
    pub const fn new() -> Self {
        Self(RwLock::new(Vec::new()))
    }

    /// Registers a maker under a name, for configurations that are read afterwards. A name that is registered
    /// already keeps its maker, for it may be in use.
    pub fn register(&self, name: &str, make: Arc<M>) {
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if all.iter().all(|(other, _)| other != name) {
            all.push((name.to_owned(), make));
        }
    }

    /// Returns the number of a name, if it is registered.
    pub fn number(&self, name: &str) -> Option<u16> {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let place = all.iter().position(|(other, _)| other == name)?;
        u16::try_from(place).ok()
    }

    /// Returns the name of a number that [`Self::number`] gave.
    ///
    /// # Panics
    /// If no name has the number.
    pub fn name(&self, number: u16) -> String {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        all[usize::from(number)].0.clone()
    }

    /// Returns the maker of a number that [`Self::number`] gave.
    ///
    /// # Panics
    /// If no name has the number.
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
