//! Samples of a measurement.

use std::time::Duration;

/// Times of repeated runs, in the order in which they were taken.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Samples(Vec<Duration>);

impl Samples {
    /// Adds a sample.
    pub fn push(&mut self, sample: Duration) {
        self.0.push(sample);
    }

    /// All samples.
    #[must_use]
    pub fn all(&self) -> &[Duration] {
        &self.0
    }

    /// The middle one; the mean of the two in the middle where their number is even. Zero without samples.
    #[must_use]
    pub fn median(&self) -> Duration {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        match sorted.len() {
            0 => Duration::ZERO,
            n if n % 2 == 1 => sorted[n / 2],
            n => (sorted[n / 2 - 1] + sorted[n / 2]) / 2,
        }
    }

    /// The shortest.
    #[must_use]
    pub fn min(&self) -> Duration {
        self.0.iter().min().copied().unwrap_or_default()
    }

    /// The longest.
    #[must_use]
    pub fn max(&self) -> Duration {
        self.0.iter().max().copied().unwrap_or_default()
    }

    /// How far the samples lie apart, as a share of the median: 0.1 is 10 %.
    #[must_use]
    pub fn spread(&self) -> f64 {
        let median = self.median().as_secs_f64();
        if median == 0.0 { 0.0 } else { (self.max() - self.min()).as_secs_f64() / median }
    }
}

impl FromIterator<Duration> for Samples {
    fn from_iter<I: IntoIterator<Item = Duration>>(samples: I) -> Self {
        Self(samples.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_of_odd_and_even() {
        let samples = |ms: &[u64]| ms.iter().map(|n| Duration::from_millis(*n)).collect::<Samples>();
        assert_eq!(samples(&[3, 1, 2]).median(), Duration::from_millis(2));
        assert_eq!(samples(&[4, 1, 2, 3]).median(), Duration::from_micros(2500));
        assert_eq!(samples(&[]).median(), Duration::ZERO);
        assert!((samples(&[9, 10, 11]).spread() - 0.2).abs() < 1e-9);
    }
}
