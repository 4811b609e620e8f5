//! Launches of kernels and host functions.

use std::ffi::c_void;
use std::sync::atomic::Ordering;

use gridstride_simt::{Facts, Fault, FaultKind, LaunchConfig};

use crate::arg::Out;
use crate::cpu::module::Function;
use crate::cpu::stream::{Size, as_host_function};
use crate::cpu::{checking, counting, cpu, current};
use crate::entry::driver_functions;
use crate::result::{CUresult, Error, Result, fail};
use crate::types::{CUfunction, CUhostFn, CUstream};

driver_functions! {
    /// Launches a kernel.
    call cuLaunchKernel(
        function: CUfunction,
        grid_x: u32,
        grid_y: u32,
        grid_z: u32,
        block_x: u32,
        block_y: u32,
        block_z: u32,
        dynamic_shared: u32,
        stream: CUstream,
        params: *mut *mut c_void,
        extra: *mut *mut c_void,
    ) => launch, per thread cuLaunchKernel_ptsz;
    /// Launches a kernel whose blocks are all resident at once.
    call cuLaunchCooperativeKernel(
        function: CUfunction,
        grid_x: u32,
        grid_y: u32,
        grid_z: u32,
        block_x: u32,
        block_y: u32,
        block_z: u32,
        dynamic_shared: u32,
        stream: CUstream,
        params: *mut *mut c_void,
    ) => launch_cooperative, per thread cuLaunchCooperativeKernel_ptsz;
    /// Runs a function on the host, in the order of a stream.
    call cuLaunchHostFunc(stream: CUstream, function: CUhostFn, data: *mut c_void) => launch_host, per thread cuLaunchHostFunc_ptsz;
}

#[expect(clippy::too_many_arguments, reason = "the Driver API's")]
fn launch(
    function: CUfunction,
    grid_x: u32,
    grid_y: u32,
    grid_z: u32,
    block_x: u32,
    block_y: u32,
    block_z: u32,
    dynamic_shared: u32,
    stream: CUstream,
    params: Out<*mut c_void>,
    extra: Out<*mut c_void>,
) -> Result {
    let config = LaunchConfig {
        grid: [grid_x, grid_y, grid_z],
        block: [block_x, block_y, block_z],
        dynamic_shared,
        cooperative: false,
        count_memory: counting::counts_memory(),
    };
    submit(function, config, stream, params, Some(extra))
}

#[expect(clippy::too_many_arguments, reason = "the Driver API's")]
fn launch_cooperative(
    function: CUfunction,
    grid_x: u32,
    grid_y: u32,
    grid_z: u32,
    block_x: u32,
    block_y: u32,
    block_z: u32,
    dynamic_shared: u32,
    stream: CUstream,
    params: Out<*mut c_void>,
) -> Result {
    let config = LaunchConfig {
        grid: [grid_x, grid_y, grid_z],
        block: [block_x, block_y, block_z],
        dynamic_shared,
        cooperative: true,
        count_memory: counting::counts_memory(),
    };
    submit(function, config, stream, params, None)
}

pub(crate) fn submit(
    function: CUfunction,
    config: LaunchConfig,
    stream: CUstream,
    params: Out<*mut c_void>,
    extra: Option<Out<*mut c_void>>,
) -> Result {
    let (context, stream) = current::stream(stream)?;
    let function = current::function(function)?;
    if function.module.context != context.id {
        return Err(CUresult::INVALID_HANDLE.because("the kernel and the stream are of different contexts"));
    }
    let cpu = cpu()?;
    check_shape(&config, cpu.device.facts(), &function)?;
    let buffer = parameters(&function, params, extra)?;
    context.run(&stream, Size::Large, move || {
        let launched = cpu.device.launch(&function.module.program, function.kernel, &config, &buffer);
        checking::after_launch(cpu, launched.as_ref().err().map(|fault| &**fault));
        match launched {
            Ok(counters) => {
                counting::keep(counters);
                Ok(())
            }
            Err(fault) => Err(error_of(&fault)),
        }
    })
}

/// `INVALID_VALUE` for a shape that the device or the kernel cannot have, which is what a GPU gives for each of these.
fn check_shape(config: &LaunchConfig, facts: &Facts, function: &Function) -> Result {
    let refuse =
        |why: String| Err(CUresult::INVALID_VALUE.because(format!("kernel `{}`: {why}", function.info().name)));
    let LaunchConfig { grid, block, dynamic_shared, .. } = *config;
    for (what, is, most) in [("grid", grid, facts.max_grid), ("block", block, facts.max_block)] {
        if let Some(axis) = (0..3).find(|&axis| is[axis] == 0 || is[axis] > most[axis]) {
            let name = ["x", "y", "z"][axis];
            return refuse(format!("{what} {name} is {}, and must be 1 to {}", is[axis], most[axis]));
        }
    }
    let info = function.info();
    let threads: u64 = block.iter().map(|&side| u64::from(side)).product();
    let most = facts.max_threads_per_block.min(info.max_threads);
    if threads > u64::from(most) {
        return refuse(format!("{threads} threads a block, and at most {most} are possible"));
    }
    if let Some(required) = info.bounds.required_threads.filter(|&required| required != block) {
        return refuse(format!("a block of {block:?} threads, and the kernel requires {required:?}"));
    }
    let room = function.max_dynamic_shared.load(Ordering::Relaxed);
    if dynamic_shared > room {
        return refuse(format!(
            "{dynamic_shared} bytes of dynamic shared memory, and {room} are possible (more, up to {}, with \
             CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)",
            facts.shared_per_block_optin.saturating_sub(info.static_shared)
        ));
    }
    let blocks: u64 = grid.iter().map(|&side| u64::from(side)).fold(1, u64::saturating_mul);
    if config.cooperative && blocks > u64::from(facts.multiprocessors) {
        return Err(CUresult::COOPERATIVE_LAUNCH_TOO_LARGE
            .because(format!("{blocks} blocks, and {} can be resident at once", facts.multiprocessors)));
    }
    Ok(())
}

/// The parameter buffer, copied now: the caller's values may be gone when the kernel runs.
fn parameters(function: &Function, params: Out<*mut c_void>, extra: Option<Out<*mut c_void>>) -> Result<Vec<u8>> {
    let info = function.info();
    let mut buffer = vec![0; info.param_bytes as usize];
    let extra = extra.filter(|extra| !extra.is_null());
    match (params.is_null(), extra) {
        (true, None) if info.params.is_empty() => {}
        (false, None) => {
            for (index, layout) in info.params.iter().enumerate() {
                // SAFETY: the caller of a launch passes one pointer for each parameter of the kernel.
                let value = unsafe { params.element(index) }?;
                let (start, size) = (layout.offset as usize, layout.size as usize);
                if value.is_null() {
                    return Err(
                        CUresult::INVALID_VALUE.because(format!("parameter {index} of `{}` is null", info.name))
                    );
                }
                // SAFETY: each points to a value of the parameter's size, by the same contract.
                let bytes = unsafe { std::slice::from_raw_parts(value.cast::<u8>(), size) };
                buffer[start..start + size].copy_from_slice(bytes);
            }
        }
        (true, Some(extra)) => {
            let given = packed(extra)?;
            let needed = info.params.iter().map(|layout| (layout.offset + layout.size) as usize).max().unwrap_or(0);
            if given.len() > buffer.len().max(needed) {
                // As on a GPU.
                return Err(CUresult::LAUNCH_OUT_OF_RESOURCES.because(sizes(info.name.as_ref(), given.len(), needed)));
            }
            if given.len() < needed {
                return Err(CUresult::INVALID_VALUE.because(sizes(info.name.as_ref(), given.len(), needed)));
            }
            let size = given.len().min(buffer.len());
            buffer[..size].copy_from_slice(&given[..size]);
        }
        (true, None) | (false, Some(_)) => {
            let detail =
                format!("`{}` takes {} parameters: pass them in one of two ways", info.name, info.params.len());
            return Err(CUresult::INVALID_VALUE.because(detail));
        }
    }
    Ok(buffer)
}

fn sizes(name: &str, given: usize, needed: usize) -> String {
    format!("a parameter buffer of {given} bytes, and `{name}` takes {needed}")
}

/// The buffer that `extra` describes: pairs of a name and a value, up to the end mark.
fn packed<'a>(extra: Out<*mut c_void>) -> Result<&'a [u8]> {
    const END: usize = 0;
    const BUFFER_POINTER: usize = 1;
    const BUFFER_SIZE: usize = 2;
    let (mut pointer, mut size) = (None, None);
    let mut index = 0;
    loop {
        // SAFETY: the caller ends the list with an end mark, at which this stops.
        let name = unsafe { extra.element(index) }?.addr();
        if name == END {
            break;
        }
        // SAFETY: a name is followed by a value.
        let value = unsafe { extra.element(index + 1) }?;
        match name {
            BUFFER_POINTER => pointer = Some(value),
            BUFFER_SIZE => size = Some(value.cast::<usize>()),
            _ => return fail(CUresult::INVALID_VALUE),
        }
        index += 2;
    }
    match (pointer, size) {
        (Some(pointer), Some(size)) if !pointer.is_null() && !size.is_null() => {
            // SAFETY: the size is behind a pointer to a `size_t`, and says how many bytes the buffer has.
            Ok(unsafe { std::slice::from_raw_parts(pointer.cast(), size.read()) })
        }
        _ => fail(CUresult::INVALID_VALUE),
    }
}

/// The error of a context whose kernel did this.
fn error_of(fault: &Fault) -> Error {
    let code = match fault.kind {
        FaultKind::OutOfBounds { .. } | FaultKind::ReadOnly { .. } => CUresult::ILLEGAL_ADDRESS,
        FaultKind::Misaligned { .. } => CUresult::MISALIGNED_ADDRESS,
        FaultKind::Assert { .. } => CUresult::ASSERT,
        FaultKind::Deadlock { .. } => CUresult::LAUNCH_TIMEOUT,
        FaultKind::BadTarget { .. } => CUresult::INVALID_PC,
        FaultKind::StackOverflow => CUresult::HARDWARE_STACK_ERROR,
        // A trap included.
        _ => CUresult::LAUNCH_FAILED,
    };
    code.because(fault.to_string())
}

/// The caller's pointer on its way to the caller's function.
pub(crate) struct UserData(*mut c_void);

// SAFETY: it is not looked at here. Whoever calls cuLaunchHostFunc asks for it to be handed over on another thread.
unsafe impl Send for UserData {}

impl UserData {
    pub(crate) fn new(data: Out<c_void>) -> Self {
        Self(data.address().cast())
    }

    /// Takes the whole of it, where naming the field would move the bare pointer into a closure.
    pub(crate) fn pointer(self) -> *mut c_void {
        self.0
    }
}

fn launch_host(stream: CUstream, function: CUhostFn, data: Out<c_void>) -> Result {
    let function = function.ok_or(CUresult::INVALID_VALUE)?;
    let (context, stream) = current::stream(stream)?;
    let data = UserData::new(data);
    context.run(&stream, Size::Large, move || {
        // SAFETY: the caller of cuLaunchHostFunc says that the function can be called with this, once, from any thread.
        as_host_function(|| unsafe { function(data.pointer()) });
        Ok(())
    })
}
