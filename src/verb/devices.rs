//! `gridstride devices`: what kernels can run on.

use gridstride_cpu::{Choice, Device};

use crate::args::{DeviceArg, OutputArgs};
use crate::error::Result;
use crate::findings::devices::Devices;
use crate::output::Output;
use crate::report;

/// List the devices that kernels can run on
#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub device: DeviceArg,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Runs the verb.
///
/// # Errors
/// See [`crate::Error`].
pub fn run(args: &Args) -> Result<()> {
    let output = Output::open(args.output.output.as_deref())?;
    let devices = Device::list(args.device.device.map(Choice::from))?;
    output.write(&report::write(args.output.format, &Devices(devices)))
}
