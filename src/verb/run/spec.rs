//! Arguments of a launch as people write them: `f32[1000]=iota`, `@in.npy`, `len`, `i32=5`, `0.5`.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use gridstride_cpu::array::{Array, Element, Fill};
use gridstride_cpu::foreign::{Argument, Parameter};

use crate::args::Elements;
use crate::npy;

/// One `--arg`.
#[derive(Debug, Clone, PartialEq)]
pub enum Spec {
    /// `f32[1000]=random`
    Filled { element: Element, n: u64, fill: Fill },
    /// `@in.npy`, `f32[]=@in.npy`, `f32[1000]=@in.npy`
    File { element: Option<Element>, n: Option<u64>, path: PathBuf },
    /// The number of elements of the buffer before it.
    Length,
    /// `i32=5`, or `5` of the type that the parameter has.
    Value { element: Option<Element>, text: String },
}

impl FromStr for Spec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text == "len" {
            return Ok(Self::Length);
        }
        if let Some(path) = text.strip_prefix('@') {
            return Ok(Self::File { element: None, n: None, path: path.into() });
        }
        let (left, right) = text.split_once('=').map_or((text, None), |(left, right)| (left, Some(right.trim())));
        if let Some((element, rest)) = left.split_once('[') {
            let n = rest
                .strip_suffix(']')
                .ok_or_else(|| format!("`{text}`: a `]` is missing behind the number of elements"))?;
            return buffer(element.trim().parse()?, n, right);
        }
        match right {
            Some(value) => {
                let element: Element = left.trim().parse()?;
                element.parse(value)?;
                Ok(Self::Value { element: Some(element), text: value.to_owned() })
            }
            None if text.parse::<f64>().is_ok() || text.starts_with("0x") => {
                Ok(Self::Value { element: None, text: text.to_owned() })
            }
            None => Err(format!(
                "`{text}` is no argument: write f32[1000]=iota or @in.npy for a buffer, i32=5 or 5 for a value, len for the \
                 number of elements of the buffer before it"
            )),
        }
    }
}

fn buffer(element: Element, n: &str, fill: Option<&str>) -> Result<Spec, String> {
    if let Some(path) = fill.and_then(|fill| fill.strip_prefix('@')) {
        let n = if n.trim().is_empty() { None } else { Some(n.parse::<Elements>()?.0) };
        return Ok(Spec::File { element: Some(element), n, path: path.into() });
    }
    let Elements(n) = n.parse()?;
    Ok(Spec::Filled { element, n, fill: fill.map_or(Ok(Fill::Unset), |fill| parse_fill(element, fill))? })
}

fn parse_fill(element: Element, text: &str) -> Result<Fill, String> {
    let unit = if element.is_float() { (-1.0, 1.0) } else { (0.0, 100.0) };
    match text.split(':').collect::<Vec<_>>()[..] {
        ["zeros"] => element.parse("0").map(Fill::Constant),
        ["ones"] => element.parse("1").map(Fill::Constant),
        ["iota"] => Ok(Fill::Iota),
        ["random"] => Ok(Fill::Random { low: unit.0, high: unit.1 }),
        ["random", low, high] => {
            let (low, high) = (element.parse(low)?.as_f64(), element.parse(high)?.as_f64());
            if low < high && (high - low).is_finite() {
                Ok(Fill::Random { low, high })
            } else {
                Err(format!("`{text}`: the first number must be the smaller one, and both finite"))
            }
        }
        ["unset"] => Ok(Fill::Unset),
        [value]
            if value.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c))
                || value == "inf"
                || value == "nan" =>
        {
            element.parse(value).map(Fill::Constant)
        }
        _ => Err(format!(
            "`{text}` fills nothing: write zeros, ones, iota, random, random:LOW:HIGH, a number, or @file.npy"
        )),
    }
}

impl Spec {
    /// Bytes of the buffer, as far as they are known before a file is read.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        match self {
            Self::Filled { element, n, .. } => n.saturating_mul(element.bytes() as u64),
            _ => 0,
        }
    }

    /// The argument itself, for a parameter; `before` are those in front of it.
    ///
    /// # Errors
    /// A sentence.
    pub fn argument(&self, parameter: &Parameter, before: &[Argument], seed: u64) -> Result<Argument, String> {
        match self {
            Self::Filled { element, n, fill } => {
                let n =
                    usize::try_from(*n).map_err(|_| format!("{n} elements are more than this machine can count"))?;
                Ok(Argument::Buffer(Array::filled(*element, n, *fill, seed)))
            }
            Self::File { element, n, path } => from_file(path, *element, *n).map(Argument::Buffer),
            Self::Length => {
                let last = before.iter().rev().find_map(|argument| match argument {
                    Argument::Buffer(array) => Some(array.len()),
                    Argument::Value(_) => None,
                });
                let last = last.ok_or("`len` is the number of elements of the buffer before it, and there is none")?;
                value(parameter, None, &last.to_string())
            }
            Self::Value { element, text } => value(parameter, *element, text),
        }
    }
}

fn value(parameter: &Parameter, element: Option<Element>, text: &str) -> Result<Argument, String> {
    let element = element.or(parameter.element).ok_or_else(|| {
        format!(
            "parameter `{}` has {} bytes and no type: write the type as well, i32=5",
            parameter.name, parameter.bytes
        )
    })?;
    Ok(Argument::Value(element.encode(element.parse(text)?)))
}

/// A file's elements; all of them, or as many as asked for.
fn from_file(path: &Path, element: Option<Element>, n: Option<u64>) -> Result<Array, String> {
    let array = npy::read(path)?;
    if let Some(element) = element.filter(|element| *element != array.element()) {
        return Err(format!("`{}` holds {}, and {element} was asked for", path.display(), array.element()));
    }
    if let Some(n) = n.filter(|n| *n != array.len() as u64) {
        return Err(format!("`{}` holds {} elements, and {n} were asked for", path.display(), array.len()));
    }
    Ok(array)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridstride_cpu::array::Value;

    #[test]
    fn arguments_as_people_write_them() {
        let spec = |text: &str| text.parse::<Spec>();
        let filled = |element, n, fill| Ok(Spec::Filled { element, n, fill });
        assert_eq!(spec("f32[1000]=iota"), filled(Element::F32, 1000, Fill::Iota));
        assert_eq!(spec("u8[2^10]"), filled(Element::U8, 1024, Fill::Unset));
        assert_eq!(spec("i32[1e3]=-7"), filled(Element::I32, 1000, Fill::Constant(Value::Int(-7))));
        assert_eq!(spec("f64[3]=random:0:10"), filled(Element::F64, 3, Fill::Random { low: 0.0, high: 10.0 }));
        assert_eq!(spec("len"), Ok(Spec::Length));
        assert_eq!(spec("f32[]=@a.npy"), Ok(Spec::File { element: Some(Element::F32), n: None, path: "a.npy".into() }));
        assert_eq!(spec("-0.5"), Ok(Spec::Value { element: None, text: "-0.5".into() }));
        for (text, expected) in [
            ("", "is no argument"),
            ("f32[10", "`]` is missing"),
            ("f32[x]=iota", "not a number of elements"),
            ("f23[10]", "did you mean `f32`"),
            ("f32[10]=yes", "fills nothing"),
            ("f32[10]=random:3:1", "smaller"),
            ("u8=256", "does not fit"),
            ("u8[4]=300", "does not fit"),
            ("hello", "is no argument"),
        ] {
            let error = spec(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_an_argument_or_a_sentence(text: String, bracket in "[a-z0-9]{1,4}\\[[^=]{0,4}\\]=.{0,8}") {
            let _ = text.parse::<Spec>();
            let _ = bracket.parse::<Spec>();
        }
    }
}
