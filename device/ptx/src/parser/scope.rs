//! What a name means at a place in a function: registers and variables of the enclosing `{ }`, labels, declarations.

use std::collections::HashMap;
use std::sync::Arc;

use crate::module::{Prototype, RegId, VarId};

/// What a function-scope name stands for.
#[derive(Debug, Clone)]
pub(crate) enum Name {
    Reg(RegId),
    Var(VarId),
    Prototype(Arc<Prototype>),
}

/// The nested scopes of a function. Closed scopes are kept, because labels are looked up at the end.
#[derive(Debug, Default)]
pub(crate) struct Scopes<'t> {
    scopes: Vec<Scope<'t>>,
    current: usize,
}

#[derive(Debug, Default)]
struct Scope<'t> {
    parent: usize,
    names: HashMap<Arc<str>, Name>,
    /// Label to the instruction that follows it.
    labels: HashMap<&'t str, u32>,
}

impl<'t> Scopes<'t> {
    pub(crate) fn open(&mut self) {
        self.scopes.push(Scope { parent: self.current, ..Scope::default() });
        self.current = self.scopes.len() - 1;
    }

    /// False when only the function's own scope is left.
    pub(crate) fn close(&mut self) -> bool {
        let inner = self.current != 0;
        self.current = self.scopes[self.current].parent;
        inner
    }

    pub(crate) fn current(&self) -> usize {
        self.current
    }

    /// False if the name is taken in this very scope.
    pub(crate) fn define(&mut self, name: Arc<str>, meaning: Name) -> bool {
        self.scopes[self.current].names.insert(name, meaning).is_none()
    }

    pub(crate) fn define_label(&mut self, name: &'t str, at: u32) -> bool {
        self.scopes[self.current].labels.insert(name, at).is_none()
    }

    pub(crate) fn find(&self, name: &str) -> Option<&Name> {
        self.from(self.current).find_map(|scope| scope.names.get(name))
    }

    /// The instruction a label stands before, seen from `scope`.
    pub(crate) fn find_label(&self, scope: usize, name: &str) -> Option<u32> {
        self.from(scope).find_map(|scope| scope.labels.get(name).copied())
    }

    /// The labels of all scopes, for splitting blocks.
    pub(crate) fn labels(&self) -> impl Iterator<Item = (&'t str, u32)> + '_ {
        self.scopes.iter().flat_map(|scope| scope.labels.iter().map(|(name, at)| (*name, *at)))
    }

    /// The known name nearest to `name`, if one is near.
    pub(crate) fn nearest(&self, name: &str) -> Option<&str> {
        self.from(self.current)
            .flat_map(|scope| scope.names.keys().map(|name| &**name).chain(scope.labels.keys().copied()))
            .map(|known| (strsim::damerau_levenshtein(known, name), known))
            .filter(|(distance, _)| *distance <= 2)
            .min()
            .map(|(_, known)| known)
    }

    fn from(&self, scope: usize) -> impl Iterator<Item = &Scope<'t>> {
        let mut next = Some(scope);
        std::iter::from_fn(move || {
            let at = next?;
            let scope = self.scopes.get(at)?;
            next = (at != 0).then_some(scope.parent);
            Some(scope)
        })
    }
}
