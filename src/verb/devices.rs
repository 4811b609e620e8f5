//! `gridstride devices`: what kernels can run on.

use gridstride_cpu::{Choice, Device};

use crate::args::DevicesArgs;
use crate::error::Result;
use crate::output::Output;
use crate::report;

/// Runs the verb.
///
/// # Errors
/// See [`crate::Error`].
pub fn run(args: &DevicesArgs) -> Result<()> {
    let output = Output::open(args.output.output.as_deref())?;
    let devices = Device::list(args.device.device.map(Choice::from))?;
    output.write(&report::of(args.output.format).devices(&devices))
}
