//! The known name that a misspelt one may have meant.

/// The name among `known` that differs in one or two letters from `name`, if there is one.
pub(crate) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // In a name of three letters, two other letters are another name.
    let limit = (name.len() / 4).clamp(1, 2);
    known
        .filter(|other| other.len() <= 256 && other.len().abs_diff(name.len()) <= limit)
        .map(|other| (strsim::damerau_levenshtein(other, name), other))
        .filter(|(distance, _)| *distance <= limit)
        .min()
        .map(|(_, other)| other)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn finds_a_name_near_enough() {
        let known = ["%rd1", "%r1", "LBB0_12", "_Z3addv"];
        let find = |name| nearest(name, known.into_iter());
        assert_eq!(find("%r2"), Some("%r1"));
        assert_eq!(find("LBB0_21"), Some("LBB0_12"));
        assert_eq!(find("_Z3adbw"), None);
        assert_eq!(find("_Z3addvvv"), Some("_Z3addv"));
        assert_eq!(find("%f7"), None);
    }
}
