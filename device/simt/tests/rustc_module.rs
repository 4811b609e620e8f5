//! A module as rustc writes it, whole: slices, bounds checks, panics with formatted messages.

use gridstride_simt::{FaultKind, LaunchConfig};

mod rig;
use rig::{Rig, shape};

const MODULE: &str = include_str!("../../ptx/tests/modules/rustc_add.ptx");

fn launch(rig: &Rig, a: &[f32], b: &[f32], out: u64, config: LaunchConfig) -> Result<(), Box<gridstride_simt::Fault>> {
    let program = rig.load(MODULE).unwrap_or_else(|error| panic!("{error}"));
    let words = |values: &[f32]| rig.words(&values.iter().map(|value| value.to_bits()).collect::<Vec<_>>());
    let args = [words(a), a.len() as u64, words(b), b.len() as u64, out];
    let params: Vec<u8> = args.iter().flat_map(|arg| arg.to_le_bytes()).collect();
    let kernel = program.kernel("add_f32").unwrap();
    assert_eq!(program.kernels()[kernel].param_bytes, 40);
    rig.device.launch(&program, kernel, &config, &params).map(drop)
}

#[test]
fn add_over_shapes_and_lengths() {
    let rig = Rig::new(2);
    for n in [0, 1, 3, 31, 32, 33, 255, 1000, 4099] {
        let a: Vec<f32> = (0..n).map(|i| i as f32 * 0.5).collect();
        let b: Vec<f32> = (0..n).map(|i| (i * i) as f32).collect();
        for (blocks, threads) in [(1, 1), (1, 32), (1, 33), (7, 96), (40, 256)] {
            let out = rig.words(&vec![0xFFFF_FFFF; n + 1]);
            launch(&rig, &a, &b, out, shape(blocks, threads)).unwrap_or_else(|fault| panic!("{fault}"));
            let mut expected: Vec<u32> = a.iter().zip(&b).map(|(a, b)| (a + b).to_bits()).collect();
            expected.push(0xFFFF_FFFF);
            assert_eq!(rig.read(out, n + 1), expected, "n = {n}, <<<{blocks}, {threads}>>>");
        }
    }
}

#[test]
fn a_panic_says_what_the_kernel_said() {
    let rig = Rig::new(2);
    let out = rig.words(&[0; 8]);
    let fault = launch(&rig, &[1.0; 8], &[1.0; 5], out, shape(2, 32)).unwrap_err();
    let FaultKind::Assert { message, file, .. } = &fault.kind else { panic!("{fault}") };
    assert!(message.contains("panicked"), "{message}");
    assert!(file.ends_with(".rs"), "{file}");
    assert_eq!((fault.block, fault.thread), ([0; 3], Some([0; 3])));
}
