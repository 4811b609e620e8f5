//! A module of kernels on the device.

use crate::device::{Device, Facts};
use crate::error::{Error, Result};

/// PTX, loaded.
#[derive(Debug)]
pub struct Module {
    pub(crate) inner: cust::module::Module,
}

impl Module {
    /// Loads PTX text. On a GPU the driver compiles it, which takes a while the first time.
    ///
    /// # Errors
    /// [`Error::PtxTooNew`] and [`Error::TargetTooNew`] name both sides of a mismatch; anything else that is wrong with the text
    /// comes as [`Error::Driver`] with the driver's log.
    pub fn load(device: &Device, ptx: &str) -> Result<Self> {
        check(ptx, device.facts())?;
        let inner = cust::module::Module::from_ptx(ptx, &[]).map_err(|e| Error::driver("loading the kernels", e))?;
        Ok(Self { inner })
    }
}

/// Refuses what the driver would refuse with a number.
fn check(ptx: &str, facts: &Facts) -> Result<()> {
    let directive = |name: &str| {
        let line = ptx.lines().find_map(|line| line.trim().strip_prefix(name));
        line.map(|rest| rest.trim().to_owned())
    };
    let version = directive(".version");
    let numbers =
        version.as_deref().and_then(|v| v.split_once('.')).and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    if let Some(numbers) = numbers
        && numbers > facts.newest_ptx
    {
        let (driver_major, driver_minor) = facts.driver;
        let (major, minor) = facts.newest_ptx;
        return Err(Error::PtxTooNew {
            ptx: version.unwrap_or_default(),
            driver: format!("driver {driver_major}.{driver_minor} of {}", facts.name),
            newest: format!("{major}.{minor}"),
        });
    }
    let target = directive(".target").unwrap_or_default();
    let name = target.split(',').next().unwrap_or_default().trim().to_owned();
    let sm = name
        .strip_prefix("sm_")
        .and_then(|sm| sm.trim_end_matches(|c: char| c.is_ascii_alphabetic()).parse::<u32>().ok());
    let (major, minor) = facts.capability;
    if sm.is_some_and(|sm| sm > major * 10 + minor) {
        return Err(Error::TargetTooNew { target: name, device: facts.name.clone(), major, minor });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::test_facts;

    #[test]
    fn mismatches_name_both_sides() {
        let facts = test_facts();
        assert!(check(".version 7.0\n.target sm_70\n", &facts).is_ok());
        let newer = check(".version 9.5\n.target sm_70\n", &facts).unwrap_err().to_string();
        assert!(newer.contains("PTX ISA 9.5") && newer.contains("9.0"), "{newer}");
        let target = check(".version 7.0\n.target sm_120a, debug\n", &facts).unwrap_err().to_string();
        assert!(target.contains("sm_120a") && target.contains("9.0"), "{target}");
    }
}
