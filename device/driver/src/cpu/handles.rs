//! Handles: numbers that C callers hold for our objects.
//!
//! A handle names a place in a table and the generation of what lies there, so one that was destroyed is told from the
//! object that came into its place. It is never dereferenced, and by its high bits no address either.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Marks a handle, and keeps it out of the addresses of user space.
const MARK: usize = 0x6d << 56;
const GENERATIONS: usize = 1 << 24;

/// What a handle stands for.
#[derive(Debug)]
pub(crate) enum Lookup<T> {
    Live(Arc<T>),
    /// It was one, and was destroyed.
    Stale,
    /// It never was one of this kind.
    Foreign,
}

impl<T> Lookup<T> {
    pub(crate) fn live(self) -> Option<Arc<T>> {
        match self {
            Self::Live(object) => Some(object),
            Self::Stale | Self::Foreign => None,
        }
    }
}

/// All objects of one kind.
#[derive(Debug)]
pub(crate) struct Table<T> {
    /// Tells handles of one kind from another's.
    kind: u8,
    slots: Mutex<Slots<T>>,
}

#[derive(Debug)]
struct Slots<T> {
    all: Vec<Place<T>>,
    free: Vec<usize>,
}

#[derive(Debug)]
struct Place<T> {
    generation: usize,
    object: Option<Arc<T>>,
}

impl<T> Table<T> {
    pub(crate) const fn new(kind: u8) -> Self {
        Self { kind, slots: Mutex::new(Slots { all: Vec::new(), free: Vec::new() }) }
    }

    /// Makes an object that knows its handle.
    pub(crate) fn insert_with(&self, make: impl FnOnce(usize) -> Arc<T>) -> Arc<T> {
        let mut slots = self.lock();
        let index = slots.free.pop().unwrap_or_else(|| {
            slots.all.push(Place { generation: 0, object: None });
            slots.all.len() - 1
        });
        let place = &mut slots.all[index];
        place.generation = (place.generation + 1) % GENERATIONS;
        let object = make(MARK | place.generation << 32 | index << 8 | usize::from(self.kind));
        place.object = Some(object.clone());
        object
    }

    /// Puts an object into the place of one that was vacated: the handle comes back to life.
    pub(crate) fn refill(&self, handle: usize, object: Arc<T>) {
        if let Some(index) = self.index(handle) {
            self.lock().all[index].object = Some(object);
        }
    }

    /// Takes the object out, and keeps the handle for [`Table::refill`].
    pub(crate) fn vacate(&self, handle: usize) -> Option<Arc<T>> {
        let index = self.index(handle)?;
        self.lock().all.get_mut(index)?.object.take()
    }

    pub(crate) fn get(&self, handle: usize) -> Lookup<T> {
        let slots = self.lock();
        match self.index(handle).and_then(|index| slots.all.get(index)) {
            Some(place) if place.generation == handle >> 32 & (GENERATIONS - 1) => {
                place.object.clone().map_or(Lookup::Stale, Lookup::Live)
            }
            Some(_) => Lookup::Stale,
            None => Lookup::Foreign,
        }
    }

    /// The live object that `pick` names.
    pub(crate) fn find(&self, pick: impl Fn(&T) -> bool) -> Option<Arc<T>> {
        self.lock().all.iter().filter_map(|place| place.object.as_ref()).find(|object| pick(object)).cloned()
    }

    /// Shows every live object to `visit`.
    pub(crate) fn for_each(&self, mut visit: impl FnMut(&T)) {
        self.lock().all.iter().filter_map(|place| place.object.as_deref()).for_each(&mut visit);
    }

    /// Destroys the handle.
    pub(crate) fn remove(&self, handle: usize) -> Option<Arc<T>> {
        let index = self.index(handle)?;
        let mut slots = self.lock();
        let place = slots.all.get_mut(index)?;
        if place.generation != handle >> 32 & (GENERATIONS - 1) {
            return None;
        }
        let object = place.object.take()?;
        slots.free.push(index);
        Some(object)
    }

    /// Destroys the handles of all objects that `pick` names, and returns these.
    pub(crate) fn remove_all(&self, pick: impl Fn(&T) -> bool) -> Vec<Arc<T>> {
        let mut slots = self.lock();
        let Slots { all, free } = &mut *slots;
        let mut removed = Vec::new();
        for (index, place) in all.iter_mut().enumerate() {
            if place.object.as_deref().is_some_and(&pick) {
                removed.extend(place.object.take());
                free.push(index);
            }
        }
        removed
    }

    fn index(&self, handle: usize) -> Option<usize> {
        (handle >> 56 == MARK >> 56 && handle & 0xff == usize::from(self.kind)).then_some(handle >> 8 & 0xff_ffff)
    }

    fn lock(&self) -> MutexGuard<'_, Slots<T>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn insert(table: &Table<&'static str>, value: &'static str) -> usize {
        let mut handle = 0;
        table.insert_with(|new| {
            handle = new;
            Arc::new(value)
        });
        handle
    }

    #[test]
    fn a_destroyed_handle_does_not_name_its_successor() {
        let table = Table::new(0x10);
        let first = insert(&table, "first");
        assert_eq!(*table.remove(first).unwrap(), "first");
        let second = insert(&table, "second");
        assert_ne!(first, second);
        assert!(matches!(table.get(first), Lookup::Stale));
        assert!(table.remove(first).is_none());
        assert_eq!(*table.get(second).live().unwrap(), "second");
    }

    #[test]
    fn foreign_pointers_and_other_kinds_are_told_apart() {
        let table = Table::<&str>::new(0x10);
        let other = insert(&Table::new(0x20), "other");
        for handle in [0, 1, 2, 0x7fff_1234_5678, other, usize::MAX, MARK | 0xff_ffff << 8 | 0x10] {
            assert!(matches!(table.get(handle), Lookup::Foreign), "{handle:#x}");
            assert!(table.remove(handle).is_none());
        }
    }

    #[test]
    fn a_vacated_handle_comes_back() {
        let table = Table::new(0x10);
        let handle = insert(&table, "first");
        table.vacate(handle).unwrap();
        assert!(matches!(table.get(handle), Lookup::Stale));
        table.refill(handle, Arc::new("second"));
        assert_eq!(*table.get(handle).live().unwrap(), "second");
    }
}
