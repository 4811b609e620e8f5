//! Devices and their attributes.

use std::ffi::c_char;

use gridstride_simt::Facts;

use crate::arg::{In, Out};
use crate::cpu::{self, check_device};
use crate::entry::driver_functions;
use crate::result::{CUresult, Result, fail};
use crate::types::{CEnum, CUdevice, CUdevprop, CUuuid};

driver_functions! {
    /// The device of an ordinal.
    call cuDeviceGet(device: *mut CUdevice, ordinal: i32) => get;
    /// How many devices there are.
    call cuDeviceGetCount(count: *mut i32) => count;
    /// The device's name.
    call cuDeviceGetName(name: *mut c_char, length: i32, device: CUdevice) => name;
    /// A number that identifies the device.
    call cuDeviceGetUuid(uuid: *mut CUuuid, device: CUdevice) => uuid;
    /// A number that identifies the device.
    call cuDeviceGetUuid_v2(uuid: *mut CUuuid, device: CUdevice) => uuid;
    /// Bytes of memory of the device.
    call cuDeviceTotalMem_v2(bytes: *mut usize, device: CUdevice) => total_memory;
    /// One of the device's properties.
    call cuDeviceGetAttribute(value: *mut i32, attribute: CEnum, device: CUdevice) => attribute;
    /// Major and minor compute capability.
    call cuDeviceComputeCapability(major: *mut i32, minor: *mut i32, device: CUdevice) => compute_capability;
    /// Attributes of the device, as a structure of early versions.
    call cuDeviceGetProperties(properties: *mut CUdevprop, device: CUdevice) => properties;
    /// Address on the PCI bus, as text.
    call cuDeviceGetPCIBusId(text: *mut c_char, length: i32, device: CUdevice) => pci_bus_id;
    /// The device at an address on the PCI bus.
    call cuDeviceGetByPCIBusId(device: *mut CUdevice, text: *const c_char) => by_pci_bus_id;
    /// Whether contexts can be kept to a part of the multiprocessors.
    call cuDeviceGetExecAffinitySupport(supported: *mut i32, kind: CEnum, device: CUdevice) => affinity_support;
}

fn get(device: Out<CUdevice>, ordinal: i32) -> Result {
    device.wanted()?;
    check_device(ordinal)?;
    device.set(ordinal)
}

fn count(count: Out<i32>) -> Result {
    count.set(cpu::cpu()?.devices())
}

fn name(name: Out<c_char>, length: i32, device: CUdevice) -> Result {
    let cpu = check_device(device)?;
    let room = usize::try_from(length).map_err(|_| CUresult::INVALID_VALUE)?;
    name.set_text(&cpu.device.facts().name, room)
}

fn uuid(uuid: Out<CUuuid>, device: CUdevice) -> Result {
    check_device(device)?;
    let mut bytes = *b"gridstride-cpu\0\0";
    bytes[15] = device as u8;
    uuid.set(CUuuid { bytes })
}

fn total_memory(bytes: Out<usize>, device: CUdevice) -> Result {
    bytes.set(check_device(device)?.memory.capacity() as usize)
}

fn compute_capability(major: Out<i32>, minor: Out<i32>, device: CUdevice) -> Result {
    check_device(device)?;
    minor.wanted()?;
    major.set(cpu::COMPUTE_CAPABILITY.0)?;
    minor.set(cpu::COMPUTE_CAPABILITY.1)
}

fn properties(properties: Out<CUdevprop>, device: CUdevice) -> Result {
    properties.wanted()?;
    let facts = check_device(device)?.device.facts();
    let get = |attribute| known(facts, attribute, device);
    properties.set(CUdevprop {
        max_threads_per_block: get(1),
        max_threads_dim: [get(2), get(3), get(4)],
        max_grid_size: [get(5), get(6), get(7)],
        shared_per_block: get(8),
        constant_memory: get(9),
        warp_size: get(10),
        pitch: get(11),
        registers_per_block: get(12),
        clock_rate: get(13),
        texture_alignment: get(14),
    })
}

/// A domain that no machine has: the devices are on no bus.
const PCI_DOMAIN: i32 = 0xffff;

fn pci_bus_id(text: Out<c_char>, length: i32, device: CUdevice) -> Result {
    check_device(device)?;
    let room = usize::try_from(length).map_err(|_| CUresult::INVALID_VALUE)?;
    text.set_text(&format!("{PCI_DOMAIN:04X}:{device:02X}:00.0"), room)
}

fn by_pci_bus_id(device: Out<CUdevice>, text: In<c_char>) -> Result {
    device.wanted()?;
    cpu::cpu()?;
    let text = text.c_str()?.to_string_lossy();
    let number = |text: &str| i32::from_str_radix(text, 16).ok();
    // domain:bus:device.function, of which the function may be left away
    let parts: Vec<&str> = text.split([':', '.']).collect();
    match parts[..] {
        [domain, bus, slot] | [domain, bus, slot, "0"]
            if number(domain) == Some(PCI_DOMAIN) && number(slot) == Some(0) =>
        {
            let found = number(bus).ok_or(CUresult::INVALID_VALUE)?;
            check_device(found)?;
            device.set(found)
        }
        _ => fail(CUresult::INVALID_DEVICE),
    }
}

fn affinity_support(supported: Out<i32>, _kind: CEnum, device: CUdevice) -> Result {
    check_device(device)?;
    supported.set(0)
}

fn attribute(value: Out<i32>, attribute: CEnum, device: CUdevice) -> Result {
    value.wanted()?;
    let facts = check_device(device)?.device.facts();
    // Attributes are numbered from 1; CUDA 13 knows some 150. What the device does not have is 0, as on a GPU.
    match attribute {
        1..=150 => value.set(known(facts, attribute, device)),
        _ => fail(CUresult::INVALID_VALUE),
    }
}

/// 32-bit registers: a lane has as many as its kernel names, so these are what a GPU of the same capability has.
const REGISTERS: i32 = 65536;

fn known(facts: &Facts, attribute: CEnum, device: CUdevice) -> i32 {
    let number = |value: u32| i32::try_from(value).unwrap_or(i32::MAX);
    match attribute {
        // Limits of a block, and of a grid.
        1 => number(facts.max_threads_per_block),
        2..=4 => number(facts.max_block[attribute as usize - 2]),
        5..=7 => number(facts.max_grid[attribute as usize - 5]),
        // Shared memory of a block, without and with asking; of a multiprocessor.
        8 => number(facts.shared_per_block),
        97 | 81 => number(facts.shared_per_block_optin),
        // Constant memory, warp size, pitch of a copy.
        9 => number(facts.constant_bytes),
        10 => number(facts.warp_size),
        11 => i32::MAX,
        // Registers of a block, and of a multiprocessor.
        12 | 82 => REGISTERS,
        // Clock in kHz.
        13 => clock_khz(),
        // Copies and kernels overlap; so do kernels of several streams.
        15 | 31 => 1,
        16 => number(facts.multiprocessors),
        // Shares its memory with the host; maps host memory; one address space; managed memory, at the same time for both.
        18 | 19 | 41 | 83 | 89 => 1,
        // A multiprocessor runs one block at a time.
        39 => number(facts.max_threads_per_block),
        106 => 1,
        // One stream can copy while another computes.
        40 => 1,
        75 => cpu::COMPUTE_CAPABILITY.0,
        76 => cpu::COMPUTE_CAPABILITY.1,
        // Bus and domain on PCI.
        33 => device,
        50 => PCI_DOMAIN,
        // Host memory can be registered, and is used by the same address.
        91 | 99 => 1,
        // Host atomics; preemption by the operating system; cooperative launches.
        86 | 90 | 95 => 1,
        // Single over double precision: vector units do twice as many.
        87 => 2,
        // The host reads managed memory without a copy; `cuMemAllocAsync`.
        101 | 115 => 1,
        // In particular no textures, surfaces, peers, ECC, PCI address, and no clock
        // or width of a memory bus that would be known.
        _ => 0,
    }
}

/// The cores' clock where the system tells, else 0.
fn clock_khz() -> i32 {
    let megahertz = std::fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("cpu MHz"))?;
        line.split(':').nth(1)?.trim().parse::<f64>().ok()
    });
    megahertz.map_or(0, |value| (value * 1e3) as i32)
}
