//! Does it fit? Asked before anything is allocated, of the device and of the host, so that a size that is too large is a
//! sentence and not a process that the system kills.

use std::fs;

use gridstride_driver::Kind;

use crate::device::{Device, Facts};
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::kernels::Kernel;

/// Checks that `n` elements of a kernel fit the device and the host.
///
/// # Errors
/// [`Error::TooLarge`], with the sizes.
pub(crate) fn check(kernel: &dyn Kernel, device: &Device, dtype: Dtype, n: u64) -> Result<()> {
    let facts = device.facts();
    let on_device = |n| kernel.device_bytes(dtype, n);
    fits(n, device.free_memory()?, place(facts), on_device)?;
    let Some(available) = available_on_host() else { return Ok(()) };
    // The host keeps inputs and reference too, and the arrays of the CPU device are in the same memory.
    let copies = if facts.is_gpu() { 1 } else { 2 };
    fits(n, available, "host memory".to_owned(), |n| on_device(n).saturating_mul(copies))
}

/// Checks that buffers of `bytes` in all fit the device, and the host with `copies` of them there.
///
/// # Errors
/// [`Error::NoRoom`], with the sizes.
pub(crate) fn check_room(device: &Device, bytes: u64, copies: u64) -> Result<()> {
    let room = |needed: u64, free: u64, place: String| {
        if needed <= free { Ok(()) } else { Err(Error::NoRoom { needed, place, free }) }
    };
    room(bytes, device.free_memory()?, place(device.facts()))?;
    // The memory of the CPU device is the host's.
    let copies = copies + u64::from(!device.facts().is_gpu());
    let Some(available) = available_on_host() else { return Ok(()) };
    room(bytes.saturating_mul(copies), available, "host memory".to_owned())
}

fn place(facts: &Facts) -> String {
    match facts.kind {
        Kind::Gpu => format!("the memory of {}", facts.name),
        Kind::Cpu => "memory on the CPU device".to_owned(),
    }
}

fn fits(n: u64, free: u64, place: String, bytes: impl Fn(u64) -> u64) -> Result<()> {
    let needed = bytes(n);
    if needed <= free {
        return Ok(());
    }
    // A kernel may need memory that does not grow with n, so the most that fits is looked for, not divided out.
    let (mut fit, mut beyond) = (0, n);
    while beyond - fit > 1 {
        let middle = fit + (beyond - fit) / 2;
        if bytes(middle) <= free { fit = middle } else { beyond = middle }
    }
    Err(Error::TooLarge { n, needed, place, free, most: fit })
}

/// Bytes that the host can still give to this process, where the system says so: what the machine has, or what the control
/// group of a container leaves of it.
fn available_on_host() -> Option<u64> {
    let machine = available_of_machine(&fs::read_to_string("/proc/meminfo").ok()?)?;
    let read = |file: &str| fs::read_to_string(format!("/sys/fs/cgroup/{file}")).ok();
    let group = match (read("memory.max"), read("memory.current"), read("memory.stat")) {
        (Some(max), Some(current), Some(stat)) => available_of_group(&max, &current, &stat),
        _ => None,
    };
    Some(group.map_or(machine, |group| group.min(machine)))
}

fn available_of_machine(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// `None` where the group has no limit. Its page cache counts as used, and gives way.
fn available_of_group(max: &str, current: &str, stat: &str) -> Option<u64> {
    let (max, current): (u64, u64) = (max.trim().parse().ok()?, current.trim().parse().ok()?);
    let cache = stat.lines().find_map(|line| line.strip_prefix("inactive_file "));
    let cache: u64 = cache.and_then(|bytes| bytes.trim().parse().ok()).unwrap_or(0);
    Some(max.saturating_sub(current.saturating_sub(cache)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_said_with_the_most_that_does() {
        let bytes = |n: u64| n.saturating_mul(12).saturating_add(100);
        assert!(fits(10, 220, "here".into(), bytes).is_ok());
        let error = fits(1 << 40, 1 << 30, "host memory".into(), bytes).unwrap_err().to_string();
        assert_eq!(
            error,
            "1,099,511,627,776 elements need 12.0 TiB of host memory, and 1.0 GiB are free. At most 89,478,477 elements fit"
        );
        assert!(matches!(fits(u64::MAX, 99, String::new(), bytes), Err(Error::TooLarge { most: 0, .. })));
    }

    #[test]
    fn the_systems_files_are_understood() {
        assert_eq!(available_of_machine("MemTotal: 9 kB\nMemAvailable:    2048 kB\n"), Some(2048 * 1024));
        assert_eq!(available_of_machine("MemTotal: 9 kB\n"), None);
        assert_eq!(available_of_group("max\n", "5\n", ""), None);
        assert_eq!(available_of_group("1000\n", "700\n", "anon 100\ninactive_file 200\n"), Some(500));
        assert_eq!(available_of_group("1000\n", "1700\n", ""), Some(0));
    }
}
