//! The `gridstride` command.
fn main() {}
