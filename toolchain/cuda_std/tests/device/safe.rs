//! Kernels without `unsafe` on the CPU device: every element once, in every launch shape.

use crate::launch::{Rig, packed};

const SHAPES: [([u32; 3], [u32; 3]); 7] = [
    ([1, 1, 1], [1, 1, 1]),
    ([3, 1, 1], [33, 1, 1]),
    ([40, 1, 1], [256, 1, 1]),
    ([1, 3, 1], [16, 2, 1]),
    ([1, 1, 2], [8, 4, 2]),
    ([2, 3, 4], [5, 3, 2]),
    ([2, 2, 1], [1, 7, 3]),
];

const POISON: u32 = 0xDEAD_BEEF;

fn floats(n: usize, f: impl Fn(usize) -> f32) -> Vec<u32> {
    (0..n).map(|i| f(i).to_bits()).collect()
}

#[test]
fn the_source_has_no_unsafe() {
    let source = include_str!("../fixtures/kernels/src/safe.rs");
    let (safe, _) = source.split_once("pub mod raw").unwrap();
    assert!(!safe.lines().any(|line| line.contains("unsafe") && !line.starts_with("//!")), "{safe}");
}

#[test]
fn each_element_is_written_once() {
    let rig = Rig::new();
    for (grid, block) in SHAPES {
        for len in [0usize, 1, 3, 31, 64, 1003] {
            let x = rig.words(&floats(len + 3, |i| i as f32));
            let y = rig.words(&floats(len + 3, |i| 0.5 * i as f32));
            let out = rig.words(&vec![POISON; len + 1]);
            let n = len as u64;
            rig.launch("safe_scale", grid, block, &[x, n + 3, out, n]);
            let mut expected = floats(len, |i| 2.0 * i as f32);
            expected.push(POISON);
            assert_eq!(rig.read_words(out, len + 1), expected, "{grid:?} {block:?} {len}");

            // Aligned, and each of the three not.
            for shift in [[0, 0, 0], [4, 0, 0], [0, 4, 0], [4, 4, 4]] {
                let out = rig.words(&vec![POISON; len + 2]);
                let args = [x + shift[0], n, y + shift[1], n, out + shift[2], n];
                rig.launch("safe_add", grid, block, &args);
                let at = |shift: u64, i: usize| (i as u64 + shift / 4) as f32;
                let expected = floats(len, |i| at(shift[0], i) + 0.5 * at(shift[1], i));
                assert_eq!(rig.read_words(out + shift[2], len), expected, "{grid:?} {block:?} {len} {shift:?}");
                assert_eq!(rig.read_words(out + shift[2] + 4 * n, 1), [POISON]);
                rig.memory.free(out).unwrap();
            }
        }
    }
}

#[test]
fn a_short_input_panics_with_its_line() {
    let rig = Rig::new();
    let x = rig.words(&[0; 8]);
    let fault = rig.try_launch("safe_scale", [1; 3], [1; 3], &packed(&[x, 7, x, 8])).unwrap_err();
    assert!(fault.to_string().contains("safe.rs"), "{fault}");
}

#[test]
fn spaces_of_two_and_three_dimensions() {
    let rig = Rig::new();
    for (grid, block) in SHAPES {
        for (planes, rows, columns) in [(1, 1, 1), (2, 5, 9), (3, 1, 17), (1, 40, 3)] {
            let out = rig.words(&vec![0; 4 * planes * rows * columns]);
            let n = (planes * rows * columns) as u64;
            rig.launch("safe_3d", grid, block, &[rows as u64, columns as u64, out, n]);
            let got = rig.read_words(out, 4 * planes * rows * columns);
            for (at, cell) in got.as_chunks::<4>().0.iter().enumerate() {
                let expected = [at / (rows * columns), at / columns % rows, at % columns, 1].map(|v| v as u32);
                assert_eq!(*cell, expected, "{grid:?} {block:?}");
            }
            // A length that does not fill the last row.
            let cells = rows * columns + columns / 2;
            let out = rig.words(&vec![0; 3 * cells]);
            rig.launch("safe_2d", grid, block, &[columns as u64, out, cells as u64]);
            for (at, cell) in rig.read_words(out, 3 * cells).as_chunks::<3>().0.iter().enumerate() {
                let whole = at < rows * columns;
                let expected = if whole { [at / columns, at % columns, 1].map(|v| v as u32) } else { [0; 3] };
                assert_eq!(*cell, expected, "{grid:?} {block:?}");
            }
        }
        let out = rig.words(&[POISON; 50]);
        rig.launch("safe_halves", grid, block, &[out, 50, 20]);
        let expected: Vec<u32> = (0..50).map(|i| if i < 20 { i + 100 } else { (i - 20) * 1001 }).collect();
        assert_eq!(rig.read_words(out, 50), expected);
    }
}

#[test]
fn tiles_change_their_phase_at_barriers() {
    let rig = Rig::new();
    let words: Vec<u32> = (0..192).map(|i| i * i).collect();
    let (x, out) = (rig.words(&words), rig.words(&[POISON; 192]));
    rig.launch("safe_reverse", [3, 1, 1], [64, 1, 1], &[x, 192, out, 192]);
    let expected: Vec<u32> = words
        .chunks(64)
        .flat_map(|block| {
            let sum: u32 = block.iter().sum::<u32>() + 1;
            block.iter().rev().map(move |word| word + sum)
        })
        .collect();
    assert_eq!(rig.read_words(out, 192), expected);

    for elements in [0, 5, 32, 100u32] {
        let out = rig.words(&[POISON; 240]);
        rig.try_launch_with("safe_dynamic", [1; 3], [32, 1, 1], 8 * elements + 3, &packed(&[out, 120])).unwrap();
        let got: Vec<u64> = rig.read(out, 120).into_iter().map(u64::from_le_bytes).collect();
        let expected: Vec<u64> = (0..120).map(|i| if i < u64::from(elements) { 7 * i } else { 1 }).collect();
        assert_eq!(got, expected);
    }
}
