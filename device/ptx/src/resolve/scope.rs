//! What a name means at a place in a function: registers and variables of the enclosing `{ }`, labels, declarations.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use super::nearest::nearest;
use crate::lexer::Token;
use crate::module::{GlobalId, Prototype, RegId, Type, VarId};

/// What a function-scope name stands for.
#[derive(Debug, Clone)]
pub(crate) enum Name<'t> {
    Reg(RegId),
    /// `.reg .v4 .f32 v`: one register an element.
    Vector(Rc<[RegId]>),
    Var(VarId),
    /// `.global` or `.const`: there is one for all threads, so it is the module's.
    Global(GlobalId),
    Prototype(Arc<Prototype>),
    BranchTargets(Rc<[Token<'t>]>),
}

/// `%r<10>`. Its registers are made when they are first used, so that a large range costs nothing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Range {
    pub(crate) ty: Type,
    pub(crate) lanes: u32,
    pub(crate) count: u32,
}

/// The answer to a question for a name.
pub(crate) enum Found<'a, 't> {
    Name(&'a Name<'t>),
    /// A register of a range that is not made yet, and the scope that declares the range.
    InRange(usize, Range),
}

/// The nested scopes of a function. Closed scopes are kept, because labels are looked up at the end.
pub(crate) struct Scopes<'t> {
    scopes: Vec<Scope<'t>>,
    current: usize,
}

#[derive(Default)]
struct Scope<'t> {
    parent: usize,
    names: HashMap<&'t str, Name<'t>>,
    ranges: HashMap<&'t str, Range>,
    /// For each declared name that ends in a number, the smallest such number by what stands before it.
    numbered: HashMap<&'t str, u32>,
    /// Label to the instruction that follows it.
    labels: HashMap<&'t str, u32>,
}

impl<'t> Scopes<'t> {
    pub(crate) fn new() -> Self {
        Self { scopes: vec![Scope::default()], current: 0 }
    }

    pub(crate) fn open(&mut self) {
        self.scopes.push(Scope { parent: self.current, ..Scope::default() });
        self.current = self.scopes.len() - 1;
    }

    pub(crate) fn close(&mut self) {
        self.current = self.scopes[self.current].parent;
    }

    pub(crate) fn current(&self) -> usize {
        self.current
    }

    /// False if the name is taken in this very scope.
    pub(crate) fn define(&mut self, name: &'t str, meaning: Name<'t>) -> bool {
        let scope = &mut self.scopes[self.current];
        if scope.range_of(name).is_some() {
            return false;
        }
        if let Some((prefix, number)) = splits(name).next() {
            let least = scope.numbered.entry(prefix).or_insert(number);
            *least = number.min(*least);
        }
        scope.names.insert(name, meaning).is_none()
    }

    /// False if one of the names is taken in this very scope.
    pub(crate) fn define_range(&mut self, prefix: &'t str, range: Range) -> bool {
        let scope = &mut self.scopes[self.current];
        let taken = scope.numbered.get(prefix).is_some_and(|number| *number < range.count);
        scope.ranges.insert(prefix, range).is_none() && !taken
    }

    /// Gives a register of a range, seen from `scope`, its place.
    pub(crate) fn materialize(&mut self, scope: usize, name: &'t str, meaning: Name<'t>) {
        self.scopes[scope].names.insert(name, meaning);
    }

    pub(crate) fn define_label(&mut self, name: &'t str, at: u32) -> bool {
        self.scopes[self.current].labels.insert(name, at).is_none()
    }

    pub(crate) fn find(&self, name: &str) -> Option<Found<'_, 't>> {
        self.find_from(self.current, name)
    }

    pub(crate) fn find_from(&self, scope: usize, name: &str) -> Option<Found<'_, 't>> {
        self.outwards(scope).find_map(|(at, scope)| {
            let known = scope.names.get(name).map(Found::Name);
            known.or_else(|| scope.range_of(name).map(|range| Found::InRange(at, range)))
        })
    }

    /// The instruction a label stands before, seen from `scope`.
    pub(crate) fn find_label(&self, scope: usize, name: &str) -> Option<u32> {
        self.outwards(scope).find_map(|(_, scope)| scope.labels.get(name).copied())
    }

    /// The range that `name` would belong to if it were longer.
    pub(crate) fn range_before(&self, name: &str) -> Option<String> {
        let (prefix, _) = splits(name).next()?;
        let range = self.outwards(self.current).find_map(|(_, scope)| scope.ranges.get(prefix))?;
        Some(format!("{prefix}<{}>", range.count))
    }

    /// The label nearest to `name`, seen from `scope`.
    pub(crate) fn nearest_label(&self, scope: usize, name: &str) -> Option<&'t str> {
        nearest(name, self.outwards(scope).flat_map(|(_, scope)| scope.labels.keys().copied()))
    }

    /// Every name that means something here, labels aside.
    pub(crate) fn known(&self) -> impl Iterator<Item = &'t str> + '_ {
        self.outwards(self.current).flat_map(|(_, scope)| scope.names.keys().copied())
    }

    fn outwards(&self, scope: usize) -> impl Iterator<Item = (usize, &Scope<'t>)> {
        let mut next = Some(scope);
        std::iter::from_fn(move || {
            let at = next?;
            let scope = &self.scopes[at];
            next = (at != 0).then_some(scope.parent);
            Some((at, scope))
        })
    }
}

impl Scope<'_> {
    fn range_of(&self, name: &str) -> Option<Range> {
        if self.ranges.is_empty() {
            return None;
        }
        let within = |(prefix, number)| self.ranges.get(prefix).filter(|range| number < range.count).copied();
        splits(name).find_map(within)
    }
}

/// `%r12` as (`%r`, 12), then (`%r1`, 2): the ranges whose register it may be.
fn splits(name: &str) -> impl Iterator<Item = (&str, u32)> {
    let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count().min(10);
    (name.len() - digits..name.len()).filter_map(|at| {
        let (prefix, number) = name.split_at(at);
        let padded = number.len() > 1 && number.starts_with('0');
        if padded || prefix.is_empty() { None } else { Some((prefix, number.parse().ok()?)) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const RANGE: Range = Range { ty: Type::B32, lanes: 1, count: 10 };

    #[test]
    fn a_number_may_belong_to_several_ranges() {
        assert_eq!(splits("%r120").collect::<Vec<_>>(), [("%r", 120), ("%r1", 20), ("%r12", 0)]);
        assert_eq!(splits("%r100").collect::<Vec<_>>(), [("%r", 100), ("%r10", 0)]);
        assert_eq!(splits("%p").count(), 0);
        assert_eq!(splits("12").collect::<Vec<_>>(), [("1", 2)]);
    }

    #[test]
    fn inner_names_hide_outer_ones() {
        let mut scopes = Scopes::new();
        assert!(scopes.define_range("%r", RANGE));
        scopes.open();
        assert!(matches!(scopes.find("%r9"), Some(Found::InRange(0, _))));
        assert!(scopes.define("%r9", Name::Reg(RegId(7))));
        assert!(matches!(scopes.find("%r9"), Some(Found::Name(Name::Reg(RegId(7))))));
        scopes.close();
        assert!(matches!(scopes.find("%r9"), Some(Found::InRange(0, _))));
        assert!(scopes.find("%r10").is_none());
        assert_eq!(scopes.range_before("%r10").as_deref(), Some("%r<10>"));
    }

    #[test]
    fn a_name_is_declared_once_a_scope() {
        let mut scopes = Scopes::new();
        assert!(scopes.define("%r5", Name::Reg(RegId(0))));
        assert!(!scopes.define("%r5", Name::Reg(RegId(1))));
        assert!(!scopes.define_range("%r", RANGE));
        scopes.open();
        assert!(scopes.define_range("%r", RANGE));
        assert!(!scopes.define("%r5", Name::Reg(RegId(2))));
        assert!(scopes.define("%r10", Name::Reg(RegId(2))));
    }
}
