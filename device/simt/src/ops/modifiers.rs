//! The dotted parts of an instruction, taken one by one; what is left over is an error.

use gridstride_ptx::{Instr, Type};

use super::Reason;

/// Modifiers that have not been understood yet.
pub(crate) struct Modifiers<'i> {
    words: Vec<&'i str>,
}

impl<'i> Modifiers<'i> {
    pub(crate) fn of(instr: &'i Instr) -> Self {
        Self { words: instr.modifiers.iter().map(|word| &**word).collect() }
    }

    /// Takes `.word` if it is there.
    pub(crate) fn take(&mut self, word: &str) -> bool {
        self.take_any(&[word]).is_some()
    }

    /// Takes the first modifier that is one of `words`.
    pub(crate) fn take_any(&mut self, words: &[&str]) -> Option<&'i str> {
        let at = self.words.iter().position(|word| words.contains(word))?;
        Some(self.words.remove(at))
    }

    /// Takes the first modifier for which `known` has a meaning.
    pub(crate) fn take_map<T>(&mut self, known: impl Fn(&str) -> Option<T>) -> Option<T> {
        let (at, meaning) = self.words.iter().enumerate().find_map(|(at, word)| Some((at, known(word)?)))?;
        self.words.remove(at);
        Some(meaning)
    }

    /// Takes the first type.
    pub(crate) fn ty(&mut self) -> Result<Type, Reason> {
        self.take_map(Type::from_name).ok_or_else(|| "no type is named".into())
    }

    /// All modifiers are understood.
    pub(crate) fn done(self) -> Result<(), Reason> {
        match self.words.first() {
            None => Ok(()),
            Some(word) => Err(format!("the modifier `.{word}`")),
        }
    }
}

/// The sentence for a type that an instruction does not take.
pub(crate) fn wrong_type(ty: Type) -> Reason {
    format!("the type `.{}`", ty.name())
}
