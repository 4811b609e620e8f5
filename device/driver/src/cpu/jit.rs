//! Options of the PTX compiler (`CUjit_option`): the log buffers are filled, hints to an optimiser are taken as such.

use std::ffi::c_void;
use std::time::Duration;

use crate::arg::Out;
use crate::result::{CUresult, Result, fail};
use crate::types::CEnum;

const WALL_TIME: CEnum = 2;
const INFO_LOG_BUFFER: CEnum = 3;
const INFO_LOG_SIZE: CEnum = 4;
const ERROR_LOG_BUFFER: CEnum = 5;
const ERROR_LOG_SIZE: CEnum = 6;
/// Set symbols of the module: not a hint.
const GLOBAL_SYMBOLS: std::ops::RangeInclusive<CEnum> = 17..=19;
const LAST: CEnum = 34;

/// The options of a call.
pub(crate) struct JitOptions {
    names: Vec<CEnum>,
    values: Out<*mut c_void>,
}

impl JitOptions {
    /// Reads the names of the options; `INVALID_VALUE` for one that does not exist.
    pub(crate) fn read(count: u32, options: Out<CEnum>, values: Out<*mut c_void>) -> Result<Self> {
        let mut names = Vec::new();
        for index in 0..count as usize {
            values.wanted()?;
            // SAFETY: the caller says that there are `count` options.
            let name = unsafe { options.element(index) }?;
            if !(0..=LAST).contains(&name) {
                return fail(CUresult::INVALID_VALUE);
            }
            if GLOBAL_SYMBOLS.contains(&name) {
                return Err(CUresult::NOT_SUPPORTED
                    .because("the CPU device does not support CU_JIT_GLOBAL_SYMBOL_NAMES and its companions"));
            }
            names.push(name);
        }
        Ok(Self { names, values })
    }

    /// Hands the caller what it asked to be told.
    pub(crate) fn report(&self, took: Duration, info: &str, error: &str) {
        self.log(INFO_LOG_BUFFER, INFO_LOG_SIZE, info);
        self.log(ERROR_LOG_BUFFER, ERROR_LOG_SIZE, error);
        if let Some(index) = self.position(WALL_TIME) {
            let milliseconds = (took.as_secs_f32() * 1e3).to_bits();
            // SAFETY: `index` is that of an option that was read, and there are as many values as options.
            unsafe { self.values.set_element(index, std::ptr::without_provenance_mut(milliseconds as usize)) };
        }
    }

    /// Fills a log buffer, and overwrites its size with that of the text (its NUL included), as the driver does.
    fn log(&self, buffer: CEnum, size: CEnum, text: &str) {
        let (Some(buffer), Some(size)) = (self.position(buffer), self.position(size)) else {
            return;
        };
        // SAFETY: both are positions of options that were read, and there are as many values as options.
        let (place, room) = unsafe { (self.values.element(buffer), self.values.element(size)) };
        let (Ok(place), Ok(room)) = (place, room) else {
            return;
        };
        // The value is a 32-bit number in the place of a pointer.
        let room = room.addr() & 0xffff_ffff;
        if place.is_null() || room == 0 {
            return;
        }
        let length = text.len().min(room - 1);
        // SAFETY: the caller offers `room` bytes at `place`, and length + 1 <= room.
        unsafe {
            std::ptr::copy_nonoverlapping(text.as_ptr(), place.cast::<u8>(), length);
            place.cast::<u8>().add(length).write(0);
        }
        let written = if text.is_empty() { 0 } else { length + 1 };
        // SAFETY: as above.
        unsafe { self.values.set_element(size, std::ptr::without_provenance_mut(written)) };
    }

    fn position(&self, name: CEnum) -> Option<usize> {
        self.names.iter().position(|&option| option == name)
    }
}
