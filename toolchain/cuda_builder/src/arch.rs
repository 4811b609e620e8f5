//! Virtual architectures: what a kernel may use, and which `compute_XX` cfgs it sees.

use std::fmt;
use std::str::FromStr;

/// Rust name, capability times ten, suffix.
macro_rules! architectures {
    (default $first:ident $first_value:literal, $($variant:ident $value:literal $suffix:literal),* $(,)?) => {
        /// A virtual architecture (`compute_XX`). `f` variants run on their family only, `a` variants on their own chip only.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
        #[allow(missing_docs, reason = "each variant is the architecture of its own name")]
        pub enum NvvmArch {
            #[default]
            $first,
            $($variant,)*
        }

        impl NvvmArch {
            /// All architectures, oldest first.
            pub const ALL: &[Self] = &[Self::$first, $(Self::$variant),*];

            /// Compute capability times ten, without the suffix: 70, 90, 120.
            #[must_use]
            pub fn capability_value(&self) -> u32 {
                match self { Self::$first => $first_value, $(Self::$variant => $value,)* }
            }

            fn suffix(self) -> &'static str {
                match self { Self::$first => "", $(Self::$variant => $suffix,)* }
            }

            /// The cfg of exactly this architecture: `compute_90a`.
            #[must_use]
            pub fn target_feature(&self) -> &'static str {
                match self {
                    Self::$first => concat!("compute_", $first_value),
                    $(Self::$variant => concat!("compute_", $value, $suffix),)*
                }
            }
        }
    };
}

architectures! {
    default Compute70 70,
    Compute72 72 "", Compute75 75 "", Compute80 80 "", Compute86 86 "", Compute87 87 "",
    Compute88 88 "", Compute89 89 "", Compute90 90 "", Compute90a 90 "a", Compute100 100 "", Compute100f 100 "f",
    Compute100a 100 "a", Compute101 101 "", Compute101f 101 "f", Compute101a 101 "a", Compute103 103 "",
    Compute103f 103 "f", Compute103a 103 "a", Compute110 110 "", Compute110f 110 "f", Compute110a 110 "a",
    Compute120 120 "", Compute120f 120 "f", Compute120a 120 "a", Compute121 121 "", Compute121f 121 "f",
    Compute121a 121 "a",
}

impl NvvmArch {
    /// The first digit or digits: 9 of `compute_90`, 12 of `compute_120`.
    #[must_use]
    pub fn major_version(&self) -> u32 {
        self.capability_value() / 10
    }

    /// The last digit.
    #[must_use]
    pub fn minor_version(&self) -> u32 {
        self.capability_value() % 10
    }

    /// No suffix: runs on this and every later GPU.
    #[must_use]
    pub fn is_base_variant(&self) -> bool {
        self.suffix().is_empty()
    }

    /// Suffix `f`.
    #[must_use]
    pub fn is_family_variant(&self) -> bool {
        self.suffix() == "f"
    }

    /// Suffix `a`.
    #[must_use]
    pub fn is_architecture_variant(&self) -> bool {
        self.suffix() == "a"
    }

    /// The same capability without a suffix.
    #[must_use]
    pub fn base_architecture(&self) -> Self {
        let same = |arch: &&Self| arch.capability_value() == self.capability_value() && arch.is_base_variant();
        *Self::ALL.iter().find(same).expect("every capability has a base variant")
    }

    /// All architectures of this capability.
    #[must_use]
    pub fn get_variants(&self) -> Vec<Self> {
        Self::variants_for_capability(self.capability_value())
    }

    /// All architectures of a capability (times ten).
    #[must_use]
    pub fn variants_for_capability(capability: u32) -> Vec<Self> {
        Self::ALL.iter().copied().filter(|arch| arch.capability_value() == capability).collect()
    }

    /// The architectures whose `target_feature = "compute_XX"` is set in a build for this one: every base variant up to
    /// it; for a suffixed one also the family's `f` variants up to it, and itself.
    #[must_use]
    pub fn all_target_features(&self) -> Vec<Self> {
        let included = |arch: &Self| {
            let family = arch.is_family_variant()
                && !self.is_base_variant()
                && arch.major_version() == self.major_version()
                && arch.minor_version() <= self.minor_version();
            let base = arch.is_base_variant() && arch.capability_value() <= self.capability_value();
            base || family || arch == self
        };
        Self::ALL.iter().copied().filter(included).collect()
    }

    /// What the compiler calls it: `sm_90a`.
    #[must_use]
    pub(crate) fn target_cpu(self) -> String {
        format!("sm_{}{}", self.capability_value(), self.suffix())
    }
}

impl fmt::Display for NvvmArch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.target_feature())
    }
}

/// The text is not an architecture that this compiler has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown architecture `{0}`: expected `compute_70` or later, for example `compute_90a`")]
pub struct UnknownArch(String);

impl FromStr for NvvmArch {
    type Err = UnknownArch;

    fn from_str(text: &str) -> Result<Self, UnknownArch> {
        let known = Self::ALL.iter().find(|arch| arch.target_feature() == text);
        known.copied().ok_or_else(|| UnknownArch(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for arch in NvvmArch::ALL {
            assert_eq!(arch.to_string().parse(), Ok(*arch));
        }
        assert!("compute_61".parse::<NvvmArch>().unwrap_err().to_string().contains("compute_61"));
    }

    #[test]
    fn features_of_a_base_a_family_and_a_chip() {
        let names =
            |arch: NvvmArch| -> Vec<&str> { arch.all_target_features().iter().map(NvvmArch::target_feature).collect() };
        assert_eq!(names(NvvmArch::Compute75), ["compute_70", "compute_72", "compute_75"]);
        let family = names(NvvmArch::Compute103f);
        assert!(family.contains(&"compute_100f") && family.contains(&"compute_103f"));
        assert!(!family.contains(&"compute_100a") && !family.contains(&"compute_110"));
        let chip = names(NvvmArch::Compute100a);
        assert!(chip.contains(&"compute_100f") && chip.contains(&"compute_100a") && chip.contains(&"compute_100"));
    }

    #[test]
    fn parts_of_a_capability() {
        let arch = NvvmArch::Compute121f;
        assert_eq!((arch.major_version(), arch.minor_version()), (12, 1));
        assert_eq!(arch.base_architecture(), NvvmArch::Compute121);
        assert_eq!(arch.get_variants().len(), 3);
        assert_eq!(NvvmArch::default().capability_value(), 70);
    }
}
