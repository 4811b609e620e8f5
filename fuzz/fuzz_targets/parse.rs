//! Any bytes: an error or a module, which an attempt to load follows; never a panic.
#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match gridstride_ptx::parse(text) {
        Err(error) => drop(error.to_string()),
        Ok(module) => {
            for function in &module.functions {
                (0..function.instrs.len()).for_each(|at| drop(module.instr_text(function, at)));
            }
            let memory = Arc::new(gridstride_simt::Memory::new(1 << 20));
            drop(gridstride_simt::Program::load(&module, &memory));
        }
    }
});
