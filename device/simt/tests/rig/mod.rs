//! A device with memory, and kernels written down in a few lines.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::sync::Arc;

use gridstride_simt::{AllocKind, Counters, Device, Fault, LaunchConfig, LoadError, Memory, Program, Settings};

/// A device and its memory.
pub struct Rig {
    pub device: Device,
    pub memory: Arc<Memory>,
    /// A finding fails the test: the suite is being run under `GRIDSTRIDE_CHECK`.
    pub strict: bool,
}

impl Rig {
    /// A device of so many cores.
    pub fn new(cores: usize) -> Self {
        let memory = Arc::new(Memory::new(1 << 30));
        let device = Device::new(cores, memory.clone());
        device.watch(Settings::from_environment().unwrap_or_else(|error| panic!("{error}")));
        Self { device, memory, strict: std::env::var_os("GRIDSTRIDE_CHECK").is_some() }
    }

    /// As [`Rig::new`], for kernels that break a rule on purpose and must run all the same: never checked.
    pub fn unchecked(cores: usize) -> Self {
        let rig = Self { strict: false, ..Self::new(cores) };
        rig.device.watch(Settings::default());
        rig
    }

    /// Device memory that holds `words`.
    pub fn words(&self, words: &[u32]) -> u64 {
        let at = self.memory.alloc(4 * words.len().max(1) as u64, AllocKind::Device).unwrap();
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.memory.write(at, &bytes).unwrap();
        at
    }

    /// `count` words of device memory at `address`.
    pub fn read(&self, address: u64, count: usize) -> Vec<u32> {
        let mut bytes = vec![0; 4 * count];
        self.memory.read(address, &mut bytes).unwrap();
        bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
    }

    pub fn load(&self, text: &str) -> Result<Arc<Program>, LoadError> {
        let module = gridstride_ptx::parse(text).unwrap_or_else(|error| panic!("{error}"));
        Program::load(&module, &self.memory).map(Arc::new)
    }

    /// Launches the only kernel of `text`, whose parameters are 64-bit numbers.
    pub fn launch(&self, text: &str, config: LaunchConfig, args: &[u64]) -> Result<Counters, Box<Fault>> {
        let program = self.load(text).unwrap_or_else(|error| panic!("{error}"));
        let params: Vec<u8> = args.iter().flat_map(|arg| arg.to_le_bytes()).collect();
        let counters = self.device.launch(&program, 0, &config, &params)?;
        if self.strict {
            // The kernels of the tests are right, but for those that are there to be found (tests/checks).
            let found = self.device.findings().take();
            assert!(found.is_empty(), "{}", found.iter().map(|finding| format!("{finding}\n")).collect::<String>());
        }
        Ok(counters)
    }

    /// Launches the kernel over `blocks` of `threads` with an array of a word a thread as its first parameter, and returns
    /// the array.
    pub fn map(&self, text: &str, blocks: u32, threads: u32, more: &[u64]) -> Vec<u32> {
        let count = (blocks * threads) as usize;
        let out = self.words(&vec![0xDEAD_BEEF; count]);
        let args: Vec<u64> = [out].iter().chain(more).copied().collect();
        self.launch(text, shape(blocks, threads), &args).unwrap_or_else(|fault| panic!("{fault}"));
        self.read(out, count)
    }
}

/// `blocks` of `threads`, all in a row.
pub fn shape(blocks: u32, threads: u32) -> LaunchConfig {
    LaunchConfig {
        grid: [blocks, 1, 1],
        block: [threads, 1, 1],
        dynamic_shared: 0,
        cooperative: false,
        count_memory: false,
    }
}

/// A module of one kernel `k` with parameters `p0` to `p3` and registers `%p0…`, `%r0…`, `%d0…`. When `body` begins, `%r0`
/// is the thread's number in the grid, `%r1` that in the block, and `%d0` the address of its word in the array `p0`.
pub fn kernel(body: &str) -> String {
    with_functions("", body)
}

/// As [`kernel`], with `functions` (or variables) in front of it.
pub fn with_functions(functions: &str, body: &str) -> String {
    format!(
        ".version 8.0
         .target sm_70
         .address_size 64
         {functions}
         .visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3)
         {{
            .reg .pred %p<16>; .reg .b32 %r<32>; .reg .b64 %d<32>;
            ld.param.u64 %d1, [p0];
            mov.u32 %r2, %ctaid.x;
            mov.u32 %r3, %ntid.x;
            mov.u32 %r1, %tid.x;
            mad.lo.s32 %r0, %r2, %r3, %r1;
            mul.wide.u32 %d2, %r0, 4;
            add.s64 %d0, %d1, %d2;
            {body}
         }}"
    )
}
