//! Element types.

use std::fmt;
use std::str::FromStr;

/// Type of the elements that a kernel works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Dtype {
    /// 32-bit float.
    F32,
    /// 64-bit float.
    F64,
    /// 32-bit integer.
    I32,
    /// 32-bit integer without a sign.
    U32,
    /// Byte.
    U8,
}

impl Dtype {
    /// All of them.
    pub const ALL: &[Self] = &[Self::F32, Self::F64, Self::I32, Self::U32, Self::U8];

    /// As Rust calls it.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::I32 => "i32",
            Self::U32 => "u32",
            Self::U8 => "u8",
        }
    }

    /// Bytes an element.
    #[must_use]
    pub fn bytes(self) -> u64 {
        match self {
            Self::F32 | Self::I32 | Self::U32 => 4,
            Self::F64 => 8,
            Self::U8 => 1,
        }
    }
}

impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Dtype {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = || Self::ALL.iter().map(Self::name);
        let found = Self::ALL.iter().find(|dtype| dtype.name() == text.to_lowercase());
        found.copied().ok_or_else(|| {
            let hint =
                crate::error::nearest(text, known()).map_or(String::new(), |near| format!(": did you mean `{near}`?"));
            format!("there is no element type `{text}`{hint} (known: {})", known().collect::<Vec<_>>().join(", "))
        })
    }
}
