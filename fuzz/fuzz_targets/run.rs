//! Valid modules of random instructions: they run or fault; no panic, no hang.
#![no_main]

#[path = "../../device/simt/tests/rig/generate.rs"]
mod generate;

use std::sync::Arc;

use gridstride_simt::{AllocKind, Device, LaunchConfig, Memory, Program};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let [threads, rest @ ..] = bytes else { return };
    let text = generate::module(rest);
    let module = gridstride_ptx::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let memory = Arc::new(Memory::new(1 << 22));
    let device = Device::new(1, memory.clone());
    let program = Arc::new(Program::load(&module, &memory).unwrap_or_else(|error| panic!("{error}\n{text}")));
    let array = memory.alloc(256, AllocKind::Device).unwrap();
    let config = LaunchConfig {
        grid: [2, 1, 1],
        block: [1 + u32::from(*threads) % 70, 1, 1],
        dynamic_shared: 0,
        cooperative: threads & 1 != 0,
        count_memory: threads & 2 != 0,
    };
    let _ = device.launch(&program, 0, &config, &array.to_le_bytes());
});
