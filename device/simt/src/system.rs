//! The functions of CUDA's device runtime that kernels call: `vprintf`, `__assertfail`, `malloc`, `free`.

use crate::code::System;
use crate::fault::FaultKind;
use crate::lane::{LOCAL_WINDOW, WINDOW_BYTES};
use crate::launch::LaunchContext;
use crate::memory::AllocKind;
use crate::printf;

/// Longest string that is read from a kernel.
const MAX_STRING: usize = 4096;

/// One lane's call.
pub(crate) fn call(
    system: System,
    args: [u64; 5],
    context: &LaunchContext<'_>,
    local: &[u8],
    block: u64,
) -> Result<u64, FaultKind> {
    let reader = Reader { context, local };
    match system {
        System::AssertFail => Err(FaultKind::Assert {
            message: reader.string(args[0]),
            file: reader.string(args[1]),
            line: args[2] as u32,
            function: reader.string(args[3]),
        }),
        System::Vprintf => {
            let format = reader.string(args[0]);
            let text =
                printf::format(&format, |offset, bytes| reader.read(args[1] + offset, bytes), |at| reader.string(at));
            let mut printed = context.printed.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            printed.push((block, text.0));
            Ok(text.1)
        }
        System::Malloc => Ok(context.memory.alloc(args[0], AllocKind::Heap).unwrap_or(0)),
        System::Free => {
            if args[0] == 0 {
                return Ok(0);
            }
            let region = context
                .memory
                .take(args[0])
                .map_err(|_| FaultKind::InvalidFree { address: args[0], freed: context.memory.freed(args[0]) })?;
            context.freed.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(region);
            Ok(0)
        }
    }
}

/// Reads what a lane's pointers point to, global or local.
struct Reader<'a> {
    context: &'a LaunchContext<'a>,
    local: &'a [u8],
}

impl Reader<'_> {
    /// `bytes` bytes as a little-endian number; `None` where no memory is.
    fn read(&self, address: u64, bytes: usize) -> Option<u64> {
        let mut value = [0u8; 8];
        if (LOCAL_WINDOW..LOCAL_WINDOW + WINDOW_BYTES).contains(&address) {
            let at = (address - LOCAL_WINDOW) as usize;
            value[..bytes].copy_from_slice(self.local.get(at..at + bytes)?);
        } else {
            self.context.memory.read(address, &mut value[..bytes]).ok()?;
        }
        Some(u64::from_le_bytes(value))
    }

    /// Text up to a NUL, or up to where no memory is.
    fn string(&self, address: u64) -> String {
        let bytes: Vec<u8> = (0..MAX_STRING as u64)
            .map_while(|at| self.read(address.wrapping_add(at), 1))
            .map(|byte| byte as u8)
            .take_while(|byte| *byte != 0)
            .collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}
