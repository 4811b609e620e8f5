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
        // SAFETY: by the caller.
        unsafe { self.launch_shared(device, entry, shape, 0, args) }
    }

    /// [`Module::launch`] with `shared` bytes of dynamic shared memory a block.
    ///
    /// # Safety
    /// As for [`Module::launch`].
    ///
    /// # Errors
    /// As for [`Module::launch`].
    pub unsafe fn launch_shared(
        &self,
        device: &Device,
        entry: &str,
        shape: LaunchShape,
        shared: u32,
        args: &[*mut c_void],
    ) -> Result<()> {
        let function = self.function(entry)?;
        if shared > USUAL_SHARED {
            allow_shared(&function, shared)?;
        }
        let ([gx, gy, gz], [bx, by, bz]) = (shape.grid, shape.block);
        // SAFETY: by the caller.
        unsafe { device.stream.launch(&function, (gx, gy, gz), (bx, by, bz), shared, args) }
            .map_err(|e| Error::driver("launching the kernel", e))
    }

    /// What the device needs for a thread and a block of a kernel, and how many blocks of a shape a multiprocessor holds.
    ///
    /// # Errors
    /// [`Error::Driver`] when there is no such entry point.
    pub fn kernel_facts(&self, entry: &str, shape: LaunchShape, shared: u32) -> Result<KernelFacts> {
        use cust::function::FunctionAttribute as A;
        let function = self.function(entry)?;
        let ask = |attribute| {
            let value =
                function.get_attribute(attribute).map_err(|e| Error::driver("asking for a kernel's needs", e))?;
            Ok::<_, Error>(u32::try_from(value).unwrap_or(0))
        };
        let threads = i32::try_from(shape.threads_per_block()).unwrap_or(i32::MAX);
        let mut blocks = 0;
        // SAFETY: a valid place for the answer and a function of a loaded module.
        let code = unsafe {
            cust::sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(
                &raw mut blocks,
                function.to_raw(),
                threads,
                shared as usize,
            )
        };
        let known = code == cust::sys::cudaError_enum::CUDA_SUCCESS;
        Ok(KernelFacts {
            registers: ask(A::NumRegisters)?,
            static_shared: ask(A::SharedMemorySizeBytes)?,
            local_bytes: ask(A::LocalSizeBytes)?,
            max_threads: ask(A::MaxThreadsPerBlock)?,
            blocks_per_multiprocessor: known.then(|| u32::try_from(blocks).unwrap_or(0)),
        })
    }

    fn function(&self, entry: &str) -> Result<cust::function::Function<'_>> {
        self.inner.get_function(entry).map_err(|e| Error::driver("finding the kernel in the module", e))
    }

    /// How long loading took: on a GPU, the driver's compilation of the PTX, unless its cache had it.
    #[must_use]
    pub fn loaded_in(&self) -> Duration {
        self.loaded_in
    }
}

/// What the device needs for a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KernelFacts {
    /// Registers a thread. The CPU device has no allocation of registers: there it is an upper estimate from the PTX.
    pub registers: u32,
    /// Bytes of shared memory a block that the kernel declares.
    pub static_shared: u32,
    /// Bytes of local memory a thread.
    pub local_bytes: u32,
    /// Threads a block at most.
    pub max_threads: u32,
    /// Blocks of the shape that a multiprocessor holds at a time, if the driver says so.
    pub blocks_per_multiprocessor: Option<u32>,
}

/// Bytes of shared memory a block that every device gives without being asked.
const USUAL_SHARED: u32 = 48 << 10;

fn allow_shared(function: &cust::function::Function<'_>, shared: u32) -> Result<()> {
    use cust::sys::CUfunction_attribute_enum as A;
    let bytes = i32::try_from(shared).unwrap_or(i32::MAX);
    // SAFETY: a function of a loaded module; the attribute is a number.
    let code = unsafe {
        cust::sys::cuFuncSetAttribute(function.to_raw(), A::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes)
    };
    if code == cust::sys::cudaError_enum::CUDA_SUCCESS {
        return Ok(());
    }
    let detail = gridstride_driver::last_error_detail().map_or(String::new(), |detail| format!(" ({detail})"));
    Err(Error::Driver {
        call: "asking for dynamic shared memory",
        reason: format!("{shared} bytes a block are more than the device has{detail}"),
    })
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
