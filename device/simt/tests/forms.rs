//! Every instruction form, bit for bit as on an H200: one small kernel a family, in `forms/*.ptx`.
//!
//! A form file is PTX that any driver takes, with comments in front:
//!
//! ```text
//! // What it tests.
//! // ulps: 2                                 (only where results may differ, see `Tolerance`)
//! // a b -> one column an instruction
//! // 3f800000 40000000 -> 40400000 bf800000  (one line a thread: what it reads, what it must write)
//! ```
//!
//! Its kernel `form` has two parameters, `input` and `output`: arrays of rows, a row a thread, 8 bytes a value. A new form is
//! an instruction in a file, and a new family a file: the runner finds them itself. The results were recorded on an H200
//! (driver 580.159, CUDA 13.0), 2026-12-01. These tests run on the CPU device alone; where there is a GPU,
//! `foreign/record.py forms` runs the same files on its driver and says where it gives other bits. `GRIDSTRIDE_FORMS` names another folder of such files to run in its place.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use gridstride_simt::{AllocKind, Device, LaunchConfig, Memory, Program};

/// How far a result may be from the recorded one. Zeros, infinities and NaNs must be the same in any case.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Tolerance {
    /// Every bit counts.
    None,
    /// `ulps: N`: so many places of an `f32`.
    Ulps(u32),
    /// `halves: N`: so many places of each 16-bit half.
    Halves(u16),
    /// `relative: N`: 2^N of the value, an `f32` or `f64` by its width.
    Relative(i32),
    /// `absolute: N`: 2^N, of an `f32`.
    Absolute(i32),
}

impl Tolerance {
    fn parse(line: &str) -> Option<Self> {
        let (kind, number) = line.split_once(": ")?;
        Some(match kind {
            "ulps" => Self::Ulps(number.parse().ok()?),
            "halves" => Self::Halves(number.parse().ok()?),
            "relative" => Self::Relative(number.parse().ok()?),
            "absolute" => Self::Absolute(number.parse().ok()?),
            _ => return None,
        })
    }

    fn allows(self, expected: Value, found: u64) -> bool {
        let float = |bits: u64| match expected.digits {
            8 => f64::from(f32::from_bits(bits as u32)),
            _ => f64::from_bits(bits),
        };
        let (want, have) = (float(expected.bits), float(found));
        let ordinary = want.is_finite() && have.is_finite() && (want == 0.0) == (have == 0.0);
        expected.bits == found
            || match self {
                Self::None => false,
                Self::Ulps(n) => ordinary && (expected.bits as i64 - found as i64).unsigned_abs() <= n.into(),
                Self::Halves(n) => {
                    [0, 16].iter().all(|shift| ((expected.bits >> shift) as u16).abs_diff((found >> shift) as u16) <= n)
                }
                Self::Relative(n) => ordinary && (want - have).abs() <= want.abs() * f64::from(n).exp2(),
                Self::Absolute(n) => want.is_finite() && (want - have).abs() <= f64::from(n).exp2(),
            }
    }
}

/// A value as written: its width is that of its digits.
#[derive(Debug, Clone, Copy)]
struct Value {
    bits: u64,
    digits: usize,
}

impl Value {
    fn mask(self) -> u64 {
        u64::MAX >> (64 - 4 * self.digits)
    }
}

/// What a thread reads and must write.
struct Row {
    input: Vec<Value>,
    output: Vec<Value>,
}

struct Form {
    name: String,
    text: String,
    tolerance: Tolerance,
    rows: Vec<Row>,
}

impl Form {
    fn read(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).unwrap();
        let comments: Vec<&str> = text.lines().map_while(|line| line.strip_prefix("// ")).collect();
        let values = |part: &str| {
            let value = |word: &str| u64::from_str_radix(word, 16).map(|bits| Value { bits, digits: word.len() });
            part.split_whitespace().map(value).collect::<Result<Vec<_>, _>>().ok()
        };
        let row = |line: &&str| {
            let (input, output) = line.split_once(" -> ")?;
            Some(Row { input: values(input)?, output: values(output)? })
        };
        let tolerance = comments.iter().find_map(|line| Tolerance::parse(line)).unwrap_or(Tolerance::None);
        let rows: Vec<Row> = comments.iter().filter_map(row).collect();
        assert!(!rows.is_empty() && rows.len() <= 1024, "{}: {} rows", path.display(), rows.len());
        Self { name: path.file_stem().unwrap().to_string_lossy().into_owned(), tolerance, rows, text: text.clone() }
    }

    /// What the CPU device writes, a row a thread.
    fn run(&self) -> Result<Vec<u64>, String> {
        let memory = Arc::new(Memory::new(1 << 24));
        let device = Device::new(1, memory.clone());
        let module = gridstride_ptx::parse(&self.text).map_err(|error| error.to_string())?;
        let program = Arc::new(Program::load(&module, &memory).map_err(|error| error.to_string())?);
        let input: Vec<u8> = self.rows.iter().flat_map(|row| &row.input).flat_map(|v| v.bits.to_le_bytes()).collect();
        let at = memory.alloc(input.len() as u64, AllocKind::Device).unwrap();
        memory.write(at, &input).unwrap();
        let mut output = vec![0; 8 * self.rows.len() * self.rows[0].output.len()];
        let out = memory.alloc(output.len() as u64, AllocKind::Device).unwrap();
        memory.write(out, &output).unwrap();
        let params: Vec<u8> = [at, out].iter().flat_map(|pointer| pointer.to_le_bytes()).collect();
        let threads = u32::try_from(self.rows.len()).unwrap();
        let config = LaunchConfig {
            grid: [1, 1, 1],
            block: [threads, 1, 1],
            dynamic_shared: 0,
            cooperative: false,
            count_memory: false,
        };
        let kernel = program.kernel("form").ok_or("no kernel `form`")?;
        device.launch(&program, kernel, &config, &params).map_err(|fault| fault.to_string())?;
        memory.read(out, &mut output).unwrap();
        Ok(output.as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect())
    }

    /// The instruction that writes output number `column`, for messages.
    fn instruction(&self, column: usize) -> &str {
        let register = format!("%o{column}");
        let names = |line: &&str| {
            let code = !line.starts_with("//") && !line.contains(".reg");
            code && line.split(|c: char| !c.is_alphanumeric() && c != '%').any(|word| word == register)
        };
        self.text.lines().find(names).unwrap_or("?").trim()
    }

    /// What is wrong, a line each: at most three a column.
    fn differences(&self) -> Vec<String> {
        let found = match self.run() {
            Ok(found) => found,
            Err(error) => return vec![format!("{}: {error}", self.name)],
        };
        let columns = self.rows[0].output.len();
        let mut wrong = Vec::new();
        for column in 0..columns {
            let mut count = 0;
            for (at, row) in self.rows.iter().enumerate() {
                let expected = row.output[column];
                let found = found[at * columns + column] & expected.mask();
                if self.tolerance.allows(expected, found) {
                    continue;
                }
                count += 1;
                if count <= 3 {
                    let input: Vec<String> =
                        row.input.iter().map(|value| format!("{:0w$x}", value.bits, w = value.digits)).collect();
                    wrong.push(format!(
                        "{}, row {at}: `{}` of {} gives {found:0w$x}, not {:0w$x}",
                        self.name,
                        self.instruction(column),
                        input.join(" "),
                        expected.bits,
                        w = expected.digits,
                    ));
                }
            }
            if count > 3 {
                wrong.push(format!("{}: and {} more rows of that instruction", self.name, count - 3));
            }
        }
        wrong
    }
}

fn files() -> Vec<PathBuf> {
    let folder = std::env::var_os("GRIDSTRIDE_FORMS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/forms"), PathBuf::from);
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "ptx"));
    files.sort();
    assert!(!files.is_empty());
    files
}

#[test]
fn every_form_gives_its_bits() {
    println!("on the CPU device; NOT RUN on a GPU, which is what `foreign/record.py forms` is for");
    let wrong: Vec<String> = files().iter().flat_map(|path| Form::read(path).differences()).collect();
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

/// The test above runs the best vector code of the machine; this runs it again with the lower levels.
#[test]
fn every_level_gives_the_same_bits() {
    for level in ["baseline", "avx2"] {
        let mut again = std::process::Command::new(std::env::current_exe().unwrap());
        let output = again.arg("every_form_gives_its_bits").env("GRIDSTRIDE_CPU_LEVEL", level).output().unwrap();
        assert!(output.status.success(), "{level}:\n{}", String::from_utf8_lossy(&output.stdout));
    }
}
