//! The fixtures on the CPU device.

use std::sync::Arc;

use gridstride_simt::{AllocKind, Device, Fault, FaultKind, LaunchConfig, Memory, Program};

use crate::PTX;

/// A device with the fixtures loaded.
pub(crate) struct Rig {
    device: Device,
    pub(crate) memory: Arc<Memory>,
    pub(crate) program: Arc<Program>,
}

impl Rig {
    pub(crate) fn new() -> Self {
        Self::of(&PTX)
    }

    pub(crate) fn of(ptx: &str) -> Self {
        let memory = Arc::new(Memory::new(1 << 30));
        let module = gridstride_ptx::parse(ptx).unwrap_or_else(|error| panic!("{error}"));
        let program = Arc::new(Program::load(&module, &memory).unwrap_or_else(|error| panic!("{error}")));
        Self { device: Device::new(2, memory.clone()), memory, program }
    }

    pub(crate) fn bytes(&self, bytes: &[u8]) -> u64 {
        let at = self.memory.alloc(bytes.len().max(1) as u64, AllocKind::Device).unwrap();
        self.memory.write(at, bytes).unwrap();
        at
    }

    pub(crate) fn words(&self, words: &[u32]) -> u64 {
        self.bytes(&words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>())
    }

    pub(crate) fn read<const N: usize>(&self, at: u64, count: usize) -> Vec<[u8; N]> {
        let mut bytes = vec![0; N * count];
        self.memory.read(at, &mut bytes).unwrap();
        bytes.as_chunks().0.to_vec()
    }

    pub(crate) fn read_words(&self, at: u64, count: usize) -> Vec<u32> {
        self.read(at, count).into_iter().map(u32::from_le_bytes).collect()
    }

    /// Launches with parameters that are laid out already.
    pub(crate) fn try_launch(
        &self,
        name: &str,
        grid: [u32; 3],
        block: [u32; 3],
        params: &[u8],
    ) -> Result<(), Box<Fault>> {
        self.try_launch_with(name, grid, block, 0, params)
    }

    /// The same with shared memory.
    pub(crate) fn try_launch_with(
        &self,
        name: &str,
        grid: [u32; 3],
        block: [u32; 3],
        dynamic_shared: u32,
        params: &[u8],
    ) -> Result<(), Box<Fault>> {
        let config = LaunchConfig { grid, block, dynamic_shared, cooperative: false, count_memory: false };
        let kernel = self.program.kernel(name).unwrap();
        assert_eq!(self.program.kernels()[kernel].param_bytes as usize, params.len(), "{name}");
        self.device.launch(&self.program, kernel, &config, params).map(drop)
    }

    pub(crate) fn launch(&self, name: &str, grid: [u32; 3], block: [u32; 3], args: &[u64]) {
        self.try_launch(name, grid, block, &packed(args)).unwrap_or_else(|fault| panic!("{name}: {fault}"));
    }
}

pub(crate) fn packed(args: &[u64]) -> Vec<u8> {
    args.iter().flat_map(|arg| arg.to_le_bytes()).collect()
}

/// Parameters one behind the other, each at its alignment.
#[derive(Default)]
pub(crate) struct Params(pub(crate) Vec<u8>);

impl Params {
    pub(crate) fn add<const N: usize>(mut self, align: usize, bytes: [u8; N]) -> Self {
        self.0.resize(self.0.len().next_multiple_of(align), 0);
        self.0.extend(bytes);
        self
    }
}

#[test]
fn kernels_receive_what_was_passed() {
    let rig = Rig::new();
    let out = rig.bytes(&[0; 72]);
    let params = Params::default().add(1, [200]).add(2, (-3i16).to_le_bytes()).add(4, 4_000_000_000u32.to_le_bytes());
    let params = params.add(8, (-5i64).to_le_bytes()).add(4, 1.5f32.to_le_bytes()).add(8, 2.25f64.to_le_bytes());
    let params = params.add(1, [1]).add(4, ('é' as u32).to_le_bytes()).add(8, 9u64.to_le_bytes());
    rig.try_launch("scalars", [1; 3], [1; 3], &params.add(8, out.to_le_bytes()).0).unwrap();
    let got: Vec<f64> = rig.read(out, 9).into_iter().map(f64::from_le_bytes).collect();
    assert_eq!(got, [200.0, -3.0, 4e9, -5.0, 1.5, 2.25, 1.0, 233.0, 9.0]);

    let mut mixed = [0xEE; 24];
    mixed[0] = 17;
    mixed[8..16].copy_from_slice(&6.5f64.to_le_bytes());
    mixed[16..18].copy_from_slice(&300u16.to_le_bytes());
    let mut aligned = [0xEE; 16];
    aligned[8..12].copy_from_slice(&0.125f32.to_le_bytes());
    let params = Params::default().add(8, mixed).add(16, aligned).add(4, 3.5f32.to_le_bytes());
    let params = params.add(4, 4.5f32.to_le_bytes()).add(2, [0, 0, 0, 0, 7, 0]).add(16, (5u128 << 64).to_le_bytes());
    rig.try_launch("blocks", [1; 3], [1; 3], &params.add(8, out.to_le_bytes()).0).unwrap();
    let got: Vec<f64> = rig.read(out, 7).into_iter().map(f64::from_le_bytes).collect();
    assert_eq!(got, [17.0, 6.5, 300.0, 0.125, 3.5, 4.5, 12.0]);

    rig.launch("slices", [1; 3], [1; 3], &[out, 18, 77, out, 3, 5 | 6 << 32, out]);
    let got: Vec<u64> = rig.read(out, 4).into_iter().map(u64::from_le_bytes).collect();
    assert_eq!(got, [18, 77, 3, 11]);

    let ones = rig.words(&[1f32.to_bits()]);
    for (maybe, sum) in [(ones, 3f32), (0, 102.0)] {
        rig.launch("pointers", [1; 3], [1; 3], &[ones, maybe, ones, out]);
        assert_eq!(rig.read_words(out, 1), [sum.to_bits()]);
    }
}

#[test]
fn an_empty_slice_may_be_null() {
    let rig = Rig::new();
    let out = rig.bytes(&[0; 32]);
    // Whatever length comes with a null pointer: nothing is read through it.
    for len in [0, 5] {
        rig.launch("slices", [1; 3], [1; 3], &[0, len, 77, 0, len, 0, out]);
        let got: Vec<u64> = rig.read(out, 3).into_iter().map(u64::from_le_bytes).collect();
        assert_eq!(got, [0, 77, 0]);
        rig.launch("twice", [2, 1, 1], [32, 1, 1], &[0, len, out]);
    }
}

#[test]
fn every_index_is_visited_once_in_every_shape() {
    let rig = Rig::new();
    let shapes = [
        ([1, 1, 1], [1, 1, 1]),
        ([3, 1, 1], [33, 1, 1]),
        ([40, 1, 1], [256, 1, 1]),
        ([1, 1, 1], [1, 7, 1]),
        ([1, 3, 1], [16, 1, 1]),
        ([1, 1, 2], [8, 4, 2]),
        ([2, 3, 4], [5, 3, 2]),
    ];
    for (grid, block) in shapes {
        for len in [0, 1, 31, 32, 33, 119, 120, 721, 5000] {
            for start in [0, 3, u64::MAX - len] {
                let out = rig.words(&vec![0; len as usize + 1]);
                rig.launch("visits", grid, block, &[start, start + len, out]);
                let mut expected = vec![1; len as usize];
                expected.push(0);
                assert_eq!(rig.read_words(out, len as usize + 1), expected, "{grid:?} {block:?} {start} + {len}");
                rig.memory.free(out).unwrap();
            }
        }
    }
}

#[test]
fn indices_number_the_threads() {
    let rig = Rig::new();
    let (grid, block) = ([2, 3, 2], [4, 2, 3]);
    let threads = 12 * 24;
    let out = rig.words(&vec![0xFFFF_FFFF; 4 * threads]);
    rig.launch("indices", grid, block, &[out]);
    let words = rig.read_words(out, 4 * threads);
    let mut got: Vec<[u32; 4]> = words.as_chunks().0.to_vec();
    assert_eq!(got[0], [0, 0, 0, 1]);
    assert_eq!(got[1], [1, 0, 0, 0]);
    assert!(got[1..].iter().all(|at| at[3] == 0));
    got.sort_unstable();
    got.dedup_by_key(|at| [at[0], at[1], at[2]]);
    assert_eq!(got.len(), threads);
}

#[test]
fn barriers_hold_and_count() {
    let rig = Rig::new();
    let flags: Vec<u32> = (0..96).map(|i| if i % 6 < 2 { 7 } else { 0 }).collect();
    let at = rig.words(&flags);
    let (exchange, out) = (rig.words(&[0; 96]), rig.words(&[0; 96]));
    rig.launch("between_two_branches", [1, 1, 1], [96, 1, 1], &[at, 96, exchange, out]);
    let expected: Vec<u32> = (0..96).map(|i| if i % 6 < 2 { (i ^ 1) + 1 } else { 0 }).collect();
    assert_eq!(rig.read_words(out, 96), expected);

    // Blocks of 32 threads: some, all, none.
    let flags: Vec<u32> = (0..96).map(|i| [u32::from(i % 4 == 0), 9, 0][i / 32]).collect();
    let at = rig.words(&flags);
    rig.launch("counts", [3, 1, 1], [32, 1, 1], &[at, 96, out]);
    let expected: Vec<u32> = (0..96).map(|i| [8 * 4 + 1, 32 * 4 + 3, 0][i / 32]).collect();
    assert_eq!(rig.read_words(out, 96), expected);

    rig.launch("fences", [1; 3], [1; 3], &[out]);
    assert_eq!(rig.read_words(out, 2), [4, 1]);
}

#[test]
fn panics_name_their_place() {
    let rig = Rig::new();
    let x = rig.words(&[1, 2, 3, 4]);
    let out = rig.words(&[0; 64]);
    for (name, args, block) in
        [("says_why", vec![x, 4], 1), ("out_of_bounds", vec![x, 4, out], 32), ("unwraps", vec![0, 0, out], 1)]
    {
        let fault = rig.try_launch(name, [1; 3], [block, 1, 1], &packed(&args)).unwrap_err();
        let FaultKind::Assert { message, file, .. } = &fault.kind else { panic!("{name}: {fault}") };
        assert!(file.ends_with("src/panics.rs"), "{name}: {fault}");
        assert!(message.contains("panicked"), "{name}: {fault}");
    }
    rig.launch("out_of_bounds", [1; 3], [4, 1, 1], &[x, 4, out]);
    assert_eq!(rig.read_words(out, 4), [1, 2, 3, 4]);
}

#[test]
fn shuffles_read_the_lanes_they_name() {
    let rig = Rig::new();
    for width in [1u32, 2, 4, 8, 16, 32] {
        let out = rig.words(&[0; 32 * 8]);
        let params = Params::default().add(4, width.to_le_bytes()).add(8, out.to_le_bytes());
        rig.try_launch("shuffles", [1; 3], [32, 1, 1], &params.0).unwrap_or_else(|fault| panic!("{fault}"));
        for (lane, got) in rig.read_words(out, 32 * 8).as_chunks::<8>().0.iter().enumerate() {
            let lane = lane as u32;
            let (segment, at) = (lane / width * width, lane % width);
            // The lane read, if it is in the segment; else this lane and no flag.
            let expect = |from: Option<u32>| from.map_or(100 + lane, |from| 100 + segment + from + (1 << 16));
            assert_eq!(got[0], expect(at.checked_sub(1)), "up, width {width}, lane {lane}");
            assert_eq!(got[1], expect(Some(at + 3).filter(|from| *from < width)), "down, width {width}, lane {lane}");
            // It may read earlier segments, not later ones.
            let xor = if lane ^ 5 < segment + width { 100 + (lane ^ 5) + (1 << 16) } else { 100 + lane };
            assert_eq!(got[2], xor, "xor, width {width}, lane {lane}");
            assert_eq!(got[3], expect(Some(2 % width)), "idx, width {width}, lane {lane}");
        }
    }
    let out = rig.words(&[0; 32]);
    rig.launch("widths", [1; 3], [32, 1, 1], &[out]);
    assert_eq!(rig.read_words(out, 32), [1; 32]);
}

#[test]
fn votes_see_every_lane() {
    let rig = Rig::new();
    let out = rig.words(&[0; 32 * 8]);
    rig.launch("votes", [1; 3], [32, 1, 1], &[out]);
    let thirds = (0..32).step_by(3).fold(0u32, |lanes, lane| lanes | 1 << lane);
    for (lane, got) in rig.read_words(out, 32 * 8).as_chunks::<8>().0.iter().enumerate() {
        let same_zero = if lane % 2 == 0 { 0x5555_5555 } else { 0xAAAA_AAAA };
        assert_eq!(*got, [thirds, 1, 1, 0xFF << (lane / 8 * 8), same_zero, !0, 1, !0], "lane {lane}");
    }
    let flags = rig.words(&(0..32).map(|lane| if lane % 2 == 0 { 7 } else { 0 }).collect::<Vec<_>>());
    rig.launch("vote_between_branches", [1; 3], [32, 1, 1], &[flags, 32, out]);
    let expected: Vec<u32> = (0..32).map(|lane| if lane % 2 == 0 { 256 + 512 + 32 } else { 32 }).collect();
    assert_eq!(rig.read_words(out, 32), expected);
}
