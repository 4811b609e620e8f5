//! What the checks find around kernels: leaks, double frees. In a process of its own, because it watches the device.

mod support;

use std::ptr;

use cust::sys::*;
use gridstride_driver::{Checks, FindingKind, Settings, take_findings, watch};
use support::{TestContext, ok};

fn alloc(bytes: usize) -> u64 {
    let mut address = 0;
    // SAFETY: the pointer is to a live variable.
    ok(unsafe { cuMemAlloc_v2(&mut address, bytes) });
    address
}

#[test]
fn leaks_and_bad_frees_are_found() {
    watch(Settings { checks: Checks::ALL, ..Settings::default() });
    let context = TestContext::new();
    let (kept, freed) = (alloc(1000), alloc(64));
    let mut pinned = ptr::null_mut();
    // SAFETY: addresses and handles, and a pointer to a live variable; the bad ones are answered with an error.
    unsafe {
        ok(cuMemFree_v2(freed));
        assert_ne!(cuMemFree_v2(freed), CUresult::CUDA_SUCCESS);
        assert_ne!(cuMemFree_v2(kept + 4), CUresult::CUDA_SUCCESS);
        ok(cuMemAllocHost_v2(&mut pinned, 4096));
        ok(cuMemFreeHost(pinned));
    }
    let bad = take_findings();
    let kinds: Vec<&FindingKind> = bad.iter().map(|finding| &finding.kind).collect();
    assert!(matches!(kinds[0], FindingKind::InvalidFree { address, freed: Some(_) } if *address == freed), "{bad:?}");
    assert!(matches!(kinds[1], FindingKind::InvalidFree { address, freed: None } if *address == kept + 4), "{bad:?}");
    assert!(bad[0].to_string().starts_with("double free: "), "{}", bad[0]);
    drop(context);
    let leaks = take_findings();
    let [leak] = &leaks[..] else { panic!("{leaks:?}") };
    let FindingKind::Leak { allocation, number } = leak.kind else { panic!("{leak}") };
    assert_eq!((allocation.base, allocation.size, number), (kept, 1000, 1));
    // The next context begins with nothing, and freed memory does not get its old address at once.
    let context = TestContext::new();
    let again = alloc(64);
    assert_ne!(again, freed);
    // SAFETY: an address.
    ok(unsafe { cuMemFree_v2(again) });
    drop(context);
    assert_eq!(take_findings(), []);
}
