//! What runs before what: streams, the legacy default stream, events. Host functions that wait for each other show the
//! order without a clock.

mod support;

use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use cust::sys::*;
use support::*;

/// Work that a stream does not finish before it is let go.
struct Gate(Sender<()>);

impl Gate {
    fn new(stream: CUstream) -> Self {
        let (open, opened): (_, Receiver<()>) = channel();
        // A dropped gate opens too, so that a failed test ends.
        on_host(stream, move || {
            let _ = opened.recv();
        });
        Self(open)
    }

    fn open(self) {
        self.0.send(()).unwrap();
    }
}

fn query(stream: CUstream) -> CUresult {
    // SAFETY: takes a handle.
    unsafe { cuStreamQuery(stream) }
}

#[test]
fn a_stream_keeps_its_order() {
    let _context = TestContext::new();
    let stream = stream(0);
    let seen = Arc::new(Mutex::new(Vec::new()));
    for number in 0..100 {
        let seen = seen.clone();
        on_host(stream, move || seen.lock().unwrap().push(number));
    }
    // SAFETY: takes a handle.
    ok(unsafe { cuStreamSynchronize(stream) });
    assert_eq!(*seen.lock().unwrap(), (0..100).collect::<Vec<_>>());
}

#[test]
fn streams_do_not_wait_for_each_other() {
    let _context = TestContext::new();
    let (one, other) = (stream(0), stream(0));
    let gate = Gate::new(one);
    on_host(other, || {});
    // SAFETY: takes a handle.
    ok(unsafe { cuStreamSynchronize(other) });
    assert_eq!(query(one), CUDA_ERROR_NOT_READY);
    gate.open();
    // SAFETY: takes a handle.
    ok(unsafe { cuStreamSynchronize(one) });
    assert_eq!(query(one), CUDA_SUCCESS);
}

#[test]
fn the_legacy_stream_waits_for_blocking_streams_and_they_for_it() {
    let _context = TestContext::new();
    let (blocking, free) = (stream(0), stream(1));
    let before = Gate::new(blocking);
    let legacy_ran = Arc::new(AtomicBool::new(false));
    let flag = legacy_ran.clone();
    on_host(ptr::null_mut(), move || flag.store(true, Ordering::SeqCst));
    let saw = Arc::new(AtomicBool::new(false));
    let (flag, to) = (legacy_ran.clone(), saw.clone());
    on_host(blocking, move || to.store(flag.load(Ordering::SeqCst), Ordering::SeqCst));
    // The non-blocking stream gets by.
    on_host(free, || {});
    // SAFETY: takes a handle.
    ok(unsafe { cuStreamSynchronize(free) });
    assert!(!legacy_ran.load(Ordering::SeqCst));
    before.open();
    // SAFETY: takes a handle.
    ok(unsafe { cuStreamSynchronize(blocking) });
    assert!(saw.load(Ordering::SeqCst));
}

#[test]
fn a_free_stream_does_not_hold_the_legacy_stream_up() {
    let _context = TestContext::new();
    let free = stream(1);
    let gate = Gate::new(free);
    let to = alloc(4);
    // A synchronous copy, in the legacy stream.
    // SAFETY: four bytes on both sides.
    ok(unsafe { cuMemcpyHtoD_v2(to, ptr::from_ref(&7_u32).cast(), 4) });
    assert_eq!(query(free), CUDA_ERROR_NOT_READY);
    gate.open();
    // SAFETY: no arguments.
    ok(unsafe { cuCtxSynchronize() });
    assert_eq!(query(free), CUDA_SUCCESS);
}

#[test]
fn a_stream_waits_for_an_event_of_another() {
    let _context = TestContext::new();
    let (first, second) = (stream(1), stream(1));
    let marked = event(2);
    let gate = Gate::new(first);
    // SAFETY: handles.
    unsafe {
        ok(cuEventRecord(marked, first));
        ok(cuStreamWaitEvent(second, marked, 0));
        assert_eq!(cuEventQuery(marked), CUDA_ERROR_NOT_READY);
        // Destroying an event does not undo the wait for it.
        ok(cuEventDestroy_v2(marked));
    }
    on_host(second, || {});
    assert_eq!(query(second), CUDA_ERROR_NOT_READY);
    gate.open();
    // SAFETY: takes a handle.
    ok(unsafe { cuStreamSynchronize(second) });
    assert_eq!(query(first), CUDA_SUCCESS);
}

#[test]
fn events_time_what_they_bracket() {
    let _context = TestContext::new();
    let stream = stream(1);
    let (start, end) = (event(0), event(0));
    let pause = std::time::Duration::from_millis(20);
    let mut milliseconds = -1.0;
    // SAFETY: handles, and pointers to live variables.
    unsafe {
        assert_eq!(cuEventElapsedTime(&mut milliseconds, start, end), CUDA_ERROR_INVALID_HANDLE);
        let gate = Gate::new(stream);
        ok(cuEventRecord(start, stream));
        on_host(stream, move || std::thread::sleep(pause));
        ok(cuEventRecord(end, stream));
        assert_eq!(cuEventElapsedTime(&mut milliseconds, start, end), CUDA_ERROR_NOT_READY);
        // Not part of what is timed.
        std::thread::sleep(pause);
        gate.open();
        ok(cuEventSynchronize(end));
        ok(cuEventElapsedTime(&mut milliseconds, start, end));
        // A sleep is never shorter than asked for.
        assert!(milliseconds >= 20.0, "{milliseconds}");
        ok(cuEventElapsedTime(&mut milliseconds, end, start));
        assert!(milliseconds <= -20.0, "{milliseconds}");
        let untimed = event(2);
        ok(cuEventRecord(untimed, stream));
        ok(cuEventSynchronize(untimed));
        assert_eq!(cuEventElapsedTime(&mut milliseconds, start, untimed), CUDA_ERROR_INVALID_HANDLE);
    }
}

#[test]
fn a_destroyed_stream_finishes_its_work() {
    let _context = TestContext::new();
    let stream = stream(0);
    let (done, finished) = channel();
    let gate = Gate::new(stream);
    on_host(stream, move || done.send(()).unwrap());
    // SAFETY: handles; a stale one is answered with an error.
    unsafe {
        ok(cuStreamDestroy_v2(stream));
        assert_eq!(cuStreamQuery(stream), CUDA_ERROR_INVALID_HANDLE);
        assert_eq!(cuStreamDestroy_v2(stream), CUDA_ERROR_INVALID_HANDLE);
    }
    gate.open();
    finished.recv().unwrap();
    // The legacy stream still waits for it.
    // SAFETY: no arguments.
    ok(unsafe { cuCtxSynchronize() });
}

#[test]
fn host_functions_may_not_call_the_driver() {
    let _context = TestContext::new();
    let stream = stream(1);
    let (send, results) = channel();
    on_host(stream, move || {
        let (mut address, mut version) = (0, 0);
        // SAFETY: pointers to live variables.
        unsafe {
            send.send([cuMemAlloc_v2(&mut address, 4), cuCtxSynchronize(), cuDriverGetVersion(&mut version)]).unwrap();
        }
    });
    assert_eq!(results.recv().unwrap(), [CUDA_ERROR_NOT_PERMITTED, CUDA_ERROR_NOT_PERMITTED, CUDA_SUCCESS]);
}

#[test]
fn asynchronous_copies_are_safe_from_what_the_caller_does_next() {
    let _context = TestContext::new();
    let stream = stream(1);
    let to = alloc(4096);
    let gate = Gate::new(stream);
    let mut pageable = vec![5_u8; 4096];
    let pinned = Flags::new(2);
    // SAFETY: the sizes are those of the buffers.
    unsafe {
        ok(cuMemcpyHtoDAsync_v2(to, pageable.as_ptr().cast(), 4096, stream));
        pageable.fill(6);
        drop(pageable);
        // Pinned memory is read when the copy runs.
        ok(cuMemcpyHtoDAsync_v2(to, pinned.0.cast(), 4, stream));
        pinned.at(0).store(77, Ordering::SeqCst);
        ok(cuMemcpyDtoHAsync_v2(pinned.0.add(1).cast(), to + 8, 4, stream));
        assert_eq!(pinned.at(1).load(Ordering::SeqCst), 0);
        gate.open();
        ok(cuStreamSynchronize(stream));
        assert_eq!(pinned.at(1).load(Ordering::SeqCst), 0x0505_0505);
        let mut back = [0_u32; 2];
        ok(cuMemcpyDtoH_v2(back.as_mut_ptr().cast(), to, 8));
        assert_eq!(back, [77, 0x0505_0505]);
    }
}

#[test]
fn memory_is_freed_in_the_order_of_its_stream() {
    let _context = TestContext::new();
    let stream = stream(1);
    let mut address = 0;
    // SAFETY: handles, and pointers to live variables.
    unsafe {
        ok(cuMemAllocAsync(&mut address, 1 << 20, stream));
        let gate = Gate::new(stream);
        ok(cuMemsetD8Async(address, 1, 1 << 20, stream));
        ok(cuMemFreeAsync(address, stream));
        assert_eq!(cuMemFreeAsync(address, stream), CUDA_ERROR_INVALID_VALUE);
        assert_eq!(cuMemFree_v2(address), CUDA_ERROR_INVALID_VALUE);
        gate.open();
        ok(cuStreamSynchronize(stream));
        assert_eq!(cuMemsetD8_v2(address, 1, 1), CUDA_ERROR_INVALID_VALUE);
    }
}

#[test]
fn many_threads_share_a_context() {
    let context = TestContext::new();
    let shared = context.0 as usize;
    std::thread::scope(|scope| {
        for thread in 0..8_u32 {
            scope.spawn(move || {
                // SAFETY: handles, and buffers of the sizes that are passed.
                unsafe {
                    ok(cuCtxSetCurrent(shared as CUcontext));
                    for round in 0..50_u32 {
                        let stream = if round % 3 == 0 { ptr::null_mut() } else { stream(round % 2) };
                        let to = alloc(256);
                        let value = thread << 16 | round;
                        let mark = event(0);
                        ok(cuMemsetD32Async(to, value, 64, stream));
                        ok(cuEventRecord(mark, stream));
                        ok(cuStreamWaitEvent(ptr::null_mut(), mark, 0));
                        let mut back = [0_u32; 64];
                        ok(cuMemcpyDtoH_v2(back.as_mut_ptr().cast(), to, 256));
                        assert_eq!(back, [value; 64]);
                        ok(cuMemFree_v2(to));
                        ok(cuEventDestroy_v2(mark));
                        if !stream.is_null() {
                            ok(cuStreamDestroy_v2(stream));
                        }
                    }
                }
            });
        }
    });
}
