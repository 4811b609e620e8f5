//! Fixed comparisons for the tests of reports and advice: plausible numbers, measured nowhere.

use std::time::Duration;

use gridstride_cpu::{
    Comparison, CopyRate, Counters, Dtype, Facts, Kind, LaunchShape, Measured, Naive, Samples, Timing,
};

fn us(times: &[u64]) -> Samples {
    times.iter().copied().map(Duration::from_micros).collect()
}

fn launch(shape: LaunchShape, kernel: &[u64], read_behind: u64) -> Measured {
    Measured {
        shape,
        first: Duration::from_micros(kernel[0] + 90),
        naive: Naive {
            call: Duration::from_nanos(4200),
            read: Duration::from_micros(read_behind),
            kernel: Duration::from_micros(kernel[0]),
        },
        timing: Timing {
            returned: us(&[5, 4, 3]),
            finished: kernel.iter().map(|us| Duration::from_micros(us + 9)).collect(),
            kernel: us(kernel),
            read: us(&[11, 12, 10]),
        },
        bytes: 120_000_000,
        counters: None,
    }
}

/// `add` on a GPU of 132 multiprocessors.
pub fn gpu() -> Comparison {
    Comparison {
        facts: Facts {
            name: "Sample GPU".into(),
            kind: Kind::Gpu,
            multiprocessors: 132,
            warp_size: 32,
            memory_bytes: 150_000_000_000,
            capability: (9, 0),
            driver: (13, 0),
            newest_ptx: (9, 0),
            max_threads_per_block: 1024,
            max_threads_per_multiprocessor: 2048,
            max_block: [1024, 1024, 64],
            max_grid: [2_147_483_647, 65_535, 65_535],
            no_gpu: None,
        },
        kernel: "add",
        dtype: Dtype::F32,
        n: 10_000_000,
        outputs: 10_000_000,
        module_load: Duration::from_millis(12),
        copy: CopyRate { bytes: 2_050_000_000, time: us(&[1000]) },
        launches: vec![
            launch(LaunchShape::single_thread(), &[750_000, 751_000, 749_000], 751_000),
            launch(LaunchShape::linear(9766, 256), &[35, 36, 34], 44),
        ],
    }
}

/// The same on the CPU device, with counters.
pub fn cpu() -> Comparison {
    let Comparison { facts, mut launches, .. } = gpu();
    let facts = Facts {
        name: "gridstride CPU device (2 cores)".into(),
        kind: Kind::Cpu,
        multiprocessors: 2,
        no_gpu: Some("no NVIDIA driver: not found".into()),
        ..facts
    };
    launches[1] = launch(LaunchShape::linear(1221, 256), &[11_000, 12_500, 10_500], 11_200);
    let counters = |instructions, lanes, requests, sectors, bytes| Counters {
        instructions,
        lane_instructions: lanes,
        global_requests: requests,
        global_sectors: sectors,
        global_bytes: bytes,
        ..Counters::default()
    };
    launches[0].counters = Some(counters(47_500_000, 47_500_000, 7_500_000, 7_500_000, 120_000_000));
    launches[1].counters = Some(counters(1_500_000, 48_000_000, 234_375, 3_750_000, 120_000_000));
    Comparison { facts, launches, copy: CopyRate { bytes: 40_000_000, time: us(&[2000]) }, ..gpu() }
}
