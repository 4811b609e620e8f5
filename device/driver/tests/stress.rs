//! Many host threads and streams at once: what each of them reads back is what it asked for, whatever the others do.

mod support;

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

use cust::sys::*;
use support::*;

const THREADS: u32 = 8;
const ROUNDS: u32 = 40;

/// The context that all threads share, as a number, because a pointer stays on its thread.
fn on_threads(context: CUcontext, work: impl Fn(u32) + Sync) {
    let context = context as usize;
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let work = &work;
            scope.spawn(move || {
                // SAFETY: a live context.
                ok(unsafe { cuCtxSetCurrent(context as CUcontext) });
                work(thread);
            });
        }
    });
}

/// Destroys what a thread made.
fn destroy(streams: &[CUstream], marks: &[CUevent]) {
    for &stream in streams {
        // SAFETY: a live handle.
        ok(unsafe { cuStreamDestroy_v2(stream) });
    }
    for &mark in marks {
        // SAFETY: a live handle.
        ok(unsafe { cuEventDestroy_v2(mark) });
    }
}

/// In one stream memory is allocated, filled and counted in; in another, behind an event, it is copied; then it is freed.
#[test]
fn two_streams_a_thread_joined_by_events() {
    let context = TestContext::new();
    let module = load(KERNELS) as usize;
    on_threads(context.0, |thread| {
        let store_index = kernel(module as CUmodule, "store_index");
        let (first, second, counted, copied) = (stream(thread % 2), stream(1), event(2), event(2));
        for round in 0..ROUNDS {
            let total = 64 + (thread * 131 + round * 17) % 2000;
            let mut count = total - round % 60;
            let (mut address, mut back) = (0, vec![0_u32; total as usize]);
            let size = 4 * total as usize;
            // SAFETY: pointers are to live variables, and sizes are those of what they point to.
            unsafe {
                ok(cuMemAllocAsync(&mut address, size, first));
                ok(cuMemsetD32Async(address, thread * 1000 + round, total as usize, first));
                let mut params = [param(&mut address), param(&mut count)];
                ok(launch(store_index, 1 + round % 7, 96, first, &mut params));
                ok(cuEventRecord(counted, first));
                ok(cuStreamWaitEvent(second, counted, 0));
                ok(cuMemcpyDtoHAsync_v2(back.as_mut_ptr().cast::<c_void>(), address, size, second));
                ok(cuEventRecord(copied, second));
                ok(cuStreamWaitEvent(first, copied, 0));
                ok(cuMemFreeAsync(address, first));
                ok(cuStreamSynchronize(second));
            }
            let reached = count.min((1 + round % 7) * 96);
            for (index, value) in (0..).zip(back) {
                let expected = if index < reached { index } else { thread * 1000 + round };
                assert_eq!(value, expected, "thread {thread}, round {round}, element {index}");
            }
        }
        destroy(&[first, second], &[counted, copied]);
    });
    ok(unsafe_synchronize());
}

fn unsafe_synchronize() -> CUresult {
    // SAFETY: takes nothing.
    unsafe { cuCtxSynchronize() }
}

/// Modules come and go while others run; each thread's variable is its own module's.
#[test]
fn modules_come_and_go() {
    let context = TestContext::new();
    on_threads(context.0, |thread| {
        let memory = alloc(4);
        for round in 0..ROUNDS {
            let module = load(KERNELS);
            let store = kernel(module, "store");
            let (mut address, mut value, mut back) = (memory, thread * 100 + round, 0_u32);
            ok(launch(store, 1, 1, ptr::null_mut(), &mut [param(&mut address), param(&mut value)]));
            // SAFETY: a live handle; the launch under way keeps what it needs.
            ok(unsafe { cuModuleUnload(module) });
            // SAFETY: four bytes there and here.
            ok(unsafe { cuMemcpyDtoH_v2((&raw mut back).cast(), memory, 4) });
            assert_eq!(back, value);
        }
        // SAFETY: allocated above.
        ok(unsafe { cuMemFree_v2(memory) });
    });
}

/// Contexts of their own, made and ended at the same time, with work under way.
#[test]
fn contexts_come_and_go() {
    init();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            scope.spawn(move || {
                for round in 0..ROUNDS / 4 {
                    let context = TestContext::new();
                    let module = load(KERNELS);
                    let store_index = kernel(module, "store_index");
                    let (mut address, mut count) = (alloc(4096), 1000 - thread);
                    ok(launch(store_index, 8, 128, stream(1), &mut [param(&mut address), param(&mut count)]));
                    if round % 2 == 0 {
                        ok(unsafe_synchronize());
                        let mut back = vec![0_u32; 1024];
                        // SAFETY: as many bytes there and here.
                        ok(unsafe { cuMemcpyDtoH_v2(back.as_mut_ptr().cast(), address, 4096) });
                        assert!((0..1000 - thread).zip(back).all(|(index, value)| index == value));
                    }
                    drop(context);
                }
            });
        }
    });
}

/// Host functions of all threads run once each, in the order of their stream.
#[test]
fn host_functions_keep_their_order() {
    let context = TestContext::new();
    on_threads(context.0, |thread| {
        let stream = stream(thread % 2);
        let reached = std::sync::Arc::new(AtomicUsize::new(0));
        for turn in 0..ROUNDS as usize {
            let reached = reached.clone();
            on_host(stream, move || assert_eq!(reached.fetch_add(1, Ordering::Relaxed), turn));
        }
        // SAFETY: a live handle.
        ok(unsafe { cuStreamSynchronize(stream) });
        assert_eq!(reached.load(Ordering::Relaxed), ROUNDS as usize);
        destroy(&[stream], &[]);
    });
}
