//! Runs `launches.txt` on the CPU device and counts.
//!
//! A line is a name, a kernel, the grid and the block (`16x1`), and the arguments: `b4096` is a buffer of so many bytes,
//! zeroed; `u32:5`, `u64:5`, `f32:0.5` are numbers.

use std::path::Path;
use std::sync::Arc;

use gridstride_simt::{AllocKind, Counters, Device, LaunchConfig, Memory, Program};

/// What is counted of each.
pub const COLUMNS: [&str; 20] = [
    "warps",
    "instructions",
    "lane_instructions",
    "divergent_branches",
    "barriers",
    "global_load_requests",
    "global_load_sectors",
    "global_store_requests",
    "global_store_sectors",
    "global_atomic_requests",
    "global_atomic_sectors",
    "shared_load_requests",
    "shared_load_conflicts",
    "shared_store_requests",
    "shared_store_conflicts",
    "shared_atomic_requests",
    "shared_atomic_conflicts",
    "atomics",
    "atomic_conflicts",
    "local_requests",
];

fn values(c: &Counters) -> [u64; COLUMNS.len()] {
    [
        c.warps,
        c.instructions,
        c.lane_instructions,
        c.divergent_branches,
        c.barriers,
        c.global_loads.requests,
        c.global_loads.sectors,
        c.global_stores.requests,
        c.global_stores.sectors,
        c.global_atomics.requests,
        c.global_atomics.sectors,
        c.shared_loads.requests,
        c.shared_loads.conflicts,
        c.shared_stores.requests,
        c.shared_stores.conflicts,
        c.shared_atomics.requests,
        c.shared_atomics.conflicts,
        c.atomics,
        c.atomic_conflicts,
        c.local_requests,
    ]
}

/// A launch by its name, and its counts in the order of [`COLUMNS`].
pub type Counted = (String, [u64; COLUMNS.len()]);

/// Runs every line of `folder/launches.txt` with the kernels of `ptx`.
pub fn count(folder: &Path, ptx: &Path) -> Result<Vec<Counted>, Box<dyn std::error::Error>> {
    let memory = Arc::new(Memory::new(1 << 30));
    let device = Device::new(1, memory.clone());
    let module = gridstride_ptx::parse(&std::fs::read_to_string(ptx)?)?;
    let program = Arc::new(Program::load(&module, &memory)?);
    let mut counted = Vec::new();
    for line in std::fs::read_to_string(folder.join("launches.txt"))?.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [name, kernel, grid, block, args @ ..] = &words[..] else { continue };
        if name.starts_with('#') {
            continue;
        }
        let kernel = program.kernel(kernel).ok_or_else(|| format!("no kernel `{kernel}`"))?;
        let mut params = Vec::new();
        let mut buffers = Vec::new();
        for (arg, layout) in args.iter().zip(&program.kernels()[kernel].params) {
            params.resize(layout.offset as usize, 0);
            let (what, value) = arg.split_once(':').unwrap_or((arg, ""));
            match what {
                "u32" => params.extend(value.parse::<u32>()?.to_le_bytes()),
                "u64" => params.extend(value.parse::<u64>()?.to_le_bytes()),
                "f32" => params.extend(value.parse::<f32>()?.to_le_bytes()),
                buffer => {
                    let bytes = buffer.strip_prefix('b').ok_or_else(|| format!("`{arg}` is no argument"))?.parse()?;
                    buffers.push(memory.alloc(bytes, AllocKind::Device)?);
                    params.extend(buffers[buffers.len() - 1].to_le_bytes());
                }
            }
        }
        let (grid, block) = (shape(grid)?, shape(block)?);
        let config = LaunchConfig { grid, block, dynamic_shared: 0, cooperative: false, count_memory: true };
        counted.push(((*name).to_owned(), values(&device.launch(&program, kernel, &config, &params)?)));
        for buffer in buffers {
            memory.free(buffer)?;
        }
    }
    Ok(counted)
}

fn shape(text: &str) -> Result<[u32; 3], std::num::ParseIntError> {
    let mut shape = [1; 3];
    for (side, number) in shape.iter_mut().zip(text.split('x')) {
        *side = number.parse()?;
    }
    Ok(shape)
}
