//! Register frames and other memory of warps, and a pool of them so that no block allocates.

use crate::code::{Code, Width};
use crate::lane::{LANES, Slot};
use crate::program::Kernel;
use crate::special::Coordinates;
use crate::warp::Warp;

/// 64 bytes, aligned for vector loads.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; 64]);

/// Plain bytes, aligned for every access and kept between uses.
#[derive(Debug, Default)]
pub(crate) struct Arena {
    words: Vec<u128>,
    bytes: usize,
}

impl Arena {
    /// `bytes` zeros, which cost nothing until they are touched.
    pub(crate) fn zeros(bytes: usize) -> Self {
        Self { words: vec![0; bytes.div_ceil(16)], bytes }
    }

    /// Makes it `bytes` long and fills it.
    pub(crate) fn reset(&mut self, bytes: usize, fill: u8) {
        let (words, fill) = (bytes.div_ceil(16), u128::from_ne_bytes([fill; 16]));
        self.words.truncate(words);
        self.words.fill(fill);
        self.words.resize(words, fill);
        self.bytes = bytes;
    }

    pub(crate) fn pointer(&mut self) -> *mut u8 {
        self.words.as_mut_ptr().cast()
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes
    }

    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: words are plain bytes, and there are at least `bytes` of them.
        unsafe { std::slice::from_raw_parts_mut(self.words.as_mut_ptr().cast(), self.bytes) }
    }
}

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
    for (lane, element) in bytes.as_chunks_mut::<N>().0.iter_mut().enumerate() {
        *element = value(lane);
    }
}

/// Frames and warps that were used before.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    /// By function.
    frames: Vec<Vec<Frame>>,
    #[expect(clippy::vec_box, reason = "warps move between here and the blocks all the time")]
    warps: Vec<Box<Warp>>,
}

impl Pool {
    /// A frame of `code` with constants and special registers in place.
    pub(crate) fn frame(&mut self, code: &Code, at: &Coordinates, local_base: u32) -> Frame {
        let used = self.frames.get_mut(code.function).and_then(Vec::pop);
        let mut frame = used.unwrap_or_else(|| {
            let mut frame = Frame::new(code);
            for &(slot, width, special) in code.frame.specials.iter().filter(|(.., special)| !special.moves()) {
                at.store(special, &mut frame, slot, width);
            }
            frame
        });
        for &(slot, width, special) in code.frame.specials.iter().filter(|(.., special)| special.moves()) {
            at.store(special, &mut frame, slot, width);
        }
        for &(slot, width, offset) in &code.frame.locals {
            frame.spread(slot, width, |_| u64::from(local_base + offset));
        }
        frame
    }

    pub(crate) fn put_frame(&mut self, function: usize, frame: Frame) {
        if self.frames.len() <= function {
            self.frames.resize_with(function + 1, Vec::new);
        }
        self.frames[function].push(frame);
    }

    /// A warp without splits. What its local memory holds is whatever was there, at first zeros: kernels that can panic
    /// have far more of it than they ever touch, so nothing is written to it beforehand.
    pub(crate) fn warp(&mut self, local_bytes: usize) -> Box<Warp> {
        let mut warp = self.warps.pop().unwrap_or_default();
        if warp.local.len() != local_bytes {
            warp.local = Arena::zeros(local_bytes);
        }
        warp
    }

    /// Takes back a warp of `kernel` that has finished.
    pub(crate) fn put_warp(&mut self, mut warp: Box<Warp>, kernel: &Kernel) {
        debug_assert!(kernel.local_bytes == 0 || warp.local.len() == kernel.local_bytes as usize * LANES);
        for activation in warp.activations.drain(..).flatten() {
            self.put_frame(activation.function, activation.frame);
        }
        warp.splits.clear();
        warp.nodes.clear();
        warp.left.clear();
        (warp.turns, warp.spins, warp.pace) = (0, 0, Default::default());
        self.warps.push(warp);
    }
}
