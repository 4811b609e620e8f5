//! Inputs of the foreign kernels, by the same arithmetic as in `foreign/record.py`.

const EDGES: [u32; 38] = [
    0,
    1,
    2,
    3,
    7,
    31,
    32,
    33,
    255,
    256,
    0x7FFF,
    0x8000,
    0xFFFF,
    0x1_0000,
    0x7FFF_FFFF,
    0x8000_0000,
    0x8000_0001,
    0xFFFF_FFFF,
    0xFFFF_FFFE,
    0xFFFF_8000,
    0x3F80_0000,
    0xBF80_0000,
    0x3F00_0000,
    0x4020_0000,
    0x7F80_0000,
    0xFF80_0000,
    0x7FC0_0000,
    0x7F7F_FFFF,
    0x0080_0000,
    0x007F_FFFF,
    0x0000_0001,
    0x4B00_0001,
    0x4F00_0000,
    0x5F00_0000,
    0xCF00_0000,
    0x477F_E000,
    0x3380_0000,
    0x00FF_00FF,
];
const EDGES64: [u64; 26] = [
    0,
    1,
    2,
    10,
    0x7FFF_FFFF,
    0x8000_0000,
    0xFFFF_FFFF,
    0x1_0000_0000,
    0x7FFF_FFFF_FFFF_FFFF,
    0x8000_0000_0000_0000,
    0xFFFF_FFFF_FFFF_FFFF,
    0xFFFF_FFFF_FFFF_FFFE,
    0x8000_0000_0000_0001,
    0xFFFF_FFFF_0000_0000,
    0x3FF0_0000_0000_0000,
    0xBFF8_0000_0000_0000,
    0x7FF0_0000_0000_0000,
    0xFFF0_0000_0000_0000,
    0x7FF8_0000_0000_0000,
    0x0010_0000_0000_0000,
    0x000F_FFFF_FFFF_FFFF,
    0x43E0_0000_0000_0000,
    0x41DF_FFFF_FFE0_0000,
    0x3690_0000_0000_0000,
    0x47EF_FFFF_F000_0000,
    0x40EF_FDFF_FFFF_FFFF,
];
const HALVES: [u16; 12] = [0, 0x8000, 0x3C00, 0xBC00, 0x7C00, 0xFC00, 0x7E00, 1, 0x3FF, 0x400, 0x7BFF, 0x4248];

fn mix(x: u32) -> u32 {
    let x = (x ^ x >> 16).wrapping_mul(0x7FEB_352D);
    let x = (x ^ x >> 15).wrapping_mul(0x846C_A68B);
    x ^ x >> 16
}

fn half(v: u32) -> u16 {
    if v & 0x1_0000 != 0 { HALVES[v as usize % 12] } else { ((0x3000 + (v & 0x1FFF)) | (v >> 2 & 0x8000)) as u16 }
}

/// `count` words of one kind.
pub fn words(kind: &str, seed: u32, count: usize) -> Vec<u32> {
    let hash = |i: u32| mix(i.wrapping_mul(0x9E37_79B9).wrapping_add(seed.wrapping_mul(0x85EB_CA6B)).wrapping_add(1));
    let word = |i: u32| {
        let (h, pair) = (hash(i), hash(i / 2));
        let part = |bits: u64| (bits >> (32 * (i % 2))) as u32;
        match kind {
            "rand" => h,
            "small" => h % 100,
            "iota" => i.wrapping_add(seed),
            "zero" => 0,
            "edge" if h & 1 != 0 => EDGES[(h >> 1) as usize % EDGES.len()],
            "edge64" if pair & 1 != 0 => part(EDGES64[(pair >> 1) as usize % EDGES64.len()]),
            "edge" | "edge64" => mix(h),
            "float" => ((h >> 8) as f32 * (-20f32).exp2() - 8.0).to_bits(),
            "double" => part((f64::from(pair >> 4) * (-24f64).exp2() - 8.0).to_bits()),
            "halves" => u32::from(half(mix(h.wrapping_add(1)))) | u32::from(half(mix(h.wrapping_add(2)))) << 16,
            other => panic!("unknown kind of input: {other}"),
        }
    };
    (0..count).map(|i| word(i as u32)).collect()
}
