//! The picture of the lesson: when the call returned, how long the kernel ran, and what the read waited for. One time axis for
//! host and device, begun at the launch call.

use std::time::Duration;

use super::Picture;
use super::svg::Svg;
use crate::units::time;

/// Something that took time.
#[derive(Debug, Clone)]
pub struct Span {
    /// What, in a word or two.
    pub what: String,
    pub from: Duration,
    pub to: Duration,
    /// True where it is somebody waiting, not working.
    pub waits: bool,
}

impl Span {
    fn length(&self) -> Duration {
        self.to.saturating_sub(self.from)
    }

    fn label(&self) -> String {
        format!("{} {}", self.what, time(self.length()))
    }
}

/// Host and device over one axis. Each lane has its name and its spans, in order.
#[derive(Debug, Clone)]
pub struct Timeline {
    pub title: String,
    pub lanes: Vec<(String, Vec<Span>)>,
}

impl Timeline {
    fn end(&self) -> Duration {
        self.lanes.iter().flat_map(|(_, spans)| spans).map(|span| span.to).max().unwrap_or_default()
    }

    /// Place of a moment on an axis of so many units.
    fn place(&self, at: Duration, units: f64) -> f64 {
        let end = self.end().as_secs_f64();
        if end > 0.0 { at.as_secs_f64() / end * units } else { 0.0 }
    }
}

impl Picture for Timeline {
    fn terminal(&self, width: usize) -> String {
        let left = 10;
        let units = width.saturating_sub(left + 2).max(20);
        let mut out = format!("{}\n", self.title);
        for (lane, spans) in &self.lanes {
            for (at, span) in spans.iter().enumerate() {
                let from = (self.place(span.from, units as f64).round() as usize).min(units - 1);
                let to = (self.place(span.to, units as f64).round() as usize).clamp(from + 1, units);
                let fill = if span.waits { '░' } else { '█' };
                let mut bar: Vec<char> = vec![' '; units];
                bar[from..to].fill(fill);
                let label: Vec<char> = format!(" {} ", span.label()).chars().collect();
                // The label: inside its bar where there is room, else beside it.
                let start = if to - from >= label.len() + 2 {
                    from + (to - from - label.len()) / 2
                } else if to + label.len() <= units {
                    to
                } else {
                    from.saturating_sub(label.len())
                };
                for (place, letter) in bar.iter_mut().skip(start).zip(&label) {
                    *place = *letter;
                }
                let name = if at == 0 { lane.as_str() } else { "" };
                out += format!("  {name:left$}{}", bar.into_iter().collect::<String>(), left = left - 2).trim_end();
                out.push('\n');
            }
        }
        let end = time(self.end());
        out + &format!("  {:left$}0{end:>rest$}\n", "", left = left - 2, rest = units - 1)
    }

    fn svg(&self) -> String {
        let (left, width, lane) = (70.0, 640.0, 30.0);
        let rows: usize = self.lanes.iter().map(|(_, spans)| spans.len()).sum();
        let height = 28.0 + lane * rows as f64 + 22.0;
        let mut svg = Svg::new(left + width + 10.0, height);
        svg.text((4.0, 16.0), "start", None, &self.title);
        let mut y = 28.0;
        for (name, spans) in &self.lanes {
            svg.text((4.0, y + 18.0), "start", None, name);
            for span in spans {
                let (from, to) = (self.place(span.from, width), self.place(span.to, width));
                let fill = if span.waits { "#9aa4b0" } else { "#2b6cb0" };
                svg.rect((left + from, y + 4.0), ((to - from).max(1.5), lane - 8.0), fill, &span.label());
                let wide = to - from > 8.0 * span.label().chars().count() as f64;
                if wide {
                    let colour = if span.waits { "#111" } else { "#fff" };
                    svg.text((left + f64::midpoint(from, to), y + 19.0), "middle", Some(colour), &span.label());
                } else if to < width / 2.0 {
                    svg.text((left + to + 6.0, y + 19.0), "start", None, &span.label());
                } else {
                    svg.text((left + from - 6.0, y + 19.0), "end", None, &span.label());
                }
                y += lane;
            }
        }
        svg.text((left, y + 14.0), "start", None, "0");
        svg.text((left + width, y + 14.0), "end", None, &time(self.end()));
        svg.finish(&self.description())
    }

    fn description(&self) -> String {
        let lanes = self.lanes.iter().map(|(lane, spans)| {
            let spans: Vec<String> = spans.iter().map(Span::label).collect();
            format!("{lane}: {}", spans.join(", then "))
        });
        format!("{}. {}", self.title, lanes.collect::<Vec<_>>().join(". "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(call_us: u64, wait_us: u64, kernel_us: u64) -> Timeline {
        let us = Duration::from_micros;
        let span = |what: &str, from, to, waits| Span { what: what.into(), from: us(from), to: us(to), waits };
        let host = vec![span("call", 0, call_us, false), span("read waits", call_us, call_us + wait_us, true)];
        let lanes = vec![("host".into(), host), ("device".into(), vec![span("kernel", 0, kernel_us, false)])];
        Timeline { title: "A launch".into(), lanes }
    }

    #[test]
    fn a_call_that_is_nothing_beside_the_wait_is_still_seen() {
        let drawn = sample(5, 995, 990).terminal(60);
        assert_eq!(
            drawn,
            "A launch\n  host    █ call 5.00 µs\n          ░░░░░░░░░░░░░░ read waits 995 µs ░░░░░░░░░░░░░░░\n  \
             device  ████████████████ kernel 990 µs █████████████████\n          0                                        1.00 ms\n"
        );
        assert!(sample(5, 995, 990).svg().contains("read waits 995 µs"));
    }

    #[test]
    fn any_times_fit() {
        for (call, wait, kernel) in [(0, 0, 0), (1, 0, 0), (1000, 1, 1), (1, 1, 1_000_000), (3, 500, 2)] {
            let drawn = sample(call, wait, kernel).terminal(80);
            assert!(drawn.lines().all(|line| line.chars().count() <= 80), "{drawn}");
            assert!(drawn.contains("call") && drawn.contains("kernel"), "{drawn}");
        }
    }
}
