//! Loads and stores on a warp made by hand, at every level that the processor has.

mod accesses;
mod faults;
mod speed;

use std::sync::Mutex;
use std::time::Instant;

use gridstride_ptx::{Space, Type};

use super::place::{Form, Order};
use super::{load, store};
use crate::counters::Counters;
use crate::fault::FaultKind;
use crate::lane::{Args, ExecFn, FULL, LANES, Lane, Lanes, Level, Slot};
use crate::launch::LaunchContext;
use crate::memory::{AllocKind, Memory, RecentRanges};

/// A warp and all that it may touch.
pub(crate) struct Warp {
    pub(crate) memory: Memory,
    frame: Vec<[u128; 4]>,
    pub(crate) shared: Vec<u64>,
    pub(crate) local: Vec<u64>,
    pub(crate) local_bytes: u32,
    pub(crate) mask: u32,
    pub(crate) counters: Counters,
    pub(crate) params: Vec<u8>,
}

/// The address register.
pub(crate) const ADDRESS: Slot = Slot(0);
/// Data registers, each with room for 128 bits a lane.
pub(crate) fn data(at: usize) -> Slot {
    Slot(512 * (1 + at as u32))
}

impl Warp {
    pub(crate) fn new() -> Self {
        Self {
            memory: Memory::new(1 << 30),
            frame: vec![[0; 4]; 8 * 16],
            shared: vec![0; 512],
            local: vec![0; 4 * 32],
            local_bytes: 32,
            mask: FULL,
            counters: Counters::default(),
            params: vec![0; 64],
        }
    }

    /// Allocates `bytes` bytes with the values 0, 1, 2, …, 250, 0, …
    pub(crate) fn alloc(&self, bytes: usize) -> u64 {
        let base = self.memory.alloc(bytes as u64, AllocKind::Device).unwrap();
        self.memory.write(base, &pattern(bytes)).unwrap();
        base
    }

    pub(crate) fn set<T: Lane>(&mut self, slot: Slot, values: [T; LANES]) {
        let at = slot.0 as usize;
        assert!(at + size_of_val(&values) <= self.frame.len() * 64);
        // SAFETY: inside the frame, as was just checked.
        unsafe { self.frame.as_mut_ptr().cast::<u8>().add(at).cast::<[T; LANES]>().write_unaligned(values) }
    }

    pub(crate) fn get<T: Lane>(&self, slot: Slot) -> [T; LANES] {
        let at = slot.0 as usize;
        assert!(at + size_of::<[T; LANES]>() <= self.frame.len() * 64);
        // SAFETY: inside the frame, as was just checked; every bit pattern is a T.
        unsafe { self.frame.as_ptr().cast::<u8>().add(at).cast::<[T; LANES]>().read_unaligned() }
    }

    /// Runs `times` times, as a loop of a launch would.
    pub(crate) fn repeat(&mut self, exec: ExecFn, args: &Args, times: u64) -> Result<(), FaultKind> {
        let table = self.memory.table();
        let (freed, printed) = (Mutex::default(), Mutex::default());
        let launch = LaunchContext {
            allocations: &table,
            memory: &self.memory,
            params: &self.params,
            param_copy: None,
            began: Instant::now(),
            freed: &freed,
            printed: &printed,
        };
        let mut lanes = Lanes {
            frame: self.frame.as_mut_ptr().cast(),
            mask: self.mask,
            shared: self.shared.as_mut_ptr().cast(),
            shared_bytes: self.shared.len() as u32 * 8,
            local: self.local.as_mut_ptr().cast(),
            local_bytes: self.local_bytes,
            first_thread: 0,
            launch: &launch,
            counters: &mut self.counters,
            recent: RecentRanges::default(),
            spins: 0,
        };
        for _ in 0..times {
            // SAFETY: the tests give arguments that fit the function, and only levels that the processor has.
            unsafe { exec(std::hint::black_box(&mut lanes), args) }.map_err(|fault| fault.kind)?;
        }
        Ok(())
    }

    pub(crate) fn run(&mut self, exec: ExecFn, args: &Args) -> Result<(), FaultKind> {
        self.repeat(exec, args, 1)
    }

    /// Loads `count` elements a lane from the addresses set before.
    pub(crate) fn load(
        &mut self,
        level: Level,
        form: Form,
        ty: Type,
        register: Type,
        count: usize,
    ) -> Result<(), FaultKind> {
        let exec = load::exec(level, ty, register, count, form.is_quick()).expect("a form with a function of its own");
        self.run(exec, &args(form, count, 0))
    }

    pub(crate) fn store(
        &mut self,
        level: Level,
        form: Form,
        ty: Type,
        register: Type,
        count: usize,
    ) -> Result<(), FaultKind> {
        let exec = store::exec(level, ty, register, count, form.is_quick()).expect("a form with a function of its own");
        self.run(exec, &args(form, count, 0))
    }
}

pub(crate) fn args(form: Form, count: usize, offset: i64) -> Args {
    let mut args = Args::of(&[ADDRESS], offset);
    for at in 0..count {
        args.slots[1 + at] = data(at);
    }
    args.slots[5] = form.slot();
    args
}

pub(crate) fn pattern(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|at| (at % 251) as u8).collect()
}

pub(crate) fn weak(space: Option<Space>) -> Form {
    Form::new(space, false, Order::Weak)
}

pub(crate) fn levels() -> impl Iterator<Item = Level> {
    [Level::Baseline, Level::Avx2, Level::Avx512].into_iter().filter(|level| *level <= Level::detect())
}

/// Lane `l` at `base + l * stride`.
pub(crate) fn strided(base: u64, stride: u64) -> [u64; LANES] {
    std::array::from_fn(|lane| base + lane as u64 * stride)
}
