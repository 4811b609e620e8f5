//! Launches described by a structure with attributes.

use std::ffi::c_void;

use gridstride_simt::LaunchConfig;

use crate::api::launch::submit;
use crate::arg::{In, Out};
use crate::cpu::counting;
use crate::entry::driver_functions;
use crate::result::{CUresult, Result, fail};
use crate::types::{CUfunction, CUlaunchAttribute, CUlaunchConfig};

driver_functions! {
    /// Launches a kernel.
    call cuLaunchKernelEx(
        config: *const CUlaunchConfig,
        function: CUfunction,
        params: *mut *mut c_void,
        extra: *mut *mut c_void,
    ) => launch, per thread cuLaunchKernelEx_ptsz;
}

/// Attributes by their numbers in `CUlaunchAttributeID`.
const COOPERATIVE: i32 = 2;
const CLUSTER_DIMENSION: i32 = 4;
const PROGRAMMATIC_EVENT: i32 = 7;
const PREFERRED_CLUSTER_DIMENSION: i32 = 11;
const LAUNCH_COMPLETION_EVENT: i32 = 12;
const DEVICE_UPDATABLE_NODE: i32 = 13;
const LAST: i32 = 17;

fn launch(
    config: In<CUlaunchConfig>,
    function: CUfunction,
    params: Out<*mut c_void>,
    extra: Out<*mut c_void>,
) -> Result {
    let given = config.get()?;
    let mut cooperative = false;
    for index in 0..given.numAttrs as usize {
        if given.attrs.is_null() {
            return fail(CUresult::INVALID_VALUE);
        }
        // SAFETY: not null, and the caller says that there are `numAttrs` attributes.
        let CUlaunchAttribute { id, value, .. } = unsafe { given.attrs.add(index).read() };
        let what = match id {
            COOPERATIVE => {
                cooperative = value[0] != 0;
                continue;
            }
            // A cluster of one block is what every block is.
            CLUSTER_DIMENSION | PREFERRED_CLUSTER_DIMENSION if value[..3] == [1, 1, 1] => continue,
            CLUSTER_DIMENSION | PREFERRED_CLUSTER_DIMENSION => "clusters of several blocks",
            PROGRAMMATIC_EVENT | LAUNCH_COMPLETION_EVENT => "events that a launch itself records",
            DEVICE_UPDATABLE_NODE => "nodes of graphs",
            // Hints about caches, waiting, priorities and overlap with the launch before.
            0..=LAST => continue,
            _ => return fail(CUresult::INVALID_VALUE),
        };
        let detail = format!("the CPU device does not support {what} (attribute {id} of cuLaunchKernelEx)");
        return Err(CUresult::NOT_SUPPORTED.because(detail));
    }
    let config = LaunchConfig {
        grid: [given.gridDimX, given.gridDimY, given.gridDimZ],
        block: [given.blockDimX, given.blockDimY, given.blockDimZ],
        dynamic_shared: given.sharedMemBytes,
        cooperative,
        count_memory: counting::counts_memory(),
    };
    submit(function, config, given.hStream, params, Some(extra))
}
