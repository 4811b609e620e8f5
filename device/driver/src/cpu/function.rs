//! What can be asked of a kernel, and set.

use std::sync::atomic::Ordering;

use crate::arg::Out;
use crate::cpu::module::Function;
use crate::cpu::{COMPUTE_CAPABILITY, Cpu};
use crate::result::{CUresult, Result, fail};

const MAX_DYNAMIC_SHARED: i32 = 8;
const CARVEOUT: i32 = 9;

impl Function {
    /// `CUfunction_attribute`
    pub(crate) fn attribute(&self, attribute: i32) -> Result<i32> {
        let info = self.info();
        let number = |value: u32| i32::try_from(value).unwrap_or(i32::MAX);
        Ok(match attribute {
            0 => number(info.max_threads),
            1 => number(info.static_shared),
            2 => number(info.const_bytes),
            3 => number(info.local_bytes),
            4 => number(info.registers),
            // Architecture that the PTX was written for, and that it runs as.
            5 => number(self.module.program.target().sm),
            6 => COMPUTE_CAPABILITY.0 * 10 + COMPUTE_CAPABILITY.1,
            MAX_DYNAMIC_SHARED => number(self.max_dynamic_shared.load(Ordering::Relaxed)),
            // No preference.
            CARVEOUT => -1,
            // Cache mode, and all about clusters: none.
            7 | 10..=15 => 0,
            _ => return fail(CUresult::INVALID_VALUE),
        })
    }

    pub(crate) fn set_attribute(&self, cpu: &Cpu, attribute: i32, value: i32) -> Result {
        match attribute {
            MAX_DYNAMIC_SHARED => {
                let room = cpu.device.facts().shared_per_block_optin.saturating_sub(self.info().static_shared);
                match u32::try_from(value) {
                    Ok(bytes) if bytes <= room => self.max_dynamic_shared.store(bytes, Ordering::Relaxed),
                    _ => {
                        let detail = format!("{value} bytes of {room} that a block may have");
                        return Err(CUresult::INVALID_VALUE.because(detail));
                    }
                }
                Ok(())
            }
            // A hint about a cache that the CPU device does not share with shared memory.
            CARVEOUT if (-1..=100).contains(&value) => Ok(()),
            10..=15 => {
                Err(CUresult::NOT_SUPPORTED.because("the CPU device does not support clusters (cuFuncSetAttribute)"))
            }
            _ => fail(CUresult::INVALID_VALUE),
        }
    }

    /// Place and size of parameter `index`.
    pub(crate) fn param_info(&self, index: usize, offset: Out<usize>, size: Out<usize>) -> Result {
        offset.wanted()?;
        let layout = self.info().params.get(index).ok_or(CUresult::INVALID_VALUE)?;
        offset.set(layout.offset as usize)?;
        size.set_if_wanted(layout.size as usize);
        Ok(())
    }
}
