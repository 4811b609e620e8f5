//! Which checks are on.

use std::str::FromStr;

/// The checks that are off unless asked for. Bounds, alignment and use after free are always checked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Checks {
    /// Accesses to the same memory that nothing orders.
    pub race: bool,
    /// Reads of memory that nothing wrote.
    pub init: bool,
    /// Barriers that not all threads reach, or reach at different instructions; threads that wait for ever.
    pub sync: bool,
    /// Memory that is still allocated when its owner ends.
    pub leak: bool,
}

impl Checks {
    /// All of them.
    pub const ALL: Self = Self { race: true, init: true, sync: true, leak: true };

    /// True if any check needs to see what kernels do.
    pub(crate) fn watch(self) -> bool {
        self.race || self.init || self.sync
    }
}

impl FromStr for Checks {
    type Err = String;

    /// `race,init`, `all`; nothing for none.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut checks = Self::default();
        for word in text.split(',').map(str::trim) {
            match word {
                "race" => checks.race = true,
                "init" => checks.init = true,
                "sync" => checks.sync = true,
                "leak" => checks.leak = true,
                "all" => checks = Self::ALL,
                "" if text.trim().is_empty() => {}
                _ => {
                    return Err(format!(
                        "`{word}` is no check: there are race, init, sync and leak, and all for these"
                    ));
                }
            }
        }
        Ok(checks)
    }
}

/// How the launches of a device are watched.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Settings {
    /// What is looked for.
    pub checks: Checks,
    /// Runs warps and blocks in an order that this number determines; in their own order without.
    pub schedule_seed: Option<u64>,
    /// Runs every launch in so many orders, from the same memory, and compares what they leave; 0 and 1 do not.
    pub schedules: u32,
}

impl Settings {
    /// What `GRIDSTRIDE_CHECK` and `GRIDSTRIDE_SCHEDULE_SEED` say.
    ///
    /// # Errors
    /// A sentence that names the variable, what it holds and what it takes.
    pub fn from_environment() -> Result<Self, String> {
        let variable = |name: &str| std::env::var_os(name).map(|value| value.to_string_lossy().into_owned());
        Self::parse(variable("GRIDSTRIDE_CHECK").as_deref(), variable("GRIDSTRIDE_SCHEDULE_SEED").as_deref())
    }

    fn parse(check: Option<&str>, seed: Option<&str>) -> Result<Self, String> {
        let checks = check.unwrap_or_default().parse().map_err(|error| format!("GRIDSTRIDE_CHECK: {error}"))?;
        let number = |text: &str| {
            text.trim().parse().map_err(|_| format!("GRIDSTRIDE_SCHEDULE_SEED is `{text}`: it takes a whole number"))
        };
        Ok(Self { checks, schedule_seed: seed.map(number).transpose()?, schedules: 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_are_words_with_commas() {
        assert_eq!("race, sync".parse(), Ok(Checks { race: true, sync: true, ..Checks::default() }));
        assert_eq!("all".parse(), Ok(Checks::ALL));
        assert_eq!("".parse(), Ok(Checks::default()));
        assert!("race,,sync".parse::<Checks>().is_err());
        assert!("races".parse::<Checks>().unwrap_err().contains("`races` is no check"));
    }

    #[test]
    fn variables_are_named_in_errors() {
        assert!(Settings::parse(Some("memory"), None).unwrap_err().starts_with("GRIDSTRIDE_CHECK: "));
        assert!(Settings::parse(None, Some("-1")).unwrap_err().starts_with("GRIDSTRIDE_SCHEDULE_SEED is `-1`"));
        assert_eq!(Settings::parse(None, Some("7")).unwrap().schedule_seed, Some(7));
    }
}
