//! Atomics on the CPU device. That ptxas takes each of them, `ptx::ptxas_takes_it` sees to.

use crate::launch::{Params, Rig};

/// A type, its bytes, and the value in memory and the operands of each launch.
type Cases = (&'static str, usize, Vec<[[u8; 8]; 3]>);

/// Launches an `intrinsics_*` kernel; what it says of itself.
fn right_and_called(rig: &Rig, name: &str, values: &[[u8; 8]], width: usize, shared: bool) -> (u32, u32, u32) {
    let (cell, out) = (rig.words(&[0xAAAA_AAAA; 4]), rig.words(&[0; 3]));
    let mut params = Params::default();
    for value in values {
        params = match width {
            4 => params.add(4, [value[0], value[1], value[2], value[3]]),
            _ => params.add(8, *value),
        };
    }
    let params = if name.ends_with("access") { params } else { params.add(1, [u8::from(shared)]) };
    let params = params.add(8, cell.to_le_bytes()).add(8, out.to_le_bytes());
    rig.try_launch(name, [1; 3], [1; 3], &params.0).unwrap_or_else(|fault| panic!("{name}: {fault}"));
    let got = rig.read_words(out, 3);
    (got[0], got[1], got[2])
}

#[test]
fn every_intrinsic_does_what_it_says() {
    let rig = Rig::new();
    let mut total = 0;
    let int = |v: i64| v.to_le_bytes();
    let single = |v: f32| u64::from(v.to_bits()).to_le_bytes();
    let cases: [Cases; 6] = [
        (
            "u32",
            4,
            vec![
                [int(5), int(7), int(9)],
                [int(7), int(7), int(1)],
                [int(0), int(3), int(0xFFFF_FFFF)],
                [int(0xFFFF_FFFF), int(2), int(3)],
            ],
        ),
        ("u64", 8, vec![[int(5 << 40), int(7 << 33), int(-1)], [int(-1), int(-1), int(4)]]),
        ("i32", 4, vec![[int(-5), int(7), int(9)], [int(i64::from(i32::MIN)), int(-1), int(0)]]),
        ("i64", 8, vec![[int(-5 << 40), int(7), int(9)], [int(i64::MIN), int(i64::MIN), int(3)]]),
        ("f32", 4, vec![[single(1.5), single(-0.25), single(3.0)], [single(-0.0), single(-0.0), single(1e30)]]),
        (
            "f64",
            8,
            vec![
                [1.5f64.to_le_bytes(), 0.1f64.to_le_bytes(), 3f64.to_le_bytes()],
                [0f64.to_le_bytes(), (-0f64).to_le_bytes(), 3f64.to_le_bytes()],
            ],
        ),
    ];
    for (ty, width, cases) in cases {
        let name = format!("intrinsics_{ty}");
        let mut count = 0;
        for values in &cases {
            for shared in [false, true] {
                let (right, called, wrong) = right_and_called(&rig, &name, values, width, shared);
                assert_eq!(right, called, "{name}, in shared memory: {shared}: number {wrong} of the table is wrong");
                count = called;
            }
        }
        total += count;
    }
    let (right, called, _) =
        right_and_called(&rig, "intrinsics_access", &[0x1234_5678_9ABC_DEF1u64.to_le_bytes()], 8, false);
    assert_eq!(right, called);
    // Rust-CUDA's 915, and 30 with a limit.
    assert_eq!(total + called, 945);
}

#[test]
fn orderings_are_arguments() {
    let rig = Rig::new();
    let (sums, large, flag) = (rig.words(&[0; 8]), rig.words(&[0; 2]), rig.words(&[0]));
    rig.launch("with_an_ordering", [3, 1, 1], [40, 1, 1], &[sums, large, flag]);
    assert_eq!(rig.read_words(sums, 8), [120, 120, 120, 120u32.wrapping_neg(), 119, 1, 9, 9]);
    assert_eq!(rig.read_words(flag, 1), [7]);
    assert_eq!(rig.read::<8>(large, 1), [60f64.to_le_bytes()]);
}

#[test]
fn slices_of_atomics_need_no_unsafe() {
    let rig = Rig::new();
    let x: Vec<u32> = (0..1000).map(|i| i * i % 97).collect();
    let (at, bins, sums) = (rig.words(&x), rig.words(&[0; 10]), rig.words(&[0]));
    let (large, system) = (rig.words(&[0; 2]), rig.words(&[0; 2]));
    rig.launch("safe_counters", [4, 1, 1], [64, 1, 1], &[at, 1000, bins, 10, sums, 1, large, 1, system, 1]);
    let mut expected = [0; 10];
    x.iter().for_each(|word| expected[*word as usize % 10] += 1);
    assert_eq!(rig.read_words(bins, 10), expected);
    assert_eq!(rig.read_words(sums, 1), [500f32.to_bits()]);
    assert_eq!(rig.read::<8>(large, 1), [(-250f64).to_le_bytes()]);
    assert_eq!(rig.read::<8>(system, 1), [1000f64.to_le_bytes()]);

    let floats: Vec<u32> = (0..300).map(|i| (i as f32).to_bits()).collect();
    let (at, out) = (rig.words(&floats), rig.words(&[0; 3]));
    rig.launch("block_sums", [3, 1, 1], [32, 1, 1], &[at, 300, out]);
    let sum: f32 = rig.read_words(out, 3).into_iter().map(f32::from_bits).sum();
    assert_eq!(sum, 44850.0);
}

#[test]
fn cores_atomics_are_right_in_every_ordering() {
    let rig = Rig::new();
    let (words, long, out) = (rig.words(&[0]), rig.words(&[0; 2]), rig.words(&[0]));
    rig.launch("core_orderings", [1; 3], [1; 3], &[words, 1, long, 1, out]);
    assert_eq!(rig.read_words(out, 1), [5 * 5 + 6]);
}
