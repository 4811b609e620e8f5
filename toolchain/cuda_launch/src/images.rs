//! One program for several architectures.

use crate::error::LaunchError;

/// PTX for one architecture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Image {
    capability: u32,
    suffix: Option<char>,
    ptx: &'static str,
}

impl Image {
    /// PTX for a compute capability (times ten), and the letter of an architecture- or family-specific target.
    #[must_use]
    pub const fn new(capability: u32, suffix: Option<char>, ptx: &'static str) -> Self {
        Self { capability, suffix, ptx }
    }

    /// The PTX.
    #[must_use]
    pub const fn ptx(&self) -> &'static str {
        self.ptx
    }

    /// `sm_90a`
    #[must_use]
    pub fn target(&self) -> String {
        format!("sm_{}{}", self.capability, self.suffix.map_or(String::new(), String::from))
    }

    /// Whether a device of a compute capability runs it: every later one where there is no letter, the same family's from it
    /// on with an `f`, only the same with an `a`.
    #[must_use]
    pub fn runs_on(&self, (major, minor): (u32, u32)) -> bool {
        let device = major * 10 + minor;
        match self.suffix {
            None => self.capability <= device,
            Some('f') => self.capability / 10 == major && self.capability % 10 <= minor,
            Some(_) => self.capability == device,
        }
    }
}

/// One program for several architectures, as `cuda_builder`'s `build_images` writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Images {
    images: &'static [Image],
}

impl Images {
    /// Of these.
    #[must_use]
    pub const fn new(images: &'static [Image]) -> Self {
        Self { images }
    }

    /// All of them.
    #[must_use]
    pub const fn all(&self) -> &'static [Image] {
        self.images
    }

    /// The best for a device of a compute capability: the newest that runs on it, and of two for one capability the more
    /// special.
    ///
    /// # Errors
    /// [`LaunchError::NoImage`], with what there is.
    pub fn best_for(&self, (major, minor): (u32, u32)) -> Result<&'static Image, LaunchError> {
        let special = |image: &Image| match image.suffix {
            None => 0,
            Some('f') => 1,
            Some(_) => 2,
        };
        let fitting = self.images.iter().filter(|image| image.runs_on((major, minor)));
        fitting.max_by_key(|image| (image.capability, special(image))).ok_or_else(|| {
            let built = self.images.iter().map(Image::target).collect::<Vec<_>>().join(", ");
            LaunchError::NoImage { built, major, minor }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static IMAGES: Images = Images::new(&[
        Image::new(90, Some('a'), "90a"),
        Image::new(70, None, "70"),
        Image::new(90, None, "90"),
        Image::new(100, Some('f'), "100f"),
        Image::new(100, Some('a'), "100a"),
    ]);

    #[test]
    fn the_best_that_runs_is_picked() {
        let best = |major, minor| IMAGES.best_for((major, minor)).map_or("none", Image::ptx);
        assert_eq!(best(7, 0), "70");
        assert_eq!(best(8, 9), "70");
        assert_eq!(best(9, 0), "90a");
        assert_eq!(best(10, 0), "100a");
        assert_eq!(best(10, 3), "100f");
        assert_eq!(best(12, 0), "90");
        let error = IMAGES.best_for((6, 1)).unwrap_err().to_string();
        assert!(error.contains("6.1") && error.contains("sm_100f"), "{error}");
    }
}
