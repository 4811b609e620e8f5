//! The linker. On the CPU device it makes one PTX text of those that it is given; what it gives is loaded like any module.

use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use crate::api::module::{path_of, read_file};
use crate::arg::{In, Out};
use crate::cpu::jit::JitOptions;
use crate::cpu::module::{Link, read};
use crate::cpu::{cpu, current};
use crate::entry::driver_functions;
use crate::result::{CUresult, Result, fail};
use crate::types::{CEnum, CUlinkState};

driver_functions! {
    /// Begins a linker invocation.
    call cuLinkCreate_v2(count: u32, options: *mut CEnum, values: *mut *mut c_void, state: *mut CUlinkState) => create, also cuLinkCreate;
    /// Adds an input.
    call cuLinkAddData_v2(
        state: CUlinkState,
        kind: CEnum,
        data: *mut c_void,
        size: usize,
        name: *const c_char,
        count: u32,
        options: *mut CEnum,
        values: *mut *mut c_void,
    ) => add_data, also cuLinkAddData;
    /// Adds an input file.
    call cuLinkAddFile_v2(
        state: CUlinkState,
        kind: CEnum,
        path: *const c_char,
        count: u32,
        options: *mut CEnum,
        values: *mut *mut c_void,
    ) => add_file, also cuLinkAddFile;
    /// Ends it; the result lives as long as the state.
    call cuLinkComplete(state: CUlinkState, image: *mut *mut c_void, size: *mut usize) => complete;
    /// Destroys the state.
    call cuLinkDestroy(state: CUlinkState) => destroy;
}

/// `CU_JIT_INPUT_PTX`
const PTX: CEnum = 1;
/// `CU_JIT_INPUT_LIBRARY`
const LIBRARY: CEnum = 4;

/// Stands for NVIDIA's device runtime library, which is machine code.
const DEVICE_RUNTIME: &[u8] = include_bytes!("device_runtime.ptx");

fn create(count: u32, options: Out<CEnum>, values: Out<*mut c_void>, state: Out<CUlinkState>) -> Result {
    state.wanted()?;
    let context = current::context()?;
    JitOptions::read(count, options, values)?;
    let link = cpu()?.links.insert_with(|handle| {
        Arc::new(Link { context: context.id, handle, text: Mutex::new(None), is_complete: AtomicBool::new(false) })
    });
    state.set(CUlinkState(link.handle))
}

fn find(state: CUlinkState) -> Result<Arc<Link>> {
    current::context()?;
    cpu()?.links.get(state.0).live().ok_or(CUresult::INVALID_HANDLE.into())
}

#[expect(clippy::too_many_arguments, reason = "the Driver API's")]
fn add_data(
    state: CUlinkState,
    kind: CEnum,
    data: Out<c_void>,
    size: usize,
    name: In<c_char>,
    count: u32,
    options: Out<CEnum>,
    values: Out<*mut c_void>,
) -> Result {
    // SAFETY: the caller says that `size` bytes lie at `data`.
    let given = unsafe { data.as_input().bytes(size) }?;
    let name = name.c_str().map(CStr::to_string_lossy).unwrap_or_default();
    add(state, kind, &name, given, &JitOptions::read(count, options, values)?)
}

fn add_file(
    state: CUlinkState,
    kind: CEnum,
    path: In<c_char>,
    count: u32,
    options: Out<CEnum>,
    values: Out<*mut c_void>,
) -> Result {
    let options = JitOptions::read(count, options, values)?;
    let path = path_of(path)?;
    add(state, kind, &path.to_string_lossy(), &read_file(path)?, &options)
}

/// `name` is the input's, or the path of its file.
fn add(state: CUlinkState, kind: CEnum, name: &str, given: &[u8], options: &JitOptions) -> Result {
    let link = find(state)?;
    let given = match kind {
        PTX => given,
        LIBRARY if name.contains("cudadevrt") => DEVICE_RUNTIME,
        _ => {
            let detail = format!("the CPU device links PTX, and `{name}` is something else (input kind {kind})");
            return Err(CUresult::NOT_SUPPORTED.because(detail));
        }
    };
    let mut text = given.split(|&byte| byte == 0).next().unwrap_or_default().to_vec();
    let began = Instant::now();
    let read = read(&text);
    let log = read.as_ref().err().and_then(|error| error.detail.clone());
    options.report(began.elapsed(), "", log.as_deref().unwrap_or(""));
    read?;
    let mut kept = link.text.lock().unwrap_or_else(PoisonError::into_inner);
    if link.is_complete.load(Ordering::Relaxed) {
        return Err(CUresult::INVALID_VALUE.because("the linker has been completed"));
    }
    if let Some(before) = &*kept {
        text = join(before, &text)?;
    }
    text.push(0);
    *kept = Some(text);
    Ok(())
}

/// Two texts as one: what one declares `.extern`, the other may define. Names that both define, local ones too, are an error.
fn join(before: &[u8], text: &[u8]) -> Result<Vec<u8>> {
    let texts = [before.strip_suffix(b"\0").unwrap_or(before), text].map(String::from_utf8_lossy);
    let is_header = |line: &str| [".version", ".target", ".address_size"].iter().any(|name| line.starts_with(name));
    // The header of the one that asks for more: by version, then by architecture.
    let modules = [read(texts[0].as_bytes())?, read(texts[1].as_bytes())?];
    let rank = |index: usize| {
        let version = &modules[index].version;
        (version.major, version.minor, modules[index].target.sm)
    };
    let leading = usize::from(rank(1) > rank(0));
    let header = texts[leading].lines().map(str::trim_start).filter(|line| is_header(line));
    let bodies = texts.iter().flat_map(|text| text.lines()).filter(|line| !is_header(line.trim_start()));
    let joined = header.chain(bodies).collect::<Vec<_>>().join("\n").into_bytes();
    match read(&joined) {
        Ok(_) => Ok(joined),
        Err(error) => {
            let detail = format!("linked with the inputs before: {}", error.detail.as_deref().unwrap_or(""));
            Err(error.code.because(detail))
        }
    }
}

fn complete(state: CUlinkState, image: Out<*mut c_void>, size: Out<usize>) -> Result {
    image.wanted()?;
    let link = find(state)?;
    let text = link.text.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(text) = &*text else {
        return Err(CUresult::INVALID_VALUE.because("nothing was added to the linker"));
    };
    // Not changed from here on: more texts are refused.
    link.is_complete.store(true, Ordering::Relaxed);
    image.set(text.as_ptr().cast_mut().cast())?;
    size.set_if_wanted(text.len());
    Ok(())
}

fn destroy(state: CUlinkState) -> Result {
    match cpu()?.links.remove(state.0) {
        Some(_) => Ok(()),
        None => fail(CUresult::INVALID_HANDLE),
    }
}
