//! The `gridstride` command; everything is in `lib.rs` and behind it.

use std::process::ExitCode;

fn main() -> ExitCode {
    gridstride::main()
}
