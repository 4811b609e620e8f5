//! Register frames: their memory, their constants, and a pool so that no block allocates.

use crate::code::{Code, Special, Width};
use crate::lane::{LANES, Slot};

/// 64 bytes, aligned for vector loads.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; 64]);

/// The registers of one activation in one warp.
#[derive(Debug)]
pub(crate) struct Frame {
    lines: Box<[Line]>,
}

impl Frame {
    /// A frame of `code` with its constants in place.
    pub(crate) fn new(code: &Code) -> Self {
        let lines = vec![Line([0; 64]); (code.frame.bytes as usize).div_ceil(64).max(1)].into_boxed_slice();
        let mut frame = Self { lines };
        for constant in &code.frame.constants {
            frame.spread(constant.slot, constant.width, |_| constant.bits);
        }
        frame
    }

    /// Where lane functions find it.
    pub(crate) fn pointer(&mut self) -> *mut u8 {
        self.lines.as_mut_ptr().cast()
    }

    /// Writes `value(lane)` to all lanes of a register.
    pub(crate) fn spread(&mut self, slot: Slot, width: Width, value: impl Fn(usize) -> u64) {
        let bytes = self.bytes();
        let at = slot.0 as usize;
        match width {
            Width::Pred => {
                let mask = (0..LANES).fold(0u32, |mask, lane| mask | (u32::from(value(lane) != 0) << lane));
                bytes[at..at + 4].copy_from_slice(&mask.to_ne_bytes());
            }
            Width::W16 => fill(&mut bytes[at..at + 64], |lane| (value(lane) as u16).to_ne_bytes()),
            Width::W32 => fill(&mut bytes[at..at + 128], |lane| (value(lane) as u32).to_ne_bytes()),
            Width::W64 => fill(&mut bytes[at..at + 256], |lane| value(lane).to_ne_bytes()),
            Width::W128 => fill(&mut bytes[at..at + 512], |lane| u128::from(value(lane)).to_ne_bytes()),
        }
    }

    /// Copies the lanes of `mask` from a register of another frame.
    pub(crate) fn copy_register(&mut self, to: Slot, from: &Self, slot: Slot, width: Width, mask: u32) {
        if width == Width::Pred {
            let read = |bytes: &[u8], at: Slot| -> u32 {
                let at = at.0 as usize;
                u32::from_ne_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
            };
            let merged = read(self.bytes(), to) & !mask | read(from.bytes_ref(), slot) & mask;
            self.bytes()[to.0 as usize..][..4].copy_from_slice(&merged.to_ne_bytes());
            return;
        }
        let size = width.bytes() as usize / LANES;
        for lane in (0..LANES).filter(|lane| mask >> lane & 1 != 0) {
            let source = &from.bytes_ref()[slot.0 as usize + lane * size..][..size];
            self.bytes()[to.0 as usize + lane * size..][..size].copy_from_slice(source);
        }
    }

    /// Sets or clears the lanes of `mask` in a predicate.
    pub(crate) fn set_predicate(&mut self, slot: Slot, mask: u32, value: bool) {
        let bytes = &mut self.bytes()[slot.0 as usize..][..4];
        let old = u32::from_ne_bytes(bytes.try_into().expect("four bytes"));
        let new = if value { old | mask } else { old & !mask };
        bytes.copy_from_slice(&new.to_ne_bytes());
    }

    /// One lane of a register, as its low 64 bits.
    pub(crate) fn lane(&self, slot: Slot, width: Width, lane: usize) -> u64 {
        let size = width.bytes() as usize / LANES;
        let mut bytes = [0; 8];
        let from = &self.bytes_ref()[slot.0 as usize + lane * size..][..size.min(8)];
        bytes[..from.len()].copy_from_slice(from);
        u64::from_ne_bytes(bytes)
    }

    /// Stores one lane of a register.
    pub(crate) fn set_lane(&mut self, slot: Slot, width: Width, lane: usize, value: u64) {
        let size = width.bytes() as usize / LANES;
        let to = &mut self.bytes()[slot.0 as usize + lane * size..][..size.min(8)];
        to.copy_from_slice(&value.to_ne_bytes()[..size.min(8)]);
    }

    fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: lines are plain bytes without padding.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.lines.len() * 64) }
    }

    fn bytes_ref(&self) -> &[u8] {
        // SAFETY: lines are plain bytes without padding.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.lines.len() * 64) }
    }
}

fn fill<const N: usize>(bytes: &mut [u8], value: impl Fn(usize) -> [u8; N]) {
    for (lane, element) in bytes.chunks_exact_mut(N).enumerate() {
        element.copy_from_slice(&value(lane));
    }
}

/// What special registers depend on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Coordinates {
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) block_index: [u32; 3],
    /// Thread index of lane 0 in the block.
    pub(crate) first_thread: u32,
    /// Number of the core that runs the block.
    pub(crate) core: u32,
    pub(crate) cores: u32,
    pub(crate) dynamic_shared: u32,
    pub(crate) total_shared: u32,
}

impl Coordinates {
    /// `%tid` of a thread of the block, from its flat index.
    pub(crate) fn thread(&self, flat: u32) -> [u32; 3] {
        let [x, y, _] = self.block;
        [flat % x, flat / x % y, flat / x / y]
    }

    /// Threads a block.
    pub(crate) fn threads(&self) -> u32 {
        self.block.iter().product()
    }

    /// The value of a special register in a lane.
    pub(crate) fn special(&self, special: Special, lane: usize) -> u64 {
        let lane32 = lane as u32;
        u64::from(match special {
            Special::Tid(axis) => self.thread(self.first_thread + lane32)[axis],
            Special::Ntid(axis) => self.block[axis],
            Special::Ctaid(axis) => self.block_index[axis],
            Special::Nctaid(axis) => self.grid[axis],
            Special::LaneId => lane32,
            Special::WarpId => self.first_thread / 32,
            Special::NWarpId => self.threads().div_ceil(32),
            Special::SmId => self.core,
            Special::NSmId => self.cores,
            Special::GridId | Special::Zero => 0,
            Special::LaneMaskEq => 1 << lane,
            Special::LaneMaskLt => (1 << lane) - 1,
            Special::LaneMaskLe => (1 << lane) | ((1 << lane) - 1),
            Special::LaneMaskGe => !((1 << lane) - 1),
            Special::LaneMaskGt => !((1 << lane) - 1) & !(1 << lane),
            Special::DynamicShared => self.dynamic_shared,
            Special::TotalShared => self.total_shared,
        })
    }
}

/// Frames and local memory that were used before, by function.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    frames: Vec<Vec<Frame>>,
    locals: Vec<Box<[u8]>>,
}

impl Pool {
    /// A frame of `code` with constants and special registers in place.
    pub(crate) fn frame(&mut self, code: &Code, at: &Coordinates, local_base: u32) -> Frame {
        let used = self.frames.get_mut(code.function).and_then(Vec::pop);
        let mut frame = used.unwrap_or_else(|| Frame::new(code));
        for &(slot, width, special) in &code.frame.specials {
            frame.spread(slot, width, |lane| at.special(special, lane));
        }
        for &(slot, width, offset) in &code.frame.locals {
            frame.spread(slot, width, |_| u64::from(local_base + offset));
        }
        frame
    }

    pub(crate) fn put_frame(&mut self, code: &Code, frame: Frame) {
        if self.frames.len() <= code.function {
            self.frames.resize_with(code.function + 1, Vec::new);
        }
        self.frames[code.function].push(frame);
    }

    /// Local memory for a warp; its contents are whatever was there.
    pub(crate) fn local(&mut self, bytes: usize) -> Box<[u8]> {
        match self.locals.pop() {
            Some(local) if local.len() == bytes => local,
            _ => vec![0xA5; bytes].into_boxed_slice(),
        }
    }

    pub(crate) fn put_local(&mut self, local: Box<[u8]>) {
        self.locals.push(local);
    }
}
