//! One crate for several architectures, and the Rust file in which the host finds them.

use std::env;
use std::fmt::Write as _;
use std::path::PathBuf;

use crate::arch::NvvmArch;
use crate::build::{self, Checked};
use crate::error::CudaBuilderError;
use crate::options::CudaBuilder;

pub(crate) fn build(options: &CudaBuilder, archs: &[NvvmArch]) -> Result<PathBuf, CudaBuilderError> {
    if archs.is_empty() {
        return Err(CudaBuilderError::NoArchitecture);
    }
    let checked = Checked::new(options)?;
    let name = &checked.library.name;
    let file = match (&options.ptx_file_copy_path, env::var_os("OUT_DIR")) {
        (Some(path), _) => path.clone(),
        (None, Some(out)) => PathBuf::from(out).join(name).with_extension("rs"),
        (None, None) => return Err(CudaBuilderError::NoOutDir),
    };
    let mut images = String::from("::cuda_launch::Images::new(&[\n");
    for (at, &arch) in archs.iter().enumerate() {
        if archs[..at].contains(&arch) {
            continue;
        }
        let ptx = file.with_file_name(format!("{name}.{}.ptx", arch.target_cpu()));
        // One report: of the first, which is the one that every device can run if it is the oldest.
        let mut options = options.clone();
        options.resource_report = options.resource_report.filter(|_| at == 0);
        options.final_module_path = options.final_module_path.filter(|_| at == 0);
        checked.build(&options, arch, Some(&ptx))?;
        let (capability, suffix) = (arch.capability_value(), arch.target_cpu());
        let suffix =
            suffix.chars().last().filter(char::is_ascii_alphabetic).map_or("None".into(), |c| format!("Some('{c}')"));
        let include = ptx.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let _ = writeln!(images, "    ::cuda_launch::Image::new({capability}, {suffix}, include_str!({include:?})),");
    }
    images.push_str("])\n");
    build::write(&file, images.as_bytes())?;
    Ok(file)
}
