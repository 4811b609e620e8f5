//! The library as a program sees it that loads it at run time and asks it for functions, by symbol and by version.
#![cfg(target_os = "linux")]

mod support;

use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr;
use std::sync::OnceLock;

use libloading::Library;

/// The functions that the tests call, with the types that the Driver API gives them.
struct Api {
    library: Library,
}

type Handle = *mut c_void;

macro_rules! functions {
    ($($name:ident as $symbol:literal ($($arg:ident: $ty:ty),*);)*) => {
        impl Api {
            $(
                #[track_caller]
                #[allow(clippy::too_many_arguments, reason = "the Driver API's")]
                fn $name(&self, $($arg: $ty),*) -> i32 {
                    // SAFETY: the function has this type in cuda.h, and the tests pass what it asks for.
                    unsafe {
                        let function = self.library.get::<unsafe extern "C" fn($($ty),*) -> i32>($symbol).unwrap();
                        function($($arg),*)
                    }
                }
            )*
        }
    };
}

functions! {
    init as b"cuInit\0" (flags: u32);
    error_name as b"cuGetErrorName\0" (code: i32, name: *mut *const c_char);
    create_context as b"cuCtxCreate_v2\0" (context: *mut Handle, flags: u32, device: i32);
    entry_point as b"cuGetProcAddress_v2\0" (
        name: *const c_char, function: *mut Handle, version: i32, flags: u64, status: *mut i32
    );
    load as b"cuModuleLoadDataEx\0" (
        module: *mut Handle, image: *const c_char, count: u32, options: *mut i32, values: *mut Handle
    );
    load_library as b"cuLibraryLoadData\0" (
        library: *mut Handle, image: *const c_char, jit: *mut i32, jit_values: *mut Handle, jit_count: u32,
        options: *mut i32, values: *mut Handle, count: u32
    );
    unload_library as b"cuLibraryUnload\0" (library: Handle);
    library_kernel as b"cuLibraryGetKernel\0" (kernel: *mut Handle, library: Handle, name: *const c_char);
    kernel_function as b"cuKernelGetFunction\0" (function: *mut Handle, kernel: Handle);
    kernel_name as b"cuKernelGetName\0" (name: *mut *const c_char, kernel: Handle);
    launch_ex as b"cuLaunchKernelEx\0" (
        config: *const Config, function: Handle, params: *mut Handle, extra: *mut Handle
    );
    synchronize as b"cuCtxSynchronize\0" ();
    register as b"cuMemHostRegister_v2\0" (memory: Handle, size: usize, flags: u32);
    unregister as b"cuMemHostUnregister\0" (memory: Handle);
    graph as b"cuGraphAddMemcpyNode\0" ();
    device_count as b"cuDeviceGetCount\0" (count: *mut i32);
    retain as b"cuDevicePrimaryCtxRetain\0" (context: *mut Handle, device: i32);
    set_current as b"cuCtxSetCurrent\0" (context: Handle);
    current_device as b"cuCtxGetDevice\0" (device: *mut i32);
    enable_peer as b"cuCtxEnablePeerAccess\0" (context: Handle, flags: u32);
    alloc as b"cuMemAlloc_v2\0" (address: *mut u64, size: usize);
    fill as b"cuMemsetD8_v2\0" (address: u64, value: u8, count: usize);
    copy_peer as b"cuMemcpyPeer\0" (to: u64, to_context: Handle, from: u64, from_context: Handle, size: usize);
    read as b"cuMemcpyDtoH_v2\0" (to: Handle, from: u64, size: usize);
}

#[repr(C)]
struct Config {
    shape: [u32; 6],
    shared: u32,
    stream: Handle,
    attributes: *const c_void,
    count: u32,
}

impl Config {
    fn new(grid: u32, block: u32) -> Self {
        let shape = [grid, 1, 1, block, 1, 1];
        Self { shape, shared: 0, stream: ptr::null_mut(), attributes: ptr::null(), count: 0 }
    }
}

/// The library, initialised, with a context current on this thread.
fn api() -> &'static Api {
    static API: OnceLock<Api> = OnceLock::new();
    let api = API.get_or_init(|| {
        // SAFETY: the library of this package; its initialiser stores a number.
        let api = Api { library: unsafe { Library::new(support::library()) }.unwrap() };
        assert_eq!(api.init(0), 0);
        api
    });
    let mut context = ptr::null_mut();
    assert_eq!(api.create_context(&mut context, 0, 0), 0);
    api
}

const INDEX: &CStr = c"
.version 7.0
.target sm_70
.address_size 64
.visible .entry index(.param .u64 to, .param .u32 count)
{
    .reg .pred %p<2>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [to];
    ld.param.u32 %r1, [count];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p1, %r5, %r1;
    @%p1 bra done;
    mul.wide.u32 %rd2, %r5, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r5;
done:
    ret;
}
";

#[test]
fn a_kernel_of_a_library_writes_registered_memory() {
    let api = api();
    let (mut library, mut kernel, mut function) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
    let none: Handle = ptr::null_mut();
    assert_eq!(
        api.load_library(&mut library, INDEX.as_ptr(), none.cast(), none.cast(), 0, none.cast(), none.cast(), 0),
        0
    );
    assert_eq!(api.library_kernel(&mut kernel, library, c"index".as_ptr()), 0);
    assert_eq!(api.library_kernel(&mut kernel, library, c"other".as_ptr()), 500);
    assert_eq!(api.library_kernel(&mut kernel, library, c"index".as_ptr()), 0);
    assert_eq!(api.kernel_function(&mut function, kernel), 0);
    let mut name = ptr::null();
    assert_eq!(api.kernel_name(&mut name, kernel), 0);
    // SAFETY: a text that the library keeps.
    assert_eq!(unsafe { CStr::from_ptr(name) }, c"index");

    let mut memory = vec![u32::MAX; 1000];
    let size = size_of_val(&*memory);
    let mut address = memory.as_mut_ptr().cast::<c_void>();
    assert_eq!(api.register(address, size, 0), 0);
    assert_eq!(api.register(address, 4, 0), 712);
    // By the kernel and by its function, which are interchangeable.
    for (callee, mut count) in [(kernel, 500_u32), (function, 999)] {
        let mut params = [(&raw mut address).cast::<c_void>(), (&raw mut count).cast()];
        assert_eq!(api.launch_ex(&Config::new(8, 128), callee, params.as_mut_ptr(), ptr::null_mut()), 0);
    }
    assert_eq!(api.synchronize(), 0);
    assert_eq!(api.unregister(address), 0);
    assert_eq!(api.unregister(address), 713);
    let expected: Vec<u32> = (0..1000).map(|index| if index < 999 { index } else { u32::MAX }).collect();
    assert_eq!(memory, expected);

    assert_eq!(api.unload_library(library), 0);
    assert_eq!(api.unload_library(library), 400);
    assert_eq!(api.kernel_name(&mut name, kernel), 400);
    let mut params = [ptr::null_mut::<c_void>(); 2];
    assert_eq!(api.launch_ex(&Config::new(1, 1), function, params.as_mut_ptr(), ptr::null_mut()), 400);
}

#[test]
fn a_module_that_is_wrong_names_its_line() {
    let api = api();
    let text = CString::new(INDEX.to_str().unwrap().replace("ret;", "no_such_thing.u32 %r1, %r2;")).unwrap();
    let mut log = vec![0_u8; 500];
    let mut options = [5, 6];
    let mut values = [log.as_mut_ptr().cast::<c_void>(), ptr::without_provenance_mut(log.len())];
    let mut module = ptr::null_mut();
    let code = api.load(&mut module, text.as_ptr(), 2, options.as_mut_ptr(), values.as_mut_ptr());
    assert_ne!(code, 0);
    let text = CStr::from_bytes_until_nul(&log).unwrap().to_str().unwrap();
    assert!(text.contains("line 22") && text.contains("no_such_thing"), "{code}: {text}");
    assert_eq!(values[1].addr(), text.len() + 1);
}

#[test]
fn entry_points_are_those_of_the_symbols() {
    let api = api();
    let symbol = |name: &str| {
        let name = CString::new(name).unwrap();
        // SAFETY: only the address is looked at.
        unsafe { *api.library.get::<Handle>(name.as_bytes_with_nul()).unwrap() }
    };
    let find = |name: &CStr, version, flags| {
        let (mut function, mut status) = (ptr::dangling_mut(), 9);
        let code = api.entry_point(name.as_ptr(), &mut function, version, flags, &mut status);
        (code, function, status)
    };
    assert_eq!(find(c"cuMemAlloc", 12000, 0), (0, symbol("cuMemAlloc_v2"), 0));
    assert_eq!(find(c"cuLaunchKernel", 13000, 2), (0, symbol("cuLaunchKernel_ptsz"), 0));
    assert_eq!(find(c"cuLaunchKernel", 13000, 1), (0, symbol("cuLaunchKernel"), 0));
    assert_eq!(find(c"cuNothing", 13000, 0), (0, ptr::null_mut(), 1));
    assert_eq!(find(c"cuLibraryLoadData", 11000, 0), (0, ptr::null_mut(), 2));
    assert_eq!(find(c"cuMemAlloc", 99000, 0).0, 1);
}

#[test]
fn what_is_not_supported_says_so() {
    let api = api();
    let mut name = ptr::null();
    assert_eq!(api.error_name(api.graph(), &mut name), 0);
    // SAFETY: a static text.
    assert_eq!(unsafe { CStr::from_ptr(name) }, c"CUDA_ERROR_NOT_SUPPORTED");
}

/// Runs a test in a process of its own, with that many devices. `None`: this is that process.
fn in_process(name: &str, devices: &str) -> Option<String> {
    const CASE: &str = "GRIDSTRIDE_TEST_CASE";
    if std::env::var_os(CASE).is_some() {
        return None;
    }
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env(CASE, name)
        .env("GRIDSTRIDE_DEVICES", devices)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
    Some(text)
}

#[test]
fn what_a_kernel_prints_is_not_lost_for_want_of_a_line_end() {
    if let Some(text) = in_process("what_a_kernel_prints_is_not_lost_for_want_of_a_line_end", "1") {
        assert!(text.contains("printed 7!"), "{text}");
        return;
    }
    let api = api();
    let text = c"
.version 7.0
.target sm_70
.address_size 64
.extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);
.global .align 1 .b8 format[12] = {112, 114, 105, 110, 116, 101, 100, 32, 37, 100, 33, 0};
.visible .entry say()
{
    .local .align 8 .b8 arguments[8];
    .reg .b32 %r<3>;
    .reg .b64 %rd<5>;
    mov.u32 %r1, 7;
    mov.u64 %rd1, arguments;
    st.local.u32 [%rd1], %r1;
    cvta.local.u64 %rd2, %rd1;
    mov.u64 %rd3, format;
    cvta.global.u64 %rd4, %rd3;
    {
        .param .b64 a;
        st.param.b64 [a], %rd4;
        .param .b64 b;
        st.param.b64 [b], %rd2;
        .param .b32 r;
        call.uni (r), vprintf, (a, b);
        ld.param.b32 %r2, [r];
    }
    ret;
}
";
    let (mut library, mut kernel, none): (Handle, Handle, Handle) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
    assert_eq!(
        api.load_library(&mut library, text.as_ptr(), none.cast(), none.cast(), 0, none.cast(), none.cast(), 0),
        0
    );
    assert_eq!(api.library_kernel(&mut kernel, library, c"say".as_ptr()), 0);
    assert_eq!(api.launch_ex(&Config::new(1, 1), kernel, none.cast(), none.cast()), 0);
    assert_eq!(api.synchronize(), 0);
}

#[test]
fn several_devices() {
    if in_process("several_devices", "3").is_some() {
        return;
    }
    let api = api();
    let mut count = 0;
    assert_eq!(api.device_count(&mut count), 0);
    assert_eq!(count, 3);
    let (mut contexts, mut device) = ([ptr::null_mut(); 3], 9);
    for (index, context) in contexts.iter_mut().enumerate() {
        assert_eq!(api.retain(context, index as i32), 0);
        assert_eq!(api.set_current(*context), 0);
        assert_eq!(api.current_device(&mut device), 0);
        assert_eq!(device, index as i32);
    }
    assert_eq!(api.retain(&mut contexts[0], 3), 101);
    assert_ne!(contexts[0], contexts[1]);
    // One device is no other's peer, and copies between them work.
    assert_eq!(api.enable_peer(contexts[0], 0), 217);
    assert_eq!(api.enable_peer(contexts[2], 0), 217);
    let (mut from, mut to, mut back) = (0, 0, [0_u8; 8]);
    assert_eq!(api.alloc(&mut to, 8), 0);
    assert_eq!(api.set_current(contexts[0]), 0);
    assert_eq!(api.alloc(&mut from, 8), 0);
    assert_eq!(api.fill(from, 7, 8), 0);
    assert_eq!(api.copy_peer(to, contexts[2], from, contexts[0], 8), 0);
    assert_eq!(api.read(back.as_mut_ptr().cast(), to, 8), 0);
    assert_eq!(back, [7; 8]);
}
