//! What can go wrong on the host side. Each message says what to do.

use gridstride_driver::OpenError;

use crate::dtype::Dtype;
use crate::shape::ShapeError;

/// Result of this crate's functions.
pub type Result<T> = std::result::Result<T, Error>;

/// Why something could not be done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No device can be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// A driver call failed.
    #[error("{call} failed: {reason}")]
    Driver {
        /// What was being done.
        call: &'static str,
        /// The driver's error, and what more there is to say about it.
        reason: String,
    },
    /// The PTX is for a newer driver.
    #[error(
        "the kernels are PTX ISA {ptx}, and {driver} takes up to PTX ISA {newest}. Install a newer NVIDIA driver, or run on the \
         CPU device (`--device cpu`)"
    )]
    PtxTooNew {
        /// `.version` of the PTX.
        ptx: String,
        /// Which driver.
        driver: String,
        /// Newest that it takes.
        newest: String,
    },
    /// The PTX is for a newer GPU.
    #[error(
        "the kernels are built for {target}, and {device} is of compute capability {major}.{minor}. Build them for sm_{major}{minor} \
         or older, or run on the CPU device (`--device cpu`)"
    )]
    TargetTooNew {
        /// `.target` of the PTX.
        target: String,
        /// Name of the device.
        device: String,
        /// Its capability.
        major: u32,
        /// Its capability.
        minor: u32,
    },
    /// The PTX is for one kind of GPU, and this is another.
    #[error(
        "the kernels are built for {target}, which only a GPU of compute capability {needed} runs, and {device} is of \
         {major}.{minor}. Build them for a target without a letter behind it, sm_70 for example"
    )]
    TargetOfAnother {
        /// `.target` of the PTX.
        target: String,
        /// The capability that it is for.
        needed: String,
        /// Name of the device.
        device: String,
        /// Its capability.
        major: u32,
        /// Its capability.
        minor: u32,
    },
    /// No kernel of that name.
    #[error("there is no kernel `{name}`{}", did_you_mean(.nearest))]
    NoKernel {
        /// What was asked for.
        name: String,
        /// The nearest name there is.
        nearest: Option<String>,
    },
    /// The kernel is not there for that type.
    #[error("`{kernel}` is not there for {dtype}: it takes {}", .known.iter().map(Dtype::name).collect::<Vec<_>>().join(", "))]
    NoDtype {
        /// The kernel.
        kernel: &'static str,
        /// What was asked for.
        dtype: Dtype,
        /// What there is.
        known: &'static [Dtype],
    },
    /// The launch shape is not one that the device takes.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// The arrays do not fit.
    #[error(
        "{} elements need {} of {place}, and {} are free. At most {} elements fit",
        thousands(*.n), binary(*.needed), binary(*.free), thousands(*.most)
    )]
    TooLarge {
        /// Elements.
        n: u64,
        /// Bytes that they need.
        needed: u64,
        /// Whose memory.
        place: String,
        /// Bytes that are free.
        free: u64,
        /// Elements that fit.
        most: u64,
    },
    /// Buffers do not fit.
    #[error("the buffers need {} of {place}, and {} are free", binary(*.needed), binary(*.free))]
    NoRoom {
        /// Bytes that they need.
        needed: u64,
        /// Whose memory.
        place: String,
        /// Bytes that are free.
        free: u64,
    },
    /// A text is not PTX.
    #[error("this is not PTX that can be read: {reason}")]
    NotPtx {
        /// What is wrong, and where.
        reason: String,
    },
    /// The arguments are not those of the kernel.
    #[error("the arguments do not fit `{kernel}`: {reason}")]
    Arguments {
        /// The kernel.
        kernel: String,
        /// What does not fit.
        reason: String,
    },
    /// The kernel gave a wrong result.
    #[error("`{kernel}` as {shape} gave a wrong result: {detail}")]
    Wrong {
        /// The kernel.
        kernel: String,
        /// The launch.
        shape: String,
        /// The first element that differs.
        detail: String,
    },
}

fn did_you_mean(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or(String::new(), |name| format!(": did you mean `{name}`?"))
}

/// `10,000,000`
fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|group| std::str::from_utf8(group).unwrap_or_default()).collect();
    groups.join(",")
}

/// `12.0 GiB`: powers of 1024, as allocators count.
fn binary(bytes: u64) -> String {
    let units = [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")];
    match units.into_iter().find(|(power, _)| bytes >> power > 0) {
        Some((power, unit)) => format!("{:.1} {unit}", bytes as f64 / (1_u64 << power) as f64),
        None => format!("{bytes} bytes"),
    }
}

impl Error {
    /// An error of `cust`, with what the driver has to say beyond its code.
    pub(crate) fn driver(call: &'static str, error: cust::error::CudaError) -> Self {
        let reason = match gridstride_driver::last_error_detail() {
            Some(detail) => format!("{error} ({detail})"),
            None => error.to_string(),
        };
        Self::Driver { call, reason }
    }
}

/// The name nearest to `name`, if one is near enough to be meant.
pub(crate) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    known
        .map(|known| (strsim::damerau_levenshtein(&name.to_lowercase(), known), known))
        .filter(|(distance, known)| *distance <= known.len().div_ceil(2))
        .min()
        .map(|(_, known)| known.to_owned())
}
