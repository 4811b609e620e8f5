//! The linker. On the CPU device it takes one PTX text and hands it on; what it gives is loaded like any module.

use std::ffi::{c_char, c_void};
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

fn create(count: u32, options: Out<CEnum>, values: Out<*mut c_void>, state: Out<CUlinkState>) -> Result {
    state.wanted()?;
    let context = current::context()?;
    JitOptions::read(count, options, values)?;
    let link =
        cpu()?.links.insert_with(|handle| Arc::new(Link { context: context.id, handle, text: Mutex::new(None) }));
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
    _name: In<c_char>,
    count: u32,
    options: Out<CEnum>,
    values: Out<*mut c_void>,
) -> Result {
    // SAFETY: the caller says that `size` bytes lie at `data`.
    let given = unsafe { data.as_input().bytes(size) }?;
    add(state, kind, given, &JitOptions::read(count, options, values)?)
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
    add(state, kind, &read_file(path_of(path)?)?, &options)
}

fn add(state: CUlinkState, kind: CEnum, given: &[u8], options: &JitOptions) -> Result {
    let link = find(state)?;
    if kind != PTX {
        let detail = format!("the CPU device links PTX, and input kind {kind} is something else");
        return Err(CUresult::NOT_SUPPORTED.because(detail));
    }
    let mut text = given.split(|&byte| byte == 0).next().unwrap_or_default().to_vec();
    let began = Instant::now();
    let read = read(&text);
    let log = read.as_ref().err().and_then(|error| error.detail.clone());
    options.report(began.elapsed(), "", log.as_deref().unwrap_or(""));
    read?;
    let mut kept = link.text.lock().unwrap_or_else(PoisonError::into_inner);
    if kept.is_some() {
        return Err(CUresult::NOT_SUPPORTED.because("the CPU device links one PTX text, not several into one"));
    }
    text.push(0);
    *kept = Some(text);
    Ok(())
}

fn complete(state: CUlinkState, image: Out<*mut c_void>, size: Out<usize>) -> Result {
    image.wanted()?;
    let link = find(state)?;
    let text = link.text.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(text) = &*text else {
        return Err(CUresult::INVALID_VALUE.because("nothing was added to the linker"));
    };
    // Not changed from here on: a second text is refused.
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
