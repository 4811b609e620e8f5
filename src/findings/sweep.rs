//! Every combination of grid and block, and how flat the best one is.

use gridstride_cpu::{Comparison, Measured};
use serde::Serialize;

use super::title;
use crate::advice::comparison::Rule;
use crate::report::document::{Document, Table, Text, Tone};
use crate::report::json::{self, SCHEMA, Times, Versions};
use crate::report::picture::heat::HeatMap;
use crate::report::{Findings, csv};
use crate::units::{count, digits, plural, time};

/// All shapes for one number of elements; grids outside, blocks inside.
#[derive(Debug)]
pub struct Swept {
    pub grids: Vec<u64>,
    pub blocks: Vec<u64>,
    pub comparison: Comparison,
}

/// A sweep: one entry for each number of elements.
#[derive(Debug)]
pub struct Sweep(pub Vec<Swept>);

/// Shapes as near to the best as this are as good, where the measurement itself is no noisier.
const FLAT: f64 = 0.05;

fn seconds(measured: &Measured) -> f64 {
    measured.timing.kernel.median().as_secs_f64()
}

impl Swept {
    fn best(&self) -> Option<&Measured> {
        self.comparison.launches.iter().min_by(|a, b| seconds(a).total_cmp(&seconds(b)))
    }

    /// How many times longer than the best.
    fn times_best(&self, measured: &Measured) -> Option<f64> {
        let best = self.best().map(seconds).filter(|best| *best > 0.0)?;
        Some(seconds(measured) / best)
    }

    /// Differences below this share are none: the flatness asked for, or what the best shape's own samples lie apart.
    fn margin(&self) -> f64 {
        let spread = self.best().map_or(0.0, |best| {
            let (median, min) = (seconds(best), best.timing.kernel.min().as_secs_f64());
            if median > 0.0 { (median - min) / median } else { 0.0 }
        });
        spread.max(FLAT)
    }

    fn within(&self) -> Vec<&Measured> {
        let near = |measured: &&Measured| self.times_best(measured).is_some_and(|times| times <= 1.0 + self.margin());
        self.comparison.launches.iter().filter(near).collect()
    }

    /// The picture.
    #[must_use]
    pub fn heat(&self) -> HeatMap {
        let Comparison { facts, kernel, dtype, n, launches, .. } = &self.comparison;
        let words = |sizes: &[u64]| sizes.iter().map(u64::to_string).collect::<Vec<_>>();
        let cell = |down: usize, across: usize| {
            let measured = launches.get(across * self.blocks.len() + down)?;
            self.times_best(measured)
        };
        let row = |down| (0..self.grids.len()).map(|across| cell(down, across)).collect();
        let place = if facts.is_gpu() { facts.name.as_str() } else { "the CPU device" };
        HeatMap {
            across: ("grid".to_owned(), words(&self.grids)),
            down: ("block".to_owned(), words(&self.blocks)),
            cells: (0..self.blocks.len()).map(row).collect(),
            title: format!("{kernel} {dtype}, n = {}, {place}: kernel time as a multiple of the best", count(*n)),
        }
    }

    fn say(&self, document: &mut Document) {
        let Some(best) = self.best() else { return };
        document.picture(self.heat());
        let copy = self.comparison.copy.gb_per_s();
        let share = if copy > 0.0 {
            format!(", {} % of a copy", digits(100.0 * best.gb_per_s() / copy))
        } else {
            String::new()
        };
        document.say(Text::from("Best: ").and(Tone::Good, best.shape.to_string()).plain(format!(
            ", {} ({} GB/s{share}).",
            time(best.timing.kernel.median()),
            digits(best.gb_per_s())
        )));
        document.say(self.flatness(best));
    }

    fn flatness(&self, best: &Measured) -> String {
        let (within, all, margin) = (self.within(), self.comparison.launches.len(), self.margin());
        let why = if margin > FLAT { ", as far as the samples of the best lie apart" } else { "" };
        let mut text = format!(
            "{} of {} are within {} % of it{why}.",
            count(within.len() as u64),
            plural(all as u64, "shape"),
            digits(100.0 * margin)
        );
        if within.len() == 1 {
            text += " The optimum is sharp: measure again before you rely on it.";
        } else if within.len() * 4 >= all {
            text += " The optimum is flat: any of them will do.";
        }
        // The smallest launch that is as good says where more threads stop paying.
        if let Some(smallest) =
            within.iter().min_by_key(|measured| measured.shape.threads()).filter(|m| m.shape != best.shape)
        {
            text += &format!(
                " The smallest of them is {}, {}.",
                smallest.shape,
                plural(smallest.shape.threads(), "thread")
            );
        }
        text
    }
}

impl Findings for Sweep {
    fn document(&self) -> Document {
        let Some(first) = self.0.first() else { return Document::default() };
        let Comparison { facts, kernel, dtype, .. } = &first.comparison;
        let mut document = Document::new(format!("{kernel} {dtype} on {}", title(facts)));
        self.0.iter().for_each(|swept| swept.say(&mut document));
        if self.0.len() > 1 {
            let mut table = Table::new(&["elements", "best", "kernel", "GB/s"]).left(2);
            for swept in &self.0 {
                if let Some(best) = swept.best() {
                    let gb = digits(best.gb_per_s());
                    table.row([
                        count(swept.comparison.n),
                        best.shape.to_string(),
                        time(best.timing.kernel.median()),
                        gb,
                    ]);
                }
            }
            document.table(table.caption("The best shape of each size"));
        }
        document.say("Every result was verified against the host's.");
        if let Some(sentence) = Rule::CpuDevice.sentence(&first.comparison) {
            document.say(sentence);
        }
        document
    }

    fn json(&self) -> String {
        let Some(first) = self.0.first() else { return "null\n".to_owned() };
        let Comparison { facts, kernel, dtype, .. } = &first.comparison;
        let sizes = self.0.iter().map(|swept| Size {
            n: swept.comparison.n,
            copy_gb_per_s: swept.comparison.copy.gb_per_s(),
            best: swept.best().map(|best| (best.shape.grid, best.shape.block)),
            within_percent: 100.0 * swept.margin(),
            within: swept.within().len(),
            shapes: swept.comparison.launches.iter().map(|measured| shape(swept, measured)).collect(),
        });
        json::print(&Object {
            schema: SCHEMA,
            verb: "sweep",
            device: facts.into(),
            kernel,
            dtype: *dtype,
            sizes: sizes.collect(),
            versions: Versions::new(crate::PTX, facts),
        })
    }

    fn csv(&self) -> String {
        let rows = self.0.iter().flat_map(|swept| {
            swept.comparison.launches.iter().map(move |measured| Row {
                device: &swept.comparison.facts.name,
                device_kind: swept.comparison.facts.kind_name(),
                kernel: swept.comparison.kernel,
                dtype: swept.comparison.dtype.name(),
                n: swept.comparison.n,
                grid: measured.shape.grid[0],
                block: measured.shape.block[0],
                kernel_median_ns: json::ns(measured.timing.kernel.median()),
                kernel_min_ns: json::ns(measured.timing.kernel.min()),
                kernel_max_ns: json::ns(measured.timing.kernel.max()),
                runs: measured.timing.kernel.all().len(),
                gb_per_s: measured.gb_per_s(),
                times_best: swept.times_best(measured),
                verified: true,
            })
        });
        csv::rows(rows)
    }
}

fn shape(swept: &Swept, measured: &Measured) -> Shape {
    Shape {
        grid: measured.shape.grid,
        block: measured.shape.block,
        kernel_ns: (&measured.timing.kernel).into(),
        gb_per_s: measured.gb_per_s(),
        times_best: swept.times_best(measured),
        verified: true,
    }
}

#[derive(Serialize)]
struct Row<'a> {
    device: &'a str,
    device_kind: &'static str,
    kernel: &'static str,
    dtype: &'static str,
    n: u64,
    grid: u32,
    block: u32,
    kernel_median_ns: u64,
    kernel_min_ns: u64,
    kernel_max_ns: u64,
    runs: usize,
    gb_per_s: f64,
    times_best: Option<f64>,
    verified: bool,
}

#[derive(Serialize)]
struct Shape {
    grid: [u32; 3],
    block: [u32; 3],
    kernel_ns: Times,
    gb_per_s: f64,
    times_best: Option<f64>,
    verified: bool,
}

#[derive(Serialize)]
struct Size {
    n: u64,
    copy_gb_per_s: f64,
    best: Option<([u32; 3], [u32; 3])>,
    within_percent: f64,
    within: usize,
    shapes: Vec<Shape>,
}

#[derive(Serialize)]
struct Object<'a> {
    schema: u32,
    verb: &'static str,
    device: json::Device<'a>,
    kernel: &'static str,
    dtype: gridstride_cpu::Dtype,
    sizes: Vec<Size>,
    versions: Versions,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::sample;
    use gridstride_cpu::LaunchShape;
    use std::time::Duration;

    fn swept(times: &[[u64; 2]]) -> Swept {
        let comparison = sample::gpu();
        let launches = times.iter().enumerate().flat_map(|(at, row)| {
            row.iter().enumerate().map(move |(place, us)| {
                let mut measured = sample::gpu().launches[0].clone();
                measured.shape = LaunchShape::linear(1 << at, 32 << place);
                measured.timing.kernel = [*us; 3].into_iter().map(Duration::from_micros).collect();
                measured
            })
        });
        let launches = launches.collect();
        Swept {
            grids: (0..times.len()).map(|at| 1 << at).collect(),
            blocks: vec![32, 64],
            comparison: Comparison { launches, ..comparison },
        }
    }

    #[test]
    fn the_best_shape_and_how_flat_it_is() {
        let flat = swept(&[[400, 200], [103, 100], [102, 101]]);
        assert_eq!(flat.best().unwrap().shape, LaunchShape::linear(2, 64));
        assert_eq!(
            flat.flatness(flat.best().unwrap()),
            "4 of 6 shapes are within 5.00 % of it. The optimum is flat: any of them will do. The smallest of them is <<<2, 32>>>, 64 \
             threads."
        );
        let sharp = swept(&[[400, 200], [150, 100], [120, 110]]);
        assert!(
            sharp
                .flatness(sharp.best().unwrap())
                .contains("1 of 6 shapes are within 5.00 % of it. The optimum is sharp")
        );
        // Grids across, blocks down.
        let rounded = |value: &Option<f64>| value.map(|value| (100.0 * value).round());
        assert_eq!(
            flat.heat().cells[0].iter().map(rounded).collect::<Vec<_>>(),
            [Some(400.0), Some(103.0), Some(102.0)]
        );
    }

    #[test]
    fn launches_that_took_no_time_are_no_panic() {
        let none = swept(&[[0, 0]]);
        assert_eq!(none.times_best(&none.comparison.launches[0]), None);
        assert!(!crate::report::write(crate::args::Format::Table, &Sweep(vec![none])).is_empty());
    }
}
