//! Text that is formatted into a buffer of the thread's own memory: for printing and for the last words of a thread.

// On the host only the tests use it.
#![cfg_attr(not(target_arch = "nvptx64"), allow(dead_code))]

use core::fmt::{self, Write};

/// Bytes of a piece of text, the NUL at its end included.
const CAPACITY: usize = 512;

/// Text of up to [`CAPACITY`] - 1 bytes, ended by a NUL. `full` gets what does not fit any more, or it is cut off.
pub(crate) struct Text<F> {
    bytes: [u8; CAPACITY],
    len: usize,
    full: F,
}

impl<F: FnMut(&[u8; CAPACITY]) -> bool> Text<F> {
    /// Empty text. `full` takes a full buffer away; where it gives `false`, what follows is cut off.
    pub(crate) fn new(full: F) -> Self {
        Self { bytes: [0; CAPACITY], len: 0, full }
    }

    /// The text so far.
    pub(crate) fn bytes(&self) -> &[u8; CAPACITY] {
        &self.bytes
    }

    #[cfg(target_arch = "nvptx64")]
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    fn push(&mut self, byte: u8) {
        if self.len == CAPACITY - 1 {
            if !(self.full)(&self.bytes) {
                return;
            }
            self.len = 0;
        }
        self.bytes[self.len] = byte;
        self.len += 1;
        self.bytes[self.len] = 0;
    }
}

impl<F: FnMut(&[u8; CAPACITY]) -> bool> Write for Text<F> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // A NUL would end the text for whoever reads it.
        text.bytes().for_each(|byte| self.push(if byte == 0 { b'?' } else { byte }));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_cut_off_or_goes_on() {
        let long = "x".repeat(1200);
        let mut cut = Text::new(|_| false);
        write!(cut, "{}{long}", 17).unwrap();
        assert!(cut.bytes().starts_with(b"17xxx") && cut.bytes()[CAPACITY - 2..] == *b"x\0");

        let mut pieces = Vec::new();
        let mut text = Text::new(|bytes: &[u8; CAPACITY]| {
            pieces.push(bytes.to_vec());
            true
        });
        text.write_str(&long).unwrap();
        text.write_str("a\0b").unwrap();
        assert!(text.bytes().starts_with(&[b"x".repeat(1200 - 2 * 511).as_slice(), b"a?b\0"].concat()));
        assert_eq!(pieces.concat(), [b"x".repeat(511), vec![0], b"x".repeat(511), vec![0]].concat());
    }
}
