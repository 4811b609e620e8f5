//! Every instruction form loads and runs, and random modules made of them neither panic nor hang; faults are answers, too.
//! `fuzz/` runs the same generator for as long as one likes.

#[path = "rig/generate.rs"]
mod generate;
mod rig;

use gridstride_simt::Fault;
use rig::{Rig, shape};

fn launch(rig: &Rig, text: &str, threads: u32) -> Result<(), Box<Fault>> {
    let array = rig.words(&[0x3F80_0000; 64]);
    let ran = rig.launch(text, shape(2, threads), &[array]);
    rig.memory.free(array).unwrap();
    ran.map(drop)
}

#[test]
fn every_form_that_ptxas_accepts_loads() {
    let rig = Rig::new(1);
    let refused: Vec<String> = generate::ACCEPTED
        .lines()
        .filter_map(|line| {
            let module = match gridstride_ptx::parse(&generate::kernel(line)) {
                Ok(module) => module,
                Err(error) => return Some(format!("{line} {error}")),
            };
            gridstride_simt::Program::load(&module, &rig.memory).err().map(|error| error.to_string())
        })
        .collect();
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

#[test]
fn random_modules_neither_panic_nor_hang() {
    // Random modules race and read what nothing wrote; findings are answers, as faults are.
    let rig = Rig { strict: false, ..Rig::new(2) };
    let (mut ran, mut faults) = (0u64, 0u64);
    // `GRIDSTRIDE_RANDOM_MODULES` says how many, for those with more time.
    let count = std::env::var("GRIDSTRIDE_RANDOM_MODULES").ok().and_then(|text| text.parse().ok()).unwrap_or(1500u64);
    for seed in 0..count {
        // An ordinary generator of random numbers (xorshift64*), so that a failure is the same tomorrow.
        let mut state = (seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let bytes: Vec<u8> = std::iter::repeat_with(|| {
            state ^= state >> 12;
            state ^= state << 25;
            state ^= state >> 27;
            (state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 56) as u8
        })
        .take(400)
        .collect();
        match launch(&rig, &generate::module(&bytes), 1 + (seed % 70) as u32) {
            Ok(()) => ran += 1,
            Err(_) => faults += 1,
        }
    }
    // The generator must not lose itself in modules that fault at once.
    println!("{ran} ran, {faults} had a fault");
    assert!(ran >= count / 10, "{ran} ran, {faults} had a fault");
}
