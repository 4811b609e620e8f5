//! Shared memory on the CPU device.

use crate::launch::{Rig, packed};

#[test]
fn threads_read_what_others_wrote() {
    let rig = Rig::new();
    let words: Vec<u32> = (0..512).map(|i| i * 7 + 3).collect();
    let x = rig.words(&words);
    let turned: Vec<u32> = words.chunks(256).flat_map(|block| block.iter().rev().copied()).collect();
    for (name, shared, add) in [("reverse_array", 0, 0), ("reverse_variable", 0, 1), ("reverse_dynamic", 1024, 0)] {
        let out = rig.words(&[0xDEAD; 512]);
        rig.try_launch_with(name, [2, 1, 1], [256, 1, 1], shared, &packed(&[x, 512, out]))
            .unwrap_or_else(|fault| panic!("{name}: {fault}"));
        let expected: Vec<u32> = turned.iter().map(|word| word + add).collect();
        assert_eq!(rig.read_words(out, 512), expected, "{name}");
    }
}

#[test]
fn the_launch_sizes_what_the_kernel_did_not() {
    let rig = Rig::new();
    let (x, out) = (rig.words(&[1; 256]), rig.words(&[0; 256]));
    // A block of 256 words with memory for 255.
    let fault = rig.try_launch_with("reverse_dynamic", [1; 3], [256, 1, 1], 1020, &packed(&[x, 256, out])).unwrap_err();
    assert!(fault.to_string().contains("shared"), "{fault}");
}

#[test]
fn each_piece_of_memory_is_one() {
    let rig = Rig::new();
    let out = rig.words(&[9; 7]);
    rig.try_launch_with("pieces", [1; 3], [1; 3], 64, &packed(&[out])).unwrap();
    let got = rig.read_words(out, 7);
    assert_eq!(got[..6], [1, 1, 0, 1, 1, 64]);
    assert!(got[6] >= 64 + 16 + 8 + 3 + 3, "{got:?}");
    for (at, expected) in [(0, 2), (1, 1)] {
        rig.try_launch_with("one_memory", [1; 3], [1; 3], 16, &packed(&[out, at])).unwrap();
        assert_eq!(rig.read_words(out, 1), [expected]);
    }
}

#[test]
fn packs_pass_through_shared_memory() {
    let rig = Rig::new();
    let floats: Vec<u32> = (0..256).map(|i| (i as f32).to_bits()).collect();
    let (x, out) = (rig.words(&floats), rig.words(&[0; 256]));
    rig.try_launch("packs_shared", [1; 3], [64, 1, 1], &packed(&[x, 64, out])).unwrap();
    let expected: Vec<u32> = (0..256)
        .map(|i| {
            let turned = (63 - i / 4) * 4 + i % 4;
            (2.0 * turned as f32 - i as f32).to_bits()
        })
        .collect();
    assert_eq!(rig.read_words(out, 256), expected);
}
