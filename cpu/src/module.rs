//! A module of kernels on the device.
//!
//! A driver answers a version or target that it does not know with a bare number, so both are compared before it is asked.

use std::ffi::c_void;
use std::time::{Duration, Instant};

use crate::device::{Device, Facts};
use crate::error::{Error, Result};
use crate::shape::LaunchShape;

/// PTX, loaded.
#[derive(Debug)]
pub struct Module {
    inner: cust::module::Module,
    loaded_in: Duration,
}

impl Module {
    /// Loads PTX text. On a GPU the driver compiles it, which takes a while the first time.
    ///
    /// # Errors
    /// [`Error::PtxTooNew`] and [`Error::TargetTooNew`] name both sides of a mismatch; anything else that is wrong with the text
    /// comes as [`Error::Driver`] with the driver's log.
    pub fn load(device: &Device, ptx: &str) -> Result<Self> {
        check(ptx, device.facts())?;
        let began = Instant::now();
        let inner = cust::module::Module::from_ptx(ptx, &[]).map_err(|e| Error::driver("loading the kernels", e))?;
        Ok(Self { inner, loaded_in: began.elapsed() })
    }

    /// Launches the entry point `entry` and returns without waiting. This is all that a [`Prepared`](crate::kernels::Prepared)
    /// of one's own needs beside buffers of `cust`.
    ///
    /// # Safety
    /// `args` point to values of the entry point's parameters, in order; a `&[T]` of the kernel is two, pointer and length. What
    /// the kernel reads and writes is on the device, is as large as it takes it to be, and stays until the device has been
    /// synchronised.
    ///
    /// # Errors
    /// [`Error::Driver`] when there is no such entry point or the driver refuses the launch.
    pub unsafe fn launch(&self, device: &Device, entry: &str, shape: LaunchShape, args: &[*mut c_void]) -> Result<()> {
        let function =
            self.inner.get_function(entry).map_err(|e| Error::driver("finding the kernel in the module", e))?;
        let ([gx, gy, gz], [bx, by, bz]) = (shape.grid, shape.block);
        // SAFETY: by the caller.
        unsafe { device.stream.launch(&function, (gx, gy, gz), (bx, by, bz), 0, args) }
            .map_err(|e| Error::driver("launching the kernel", e))
    }

    /// How long loading took: on a GPU, the driver's compilation of the PTX, unless its cache had it.
    #[must_use]
    pub fn loaded_in(&self) -> Duration {
        self.loaded_in
    }
}

/// Refuses what the driver would refuse with a number.
fn check(ptx: &str, facts: &Facts) -> Result<()> {
    check_version(directive(ptx, ".version"), facts)?;
    check_target(directive(ptx, ".target"), facts)
}

/// What stands behind a directive, up to a comma or comment.
fn directive<'a>(ptx: &'a str, name: &str) -> &'a str {
    let rest = ptx.lines().find_map(|line| line.trim_start().strip_prefix(name)).unwrap_or_default();
    rest.split([',', '/']).next().unwrap_or_default().trim()
}

fn check_version(version: &str, facts: &Facts) -> Result<()> {
    let numbers = version.split_once('.').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    // What cannot be read is the driver's to refuse.
    if numbers.is_none_or(|numbers| numbers <= facts.newest_ptx) {
        return Ok(());
    }
    let ((driver_major, driver_minor), (major, minor)) = (facts.driver, facts.newest_ptx);
    Err(Error::PtxTooNew {
        ptx: version.to_owned(),
        driver: format!("driver {driver_major}.{driver_minor} of {}", facts.name),
        newest: format!("{major}.{minor}"),
    })
}

fn check_target(target: &str, facts: &Facts) -> Result<()> {
    let Some(architecture) = target.strip_prefix("sm_") else { return Ok(()) };
    let digits = architecture.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let Ok(wanted) = digits.parse::<u32>() else { return Ok(()) };
    let (major, minor) = facts.capability;
    let (target, device) = (target.to_owned(), facts.name.clone());
    if wanted > major * 10 + minor {
        return Err(Error::TargetTooNew { target, device, major, minor });
    }
    // `sm_90a` has instructions that no other architecture has. The CPU device knows what it runs when it loads the module.
    if architecture.ends_with('a') && wanted != major * 10 + minor && facts.is_gpu() {
        let needed = format!("{}.{}", wanted / 10, wanted % 10);
        return Err(Error::TargetOfAnother { target, needed, device, major, minor });
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
        let gpu = Facts { kind: crate::Kind::Gpu, ..facts };
        assert!(check(".version 8.0\n.target sm_90a // Hopper\n", &gpu).is_ok());
        let other = check(".version 8.0\n.target sm_80a\n", &gpu).unwrap_err().to_string();
        assert!(other.contains("only a GPU of compute capability 8.0") && other.contains("9.0"), "{other}");
        assert!(check("no directives at all", &gpu).is_ok());
    }
}
