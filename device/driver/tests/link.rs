//! The linker: PTX texts made into one module.

mod support;

use std::ffi::CString;
use std::ptr;

use cust::sys::*;
use gridstride_driver::last_error_detail;
use support::*;

/// Adds a text.
fn add(state: CUlinkState, text: &str) -> CUresult {
    let mut text = CString::new(text).unwrap().into_bytes_with_nul();
    let (kind, size, none) = (CUjitInputType_enum::CU_JIT_INPUT_PTX, text.len(), ptr::null_mut());
    // SAFETY: a buffer of the size that is said, and no options.
    unsafe {
        cuLinkAddData_v2(state, kind, text.as_mut_ptr().cast(), size, c"input".as_ptr(), 0, none, ptr::null_mut())
    }
}

fn begin() -> CUlinkState {
    let mut state = ptr::null_mut();
    // SAFETY: a pointer to a live variable, no options.
    ok(unsafe { cuLinkCreate_v2(0, ptr::null_mut(), ptr::null_mut(), &mut state) });
    state
}

/// Completes the link and loads what it gives.
fn finish(state: CUlinkState) -> CUmodule {
    let (mut image, mut size, mut module) = (ptr::null_mut(), 0, ptr::null_mut());
    // SAFETY: pointers to live variables; the image lives as long as the state.
    unsafe {
        ok(cuLinkComplete(state, &mut image, &mut size));
        assert!(size > 0);
        ok(cuModuleLoadData(&mut module, image));
        assert_eq!(add(state, KERNELS), CUDA_ERROR_INVALID_VALUE);
        ok(cuLinkDestroy(state));
        assert_eq!(cuLinkDestroy(state), CUDA_ERROR_INVALID_HANDLE);
    }
    module
}

#[test]
fn one_text_goes_through_the_linker() {
    let _context = TestContext::new();
    let state = begin();
    ok(add(state, KERNELS));
    kernel(finish(state), "store");
}

const CALLER: &str = "
.version 7.0
.target sm_70
.address_size 64
.extern .func (.param .b32 r) triple(.param .b32 x);
.visible .entry k(.param .u64 to, .param .u32 value)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [to];
    ld.param.u32 %r1, [value];
    {
        .param .b32 x;
        st.param.b32 [x], %r1;
        .param .b32 r;
        call.uni (r), triple, (x);
        ld.param.b32 %r2, [r];
    }
    st.global.u32 [%rd1], %r2;
    ret;
}
";

const CALLED: &str = "
.version 7.1
.target sm_80
.address_size 64
.visible .func (.param .b32 r) triple(.param .b32 x)
{
    .reg .b32 %r<3>;
    ld.param.b32 %r1, [x];
    mul.lo.s32 %r2, %r1, 3;
    st.param.b32 [r], %r2;
    ret;
}
";

#[test]
fn what_one_text_declares_another_defines() {
    let _context = TestContext::new();
    for order in [[CALLER, CALLED], [CALLED, CALLER]] {
        let state = begin();
        order.iter().for_each(|text| ok(add(state, text)));
        let function = kernel(finish(state), "k");
        let (mut to, mut value, mut back) = (alloc(4), 14_u32, 0_u32);
        ok(launch(function, 1, 1, ptr::null_mut(), &mut [param(&mut to), param(&mut value)]));
        // SAFETY: four bytes there and here.
        ok(unsafe { cuMemcpyDtoH_v2((&raw mut back).cast(), to, 4) });
        assert_eq!(back, 42);
    }
}

#[test]
fn two_definitions_of_one_name_are_an_error() {
    let _context = TestContext::new();
    let state = begin();
    ok(add(state, CALLED));
    assert_eq!(add(state, CALLED), CUDA_ERROR_INVALID_PTX);
    let detail = last_error_detail().unwrap();
    assert!(detail.contains("linked with the inputs before") && detail.contains("triple"), "{detail}");
    ok(add(state, CALLER));
    kernel(finish(state), "k");
}
